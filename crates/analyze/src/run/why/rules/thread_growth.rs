//! Goroutines or threads that only grow in number while the load is the same: they are made and do not end.

use super::growth::{Grown, grown};
use super::{Draft, Judgement, Link, Rule, Scene, Severity, Stage, missing};
use crate::words::{number, percent};
use schema::finding::FindingCause;
use schema::said;
use schema::said::Said;

/// By how much, and at least by how many.
const SHARE: f64 = 0.15;
const LEAST: f64 = 20.0;

pub(super) const RULE: Rule = Rule {
    cause: FindingCause::ThreadGrowth,
    stage: Stage::Target,
    source: "METHOD §8, in short: a rise in every trial (Kendall, Fisher); `prony soak` tells a leak from a filling pool",
    explains: &[FindingCause::MemoryGrowth],
    judge,
};

fn judge(scene: &Scene<'_>) -> Judgement {
    let kinds = [
        (said!("why.thread_growth.goroutines", "goroutines"), "go.runtime/goroutines"),
        (said!("why.thread_growth.threads", "threads"), "target.process/threads"),
    ];
    let told: Vec<(Said, &str, Grown)> =
        kinds.into_iter().filter_map(|(what, key)| Some((what, key, grown(scene, key)?))).collect();
    let Some((_, _, first)) = told.first() else { return missing("target.process/threads") };
    let found =
        told.iter().find(|(_, _, grown)| grown.share >= SHARE && grown.by >= LEAST && grown.is_sure());
    let Some((what, key, grown)) = found else {
        return Judgement::RuledOut(said!(
            "why.thread_growth.their_number_changed_over",
            "their number changed by {by} over a trial",
            by = number(first.by)
        ));
    };
    let text = said!(
        "why.thread_growth.grew_within_trial_every",
        "its {what} grew by {by} ({share}) within a trial, in every trial",
        what,
        by = number(grown.by),
        share = percent(grown.share)
    );
    Draft::new(
        text,
        Severity::Medium,
        said!(
            "why.thread_growth.find_what_starts_them",
            "find what starts them and never ends (a goroutine profile, a thread dump); `prony soak` \
         shows how far it goes"
        ),
    )
    .evidence(
        said!("why.thread_growth.at_the_end", "{what} at the end", what),
        number(grown.last),
        Some(said!(
            "why.thread_growth.more_than_beginning",
            "{share} more than at the beginning",
            share = percent(SHARE)
        )),
        key,
    )
    .link(Link::Growth(grown.p))
    .found()
}
