//! A series over time, or repetitions in order, whose first rows are not like the others: warm-up that is in the figures.
//!
//! The median and the spread (median absolute deviation × 1.4826) of the last half are the measure.
//! Absent on purpose: MSER-5 and PELT of METHOD §5, which need far longer series than tables print.

use super::Draft;
use crate::kind::Kind;
use crate::ladder::groups;
use crate::sheet::{Row, Sheet};
use crate::words;
use schema::audit::{AuditFinding, AuditSeverity};

pub(super) const RULE: &str = "warm-up";
pub(super) const NEEDS: &str =
    "a column of time or repetition with five rows or more, and throughput or latency";

/// Fewest rows that show what is usual.
const ROWS: usize = 5;
/// Off by this share, and by this many spreads.
const SHARE: f64 = 0.1;
const SPREADS: f64 = 5.0;
/// A consistent estimate of a standard deviation from the median absolute deviation of normal values.
const MAD: f64 = 1.4826;

pub(super) fn check(sheet: &Sheet, findings: &mut Vec<AuditFinding>) -> bool {
    if !sheet.has(Kind::Time) && !sheet.has(Kind::Repeat) {
        return false;
    }
    let mut applied = false;
    for group in groups(sheet).into_iter().filter(|group| group.len() >= ROWS) {
        let has_one_load = group.windows(2).all(|pair| pair[0].in_flight() == pair[1].in_flight());
        let kinds = [Kind::Throughput, Kind::Mean, Kind::Quantile(500_000), Kind::Quantile(990_000)];
        let kind = kinds.into_iter().find(|kind| group.iter().all(|row| row.get(*kind).is_some()));
        let Some(kind) = kind.filter(|_| has_one_load) else { continue };
        applied = true;
        first_rows(&group, kind, findings);
    }
    applied
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let half = values.len() / 2;
    if values.len().is_multiple_of(2) { f64::midpoint(values[half - 1], values[half]) } else { values[half] }
}

fn first_rows(group: &[&Row], kind: Kind, findings: &mut Vec<AuditFinding>) {
    let value = |row: &Row| row.get(kind).map_or(0.0, |figure| figure.value);
    let late: Vec<f64> = group[group.len() / 2..].iter().map(|row| value(row)).collect();
    let usual = median(late.clone());
    let spread = MAD * median(late.iter().map(|value| (value - usual).abs()).collect());
    let limit = (SHARE * usual.abs()).max(SPREADS * spread);
    let is_worse = |row: &&&Row| {
        let off = value(row) - usual;
        if kind == Kind::Throughput { -off > limit } else { off > limit }
    };
    let cold: Vec<&Row> = group.iter().take_while(is_worse).copied().collect();
    // Where most rows are unlike the end, there is no end state.
    if cold.is_empty() || usual <= 0.0 || 2 * cold.len() > group.len() {
        return;
    }
    let name = kind.name();
    let all = group.iter().map(|row| value(row)).sum::<f64>() / group.len() as f64;
    let draft = Draft::new(
        RULE,
        AuditSeverity::Suspicious,
        &cold,
        format!("{} of {} rows at the begin are warm-up", cold.len(), group.len()),
    )
    .law("what is measured before the steady state is not of it (METHOD §5)");
    let draft = cold.iter().take(3).fold(draft, |draft, row| match row.get(kind) {
        Some(figure) => draft.number_of(row, &name, kind, figure),
        None => draft,
    });
    let told = |value| kind.dimension().map_or_else(String::new, |dimension| words::value(dimension, value));
    draft
        .bound(format!(
            "the median of the last half is {}, and {} is further off than {}; {name} over all rows is {}",
            told(usual),
            told(value(cold[0])),
            told(limit),
            told(all)
        ))
        .remedy("leave them out, and warm up until the target is level: `prony load URL --warmup 30s`, or `[warmup]` in an experiment")
        .into(findings);
}
