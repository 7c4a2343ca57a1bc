//! One HTTP/1.1 exchange over a fresh connection: a small blocking client for readiness and contract.
//!
//! Invariants: one deadline for the whole exchange; the head has at most 64 KiB and 128 fields, the body at most
//! 8 MiB; where the end of the body cannot be told for sure, the answer is malformed (RFC 9112 section 6.3).
//! Absent on purpose: keep-alive, redirects, compression, TLS. Load goes through the engine, not through here.

use httparse::{EMPTY_HEADER, InvalidChunkSize, Response, Status};
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

/// Header fields in an answer.
const FIELDS: usize = 128;
/// Interim answers (1xx) before the final one.
const INTERIM: usize = 8;
/// A chunk's size line, with extensions.
const CHUNK_LINE_BYTES: usize = 4096;
const READ_BYTES: usize = 16 * 1024;

/// Bounds of one exchange.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// For the whole exchange, connecting included.
    pub(crate) timeout: Duration,
    /// Status line and fields; trailers likewise.
    pub(crate) head_bytes: usize,
    /// After decoding.
    pub(crate) body_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { timeout: Duration::from_secs(10), head_bytes: 64 * 1024, body_bytes: 8 * 1024 * 1024 }
    }
}

/// A whole answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// Names in lower case; values without bytes that are no UTF-8.
    pub(crate) headers: Vec<(String, String)>,
    /// Decoded from its framing.
    pub(crate) body: Vec<u8>,
}

/// Why an exchange gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum HttpError {
    /// No connection.
    #[error("no connection to {addr}: {source}")]
    Connect {
        /// The address.
        addr: SocketAddr,
        /// The system's reason.
        source: io::Error,
    },
    /// The deadline passed.
    #[error("no whole answer within {after:?}: timed out {stage}")]
    TimedOut {
        /// The time there was.
        after: Duration,
        /// What was being waited for.
        stage: &'static str,
    },
    /// The connection ended in the middle.
    #[error("the connection was closed {stage}")]
    Closed {
        /// What was being waited for.
        stage: &'static str,
    },
    /// Not HTTP/1.x, or with an unclear end.
    #[error("the answer is not well-formed HTTP/1.1: {0}")]
    Malformed(String),
    /// A limit was passed.
    #[error("the answer is too large: more than {limit} bytes {of}")]
    TooLarge {
        /// The limit.
        limit: usize,
        /// Of what.
        of: &'static str,
    },
    /// The connection failed.
    #[error("the connection failed {stage}: {source}")]
    Io {
        /// What was being done.
        stage: &'static str,
        /// The system's reason.
        source: io::Error,
    },
}

/// Sends `request` as it stands and reads one answer; `head` says that the request was HEAD.
pub(crate) fn exchange(
    addr: SocketAddr,
    request: &[u8],
    head: bool,
    limits: Limits,
) -> Result<Answer, HttpError> {
    let mut wire = Wire::connect(addr, limits)?;
    wire.send(request)?;
    for _ in 0..=INTERIM {
        let (status, headers) = wire.head()?;
        if !(100..200).contains(&status) {
            let body = wire.body(framing(status, &headers, head)?)?;
            return Ok(Answer { status, headers, body });
        }
        if status == 101 {
            return Err(HttpError::Malformed(
                "status 101 switches protocols, which nobody asked for".to_owned(),
            ));
        }
    }
    Err(HttpError::Malformed(format!("more than {INTERIM} interim answers")))
}

/// How the end of a body is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Framing {
    Length(usize),
    Chunked,
    ToClose,
}

/// RFC 9112 section 6.3.
fn framing(status: u16, headers: &[(String, String)], head: bool) -> Result<Framing, HttpError> {
    let values = |name: &str| {
        let name = name.to_owned();
        headers.iter().filter(move |(field, _)| *field == name).map(|(_, value)| value.trim())
    };
    if head || matches!(status, 204 | 304) {
        return Ok(Framing::Length(0));
    }
    let codings: Vec<&str> = values("transfer-encoding").collect();
    if !codings.is_empty() {
        return match codings[..] {
            [coding] if coding.eq_ignore_ascii_case("chunked") => Ok(Framing::Chunked),
            _ => Err(HttpError::Malformed("a transfer coding other than chunked".to_owned())),
        };
    }
    let mut lengths = values("content-length").flat_map(|value| value.split(',')).map(str::trim);
    let Some(length) = lengths.next() else { return Ok(Framing::ToClose) };
    if lengths.any(|other| other != length) {
        return Err(HttpError::Malformed("Content-Length is given twice and differs".to_owned()));
    }
    if length.is_empty() || !length.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(HttpError::Malformed("Content-Length is no number".to_owned()));
    }
    // A number too large for this machine is certainly above the limit.
    Ok(Framing::Length(length.parse().unwrap_or(usize::MAX)))
}

/// A connection with what was read and not yet used.
struct Wire {
    stream: TcpStream,
    deadline: Instant,
    limits: Limits,
    buffer: Vec<u8>,
}

impl Wire {
    fn connect(addr: SocketAddr, limits: Limits) -> Result<Self, HttpError> {
        // Zero is refused by the system's calls; it would mean "for ever" to some of them.
        let timeout = limits.timeout.max(Duration::from_millis(1));
        let deadline = Instant::now() + timeout;
        let stream = TcpStream::connect_timeout(&addr, timeout).map_err(|source| match source.kind() {
            io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => {
                HttpError::TimedOut { after: timeout, stage: "while connecting" }
            }
            _ => HttpError::Connect { addr, source },
        })?;
        Ok(Self { stream, deadline, limits: Limits { timeout, ..limits }, buffer: Vec::new() })
    }

    fn send(&mut self, mut request: &[u8]) -> Result<(), HttpError> {
        let stage = "while the request was sent";
        while !request.is_empty() {
            let left = self.left(stage)?;
            let written = self.stream.set_write_timeout(Some(left)).and_then(|()| self.stream.write(request));
            match written {
                Ok(count) => request = &request[count..],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.failed(error, stage)),
            }
        }
        Ok(())
    }

    /// Reads more; false at the end of the stream.
    fn fill(&mut self, stage: &'static str) -> Result<bool, HttpError> {
        let mut bytes = [0; READ_BYTES];
        loop {
            let left = self.left(stage)?;
            let read = self.stream.set_read_timeout(Some(left)).and_then(|()| self.stream.read(&mut bytes));
            match read {
                Ok(count) => {
                    self.buffer.extend_from_slice(&bytes[..count]);
                    return Ok(count > 0);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.failed(error, stage)),
            }
        }
    }

    fn need_more(&mut self, stage: &'static str) -> Result<(), HttpError> {
        if self.fill(stage)? { Ok(()) } else { Err(HttpError::Closed { stage }) }
    }

    fn left(&self, stage: &'static str) -> Result<Duration, HttpError> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(HttpError::TimedOut { after: self.limits.timeout, stage }) } else { Ok(left) }
    }

    fn failed(&self, source: io::Error, stage: &'static str) -> HttpError {
        match source.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
                HttpError::TimedOut { after: self.limits.timeout, stage }
            }
            _ => HttpError::Io { stage, source },
        }
    }

    /// Status and fields of the next answer.
    fn head(&mut self) -> Result<(u16, Vec<(String, String)>), HttpError> {
        loop {
            if let Some((used, status, headers)) = parse_head(&self.buffer)? {
                self.buffer.drain(..used);
                return Ok((status, headers));
            }
            if self.buffer.len() > self.limits.head_bytes {
                return Err(HttpError::TooLarge { limit: self.limits.head_bytes, of: "before the body" });
            }
            let stage = if self.buffer.is_empty() { "before any answer" } else { "within the header" };
            self.need_more(stage)?;
        }
    }

    fn body(&mut self, framing: Framing) -> Result<Vec<u8>, HttpError> {
        match framing {
            Framing::Length(length) => {
                self.check_body(length)?;
                self.take(length)
            }
            Framing::Chunked => self.chunks(),
            Framing::ToClose => {
                while self.fill("within the body")? {
                    self.check_body(self.buffer.len())?;
                }
                Ok(std::mem::take(&mut self.buffer))
            }
        }
    }

    fn check_body(&self, length: usize) -> Result<(), HttpError> {
        let limit = self.limits.body_bytes;
        if length > limit { Err(HttpError::TooLarge { limit, of: "of body" }) } else { Ok(()) }
    }

    fn take(&mut self, length: usize) -> Result<Vec<u8>, HttpError> {
        while self.buffer.len() < length {
            self.need_more("within the body")?;
        }
        let rest = self.buffer.split_off(length);
        Ok(std::mem::replace(&mut self.buffer, rest))
    }

    /// RFC 9112 section 7.1.
    fn chunks(&mut self) -> Result<Vec<u8>, HttpError> {
        let mut body = Vec::new();
        loop {
            let size = self.chunk_size()?;
            self.check_body(body.len().saturating_add(size))?;
            if size == 0 {
                self.trailers()?;
                return Ok(body);
            }
            body.append(&mut self.take(size)?);
            if self.take(2)? != b"\r\n" {
                return Err(HttpError::Malformed("a chunk is longer than its size".to_owned()));
            }
        }
    }

    fn chunk_size(&mut self) -> Result<usize, HttpError> {
        loop {
            // The library takes an empty line for size 0, which would end the body.
            if self.buffer.first().is_some_and(|byte| !byte.is_ascii_hexdigit()) {
                return Err(HttpError::Malformed("a chunk has no valid size".to_owned()));
            }
            match httparse::parse_chunk_size(&self.buffer) {
                Ok(Status::Complete((used, size))) => {
                    self.buffer.drain(..used);
                    return Ok(usize::try_from(size).unwrap_or(usize::MAX));
                }
                Ok(Status::Partial) if self.buffer.len() <= CHUNK_LINE_BYTES => {
                    self.need_more("within the body")?;
                }
                Ok(Status::Partial) | Err(InvalidChunkSize) => {
                    return Err(HttpError::Malformed("a chunk has no valid size".to_owned()));
                }
            }
        }
    }

    /// Skips the fields after the last chunk, up to the empty line.
    fn trailers(&mut self) -> Result<(), HttpError> {
        let mut skipped = 0;
        loop {
            while let Some(end) = self.buffer.windows(2).position(|pair| pair == b"\r\n") {
                self.buffer.drain(..end + 2);
                if end == 0 {
                    return Ok(());
                }
                skipped += end + 2;
            }
            if skipped + self.buffer.len() > self.limits.head_bytes {
                return Err(HttpError::TooLarge { limit: self.limits.head_bytes, of: "after the body" });
            }
            self.need_more("within the trailers")?;
        }
    }
}

type Head = (usize, u16, Vec<(String, String)>);

/// Bytes used, status and fields; `None` where the head is not yet whole.
fn parse_head(bytes: &[u8]) -> Result<Option<Head>, HttpError> {
    let mut fields = [EMPTY_HEADER; FIELDS];
    let mut response = Response::new(&mut fields);
    let used = match response.parse(bytes) {
        Ok(Status::Complete(used)) => used,
        Ok(Status::Partial) => return Ok(None),
        Err(error) => return Err(HttpError::Malformed(error.to_string())),
    };
    let headers = response
        .headers
        .iter()
        .map(|field| (field.name.to_ascii_lowercase(), String::from_utf8_lossy(field.value).into_owned()))
        .collect();
    Ok(Some((used, response.code.unwrap_or_default(), headers)))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use std::net::TcpListener;
    use std::thread;

    /// A server that reads a request's head and then sends `bytes` and closes, for so many connections.
    pub(crate) fn answer_each(bytes: &[u8], connections: usize) -> SocketAddr {
        let bytes = bytes.to_vec();
        serve(connections, move |mut stream| {
            let _ = stream.write_all(&bytes);
        })
    }

    /// A server that reads a request's head and hands the connection to `answer`.
    pub(crate) fn serve(connections: usize, answer: impl Fn(TcpStream) + Send + 'static) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let addr = listener.local_addr().unwrap();
        thread::spawn(move || {
            for stream in listener.incoming().take(connections).map_while(Result::ok) {
                let mut seen = Vec::new();
                let mut byte = [0];
                while !seen.ends_with(b"\r\n\r\n") && (&stream).read(&mut byte).is_ok_and(|count| count == 1)
                {
                    seen.push(byte[0]);
                }
                answer(stream);
            }
        });
        addr
    }

    fn get(bytes: &[u8], head: bool) -> Result<Answer, HttpError> {
        let request = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n";
        exchange(answer_each(bytes, 1), request, head, Limits::default())
    }

    fn check_body(answer: &str, expected: &str) {
        let got = get(answer.as_bytes(), false).unwrap_or_else(|error| panic!("{answer:?}: {error}"));
        assert_eq!(String::from_utf8(got.body).unwrap(), expected, "{answer:?}");
    }

    #[test]
    fn every_way_to_end_a_body_is_understood() {
        check_body("HTTP/1.1 200 OK\r\ncontent-LENGTH: 3\r\n\r\nabcde", "abc");
        check_body("HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\nabc", "abc");
        check_body("HTTP/1.0 200 OK\r\n\r\nto the end", "to the end");
        check_body(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n3;x=y\r\nabc\r\nA\r\n0123456789\r\n0\r\nT: v\r\n\r\n",
            "abc0123456789",
        );
        check_body(
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nL: x\r\n\r\nHTTP/1.1 204 No\r\n\r\n",
            "",
        );
        assert_eq!(get(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", true).unwrap().body, b"");
    }

    #[test]
    fn hostile_answers_are_classed_errors() {
        let huge = format!("HTTP/1.1 200 OK\r\nX: {}\r\n\r\n", "x".repeat(100_000));
        let many = format!("HTTP/1.1 200 OK\r\n{}\r\n", "X: y\r\n".repeat(200));
        let interim = "HTTP/1.1 100 Continue\r\n\r\n".repeat(20);
        for (answer, expected) in [
            ("", "the connection was closed before any answer"),
            ("HTTP/1.1 200 OK\r\nContent-Le", "the connection was closed within the header"),
            ("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", "the connection was closed within the body"),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc", "closed within the body"),
            (
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nA: b\r\n",
                "closed within the trailers",
            ),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "a chunk has no valid size"),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\r\n\r\n", "a chunk has no valid size"),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n", "longer than its size"),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFF\r\n", "too large"),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n", "other than chunked"),
            (
                "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
                "given twice and differs",
            ),
            ("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "no number"),
            ("HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999999\r\n\r\n", "too large"),
            ("HTTP/1.1 101 Switching Protocols\r\n\r\n", "status 101"),
            ("SSH-2.0-OpenSSH_9.9\r\n", "not well-formed"),
            ("\0\u{1}\u{2}garbage", "not well-formed"),
            (huge.as_str(), "more than 65536 bytes before the body"),
            (many.as_str(), "not well-formed"),
            (interim.as_str(), "interim"),
        ] {
            let text = get(answer.as_bytes(), false).expect_err(answer).to_string();
            assert!(text.contains(expected), "{answer:.60}: {text}");
        }
    }

    #[test]
    fn a_body_without_end_stops_at_the_limit() {
        let addr = serve(1, |mut stream| {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
            while stream.write_all(&[b'x'; 4096]).is_ok() {}
        });
        let error = exchange(addr, b"GET / HTTP/1.1\r\n\r\n", false, Limits::default()).unwrap_err();
        assert!(matches!(error, HttpError::TooLarge { of: "of body", .. }), "{error}");
    }

    #[test]
    fn silence_ends_at_the_deadline() {
        // Accepted by the kernel's backlog, never answered.
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let limits = Limits { timeout: Duration::from_millis(30), ..Limits::default() };
        let addr = listener.local_addr().unwrap();
        let error = exchange(addr, b"GET / HTTP/1.1\r\n\r\n", false, limits).unwrap_err();
        assert_eq!(error.to_string(), "no whole answer within 30ms: timed out before any answer");
        drop(listener);
        assert!(matches!(exchange(addr, b"", false, limits), Err(HttpError::Connect { .. })));
    }
}
