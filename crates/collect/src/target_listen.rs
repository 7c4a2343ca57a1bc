//! `target.listen`: connections that wait for the target to accept them, from its listening sockets (sock_diag(7)). All
//! are gauges.
//!
//! | key | meaning |
//! |---|---|
//! | `queue` | connections that are established and wait to be accepted, of the socket that is fullest |
//! | `limit` | how many may wait there: the smaller of what `listen` was given and `net.core.somaxconn` |
//! | `sockets` | sockets that listen on the target's port; several with SO_REUSEPORT, each with a queue of its own |
//!
//! A full queue has `queue` above `limit`: the kernel takes one more than it says. In an isolated network the target's
//! namespace is entered once, which needs root; without it this source is left out, and that is no gap.

use crate::Roots;
use crate::error::{CollectError, ParseError};
use crate::process::followed::RootPid;
use crate::reading::Reading;
use crate::sock_diag::{Family, Namespace, Query, TcpSocket};
use crate::source::{Differencing, Source};
use netlink_packet_sock_diag::inet::StateFlags;
use std::net::SocketAddr;

/// Name of the source.
pub const NAME: &str = "target.listen";

/// What the sockets that listen on one port tell.
///
/// # Errors
/// Where none listens.
pub fn reading(sockets: &[TcpSocket]) -> Result<Reading, ParseError> {
    let fullness = |socket: &&TcpSocket| f64::from(socket.recv_queue) / f64::from(socket.send_queue.max(1));
    let fullest = sockets.iter().max_by(|a, b| fullness(a).total_cmp(&fullness(b)));
    let fullest = fullest.ok_or(ParseError::Missing("a socket that listens on the target's port"))?;
    let gauges = [
        ("queue", f64::from(fullest.recv_queue)),
        ("limit", f64::from(fullest.send_queue)),
        ("sockets", sockets.len() as f64),
    ];
    Ok(Reading { gauges: gauges.into(), ..Reading::default() })
}

fn read(namespace: &mut Namespace, port: u16) -> Result<Reading, CollectError> {
    let query = Query { states: StateFlags::LISTEN, local_port: port, remote_port: 0, with_info: false };
    let mut sockets = Vec::new();
    for family in Family::BOTH {
        sockets.extend(namespace.sockets(&query, family)?.0);
    }
    let what = format!("the sockets on port {port}");
    reading(&sockets).map_err(|source| CollectError::Parse { what, source })
}

/// The source for the target's address, where its namespace can be asked.
pub(crate) fn source(roots: &Roots, root: RootPid, address: SocketAddr) -> Option<Box<dyn Source>> {
    let mut namespace = Namespace::of(roots, root);
    let answers = namespace.answers();
    let read = move || read(&mut namespace, address.port());
    answers.then(|| -> Box<dyn Source> { Box::new(Differencing::new(NAME, read).resting()) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};
    use units::Nanos;

    #[test]
    fn connections_that_nobody_accepts_are_seen() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let root = RootPid::new(std::process::id().into());
        let mut source = source(&Roots::default(), root, address).expect("the own namespace");
        let empty = source.tick(Nanos(1)).unwrap().gauges;
        assert_eq!((empty["queue"], empty["sockets"]), (0.0, 1.0));
        assert!(empty["limit"] >= 1.0);
        let waiting: Vec<TcpStream> = (0..3).map(|_| TcpStream::connect(address).unwrap()).collect();
        assert_eq!(source.tick(Nanos(2)).unwrap().gauges["queue"], 3.0);
        drop((listener, waiting));
        assert!(source.tick(Nanos(3)).is_err(), "a target that no longer listens is a gap");
    }

    #[test]
    fn the_fullest_queue_is_told() {
        let socket = |recv_queue, send_queue| TcpSocket {
            state: 10,
            local: "0.0.0.0:80".parse().unwrap(),
            remote: "0.0.0.0:0".parse().unwrap(),
            cookie: 1,
            inode: 0,
            recv_queue,
            send_queue,
            info: None,
        };
        let found = reading(&[socket(9, 4_096), socket(5, 5), socket(u32::MAX, u32::MAX)]).unwrap();
        assert_eq!((found.gauge("limit"), found.gauge("sockets")), (Some(f64::from(u32::MAX)), Some(3.0)));
        assert_eq!(reading(&[socket(9, 4_096), socket(6, 5)]).unwrap().gauge("queue"), Some(6.0));
        assert_eq!(reading(&[socket(1, 0)]).unwrap().gauge("limit"), Some(0.0));
        assert!(reading(&[]).is_err());
    }

    #[test]
    fn a_process_that_is_gone_has_no_source() {
        let root = RootPid::new((1 << 30).into());
        assert!(source(&Roots::default(), root, "127.0.0.1:1".parse().unwrap()).is_none());
    }
}
