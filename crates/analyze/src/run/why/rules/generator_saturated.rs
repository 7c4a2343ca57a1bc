//! prony itself was the limit: one of the gates that watch the generator failed in most trials. Looked at first; where
//! it holds, nothing can be said of the target (METHOD §9).

use super::{Draft, Judgement, Link, Rule, Scene, Severity, Stage};
use crate::words::{number, percent};
use schema::finding::FindingCause;

/// Gates that fail when the generator could not do what was asked.
const GATES: [&str; 4] = ["generator_cpu", "pacer_lag", "arrivals", "offered_achieved"];
/// Busy share of the busiest worker from which there is little room.
const BUSY: f64 = 0.85;

pub(super) const RULE: Rule = Rule {
    cause: FindingCause::GeneratorSaturated,
    stage: Stage::Generator,
    source: "METHOD §9: the generator is checked first and vetoes all others",
    explains: &[],
    judge,
};

fn judge(scene: &Scene<'_>) -> Judgement {
    let all = scene.loads().count();
    let busiest = scene.loads().map(|load| load.generator.busy_share).fold(0.0, f64::max);
    let throttled = scene.rate("generator.cgroup/throttled_ns").unwrap_or_default() / 1e9;
    let mut failed: Vec<&str> = Vec::new();
    let mut trials = 0;
    for load in scene.loads() {
        let of_this: Vec<&str> = load
            .validity
            .reasons
            .iter()
            .map(|gate| gate.gate.as_str())
            .filter(|gate| GATES.contains(gate))
            .collect();
        // A late pacer beside an idle worker is the host's doing, not the generator's.
        let own = of_this.contains(&"generator_cpu") || load.generator.busy_share >= BUSY;
        trials += usize::from(own && !of_this.is_empty());
        failed.extend(of_this);
    }
    failed.sort_unstable();
    failed.dedup();
    if trials * 2 <= all && throttled < 0.05 {
        let text = format!(
            "its busiest worker was busy for {} of the time, every gate that watches it passed",
            percent(busiest)
        );
        return Judgement::RuledOut(text);
    }
    let share = (trials as f64 / all.max(1) as f64).max(throttled.min(1.0));
    let text = format!(
        "prony could not make the load that was asked for in {trials} of {all} trials ({}): these numbers are of the \
         generator, not of the target",
        failed.join(", ")
    );
    Draft::new(
        text,
        Severity::High,
        "give the generator more workers or CPUs (`load.workers`, `pin`), another machine, or ask for less",
    )
    .evidence(
        "busy share of the busiest worker",
        percent(busiest),
        Some(percent(0.95)),
        "trial.json load.generator",
    )
    .evidence("trials with a failed gate", number(trials as f64), None, "trial.json load.validity")
    .link(Link::Direct(share))
    .found()
}
