//! Resident memory that grows all the time while it is measured. Short trials cannot tell a leak from a cache that
//! fills, so the finding says only that it grows; a growth that slows down is not reported.

use super::growth::grown;
use super::{Draft, Judgement, Link, Rule, Scene, Severity, Stage, missing};
use crate::words::{bytes, percent};
use schema::finding::{Change, FindingCause};
use schema::metric::Metric;
use schema::said;

const SHARE: f64 = 0.1;
const LEAST: f64 = 4_194_304.0;

pub(super) const RULE: Rule = Rule {
    cause: FindingCause::MemoryGrowth,
    stage: Stage::Target,
    source: "METHOD §8, in short: a rise in every trial (Kendall, Fisher)",
    explains: &[],
    judge,
};

fn judge(scene: &Scene<'_>) -> Judgement {
    let key = "target.process/rss_bytes";
    let Some(grown) = grown(scene, key) else { return missing(key) };
    if grown.share < SHARE || grown.by < LEAST || !grown.is_sure() || !grown.goes_on {
        return Judgement::RuledOut(said!(
            "why.memory_growth.resident_memory_changed_over",
            "its resident memory changed by {by} over a trial",
            by = bytes(grown.by)
        ));
    }
    let a_request = grown.by * scene.trials.len() as f64 / scene.answers().max(1) as f64;
    let text = said!(
        "why.memory_growth.resident_memory_grew_within",
        "its resident memory grew by {by} ({share}) within a trial, in every trial, about \
         {a_request} for each request",
        by = bytes(grown.by),
        share = percent(grown.share),
        a_request = bytes(a_request)
    );
    let draft = Draft::new(
        text,
        Severity::Medium,
        said!(
            "why.memory_growth.run_prony_soak_this",
            "run `prony soak` on this cell: it distinguishes a leak from a cache that fills"
        ),
    )
    .evidence(
        said!("why.memory_growth.resident_memory_end", "resident memory at the end"),
        bytes(grown.last),
        Some(said!(
            "why.memory_growth.more_than_beginning",
            "{share} more than at the beginning",
            share = percent(SHARE)
        )),
        key,
    )
    .link(Link::Growth(grown.p));
    match scene.reference().and_then(|law| law.leak_memory) {
        Some(leak) => {
            let change = Change::Reference { name: "leak_memory".to_owned(), value: "\"0B\"".to_owned() };
            draft
                .try_this(
                    change,
                    said!(
                        "why.memory_growth.what_each_request_leaves",
                        "what each request leaves behind from {leak} to nothing",
                        leak = leak.to_string()
                    ),
                    (Metric::Memory, 0.95),
                )
                .found()
        }
        None => draft.found(),
    }
}
