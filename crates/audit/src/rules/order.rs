//! Quantiles rise: min ≤ p50 ≤ p90 ≤ … ≤ max, for any sample and any definition of a quantile.

use super::Draft;
use crate::figure::{Figure, judge};
use crate::kind::Kind;
use crate::sheet::{Row, Sheet};
use schema::audit::AuditFinding;

pub(super) const RULE: &str = "quantile-order";
pub(super) const NEEDS: &str = "two of: min, percentiles, max";

pub(super) fn check(sheet: &Sheet, findings: &mut Vec<AuditFinding>) -> bool {
    let mut applied = false;
    for row in &sheet.rows {
        let points = points(row);
        applied |= points.len() >= 2;
        // The worst pair is enough for a row.
        let pairs = points
            .iter()
            .enumerate()
            .flat_map(|(at, low)| points[at + 1..].iter().map(move |high| (low, high)));
        let broken = pairs.filter_map(|(low, high)| {
            let severity = judge(|reading| low.1.span(reading).low > high.1.span(reading).high)?;
            Some((severity, low.1.value / high.1.value.max(f64::MIN_POSITIVE), *low, *high))
        });
        let worst = broken.max_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let Some((severity, _, (low, a), (high, b))) = worst else { continue };
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

/// Min, quantiles and max of a row by rising share.
fn points(row: &Row) -> Vec<(Kind, &Figure)> {
    let single = |kind| row.get(kind).map(|figure| (kind, figure));
    let quantiles = row.quantiles().map(|(kind, _, figure)| (kind, figure));
    single(Kind::Min).into_iter().chain(quantiles).chain(single(Kind::Max)).collect()
}
