//! No request takes longer than the measurement that it is part of.

use super::{Draft, again};
use crate::figure::judge;
use crate::kind::Kind;
use crate::sheet::Sheet;
use crate::words;
use schema::audit::{AuditFinding, AuditSeverity};

pub(super) const RULE: &str = "latency-in-duration";
pub(super) const NEEDS: &str = "duration and a latency";

/// Requests may begin before the window, and the tool may wait for the last ones.
const SLACK: f64 = 0.1;
/// The mean of a window is that of requests which ended in it, so it cannot be much longer either.
const GROSS: f64 = 2.0;

pub(super) fn check(sheet: &Sheet, findings: &mut Vec<AuditFinding>) -> bool {
    let mut applied = false;
    for row in &sheet.rows {
        let Some(duration) = row.get(Kind::Duration).filter(|duration| duration.value > 0.0) else {
            continue;
        };
        let longest = row.figures().filter(|(kind, _)| kind.is_latency() && *kind != Kind::StdDev);
        let Some((kind, longest)) = longest.max_by(|a, b| a.1.value.total_cmp(&b.1.value)) else { continue };
        applied = true;
        let limit = |reading| duration.span(reading).high * (1.0 + SLACK);
        let Some(found) = judge(|reading| longest.span(reading).low > limit(reading)) else { continue };
        let is_gross = longest.value > duration.value * GROSS;
        let severity = if is_gross { found } else { AuditSeverity::Suspicious };
        let name = kind.name();
        Draft::new(RULE, severity, &[row], format!("{name} is longer than the measurement"))
            .law("a request that ends within the measurement took no longer than it")
            .number(&name, kind, longest)
            .number("T", Kind::Duration, duration)
            .bound(format!("at most {}, and {} is printed", words::seconds(duration.value), longest.text))
            .remedy(format!(
                "look for the units of both; re-run for longer than any request takes: {}",
                again(row)
            ))
            .unless_sure(sheet, &[kind, Kind::Duration])
            .into(findings);
    }
    applied
}
