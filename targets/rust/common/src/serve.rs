//! Binds the address, serves HTTP/1.1, and HTTP/2 where it is asked to, and stops with grace, alike for every Rust target: same listener, same
//! timeouts, same stop.
//!
//! Hyper has one timer for the header of a request, which runs from the end of the one before, so an idle
//! connection and a slow header share a limit. Deliberately absent: TLS and routing.
use std::error::Error;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::time::Duration;

use bytes::Buf;
use http::{Request, Response};
use http_body::Body;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::{TcpListener, TcpSocket, TcpStream};

use crate::runtime;
use crate::settings::Settings;
use crate::times;

/// How long requests in flight may take after the stop signal; the contract gives 5 s in all.
const GRACE: Duration = Duration::from_millis(4500);
/// The system cuts it to net.core.somaxconn.
const BACKLOG: u32 = 65_535;
/// No route needs more.
const HEADER_BYTES_MAX: usize = 64 << 10;
/// As many as Go's server allows.
const STREAMS_MAX: u32 = 250;
/// Wait after a failed accept, so that a shortage of descriptors is no busy loop.
const ACCEPT_PAUSE: Duration = Duration::from_millis(20);

/// Why serving did not begin, or did not end well.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// Another process has the address.
    #[error("{0} is taken: stop the process that holds it, or set LISTEN to a free host:port")]
    Taken(String),
    /// No address of this machine.
    #[error("cannot listen on {0:?}: set LISTEN to a host:port of this machine ({1})")]
    Listen(String, #[source] io::Error),
    /// Clients saw a broken answer.
    #[error("connections still open {GRACE:?} after the stop signal were cut off")]
    CutOff,
}

/// Listens on `address`, `host:port`; port 0 lets the system choose.
///
/// # Errors
/// The address is taken, or is none of this machine.
pub async fn listen(address: &str) -> Result<TcpListener, ServeError> {
    let failed = |error: io::Error| match error.kind() {
        io::ErrorKind::AddrInUse => ServeError::Taken(address.to_owned()),
        _ => ServeError::Listen(address.to_owned(), error),
    };
    let first = tokio::net::lookup_host(address).await.map_err(failed)?.next();
    let found = first.ok_or_else(|| failed(io::ErrorKind::AddrNotAvailable.into()))?;
    bound(found).map_err(failed)
}

fn bound(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // A port whose old connections are in TIME_WAIT is free.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// Serves until `stop`, then lets requests in flight end. The port is free on return.
///
/// # Errors
/// Connections were cut off.
pub async fn serve<S, B>(
    listener: TcpListener,
    service: S,
    settings: &Settings,
    stop: impl Future<Output = ()>,
) -> Result<(), ServeError>
where
    S: Service<Request<Incoming>, Response = Response<B>> + Clone + Send + 'static,
    S::Future: Send + 'static,
    S::Error: Into<Box<dyn Error + Send + Sync>>,
    B: Body<Data: Buf + Send, Error: Into<Box<dyn Error + Send + Sync>>> + Send + 'static,
{
    if settings.request_times {
        times::turn_on();
    }
    let (http1, both) = (http1(settings), settings.http2.then(|| both(settings)));
    let graceful = GracefulShutdown::new();
    let mut stop = pin!(stop);
    loop {
        let stream = tokio::select! {
            stream = accept(&listener) => stream,
            () = &mut stop => break,
        };
        // A socket that refuses the option is about to fail anyway.
        let _ = stream.set_nodelay(settings.nodelay);
        let service = service.clone();
        let counted = service_fn(move |request: Request<Incoming>| {
            runtime::count(request.uri().path());
            let began = times::begin(request.uri().path());
            let answered = service.call(request);
            async move {
                let answer = answered.await;
                times::end(began);
                answer
            }
        });
        // What goes wrong on a connection is its client's affair.
        if let Some(both) = &both {
            let connection = both.serve_connection(TokioIo::new(stream), counted).into_owned();
            let connection = graceful.watch(connection);
            tokio::spawn(async { drop(connection.await) });
        } else {
            let connection = graceful.watch(http1.serve_connection(TokioIo::new(stream), counted));
            tokio::spawn(async { drop(connection.await) });
        }
    }
    drop(listener);
    tokio::time::timeout(GRACE, graceful.shutdown()).await.map_err(|_| ServeError::CutOff)
}

/// HTTP/1.1, or HTTP/2 of a client that begins with it.
fn both(settings: &Settings) -> auto::Builder<TokioExecutor> {
    let mut both = auto::Builder::new(TokioExecutor::new());
    both.http1()
        .timer(TokioTimer::new())
        .header_read_timeout(settings.keepalive_timeout)
        // There is no bound of the header alone: this one also bounds what is read of a body at a time.
        .max_buf_size(HEADER_BYTES_MAX)
        .keep_alive(settings.keepalive);
    both.http2().max_concurrent_streams(STREAMS_MAX).max_header_list_size(HEADER_BYTES_MAX as u32);
    both
}

fn http1(settings: &Settings) -> http1::Builder {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(settings.keepalive_timeout)
        .max_header_size(HEADER_BYTES_MAX)
        .keep_alive(settings.keepalive);
    http
}

/// The next connection. One that was gone again, or a shortage of descriptors, does not end the server.
async fn accept(listener: &TcpListener) -> TcpStream {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => return stream,
            Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
            Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
        }
    }
}

#[cfg(test)]
mod tests;
