//! Threads of the target that could run waited for a core: run delay over CPU time and run delay (METHOD §9, CPU
//! queueing). It is tied to what users see by its share of the median response time, or by a core that is full: under a
//! closed load the response is mostly the queue that the wait causes, so that its share alone would clear it.

use super::core_full::DEMAND;
use super::{Draft, Judgement, Link, Rule, Scene, Severity, Stage, missing};
use crate::words::{duration, percent};
use schema::finding::{Change, FindingCause, Watched};
use schema::said;

const SHARE: f64 = 0.1;
/// Busy share of its CPUs from which they are full.
const FULL: f64 = 0.9;
/// Share of the median response time. From here on it is the larger part of what makes requests slow.
const LARGE: f64 = 0.25;
/// Busy share of the target's CPUs below which there is no queue to speak of: what waits then are wake-ups.
const BUSY: f64 = 0.5;

pub(super) const RULE: Rule = Rule {
    cause: FindingCause::RunQueue,
    stage: Stage::Target,
    source: "METHOD §9, CPU queueing: run delay ≥ 10 % of CPU time and run delay",
    explains: &[],
    judge,
};

fn judge(scene: &Scene<'_>) -> Judgement {
    let key = "target.process/run_delay_ns";
    let (Some(delay), Some(wait), Some(p50)) =
        (scene.per_request(key), scene.core_wait(), scene.quantile(0.5))
    else {
        return missing("target.process/run_delay_ns");
    };
    let found = said!(
        "why.run_queue.threads_waited_core_each",
        "its threads waited {delay} for a core for each request, {wait} of the time for which \
         they wanted one",
        delay = duration(delay),
        wait = percent(wait)
    );
    if wait < SHARE {
        return Judgement::RuledOut(found);
    }
    let busy = busy(scene);
    let of_response = delay / p50;
    // A full core puts the queue that it causes into the response time, where the wait itself is a small part.
    let is_wanted = scene.demand().is_none_or(|demand| demand >= DEMAND);
    let full = busy.filter(|busy| *busy >= FULL && is_wanted).unwrap_or_default();
    let severity = match of_response {
        _ if busy.is_some_and(|busy| busy < BUSY) => Severity::Low,
        _ if full > 0.0 => Severity::High,
        share if share >= LARGE => Severity::High,
        _ => Severity::Medium,
    };
    let processes = scene.mean("target.process/threads").unwrap_or_default();
    let draft = Draft::new(
        found,
        severity,
        said!(
            "why.run_queue.run_fewer_threads_worker",
            "run fewer threads or worker processes than CPUs, or give the target more CPUs"
        ),
    )
    .evidence(
        said!("why.run_queue.waiting_core_cpu_time", "waiting for a core, of CPU time and waiting"),
        percent(wait),
        Some(percent(SHARE).into()),
        key,
    )
    .evidence(
        said!("why.run_queue.run_delay_each_request", "run delay for each request, of the median"),
        percent(of_response),
        None,
        key,
    )
    .evidence(
        said!("why.evidence.threads", "threads"),
        crate::words::number(processes),
        None,
        "target.process/threads",
    )
    .link(Link::Accounts(of_response))
    .link(Link::Bound(full))
    .link(Link::Time(key.to_owned(), Watched::P99));
    draft
        .try_this(
            Change::ByHand,
            said!("why.run_queue.give_twice_cpus", "give it twice the CPUs"),
            scene.better(1.2),
        )
        .found()
}

/// How busy the target's CPUs were with whatever ran on them; its own share where that was not read.
fn busy(scene: &Scene<'_>) -> Option<f64> {
    let pinned = scene.pinned().into_iter().flatten();
    let each: Vec<f64> =
        pinned.filter_map(|cpu| scene.mean(&format!("host.cpus/cpu{cpu}_busy_percent"))).collect();
    if each.is_empty() {
        return scene.utilisation();
    }
    Some(each.iter().sum::<f64>() / each.len() as f64 / 100.0)
}
