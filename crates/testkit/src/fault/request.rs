//! Reading requests: where one begins and ends, from whatever a client sends.
//!
//! Invariant: what is kept of a request is bounded; its body is counted and thrown away.

use crate::channel::Channel;

/// Longest header section of a request.
const HEAD_BYTES_MAX: usize = 64 * 1024;
const FIELDS_MAX: usize = 128;

/// What the server needs to know of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) is_head: bool,
    pub(super) close: bool,
    body_bytes: u64,
}

/// Why there is no request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoRequest {
    /// The client is gone, or the server stops.
    Gone,
    /// It is none that this server understands.
    Bad,
}

/// Bytes of one connection that have been read and not used.
#[derive(Debug, Default)]
pub(super) struct Requests {
    unused: Vec<u8>,
}

impl Requests {
    /// Waits until the first byte of the next request is there.
    pub(super) fn wait(&self, channel: &mut dyn Channel) -> bool {
        !self.unused.is_empty() || channel.wait()
    }

    /// Reads the next header section.
    pub(super) fn head(&mut self, channel: &mut dyn Channel) -> Result<Head, NoRequest> {
        let mut bytes = vec![0; 16 * 1024];
        loop {
            if let Some((length, head)) = parse(&self.unused)? {
                self.unused.drain(..length);
                return Ok(head);
            }
            if self.unused.len() > HEAD_BYTES_MAX {
                return Err(NoRequest::Bad);
            }
            match channel.read(&mut bytes) {
                Some(taken) if taken > 0 => self.unused.extend_from_slice(&bytes[..taken]),
                _ => return Err(NoRequest::Gone),
            }
        }
    }

    /// Reads and forgets the body of the request that `head` began. False when the client is gone before its end.
    pub(super) fn body(&mut self, head: &Head, channel: &mut dyn Channel) -> bool {
        let have = head.body_bytes.min(self.unused.len() as u64) as usize;
        self.unused.drain(..have);
        let mut left = head.body_bytes - have as u64;
        if left == 0 {
            return true;
        }
        let mut bytes = vec![0; 256 * 1024];
        while left > 0 {
            let most = left.min(bytes.len() as u64) as usize;
            match channel.read(&mut bytes[..most]) {
                Some(taken) if taken > 0 => left -= taken as u64,
                _ => return false,
            }
        }
        true
    }
}

/// The header section at the front of `bytes`, once it is whole.
fn parse(bytes: &[u8]) -> Result<Option<(usize, Head)>, NoRequest> {
    let mut fields = [httparse::EMPTY_HEADER; FIELDS_MAX];
    let mut request = httparse::Request::new(&mut fields);
    let length = match request.parse(bytes) {
        Ok(httparse::Status::Complete(length)) => length,
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(_) => return Err(NoRequest::Bad),
    };
    let mut head =
        Head { is_head: request.method == Some("HEAD"), close: request.version == Some(0), body_bytes: 0 };
    for field in request.headers.iter() {
        let value = field.value.trim_ascii();
        if field.name.eq_ignore_ascii_case("content-length") {
            head.body_bytes =
                std::str::from_utf8(value).ok().and_then(|text| text.parse().ok()).ok_or(NoRequest::Bad)?;
        } else if field.name.eq_ignore_ascii_case("transfer-encoding") {
            return Err(NoRequest::Bad);
        } else if field.name.eq_ignore_ascii_case("connection") {
            head.close |= value.eq_ignore_ascii_case(b"close");
        }
    }
    Ok(Some((length, head)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_read_and_what_is_none_is_refused() {
        let head = |text: &str| {
            parse(text.as_bytes()).map(|found| found.map(|(length, head)| (length, head.body_bytes)))
        };
        assert_eq!(head("GET / HTTP/1.1\r\n\r\nGET"), Ok(Some((18, 0))));
        assert_eq!(head("POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\n"), Ok(Some((38, 5))));
        assert_eq!(head("GET / HTTP/1.1\r\nHost"), Ok(None));
        for bad in [
            "\x16\x03\x01\x02\x00\x01",
            "GET / HTTP/1.1\r\nContent-Length: -5\r\n\r\n",
            "GET / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n",
            "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
        ] {
            assert_eq!(head(bad), Err(NoRequest::Bad), "{bad:?}");
        }
        assert!(
            parse(b"HEAD / HTTP/1.0\r\n\r\n").unwrap().is_some_and(|(_, head)| head.is_head && head.close)
        );
    }
}
