//! TCP sockets as the kernel lists them over netlink (sock_diag(7), include/uapi/linux/inet_diag.h): the question, the
//! bounded reading of the answer and its pure parse.
//!
//! Invariants: the kernel filters by state and port, so that only what is wanted is copied; at most [`SOCKETS_MAX`]
//! sockets are taken from one answer; reading waits at most `ANSWER_WITHIN`; a message is never trusted about its
//! length. A socket of netlink belongs to the network namespace that it was made in: one for another namespace is made
//! by a thread that enters it and ends.
//! Absent on purpose: changes of sockets, which the same protocol could make.

mod namespace;
mod tcp_info;

pub(crate) use namespace::Namespace;
pub use tcp_info::TcpInfo;

use crate::error::{CollectError, ParseError};
use netlink_packet_core::{
    NLM_F_DUMP, NLM_F_REQUEST, NLMSG_DONE, NLMSG_ERROR, NetlinkBuffer, NetlinkHeader, NetlinkMessage,
    Parseable,
};
use netlink_packet_sock_diag::inet::nlas::Nla;
use netlink_packet_sock_diag::inet::{ExtensionFlags, InetRequest, InetResponse, SocketId, StateFlags};
use netlink_packet_sock_diag::{AF_INET, AF_INET6, IPPROTO_TCP, SOCK_DIAG_BY_FAMILY, SockDiagMessage};
use netlink_sys::{Socket, protocols::NETLINK_SOCK_DIAG};
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

/// Most sockets that are taken from one answer.
pub const SOCKETS_MAX: usize = 20_000;
/// The kernel answers at once; this bounds the wait if it ever does not.
const ANSWER_WITHIN: Duration = Duration::from_secs(1);
/// The kernel writes at most 32 KiB at once.
const BUFFER_BYTES: usize = 64 << 10;
/// Before what a message carries.
const HEADER_BYTES: usize = 16;
/// Messages begin at multiples of this.
const ALIGNMENT: usize = 4;

/// One TCP socket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TcpSocket {
    /// The kernel's number of its state (include/net/tcp_states.h).
    pub state: u8,
    /// This end.
    pub local: SocketAddr,
    /// The other end; all zeros for one that listens.
    pub remote: SocketAddr,
    /// Names this socket among all that were ever made.
    pub cookie: u64,
    /// Names it among the descriptors of processes; 0 once no process holds it.
    pub inode: u32,
    /// Bytes that were received and not yet read; of one that listens, connections that wait to be accepted.
    pub recv_queue: u32,
    /// Bytes that were sent and not yet acknowledged; of one that listens, how many connections may wait.
    pub send_queue: u32,
    /// Where it was asked for.
    pub info: Option<TcpInfo>,
}

/// Which sockets are wanted.
#[derive(Clone, Debug)]
pub(crate) struct Query {
    pub(crate) states: StateFlags,
    /// Of this end; 0 for any.
    pub(crate) local_port: u16,
    /// Of the other end; 0 for any.
    pub(crate) remote_port: u16,
    pub(crate) with_info: bool,
}

/// What came of an answer, or of a part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// There is more to come.
    More,
    /// That was all.
    Done,
}

/// Adds the sockets of one datagram of the kernel.
///
/// # Errors
/// A message that is cut off, is none of a socket, or says that the kernel refused.
pub fn parse(mut bytes: &[u8], sockets: &mut Vec<TcpSocket>) -> Result<Progress, ParseError> {
    let broken = |cause: &str| ParseError::Netlink(cause.to_owned());
    while !bytes.is_empty() {
        let message = NetlinkBuffer::new_checked(bytes).map_err(|error| broken(&error.to_string()))?;
        let length = message.length() as usize;
        let payload = bytes.get(HEADER_BYTES..length).ok_or_else(|| broken("a length below its header"))?;
        match message.message_type() {
            NLMSG_DONE => return Ok(Progress::Done),
            NLMSG_ERROR => return Err(refused(payload)),
            SOCK_DIAG_BY_FAMILY => {
                let response = InetResponse::parse(payload).map_err(|error| broken(&error.to_string()))?;
                sockets.push(socket(&response));
            }
            _ => {}
        }
        bytes = bytes.get(length.next_multiple_of(ALIGNMENT)..).unwrap_or_default();
    }
    Ok(Progress::More)
}

/// The number of the error is negative, as in the kernel.
fn refused(payload: &[u8]) -> ParseError {
    let number = payload.first_chunk().map_or(0, |bytes| i32::from_ne_bytes(*bytes));
    let error = std::io::Error::from_raw_os_error(number.saturating_neg());
    ParseError::Netlink(format!("the kernel refused: {error}"))
}

fn socket(response: &InetResponse) -> TcpSocket {
    let (header, id) = (&response.header, &response.header.socket_id);
    let info = response.nlas.iter().find_map(|attribute| match attribute {
        Nla::TcpInfo(bytes) => Some(TcpInfo::parse(bytes)),
        _ => None,
    });
    TcpSocket {
        state: header.state,
        local: SocketAddr::new(id.source_address, id.source_port),
        remote: SocketAddr::new(id.destination_address, id.destination_port),
        cookie: u64::from_ne_bytes(id.cookie),
        inode: header.inode,
        recv_queue: header.recv_queue,
        send_queue: header.send_queue,
        info,
    }
}

/// Whether two addresses name one host: IPv4 may come as IPv6.
pub(crate) fn is_same_host(one: IpAddr, other: IpAddr) -> bool {
    one.to_canonical() == other.to_canonical()
}

/// A socket of netlink in the namespace of the calling thread.
fn open() -> std::io::Result<Socket> {
    let socket = Socket::new(NETLINK_SOCK_DIAG)?;
    set_socket_timeout(&socket, Timeout::Recv, Some(ANSWER_WITHIN))?;
    Ok(socket)
}

/// The address families of TCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    V4,
    V6,
}

impl Family {
    /// A host without IPv6 has no sockets of it either, and answers with none.
    pub(crate) const BOTH: [Self; 2] = [Self::V4, Self::V6];

    pub(crate) fn of(address: SocketAddr) -> Self {
        if address.is_ipv4() { Self::V4 } else { Self::V6 }
    }
}

fn request(query: &Query, family: Family) -> Vec<u8> {
    let (family, id) = match family {
        Family::V4 => (AF_INET, SocketId::new_v4()),
        Family::V6 => (AF_INET6, SocketId::new_v6()),
    };
    let extensions = if query.with_info { ExtensionFlags::INFO } else { ExtensionFlags::empty() };
    let request = InetRequest {
        family,
        protocol: IPPROTO_TCP,
        extensions,
        states: query.states.clone(),
        socket_id: SocketId { source_port: query.local_port, destination_port: query.remote_port, ..id },
    };
    let mut header = NetlinkHeader::default();
    header.flags = NLM_F_REQUEST | NLM_F_DUMP;
    let mut message = NetlinkMessage::new(header, SockDiagMessage::InetRequest(request).into());
    message.finalize();
    let mut bytes = vec![0; message.buffer_len()];
    message.serialize(&mut bytes);
    bytes
}

/// An answer, and whether it was cut at [`SOCKETS_MAX`]; then the rest still waits in the socket.
struct Answer {
    sockets: Vec<TcpSocket>,
    is_cut: bool,
}

fn ask(socket: &Socket, query: &Query, family: Family) -> Result<Answer, CollectError> {
    let failed = |error: std::io::Error| CollectError::Sockets { cause: error.to_string() };
    socket.send(&request(query, family), 0).map_err(failed)?;
    let mut sockets = Vec::new();
    let mut buffer = Vec::with_capacity(BUFFER_BYTES);
    loop {
        buffer.clear();
        match socket.recv(&mut buffer, 0) {
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(failed(error)),
        }
        let progress = parse(&buffer, &mut sockets).map_err(|source| CollectError::Parse {
            what: "the kernel's list of TCP sockets".to_owned(),
            source,
        })?;
        if progress == Progress::Done {
            return Ok(Answer { sockets, is_cut: false });
        }
        if sockets.len() >= SOCKETS_MAX {
            sockets.truncate(SOCKETS_MAX);
            return Ok(Answer { sockets, is_cut: true });
        }
    }
}

#[cfg(test)]
mod tests;
