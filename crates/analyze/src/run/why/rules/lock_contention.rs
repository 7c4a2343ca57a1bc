//! Threads waited for each other: the runtime reports time spent on locks while the CPU is not used up (METHOD §9). Go
//! does; a JVM tells only how often, which says nothing of how long, so its waits are left to its flight recorder.

use super::{Draft, Judgement, Link, Rule, Scene, Severity, Stage};
use crate::words::{duration, number, percent};
use schema::finding::{Change, FindingCause};
use schema::said;
use schema::said::Said;

const WAIT: f64 = 0.2;
const CPU: f64 = 0.9;

pub(super) const RULE: Rule = Rule {
    cause: FindingCause::LockContention,
    stage: Stage::Target,
    source: "METHOD §9: off-CPU time on locks; Go, /sync/mutex/wait/total:seconds",
    explains: &[],
    judge,
};

fn judge(scene: &Scene<'_>) -> Judgement {
    let key = "go.runtime/mutex_wait_ns";
    let cpu = scene.utilisation().unwrap_or_default();
    let (Some(wait), Some(mean)) = (scene.per_request(key), scene.mean_response()) else {
        return Judgement::Unread(unread(scene));
    };
    let share = wait / mean;
    if share < WAIT || cpu >= CPU {
        return Judgement::RuledOut(said!(
            "why.lock_contention.threads_waited_locks_each",
            "its threads waited {wait} on locks for each request, {share} of the response time",
            wait = duration(wait),
            share = percent(share)
        ));
    }
    let text = said!(
        "why.lock_contention.found",
        "its threads waited {wait} on locks for each request, {share} of the response time, \
         while it used {cpu} of its CPU",
        wait = duration(wait),
        share = percent(share),
        cpu = percent(cpu)
    );
    Draft::new(
        text,
        Severity::High,
        said!(
            "why.lock_contention.hold_lock_less_time",
            "hold the lock for less time, or give each thread its own part; a mutex profile shows \
         which one (`prony profile --kind mutex`)"
        ),
    )
    .evidence(
        said!("why.lock_contention.wait_locks_response_time", "lock wait as a share of the response time"),
        percent(share),
        Some(percent(WAIT).into()),
        key,
    )
    .evidence(
        said!("why.evidence.cpu", "CPU"),
        percent(cpu),
        Some(percent(CPU).into()),
        "target.process/cpu_ns",
    )
    .link(Link::Accounts(share))
    .try_this(
        Change::ByHand,
        said!("why.lock_contention.hold_lock_half_time", "hold the lock for half the time"),
        scene.better(1.2),
    )
    .found()
}

/// Why there is no time of waits, and what would have it.
fn unread(scene: &Scene<'_>) -> Said {
    match scene.per_request("jvm.runtime/lock_parks") {
        Some(parks) => said!(
            "why.lock_contention.jvm_tells_how_often",
            "a JVM reports how often its threads parked on monitors, {parks} times for each \
             request, but not how long; its flight recorder does (`prony profile --kind jfr`)",
            parks = number(parks)
        ),
        None => said!(
            "why.lock_contention.runtime_does_not_tell",
            "its runtime does not report lock waits; off-CPU time by bpftrace would (`prony \
             profile --kind off-cpu`)"
        ),
    }
}
