//! Arithmetic between totals: throughput × duration = requests, failed ÷ requests = share of failures, and no more
//! answers than were offered.

use super::Draft;
use crate::figure::{Reading, Span, judge};
use crate::kind::Kind;
use crate::sheet::{Row, Sheet};
use crate::unit::Dimension;
use crate::words;
use schema::audit::{AuditFinding, AuditSeverity};

pub(super) const COUNT: &str = "throughput-times-duration";
pub(super) const COUNT_NEEDS: &str = "throughput, duration and requests";
pub(super) const SHARE: &str = "error-arithmetic";
pub(super) const SHARE_NEEDS: &str = "errors, requests (or throughput and duration) and the share of errors";
pub(super) const OFFERED: &str = "offered-rate";
pub(super) const OFFERED_NEEDS: &str = "throughput and the rate that was offered";

/// A nominal duration, and what starts before or ends after it.
const NOMINAL: f64 = 0.02;
/// Beyond this no way of counting explains it.
const GROSS: f64 = 0.1;

/// Throughput × duration = requests.
pub(super) fn count(sheet: &Sheet, findings: &mut Vec<AuditFinding>) -> bool {
    let mut applied = false;
    for row in &sheet.rows {
        let (Some(throughput), Some(duration), Some(requests)) =
            (row.get(Kind::Throughput), row.get(Kind::Duration), row.get(Kind::Requests))
        else {
            continue;
        };
        applied = true;
        let product = |reading| throughput.span(reading).times(duration.span(reading));
        // Throughput may be of right answers only, or requests may be.
        let counted = |reading| allowed_requests(row, requests.span(reading), reading);
        let is_off = |reading, share: f64| !product(reading).widened(share).meets(counted(reading));
        let severity = match judge(|reading| is_off(reading, NOMINAL)) {
            None => continue,
            Some(_) if is_impossible(row, |share| is_off(Reading::Loose, share), product(Reading::Loose)) => {
                AuditSeverity::Impossible
            }
            Some(_) => AuditSeverity::Suspicious,
        };
        let product = product(Reading::Rounded);
        Draft::new(COUNT, severity, &[row], "throughput times duration is not the number of requests")
            .law("requests = throughput × duration")
            .number("X", Kind::Throughput, throughput)
            .number("T", Kind::Duration, duration)
            .number("requests", Kind::Requests, requests)
            .maybe("failed", Kind::Errors, row)
            .bound(format!(
                "X·T is {}, and {} requests are printed",
                words::span(Dimension::Count, product),
                requests.text
            ))
            .remedy(
                "look which of the three includes the warm-up, failed requests or the drain; they must be of the same window, as \
                 in `prony load URL -d 30s --format json`",
            )
            .unless_sure(sheet, &[Kind::Throughput, Kind::Duration, Kind::Requests])
            .into(findings);
    }
    applied
}

/// More answers than requests cannot be; fewer may be failures that the table does not count.
fn is_impossible(row: &Row, is_off: impl Fn(f64) -> bool, product: Span) -> bool {
    let requests = row.get(Kind::Requests).map_or(0.0, |figure| figure.span(Reading::Loose).high);
    let counts_failures = row.error_share(Reading::Loose).is_some();
    is_off(GROSS) && (product.low > requests || counts_failures)
}

fn allowed_requests(row: &Row, requests: Span, reading: Reading) -> Span {
    let failed = row.error_share(reading).map_or(0.0, |share| share.high.min(1.0));
    let more = row.get(Kind::Errors).map_or(0.0, |errors| errors.span(reading).high);
    Span::new(requests.low * (1.0 - failed) - 1.0, requests.high + more + 1.0)
}

/// Failed ÷ requests = share of failures.
pub(super) fn share(sheet: &Sheet, findings: &mut Vec<AuditFinding>) -> bool {
    let mut applied = false;
    for row in &sheet.rows {
        let (Some(errors), Some(requests)) = (row.get(Kind::Errors), row.requests(Reading::Loose)) else {
            continue;
        };
        let stated = row.get(Kind::ErrorShare).map(|figure| (Kind::ErrorShare, figure.clone()));
        let stated =
            stated.or_else(|| row.get(Kind::SuccessShare).map(|figure| (Kind::SuccessShare, figure.clone())));
        let Some((kind, stated)) = stated else { continue };
        applied = true;
        let share = |reading| {
            let span = stated.span(reading);
            if kind == Kind::SuccessShare { Span::new(1.0 - span.high, 1.0 - span.low) } else { span }
        };
        // Requests may count the right answers only.
        let all = Span::new(requests.low, requests.high + errors.span(Reading::Loose).high);
        let computed = |reading| errors.span(reading).over(all);
        let Some(_) = judge(|reading| !computed(reading).widened(NOMINAL).meets(share(reading))) else {
            continue;
        };
        Draft::new(SHARE, AuditSeverity::Suspicious, &[row], "failed requests and their share do not fit")
            .law("share of failures = failed ÷ requests")
            .number("failed", Kind::Errors, errors)
            .number("share", kind, &stated)
            .maybe("requests", Kind::Requests, row)
            .bound(format!(
                "{} of {} requests are {}, and {} is printed",
                errors.text,
                words::span(Dimension::Count, requests),
                words::span(Dimension::Share, computed(Reading::Rounded)),
                stated.text
            ))
            .remedy("look which requests each of them counts: all, those that were answered, or those that timed out")
            .into(findings);
    }
    applied
}

/// No more answers than were offered, and not many fewer.
pub(super) fn offered(sheet: &Sheet, findings: &mut Vec<AuditFinding>) -> bool {
    let mut applied = false;
    for row in &sheet.rows {
        let (Some(throughput), Some(offered)) = (row.get(Kind::Throughput), row.get(Kind::Offered)) else {
            continue;
        };
        applied = true;
        let rate = offered.value;
        let above = judge(|reading| throughput.span(reading).low > rate * (1.0 + GROSS));
        let is_behind = throughput.rounded().high < rate * 0.95;
        let (severity, what, remedy) = match above {
            Some(severity) => (
                severity,
                "more was answered than was offered",
                "look whether retries or several machines are in the throughput",
            ),
            None if is_behind => (
                AuditSeverity::Suspicious,
                "less was answered than was offered, so latency is that of a growing backlog",
                "such a row has no latency of its own: it grows with the duration; find the largest rate that is kept with \
                 `prony knee URL`, or re-run below it with `prony load URL -R RATE`",
            ),
            None => continue,
        };
        Draft::new(OFFERED, severity, &[row], what)
            .law("in a steady state answers per second = requests per second")
            .number("X", Kind::Throughput, throughput)
            .number("offered", Kind::Offered, offered)
            .bound(format!(
                "{} were answered of {} offered",
                words::rate(throughput.value),
                words::rate(rate)
            ))
            .remedy(remedy)
            .unless_sure(sheet, &[Kind::Throughput, Kind::Offered])
            .into(findings);
    }
    applied
}
