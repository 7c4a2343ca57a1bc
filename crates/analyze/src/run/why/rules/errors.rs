//! Requests failed, by class and status. Where another rule tells why, this follows from it.

use super::{Draft, Judgement, Link, Rule, Scene, Severity, Stage};
use crate::words::{number, percent};
use schema::finding::FindingCause;
use schema::said;
use schema::said::{Joint, Said};
use std::collections::BTreeMap;

const SOME: f64 = 0.001;
const MANY: f64 = 0.01;

pub(super) const RULE: Rule = Rule {
    cause: FindingCause::Errors,
    stage: Stage::Target,
    source: "METHOD §0: errors are results, never left out",
    explains: &[],
    judge,
};

fn judge(scene: &Scene<'_>) -> Judgement {
    let share = scene.failed_share(|_| true);
    if share < SOME {
        return Judgement::RuledOut(said!(
            "why.errors.requests_failed",
            "{share} of the requests failed",
            share = percent(share)
        ));
    }
    let mut classes: BTreeMap<&str, u64> = BTreeMap::new();
    let mut status: BTreeMap<u16, u64> = BTreeMap::new();
    for load in scene.loads() {
        for (class, count) in &load.errors {
            add(classes.entry(class.key()).or_default(), *count);
        }
        for (code, count) in load.status.iter().filter(|(code, _)| **code >= 400) {
            add(status.entry(*code).or_default(), *count);
        }
    }
    let mut by_size: Vec<(&str, u64)> = classes.into_iter().filter(|(_, count)| *count > 0).collect();
    by_size.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let what: Vec<String> =
        by_size.iter().take(3).map(|(class, count)| format!("{} {class}", number(*count as f64))).collect();
    let codes: Vec<String> =
        status.iter().map(|(code, count)| format!("{code} × {}", number(*count as f64))).take(4).collect();
    let codes = if codes.is_empty() {
        Said::default()
    } else {
        said!("why.errors.status", "; status {codes}", codes = Said::list(Joint::Comma, codes))
    };
    let text = said!(
        "why.errors.found",
        "{share} of the requests failed: {what}{codes}",
        share = percent(share),
        what = Said::list(Joint::Comma, what),
        codes
    );
    let severity = if share >= MANY { Severity::High } else { Severity::Medium };
    Draft::new(
        text,
        severity,
        said!(
            "why.errors.read_log_these_trials",
            "read its log of these trials (trials/*/target.log), and the examples in trial.json"
        ),
    )
    .evidence(
        said!("why.errors.failed_requests", "failed requests"),
        percent(share),
        Some(percent(SOME).into()),
        "trial.json load.errors",
    )
    .link(Link::Direct(share))
    .found()
}

/// Counts come from files that anybody may have written.
fn add(sum: &mut u64, more: u64) {
    *sum = sum.saturating_add(more);
}
