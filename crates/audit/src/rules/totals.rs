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

/// Beyond this more answers than were offered are not explained by a schedule that is caught up with.
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
        // A length is what its digits say: `30s` may have been 30.4, and not 31.
        let product = |reading| throughput.span(reading).times(duration.printed());
        // Throughput may be of right answers only, or requests may be.
        let counted = |reading| allowed_requests(row, requests.span(reading), reading);
        let severity = match judge(|reading| !product(reading).meets(counted(reading))) {
            None => continue,
            Some(AuditSeverity::Impossible) if !may_be_failures(row, product(Reading::Loose)) => {
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
fn may_be_failures(row: &Row, product: Span) -> bool {
    let requests = row.get(Kind::Requests).map_or(0.0, |figure| figure.span(Reading::Loose).high);
    product.low <= requests && row.error_share(Reading::Loose).is_none()
}

fn allowed_requests(row: &Row, requests: Span, reading: Reading) -> Span {
    let failed = row.error_share(reading).map_or(0.0, |share| share.high.min(1.0));
    let more = row.get(Kind::Errors).map_or(0.0, |errors| errors.span(reading).high);
    Span::new(requests.low * (1.0 - failed) - 1.0, requests.high + more + 1.0)
}

/// No more failures than requests, where the requests are all of them.
fn more_than_all(sheet: &Sheet, row: &Row, findings: &mut Vec<AuditFinding>) {
    const ALL: [&str; 6] = ["total", "all", "sent", "issued", "总", "全部"];
    let (Some(errors), Some(requests)) = (row.get(Kind::Errors), row.get(Kind::Requests)) else { return };
    let Some(severity) = judge(|reading| errors.span(reading).low > requests.span(reading).high) else {
        return;
    };
    let header = sheet.columns.iter().find(|column| column.kind == Kind::Requests);
    let header = header.map(|column| column.header.to_lowercase()).unwrap_or_default();
    let severity =
        if ALL.iter().any(|word| header.contains(word)) { severity } else { AuditSeverity::Suspicious };
    Draft::new(SHARE, severity, &[row], "more requests failed than there were")
        .law("failed requests are requests: failed ≤ requests")
        .number("failed", Kind::Errors, errors)
        .number("requests", Kind::Requests, requests)
        .bound(format!("at most {} can have failed, and {} are printed", requests.text, errors.text))
        .remedy(
            "look whether the requests are right answers only, or whether attempts to connect and retries are among the \
             failures; print all requests and how many of them failed",
        )
        .unless_sure(sheet, &[Kind::Errors, Kind::Requests])
        .into(findings);
}

/// Failed ÷ requests = share of failures.
pub(super) fn share(sheet: &Sheet, findings: &mut Vec<AuditFinding>) -> bool {
    let mut applied = false;
    for row in &sheet.rows {
        more_than_all(sheet, row, findings);
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
        let Some(severity) = judge(|reading| !computed(reading).meets(share(reading))) else {
            continue;
        };
        Draft::new(SHARE, severity, &[row], "failed requests and their share do not fit")
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
            .unless_sure(sheet, &[Kind::Errors, kind])
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
