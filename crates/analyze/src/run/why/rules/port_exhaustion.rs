//! No local port was left for a new connection: new connections per second to one address are bounded by the range of
//! ports over the 60 s of TIME_WAIT (METHOD §9: 28,232/60 ≈ 470 per second). Many sockets in TIME_WAIT alone are no
//! harm.

use super::{Draft, Judgement, Link, Rule, Scene, Severity, Stage};
use crate::words::{number, percent};
use schema::finding::{Change, FindingCause};
use schema::load::ErrorClass;
use schema::metric::Metric;

const TAKEN: f64 = 0.95;

pub(super) const RULE: Rule = Rule {
    cause: FindingCause::PortExhaustion,
    stage: Stage::Target,
    source: "METHOD §9: EADDRNOTAVAIL; ports over 60 s bound new connections",
    explains: &[FindingCause::Errors, FindingCause::ConnectionChurn],
    judge,
};

fn judge(scene: &Scene<'_>) -> Judgement {
    let failed = scene.failed_share(|class| class == ErrorClass::AddressNotAvailable);
    let waiting =
        scene.max("tcp.states/to_target_time_wait").or_else(|| scene.max("tcp.sockstat/tcp_time_wait"));
    let ports = scene.max("tcp.states/ports_available");
    let taken =
        waiting.zip(ports).filter(|(_, ports)| *ports > 0.0).map_or(0.0, |(waiting, ports)| waiting / ports);
    if failed == 0.0 {
        let waiting = waiting.unwrap_or_default();
        return Judgement::RuledOut(format!(
            "no connection failed for want of a port; {} sockets in TIME_WAIT, {} of the ports",
            number(waiting),
            percent(taken)
        ));
    }
    let text = format!(
        "{} of the requests failed because no local port was left, with {} of the ports in TIME_WAIT",
        percent(failed),
        percent(taken)
    );
    let draft = Draft::new(text, Severity::High, "keep connections alive; else widen net.ipv4.ip_local_port_range, use several addresses, or set tcp_tw_reuse")
        .evidence("failed for want of a port", percent(failed), Some("0 %".to_owned()), "trial.json load.errors.address_not_available")
        .evidence("ports in TIME_WAIT towards the target", percent(taken), Some(percent(TAKEN)), "tcp.states/to_target_time_wait")
        .link(Link::Direct(failed));
    if scene.cell.load.connection.keepalive {
        return draft.found();
    }
    draft
        .try_this(
            Change::Keepalive { value: true },
            "connections that serve more than one request".to_owned(),
            (Metric::ErrorRate, 0.5),
        )
        .found()
}
