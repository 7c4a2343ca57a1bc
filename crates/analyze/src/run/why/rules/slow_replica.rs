//! Some trials ran on a slower machine than others, told by the fixed-work canary: the clock of a core that wanders, one
//! slow node among several (study D's puzzle).

use super::{Draft, Judgement, Link, Rule, Scene, Severity, Stage, missing};
use crate::words::{listed, percent};
use schema::finding::FindingCause;

/// Fall of the throughput that is worth telling.
const SLOWER: f64 = 0.05;

pub(super) const RULE: Rule = Rule {
    cause: FindingCause::SlowReplica,
    stage: Stage::Environment,
    source: "METHOD §9, clock drift: the canary between trials",
    explains: &[FindingCause::ClockDrift],
    judge,
};

fn judge(scene: &Scene<'_>) -> Judgement {
    if scene.trials.iter().all(|trial| trial.file.canary.is_none()) {
        return missing("the canary");
    }
    let Some((ids, throughput)) = &scene.slow else {
        return Judgement::RuledOut("fixed work took the same time in all trials".to_owned());
    };
    let Some(ratio) = throughput.filter(|ratio| *ratio < 1.0 - SLOWER) else {
        return Judgement::RuledOut("trials on a slower machine had the same throughput".to_owned());
    };
    let text = format!(
        "{} ran on a slower machine, with {} less throughput than the others",
        listed("trial", ids),
        percent(1.0 - ratio)
    );
    Draft::new(text, Severity::High, "run all trials on one machine with a fixed clock (`--tune --turbo-off`), or treat the machine as a factor")
        .evidence("throughput lost in them", percent(1.0 - ratio), Some(percent(SLOWER)), "trial.json canary")
        .link(Link::Direct(1.0 - ratio))
        .found()
}
