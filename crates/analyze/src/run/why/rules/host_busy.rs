//! Other processes used the CPUs of the target. What the target's own CPUs did beyond the target's own CPU time is
//! theirs; it matters where the target's threads had to wait for a core.

use super::core_full::{DEMAND, WAIT};
use super::{Draft, Judgement, Link, Rule, Scene, Severity, Stage, missing};
use crate::words::percent;
use schema::finding::{FindingCause, Watched};
use schema::said;

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
    if scene.pinned().is_none_or(<[u32]>::is_empty) {
        return Judgement::Unread(said!(
            "why.host_busy.target_has_no_cpus",
            "the target shares its CPUs, so its load cannot be separated from that of other processes"
        ));
    }
    let Some(cores) = scene.cores() else { return missing("host.cpus") };
    let others = cores.others;
    if others < OTHERS {
        return Judgement::RuledOut(said!(
            "why.host_busy.others_used_most_target",
            "others used at most {others} of the target's CPUs",
            others = percent(others)
        ));
    }
    let wait = scene.core_wait();
    let text = said!(
        "why.host_busy.other_processes_used_cpus",
        "other processes used {others} of the CPUs that are the target's",
        others = percent(others)
    );
    let draft = Draft::new(
        text,
        Severity::High,
        said!(
            "why.host_busy.end_them_give_target",
            "end them, or give the target CPUs that nobody else uses (`pin`, isolcpus)"
        ),
    )
    .evidence(
        said!("why.host_busy.busy_others", "busy with others"),
        percent(others),
        Some(percent(OTHERS).into()),
        "host.cpus less target.process",
    )
    .link(Link::Time("host.cpus/busiest_percent".to_owned(), Watched::P99));
    let Some(wait) = wait else { return draft.found() };
    let of_response = scene
        .per_request("target.process/run_delay_ns")
        .zip(scene.mean_response())
        .map_or(0.0, |(delay, mean)| delay / mean);
    // Under a closed load the response is mostly queue, so that a full core tells more than its share of that; not so
    // where the target wants little of it, as one that waits for a lock does.
    let is_wanted = scene.demand().is_none_or(|demand| demand >= DEMAND);
    let full = if wait >= WAIT && is_wanted { cores.busy } else { 0.0 };
    draft
        .evidence(
            said!("why.host_busy.waiting_core_cpu_time", "waiting for a core, of CPU time and waiting"),
            percent(wait),
            Some(percent(WAIT).into()),
            "target.process/run_delay_ns",
        )
        .link(Link::Accounts(of_response))
        .link(Link::Bound(full))
        .found()
}
