//! Why an exchange gave no answer. Each message says the cause and what to do.
//!
//! Invariant: nothing of what the server sent is shown except one header value, cut short and escaped.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;
use wire::http2::{ErrorCode, Fault};
use wire::{EncodeError, Malformed};

/// Why an exchange gave no answer, or not the one that was asked for.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    /// The request would break its own framing.
    #[error("the request cannot be sent: {0}")]
    Request(#[from] EncodeError),
    /// No connection.
    #[error("no connection to {addr}: {source}; check that a server runs and listens there")]
    Connect {
        /// The address.
        addr: SocketAddr,
        /// The system's reason.
        source: io::Error,
    },
    /// The deadline passed.
    #[error("no whole answer within {after:?}: timed out {stage}; the server hangs or is overloaded")]
    TimedOut {
        /// The time there was.
        after: Duration,
        /// How far the exchange had come.
        stage: Stage,
    },
    /// The server closed in the middle.
    #[error("the connection was closed {stage}; look at the server's log")]
    Closed {
        /// How far the exchange had come.
        stage: Stage,
    },
    /// The connection failed.
    #[error("the connection failed {stage}: {source}; look at the server's log")]
    Io {
        /// How far the exchange had come.
        stage: Stage,
        /// The system's reason.
        source: io::Error,
    },
    /// TLS failed: the handshake, the certificate, or a record.
    #[error("TLS failed {stage}: {source}; check the CA, the server name and the server's certificate")]
    Tls {
        /// How far the exchange had come.
        stage: Stage,
        /// What rustls says.
        source: Box<rustls::Error>,
    },
    /// Not HTTP/1.x, or with an unclear end.
    #[error("the answer is not well-formed HTTP/1.1: {0}; check the address and what serves there")]
    Malformed(#[from] Malformed),
    /// Not HTTP/2, or not as it should be.
    #[error("the answer is not well-formed HTTP/2: {0}; check the address and what serves there")]
    Http2(Fault),
    /// A server of TLS that does not choose HTTP/2.
    #[error("the server does not choose h2 in the TLS handshake (ALPN); switch HTTP/2 on there")]
    NotHttp2,
    /// The server gave the request up, or did not take it.
    #[error("the server {what} {stage} with {code}; look at the server's log")]
    GivenUp {
        /// What it did.
        what: &'static str,
        /// How far the exchange had come.
        stage: Stage,
        /// Its reason.
        code: ErrorCode,
    },
    /// A body under a transfer coding that would have to be undone first.
    #[error("the body has transfer coding {coding:?}, of which only chunked is read; switch it off there")]
    Coded {
        /// The codings, cut short.
        coding: String,
    },
    /// A body above the limit, by what came or by what was announced.
    #[error("the answer has more than {limit_bytes} bytes of body; serve less on this path")]
    TooLarge {
        /// The limit.
        limit_bytes: usize,
    },
    /// Another status than 200, where [`get`](crate::get) wants that.
    #[error("the answer has status {0}, not 200; check the path")]
    Status(u16),
}

/// How far an exchange had come when it failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// No connection yet.
    Connecting,
    /// The TLS handshake had not ended.
    Securing,
    /// The request was not sent whole.
    Sending,
    /// Nothing of an answer had come.
    Waiting,
    /// The header section, or an interim one before it, was not whole.
    Header,
    /// The body, its last chunk or its trailers were not whole.
    Body {
        /// Bytes of body that had come.
        got_bytes: u64,
        /// Content-Length, where there is one.
        announced_bytes: Option<u64>,
    },
}

impl fmt::Display for Stage {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Connecting => out.write_str("while connecting"),
            Self::Securing => out.write_str("during the TLS handshake"),
            Self::Sending => out.write_str("while the request was sent"),
            Self::Waiting => out.write_str("before any answer"),
            Self::Header => out.write_str("within the header"),
            Self::Body { got_bytes, announced_bytes: Some(announced) } => {
                write!(out, "within the body, after {got_bytes} of {announced} bytes")
            }
            Self::Body { got_bytes, announced_bytes: None } => {
                write!(out, "within the body, after {got_bytes} bytes")
            }
        }
    }
}
