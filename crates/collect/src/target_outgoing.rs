//! `target.outgoing`: the connections that the target has opened to others, such as databases and other services, as its
//! own kernel sees them (sock_diag(7), `TCP_INFO` of tcp(7)). No endpoint of the target is needed. `PEER` is the peer's
//! address; of more than [`PEERS_MAX`] peers those that came later are added up as `@others`.
//!
//! | key | kind | meaning |
//! |---|---|---|
//! | `connections` | gauge | established connections to all of them |
//! | `connections@PEER` | gauge | established connections to this peer |
//! | `waiting@PEER` | gauge | of these, those whose peer owes an answer |
//! | `active@PEER` | gauge | those that wait, or that sent or received within the present tick of the kernel's timer |
//! | `sent@PEER` | delta | segments with data that were sent: about one for each question that fits into a segment |
//!
//! By Little's law the mean of `waiting` over the requests in flight is the share of a request's time for which it waits
//! for that peer (METHOD §9). A peer owes an answer where data were sent after the last data came. The kernel tells times
//! in ticks of 1 to 10 ms, and a question often goes out in the tick of the answer before it; then a peer owes one where
//! what was sent is not acknowledged yet, or was acknowledged by a segment without data: an answer acknowledges its
//! question itself. What is still missed (short waits; peers that acknowledge at once) makes `waiting` a lower bound;
//! `active` is an upper one.
//! A socket belongs to the target where a process of its tree holds it. Connections that others opened to a port on which
//! the target listens are not outgoing; neither are those between processes of the tree.
//! Known loss: connections that live less than the time between two readings, and Unix sockets. Reading costs about
//! 2 µs a connection of the whole namespace, so that it rests between readings where there are many.

use crate::Roots;
use crate::error::CollectError;
use crate::process::ProcessTree;
use crate::process::followed::RootPid;
use crate::reading::Values;
use crate::sock_diag::{Family, Namespace, Query, TcpInfo, TcpSocket};
use crate::source::{Comparable, Differencing, Source};
use netlink_packet_sock_diag::inet::StateFlags;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

/// Name of the source.
pub const NAME: &str = "target.outgoing";
/// Peers with keys of their own.
pub const PEERS_MAX: usize = 8;
/// What later ones are called.
const OTHERS: &str = "others";
/// After so long without data a peer may acknowledge a probe of a connection that is idle; Go's first is after 15 s.
const KEEP_ALIVE_MS: u32 = 10_000;
/// Numbers of states (include/net/tcp_states.h).
const ESTABLISHED: u8 = 1;
const LISTEN: u8 = 10;

/// One connection that the target has opened.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Connection {
    peer: String,
    waits: bool,
    is_active: bool,
    sent: u64,
}

/// One reading: connections by the kernel's name for them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outgoing {
    by_cookie: BTreeMap<u64, Connection>,
    /// All that were ever seen, so that a peer without a connection is 0 and not absent.
    peers: BTreeSet<String>,
}

/// Those of the sockets that `held` names and that were opened from this side.
fn opened(sockets: &[TcpSocket], held: impl Fn(&TcpSocket) -> bool) -> impl Iterator<Item = &TcpSocket> {
    let listening: BTreeSet<u16> =
        sockets.iter().filter(|socket| socket.state == LISTEN).map(|socket| socket.local.port()).collect();
    let own: Vec<&TcpSocket> =
        sockets.iter().filter(|socket| socket.state == ESTABLISHED && held(socket)).collect();
    let ends: BTreeSet<(SocketAddr, SocketAddr)> =
        own.iter().map(|socket| (canonical(socket.local), canonical(socket.remote))).collect();
    own.into_iter().filter(move |socket| {
        let is_inner = ends.contains(&(canonical(socket.remote), canonical(socket.local)));
        !listening.contains(&socket.local.port()) && !is_inner
    })
}

fn canonical(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

impl Outgoing {
    /// What the sockets tell; `peers` are those that have keys of their own, to which new ones are added.
    fn of<'a>(sockets: impl Iterator<Item = &'a TcpSocket>, peers: &mut BTreeSet<String>) -> Self {
        let mut by_cookie = BTreeMap::new();
        for socket in sockets {
            let Some(info) = socket.info else { continue };
            let waits = owes(&info);
            let connection = Connection {
                peer: name(canonical(socket.remote), peers),
                waits,
                is_active: waits || info.sent_ago_ms.min(info.received_ago_ms) == 0,
                sent: info.data_segments_sent.unwrap_or_default().into(),
            };
            by_cookie.insert(socket.cookie, connection);
        }
        Self { by_cookie, peers: peers.clone() }
    }

    fn count(&self, peer: &str, which: impl Fn(&Connection) -> bool) -> f64 {
        self.by_cookie.values().filter(|found| found.peer == peer && which(found)).count() as f64
    }
}

/// Whether the peer owes an answer.
fn owes(info: &TcpInfo) -> bool {
    let in_one_tick = info.sent_ago_ms == info.received_ago_ms && info.sent_ago_ms < KEEP_ALIVE_MS;
    info.sent_ago_ms < info.received_ago_ms
        || info.unacked > 0
        || in_one_tick && info.acknowledged_ago_ms < info.received_ago_ms
}

fn name(peer: SocketAddr, peers: &mut BTreeSet<String>) -> String {
    let own = peer.to_string();
    if peers.contains(&own) || peers.len() < PEERS_MAX {
        peers.insert(own.clone());
        return own;
    }
    peers.insert(OTHERS.to_owned());
    OTHERS.to_owned()
}

impl Comparable for Outgoing {
    fn gauges(&self, _: Option<&Self>) -> Values {
        let of = |peer: &String| {
            [
                (format!("connections@{peer}"), self.count(peer, |_| true)),
                (format!("waiting@{peer}"), self.count(peer, |found| found.waits)),
                (format!("active@{peer}"), self.count(peer, |found| found.is_active)),
            ]
        };
        let all = ("connections".to_owned(), self.by_cookie.len() as f64);
        self.peers.iter().flat_map(of).chain([all]).collect()
    }

    /// A connection that is new since the previous reading has sent all that it has sent since then.
    fn deltas(&self, previous: &Self) -> Values {
        let mut sent: BTreeMap<&str, u64> = self.peers.iter().map(|peer| (peer.as_str(), 0)).collect();
        for (cookie, now) in &self.by_cookie {
            let before = previous.by_cookie.get(cookie).map_or(0, |before| before.sent);
            *sent.entry(&now.peer).or_default() += now.sent.saturating_sub(before);
        }
        sent.into_iter().map(|(peer, sent)| (format!("sent@{peer}"), sent as f64)).collect()
    }
}

/// Which sockets the target's processes hold. A socket is looked up once; it does not change hands.
struct Holder {
    roots: Roots,
    root: RootPid,
    tree: (u32, ProcessTree),
    /// Whether it is the target's, by the kernel's name.
    known: BTreeMap<u64, bool>,
}

impl Holder {
    fn new(roots: &Roots, root: RootPid) -> Self {
        let pid = root.load(Ordering::Relaxed);
        let tree = (pid, ProcessTree::new(roots, pid));
        Self { roots: roots.clone(), root, tree, known: BTreeMap::new() }
    }

    /// Looks up those that are new; forgets those that are gone.
    fn look_up(&mut self, sockets: &[TcpSocket]) -> Result<(), CollectError> {
        let pid = self.root.load(Ordering::Relaxed);
        if pid != self.tree.0 {
            *self = Self::new(&self.roots, self.root.clone());
        }
        let living: BTreeSet<u64> = sockets.iter().map(|socket| socket.cookie).collect();
        self.known.retain(|cookie, _| living.contains(cookie));
        if living.len() == self.known.len() {
            return Ok(());
        }
        self.tree.1.read()?;
        let held: BTreeSet<u32> = self.tree.1.pids().flat_map(|pid| inodes(&self.folder(pid))).collect();
        for socket in sockets {
            self.known.entry(socket.cookie).or_insert_with(|| held.contains(&socket.inode));
        }
        Ok(())
    }

    fn folder(&self, pid: u32) -> PathBuf {
        self.roots.proc.join(pid.to_string()).join("fd")
    }

    fn holds(&self, socket: &TcpSocket) -> bool {
        self.known.get(&socket.cookie).copied().unwrap_or_default()
    }
}

/// The sockets that a process holds; none where it has ended or may not be looked at.
fn inodes(folder: &Path) -> Vec<u32> {
    let inode = |entry: fs::DirEntry| {
        let link = fs::read_link(entry.path()).ok()?;
        link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
    };
    fs::read_dir(folder).into_iter().flatten().flatten().filter_map(inode).collect()
}

fn read(
    namespace: &mut Namespace,
    holder: &mut Holder,
    peers: &mut BTreeSet<String>,
) -> Result<Outgoing, CollectError> {
    let states = StateFlags::ESTABLISHED | StateFlags::LISTEN;
    let query = Query { states, local_port: 0, remote_port: 0, with_info: true };
    let mut sockets = Vec::new();
    for family in Family::BOTH {
        sockets.extend(namespace.sockets(&query, family)?.0);
    }
    holder.look_up(&sockets)?;
    Ok(Outgoing::of(opened(&sockets, |socket| holder.holds(socket)), peers))
}

/// The source for a target on this host, where its namespace can be asked.
pub(crate) fn source(roots: &Roots, root: RootPid) -> Option<Box<dyn Source>> {
    let mut namespace = Namespace::of(roots, root.clone());
    let answers = namespace.answers();
    let mut holder = Holder::new(roots, root);
    let mut peers = BTreeSet::new();
    let read = move || read(&mut namespace, &mut holder, &mut peers);
    answers.then(|| -> Box<dyn Source> { Box::new(Differencing::new(NAME, read).resting()) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::process::{Child, ChildStdin, Command, Stdio};
    use std::time::{Duration, Instant};
    use units::Nanos;

    /// Another process that opens a connection to a port and sends a byte at each line of its input.
    struct Client {
        process: Child,
        input: ChildStdin,
    }

    impl Client {
        fn to(port: u16) -> Self {
            let script = format!(
                "import socket,sys\ns=socket.create_connection(('127.0.0.1',{port}))\n\
                 for line in sys.stdin: s.sendall(b'q')\n"
            );
            let mut process = Command::new("python3")
                .args(["-c", &script])
                .stdin(Stdio::piped())
                .spawn()
                .expect("python3 runs");
            let input = process.stdin.take().unwrap();
            Self { process, input }
        }

        fn ask(&mut self) {
            writeln!(self.input).unwrap();
            self.input.flush().unwrap();
        }
    }

    impl Drop for Client {
        fn drop(&mut self) {
            self.process.kill().unwrap();
            self.process.wait().unwrap();
        }
    }

    /// The gauges and increases once they satisfy a condition, which the kernel's timer may delay by a tick or two.
    fn once(source: &mut dyn Source, is_met: impl Fn(&Values) -> bool) -> Values {
        let deadline = Instant::now() + Duration::from_secs(10);
        loop {
            let line = source.tick(Nanos(1)).unwrap();
            let values: Values = line.gauges.into_iter().chain(line.deltas).collect();
            if is_met(&values) {
                return values;
            }
            assert!(Instant::now() < deadline, "{values:?}");
            std::thread::yield_now();
        }
    }

    #[test]
    fn a_peer_that_owes_an_answer_is_seen_and_one_that_gave_it_too() {
        let backend = TcpListener::bind("127.0.0.1:0").unwrap();
        let peer = backend.local_addr().unwrap();
        let mut client = Client::to(peer.port());
        let (mut server, _) = backend.accept().unwrap();
        let root = RootPid::new(client.process.id().into());
        let mut source = source(&Roots::default(), root).expect("the own namespace");
        let key = |name: &str| format!("{name}@{peer}");
        let idle = once(&mut *source, |values| values.get(&key("active")) == Some(&0.0));
        assert_eq!((idle[&key("connections")], idle[&key("waiting")]), (1.0, 0.0));
        client.ask();
        server.peek(&mut [0; 1]).unwrap();
        let asked = once(&mut *source, |values| values[&key("waiting")] == 1.0);
        assert_eq!((asked[&key("active")], asked[&key("sent")]), (1.0, 1.0));
        server.read_exact(&mut [0; 1]).unwrap();
        server.write_all(b"a").unwrap();
        once(&mut *source, |values| values[&key("waiting")] == 0.0);
        drop(server);
    }

    fn socket(cookie: u64, state: u8, local: &str, remote: &str, info: TcpInfo) -> TcpSocket {
        TcpSocket {
            state,
            local: local.parse().unwrap(),
            remote: remote.parse().unwrap(),
            cookie,
            inode: cookie as u32,
            recv_queue: 0,
            send_queue: 0,
            info: Some(info),
        }
    }

    /// Of a connection whose latest acknowledgement came with its latest data.
    fn sent(segments: u32, sent_ago_ms: u32, received_ago_ms: u32) -> TcpInfo {
        TcpInfo {
            data_segments_sent: Some(segments),
            sent_ago_ms,
            received_ago_ms,
            acknowledged_ago_ms: received_ago_ms,
            ..TcpInfo::default()
        }
    }

    #[test]
    fn what_others_opened_and_what_stays_inside_is_left_out() {
        let info = sent(1, 5, 90);
        let sockets = [
            socket(1, LISTEN, "0.0.0.0:8080", "0.0.0.0:0", info),
            socket(2, ESTABLISHED, "127.0.0.1:8080", "127.0.0.1:40000", info),
            socket(3, ESTABLISHED, "127.0.0.1:50000", "127.0.0.1:3306", info),
            socket(4, ESTABLISHED, "127.0.0.1:50001", "127.0.0.1:9000", info),
            socket(5, ESTABLISHED, "127.0.0.1:9000", "127.0.0.1:50001", info),
            socket(6, ESTABLISHED, "127.0.0.1:50002", "127.0.0.1:3306", info),
        ];
        let of_target = |socket: &TcpSocket| socket.cookie != 6;
        let cookies: Vec<u64> = opened(&sockets, of_target).map(|socket| socket.cookie).collect();
        assert_eq!(cookies, [3], "accepted ones, a pair inside and another's are not outgoing");
    }

    #[test]
    fn waiting_is_to_have_asked_later_than_heard() {
        let at = |cookie, info| socket(cookie, ESTABLISHED, "127.0.0.1:5", "[::ffff:127.0.0.1]:3306", info);
        let sockets =
            [at(1, sent(9, 4, 80)), at(2, sent(9, 80, 4)), at(3, sent(9, 0, 0)), at(4, sent(9, 12, 12))];
        let mut peers = BTreeSet::new();
        let before = Outgoing::of([&at(1, sent(4, 0, 0)), &at(2, sent(9, 0, 0))].into_iter(), &mut peers);
        let now = Outgoing::of(sockets.iter(), &mut peers);
        let gauges = now.gauges(None);
        assert_eq!(gauges["connections@127.0.0.1:3306"], 4.0);
        assert_eq!((gauges["waiting@127.0.0.1:3306"], gauges["active@127.0.0.1:3306"]), (1.0, 2.0));
        assert_eq!(now.deltas(&before)["sent@127.0.0.1:3306"], 5.0 + 0.0 + 9.0 + 9.0);
        let gone = Outgoing::of(std::iter::empty(), &mut peers);
        assert_eq!(
            gone.gauges(None)["waiting@127.0.0.1:3306"],
            0.0,
            "a peer that was there is 0, not absent"
        );
    }

    #[test]
    fn within_a_tick_the_acknowledgement_tells() {
        let tie = sent(9, 12, 12);
        assert!(!owes(&tie), "the answer was the last that came");
        assert!(owes(&TcpInfo { unacked: 1, ..tie }));
        assert!(owes(&TcpInfo { acknowledged_ago_ms: 4, ..tie }), "asked, acknowledged, not answered");
        let idle = TcpInfo { acknowledged_ago_ms: 3, ..sent(9, 15_010, 15_010) };
        assert!(!owes(&idle), "a probe of an idle connection was acknowledged");
    }

    #[test]
    fn peers_beyond_the_limit_are_added_up() {
        let at = |port: u64| {
            socket(port, ESTABLISHED, "127.0.0.1:5", &format!("127.0.0.1:{port}"), sent(1, 4, 80))
        };
        let sockets: Vec<TcpSocket> = (1..=PEERS_MAX as u64 + 3).map(at).collect();
        let gauges = Outgoing::of(sockets.iter(), &mut BTreeSet::new()).gauges(None);
        assert_eq!((gauges["waiting@others"], gauges["waiting@127.0.0.1:1"]), (3.0, 1.0));
        assert_eq!((gauges.len(), gauges["connections"]), (3 * (PEERS_MAX + 1) + 1, sockets.len() as f64));
    }

    #[test]
    fn a_process_that_is_gone_has_no_source() {
        assert!(source(&Roots::default(), RootPid::new((1 << 30).into())).is_none());
    }
}
