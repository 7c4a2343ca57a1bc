//! Listening sockets and the certificate.

use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, listen, socket_with, sockopt};
use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::server::NoServerSessionStorage;
use std::io;
use std::net::{Ipv4Addr, SocketAddrV4, TcpListener};
use std::sync::Arc;

/// Room for connections that are not accepted yet; the kernel lowers it to `net.core.somaxconn`.
const BACKLOG: i32 = 8192;

/// A socket that listens on a free port of loopback and never blocks.
pub(crate) fn on_a_free_port() -> io::Result<TcpListener> {
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let socket = socket_with(AddressFamily::INET, SocketType::STREAM, flags, None)?;
    sockopt::set_socket_reuseaddr(&socket, true)?;
    bind(&socket, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0))?;
    listen(&socket, BACKLOG)?;
    Ok(TcpListener::from(socket))
}

/// TLS with a certificate of its own making: ECDSA on P-256, TLS 1.2 and 1.3, and no way to resume a session.
pub(crate) fn tls() -> io::Result<Arc<ServerConfig>> {
    let names = vec!["localhost".to_owned(), "127.0.0.1".to_owned()];
    let made = rcgen::generate_simple_self_signed(names).map_err(io::Error::other)?;
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
    let mut config = ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .map_err(io::Error::other)?;
    config.session_storage = Arc::new(NoServerSessionStorage {});
    config.send_tls13_tickets = 0;
    config.alpn_protocols = vec![b"http/1.1".to_vec(), b"h2".to_vec()];
    Ok(Arc::new(config))
}
