//! Other processes used the CPUs of the target. What the target's own CPUs did beyond the target's own CPU time is
//! theirs; it matters where the target's threads had to wait for a core.

use super::core_full::WAIT;
use super::{Draft, Judgement, Link, Rule, Scene, Severity, Stage, missing};
use crate::words::percent;
use schema::finding::{FindingCause, Watched};

/// Share of the target's CPUs that others used.
const OTHERS: f64 = 0.15;

pub(super) const RULE: Rule = Rule {
    cause: FindingCause::HostBusy,
    stage: Stage::Environment,
    source: "METHOD §9, CPU queueing; what others used is what the CPUs did less what the target did",
    explains: &[FindingCause::RunQueue],
    judge,
};

fn judge(scene: &Scene<'_>) -> Judgement {
    if scene.plan.pin.target.as_ref().is_none_or(Vec::is_empty) {
        return Judgement::Unread(
            "the target has no CPUs of its own, so others cannot be told from it".to_owned(),
        );
    }
    let Some(cores) = scene.cores() else { return missing("host.cpus") };
    let others = cores.others;
    if others < OTHERS {
        return Judgement::RuledOut(format!("others used at most {} of the target's CPUs", percent(others)));
    }
    let wait = scene.core_wait();
    let text = format!("other processes used {} of the CPUs that are the target's", percent(others));
    let draft = Draft::new(
        text,
        Severity::High,
        "end them, or give the target CPUs that nobody else uses (`pin`, isolcpus)",
    )
    .evidence("busy with others", percent(others), Some(percent(OTHERS)), "host.cpus less target.process")
    .link(Link::Time("host.cpus/busiest_percent".to_owned(), Watched::P99));
    let Some(wait) = wait else { return draft.found() };
    let of_response = scene
        .per_request("target.process/run_delay_ns")
        .zip(scene.mean_response())
        .map_or(0.0, |(delay, mean)| delay / mean);
    // Under a closed load the response is mostly queue, so that a full core tells more than its share of that.
    let full = if wait >= WAIT { cores.busy } else { 0.0 };
    draft
        .evidence(
            "waiting for a core, of CPU time and waiting",
            percent(wait),
            Some(percent(WAIT)),
            "target.process/run_delay_ns",
        )
        .link(Link::Accounts(of_response))
        .link(Link::Bound(full))
        .found()
}
