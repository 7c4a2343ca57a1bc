//! What a standard deviation allows: |mean − median| ≤ σ (Hotelling & Solomons 1932), σ² ≤ (max − mean)(mean − min)
//! (Bhatia & Davis 2000), and for every quantile mean − σ√((1−q)/q) ≤ Q(q) ≤ mean + σ√(q/(1−q)) (Cantelli).

use super::Draft;
use crate::figure::{Reading, judge};
use crate::kind::Kind;
use crate::sheet::{Row, Sheet};
use crate::unit::Dimension;
use crate::words;
use schema::audit::{AuditFinding, AuditSeverity};

pub(super) const RULE: &str = "standard-deviation";
pub(super) const NEEDS: &str = "mean and standard deviation, and one of: percentiles, max";

/// For definitions of the deviation and of quantiles, and for histograms.
const SLACK: f64 = 0.02;

pub(super) fn check(sheet: &Sheet, findings: &mut Vec<AuditFinding>) -> bool {
    let mut applied = false;
    for row in &sheet.rows {
        if row.get(Kind::Mean).is_none() || row.get(Kind::StdDev).is_none() {
            continue;
        }
        applied |= row.get(Kind::Max).is_some() || row.quantiles().next().is_some();
        largest(sheet, row, findings);
        quantiles(sheet, row, findings);
    }
    applied
}

/// The largest deviation that values between min and max can have.
fn largest(sheet: &Sheet, row: &Row, findings: &mut Vec<AuditFinding>) {
    let (Some(mean), Some(deviation), Some(max)) =
        (row.get(Kind::Mean), row.get(Kind::StdDev), row.get(Kind::Max))
    else {
        return;
    };
    let allowed = |reading| {
        let min = row.get(Kind::Min).map_or(0.0, |min| min.span(reading).low);
        let (mean, max) = (mean.span(reading), max.span(reading).high);
        ((max - mean.low).max(0.0) * (mean.high - min).max(0.0)).sqrt()
    };
    let Some(severity) = judge(|reading| deviation.span(reading).low > allowed(reading) * (1.0 + SLACK))
    else {
        return;
    };
    // No numbers from 0 to the max deviate by more than it, whatever they are of and however few; so what the column is
    // taken for does not matter, only that it is a time.
    let is_beyond_all = deviation.span(Reading::Loose).low > max.span(Reading::Loose).high;
    let unsure: &[Kind] = if is_beyond_all { &[] } else { &[Kind::StdDev, Kind::Mean] };
    Draft::new(RULE, severity, &[row], "the standard deviation is larger than values up to the max can have")
        .law("σ² ≤ (max − mean)·(mean − min) (Bhatia & Davis)")
        .number("σ", Kind::StdDev, deviation)
        .number("mean", Kind::Mean, mean)
        .maybe("min", Kind::Min, row)
        .number("max", Kind::Max, max)
        .bound(format!(
            "σ is at most {}, and is printed as {}",
            words::seconds(allowed(Reading::Rounded)),
            deviation.text
        ))
        .remedy("look whether the deviation is of the latencies of this run, and whether the max was capped")
        .unless_sure_latencies(sheet, unsure)
        .into(findings);
}

fn quantiles(sheet: &Sheet, row: &Row, findings: &mut Vec<AuditFinding>) {
    let (Some(mean), Some(deviation)) = (row.get(Kind::Mean), row.get(Kind::StdDev)) else { return };
    let allowed = |share: f64, reading: Reading| {
        let (mean, sigma) = (mean.span(reading), deviation.span(reading).high * (1.0 + SLACK));
        // The median is bounded by σ itself, which is what both forms give at one half.
        let below = ((1.0 - share) / share).sqrt();
        let above = (share / (1.0 - share)).sqrt();
        crate::figure::Span::new((mean.low - sigma * below).max(0.0), mean.high + sigma * above)
    };
    let broken = row.quantiles().filter_map(|(kind, share, figure)| {
        let severity = judge(|reading| !figure.span(reading).meets(allowed(share, reading)))?;
        Some((severity, kind, share, figure))
    });
    let Some((severity, kind, share, figure)) = broken.max_by_key(|(severity, ..)| *severity) else { return };
    let name = kind.name();
    let severity = severity.min(AuditSeverity::Impossible);
    Draft::new(RULE, severity, &[row], format!("{name} is further from the mean than the standard deviation allows"))
        .law("mean − σ√((1−q)/q) ≤ Q(q) ≤ mean + σ√(q/(1−q)) (Cantelli)")
        .number("σ", Kind::StdDev, deviation)
        .number("mean", Kind::Mean, mean)
        .number(&name, kind, figure)
        .bound(format!(
            "{name} must be in {}, and is printed as {}",
            words::span(Dimension::Time, allowed(share, Reading::Rounded)),
            figure.text
        ))
        .remedy("look whether the deviation is of the latencies of this run; better print percentiles than a deviation")
        .unless_sure_latencies(sheet, &[Kind::StdDev, Kind::Mean, kind])
        .into(findings);
}
