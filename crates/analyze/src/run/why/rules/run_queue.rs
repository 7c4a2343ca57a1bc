//! Threads of the target that could run waited for a core: run delay for each request against the median response
//! time (METHOD §9, CPU queueing).

use super::{Draft, Judgement, Link, Rule, Scene, Severity, Stage, missing};
use crate::words::{duration, percent};
use schema::finding::{Change, FindingCause, Watched};

const SHARE: f64 = 0.1;
/// From here on it is the larger part of what makes requests slow.
const LARGE: f64 = 0.25;
/// Busy share of the target's CPUs below which there is no queue to speak of: what waits then are wake-ups.
const BUSY: f64 = 0.5;

pub(super) const RULE: Rule = Rule {
    cause: FindingCause::RunQueue,
    stage: Stage::Target,
    source: "METHOD §9: run delay per request > 10 % of p50",
    explains: &[],
    judge,
};

fn judge(scene: &Scene<'_>) -> Judgement {
    let key = "target.process/run_delay_ns";
    let (Some(delay), Some(p50)) = (scene.per_request(key), scene.quantile(0.5)) else {
        return missing("target.process/run_delay_ns");
    };
    let share = delay / p50;
    if share < SHARE {
        return Judgement::RuledOut(format!(
            "its threads waited {} for a core for each request, {} of the median",
            duration(delay),
            percent(share)
        ));
    }
    let busy = busy(scene);
    let severity = match share {
        _ if busy.is_some_and(|busy| busy < BUSY) => Severity::Low,
        share if share >= LARGE => Severity::High,
        _ => Severity::Medium,
    };
    let text = format!(
        "its threads waited {} for a core for each request, {} of the median response time",
        duration(delay),
        percent(share)
    );
    let processes = scene.mean("target.process/threads").unwrap_or_default();
    let draft = Draft::new(
        text,
        severity,
        "run fewer threads or worker processes than CPUs, or give the target more CPUs",
    )
    .evidence("run delay for each request, of the median", percent(share), Some(percent(SHARE)), key)
    .evidence("threads", crate::words::number(processes), None, "target.process/threads")
    .link(Link::Accounts(share))
    .link(Link::Time(key.to_owned(), Watched::P99));
    draft.try_this(Change::ByHand, "give it twice the CPUs".to_owned(), scene.better(1.2)).found()
}

/// How busy the target's CPUs were with whatever ran on them; its own share where that was not read.
fn busy(scene: &Scene<'_>) -> Option<f64> {
    let pinned = scene.plan.pin.target.iter().flatten();
    let each: Vec<f64> =
        pinned.filter_map(|cpu| scene.mean(&format!("host.cpus/cpu{cpu}_busy_percent"))).collect();
    if each.is_empty() {
        return scene.utilisation();
    }
    Some(each.iter().sum::<f64>() / each.len() as f64 / 100.0)
}
