//! The target still got faster while it was measured: compilers, caches and pools were not warm (METHOD §5).

use super::{Draft, Judgement, Link, Rule, Scene, Severity, Stage};
use crate::run::steady;
use crate::stats::rising::rising;
use crate::words::percent;
use schema::finding::FindingCause;
use schema::said;
use schema::steady::SteadyClass;
use schema::trial::Phase;

/// From the first to the last third of the samples.
const CHANGE: f64 = 0.1;

pub(super) const RULE: Rule = Rule {
    cause: FindingCause::ColdCode,
    stage: Stage::Target,
    source: "METHOD §5; Barrett et al., OOPSLA 2017",
    explains: &[FindingCause::CpuSaturated, FindingCause::RunQueue],
    judge,
};

fn judge(scene: &Scene<'_>) -> Judgement {
    let warming = scene.trials.iter().filter(|trial| {
        steady::of_trial(trial).is_some_and(|found| found.class == Some(SteadyClass::WarmUp))
    });
    let warming = warming.count();
    // Short windows have no class; a median that falls in trial after trial is as good.
    let speeds: Vec<Vec<f64>> = scene
        .trials
        .iter()
        .map(|trial| {
            let lines = trial.intervals.iter().filter(|line| line.phase == Some(Phase::Sample));
            lines.filter_map(|line| line.p50_ns.map(|ns| -(ns as f64))).collect()
        })
        .collect();
    let changes: Vec<f64> =
        speeds.iter().filter(|series| series.len() >= 4).map(|series| change(series)).collect();
    let change = changes.iter().sum::<f64>() / changes.len() as f64;
    let Some(p) = rising(&speeds) else {
        return Judgement::Unread(said!(
            "why.cold_code.samples_too_short_see",
            "the samples are too short to see a trend"
        ));
    };
    let is_rising = p <= super::growth::P_MAX && change >= CHANGE;
    if warming * 2 <= scene.trials.len() && !is_rising {
        return Judgement::RuledOut(said!(
            "why.cold_code.median_response_time_changed",
            "its median response time changed by {change} over the samples",
            change = percent(-change)
        ));
    }
    let text = said!(
        "why.cold_code.median_response_time_fell",
        "its median response time fell by {change} from the first to the last third of the \
         samples: it was not warm",
        change = percent(change)
    );
    Draft::new(
        text,
        Severity::High,
        said!(
            "why.cold_code.raise_warmup_least_samples",
            "raise `warmup.at_least`, so that the samples begin later"
        ),
    )
    .evidence(
        said!("why.cold_code.fall_median_within_samples", "fall of the median within the samples"),
        percent(change),
        Some(percent(CHANGE).into()),
        "intervals.ndjson p50_ns",
    )
    .evidence(
        said!("why.cold_code.trials_still_warming_up", "trials that were still warming up"),
        crate::words::number(warming as f64),
        None,
        "trial.json steadiness",
    )
    .link(Link::Growth(p))
    .link(Link::Direct(warming as f64 / scene.trials.len().max(1) as f64))
    .found()
}

/// How much lower the times of the last third are than those of the first; values are negative times.
fn change(series: &[f64]) -> f64 {
    let third = (series.len() / 3).max(1);
    let mean = |part: &[f64]| -part.iter().sum::<f64>() / part.len() as f64;
    let (first, last) = (mean(&series[..third]), mean(&series[series.len() - third..]));
    if first > 0.0 { 1.0 - last / first } else { 0.0 }
}
