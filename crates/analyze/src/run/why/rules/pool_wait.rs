//! Requests waited for a connection of a pool that was all in use, while the CPU was not (METHOD §9).

use super::{Draft, Judgement, Link, Rule, Scene, Severity, Stage};
use crate::words::{duration, number, percent};
use schema::finding::{Change, FindingCause};

const WAIT: f64 = 0.2;
const CPU: f64 = 0.7;

pub(super) const RULE: Rule = Rule {
    cause: FindingCause::PoolWait,
    stage: Stage::Target,
    source: "METHOD §9: wait > 20 % of the response with CPU < 70 %",
    explains: &[FindingCause::LockContention],
    judge,
};

fn judge(scene: &Scene<'_>) -> Judgement {
    let Some(source) = scene.sources("", ".pool").into_iter().next() else {
        return Judgement::Unread("the target does not tell of its pools".to_owned());
    };
    let key = format!("{source}/pool_wait_ns");
    let (Some(wait), Some(mean)) = (scene.per_request(&key), scene.mean_response()) else {
        return Judgement::Unread(format!("{key} was not read"));
    };
    let share = wait / mean;
    let cpu = scene.utilisation().unwrap_or_default();
    let (in_use, most) =
        (scene.mean(&format!("{source}/pool_in_use")), scene.max(&format!("{source}/pool_max")));
    if share < WAIT || cpu >= CPU {
        return Judgement::RuledOut(format!(
            "requests waited {} for its pool, {} of the response time",
            duration(wait),
            percent(share)
        ));
    }
    let size = most.map_or(String::new(), |most| format!(" of {}", number(most)));
    let text = format!(
        "requests waited {} for a connection of its pool{size}, {} of the response time, while it used {} of its CPU",
        duration(wait),
        percent(share),
        percent(cpu)
    );
    let mut draft = Draft::new(
        text,
        Severity::High,
        "make the pool larger, or hold its connections for less time; look at the database too",
    )
    .evidence("wait for the pool, of the response time", percent(share), Some(percent(WAIT)), &key)
    .evidence("CPU", percent(cpu), Some(percent(CPU)), "target.process/cpu_ns")
    .link(Link::Accounts(share));
    if let Some(in_use) = in_use {
        draft = draft.evidence("in use on average", number(in_use), None, &format!("{source}/pool_in_use"));
    }
    let larger = ["db-max-open", "pool"]
        .into_iter()
        .find_map(|knob| Some((knob, scene.knob(knob)?.parse::<u64>().ok()?)));
    match larger {
        Some((knob, now)) => {
            let value = (now.max(1) * 4).to_string();
            let text = format!("{knob} from {now} to {value}");
            draft.try_this(Change::Knob { name: knob.to_owned(), value }, text, scene.better(1.2)).found()
        }
        None => {
            draft.try_this(Change::ByHand, "a pool four times as large".to_owned(), scene.better(1.2)).found()
        }
    }
}
