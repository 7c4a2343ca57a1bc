//! One blocking GET over a fresh connection, for a target's own metrics.
//!
//! Invariants: the whole exchange ends within the time-out, also where the server sends one byte at a time; head and
//! body are limited; the request is HTTP/1.0 with `Connection: close`, so an answer is never chunked.
//! Absent on purpose: TLS, redirects, keep-alive, chunked bodies, and other statuses than 200. Load goes through the
//! engine, never through this.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

/// Longest status line with headers.
const HEAD_BYTES_MAX: usize = 16 << 10;
const HEADERS_MAX: usize = 64;

/// Why there is no body.
#[derive(Debug, thiserror::Error)]
pub enum GetError {
    /// Host or path with blanks or control characters.
    #[error("host or path has a blank or a control character; correct it in the target's manifest")]
    BadRequest,
    /// No connection.
    #[error("cannot connect: {0}; check that the target runs and listens there")]
    Connect(#[source] io::Error),
    /// The connection broke.
    #[error("the connection broke: {0}; look at the target's log")]
    Broken(#[source] io::Error),
    /// The time was over.
    #[error("no full answer within {timeout_ms} ms; the target hangs or is overloaded")]
    TimedOut {
        /// Time allowed.
        timeout_ms: u128,
    },
    /// Too much.
    #[error("the answer has more than {limit_bytes} bytes; serve less on this path")]
    TooLong {
        /// The limit.
        limit_bytes: usize,
    },
    /// No HTTP.
    #[error("the answer is not HTTP/1: {0}; check the address and the path")]
    Malformed(&'static str),
    /// Another status than 200.
    #[error("the answer has status {0}; check the path in the target's manifest")]
    Status(u16),
    /// A body that this small client does not read.
    #[error("the answer to an HTTP/1.0 request is chunked; the server must not do that")]
    Chunked,
    /// The server closed before the body was whole.
    #[error("the server closed after {got_bytes} of {promised_bytes} body bytes; look at the target's log")]
    Short {
        /// Bytes that came.
        got_bytes: usize,
        /// Content-Length.
        promised_bytes: usize,
    },
}

/// The body of `GET path`, where the answer has status 200 and the body at most `limit` bytes.
///
/// # Errors
/// Where the server does not give such an answer within `timeout`, counted over the whole exchange.
pub fn get(
    addr: SocketAddr,
    host: &str,
    path: &str,
    timeout: Duration,
    limit: usize,
) -> Result<Vec<u8>, GetError> {
    let is_clean = |text: &str| text.bytes().all(|byte| byte.is_ascii_graphic());
    if !is_clean(host) || !is_clean(path) || !path.starts_with('/') {
        return Err(GetError::BadRequest);
    }
    let deadline = Deadline { end: Instant::now() + timeout, timeout };
    let mut stream =
        TcpStream::connect_timeout(&addr, deadline.left()?).map_err(|error| match error.kind() {
            io::ErrorKind::TimedOut => deadline.passed(),
            _ => GetError::Connect(error),
        })?;
    let request = format!("GET {path} HTTP/1.0\r\nHost: {host}\r\nConnection: close\r\nAccept: */*\r\n\r\n");
    stream.set_write_timeout(Some(deadline.left()?)).map_err(GetError::Broken)?;
    stream.write_all(request.as_bytes()).map_err(|error| deadline.classed(error))?;
    receive(&mut stream, &deadline, limit)
}

fn receive(stream: &mut TcpStream, deadline: &Deadline, limit: usize) -> Result<Vec<u8>, GetError> {
    let mut received = Vec::new();
    let mut head = None;
    loop {
        if head.is_none() {
            head = parse_head(&received)?;
        }
        if let Some(head) = &head {
            let body_bytes = received.len() - head.bytes;
            if body_bytes > limit || head.body_bytes.is_some_and(|promised| promised > limit) {
                return Err(GetError::TooLong { limit_bytes: limit });
            }
            if head.body_bytes.is_some_and(|promised| body_bytes >= promised) {
                return Ok(head.cut_body(received));
            }
        }
        if read_some(stream, deadline, &mut received)? == 0 {
            return at_end(head, received);
        }
    }
}

/// The server closed: fine only for a body that has no stated length.
fn at_end(head: Option<Head>, received: Vec<u8>) -> Result<Vec<u8>, GetError> {
    let head = head.ok_or(GetError::Malformed("it ends within its headers"))?;
    match head.body_bytes {
        None => Ok(head.cut_body(received)),
        Some(promised_bytes) => {
            Err(GetError::Short { got_bytes: received.len() - head.bytes, promised_bytes })
        }
    }
}

fn read_some(stream: &mut TcpStream, deadline: &Deadline, into: &mut Vec<u8>) -> Result<usize, GetError> {
    let mut chunk = [0_u8; 16 << 10];
    loop {
        stream.set_read_timeout(Some(deadline.left()?)).map_err(GetError::Broken)?;
        match stream.read(&mut chunk) {
            Ok(count) => {
                into.extend_from_slice(&chunk[..count]);
                return Ok(count);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(deadline.classed(error)),
        }
    }
}

/// What the status line and the headers say.
struct Head {
    /// Length of the head itself.
    bytes: usize,
    /// Content-Length, where there is one.
    body_bytes: Option<usize>,
}

impl Head {
    fn cut_body(&self, mut received: Vec<u8>) -> Vec<u8> {
        let mut body = received.split_off(self.bytes);
        body.truncate(self.body_bytes.unwrap_or(usize::MAX));
        body
    }
}

/// Nothing while the head is not whole.
fn parse_head(received: &[u8]) -> Result<Option<Head>, GetError> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut response = httparse::Response::new(&mut headers);
    let bytes = match response.parse(received) {
        Ok(httparse::Status::Complete(bytes)) => bytes,
        Ok(httparse::Status::Partial) if received.len() > HEAD_BYTES_MAX => {
            return Err(GetError::Malformed("its headers are too long"));
        }
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(_) => return Err(GetError::Malformed("bad status line or header")),
    };
    match response.code {
        Some(200) => {}
        other => return Err(GetError::Status(other.unwrap_or(0))),
    }
    let mut body_bytes = None;
    for header in response.headers.iter() {
        if header.name.eq_ignore_ascii_case("transfer-encoding") {
            return Err(GetError::Chunked);
        }
        if header.name.eq_ignore_ascii_case("content-length") {
            let text = std::str::from_utf8(header.value).ok();
            let length = text.and_then(|text| text.trim().parse().ok());
            body_bytes = Some(length.ok_or(GetError::Malformed("its Content-Length is no number"))?);
        }
    }
    Ok(Some(Head { bytes, body_bytes }))
}

struct Deadline {
    end: Instant,
    timeout: Duration,
}

impl Deadline {
    /// Time left, never zero: the socket calls take zero for "for ever".
    fn left(&self) -> Result<Duration, GetError> {
        let left = self.end.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(self.passed()) } else { Ok(left) }
    }

    fn passed(&self) -> GetError {
        GetError::TimedOut { timeout_ms: self.timeout.as_millis() }
    }

    fn classed(&self, error: io::Error) -> GetError {
        match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => self.passed(),
            _ => GetError::Broken(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;
    use std::thread;

    const LIMIT_BYTES: usize = 1_000;

    /// Serves `answer` once and closes; gives what the client made of it and the request it sent.
    fn exchange(answer: &[u8]) -> (Result<Vec<u8>, GetError>, String) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let addr = listener.local_addr().unwrap();
        let answer = answer.to_vec();
        let server = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = Vec::new();
            while !request.ends_with(b"\r\n\r\n") {
                let mut byte = [0];
                stream.read_exact(&mut byte).unwrap();
                request.push(byte[0]);
            }
            // The client may have gone already, for example after a bad status line.
            let _ = stream.write_all(&answer);
            String::from_utf8(request).unwrap()
        });
        let result = get(addr, "target.test", "/metrics", Duration::from_secs(10), LIMIT_BYTES);
        (result, server.join().unwrap())
    }

    #[test]
    fn bodies_by_length_and_by_close() {
        let (body, request) = exchange(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi, and more");
        assert_eq!(body.unwrap(), b"hi");
        assert!(request.starts_with("GET /metrics HTTP/1.0\r\nHost: target.test\r\nConnection: close\r\n"));
        let (body, _) = exchange(b"HTTP/1.0 200 OK\r\n\r\nall of it");
        assert_eq!(body.unwrap(), b"all of it");
    }

    #[test]
    fn bad_answers_are_errors() {
        let check = |answer: &[u8], part: &str| {
            let message = exchange(answer).0.unwrap_err().to_string();
            assert!(message.contains(part), "{message} lacks {part}");
        };
        check(b"", "ends within its headers");
        check(b"SSH-2.0-OpenSSH\r\n\r\n", "not HTTP/1");
        check(b"HTTP/1.1 404 Not Found\r\n\r\n", "status 404");
        check(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhi", "2 of 9");
        check(b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nhi", "no number");
        check(b"HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n", "more than 1000");
        check(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "chunked");
        check(&[b"HTTP/1.1 200 OK\r\n\r\n".as_slice(), &[b'x'; 1_001]].concat(), "more than 1000");
        check(&[b"HTTP/1.1 200 OK\r\nX: ".as_slice(), &[b'x'; HEAD_BYTES_MAX]].concat(), "too long");
    }

    #[test]
    fn a_server_that_never_answers_costs_the_timeout_only() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let result = get(listener.local_addr().unwrap(), "h", "/", Duration::from_millis(20), LIMIT_BYTES);
        assert!(matches!(result, Err(GetError::TimedOut { timeout_ms: 20 })), "{result:?}");
    }

    #[test]
    fn a_server_that_drips_is_cut_off() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let addr = listener.local_addr().unwrap();
        let server = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").unwrap();
            while stream.write_all(b"x").is_ok() {
                thread::yield_now();
            }
        });
        let result = get(addr, "h", "/", Duration::from_millis(50), usize::MAX);
        assert!(matches!(result, Err(GetError::TimedOut { .. })), "{result:?}");
        server.join().unwrap();
    }

    #[test]
    fn nothing_listens_and_nothing_is_smuggled() {
        let addr = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let result = get(addr, "h", "/", Duration::from_secs(10), LIMIT_BYTES);
        assert!(matches!(result, Err(GetError::Connect(_))), "{result:?}");
        for (host, path) in [("h", "/ HTTP/1.1\r\nX: y"), ("h\r\nX: y", "/"), ("h", "metrics")] {
            assert!(matches!(
                get(addr, host, path, Duration::from_secs(10), LIMIT_BYTES),
                Err(GetError::BadRequest)
            ));
        }
    }
}
