//! All workers of a fixed number were busy and requests waited for one: PHP-FPM's children, Swoole's workers.

use super::{Draft, Judgement, Link, Rule, Scene, Severity, Stage};
use crate::words::{number, percent};
use schema::finding::{Change, FindingCause};
use schema::said;

/// Mean share of busy workers.
const BUSY: f64 = 0.9;
const CPU: f64 = 0.85;

pub(super) const RULE: Rule = Rule {
    cause: FindingCause::WorkersExhausted,
    stage: Stage::Target,
    source: "PHP-FPM status page: active = children, listen queue > 0, max children reached",
    explains: &[FindingCause::AcceptQueue, FindingCause::DownstreamWait],
    judge,
};

fn judge(scene: &Scene<'_>) -> Judgement {
    let fpm = || {
        let most = scene.max("php.fpm/children_max").or_else(|| scene.max("php.fpm/total"))?;
        Some((
            scene.mean("php.fpm/active")?,
            most,
            scene.mean("php.fpm/listen_queue").unwrap_or_default(),
            "php.fpm",
        ))
    };
    let swoole = || {
        let most = scene.max("swoole.server/workers")?;
        Some((most - scene.mean("swoole.server/idle_workers")?, most, 0.0, "swoole.server"))
    };
    let Some((active, most, queue, source)) = fpm().or_else(swoole) else { return Judgement::NotAsked };
    let busy = active / most.max(1.0);
    let reached = scene.sum("php.fpm/max_children_reached").unwrap_or_default();
    let cpu = scene.utilisation().unwrap_or_default();
    // FPM does not see the queue of a Unix socket; what is in the system and at no worker waits (Little's law).
    let inside = scene.loads().map(|load| load.window.in_system_mean).reduce(f64::max).unwrap_or_default();
    let queue = queue.max(inside - active);
    let waits = queue >= 1.0 || reached > 0.0;
    if busy < BUSY || !waits || cpu >= CPU {
        return Judgement::RuledOut(said!(
            "why.workers_exhausted.workers_busy_requests_waited",
            "{active} of {most} workers were busy, {queue} requests waited",
            active = number(active),
            most = number(most),
            queue = number(queue)
        ));
    }
    // Little's law: of those inside, the share that waits is the share of the response time.
    let share = queue / (queue + active).max(1.0);
    let text = said!(
        "why.workers_exhausted.all_workers_busy_requests",
        "all {most} workers were busy and {queue} requests waited for one, while it used {cpu} \
         of its CPU",
        most = number(most),
        queue = number(queue),
        cpu = percent(cpu)
    );
    let draft = Draft::new(
        text,
        Severity::High,
        said!(
            "why.workers_exhausted.start_more_workers_pm",
            "start more workers (pm.max_children), or have each request need less time"
        ),
    )
    .evidence(
        said!("why.workers_exhausted.busy_workers", "busy workers"),
        percent(busy),
        Some(percent(BUSY).into()),
        &format!("{source}/active"),
    )
    .evidence(
        said!("why.workers_exhausted.requests_wait_worker", "requests that wait for a worker"),
        number(queue),
        Some("1".into()),
        "php.fpm/listen_queue",
    )
    .link(Link::Accounts(share))
    .link(Link::Bound(if waits { busy.min(1.0) } else { 0.0 }));
    let more = ["children", "workers"]
        .into_iter()
        .find_map(|knob| Some((knob, scene.knob(knob)?.parse::<u64>().ok()?)));
    match more {
        Some((knob, now)) => {
            let value = (now.max(1) * 4).to_string();
            let text = said!(
                "why.workers_exhausted.from",
                "{knob} from {now} to {value}",
                knob,
                now,
                value = &value
            );
            draft.try_this(Change::Knob { name: knob.to_owned(), value }, text, scene.better(1.3)).found()
        }
        None => draft.found(),
    }
}
