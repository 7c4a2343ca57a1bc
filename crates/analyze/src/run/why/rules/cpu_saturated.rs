//! The target used all the CPU it could have, or one of its threads used a whole core while others were free: the
//! utilisation law (Denning & Buzen, Computing Surveys 10, 1978). What it spent the time on is another rule's matter.

use super::{Draft, Judgement, Link, Rule, Scene, Severity, Stage, missing};
use crate::words::{duration, percent};
use schema::finding::{Change, FindingCause};
use schema::said;
use schema::said::Said;

const BUSY: f64 = 0.9;
/// A single thread, percent of a core.
const THREAD: f64 = 92.0;

pub(super) const RULE: Rule = Rule {
    cause: FindingCause::CpuSaturated,
    stage: Stage::Target,
    source: "METHOD §6, utilisation law U = X·D; Denning & Buzen 1978",
    explains: &[
        FindingCause::RunQueue,
        FindingCause::AcceptQueue,
        FindingCause::PoolWait,
        FindingCause::WorkersExhausted,
        FindingCause::LockContention,
        FindingCause::GcPauses,
    ],
    judge,
};

fn judge(scene: &Scene<'_>) -> Judgement {
    let (Some(used), Some((cpus, whose))) = (scene.utilisation(), scene.cpus()) else {
        return missing("target.process");
    };
    let per_request = scene.per_request("target.process/cpu_ns");
    let thread = scene.mean("target.process/busiest_thread_percent");
    let is_one_thread = used < BUSY && thread.is_some_and(|percent| percent >= THREAD);
    if used < BUSY && !is_one_thread {
        return Judgement::RuledOut(said!(
            "why.cpu_saturated.used",
            "it used {used} of {whose}",
            used = percent(used),
            whose
        ));
    }
    let system = scene
        .rate("target.process/system_ns")
        .zip(scene.rate("target.process/cpu_ns"))
        .map(|(system, all)| system / all);
    let mode = system.map_or(Said::default(), |system| {
        said!("why.cpu_saturated.kernel", ", {system} of it in the kernel", system = percent(system))
    });
    let a_request = per_request.map_or(Said::default(), |ns| {
        said!("why.cpu_saturated.cpu_each_request", "; {ns} of CPU for each request", ns = duration(ns))
    });
    let text = if is_one_thread {
        let busy = thread.unwrap_or_default() / 100.0;
        said!(
            "why.cpu_saturated.one_threads_used_core",
            "one of its threads used {busy} of a core while it used {used} of {whose} in \
             all{mode}{a_request}",
            busy = percent(busy),
            used = percent(used),
            whose,
            mode,
            a_request
        )
    } else {
        said!(
            "why.cpu_saturated.found",
            "it used {used} of {whose} ({cpus}){mode}{a_request}",
            used = percent(used),
            whose,
            cpus,
            mode,
            a_request
        )
    };
    let remedy = if is_one_thread {
        said!(
            "why.cpu_saturated.share_work_thread_among",
            "share the work of that thread among several, or make it cheaper: a profile shows \
             what it does (`prony profile`)"
        )
    } else {
        said!(
            "why.cpu_saturated.make_request_cheaper_prony",
            "make a request cheaper (`prony profile` shows what the time goes to), or give the \
             target more CPUs"
        )
    };
    let bound = if is_one_thread { thread.unwrap_or_default() / 100.0 } else { used };
    let draft = Draft::new(text, Severity::High, remedy)
        .evidence(
            said!("why.cpu_saturated.cpu_used_what_can", "CPU used of what it can have"),
            percent(used),
            Some(percent(BUSY).into()),
            "target.process/cpu_ns",
        )
        .link(Link::Bound(bound));
    let draft = match thread {
        Some(busy) => draft.evidence(
            said!("why.cpu_saturated.busiest_thread_core", "busiest thread, of a core"),
            percent(busy / 100.0),
            Some(percent(THREAD / 100.0).into()),
            "target.process/busiest_thread_percent",
        ),
        None => draft,
    };
    tried(scene, draft).found()
}

/// The change that would show it, where prony can make it.
fn tried(scene: &Scene<'_>, draft: Draft) -> Draft {
    if let Some(burn) = scene.reference().and_then(|law| law.burn) {
        let half = units::Nanos(burn.0 / 2);
        let change = Change::Reference { name: "burn".to_owned(), value: format!("\"{half}\"") };
        return draft.try_this(
            change,
            said!(
                "why.cpu_saturated.cpu_time_request_from",
                "the CPU time of a request from {burn} to {half}",
                burn = duration(burn.0 as f64),
                half = duration(half.0 as f64)
            ),
            scene.better(1.3),
        );
    }
    if let Some(quota) = scene.cell.limits.cpus {
        let change = Change::Cpus { value: Some(quota * 2.0) };
        return draft.try_this(
            change,
            said!(
                "why.cpu_saturated.cpu_quota_from",
                "the CPU quota from {quota} to {twice}",
                quota,
                twice = quota * 2.0
            ),
            scene.better(1.2),
        );
    }
    let (metric, ratio) = scene.better(1.2);
    draft.try_this(
        Change::ByHand,
        said!(
            "why.cpu_saturated.give_twice_cpus_pin",
            "give it twice the CPUs, with `pin` or on a larger machine"
        ),
        (metric, ratio),
    )
}
