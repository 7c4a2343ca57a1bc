//! Requests waited for a connection of a pool that was all in use, while the CPU was not (METHOD §9).

use super::{Draft, Judgement, Link, Rule, Scene, Severity, Stage};
use crate::words::{duration, number, percent};
use schema::finding::{Change, FindingCause};
use schema::said;
use schema::said::Said;

const WAIT: f64 = 0.2;
const CPU: f64 = 0.7;

pub(super) const RULE: Rule = Rule {
    cause: FindingCause::PoolWait,
    stage: Stage::Target,
    source: "METHOD §9: wait > 20 % of the response with CPU < 70 %",
    explains: &[FindingCause::LockContention, FindingCause::DownstreamWait],
    judge,
};

fn judge(scene: &Scene<'_>) -> Judgement {
    let Some(source) = scene.sources("", ".pool").into_iter().next() else {
        return Judgement::Unread(said!(
            "why.pool_wait.target_does_not_tell",
            "the target does not report its pools"
        ));
    };
    let key = format!("{source}/pool_wait_ns");
    let (Some(wait), Some(mean)) = (scene.per_request(&key), scene.mean_response()) else {
        return Judgement::Unread(said!("why.pool_wait.not_read", "{key} was not read", key));
    };
    let share = wait / mean;
    let cpu = scene.utilisation().unwrap_or_default();
    let (in_use, most) =
        (scene.mean(&format!("{source}/pool_in_use")), scene.max(&format!("{source}/pool_max")));
    if share < WAIT || cpu >= CPU {
        return Judgement::RuledOut(said!(
            "why.pool_wait.requests_waited_pool_response",
            "requests waited {wait} for its pool, {share} of the response time",
            wait = duration(wait),
            share = percent(share)
        ));
    }
    let size = most
        .map_or(Said::default(), |most| said!("why.pool_wait.of_size", " of {most}", most = number(most)));
    let text = said!(
        "why.pool_wait.requests_waited_connection_pool",
        "requests waited {wait} for a connection of its pool{size}, {share} of the response \
         time, while it used {cpu} of its CPU",
        wait = duration(wait),
        size,
        share = percent(share),
        cpu = percent(cpu)
    );
    let mut draft = Draft::new(
        text,
        Severity::High,
        said!(
            "why.pool_wait.make_pool_larger_hold",
            "make the pool larger, or hold its connections for less time; look at the database too"
        ),
    )
    .evidence(
        said!("why.pool_wait.wait_pool_response_time", "wait for the pool, of the response time"),
        percent(share),
        Some(percent(WAIT).into()),
        &key,
    )
    .evidence(
        said!("why.evidence.cpu", "CPU"),
        percent(cpu),
        Some(percent(CPU).into()),
        "target.process/cpu_ns",
    )
    .link(Link::Accounts(share));
    if let Some(in_use) = in_use {
        draft = draft.evidence(
            said!("why.pool_wait.use_average", "in use on average"),
            number(in_use),
            None,
            &format!("{source}/pool_in_use"),
        );
    }
    let larger = ["db-max-open", "pool"]
        .into_iter()
        .find_map(|knob| Some((knob, scene.knob(knob)?.parse::<u64>().ok()?)));
    match larger {
        Some((knob, now)) => {
            let value = (now.max(1) * 4).to_string();
            let text = said!("why.pool_wait.from", "{knob} from {now} to {value}", knob, now, value = &value);
            draft.try_this(Change::Knob { name: knob.to_owned(), value }, text, scene.better(1.2)).found()
        }
        None => draft
            .try_this(
                Change::ByHand,
                said!("why.pool_wait.pool_four_times_as", "a pool four times as large"),
                scene.better(1.2),
            )
            .found(),
    }
}
