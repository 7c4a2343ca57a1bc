//! When a target is ready: after its first good answer.

use crate::TargetError;
use crate::guard::Guard;
use probe::Limits;
use schema::plan::HttpVersion;
use schema::target::Ready;
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};
use units::Nanos;

/// Default of `ready.timeout`.
const READY_TIMEOUT: Nanos = Nanos::from_secs(10);
/// One readiness probe may not take longer.
const PROBE_TIMEOUT: Duration = Duration::from_secs(1);
/// Longest body of a readiness answer.
const BODY_BYTES_MAX: usize = 8 << 20;
/// Wait after the first probe; half as much again after each, up to the largest. Bounds the error of `ready_ns`.
const FIRST_PAUSE: Duration = Duration::from_millis(1);
const LARGEST_PAUSE: Duration = Duration::from_millis(20);

/// Why a target did not become ready.
pub(crate) enum Unready {
    Ended,
    TimedOut { timeout: Nanos, last: String },
}

/// Probes until the first good answer: nanoseconds since the program was last executed.
pub(crate) fn await_ready(guard: &Guard, ready: &Ready, addr: SocketAddr) -> Result<u64, Unready> {
    let (_, executed) = guard.started().ok_or(Unready::Ended)?;
    let timeout = ready.timeout.unwrap_or(READY_TIMEOUT);
    let deadline = executed + timeout.to_duration();
    let mut pause = FIRST_PAUSE;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let probed = probe(addr, ready, left.clamp(FIRST_PAUSE, PROBE_TIMEOUT));
        let ready_ns = Nanos::from(executed.elapsed()).0;
        // Checked after the probe: a good answer while our target is dead came from somebody else's server.
        if !guard.is_alive() {
            return Err(Unready::Ended);
        }
        let last = match probed {
            Ok(()) => return Ok(ready_ns),
            Err(last) => last,
        };
        if Instant::now() >= deadline {
            return Err(Unready::TimedOut { timeout, last });
        }
        if guard.wait_for_end(pause) {
            return Err(Unready::Ended);
        }
        pause = (pause * 3 / 2).min(LARGEST_PAUSE);
    }
}

/// One attempt: SERVING by `grpc.health.v1`, a status 200 from the path, or an accepted connection.
pub(crate) fn probe(addr: SocketAddr, ready: &Ready, timeout: Duration) -> Result<(), String> {
    let limits = Limits { timeout, body_bytes: BODY_BYTES_MAX };
    match &ready.path {
        _ if ready.grpc => probe::grpc::serves(addr, None, limits)
            .map_err(|error| format!("Check of grpc.health.v1.Health: {error}")),
        Some(path) => {
            let got = match ready.http.unwrap_or_default() {
                HttpVersion::V1_1 => probe::get(addr, path, limits),
                HttpVersion::V2 => probe::get_by_http2(addr, path, limits),
            };
            got.map(drop).map_err(|error| format!("GET {path}: {error}"))
        }
        None => TcpStream::connect_timeout(&addr, timeout).map(drop).map_err(|error| error.to_string()),
    }
}

/// Whether a server that prony did not start accepts connections.
///
/// # Errors
/// It does not within `timeout`.
pub fn reachable(addr: SocketAddr, timeout: Duration) -> Result<(), TargetError> {
    let timeout = timeout.max(FIRST_PAUSE);
    TcpStream::connect_timeout(&addr, timeout)
        .map(drop)
        .map_err(|source| TargetError::Unreachable { addr, source })
}

#[cfg(test)]
mod tests {
    use super::*;
    use testkit::http2;
    use testkit::script::{Act, Scripted};

    #[test]
    fn readiness_by_path_wants_status_200() {
        let outcome = |status: &str| {
            let answer = format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n");
            let server = Scripted::start(vec![Act::AwaitRequest, Act::send(&answer)]);
            let ready = Ready { path: Some("/health".to_owned()), ..Ready::default() };
            probe(server.addr(), &ready, Duration::from_secs(5))
        };
        let error = outcome("503 Busy").unwrap_err();
        assert_eq!(error, "GET /health: the answer has status 503, not 200; check the path");
        assert_eq!(outcome("200 OK"), Ok(()));
    }

    #[test]
    fn a_server_of_http2_alone_is_asked_over_it() {
        let ready = Ready { path: Some("/".to_owned()), http: Some(HttpVersion::V2), ..Ready::default() };
        let outcome = |status: u8| {
            let answer = http2::frame(1, 5, 1, &[status]);
            let acts = vec![http2::Act::Settings(vec![]), http2::Act::Await(1), http2::Act::Send(answer)];
            probe(http2::Raw::start(vec![acts]).addr(), &ready, Duration::from_secs(5))
        };
        assert_eq!(outcome(0x88), Ok(()));
        assert_eq!(
            outcome(0x8d),
            Err("GET /: the answer has status 404, not 200; check the path".to_owned())
        );
    }

    #[test]
    fn a_server_of_grpc_is_ready_once_it_serves() {
        let ready = Ready { grpc: true, ..Ready::default() };
        let outcome = |message: &'static [u8], status: &str| {
            let answer = http2::call_answer(1, message, status);
            let acts = vec![http2::Act::Settings(vec![]), http2::Act::Await(1), http2::Act::Send(answer)];
            probe(http2::Raw::start(vec![acts]).addr(), &ready, Duration::from_secs(5))
        };
        assert_eq!(outcome(&[8, 1], "0"), Ok(()));
        assert!(outcome(&[8, 2], "0").unwrap_err().contains("does not serve"));
        let error = outcome(&[], "12").unwrap_err();
        assert_eq!(error, "Check of grpc.health.v1.Health: grpc-status 12 UNIMPLEMENTED");
    }

    #[test]
    fn a_server_that_is_not_there_is_named() {
        let addr = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let text = reachable(addr, Duration::from_secs(5)).unwrap_err().to_string();
        assert!(text.starts_with(&format!("nothing accepts connections at {addr}")), "{text}");
    }
}
