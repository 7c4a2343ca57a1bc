//! The speed of a core changed between the beginning and the end of a trial: the fixed-work canary (METHOD §9).

use super::{Draft, Judgement, Link, Rule, Scene, Severity, Stage, missing};
use crate::words::percent;
use schema::finding::FindingCause;

const DRIFT: f64 = 0.02;
const LARGE: f64 = 0.1;

pub(super) const RULE: Rule = Rule {
    cause: FindingCause::ClockDrift,
    stage: Stage::Environment,
    source: "METHOD §9: a canary that drifts by more than 2 % is a covariate or voids",
    explains: &[],
    judge,
};

fn judge(scene: &Scene<'_>) -> Judgement {
    let drifts: Vec<f64> =
        scene.trials.iter().filter_map(|trial| Some(trial.file.canary.as_ref()?.drift.abs())).collect();
    let Some(worst) = drifts.iter().copied().reduce(f64::max) else { return missing("the canary") };
    let drifted = drifts.iter().filter(|drift| **drift > DRIFT).count();
    // One trial of several that drifts is chance or a neighbour; most of them are the machine.
    if drifted * 2 <= drifts.len() {
        return Judgement::RuledOut(format!(
            "fixed work took within {} of the same time before and after",
            percent(worst)
        ));
    }
    let text = format!(
        "fixed work took up to {} longer or shorter after the load than before, in {drifted} of {} trials: the clock of \
         the CPU, or what else runs on it, changed",
        percent(worst),
        drifts.len()
    );
    let severity = if worst > LARGE { Severity::Medium } else { Severity::Low };
    Draft::new(
        text,
        severity,
        "set the CPU's governor to performance and turn its boost off (`--tune --turbo-off`)",
    )
    .evidence("largest drift of the canary", percent(worst), Some(percent(DRIFT)), "trial.json canary")
    .link(Link::Direct(drifted as f64 / drifts.len() as f64))
    .found()
}
