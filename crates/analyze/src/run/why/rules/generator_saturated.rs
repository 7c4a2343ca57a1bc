//! prony itself was the limit: one of the gates that watch the generator failed in most trials, or its busiest worker had
//! no room under a closed load while the target had. Looked at first; where it holds, nothing can be said of the target
//! (METHOD §9).

use super::{Draft, Judgement, Link, Rule, Scene, Severity, Stage};
use crate::words::{number, percent};
use schema::finding::FindingCause;
use schema::said;

/// Gates that fail when the generator could not do what was asked.
const GATES: [&str; 4] = ["generator_cpu", "pacer_lag", "arrivals", "offered_achieved"];
/// Busy share of the busiest worker from which there is little room.
const BUSY: f64 = 0.85;
/// Share of the time for which its own quota stopped it.
const THROTTLED: f64 = 0.05;

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
    let busy = scene.loads().filter(|load| load.generator.busy_share >= BUSY).count();
    // A closed load keeps to whatever pace there is, so no gate fails; then the target must have had room.
    let had_room = scene.is_closed() && busy * 2 > all && scene.utilisation().is_some_and(|used| used < BUSY);
    let is_failed = trials * 2 > all;
    if !is_failed && !had_room && throttled < THROTTLED {
        let text = said!(
            "why.generator_saturated.busiest_worker_busy_time",
            "its busiest worker was busy for {busiest} of the time, and the gates that watch it \
             passed in most trials",
            busiest = percent(busiest)
        );
        return Judgement::RuledOut(text);
    }
    let text = if is_failed {
        said!(
            "why.generator_saturated.prony_could_not_make",
            "prony could not make the load that was asked for in {trials} of {all} trials \
             ({failed}): these numbers are of the generator, not of the target",
            trials,
            all,
            failed = failed.join(", ")
        )
    } else {
        said!(
            "why.generator_saturated.prony_busiest_worker_busy",
            "prony's busiest worker was busy for {busiest} of the time while the target used \
             {utilisation} of its CPU: the generator was the limit, or nearly so",
            busiest = percent(busiest),
            utilisation = percent(scene.utilisation().unwrap_or_default())
        )
    };
    let share = (trials as f64 / all.max(1) as f64).max(throttled.min(1.0));
    Draft::new(
        text,
        Severity::High,
        said!(
            "why.generator_saturated.give_generator_more_workers",
            "give the generator more workers or CPUs (`load.workers`, `pin`), another machine, \
             or ask for less"
        ),
    )
    .evidence(
        said!("why.generator_saturated.busy_share_busiest_worker", "busy share of the busiest worker"),
        percent(busiest),
        Some(percent(BUSY).into()),
        "trial.json load.generator",
    )
    .evidence(
        said!("why.generator_saturated.trials_failed_gate", "trials with a failed gate"),
        number(trials as f64),
        None,
        "trial.json load.validity",
    )
    .link(Link::Direct(share))
    .link(Link::Bound(if had_room { busiest } else { 0.0 }))
    .found()
}
