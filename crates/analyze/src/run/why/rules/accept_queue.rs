//! The queue of connections that wait to be accepted was full: the kernel dropped what came, and clients try again
//! after 1, 3 and 7 s (METHOD §9). The kernel's counters are of the whole host, so the target's own queue, or the
//! load's own connection times, must agree.

use super::{Draft, Judgement, Link, Rule, Scene, Severity, Stage, missing};
use crate::words::{duration, number, percent};
use schema::finding::FindingCause;
use schema::load::ErrorClass;
use schema::said;

const SLOW_CONNECT_NS: f64 = 900e6;

pub(super) const RULE: Rule = Rule {
    cause: FindingCause::AcceptQueue,
    stage: Stage::Target,
    source: "METHOD §9: any rise of ListenOverflows or ListenDrops; connect times near 1, 3, 7 s; listen(2)",
    explains: &[FindingCause::Errors, FindingCause::Retransmission, FindingCause::ConnectionChurn],
    judge,
};

fn judge(scene: &Scene<'_>) -> Judgement {
    // In a network of its own the target's counters are not the host's.
    let dropped =
        ["target.netstat/ListenOverflows", "tcp.netstat/ListenOverflows", "tcp.netstat/ListenDrops"]
            .iter()
            .filter_map(|key| scene.sum(key))
            .reduce(f64::max);
    let Some(dropped) = dropped else { return missing("tcp.netstat/ListenOverflows") };
    let queue = scene.max("target.listen/queue").zip(scene.max("target.listen/limit"));
    let is_full = queue.is_some_and(|(now, limit)| limit > 0.0 && now >= limit);
    let connect =
        scene.loads().filter_map(|load| load.latency_ns.connect.max).max().unwrap_or_default() as f64;
    let timeouts = scene.failed_share(|class| class == ErrorClass::ConnectTimeout);
    let is_slow = connect >= SLOW_CONNECT_NS || timeouts > 0.0;
    if !is_full && (dropped == 0.0 || !is_slow) {
        return Judgement::RuledOut(said!(
            "why.accept_queue.kernel_dropped_connections_full",
            "the kernel dropped {dropped} connections at full queues; the slowest connection \
             took {connect}",
            dropped = number(dropped),
            connect = duration(connect)
        ));
    }
    let (now, limit) = queue.unwrap_or_default();
    let text = said!(
        "why.accept_queue.queue_connections_accepted_full",
        "its queue of connections to be accepted was full ({now} of {limit}): the kernel turned \
         {dropped} away, and the slowest connection took {connect}",
        now = number(now),
        limit = number(limit),
        dropped = number(dropped),
        connect = duration(connect)
    );
    Draft::new(
        text,
        Severity::High,
        said!(
            "why.accept_queue.raise_backlog_net_core",
            "raise its backlog and net.core.somaxconn, or accept faster (more acceptors, less work \
         before accept)"
        ),
    )
    .evidence(
        said!("why.accept_queue.connections_turned_away_whole", "connections turned away, whole host"),
        number(dropped),
        Some("0".into()),
        "tcp.netstat/ListenOverflows",
    )
    .evidence(
        said!("why.accept_queue.queue_target", "queue of the target"),
        said!("why.accept_queue.queue_of", "{now} of {limit}", now = number(now), limit = number(limit)),
        None,
        "target.listen/queue",
    )
    .evidence(
        said!("why.accept_queue.slowest_connection", "slowest connection"),
        duration(connect),
        Some(duration(SLOW_CONNECT_NS).into()),
        "trial.json load.latency_ns.connect",
    )
    .evidence(
        said!("why.accept_queue.connections_timed_out", "connections that timed out"),
        percent(timeouts),
        None,
        "trial.json load.errors",
    )
    .link(Link::Direct(if dropped > 0.0 && (is_slow || is_full) { 1.0 } else { 0.0 }))
    .found()
}
