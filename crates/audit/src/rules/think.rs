//! Where only percentiles are printed: how long a connection takes from one request to the next, N/X, against what the
//! percentiles show. What they cannot show is a think time that is not stated, or a tail that nobody printed.
//!
//! In a ladder the think time is one for all rows, so the lightest row tells it, and the others are held against it.

use super::mean::tail_mean;
use super::{Draft, again, told};
use crate::figure::{Reading, Span};
use crate::kind::Kind;
use crate::sheet::{Row, Sheet};
use crate::words;
use schema::audit::{AuditFinding, AuditLoad, AuditSeverity};

pub(super) const RULE: &str = "think-time";
pub(super) const NEEDS: &str =
    "connections, throughput and percentiles without a mean or max, of a closed load";

/// Requests above the highest percentile may take this many times it without a question.
const TAIL: f64 = 10.0;

pub(super) fn check(sheet: &Sheet, findings: &mut Vec<AuditFinding>) -> bool {
    if sheet.load != AuditLoad::Closed {
        return false;
    }
    let mut applied = false;
    for ladder in crate::ladder::groups(sheet) {
        let usable: Vec<(&Row, f64)> =
            ladder.iter().filter_map(|row| Some((*row, cycle(sheet, row)?))).collect();
        applied |= !usable.is_empty();
        // The least time between requests is that with the least waiting; all of it may be think time.
        let longest_think = usable.iter().map(|(_, cycle)| *cycle).fold(f64::INFINITY, f64::min);
        for (row, cycle) in &usable {
            judge_row(row, *cycle, longest_think, usable.len() > 1, findings);
        }
    }
    applied
}

/// N/X of a row that prints percentiles and nothing that bounds the mean.
fn cycle(sheet: &Sheet, row: &Row) -> Option<f64> {
    let has_bound = row.get(Kind::Mean).is_some() || row.get(Kind::Max).is_some();
    let throughput = row.get(Kind::Throughput)?.span(Reading::Loose).high;
    let is_usable =
        !has_bound && row.quantiles().next().is_some() && sheet.think_s(row).is_none() && throughput > 0.0;
    Some(row.in_flight()? / throughput).filter(|cycle| is_usable && cycle.is_finite())
}

fn judge_row(row: &Row, cycle: f64, longest_think: f64, is_ladder: bool, findings: &mut Vec<AuditFinding>) {
    let Some((kind, share, top)) = row.quantiles().next_back() else { return };
    let is_lightest = cycle <= longest_think;
    // Beyond the lightest row only the time above its cycle must be latency.
    let latency = if is_lightest || !is_ladder { cycle } else { cycle - longest_think };
    let Some(tail) = tail_mean(row, latency, Reading::Rounded) else { return };
    if tail <= TAIL * top.rounded().high {
        return;
    }
    let name = kind.name();
    let slowest = words::percent(1.0 - share);
    let shown = Span::exact(cycle).minus(Span::exact(top.rounded().high));
    let (what, bound) = if is_lightest || !is_ladder {
        (
            format!(
                "a think time of about {} is not stated, or the slowest requests are not shown",
                words::seconds(shown.middle())
            ),
            format!(
                "each connection sends every N/X = {}, of which {name} shows {}; without a think time the slowest {slowest} \
                 would take {} on average",
                words::seconds(cycle),
                told(kind, top),
                words::seconds(tail)
            ),
        )
    } else {
        (
            "even with a think time the slowest requests are not shown".to_owned(),
            format!(
                "N/X = {}, of which the row with the shortest, {}, allows so much for a think time; the other {} are latency, so \
                 the slowest {slowest} took {} on average, against {name} = {}",
                words::seconds(cycle),
                words::seconds(longest_think),
                words::seconds(latency),
                words::seconds(tail),
                told(kind, top)
            ),
        )
    };
    Draft::new(RULE, AuditSeverity::Suspicious, &[row], what)
        .law("N = X·(R + Z), and mean = Σ of shares times their means")
        .maybe("N", Kind::Connections, row)
        .maybe("X", Kind::Throughput, row)
        .number(&name, kind, top)
        .maybe("failed", Kind::ErrorShare, row)
        .bound(bound)
        .remedy(format!(
            "state the think time (--given think=1s) and print mean and max; requests that failed or timed out belong into the \
             percentiles; re-run with {}",
            again(row)
        ))
        .into(findings);
}
