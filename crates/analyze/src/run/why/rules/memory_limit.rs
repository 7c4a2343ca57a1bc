//! The memory limit: the kernel killed one of its processes, or held it at the limit and took its pages back.

use super::{Draft, Judgement, Link, Rule, Scene, Severity, Stage};
use crate::words::{bytes, number, percent};
use schema::finding::{Change, FindingCause, Watched};
use schema::metric::Metric;
use schema::said;

const FULL: f64 = 0.95;
/// Major faults per second from which pages are missed.
const FAULTS: f64 = 20.0;

pub(super) const RULE: Rule = Rule {
    cause: FindingCause::MemoryLimit,
    stage: Stage::Target,
    source: "kernel, cgroup-v2 memory.events and memory.oom_control",
    explains: &[
        FindingCause::Errors,
        FindingCause::Swap,
        FindingCause::DiskWait,
        FindingCause::MemoryGrowth,
        FindingCause::GcPauses,
        FindingCause::AllocationPressure,
    ],
    judge,
};

fn judge(scene: &Scene<'_>) -> Judgement {
    let kills = scene
        .trials
        .iter()
        .filter_map(|trial| trial.file.target.group?.oom_kills)
        .fold(0, u64::saturating_add);
    let kills =
        kills as f64 + scene.sum("target.cgroup/oom_kills").filter(|_| kills == 0).unwrap_or_default();
    let limit = scene
        .cell
        .limits
        .memory_bytes
        .map(|limit| limit as f64)
        .or_else(|| scene.max("target.cgroup/memory_limit_bytes"));
    let Some(limit) = limit.filter(|limit| *limit > 0.0) else {
        return Judgement::RuledOut(said!("why.memory_limit.has_no_memory_limit", "it has no memory limit"));
    };
    let used = scene.max("target.cgroup/memory_bytes").unwrap_or_default() / limit;
    let faults = scene.rate("target.process/major_faults").unwrap_or_default();
    let reclaims = scene.rate("target.cgroup/memory_reclaims").unwrap_or_default();
    let is_squeezed = used >= FULL && (faults >= FAULTS || reclaims >= FAULTS);
    if kills == 0.0 && !is_squeezed {
        return Judgement::RuledOut(said!(
            "why.memory_limit.used_most_limit",
            "it used at most {used} of its limit of {limit}",
            used = percent(used),
            limit = bytes(limit)
        ));
    }
    let text = if kills > 0.0 {
        said!(
            "why.memory_limit.kernel_killed_processes_limit",
            "the kernel killed {kills} of its processes at its limit of {limit}",
            kills = number(kills),
            limit = bytes(limit)
        )
    } else {
        said!(
            "why.memory_limit.stood_limit_read_pages",
            "it stood at {used} of its limit of {limit} and read {faults} pages a second again \
             that had been taken from it",
            used = percent(used),
            limit = bytes(limit),
            faults = number(faults)
        )
    };
    let draft = Draft::new(
        text,
        Severity::High,
        said!(
            "why.memory_limit.raise_limits_memory_have",
            "raise limits.memory, or have the target use less"
        ),
    )
    .evidence(
        said!("why.memory_limit.memory_used_limit", "memory used of the limit"),
        percent(used),
        Some(percent(FULL).into()),
        "target.cgroup/memory_bytes",
    )
    .evidence(said!("why.evidence.kills", "kills"), number(kills), None, "target.cgroup/oom_kills")
    .evidence(
        said!("why.memory_limit.major_faults_per_second", "major faults per second"),
        number(faults),
        Some(number(FAULTS).into()),
        "target.process/major_faults",
    )
    .link(Link::Time("target.process/major_faults".to_owned(), Watched::P99))
    .link(Link::Direct(if kills > 0.0 { 1.0 } else { 0.0 }))
    .link(Link::Bound(if is_squeezed { used } else { 0.0 }));
    let twice = (limit * 2.0) as u64;
    let text = said!(
        "why.memory_limit.memory_limit_from",
        "the memory limit from {limit} to {twice}",
        limit = bytes(limit),
        twice = bytes(limit * 2.0)
    );
    draft.try_this(Change::Memory { value: Some(twice) }, text, (Metric::P99, 0.8)).found()
}
