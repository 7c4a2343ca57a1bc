//! From outside: a closed load kept requests in flight all the time, and yet the target's CPU was idle. They waited inside
//! it or behind it; for what, cannot be seen from here.
//!
//! Never of more than low severity: a service that sleeps does the same, and nothing is wrong with it. It is the answer
//! where nothing else was found, with what would tell more.

use super::{Draft, Judgement, Rule, Scene, Severity, Stage};
use crate::words::{duration, number, percent};
use schema::finding::FindingCause;
use schema::said;

/// Busy share of its CPUs, and share of the response time that is CPU time or a wait for a core.
const IDLE: f64 = 0.3;
/// A shorter response is mostly the way there and back.
const RESPONSE_NS: f64 = 1e6;

pub(super) const RULE: Rule = Rule {
    cause: FindingCause::WaitsInside,
    stage: Stage::Outside,
    source: "closed load, utilisation law U = X·D and Little's law N = X·R; Denning & Buzen 1978",
    explains: &[],
    judge,
};

fn judge(scene: &Scene<'_>) -> Judgement {
    let (Some(mean), Some(used), Some(on_cpu)) =
        (scene.mean_response(), scene.utilisation(), scene.per_request("target.process/cpu_ns"))
    else {
        return Judgement::NotAsked;
    };
    let for_core = scene.per_request("target.process/run_delay_ns").unwrap_or_default();
    let inside = scene.throughput().unwrap_or_default() * mean / 1e9;
    // Lost packets make requests wait on their way.
    let is_lossy = scene.cell.limits.loss.is_some() || scene.cell.limits.rate_bits_per_s.is_some();
    let is_idle = used < IDLE && on_cpu + for_core < IDLE * mean;
    if !scene.is_closed() || inside < 1.0 || mean < RESPONSE_NS || is_lossy || !is_idle {
        return Judgement::NotAsked;
    }
    let text = said!(
        "why.waits_inside.found",
        "of the {mean} that a request took, {cpu} were CPU time, and its CPU was {used} busy with {inside} in \
         flight: the rest was waiting, inside it or behind it",
        mean = duration(mean),
        cpu = duration(on_cpu),
        used = percent(used),
        inside = number(inside)
    );
    let remedy = match scene.levels().len() {
        0 | 1 => said!(
            "why.waits_inside.remedy_levels",
            "run it with several numbers of connections, such as `connections = [1, 4, 16]`, which shows how many it \
             serves at a time; and let it report its pools, locks and pauses (`[metrics]`)"
        ),
        _ => said!(
            "why.waits_inside.remedy",
            "let it report its pools, locks and pauses (`[metrics]`), or take an off-CPU profile (`prony profile --kind \
             off-cpu`)"
        ),
    };
    Draft::new(text, Severity::Low, remedy)
        .evidence(
            said!("why.waits_inside.cpu_response_time", "CPU time as a share of the response time"),
            percent(on_cpu / mean),
            Some(percent(IDLE).into()),
            "target.process/cpu_ns",
        )
        .evidence(
            said!("why.evidence.cpu", "CPU"),
            percent(used),
            Some(percent(IDLE).into()),
            "target.process/cpu_ns",
        )
        .found()
}
