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
    /// gRPC: the status CANCELLED.
    GrpcCancelled,
    /// gRPC: the status UNKNOWN.
    GrpcUnknown,
    /// gRPC: the status INVALID_ARGUMENT.
    GrpcInvalidArgument,
    /// gRPC: the call's deadline passed, by the server's status DEADLINE_EXCEEDED or by the clock.
    GrpcDeadlineExceeded,
    /// gRPC: the status NOT_FOUND.
    GrpcNotFound,
    /// gRPC: the status ALREADY_EXISTS.
    GrpcAlreadyExists,
    /// gRPC: the status PERMISSION_DENIED.
    GrpcPermissionDenied,
    /// gRPC: the status RESOURCE_EXHAUSTED.
    GrpcResourceExhausted,
    /// gRPC: the status FAILED_PRECONDITION.
    GrpcFailedPrecondition,
    /// gRPC: the status ABORTED.
    GrpcAborted,
    /// gRPC: the status OUT_OF_RANGE.
    GrpcOutOfRange,
    /// gRPC: the status UNIMPLEMENTED.
    GrpcUnimplemented,
    /// gRPC: the status INTERNAL.
    GrpcInternal,
    /// gRPC: the status UNAVAILABLE.
    GrpcUnavailable,
    /// gRPC: the status DATA_LOSS.
    GrpcDataLoss,
    /// gRPC: the status UNAUTHENTICATED.
    GrpcUnauthenticated,
}

impl ErrorClass {
    /// All classes; their order is the index of [`ErrorClass::index`].
    pub const ALL: [Self; 40] = [
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
        Self::GrpcCancelled,
        Self::GrpcUnknown,
        Self::GrpcInvalidArgument,
        Self::GrpcDeadlineExceeded,
        Self::GrpcNotFound,
        Self::GrpcAlreadyExists,
        Self::GrpcPermissionDenied,
        Self::GrpcResourceExhausted,
        Self::GrpcFailedPrecondition,
        Self::GrpcAborted,
        Self::GrpcOutOfRange,
        Self::GrpcUnimplemented,
        Self::GrpcInternal,
        Self::GrpcUnavailable,
        Self::GrpcDataLoss,
        Self::GrpcUnauthenticated,
    ];

    /// The class of a call that ended with this status of gRPC; none for 0 and beyond 16.
    #[must_use]
    pub const fn of_grpc(status: u8) -> Option<Self> {
        let first = Self::GrpcCancelled.index();
        if status >= 1 && status <= 16 { Some(Self::ALL[first + status as usize - 1]) } else { None }
    }

    /// Whether all that is known of the request's time is that it was longer than allowed: it then counts as above every
    /// finite one (METHOD §1).
    #[must_use]
    pub const fn is_beyond(self) -> bool {
        matches!(self, Self::Timeout | Self::GrpcDeadlineExceeded)
    }

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
            Self::GrpcCancelled => "grpc_cancelled",
            Self::GrpcUnknown => "grpc_unknown",
            Self::GrpcInvalidArgument => "grpc_invalid_argument",
            Self::GrpcDeadlineExceeded => "grpc_deadline_exceeded",
            Self::GrpcNotFound => "grpc_not_found",
            Self::GrpcAlreadyExists => "grpc_already_exists",
            Self::GrpcPermissionDenied => "grpc_permission_denied",
            Self::GrpcResourceExhausted => "grpc_resource_exhausted",
            Self::GrpcFailedPrecondition => "grpc_failed_precondition",
            Self::GrpcAborted => "grpc_aborted",
            Self::GrpcOutOfRange => "grpc_out_of_range",
            Self::GrpcUnimplemented => "grpc_unimplemented",
            Self::GrpcInternal => "grpc_internal",
            Self::GrpcUnavailable => "grpc_unavailable",
            Self::GrpcDataLoss => "grpc_data_loss",
            Self::GrpcUnauthenticated => "grpc_unauthenticated",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_status_of_grpc_but_ok_has_a_class() {
        assert_eq!((ErrorClass::of_grpc(0), ErrorClass::of_grpc(17)), (None, None));
        assert_eq!(ErrorClass::of_grpc(1), Some(ErrorClass::GrpcCancelled));
        assert_eq!(ErrorClass::of_grpc(4), Some(ErrorClass::GrpcDeadlineExceeded));
        assert_eq!(ErrorClass::of_grpc(14), Some(ErrorClass::GrpcUnavailable));
        assert_eq!(ErrorClass::of_grpc(16), Some(ErrorClass::GrpcUnauthenticated));
    }
}
