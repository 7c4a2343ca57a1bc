//! What min, quantiles and max leave the mean.
//!
//! Of the share q₂ − q₁ between two quantiles every value lies between them, so Σ (q₂ − q₁)·Q(q₁) ≤ mean ≤
//! Σ (q₂ − q₁)·Q(q₂), with 0 or the min below the first and the max above the last. Without a max there is no upper
//! bound; then the mean says what the slowest must have taken.

use super::Draft;
use crate::figure::{Reading, Span, judge};
use crate::kind::Kind;
use crate::sheet::{Row, Sheet};
use crate::unit::Dimension;
use crate::words;
use schema::audit::{AuditFinding, AuditSeverity};

pub(super) const RULE: &str = "mean-bounds";
pub(super) const NEEDS: &str = "mean, and one of: percentiles, min, max";

/// Quantiles of histograms are off by up to this share, and definitions of a quantile differ by less.
const SLACK: f64 = 0.01;
/// The lightest percentile above which a mean describes no request that most see.
const TOP: f64 = 0.95;

pub(super) fn check(sheet: &Sheet, findings: &mut Vec<AuditFinding>) -> bool {
    let mut applied = false;
    for row in &sheet.rows {
        let Some(mean) = row.get(Kind::Mean) else { continue };
        let Some(bounds) = bounds(row, Reading::Rounded) else { continue };
        applied = true;
        let outside = judge(|reading| {
            let slack = slack(row);
            bounds_in(row, reading).is_some_and(|bounds| {
                let bounds = bounds.widened(SLACK);
                !mean.span(reading).meets(Span::new(bounds.low - slack, bounds.high + slack))
            })
        });
        match outside {
            Some(severity) => impossible(sheet, row, severity, bounds, findings),
            None => above_the_top(sheet, row, findings),
        }
    }
    applied
}

/// The range that the quantiles of a row leave its mean; nothing where they say nothing.
pub(super) fn bounds(row: &Row, reading: Reading) -> Option<Span> {
    bounds_in(row, reading).filter(|bounds| bounds.low > 0.0 || bounds.high.is_finite())
}

fn bounds_in(row: &Row, reading: Reading) -> Option<Span> {
    let min = row.get(Kind::Min).map_or(0.0, |figure| figure.span(reading).low);
    let max = row.get(Kind::Max).map(|figure| figure.span(reading).high);
    let points: Vec<(f64, Span)> =
        row.quantiles().map(|(_, share, figure)| (share, figure.span(reading))).collect();
    if points.is_empty() && max.is_none() && row.get(Kind::Min).is_none() {
        return None;
    }
    let (mut low, mut high) = (0.0, 0.0);
    let (mut share_before, mut low_before) = (0.0, min);
    for (share, span) in points {
        low += (share - share_before) * low_before;
        high += (share - share_before) * span.high;
        (share_before, low_before) = (share, span.low);
    }
    low += (1.0 - share_before) * low_before;
    high += max.map_or(f64::INFINITY, |max| (1.0 - share_before) * max);
    // Figures out of order are another rule's; here they must not turn the range around.
    Some(Span::new(low.min(high), high.max(low)))
}

/// Of few requests one more or less moves the mean by so much.
fn slack(row: &Row) -> f64 {
    let largest = row
        .get(Kind::Max)
        .map(|figure| figure.value)
        .or_else(|| row.quantiles().next_back().map(|(_, _, f)| f.value));
    let requests = row.requests(Reading::Loose).map(|requests| requests.low).filter(|n| *n >= 1.0);
    match (largest, requests) {
        (Some(largest), Some(requests)) if largest.is_finite() => largest / requests,
        _ => 0.0,
    }
}

fn impossible(
    sheet: &Sheet,
    row: &Row,
    severity: AuditSeverity,
    bounds: Span,
    findings: &mut Vec<AuditFinding>,
) {
    let Some(mean) = row.get(Kind::Mean) else { return };
    let is_above = mean.rounded().low > bounds.high;
    let side = if is_above {
        "above what its percentiles and max allow"
    } else {
        "below what its percentiles allow"
    };
    let kinds: Vec<Kind> = row.figures().map(|(kind, _)| kind).filter(|kind| kind.is_latency()).collect();
    let draft = Draft::new(RULE, severity, &[row], format!("the mean is {side}"))
        .law("Σ (q₂ − q₁)·Q(q₁) ≤ mean ≤ Σ (q₂ − q₁)·Q(q₂) over neighbouring quantiles, min and max")
        .number("mean", Kind::Mean, mean)
        .maybe("min", Kind::Min, row);
    let draft =
        row.quantiles().fold(draft, |draft, (kind, _, figure)| draft.number(&kind.name(), kind, figure));
    draft
        .maybe("max", Kind::Max, row)
        .bound(format!(
            "the mean must be in {}, and is printed as {}",
            words::span(Dimension::Time, bounds),
            mean.text
        ))
        .remedy(format!(
            "look whether mean and percentiles are of one run and one unit, and whether percentiles were averaged; re-run with {}",
            super::again(row)
        ))
        .unless_sure_latencies(sheet, &kinds)
        .into(findings);
}

/// A mean above a high percentile is allowed, and says that few requests make it.
fn above_the_top(sheet: &Sheet, row: &Row, findings: &mut Vec<AuditFinding>) {
    let Some(mean) = row.get(Kind::Mean) else { return };
    let mut top = row
        .quantiles()
        .filter(|(_, share, figure)| *share >= TOP && mean.rounded().low > figure.rounded().high);
    let Some((kind, share, figure)) = top.next_back() else { return };
    let Some(tail) = tail_mean(row, mean.rounded().low, Reading::Rounded) else { return };
    let severity = if share >= 0.99 { AuditSeverity::Suspicious } else { AuditSeverity::Note };
    let name = kind.name();
    let slowest = words::percent(1.0 - share);
    Draft::new(RULE, severity, &[row], format!("the mean is above {name}, so few requests make it"))
        .law(format!("mean = Σ of shares times their means: the slowest {slowest} must make up for the others"))
        .number("mean", Kind::Mean, mean)
        .number(&name, kind, figure)
        .maybe("max", Kind::Max, row)
        .bound(match row.get(Kind::Max) {
            Some(_) => "the max leaves room for it".to_owned(),
            None => format!("requests above the highest percentile took {} or more on average", words::seconds(tail)),
        })
        .remedy(format!(
            "find what the slowest do (pauses, timeouts, retransmissions) before anything is said of the mean; re-run with {}",
            super::again(row)
        ))
        .unless_sure_latencies(sheet, &[Kind::Mean, kind])
        .into(findings);
}

/// What requests above the highest quantile must have taken on average, so that the mean is at least `mean`.
pub(super) fn tail_mean(row: &Row, mean: f64, reading: Reading) -> Option<f64> {
    let (mut rest, mut share_before) = (0.0, 0.0);
    for (_, share, figure) in row.quantiles() {
        rest += (share - share_before) * figure.span(reading).high;
        share_before = share;
    }
    let needed = (mean - rest) / (1.0 - share_before);
    (share_before > 0.0 && needed.is_finite()).then_some(needed)
}
