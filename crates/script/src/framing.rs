//! How many HTTP/1.1 requests a script's text is. wrk asks its parser once, and expects that many answers each time.
//!
//! Absent on purpose: opinions on methods, targets and fields beyond what framing needs. A script may send nonsense.

/// Why a text is not a whole number of requests, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    cause: &'static str,
    at: usize,
}

impl Fault {
    /// With line and column of `text`, both from 1, as wrk names them.
    pub(crate) fn describe(self, text: &[u8]) -> String {
        let before = &text[..self.at.min(text.len())];
        let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
        let column = 1 + before.iter().rev().take_while(|byte| **byte != b'\n').count();
        format!("{} at {line}:{column}", self.cause)
    }
}

/// The number of requests that `text` is, at least 1.
pub(crate) fn count(text: &[u8]) -> Result<usize, Fault> {
    let (mut at, mut requests) = (0, 0);
    loop {
        // Empty lines between requests are allowed (RFC 9112 §2.2).
        at += text[at..].iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
        if at == text.len() && requests > 0 {
            return Ok(requests);
        }
        at += one(&text[at..]).map_err(|fault| Fault { at: at + fault.at, ..fault })?;
        requests += 1;
    }
}

/// The length of the first request.
fn one(text: &[u8]) -> Result<usize, Fault> {
    let incomplete = Fault { cause: "incomplete request", at: text.len() };
    let mut fields = [httparse::EMPTY_HEADER; 128];
    let mut head = httparse::Request::new(&mut fields);
    let head_bytes = match head.parse(text) {
        Ok(httparse::Status::Complete(bytes)) => bytes,
        Ok(httparse::Status::Partial) => return Err(incomplete),
        Err(error) => return Err(Fault { cause: cause(error), at: 0 }),
    };
    let field = |name: &str| head.headers.iter().find(|field| field.name.eq_ignore_ascii_case(name));
    let body_bytes = if field("Transfer-Encoding").is_some() {
        chunked(&text[head_bytes..]).ok_or(incomplete)?
    } else if let Some(length) = field("Content-Length") {
        let length = std::str::from_utf8(length.value).ok().and_then(|text| text.trim().parse().ok());
        length.ok_or(Fault { cause: "invalid character in content-length header", at: 0 })?
    } else {
        0
    };
    head_bytes.checked_add(body_bytes).filter(|end| *end <= text.len()).ok_or(incomplete)
}

const fn cause(error: httparse::Error) -> &'static str {
    match error {
        httparse::Error::HeaderName | httparse::Error::HeaderValue => "invalid character in header",
        httparse::Error::TooManyHeaders => "more than 128 header fields",
        httparse::Error::Version => "invalid HTTP version",
        _ => "invalid request line",
    }
}

/// The length of a chunked body up to the end of its trailer section.
fn chunked(text: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        let line = line(&text[at..])?;
        let digits = line.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
        let size = usize::from_str_radix(std::str::from_utf8(&line[..digits]).ok()?, 16).ok()?;
        at += line.len() + 2;
        if size == 0 {
            break;
        }
        at = at.checked_add(size)?.checked_add(2).filter(|end| *end <= text.len())?;
    }
    loop {
        let line = line(&text[at..])?;
        at += line.len() + 2;
        if line.is_empty() {
            return Some(at);
        }
    }
}

/// Up to CR LF, without it.
fn line(text: &[u8]) -> Option<&[u8]> {
    text.windows(2).position(|pair| pair == b"\r\n").map(|end| &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts() {
        let get = "GET / HTTP/1.1\r\nHost: h\r\n\r\n";
        let post = "POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc";
        let chunks = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3;x\r\nabc\r\n0\r\nT: 1\r\n\r\n";
        for (text, expected) in [
            (get.to_owned(), 1),
            (get.repeat(3), 3),
            (format!("{post}{get}"), 2),
            (format!("{post}\r\n{get}"), 2),
            (format!("{chunks}{get}"), 2),
        ] {
            assert_eq!(count(text.as_bytes()), Ok(expected), "{text:?}");
        }
    }

    #[test]
    fn faults_have_their_place() {
        for (text, expected) in [
            ("", "incomplete request at 1:1"),
            ("GET / HTTP/1.1\r\nHost: a\r\n", "incomplete request at 3:1"),
            ("GET / HTTP/1.1\r\nHost a\r\n\r\n", "invalid character in header at 1:1"),
            ("POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\nab", "incomplete request at 4:3"),
            (
                "POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n",
                "invalid character in content-length header at 1:1",
            ),
            ("POST / HTTP/1.1\r\nContent-Length: 18446744073709551615\r\n\r\n", "incomplete request at 4:1"),
            (
                "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n",
                "incomplete request at 5:1",
            ),
            ("GET / HTTP/1.1\r\n\r\nrubbish\r\n", "invalid request line at 3:1"),
        ] {
            let fault = count(text.as_bytes()).unwrap_err();
            assert_eq!(fault.describe(text.as_bytes()), expected, "{text:?}");
        }
    }
}
