//! Threads of the target that could run waited for a core: run delay for each request against the median response
//! time (METHOD §9, CPU queueing).

use super::{Draft, Judgement, Link, Rule, Scene, Severity, Stage, missing};
use crate::words::{duration, percent};
use schema::finding::{Change, FindingCause, Watched};

const SHARE: f64 = 0.1;

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
    let text = format!(
        "its threads waited {} for a core for each request, {} of the median response time",
        duration(delay),
        percent(share)
    );
    let processes = scene.mean("target.process/threads").unwrap_or_default();
    let draft = Draft::new(
        text,
        Severity::High,
        "run fewer threads or worker processes than CPUs, or give the target more CPUs",
    )
    .evidence("run delay for each request, of the median", percent(share), Some(percent(SHARE)), key)
    .evidence("threads", crate::words::number(processes), None, "target.process/threads")
    .link(Link::Accounts(share))
    .link(Link::Time(key.to_owned(), Watched::P99));
    draft.try_this(Change::ByHand, "give it twice the CPUs".to_owned(), scene.better(1.2)).found()
}
