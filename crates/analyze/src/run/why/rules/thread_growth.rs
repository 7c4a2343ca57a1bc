//! Goroutines or threads that only grow in number while the load is the same: they are made and do not end.

use super::growth::{Grown, grown};
use super::{Draft, Judgement, Link, Rule, Scene, Severity, Stage, missing};
use crate::words::{number, percent};
use schema::finding::FindingCause;

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
    let kinds = [("goroutines", "go.runtime/goroutines"), ("threads", "target.process/threads")];
    let told: Vec<(&str, &str, Grown)> =
        kinds.iter().filter_map(|(what, key)| Some((*what, *key, grown(scene, key)?))).collect();
    let Some((_, _, first)) = told.first() else { return missing("target.process/threads") };
    let found =
        told.iter().find(|(_, _, grown)| grown.share >= SHARE && grown.by >= LEAST && grown.is_sure());
    let Some((what, key, grown)) = found else {
        return Judgement::RuledOut(format!("their number changed by {} over a trial", number(first.by)));
    };
    let text = format!(
        "its {what} grew by {} ({}) within a trial, in every trial",
        number(grown.by),
        percent(grown.share)
    );
    Draft::new(text, Severity::Medium, "find what starts them and never ends (a goroutine profile, a thread dump); `prony soak` shows how far it goes")
        .evidence(&format!("{what} at the end"), number(grown.last), Some(format!("{} more than at the beginning", percent(SHARE))), key)
        .link(Link::Growth(grown.p))
        .found()
}
