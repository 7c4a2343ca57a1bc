//! The speed of a core changed between the beginning and the end of a trial: the fixed-work canary (METHOD §9).

use super::{Draft, Judgement, Link, Rule, Scene, Severity, Stage, missing};
use crate::words::percent;
use schema::finding::FindingCause;
use schema::said;

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
    let Some(worst) = drifts.iter().copied().reduce(f64::max) else {
        return missing(said!("why.clock_drift.canary", "the canary"));
    };
    let drifted = drifts.iter().filter(|drift| **drift > DRIFT).count();
    // One trial of several that drifts is chance or a neighbour; most of them are the machine.
    if drifted * 2 <= drifts.len() {
        return Judgement::RuledOut(said!(
            "why.clock_drift.fixed_work_took_within",
            "fixed work took within {worst} of the same time before and after",
            worst = percent(worst)
        ));
    }
    let text = said!(
        "why.clock_drift.fixed_work_took_up",
        "fixed work took up to {worst} longer or shorter after the load than before, in \
         {drifted} of {drifts} trials: the clock of the CPU, or what else runs on it, changed",
        worst = percent(worst),
        drifted,
        drifts = drifts.len()
    );
    let severity = if worst > LARGE { Severity::Medium } else { Severity::Low };
    Draft::new(
        text,
        severity,
        said!(
            "why.clock_drift.set_cpu_governor_performance",
            "set the CPU's governor to performance and turn its boost off (`--tune --turbo-off`)"
        ),
    )
    .evidence(
        said!("why.clock_drift.largest_drift_canary", "largest drift of the canary"),
        percent(worst),
        Some(percent(DRIFT).into()),
        "trial.json canary",
    )
    .link(Link::Direct(drifted as f64 / drifts.len() as f64))
    .found()
}
