//! Failures that the other figures leave out: throughput with failed answers in it, and percentiles that would be failures.

use super::{Draft, again};
use crate::figure::Reading;
use crate::kind::Kind;
use crate::sheet::{Row, Sheet};
use crate::words;
use schema::audit::{AuditFinding, AuditSeverity};

pub(super) const RULE: &str = "errors-ignored";
pub(super) const NEEDS: &str = "a share of errors, or errors and requests, and throughput or percentiles";

/// From this share on it changes what a reader concludes.
const SHARE: f64 = 0.01;

pub(super) fn check(sheet: &Sheet, findings: &mut Vec<AuditFinding>) -> bool {
    let mut applied = false;
    for row in &sheet.rows {
        let Some(share) = row.error_share(Reading::Rounded) else { continue };
        applied = true;
        if share.low <= 0.0 {
            continue;
        }
        let hidden = row.quantiles().find(|(_, q, _)| 1.0 - q <= share.low);
        if share.low < SHARE && hidden.is_none() {
            continue;
        }
        found(row, share.low, hidden.map(|(kind, _, _)| kind), findings);
    }
    applied
}

fn found(row: &Row, share: f64, hidden: Option<Kind>, findings: &mut Vec<AuditFinding>) {
    let good = row.get(Kind::Throughput).map(|throughput| throughput.value * (1.0 - share));
    let of_throughput = good.map(|good| {
        format!("if failed requests are in the throughput, {} were answered rightly", words::rate(good))
    });
    let of_quantile = hidden.map(|kind| {
        format!(
            "of all requests {} failed, so {} and higher percentiles are those of failures, which no time is too long for",
            words::percent(share),
            kind.name()
        )
    });
    let bound: Vec<String> = of_throughput.into_iter().chain(of_quantile).collect();
    let bound = match bound.as_slice() {
        [] => "what failed is in no other figure of the row".to_owned(),
        bound => bound.join("; "),
    };
    let what = match hidden {
        Some(kind) => format!("{} is printed although more requests failed than lie above it", kind.name()),
        None => format!("{} of the requests failed", words::percent(share)),
    };
    Draft::new(RULE, AuditSeverity::Suspicious, &[row], what)
        .law("a failed request counts above every finite time, and is no throughput (METHOD §0, §1)")
        .maybe("failed", Kind::Errors, row)
        .maybe("failed", Kind::ErrorShare, row)
        .maybe("right", Kind::SuccessShare, row)
        .maybe("X", Kind::Throughput, row)
        .bound(bound)
        .remedy(format!(
            "print right answers per second and the share of failures with every row; prony counts only right answers as \
             throughput: re-run with {}",
            again(row)
        ))
        .into(findings);
}
