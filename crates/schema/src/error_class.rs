//! Why requests fail.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Why a request failed: exactly one class each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ErrorClass {
    /// Connection refused.
    Refused,
    /// No connection within the connect time-out.
    ConnectTimeout,
    /// No route to the host or network.
    Unreachable,
    /// Connection reset by the target.
    Reset,
    /// No local port or address left (EADDRNOTAVAIL).
    AddressNotAvailable,
    /// No file descriptor left (EMFILE, ENFILE).
    DescriptorLimit,
    /// The name did not resolve.
    NameResolution,
    /// Shed: not sent before its deadline.
    Deadline,
    /// No complete answer within the response or total time-out.
    Timeout,
    /// The target closed before the answer was complete.
    PrematureClose,
    /// The answer is not HTTP/1.1.
    Malformed,
    /// A complete answer with a status that is not expected.
    UnexpectedStatus,
    /// A complete answer with a body or header that is not expected.
    WrongBody,
    /// Any other error of the operating system.
    Io,
    /// TLS failed: the handshake, a certificate, a fatal alert, or a record that cannot be read. A connection that
    /// ends without close_notify is `premature_close` (RFC 9112 §9.8), one that is reset is `reset`.
    Tls,
    /// A complete answer that a check of its content, length or headers refuses, or that lacks a captured value.
    Check,
    /// The request could not be made: its script failed, or a value cannot stand where it should.
    Script,
    /// A redirect that was to be followed and could not be: it leads to another origin, or nowhere, or there are too many.
    Redirect,
    /// A proxy did not open a tunnel: it refused, was silent, or is none.
    Proxy,
    /// HTTP/2: the target refused the request before it processed it (REFUSED_STREAM).
    RefusedStream,
    /// HTTP/2: the target reset the request's stream.
    StreamReset,
    /// HTTP/2: the target left without processing the request (GOAWAY), for the second time or with an error.
    Goaway,
    /// The target does not speak the protocol that was chosen, or breaks it.
    Protocol,
    /// HTTP/2: the target asks for more than a client should do: frames without end, or header sections without end.
    Flood,
}

impl ErrorClass {
    /// All classes; their order is the index of [`ErrorClass::index`].
    pub const ALL: [Self; 24] = [
        Self::Refused,
        Self::ConnectTimeout,
        Self::Unreachable,
        Self::Reset,
        Self::AddressNotAvailable,
        Self::DescriptorLimit,
        Self::NameResolution,
        Self::Deadline,
        Self::Timeout,
        Self::PrematureClose,
        Self::Malformed,
        Self::UnexpectedStatus,
        Self::WrongBody,
        Self::Io,
        Self::Tls,
        Self::Check,
        Self::Script,
        Self::Redirect,
        Self::Proxy,
        Self::RefusedStream,
        Self::StreamReset,
        Self::Goaway,
        Self::Protocol,
        Self::Flood,
    ];

    /// Position in [`ErrorClass::ALL`], for arrays of counters.
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The name used in files and on screens.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            Self::Refused => "refused",
            Self::ConnectTimeout => "connect_timeout",
            Self::Unreachable => "unreachable",
            Self::Reset => "reset",
            Self::AddressNotAvailable => "address_not_available",
            Self::DescriptorLimit => "descriptor_limit",
            Self::NameResolution => "name_resolution",
            Self::Deadline => "deadline",
            Self::Timeout => "timeout",
            Self::PrematureClose => "premature_close",
            Self::Malformed => "malformed",
            Self::UnexpectedStatus => "unexpected_status",
            Self::WrongBody => "wrong_body",
            Self::Io => "io",
            Self::Tls => "tls",
            Self::Check => "check",
            Self::Script => "script",
            Self::Redirect => "redirect",
            Self::Proxy => "proxy",
            Self::RefusedStream => "refused_stream",
            Self::StreamReset => "stream_reset",
            Self::Goaway => "goaway",
            Self::Protocol => "protocol",
            Self::Flood => "flood",
        }
    }
}
