//! From errors of the operating system to error classes.

use rustix::io::Errno;
use schema::load::ErrorClass;
use std::net::SocketAddr;

/// One failure: its class and, for the first few, a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) class: ErrorClass,
    pub(crate) cause: Cause,
}

/// Where a failure's text comes from; rendered only for the examples that are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    Class,
    System(Errno),
    Status(u16),
    Malformed(wire::Malformed),
    /// A fatal TLS alert of the peer.
    Alert(rustls::AlertDescription),
    /// What a proxy did instead of opening a tunnel.
    Proxy(SocketAddr, ProxyFault),
    Text(&'static str),
    /// What a peer of HTTP/2 did against the protocol.
    Fault(wire::http2::Fault),
    /// What is wrong with an answer as gRPC.
    Message(wire::grpc::Fault),
    /// What it did, and the code that it gave.
    Code(&'static str, wire::http2::ErrorCode),
}

/// How a proxy fails a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProxyFault {
    /// It refused with this status.
    Status(u16),
    /// Its answer is not HTTP.
    Malformed(wire::Malformed),
    /// Its answer does not end.
    TooLong,
    /// It closed the connection.
    Closed,
    /// The connection was lost.
    Lost(Errno),
}

impl ProxyFault {
    fn text(self, proxy: SocketAddr) -> String {
        match self {
            Self::Status(status) => {
                format!("the proxy {proxy} answered {status} to CONNECT: {}", status_words(status))
            }
            Self::Malformed(why) => format!("the proxy {proxy} did not answer CONNECT in HTTP: {why}"),
            Self::TooLong => format!("the proxy {proxy} answered CONNECT with more than 16 KiB"),
            Self::Closed => format!("the proxy {proxy} closed the connection instead of answering CONNECT"),
            Self::Lost(errno) => format!("the proxy {proxy} did not answer CONNECT: {errno}"),
        }
    }
}

/// What a proxy means by a status, and what to do.
const fn status_words(status: u16) -> &'static str {
    match status {
        407 => "it wants a user and a password; give http://USER:PASSWORD@HOST:PORT",
        400 | 405 | 501 => "it makes no tunnels; name a proxy that takes CONNECT",
        401 | 403 => "it does not allow this target",
        404 | 500..=599 => "it could not reach the target",
        _ => "it opened no tunnel",
    }
}

impl Failure {
    pub(crate) const fn new(class: ErrorClass) -> Self {
        Self { class, cause: Cause::Class }
    }

    pub(crate) const fn said(class: ErrorClass, text: &'static str) -> Self {
        Self { class, cause: Cause::Text(text) }
    }

    pub(crate) fn text(self) -> String {
        match self.cause {
            Cause::Class => words(self.class).to_owned(),
            Cause::System(errno) => errno.to_string(),
            Cause::Status(status) => format!("status {status}"),
            Cause::Malformed(malformed) => malformed.to_string(),
            Cause::Alert(alert) => crate::tls::alert_text(alert),
            Cause::Proxy(proxy, fault) => fault.text(proxy),
            Cause::Text(text) => text.to_owned(),
            Cause::Fault(fault) => fault.to_string(),
            Cause::Message(fault) => fault.to_string(),
            Cause::Code(text, code) => format!("{text} {code}"),
        }
    }
}

/// Foreign bytes as text for people: at most `chars` characters, none of them a control character.
pub(crate) fn clean(bytes: &[u8], chars: usize) -> String {
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(chars * 4)]);
    let shown = text.chars().map(|char| if char.is_control() { '\u{fffd}' } else { char });
    let cut = text.chars().count() > chars || bytes.len() > chars * 4;
    shown.take(chars).chain(cut.then_some('…')).collect()
}

/// What happened, for people, where the system has no text for it.
const fn words(class: ErrorClass) -> &'static str {
    match class {
        ErrorClass::Refused => "the connection was refused",
        ErrorClass::ConnectTimeout => "no connection was established within the connect time-out",
        ErrorClass::Unreachable => "the host or its network cannot be reached",
        ErrorClass::Reset => "the connection was reset",
        ErrorClass::AddressNotAvailable => "no local address or port is left",
        ErrorClass::DescriptorLimit => "no file descriptor is left",
        ErrorClass::NameResolution => "the name does not resolve",
        ErrorClass::Deadline => "the request could not be sent before its deadline",
        ErrorClass::Timeout => "no complete answer came within the time-out",
        ErrorClass::PrematureClose => "the connection ended before the answer was complete",
        ErrorClass::Malformed => "the answer is not HTTP/1.1",
        ErrorClass::UnexpectedStatus => "the status is not an expected one",
        ErrorClass::WrongBody => "the body is not the expected one",
        ErrorClass::Io => "the system refused to read or write",
        ErrorClass::Tls => "TLS failed",
        ErrorClass::Check => "a check of the answer failed",
        ErrorClass::Script => "the script could not make the request",
        ErrorClass::Redirect => "a redirect could not be followed",
        ErrorClass::Proxy => "the proxy did not open a tunnel",
        ErrorClass::RefusedStream => "the server refused the stream",
        ErrorClass::StreamReset => "the server reset the stream",
        ErrorClass::Goaway => "the server left without processing the request",
        ErrorClass::Protocol => "the server broke the protocol",
        ErrorClass::Flood => "the server asked for too much",
        ErrorClass::GrpcCancelled => "the server says that the call was cancelled",
        ErrorClass::GrpcUnknown => "the server failed for an unknown reason",
        ErrorClass::GrpcInvalidArgument => "the server refuses the message of the call",
        ErrorClass::GrpcDeadlineExceeded => "the deadline of the call passed",
        ErrorClass::GrpcNotFound => "the server did not find what the call is about",
        ErrorClass::GrpcAlreadyExists => "what the call was to make exists already",
        ErrorClass::GrpcPermissionDenied => "the caller may not make this call",
        ErrorClass::GrpcResourceExhausted => "a quota or a resource of the server is used up",
        ErrorClass::GrpcFailedPrecondition => "the server is not in the state that the call needs",
        ErrorClass::GrpcAborted => "the server gave the call up, because of a conflict for example",
        ErrorClass::GrpcOutOfRange => "the call goes beyond what there is",
        ErrorClass::GrpcUnimplemented => "the server does not have this method",
        ErrorClass::GrpcInternal => "something is broken in the server",
        ErrorClass::GrpcUnavailable => "the service cannot be reached at present",
        ErrorClass::GrpcDataLoss => "the server has lost data",
        ErrorClass::GrpcUnauthenticated => "the caller is not known to the server",
    }
}

impl From<wire::Malformed> for Failure {
    fn from(malformed: wire::Malformed) -> Self {
        Self { class: ErrorClass::Malformed, cause: Cause::Malformed(malformed) }
    }
}

impl From<wire::http2::Fault> for Failure {
    fn from(fault: wire::http2::Fault) -> Self {
        let class = if fault.is_flood() { ErrorClass::Flood } else { ErrorClass::Protocol };
        Self { class, cause: Cause::Fault(fault) }
    }
}

impl From<wire::grpc::Fault> for Failure {
    fn from(fault: wire::grpc::Fault) -> Self {
        Self { class: ErrorClass::Protocol, cause: Cause::Message(fault) }
    }
}

/// `while_connecting` tells a connection attempt that timed out from a connection that died.
pub(crate) fn classify(errno: Errno, while_connecting: bool) -> Failure {
    let class = match errno {
        Errno::CONNREFUSED => ErrorClass::Refused,
        Errno::TIMEDOUT if while_connecting => ErrorClass::ConnectTimeout,
        Errno::TIMEDOUT => ErrorClass::Timeout,
        Errno::CONNRESET | Errno::PIPE | Errno::CONNABORTED => ErrorClass::Reset,
        Errno::ADDRNOTAVAIL | Errno::ADDRINUSE => ErrorClass::AddressNotAvailable,
        Errno::MFILE | Errno::NFILE => ErrorClass::DescriptorLimit,
        Errno::HOSTUNREACH | Errno::NETUNREACH | Errno::NETDOWN | Errno::HOSTDOWN => ErrorClass::Unreachable,
        _ => ErrorClass::Io,
    };
    Failure { class, cause: Cause::System(errno) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_class_is_shown_as_a_bare_name() {
        for class in ErrorClass::ALL {
            let text = Failure::new(class).text();
            assert!(text.contains(' ') && !text.contains('_'), "{class:?}: {text}");
        }
    }

    #[test]
    fn system_errors_have_their_class() {
        for (errno, connecting, class) in [
            (Errno::CONNREFUSED, true, ErrorClass::Refused),
            (Errno::TIMEDOUT, true, ErrorClass::ConnectTimeout),
            (Errno::TIMEDOUT, false, ErrorClass::Timeout),
            (Errno::CONNRESET, false, ErrorClass::Reset),
            (Errno::ADDRNOTAVAIL, true, ErrorClass::AddressNotAvailable),
            (Errno::MFILE, true, ErrorClass::DescriptorLimit),
            (Errno::NETUNREACH, true, ErrorClass::Unreachable),
            (Errno::NOMEM, false, ErrorClass::Io),
        ] {
            assert_eq!(classify(errno, connecting).class, class, "{errno:?}");
        }
    }
}
