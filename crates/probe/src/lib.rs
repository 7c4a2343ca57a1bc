//! One blocking HTTP exchange with a deadline and limits, for contract checks, readiness and runtime counters; over HTTP/2 a
//! few of them one after the other ([`Session`]), and calls of gRPC ([`grpc`]).
//!
//! Invariants: a fresh connection each time, or for each session; one deadline for the whole exchange, connecting
//! included, also where the server sends one byte at a time; the framing of request and answer is the crate `wire`'s alone, so that what is
//! refused here is what the load would refuse; head (by `wire`) and body (by [`Limits`]) are bounded.
//! A session of TLS that ends without close_notify is a connection closed too early (RFC 9112 §9.8).
//! Absent on purpose: keep-alive, redirects, content codings, name resolution. Never for load, which goes
//! through the engine: this blocks, allocates and keeps no stamps.

mod answer;
mod connection;
mod draft;
mod error;
pub mod grpc;
mod session;
mod tls;

pub use answer::Answer;
pub use error::{ProbeError, Stage};
pub use session::Session;
pub use tls::Tls;

use connection::Connection;
use draft::Draft;
use std::net::SocketAddr;
use std::time::Duration;
use wire::{Ended, Feed, RequestHead, ResponseParser, encode_request};

/// Bytes taken from the socket at a time.
const READ_BYTES: usize = 16 * 1024;

/// Bounds of one exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// For the whole exchange, connecting included. Zero is over at once; more than a day counts as a day.
    pub timeout: Duration,
    /// Longest body, decoded from its framing.
    pub body_bytes: usize,
}

/// The protocol that the server chooses of those that `tls` offers by ALPN; `None` where it chooses none. Nothing is sent
/// but the handshake.
///
/// # Errors
/// No connection, or no handshake, within `timeout`.
pub fn chosen_protocol(
    addr: SocketAddr,
    tls: &Tls,
    timeout: Duration,
) -> Result<Option<Vec<u8>>, ProbeError> {
    let connection = Connection::open(addr, Some(tls), timeout)?;
    Ok(connection.protocol().map(<[u8]>::to_vec))
}

/// Sends `request` as it stands and reads one answer; `answers_head` where the request's method is HEAD.
///
/// Bytes after the answer are not looked at.
///
/// # Errors
/// There is no whole, well-formed answer within `limits`.
pub fn exchange(
    addr: SocketAddr,
    request: &[u8],
    answers_head: bool,
    limits: Limits,
) -> Result<Answer, ProbeError> {
    exchange_over(addr, None, request, answers_head, limits)
}

/// [`exchange`] over TLS where that is given.
///
/// # Errors
/// As [`exchange`]; also where the handshake fails.
pub fn exchange_over(
    addr: SocketAddr,
    tls: Option<&Tls>,
    request: &[u8],
    answers_head: bool,
    limits: Limits,
) -> Result<Answer, ProbeError> {
    let mut connection = Connection::open(addr, tls, limits.timeout)?;
    connection.send(request)?;
    receive(&mut connection, answers_head, limits.body_bytes)
}

/// The body of `GET path`, where the answer has status 200; the Host field is `addr`.
///
/// # Errors
/// As [`exchange`]; also where `path` cannot stand in a request line, or the status is another.
pub fn get(addr: SocketAddr, path: &str, limits: Limits) -> Result<Vec<u8>, ProbeError> {
    get_over(addr, None, &addr.to_string(), path, limits)
}

/// [`get`] over TLS where that is given, with the Host field `host`.
///
/// # Errors
/// As [`get`]; also where the handshake fails.
pub fn get_over(
    addr: SocketAddr,
    tls: Option<&Tls>,
    host: &str,
    path: &str,
    limits: Limits,
) -> Result<Vec<u8>, ProbeError> {
    let headers = [("Accept", "*/*"), ("Connection", "close")];
    let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let head = RequestHead { method: "GET", target: path, host, headers: &headers };
    body_of(exchange_over(addr, tls, &encode_request(&head, &[])?, false, limits)?)
}

/// [`get`] over HTTP/2 without TLS.
///
/// # Errors
/// As [`get`]; also where the server does not speak HTTP/2.
pub fn get_by_http2(addr: SocketAddr, path: &str, limits: Limits) -> Result<Vec<u8>, ProbeError> {
    let headers = [("accept".to_owned(), "*/*".to_owned())];
    let head = RequestHead { method: "GET", target: path, host: &addr.to_string(), headers: &headers };
    body_of(Session::open(addr, None, limits)?.exchange(&head, &[], None)?)
}

/// The body of an answer with status 200.
fn body_of(answer: Answer) -> Result<Vec<u8>, ProbeError> {
    if answer.status == 200 { Ok(answer.body) } else { Err(ProbeError::Status(answer.status)) }
}

fn receive(connection: &mut Connection, answers_head: bool, body_limit: usize) -> Result<Answer, ProbeError> {
    let mut parser = ResponseParser::default();
    parser.begin(answers_head);
    let mut draft = Draft::new(body_limit);
    let mut buffer = [0; READ_BYTES];
    loop {
        let count = connection.read(&mut buffer, draft.stage())?;
        if count == 0 {
            return match parser.end_of_input()? {
                Ended::Complete => Ok(draft.into_answer()),
                Ended::Premature => Err(ProbeError::Closed { stage: draft.stage() }),
            };
        }
        draft.begin();
        let feed = parser.feed(&buffer[..count], &mut draft)?;
        draft.check(feed == Feed::NeedMore)?;
        if feed != Feed::NeedMore {
            return Ok(draft.into_answer());
        }
    }
}
