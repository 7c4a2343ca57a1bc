//! A socket of the reference target, from its address to the moment it listens.

use anyhow::Result;
use rustix::net::{self, AddressFamily, SocketFlags, SocketType, sockopt};
use std::net::{SocketAddr, TcpListener};

/// Connections that may wait to be accepted; the system's own limit applies below it.
const BACKLOG: i32 = 4096;

/// A socket with its address, which does not listen yet.
pub(super) struct Bound {
    socket: TcpListener,
}

impl Bound {
    /// `shared`: other sockets may have the same address, and the system deals connections out among them.
    pub(super) fn new(address: SocketAddr, shared: bool) -> Result<Self> {
        let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
        let socket = net::socket_with(family, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
        sockopt::set_socket_reuseaddr(&socket, true)?;
        if shared {
            sockopt::set_socket_reuseport(&socket, true)?;
        }
        net::bind(&socket, &address)?;
        Ok(Self { socket: socket.into() })
    }

    pub(super) fn address(&self) -> Result<SocketAddr> {
        Ok(self.socket.local_addr()?)
    }

    pub(super) fn listen(self) -> Result<TcpListener> {
        net::listen(&self.socket, BACKLOG)?;
        Ok(self.socket)
    }
}

pub(super) fn busy(listen: SocketAddr) -> String {
    format!("cannot listen on {listen}; choose another --listen, port 0 takes a free one")
}
