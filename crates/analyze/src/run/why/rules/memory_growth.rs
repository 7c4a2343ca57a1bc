//! Resident memory that grows all the time while it is measured. Short trials cannot tell a leak from a cache that
//! fills, so the finding says only that it grows; a growth that slows down is not told.

use super::growth::grown;
use super::{Draft, Judgement, Link, Rule, Scene, Severity, Stage, missing};
use crate::words::{bytes, percent};
use schema::finding::{Change, FindingCause};
use schema::metric::Metric;

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
        return Judgement::RuledOut(format!(
            "its resident memory changed by {} over a trial",
            bytes(grown.by)
        ));
    }
    let a_request = grown.by * scene.trials.len() as f64 / scene.answers().max(1) as f64;
    let text = format!(
        "its resident memory grew by {} ({}) within a trial, in every trial, about {} for each request",
        bytes(grown.by),
        percent(grown.share),
        bytes(a_request)
    );
    let draft = Draft::new(
        text,
        Severity::Medium,
        "run `prony soak` on this cell: it tells a leak from a cache that fills",
    )
    .evidence(
        "resident memory at the end",
        bytes(grown.last),
        Some(format!("{} more than at the beginning", percent(SHARE))),
        key,
    )
    .link(Link::Growth(grown.p));
    match scene.reference().and_then(|law| law.leak_memory) {
        Some(leak) => {
            let change = Change::Reference { name: "leak_memory".to_owned(), value: "\"0B\"".to_owned() };
            draft
                .try_this(
                    change,
                    format!("what each request leaves behind from {leak} to nothing"),
                    (Metric::Memory, 0.95),
                )
                .found()
        }
        None => draft.found(),
    }
}
