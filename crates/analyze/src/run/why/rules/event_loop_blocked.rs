//! An event loop was held up by long pieces of work: timers came late by a large part of p99. A loop that is merely
//! full of short pieces is a saturated CPU.

use super::{Draft, Judgement, Link, Rule, Scene, Severity, Stage};
use crate::words::{duration, percent};
use schema::finding::{Change, FindingCause, Watched};
use schema::said;
use schema::said::Said;

/// Delay of the loop from which a piece of work is long whatever the others are, and as a share of p99.
const LONG_NS: f64 = 25e6;
const OF_TAIL: f64 = 0.3;
/// Utilisation of the loop from which requests queue for it.
const FULL: f64 = 0.9;
/// A shorter delay is one of a long piece of work where it is so many times the median response time, which holds what
/// a turn full of short pieces takes, and so many times the mean pause of a collection. Chosen, not derived.
const SHORT_NS: f64 = 5e6;
const MEDIANS: f64 = 10.0;
const PAUSES: f64 = 2.0;

const UTILISATION: &str = "node.runtime/loop_utilisation_percent";

pub(super) const RULE: Rule = Rule {
    cause: FindingCause::EventLoopBlocked,
    stage: Stage::Target,
    source: "Node, perf_hooks.monitorEventLoopDelay; Don't Block the Event Loop",
    explains: &[FindingCause::CpuSaturated, FindingCause::RunQueue, FindingCause::UnevenWorkers],
    judge,
};

fn judge(scene: &Scene<'_>) -> Judgement {
    let key = "node.runtime/loop_delay_p99_ns";
    let Some(delay) = scene.mean(key) else {
        return if scene.has("node.runtime") { super::missing(key) } else { Judgement::NotAsked };
    };
    let used = scene.mean(UTILISATION).map(|percent| percent / 100.0);
    // prom-client does not report how busy the loop is; its thread's CPU time is a part of that.
    let thread = scene.mean("target.process/busiest_thread_percent").map(|percent| percent / 100.0);
    let busy = used.or(thread).unwrap_or_default();
    let Some(p99) = scene.quantile(0.99) else { return super::missing("response times") };
    let share = delay / p99;
    let least = least_ns(scene);
    // Under a closed load a loop that is always busy makes a queue, and its delay is a small part of the response.
    let queue = if scene.is_closed() && busy >= FULL { busy } else { 0.0 };
    if delay < least || (share < OF_TAIL && queue == 0.0) {
        return Judgement::RuledOut(said!(
            "why.event_loop_blocked.event_loop_late_most",
            "its event loop was late by {delay} at most in 99 of 100 turns",
            delay = duration(delay)
        ));
    }
    let text = said!(
        "why.event_loop_blocked.event_loop_held_up",
        "its event loop was held up for {delay} in one of 100 turns, {share} of p99{busy}",
        delay = duration(delay),
        share = percent(share),
        busy = used.map_or_else(Said::default, |used| said!(
            "why.event_loop_blocked.busy",
            ", and was busy for {used} of the time",
            used = percent(used)
        ))
    );
    let severity = if delay < LONG_NS { Severity::Medium } else { Severity::High };
    let draft = Draft::new(
        text,
        severity,
        said!(
            "why.event_loop_blocked.take_long_computations_off",
            "take long computations off the loop (worker threads, smaller pieces); `prony profile \
         --kind node` shows which"
        ),
    )
    .evidence(
        said!("why.event_loop_blocked.delay_loop_p99", "delay of the loop, p99"),
        duration(delay),
        Some(duration(least).into()),
        key,
    )
    .link(Link::Accounts(share))
    .link(Link::Bound(queue))
    .link(Link::Time(key.to_owned(), Watched::P99))
    .try_this(
        Change::ByHand,
        said!(
            "why.event_loop_blocked.move_computation_worker_thread",
            "move the computation to a worker thread"
        ),
        (schema::metric::Metric::P50, 0.7),
    );
    match used {
        Some(used) => draft.evidence(
            said!("why.event_loop_blocked.utilisation_loop", "utilisation of the loop"),
            percent(used),
            None,
            UTILISATION,
        ),
        None => draft,
    }
    .found()
}

/// The delay from which a piece of work is long.
fn least_ns(scene: &Scene<'_>) -> f64 {
    let Some(median) = scene.quantile(0.5) else { return LONG_NS };
    let pause = match (scene.rate("node.runtime/gc_pause_ns"), scene.rate("node.runtime/gc_cycles")) {
        (Some(pauses), Some(cycles)) if cycles > 0.0 => pauses / cycles,
        _ => 0.0,
    };
    LONG_NS.min(SHORT_NS.max(MEDIANS * median).max(PAUSES * pause))
}
