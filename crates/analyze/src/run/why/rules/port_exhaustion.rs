//! No local port was left for a new connection: new connections per second to one address are bounded by the range of
//! ports over the 60 s of TIME_WAIT (METHOD §9: 28,232/60 ≈ 470 per second). Many sockets in TIME_WAIT alone are no
//! harm.

use super::{Draft, Judgement, Link, Rule, Scene, Severity, Stage};
use crate::words::{number, percent};
use schema::finding::{Change, FindingCause};
use schema::load::ErrorClass;
use schema::metric::Metric;
use schema::said;

const TAKEN: f64 = 0.95;
/// Failed requests, of whatever class, that go with it.
const FAILED: f64 = 0.001;
const RANGE: &str = "net.ipv4.ip_local_port_range";

pub(super) const RULE: Rule = Rule {
    cause: FindingCause::PortExhaustion,
    stage: Stage::Target,
    source: "METHOD §9: EADDRNOTAVAIL; ports over 60 s bound new connections",
    explains: &[FindingCause::Errors, FindingCause::ConnectionChurn],
    judge,
};

fn judge(scene: &Scene<'_>) -> Judgement {
    let failed = scene.failed_share(|class| class == ErrorClass::AddressNotAvailable);
    let (waiting, taken) = taken(scene);
    // Where the target cannot connect to what it needs, its clients see failures of another class.
    let is_targets = taken >= TAKEN && scene.failed_share(|_| true) >= FAILED;
    if failed == 0.0 && !is_targets {
        return Judgement::RuledOut(said!(
            "why.port_exhaustion.no_connection_failed_want",
            "no connection failed for want of a port; {waiting} sockets in TIME_WAIT, {taken} of \
             the ports",
            waiting = number(waiting),
            taken = percent(taken)
        ));
    }
    let all = scene.failed_share(|_| true);
    let text = said!(
        "why.port_exhaustion.no_local_port_left",
        "no local port was left for new connections: {waiting} sockets in TIME_WAIT, {taken} of \
         the ports, and {all} of the requests failed",
        waiting = number(waiting),
        taken = percent(taken),
        all = percent(all)
    );
    let remedy = said!(
        "why.port_exhaustion.keep_connections_alive_pool",
        "keep connections alive (pool them); else widen net.ipv4.ip_local_port_range, use \
         several addresses, or set tcp_tw_reuse"
    );
    let draft = Draft::new(text, Severity::High, remedy)
        .evidence(
            said!(
                "why.port_exhaustion.load_own_connections_failed",
                "the load's own connections that failed for want of a port"
            ),
            percent(failed),
            Some("0 %".into()),
            "trial.json load.errors.address_not_available",
        )
        .evidence(
            said!("why.port_exhaustion.ports_time_wait", "ports in TIME_WAIT"),
            percent(taken),
            Some(percent(TAKEN).into()),
            "tcp.states, target.sockstat/tw",
        )
        .link(Link::Direct(if failed > 0.0 { failed } else { all }));
    if scene.cell.load.connection.keepalive {
        return draft.found();
    }
    let change = Change::Keepalive { value: true };
    draft
        .try_this(
            change,
            said!(
                "why.port_exhaustion.connections_serve_more_than",
                "connections that serve more than one request"
            ),
            (Metric::ErrorRate, 0.5),
        )
        .found()
}

/// Sockets in TIME_WAIT and the share of the ports that they hold: towards the target from here, or those of the
/// target's own network, whichever is tighter.
fn taken(scene: &Scene<'_>) -> (f64, f64) {
    let here = scene.max("tcp.states/to_target_time_wait").zip(scene.max("tcp.states/ports_available"));
    let inside = scene
        .max("target.sockstat/tw")
        .zip(scene.cell.limits.sysctls.get(RANGE).and_then(|range| ports(range)));
    let share = |(waiting, ports): (f64, f64)| (waiting, if ports > 0.0 { waiting / ports } else { 0.0 });
    [here, inside].into_iter().flatten().map(share).max_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or_default()
}

/// The size of a range such as `20000 20499`.
fn ports(range: &str) -> Option<f64> {
    let (first, last) = range.trim().split_once(char::is_whitespace)?;
    let (first, last) = (first.parse::<u16>().ok()?, last.trim().parse::<u16>().ok()?);
    Some(f64::from(last.checked_sub(first)?) + 1.0)
}
