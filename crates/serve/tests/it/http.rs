//! Requests over HTTP/1.0, byte by byte, so that anything can be sent.

use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// Longest that a test waits for one read.
const WAIT: Duration = Duration::from_secs(60);

pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }

    /// The value of a header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let line =
            self.head.lines().find(|line| line.to_ascii_lowercase().starts_with(&format!("{name}:")))?;
        line.split_once(':').map(|(_, value)| value.trim())
    }

    /// An error with its cause and remedy.
    #[track_caller]
    pub(crate) fn refused(&self, status: u16, cause: &str) {
        let text = self.text();
        assert_eq!(self.status, status, "{text}");
        let error = self.json();
        assert!(error["cause"]["text"].as_str().unwrap().contains(cause), "{text}");
        assert!(!error["remedy"]["text"].as_str().unwrap().is_empty(), "{text}");
    }
}

fn connect(addr: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(addr).expect("the lab listens");
    stream.set_read_timeout(Some(WAIT)).unwrap();
    stream.set_write_timeout(Some(WAIT)).unwrap();
    stream
}

/// Sends a request with these header lines and nothing that is not said.
pub(crate) fn ask(addr: SocketAddr, method: &str, path: &str, headers: &[&str], body: &str) -> Answer {
    let mut stream = connect(addr);
    let lines: String = headers.iter().map(|line| format!("{line}\r\n")).collect();
    let length = if body.is_empty() { String::new() } else { format!("Content-Length: {}\r\n", body.len()) };
    write!(stream, "{method} {path} HTTP/1.0\r\n{lines}{length}\r\n{body}").unwrap();
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).expect("the lab answers");
    let split = bytes.windows(4).position(|four| four == b"\r\n\r\n").expect("an answer has a head");
    let head = String::from_utf8_lossy(&bytes[..split]).into_owned();
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
    Answer { status, head, body: bytes[split + 4..].to_vec() }
}

pub(crate) fn get(addr: SocketAddr, path: &str) -> Answer {
    ask(addr, "GET", path, &[&format!("Host: {addr}")], "")
}

/// A change as the lab's own page makes it.
pub(crate) fn change(addr: SocketAddr, method: &str, path: &str, body: &str) -> Answer {
    let (host, origin) = (format!("Host: {addr}"), format!("Origin: http://{addr}"));
    ask(addr, method, path, &[&host, &origin, "X-Prony: 1"], body)
}

/// A stream of events.
pub(crate) struct Events {
    lines: BufReader<TcpStream>,
}

impl Events {
    pub(crate) fn open(addr: SocketAddr, path: &str) -> Self {
        let mut stream = connect(addr);
        write!(stream, "GET {path} HTTP/1.0\r\nHost: {addr}\r\n\r\n").unwrap();
        let mut lines = BufReader::new(stream);
        let mut line = String::new();
        lines.read_line(&mut line).unwrap();
        assert!(line.contains(" 200 "), "{line}");
        while lines.read_line(&mut line).unwrap() > 2 {}
        assert!(line.contains("text/event-stream"), "{line}");
        Self { lines }
    }

    /// The next event; `None` at the end of the stream.
    pub(crate) fn next(&mut self) -> Option<(String, Value)> {
        let mut name = String::new();
        loop {
            let mut line = String::new();
            if self.lines.read_line(&mut line).expect("events come in time") == 0 {
                return None;
            }
            let line = line.trim_end();
            if let Some(event) = line.strip_prefix("event: ") {
                name = event.to_owned();
            } else if let Some(data) = line.strip_prefix("data: ") {
                return Some((name, serde_json::from_str(data).expect("events are JSON")));
            }
        }
    }

    /// The next event of a name; others are passed over.
    #[track_caller]
    pub(crate) fn wait_for(&mut self, wanted: &str) -> Value {
        loop {
            let (name, value) = self.next().unwrap_or_else(|| panic!("the stream ended before `{wanted}`"));
            if name == wanted {
                return value;
            }
        }
    }
}
