//! Where a connection goes and how its socket is made: shared by all drivers, so that they differ in nothing else.

use rustix::fd::{AsRawFd, OwnedFd};
use rustix::io::Errno;
use rustix::net::{self, AddressFamily, SocketAddrUnix, SocketFlags, SocketType, sockopt};
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// The other end of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Peer {
    Inet(SocketAddr),
    Unix(Arc<PathBuf>),
}

/// One way to the target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Route {
    pub(crate) peer: Peer,
    /// Local address; the system chooses where absent.
    pub(crate) source: Option<IpAddr>,
    /// Which of the load's TLS server names the peer has.
    pub(crate) server: u16,
}

/// Options of a socket; the default is plain TCP with TCP_NODELAY off.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SocketOptions {
    pub(crate) nodelay: bool,
    /// Keep-alive probes after this many seconds without traffic.
    pub(crate) keepalive_s: Option<u64>,
    pub(crate) congestion: Option<String>,
    /// Differentiated services code point, 0 to 63.
    pub(crate) dscp: Option<u8>,
    pub(crate) device: Option<String>,
}

/// Opens a non-blocking socket and begins to connect it.
pub(super) fn open(route: &Route, options: &SocketOptions) -> Result<OwnedFd, Errno> {
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let begun = match &route.peer {
        Peer::Unix(path) => {
            let fd = net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
            let address = SocketAddrUnix::new(path.as_path())?;
            (net::connect(&fd, &address), fd)
        }
        Peer::Inet(to) => {
            let family = if to.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
            let fd = net::socket_with(family, SocketType::STREAM, flags, None)?;
            apply(&fd, to, options)?;
            if let Some(source) = route.source {
                // The port is chosen with the whole four-tuple in view when the socket connects.
                set_option(&fd, libc::IPPROTO_IP, libc::IP_BIND_ADDRESS_NO_PORT, &1_i32.to_ne_bytes())?;
                net::bind(&fd, &SocketAddr::new(source, 0))?;
            }
            (net::connect(&fd, to), fd)
        }
    };
    match begun {
        (Ok(()) | Err(Errno::INPROGRESS), fd) => Ok(fd),
        (Err(errno), _) => Err(errno),
    }
}

fn apply(fd: &OwnedFd, to: &SocketAddr, options: &SocketOptions) -> Result<(), Errno> {
    if options.nodelay {
        sockopt::set_tcp_nodelay(fd, true)?;
    }
    if let Some(seconds) = options.keepalive_s {
        sockopt::set_socket_keepalive(fd, true)?;
        sockopt::set_tcp_keepidle(fd, Duration::from_secs(seconds.max(1)))?;
    }
    if let Some(congestion) = &options.congestion {
        sockopt::set_tcp_congestion(fd, congestion)?;
    }
    if let Some(dscp) = options.dscp {
        // The code point is the upper six bits of the traffic class (RFC 2474 §3).
        match to {
            SocketAddr::V4(_) => sockopt::set_ip_tos(fd, dscp << 2)?,
            SocketAddr::V6(_) => sockopt::set_ipv6_tclass(fd, u32::from(dscp) << 2)?,
        }
    }
    if let Some(device) = &options.device {
        set_option(fd, libc::SOL_SOCKET, libc::SO_BINDTODEVICE, device.as_bytes())?;
    }
    Ok(())
}

/// Options that rustix does not offer.
fn set_option(fd: &OwnedFd, level: i32, option: i32, value: &[u8]) -> Result<(), Errno> {
    let length = value.len() as libc::socklen_t;
    #[expect(unsafe_code, reason = "no safe wrapper knows these two options")]
    // SAFETY: `value` is valid for `length` bytes during the call, and the kernel only reads it.
    let result = unsafe { libc::setsockopt(fd.as_raw_fd(), level, option, value.as_ptr().cast(), length) };
    if result == 0 {
        Ok(())
    } else {
        Err(Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::INVAL))
    }
}
