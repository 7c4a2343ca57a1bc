//! Local ports: how many a load needs, how long a closed connection keeps one, and when they run out.
//!
//! A connection is identified by both addresses and both ports, so one source address has one port range for
//! each destination. A port stays taken for the time of TIME_WAIT after the side that closes first has closed.

use schema::experiment::LoadModel;
use schema::plan::LoadPlan;
use schema::said;
use schema::said::Said;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use units::Count;

/// Time of TIME_WAIT on Linux (`TCP_TIMEWAIT_LEN` in `include/net/tcp.h`).
const TIME_WAIT_S: f64 = 60.0;
/// After this long a port in TIME_WAIT may be used again where `tcp_tw_reuse` allows it.
const REUSE_S: f64 = 1.0;
/// Share of a port range that is planned with; the rest is for others and for chance.
const USABLE_SHARE: f64 = 0.8;
/// Share of a port range up to which the kernel finds a free port at once. It looks at every second port first, and
/// once half of all are taken each new connection costs it a search through them (`__inet_hash_connect` in
/// `net/ipv4/inet_hashtables.c`). Measured with 28,232 ports: 11,200 connections from one address are open after 1.1 s,
/// 14,000 after 0.8 to 1.2 s, 15,000 after 1.8 s, 17,000 after 4.5 s, 19,500 after 7.0 s, and after 1.5 s from two
/// addresses. Below one half there must be room for ports of others and for those in TIME_WAIT.
const QUICK_SHARE: f64 = 0.4;
/// Addresses of 127.0.0.0/8 that are used at most.
const SOURCES_MAX: u32 = 250;
/// New connections per second that a closed loop without keep-alive is planned for.
const CLOSED_LOOP_PER_S: f64 = 50_000.0;
/// First and last level of the usual ladder of connections.
const LADDER: (u64, u64) = (100, 50_000);

/// What the host grants.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PortFacts {
    /// Ports of the ephemeral range.
    pub ports: u32,
    /// Time for which a closed connection keeps its port towards loopback, and towards others, in seconds.
    pub hold_s: (f64, f64),
}

impl PortFacts {
    /// Reads the host's settings; the kernel's defaults where they cannot be read.
    #[must_use]
    pub fn read() -> Self {
        let text =
            |name: &str| std::fs::read_to_string(format!("/proc/sys/net/ipv4/{name}")).unwrap_or_default();
        Self::parse(&text("ip_local_port_range"), &text("tcp_tw_reuse"))
    }

    fn parse(range: &str, reuse: &str) -> Self {
        let mut bounds = range.split_whitespace().filter_map(|word| word.parse::<u32>().ok());
        let (first, last) = (bounds.next().unwrap_or(32_768), bounds.next().unwrap_or(60_999));
        let hold_s = match reuse.trim() {
            "0" => (TIME_WAIT_S, TIME_WAIT_S),
            "1" => (REUSE_S, REUSE_S),
            // The default: reuse towards loopback only.
            _ => (REUSE_S, TIME_WAIT_S),
        };
        Self { ports: (last + 1).saturating_sub(first), hold_s }
    }

    fn hold_s_towards(&self, to: IpAddr) -> f64 {
        if to.is_loopback() { self.hold_s.0 } else { self.hold_s.1 }
    }
}

/// New connections per second once the load runs, as far as the plan tells.
fn new_per_s(load: &LoadPlan) -> Option<f64> {
    let each = match (load.connection.keepalive, load.connection.requests_max) {
        (false, _) => 1.0,
        (true, Some(requests)) => requests.max(1) as f64,
        (true, None) => return None,
    };
    match load.model {
        LoadModel::Open => load.rate_per_s.map(|rate| rate / each),
        LoadModel::Closed => Some(CLOSED_LOOP_PER_S / each),
    }
}

/// Ports that the load needs at a time.
fn needed(load: &LoadPlan, hold_s: f64) -> f64 {
    f64::from(load.connections_max.max(load.connections)) + new_per_s(load).unwrap_or_default() * hold_s
}

/// Towards an IPv4 loopback address, gives the plan as many source addresses as its ports need to be found quickly; the
/// user's own are kept.
pub(crate) fn spread(load: &mut LoadPlan, to: SocketAddr) {
    spread_with(load, to, PortFacts::read());
}

fn spread_with(load: &mut LoadPlan, to: SocketAddr, facts: PortFacts) {
    let connection = &load.connection;
    if !connection.sources.is_empty() || connection.unix_socket.is_some() || !is_loopback_v4(to) {
        return;
    }
    let each = (f64::from(facts.ports) * QUICK_SHARE).max(1.0);
    let count = (needed(load, facts.hold_s_towards(to.ip())) / each).ceil().min(SOURCES_MAX.into()) as u32;
    if count > 1 {
        let first = u32::from(Ipv4Addr::LOCALHOST);
        load.connection.sources = (first..first + count).map(|bits| Ipv4Addr::from(bits).into()).collect();
    }
}

/// The ladder of connections where the user names none: doubling from 100, up to 50,000 or what the local ports allow
/// towards this address; with what was left out and why.
#[must_use]
pub fn usual_ladder(to: IpAddr) -> (Vec<Count>, Option<Said>) {
    ladder_within(to, PortFacts::read())
}

fn ladder_within(to: IpAddr, facts: PortFacts) -> (Vec<Count>, Option<Said>) {
    let sources = if to.is_loopback() && to.is_ipv4() { SOURCES_MAX } else { 1 };
    let ports = (f64::from(facts.ports) * USABLE_SHARE * f64::from(sources)).max(1.0) as u64;
    let top = LADDER.1.min(ports);
    let doubled =
        std::iter::successors(Some(LADDER.0), |level| Some(level * 2)).take_while(|level| *level < top);
    let levels = doubled.chain([top]).map(Count).collect();
    let note = (top < LADDER.1).then(|| {
        said!(
            "capacity.ladder_ends",
            "the ladder ends at {top} instead of {wanted} connections: there are {ports} local ports towards {to}; widen \
             net.ipv4.ip_local_port_range, or name more addresses under sources in a file",
            top,
            wanted = LADDER.1,
            ports = facts.ports,
            to = to.to_string()
        )
    });
    (levels, note)
}

fn is_loopback_v4(to: SocketAddr) -> bool {
    to.is_ipv4() && to.ip().is_loopback()
}

/// When ports run out, if they do.
pub(crate) fn forecast(load: &LoadPlan, to: SocketAddr, facts: PortFacts) -> Option<Said> {
    if load.connection.unix_socket.is_some() {
        return None;
    }
    let sources = load.connection.sources.len().max(1) as f64;
    let ports = f64::from(facts.ports) * sources;
    let standing = f64::from(load.connections_max.max(load.connections));
    let remedy = said!(
        "note.ports.remedy",
        "remedy: more source addresses (--bind), keep-alive, or a wider net.ipv4.ip_local_port_range"
    );
    if standing > ports {
        return Some(said!(
            "note.ports.too_few",
            "{standing} connections need more than the {ports} local ports there are; {remedy}",
            standing,
            ports,
            remedy
        ));
    }
    // The closed loop's rate is a guess: no forecast is made from it.
    let new_per_s = new_per_s(load).filter(|_| load.model == LoadModel::Open)?;
    let hold_s = facts.hold_s_towards(to.ip());
    let free = ports - standing;
    (new_per_s * hold_s > free).then(|| {
        said!(
            "note.ports.run_out",
            "at this rate ports run out in {after} s: {rate} new connections a second, each keeping its port for \
             {hold} s after it is closed, of {ports} ports; {remedy}",
            after = format!("{:.0}", free / new_per_s),
            rate = format!("{new_per_s:.0}"),
            hold = format!("{hold_s:.0}"),
            ports,
            remedy
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::plan::ConnectionPlan;

    const FACTS: PortFacts = PortFacts { ports: 28_232, hold_s: (1.0, 60.0) };

    fn open(rate: f64, keepalive: bool) -> LoadPlan {
        let connection = ConnectionPlan { keepalive, ..ConnectionPlan::default() };
        let (model, connections) = (LoadModel::Open, 100);
        LoadPlan { model, connections, rate_per_s: Some(rate), connection, ..LoadPlan::default() }
    }

    fn addr(text: &str) -> SocketAddr {
        text.parse().unwrap()
    }

    #[test]
    fn the_hosts_settings_are_read() {
        assert_eq!(PortFacts::parse("32768\t60999\n", "2\n"), FACTS);
        assert_eq!(PortFacts::parse("", ""), FACTS);
        assert_eq!(PortFacts::parse("1024 65535", "0").hold_s, (60.0, 60.0));
    }

    #[test]
    fn the_usual_ladder_ends_where_the_ports_do() {
        let facts = PortFacts { ports: 28_232, hold_s: (1.0, 60.0) };
        let ladder = |to: &str| {
            let (levels, note) = ladder_within(to.parse().unwrap(), facts);
            (levels.into_iter().map(|level| level.0).collect::<Vec<_>>(), note)
        };
        let (levels, note) = ladder("127.0.0.1");
        assert_eq!(levels, [100, 200, 400, 800, 1_600, 3_200, 6_400, 12_800, 25_600, 50_000]);
        assert_eq!(note, None);
        let (levels, note) = ladder("10.0.0.7");
        assert_eq!(levels[levels.len() - 2..], [12_800, 22_585]);
        assert!(note.unwrap().contains("28232 local ports towards 10.0.0.7"));
    }

    #[test]
    fn ports_that_run_out_are_forecast() {
        let said = forecast(&open(1000.0, false), addr("10.0.0.1:80"), FACTS).unwrap();
        assert!(said.contains("run out in 28 s"), "{said}");
        assert_eq!(forecast(&open(400.0, false), addr("10.0.0.1:80"), FACTS), None);
        assert_eq!(forecast(&open(1000.0, true), addr("10.0.0.1:80"), FACTS), None);
        assert_eq!(forecast(&open(1000.0, false), addr("127.0.0.1:80"), FACTS), None, "reuse after 1 s");
        let many = LoadPlan { connections: 50_000, ..LoadPlan::default() };
        assert!(forecast(&many, addr("10.0.0.1:80"), FACTS).unwrap().contains("28232 local ports"));
    }

    #[test]
    fn loopback_gets_the_addresses_that_its_ports_need() {
        let sources = |mut load: LoadPlan, to: &str| {
            spread_with(&mut load, addr(to), FACTS);
            load.connection.sources
        };
        let many = LoadPlan { connections: 50_000, ..LoadPlan::default() };
        assert_eq!(
            sources(many.clone(), "127.0.0.1:80"),
            ["127.0.0.1", "127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.5"]
                .map(|text| text.parse::<IpAddr>().unwrap())
        );
        let few = LoadPlan { connections: 11_000, ..LoadPlan::default() };
        assert!(sources(few, "127.0.0.1:80").is_empty());
        let half = LoadPlan { connections: 14_000, ..LoadPlan::default() };
        assert_eq!(sources(half, "127.0.0.1:80").len(), 2, "before the search for ports begins to cost");
        assert!(sources(many.clone(), "10.0.0.1:80").is_empty());
        assert!(sources(many.clone(), "[::1]:80").is_empty());
        assert!(sources(LoadPlan { connections: 64, ..LoadPlan::default() }, "127.0.0.1:80").is_empty());
        let mut own = many;
        own.connection.sources = vec!["127.0.0.9".parse().unwrap()];
        assert_eq!(sources(own.clone(), "127.0.0.1:80"), own.connection.sources);
    }
}
