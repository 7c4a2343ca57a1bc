//! Packets were lost and sent again: more than 0.1 % of them, or answers near the shortest retransmission timeout of
//! 200 ms (METHOD §9). The kernel's counters are of the whole host; the target's own connections must agree where they
//! can be read.

use super::{Draft, Judgement, Link, Rule, Scene, Severity, Stage, missing};
use crate::words::{number, percent};
use schema::finding::{Change, FindingCause, Watched};
use schema::metric::Metric;
use schema::said;

const SHARE: f64 = 0.001;
/// Answers around the shortest timeout, and twice of it.
const MODES_NS: [(u64, u64); 2] = [(195_000_000, 260_000_000), (395_000_000, 480_000_000)];
const MODE_SHARE: f64 = 0.002;

pub(super) const RULE: Rule = Rule {
    cause: FindingCause::Retransmission,
    stage: Stage::Target,
    source: "METHOD §9: RetransSegs/OutSegs > 0.1 %; modes near 200 ms; RFC 6298 with Linux's minimum of 200 ms",
    explains: &[FindingCause::Errors, FindingCause::Bandwidth],
    judge,
};

fn judge(scene: &Scene<'_>) -> Judgement {
    // The load's own sockets tell what the load sent again; what the target sent again is counted in a network of its
    // own.
    let from_here = scene.sum("target.connections/retransmits");
    let from_there = scene.sum("target.snmp/RetransSegs");
    let own = [from_here, from_there].into_iter().flatten().reduce(|a, b| a + b);
    let host = scene.rate("tcp.snmp/RetransSegs").zip(scene.rate("tcp.snmp/OutSegs"));
    let Some(host) = host.filter(|(_, out)| *out > 0.0).map(|(again, out)| again / out) else {
        return missing("tcp.snmp/RetransSegs");
    };
    let modes: f64 = MODES_NS.iter().filter_map(|(low, high)| scene.share_between(*low, *high)).sum();
    let lossy = scene.cell.limits.loss.is_some_and(|loss| loss > 0.0);
    let is_own = own.is_some_and(|own| own > 0.0);
    let is_many = host >= SHARE || from_there.is_some_and(|again| again > 0.0);
    if !is_own || !is_many && modes < MODE_SHARE {
        let what = own.map_or(said!("why.retransmission.unknown_number", "an unknown number"), |own| {
            number(own).into()
        });
        return Judgement::RuledOut(said!(
            "why.retransmission.host_packets_sent_again",
            "{host} of the host's packets were sent again, {what} on the connections of the load",
            host = percent(host),
            what
        ));
    }
    let text = said!(
        "why.retransmission.packets_sent_again_connections",
        "{own} packets were sent again on the connections of the load, {host} of all packets of \
         the host; {modes} of the answers came around a retransmission timeout",
        own = number(own.unwrap_or_default()),
        host = percent(host),
        modes = percent(modes)
    );
    let draft = Draft::new(
        text,
        Severity::High,
        said!(
            "why.retransmission.look_path_errors_drops",
            "look at the path (errors and drops of devices, queues, policers), and at congestion \
             control"
        ),
    )
    .evidence(
        said!("why.retransmission.packets_sent_again_whole", "packets sent again, whole host"),
        percent(host),
        Some(percent(SHARE).into()),
        "tcp.snmp/RetransSegs",
    )
    .evidence(
        said!("why.retransmission.sent_again_load_connections", "sent again on the load's connections"),
        number(own.unwrap_or_default()),
        Some("0".into()),
        "target.connections/retransmits",
    )
    .evidence(
        said!("why.retransmission.answers_near_timeout_ms", "answers near a timeout of 200 or 400 ms"),
        percent(modes),
        Some(percent(MODE_SHARE).into()),
        "latency.hlog",
    )
    .link(Link::Direct(if modes >= MODE_SHARE { modes } else { 0.0 }))
    .link(Link::Time("target.connections/retransmits".to_owned(), Watched::P99))
    .link(Link::Time("target.snmp/RetransSegs".to_owned(), Watched::P99));
    if !lossy {
        return draft.found();
    }
    draft
        .try_this(
            Change::Loss { value: None },
            said!("why.retransmission.no_loss_packets", "no loss of packets"),
            (Metric::P99, 0.5),
        )
        .found()
}
