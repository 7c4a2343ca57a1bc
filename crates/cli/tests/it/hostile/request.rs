//! A minimal reader of HTTP/1.1 requests, written for this suite and strict: whatever prony sends must be whole, in
//! order and undamaged. Shares nothing with `wire`.
//!
//! Absent on purpose: limits. The one peer is prony, and a test's guard ends what never ends.

use std::io::Read;
use std::net::TcpStream;

/// The byte that bodies are filled with, so that a damaged one is seen.
pub(super) const FILLER: u8 = b'x';

/// A header section.
#[derive(Debug)]
pub(super) struct Head {
    pub(super) method: String,
    pub(super) target: String,
    length: u64,
    is_chunked: bool,
}

/// Why no further request can be read.
#[derive(Debug)]
pub(super) enum Broken {
    /// The connection ended within a request.
    Cut,
    /// Not a request.
    Wrong(String),
}

/// Reads requests from one connection.
pub(super) struct Reader {
    stream: TcpStream,
    buffer: Vec<u8>,
    at: usize,
    /// Bytes that came.
    pub(super) bytes: u64,
}

impl Reader {
    pub(super) fn new(stream: TcpStream) -> Self {
        Self { stream, buffer: Vec::new(), at: 0, bytes: 0 }
    }

    /// Waits for more bytes. Returns whether any came.
    fn fill(&mut self) -> bool {
        self.buffer.drain(..self.at);
        self.at = 0;
        let before = self.buffer.len();
        self.buffer.resize(before + 64 * 1024, 0);
        let taken = self.stream.read(&mut self.buffer[before..]).unwrap_or(0);
        self.buffer.truncate(before + taken);
        self.bytes += taken as u64;
        taken > 0
    }

    /// The next header section; `None` where the connection ended before one began.
    pub(super) fn head(&mut self) -> Result<Option<Head>, Broken> {
        loop {
            let rest = &self.buffer[self.at..];
            if let Some(end) = rest.windows(4).position(|four| four == b"\r\n\r\n") {
                let head = head_of(&rest[..end])?;
                self.at += end + 4;
                return Ok(Some(head));
            }
            let is_between = rest.is_empty();
            if !self.fill() {
                return if is_between { Ok(None) } else { Err(Broken::Cut) };
            }
        }
    }

    /// Reads the body that `head` announces and checks what it is filled with.
    pub(super) fn body(&mut self, head: &Head) -> Result<(), Broken> {
        if !head.is_chunked {
            return self.part(head.length, true).map(drop);
        }
        let mut is_first = true;
        loop {
            let line = self.line()?;
            let size = u64::from_str_radix(&line, 16)
                .map_err(|_| Broken::Wrong(format!("a chunk of size `{line}`")))?;
            if size == 0 {
                return match self.line()? {
                    line if line.is_empty() => Ok(()),
                    line => Err(Broken::Wrong(format!("a trailer `{line}`"))),
                };
            }
            self.part(size, is_first)?;
            is_first = false;
            match self.line()? {
                line if line.is_empty() => {}
                line => return Err(Broken::Wrong(format!("`{line}` after a chunk"))),
            }
        }
    }

    /// Reads so many bytes of a body. A body may begin with a text that ends with a colon.
    fn part(&mut self, length: u64, may_begin: bool) -> Result<(), Broken> {
        let (mut left, mut is_begin) = (length, may_begin);
        while left > 0 {
            if self.at == self.buffer.len() && !self.fill() {
                return Err(Broken::Cut);
            }
            let rest = &self.buffer[self.at..];
            let take = usize::try_from(left).unwrap_or(usize::MAX).min(rest.len());
            let part = &rest[..take];
            let skip = match part.iter().take(40).position(|byte| *byte == b':') {
                Some(colon) if is_begin => colon + 1,
                _ => 0,
            };
            if let Some(wrong) = not_filler(&part[skip..]) {
                return Err(Broken::Wrong(format!("a body holds {:?}", String::from_utf8_lossy(wrong))));
            }
            is_begin = false;
            self.at += take;
            left -= take as u64;
        }
        Ok(())
    }

    fn line(&mut self) -> Result<String, Broken> {
        loop {
            let rest = &self.buffer[self.at..];
            if let Some(end) = rest.windows(2).position(|two| two == b"\r\n") {
                let line = String::from_utf8_lossy(&rest[..end]).into_owned();
                self.at += end + 2;
                return Ok(line);
            }
            if !self.fill() {
                return Err(Broken::Cut);
            }
        }
    }

    /// Reads to the end of the connection without looking.
    pub(super) fn drain(&mut self) {
        while self.fill() {
            self.at = self.buffer.len();
        }
    }
}

/// The first part of `bytes` that holds anything but filler.
fn not_filler(bytes: &[u8]) -> Option<&[u8]> {
    const FULL: [u8; 4096] = [FILLER; 4096];
    let wrong = bytes.chunks(FULL.len()).find(|chunk| **chunk != FULL[..chunk.len()])?;
    let at = wrong.iter().position(|byte| *byte != FILLER)?;
    Some(&wrong[at..wrong.len().min(at + 60)])
}

fn head_of(bytes: &[u8]) -> Result<Head, Broken> {
    let wrong = |what: &str| Broken::Wrong(format!("{what}: {:?}", String::from_utf8_lossy(bytes)));
    let text = std::str::from_utf8(bytes).map_err(|_| wrong("no text"))?;
    let mut lines = text.split("\r\n");
    let mut words = lines.next().unwrap_or_default().split(' ');
    let (Some(method), Some(target), Some("HTTP/1.1"), None) =
        (words.next(), words.next(), words.next(), words.next())
    else {
        return Err(wrong("no request line"));
    };
    if !method.bytes().all(|byte| byte.is_ascii_uppercase()) || !target.starts_with('/') {
        return Err(wrong("no method and target"));
    }
    let mut head = Head { method: method.into(), target: target.into(), length: 0, is_chunked: false };
    let mut hosts = 0;
    for line in lines {
        let Some((name, value)) = line.split_once(": ") else { return Err(wrong("no field")) };
        match name.to_ascii_lowercase().as_str() {
            "host" => hosts += 1,
            "content-length" => head.length = value.parse().map_err(|_| wrong("no length"))?,
            "transfer-encoding" => head.is_chunked = value == "chunked",
            _ => {}
        }
    }
    if hosts == 1 { Ok(head) } else { Err(wrong("not one Host")) }
}
