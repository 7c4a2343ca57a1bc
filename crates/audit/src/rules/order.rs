//! Quantiles rise: min ≤ p50 ≤ p90 ≤ … ≤ max, for any sample and any definition of a quantile.

use super::Draft;
use crate::figure::{Figure, Reading, judge};
use crate::kind::Kind;
use crate::sheet::{Row, Sheet};
use schema::audit::{AuditFinding, AuditSeverity};

pub(super) const RULE: &str = "quantile-order";
pub(super) const NEEDS: &str = "two of: min, percentiles, max";

pub(super) fn check(sheet: &Sheet, findings: &mut Vec<AuditFinding>) -> bool {
    let mut applied = false;
    for row in &sheet.rows {
        let points = points(row);
        applied |= points.len() >= 2;
        let Some((severity, (low, a), (high, b))) = worst(&points) else { continue };
        let (low_name, high_name) = (low.name(), high.name());
        Draft::new(RULE, severity, &[row], format!("{low_name} is above {high_name}"))
            .law(format!("{low_name} ≤ {high_name}: a quantile cannot be below one of a smaller share"))
            .number(&low_name, low, a)
            .number(&high_name, high, b)
            .bound(format!("{high_name} is at least {}, and is printed as {}", a.text, b.text))
            .remedy(
                "look whether the columns are swapped or come from different runs; re-run with `prony load URL --latency`, \
                 which prints all percentiles of one histogram",
            )
            .unless_sure_latencies(sheet, &[low, high])
            .into(findings);
    }
    applied
}

/// A latency of a row.
type Point<'a> = (Kind, &'a Figure);

/// The worst pair that is out of order; one is enough for a row.
///
/// A point that is below any before it is below the highest before it, so one look at each is enough.
fn worst<'a>(points: &[Point<'a>]) -> Option<(AuditSeverity, Point<'a>, Point<'a>)> {
    let mut worst: Option<(AuditSeverity, f64, Point<'a>, Point<'a>)> = None;
    for reading in [Reading::Loose, Reading::Rounded] {
        let least = |point: &Point<'a>| point.1.span(reading).low;
        let mut highest: Option<Point<'a>> = None;
        for point in points {
            if let Some(high) = highest
                && let Some(severity) = judge(|reading| high.1.span(reading).low > point.1.span(reading).high)
            {
                let off = high.1.value / point.1.value.max(f64::MIN_POSITIVE);
                if worst.is_none_or(|(known, by, ..)| (severity, off) > (known, by)) {
                    worst = Some((severity, off, high, *point));
                }
            }
            if highest.is_none_or(|high| least(point) > least(&high)) {
                highest = Some(*point);
            }
        }
    }
    worst.map(|(severity, _, high, low)| (severity, high, low))
}

/// Min, quantiles and max of a row by rising share.
fn points(row: &Row) -> Vec<Point<'_>> {
    let single = |kind| row.get(kind).map(|figure| (kind, figure));
    let quantiles = row.quantiles().map(|(kind, _, figure)| (kind, figure));
    single(Kind::Min).into_iter().chain(quantiles).chain(single(Kind::Max)).collect()
}
