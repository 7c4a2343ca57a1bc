//! Some trials ran on a slower machine than others, detected by the fixed-work canary: the clock of a core that
//! wanders, one slow node among several (study D's puzzle).

use super::{Draft, Judgement, Link, Rule, Scene, Severity, Stage, missing};
use crate::words::{Listed, listed, percent};
use schema::finding::FindingCause;
use schema::said;

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
        return missing(said!("why.slow_replica.canary", "the canary"));
    }
    let Some((ids, throughput)) = &scene.slow else {
        return Judgement::RuledOut(said!(
            "why.slow_replica.fixed_work_took_same",
            "fixed work took the same time in all trials"
        ));
    };
    let Some(ratio) = throughput.filter(|ratio| *ratio < 1.0 - SLOWER) else {
        return Judgement::RuledOut(said!(
            "why.slow_replica.trials_slower_machine_had",
            "trials on a slower machine had the same throughput"
        ));
    };
    let text = said!(
        "why.slow_replica.ran_slower_machine_less",
        "{trials} ran on a slower machine, with {ratio} less throughput than the others",
        trials = listed(Listed::Trial, ids),
        ratio = percent(1.0 - ratio)
    );
    Draft::new(
        text,
        Severity::High,
        said!(
            "why.slow_replica.run_all_trials_one",
            "run all trials on one machine with a fixed clock (`--tune --turbo-off`), or treat the \
         machine as a factor"
        ),
    )
    .evidence(
        said!("why.slow_replica.throughput_lost_them", "throughput lost in them"),
        percent(1.0 - ratio),
        Some(percent(SLOWER).into()),
        "trial.json canary",
    )
    .link(Link::Direct(1.0 - ratio))
    .found()
}
