//! Garbage collection takes much of the target's CPU. Go's own aim is 25 % at full load; here it is a finding from a
//! fifth of the CPU time that the target used.

use super::super::scene::Cores;
use super::core_full::WAIT;
use super::{Draft, Judgement, Link, Rule, Scene, Severity, Stage};
use crate::words::{bytes, number, percent};
use schema::finding::{Change, FindingCause};
use schema::metric::Metric;
use schema::said;
use schema::said::Said;

const SHARE: f64 = 0.2;
/// Share of the CPUs that collection must take itself to matter on CPUs that others fill.
const OF_CPUS: f64 = 0.1;

pub(super) const RULE: Rule = Rule {
    cause: FindingCause::AllocationPressure,
    stage: Stage::Target,
    source: "Go, A Guide to the Go Garbage Collector: the collector aims at no more than 25 % of the CPU",
    explains: &[
        FindingCause::CpuSaturated,
        FindingCause::GcPauses,
        FindingCause::RunQueue,
        FindingCause::MemoryGrowth,
    ],
    judge,
};

fn judge(scene: &Scene<'_>) -> Judgement {
    // Go counts its CPU at the ends of cycles only; Node and the JVM tell the time of collections.
    // A tick without a collection tells nothing of its cost, and there was none.
    let go = scene
        .sum("go.runtime/gc_cpu_ns")
        .zip(scene.seconds())
        .map(|(ns, seconds)| ns / seconds)
        .zip(scene.rate("target.process/cpu_ns"));
    let paused = || {
        let pause =
            ["node.runtime/gc_pause_ns", "jvm.runtime/gc_pause_ns"].iter().find_map(|key| scene.rate(key));
        pause.zip(scene.rate("target.process/cpu_ns"))
    };
    let Some((gc, all)) = go.or_else(paused).filter(|(_, all)| *all > 0.0) else {
        return Judgement::Unread(said!(
            "why.allocation_pressure.runtime_does_not_tell",
            "its runtime does not report the cost of garbage collection"
        ));
    };
    let share = (gc / all).min(1.0);
    let each = scene.per_request("go.runtime/alloc_bytes");
    let cycles = scene.rate("go.runtime/gc_cycles");
    if share < SHARE {
        return Judgement::RuledOut(said!(
            "why.allocation_pressure.garbage_collection_took_cpu",
            "garbage collection took {share} of its CPU time",
            share = percent(share)
        ));
    }
    let allocated = each.map_or(Said::default(), |each| {
        said!(
            "why.allocation_pressure.allocates_each_request",
            "; it allocates {each} for each request",
            each = bytes(each)
        )
    });
    let text = said!(
        "why.allocation_pressure.found",
        "garbage collection took {share} of its CPU time{allocated}",
        share = percent(share),
        allocated
    );
    let mut draft = Draft::new(
        text,
        Severity::High,
        said!(
            "why.allocation_pressure.allocate_less_each_request",
            "allocate less for each request (an allocation profile shows where), use buffers again, \
         or collect less often (gogc)"
        ),
    )
    .evidence(
        said!("why.allocation_pressure.cpu_time_garbage_collection", "CPU time of garbage collection"),
        percent(share),
        Some(percent(SHARE).into()),
        "go.runtime/gc_cpu_ns",
    );
    if let Some(cycles) = cycles {
        draft = draft.evidence(
            said!("why.allocation_pressure.collections_per_second", "collections per second"),
            number(cycles),
            None,
            "go.runtime/gc_cycles",
        );
    }
    // It holds the target back as far as its CPU does.
    let used = scene.utilisation().unwrap_or_default();
    // On a core that others fill too, what it uses itself is no measure of what it lacks; but where it hardly uses any, no
    // collection that it saves gives it room.
    let waits = scene.core_wait().is_some_and(|wait| wait >= WAIT);
    let takes_part = |cores: &Cores| waits && share * cores.own >= OF_CPUS;
    let full = scene.cores().filter(takes_part).map_or(0.0, |cores| cores.busy);
    draft = draft.link(Link::Bound(used.max(full))).link(Link::Accounts(
        share
            * scene
                .per_request("target.process/cpu_ns")
                .zip(scene.mean_response())
                .map_or(0.0, |(cpu, mean)| cpu / mean),
    ));
    match scene.knob("gogc").and_then(|value| value.parse::<f64>().ok()).filter(|value| *value > 0.0) {
        Some(now) => {
            let change = Change::Knob { name: "gogc".to_owned(), value: format!("{}", now * 4.0) };
            draft
                .try_this(
                    change,
                    said!(
                        "why.allocation_pressure.gogc_from",
                        "gogc from {now} to {then}",
                        now,
                        then = now * 4.0
                    ),
                    (Metric::CpuPerRequest, 0.95),
                )
                .found()
        }
        None => draft.found(),
    }
}
