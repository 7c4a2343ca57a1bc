//! `tcp.states`: how many TCP sockets are in which state, and what is left of local ports. All are gauges.
//!
//! | key | from | meaning |
//! |---|---|---|
//! | `established` | `/proc/net/snmp` CurrEstab less `close_wait` | open connections, both ends of those on loopback |
//! | `time_wait` | `/proc/net/sockstat` tw | closed from here; each holds a local port for 60 s (METHOD §9, port
//! exhaustion) |
//! | `close_wait` | sock_diag(7) | closed by the peer, not yet by the program here |
//! | `syn_sent`, `syn_recv` | sock_diag(7) | begun from here; begun from outside and not yet answered |
//! | `listen` | sock_diag(7) | sockets that listen |
//! | `to_target_time_wait` | sock_diag(7) | of `time_wait`, those whose peer is the target |
//! | `target_close_wait` | sock_diag(7) | connections whose peer has closed and the target has not |
//! | `ports_available` | `/proc/sys/net/ipv4/ip_local_port_range` | size of the range; reserved ports are not taken off
//! |
//!
//! All but `target_close_wait` are of the generator's network namespace, prony's own or one for the trial; that one is of
//! the target's and absent where it cannot be entered. At most [`SOCKETS_MAX`](crate::sock_diag::SOCKETS_MAX) sockets of
//! a kind are counted.

use crate::Roots;
use crate::anchor::Anchor;
use crate::error::CollectError;
use crate::local_ports::parse_ports;
use crate::process::followed::RootPid;
use crate::reading::Reading;
use crate::sock_diag::{Family, Namespace, Query, TcpSocket, is_same_host};
use crate::source::{Differencing, Source};
use crate::{tcp_snmp, tcp_sockstat, text};
use netlink_packet_sock_diag::inet::StateFlags;
use netlink_packet_sock_diag::{TCP_CLOSE_WAIT, TCP_LISTEN, TCP_SYN_RECV, TCP_SYN_SENT};
use std::net::SocketAddr;
use std::sync::Arc;

/// Name of the source.
pub const NAME: &str = "tcp.states";

/// States that are counted one by one, and their names.
const COUNTED: [(u8, &str); 4] = [
    (TCP_SYN_SENT, "syn_sent"),
    (TCP_SYN_RECV, "syn_recv"),
    (TCP_CLOSE_WAIT, "close_wait"),
    (TCP_LISTEN, "listen"),
];

/// Counts sockets by state.
#[must_use]
pub fn counted(sockets: &[TcpSocket]) -> Reading {
    let count = |state: u8| sockets.iter().filter(|socket| socket.state == state).count() as f64;
    let gauges = COUNTED.iter().map(|(state, name)| (*name, count(*state))).collect();
    Reading { gauges, ..Reading::default() }
}

/// Where a target lives.
enum Place {
    /// In prony's namespace: every dump of all sockets walks over the kernel's whole table, so one is made for both.
    Here,
    There(Namespace),
}

/// What is asked, and where.
struct States {
    roots: Roots,
    /// What holds the generator's own namespace, whose files `roots` has then.
    anchor: Option<Arc<Anchor>>,
    own: Namespace,
    target: Option<SocketAddr>,
    /// Where the target's own ends of its connections are, if they can be seen.
    of_target: Option<Place>,
}

impl States {
    fn read(&mut self) -> Result<Reading, CollectError> {
        let states =
            StateFlags::SYN_SENT | StateFlags::SYN_RECV | StateFlags::CLOSE_WAIT | StateFlags::LISTEN;
        let query = Query { states, local_port: 0, remote_port: 0, with_info: false };
        let mut sockets = Vec::new();
        for family in Family::BOTH {
            sockets.extend(self.own.sockets(&query, family)?.0);
        }
        let mut reading = counted(&sockets);
        let open = tcp_snmp::read(&self.roots)?.gauge("CurrEstab");
        let close_wait = reading.gauge("close_wait").unwrap_or_default();
        let waiting = tcp_sockstat::read(&self.roots)?.gauge("tw");
        let ports = match &self.anchor {
            Some(anchor) => anchor.ports,
            None => {
                let ports = self.roots.proc.join("sys/net/ipv4/ip_local_port_range");
                text::read_optional(&ports).and_then(|bytes| parse_ports(&bytes).ok())
            }
        };
        reading.gauges.extend(open.map(|open| ("established", (open - close_wait).max(0.0))));
        reading.gauges.extend(waiting.map(|waiting| ("time_wait", waiting)));
        reading.gauges.extend(ports.map(|ports| ("ports_available", f64::from(ports))));
        if let Some(target) = self.target {
            let to_target = if waiting == Some(0.0) { 0 } else { self.time_wait_with_target(target)? };
            reading.gauges.insert("to_target_time_wait", to_target as f64);
            let left_open = self.target_close_wait(target, &sockets)?;
            reading.gauges.extend(left_open.map(|count| ("target_close_wait", count as f64)));
        }
        Ok(reading)
    }

    fn time_wait_with_target(&mut self, target: SocketAddr) -> Result<usize, CollectError> {
        let states = StateFlags::TIME_WAIT;
        let query = Query { states, local_port: 0, remote_port: target.port(), with_info: false };
        let sockets = self.own.sockets(&query, Family::of(target))?.0;
        Ok(sockets.iter().filter(|socket| is_same_host(socket.remote.ip(), target.ip())).count())
    }

    /// A server that listens for both families has its IPv4 connections among those of IPv6.
    fn target_close_wait(
        &mut self,
        target: SocketAddr,
        here: &[TcpSocket],
    ) -> Result<Option<usize>, CollectError> {
        let namespace = match &mut self.of_target {
            None => return Ok(None),
            Some(Place::Here) => {
                let left_open = |socket: &&TcpSocket| {
                    socket.state == TCP_CLOSE_WAIT && socket.local.port() == target.port()
                };
                return Ok(Some(here.iter().filter(left_open).count()));
            }
            Some(Place::There(namespace)) => namespace,
        };
        let states = StateFlags::CLOSE_WAIT;
        let query = Query { states, local_port: target.port(), remote_port: 0, with_info: false };
        let mut count = 0;
        for family in Family::BOTH {
            count += namespace.sockets(&query, family)?.0.len();
        }
        Ok(Some(count))
    }
}

/// The source, where the kernel can be asked.
pub(crate) fn source(
    roots: &Roots,
    anchor: Option<&Arc<Anchor>>,
    root: Option<RootPid>,
    target: Option<SocketAddr>,
) -> Option<Box<dyn Source>> {
    let mut own = Namespace::of_generator(roots, anchor.map(Arc::as_ref));
    let answers = own.answers();
    let of_target = root.map(|root| Namespace::of(roots, root));
    let of_target = of_target.and_then(|mut namespace| match namespace.is_own() {
        true => Some(Place::Here),
        false => namespace.answers().then_some(Place::There(namespace)),
    });
    let seen = anchor.map_or_else(|| roots.clone(), |anchor| anchor.roots(roots));
    let mut states = States { roots: seen, anchor: anchor.cloned(), own, target, of_target };
    let read = move || states.read();
    answers.then(|| -> Box<dyn Source> { Box::new(Differencing::new(NAME, read).resting()) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};
    use units::Nanos;

    #[test]
    fn sockets_of_this_process_are_counted_where_they_belong() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let root = RootPid::new(std::process::id().into());
        let mut source = source(&Roots::default(), None, Some(root), Some(address)).unwrap();
        // Two are closed by the client alone, one by the client first: its own end waits then.
        let left_open: Vec<TcpStream> = (0..2)
            .map(|_| {
                drop(TcpStream::connect(address).unwrap());
                listener.accept().unwrap().0
            })
            .collect();
        drop(TcpStream::connect(address).unwrap());
        drop(listener.accept().unwrap());
        // The end of a stream tells that the peer's close has come.
        left_open.iter().for_each(|stream| assert_eq!(stream.peek(&mut [0; 1]).unwrap(), 0));
        let gauges = source.tick(Nanos(1)).unwrap().gauges;
        assert_eq!(gauges["target_close_wait"], 2.0);
        assert_eq!(gauges["to_target_time_wait"], 1.0);
        assert!(gauges["close_wait"] >= 2.0 && gauges["listen"] >= 1.0 && gauges["time_wait"] >= 1.0);
        assert!(gauges["ports_available"] > 1_000.0 && gauges.contains_key("established"));
    }

    #[test]
    fn without_a_target_only_the_host_is_counted() {
        let mut source = source(&Roots::default(), None, None, None).unwrap();
        let gauges = source.tick(Nanos(1)).unwrap().gauges;
        assert!(!gauges.contains_key("to_target_time_wait") && !gauges.contains_key("target_close_wait"));
        assert!(gauges.contains_key("syn_recv"));
    }

    #[test]
    fn states_that_are_not_there_count_none() {
        assert_eq!(counted(&[]).gauge("listen"), Some(0.0));
    }
}
