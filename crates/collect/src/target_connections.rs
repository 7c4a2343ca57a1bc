//! `target.connections`: the connections to the target as the generator's kernel sees them (sock_diag(7), `TCP_INFO` of
//! tcp(7)).
//!
//! | key | kind | meaning |
//! |---|---|---|
//! | `established` | gauge | connections to the target's address |
//! | `rtt_p50_ns`, `rtt_p99_ns` | gauge | smoothed round-trip times |
//! | `min_rtt_p50_ns` | gauge | smallest round-trip time of each |
//! | `rto_max_ns` | gauge | the longest retransmission timeout: how long a lost segment holds up its request |
//! | `cwnd_p50` | gauge | congestion window, in segments |
//! | `unacked_p99` | gauge | segments under way |
//! | `delivery_rate_p50_bytes_per_s` | gauge | latest measured speed of delivery, of those that have one |
//! | `retransmitting` | gauge | connections that have sent a segment again and wait for its acknowledgement |
//! | `notsent_bytes` | gauge | written by the generator and not yet sent, added up |
//! | `recv_queue_bytes_p99` | gauge | answers that the generator has received and not yet read |
//! | `retransmits`, `bytes_retrans` | delta | segments and bytes sent again, of connections seen in both readings |
//! | `sockets_cut` | gauge | 1 where there are more connections than [`SOCKETS_MAX`](crate::sock_diag::SOCKETS_MAX) and only so many were read; absent else |
//!
//! The peer's address is asked for in the generator's namespace, prony's own or one for the trial: a target in an isolated
//! network is seen from here, too.
//! Everything is the sender's side of requests: what the target sends again is in its own kernel's counts only.
//! Reading costs about 2 µs a connection, so that it rests between readings where there are many.

use crate::Roots;
use crate::anchor::Anchor;
use crate::error::CollectError;
use crate::reading::Values;
use crate::sock_diag::{Family, Namespace, Query, TcpInfo, TcpSocket, is_same_host};
use crate::source::{Comparable, Differencing, Source};
use netlink_packet_sock_diag::inet::StateFlags;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;

/// Name of the source.
pub const NAME: &str = "target.connections";

/// One reading: connections by the kernel's name for them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Connections {
    by_cookie: BTreeMap<u64, (TcpInfo, u32)>,
    is_cut: bool,
}

impl Connections {
    /// Those of the sockets whose peer is `target`.
    #[must_use]
    pub fn to(target: SocketAddr, sockets: &[TcpSocket], is_cut: bool) -> Self {
        let to_target = sockets.iter().filter(|socket| {
            socket.remote.port() == target.port() && is_same_host(socket.remote.ip(), target.ip())
        });
        let named = to_target.filter_map(|socket| Some((socket.cookie, (socket.info?, socket.recv_queue))));
        Self { by_cookie: named.collect(), is_cut }
    }

    fn all<T: Ord>(&self, of: impl Fn(&TcpInfo) -> Option<T>) -> Vec<T> {
        sorted(self.by_cookie.values().filter_map(|(info, _)| of(info)).collect())
    }

    fn sum(&self, of: impl Fn(&TcpInfo) -> u64) -> f64 {
        self.by_cookie.values().map(|(info, _)| of(info) as f64).sum()
    }

    /// Increases of the connections that `previous` has, too.
    fn rise(&self, previous: &Self, of: impl Fn(&TcpInfo) -> Option<u64>) -> Option<f64> {
        let rise = |(cookie, (now, _)): (&u64, &(TcpInfo, u32))| {
            let (before, _) = previous.by_cookie.get(cookie)?;
            of(now)?.checked_sub(of(before)?)
        };
        // Of no connection at all, or on a kernel that does not tell, there is nothing to say.
        let rises: Vec<u64> = self.by_cookie.iter().filter_map(rise).collect();
        (!rises.is_empty()).then(|| rises.iter().map(|rise| *rise as f64).sum())
    }
}

fn sorted<T: Ord>(mut values: Vec<T>) -> Vec<T> {
    values.sort_unstable();
    values
}

/// The value of this rank, nearest rank (METHOD §4 has no finer one for so few); nothing where there is none.
fn quantile<T: Copy>(sorted: &[T], percent: usize) -> Option<T> {
    let rank = (sorted.len() * percent).div_ceil(100);
    sorted.get(rank.saturating_sub(1)).copied()
}

/// Microseconds to nanoseconds; the kernel writes all ones where nothing was measured.
fn measured_ns(us: u32) -> Option<u64> {
    (us != u32::MAX).then(|| u64::from(us) * 1_000)
}

impl Comparable for Connections {
    fn gauges(&self, _: Option<&Self>) -> Values {
        let rtt_ns = self.all(|info| measured_ns(info.rtt_us));
        let min_rtt_ns = self.all(|info| measured_ns(info.min_rtt_us?));
        let rate = self.all(|info| info.delivery_rate_bytes_per_s.filter(|rate| *rate > 0));
        let unread = sorted(self.by_cookie.values().map(|(_, unread)| u64::from(*unread)).collect());
        let any = !self.by_cookie.is_empty();
        let values = [
            ("established", Some(self.by_cookie.len() as f64)),
            ("rtt_p50_ns", quantile(&rtt_ns, 50).map(|ns| ns as f64)),
            ("rtt_p99_ns", quantile(&rtt_ns, 99).map(|ns| ns as f64)),
            ("min_rtt_p50_ns", quantile(&min_rtt_ns, 50).map(|ns| ns as f64)),
            ("rto_max_ns", self.all(|info| measured_ns(info.rto_us)).last().map(|ns| *ns as f64)),
            ("cwnd_p50", quantile(&self.all(|info| Some(info.cwnd)), 50).map(f64::from)),
            ("unacked_p99", quantile(&self.all(|info| Some(info.unacked)), 99).map(f64::from)),
            ("delivery_rate_p50_bytes_per_s", quantile(&rate, 50).map(|rate| rate as f64)),
            ("retransmitting", any.then(|| self.sum(|info| u64::from(info.retrans > 0)))),
            ("notsent_bytes", any.then(|| self.sum(|info| info.notsent_bytes.unwrap_or_default().into()))),
            ("recv_queue_bytes_p99", quantile(&unread, 99).map(|bytes| bytes as f64)),
            ("sockets_cut", self.is_cut.then_some(1.0)),
        ];
        values.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
    }

    fn deltas(&self, previous: &Self) -> Values {
        let values = [
            ("retransmits", self.rise(previous, |info| Some(info.total_retrans.into()))),
            ("bytes_retrans", self.rise(previous, |info| info.bytes_retrans)),
        ];
        values.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
    }
}

fn read(namespace: &mut Namespace, target: SocketAddr) -> Result<Connections, CollectError> {
    let states = StateFlags::ESTABLISHED;
    let query = Query { states, local_port: 0, remote_port: target.port(), with_info: true };
    let (sockets, is_cut) = namespace.sockets(&query, Family::of(target))?;
    Ok(Connections::to(target, &sockets, is_cut))
}

/// The source for the target's address.
pub(crate) fn source(
    roots: &Roots,
    anchor: Option<&Arc<Anchor>>,
    target: SocketAddr,
) -> Option<Box<dyn Source>> {
    let mut namespace = Namespace::of_generator(roots, anchor.map(Arc::as_ref));
    let answers = namespace.answers();
    let read = move || read(&mut namespace, target);
    answers.then(|| -> Box<dyn Source> { Box::new(Differencing::new(NAME, read).resting()) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};
    use units::Nanos;

    #[test]
    fn connections_of_this_process_are_seen_from_the_clients_side() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let mut source = source(&Roots::default(), None, address).unwrap();
        assert_eq!(source.tick(Nanos(1)).unwrap().gauges, Values::from([("established".to_owned(), 0.0)]));
        let mut clients: Vec<TcpStream> = (0..5).map(|_| TcpStream::connect(address).unwrap()).collect();
        let mut servers: Vec<TcpStream> = (0..5).map(|_| listener.accept().unwrap().0).collect();
        clients[0].write_all(b"request").unwrap();
        servers[0].read_exact(&mut [0; 7]).unwrap();
        servers[0].write_all(&[7; 1_000]).unwrap();
        // Once one byte is here, all of the one write are.
        clients[0].peek(&mut [0; 1]).unwrap();
        let line = source.tick(Nanos(2)).unwrap();
        assert_eq!((line.gauges["established"], line.gauges["retransmitting"]), (5.0, 0.0));
        assert_eq!(line.gauges["recv_queue_bytes_p99"], 1_000.0);
        assert!(line.gauges["rtt_p50_ns"] > 0.0 && line.gauges["rto_max_ns"] >= 1e6, "{line:?}");
        assert!(line.gauges["cwnd_p50"] >= 1.0);
        assert_eq!(source.tick(Nanos(3)).unwrap().deltas["retransmits"], 0.0);
    }

    fn socket(cookie: u64, remote: &str, info: TcpInfo) -> TcpSocket {
        TcpSocket {
            state: 1,
            local: "127.0.0.1:40000".parse().unwrap(),
            remote: remote.parse().unwrap(),
            cookie,
            inode: 0,
            recv_queue: cookie as u32,
            send_queue: 0,
            info: Some(info),
        }
    }

    #[test]
    fn retransmissions_are_those_of_connections_seen_twice() {
        let target = "127.0.0.1:80".parse().unwrap();
        let sent_again = |count: u32| TcpInfo {
            total_retrans: count,
            retrans: count.min(1),
            bytes_retrans: Some(u64::from(count) * 100),
            min_rtt_us: Some(u32::MAX),
            ..TcpInfo::default()
        };
        let of = |list: &[(u64, u32)]| {
            let sockets: Vec<TcpSocket> = list
                .iter()
                .map(|(cookie, count)| socket(*cookie, "127.0.0.1:80", sent_again(*count)))
                .collect();
            Connections::to(target, &sockets, false)
        };
        let (before, now) = (of(&[(1, 5), (2, 0), (3, 9)]), of(&[(1, 7), (2, 1), (4, 50)]));
        let deltas = now.deltas(&before);
        assert_eq!((deltas["retransmits"], deltas["bytes_retrans"]), (3.0, 300.0));
        let gauges = now.gauges(None);
        assert_eq!((gauges["retransmitting"], gauges["established"]), (3.0, 3.0));
        assert!(!gauges.contains_key("min_rtt_p50_ns"), "nothing was measured");
        assert!(of(&[]).deltas(&before).is_empty());
    }

    #[test]
    fn other_peers_do_not_count_and_mapped_addresses_do() {
        let info = TcpInfo::default();
        let sockets = [
            socket(1, "127.0.0.1:80", info),
            socket(2, "127.0.0.2:80", info),
            socket(3, "127.0.0.1:81", info),
            socket(4, "[::ffff:127.0.0.1]:80", info),
            TcpSocket { info: None, ..socket(5, "127.0.0.1:80", info) },
        ];
        let found = Connections::to("127.0.0.1:80".parse().unwrap(), &sockets, true);
        assert_eq!(found.by_cookie.keys().copied().collect::<Vec<_>>(), [1, 4]);
        assert_eq!(found.gauges(None)["sockets_cut"], 1.0);
    }

    #[test]
    fn quantiles_are_by_nearest_rank() {
        let values: Vec<u32> = (1..=200).collect();
        assert_eq!((quantile(&values, 50), quantile(&values, 99)), (Some(100), Some(198)));
        assert_eq!(
            (quantile(&[7], 50), quantile(&[7], 99), quantile::<u32>(&[], 50)),
            (Some(7), Some(7), None)
        );
    }
}
