//! Percentiles of too few requests. A table of another tool has no histogram to read a rank interval from,
//! so METHOD §4 asks for n ≥ 300/(1−q) here; below ln 0.05/ln q no sample has a 95 % upper bound.

use super::{Draft, again};
use crate::figure::Reading;
use crate::kind::Kind;
use crate::sheet::{Row, Sheet};
use crate::words;
use schema::audit::{AuditFinding, AuditSeverity};

pub(super) const RULE: &str = "too-few-samples";
pub(super) const NEEDS: &str = "percentiles, and requests (or throughput and duration)";

pub(super) fn check(sheet: &Sheet, findings: &mut Vec<AuditFinding>) -> bool {
    let mut applied = false;
    for row in &sheet.rows {
        let Some(requests) = row.requests(Reading::Rounded).map(|span| span.high).filter(|n| n.is_finite())
        else {
            continue;
        };
        let Some((kind, share, _)) = row.quantiles().next_back() else { continue };
        applied = true;
        let needed = 300.0 / (1.0 - share);
        // A rounding in 1 − q must not decide.
        if requests < needed * (1.0 - 1e-9) {
            found(row, kind, share, requests, needed, findings);
        }
    }
    applied
}

fn found(row: &Row, kind: Kind, share: f64, requests: f64, needed: f64, findings: &mut Vec<AuditFinding>) {
    let bounded = (0.05_f64.ln() / share.ln()).ceil();
    let severity = if requests < bounded { AuditSeverity::Suspicious } else { AuditSeverity::Note };
    let name = kind.name();
    let above = requests * (1.0 - share);
    let Some(figure) = row.get(kind) else { return };
    Draft::new(
        RULE,
        severity,
        &[row],
        format!(
            "{name} of {} requests rests on {} of them",
            words::count(requests.round()),
            words::count(above.round())
        ),
    )
    .law("the share beyond a percentile q is known within 12 % from 300/(1−q) requests on (METHOD §4)")
    .number(&name, kind, figure)
    .maybe("requests", Kind::Requests, row)
    .maybe("X", Kind::Throughput, row)
    .maybe("T", Kind::Duration, row)
    .bound(format!(
        "{} requests are needed; below {} it has not even an upper bound",
        words::count(needed.round()),
        words::count(bounded)
    ))
    .remedy(format!("print a lower percentile, or measure longer and in several trials: {}", again(row)))
    .into(findings);
}
