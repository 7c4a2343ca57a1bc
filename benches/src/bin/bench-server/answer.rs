//! The answers, rendered once, and which path asks for which.

use std::rc::Rc;

/// Bytes of the body of `/large`.
const LARGE_BYTES: usize = 64 * 1024;
/// The body of the small answer.
pub(crate) const SMALL_BODY: &[u8] = b"{\"code\":0,\"msg\":\"ok\",\"data\":{}}";
/// Stands before every path of the harness.
const HARNESS: &[u8] = b"/-/";

/// What a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ask {
    /// The small answer.
    Small,
    /// The small answer, with both moments kept.
    Stamped,
    /// The small answer and the end of the connection.
    Last,
    /// 64 KiB.
    Large,
    /// How much was done so far, as text.
    Counts,
    /// Forget all moments and wait for requests without sleeping.
    StampsBegin,
    /// All moments, as numbers of 8 bytes; then sleep again between requests.
    StampsEnd,
    /// No such path.
    Unknown,
}

impl Ask {
    /// Whether the harness asks, and not a generator.
    pub(crate) const fn is_control(self) -> bool {
        matches!(self, Self::Counts | Self::StampsBegin | Self::StampsEnd)
    }

    /// What a head asks for; only GET is known.
    pub(crate) fn of(head: &[u8]) -> Self {
        let Some(rest) = head.strip_prefix(b"GET ") else { return Self::Unknown };
        let path = rest.split(|byte| *byte == b' ').next().unwrap_or_default();
        match path {
            b"/ping" => Self::Small,
            b"/stamp" => Self::Stamped,
            b"/close" => Self::Last,
            b"/large" => Self::Large,
            _ => match path.strip_prefix(HARNESS) {
                Some(b"counts") => Self::Counts,
                Some(b"stamps/begin") => Self::StampsBegin,
                Some(b"stamps/end") => Self::StampsEnd,
                _ => Self::Unknown,
            },
        }
    }
}

/// All answers that never change.
#[derive(Debug)]
pub(crate) struct Answers {
    pub(crate) small: Rc<[u8]>,
    pub(crate) last: Rc<[u8]>,
    pub(crate) large: Rc<[u8]>,
    pub(crate) unknown: Rc<[u8]>,
    pub(crate) empty: Rc<[u8]>,
}

impl Answers {
    pub(crate) fn new() -> Self {
        let json = "application/json";
        Self {
            small: rendered("200 OK", json, "keep-alive", SMALL_BODY),
            last: rendered("200 OK", json, "close", SMALL_BODY),
            large: rendered("200 OK", "application/octet-stream", "keep-alive", &vec![b'x'; LARGE_BYTES]),
            unknown: rendered("404 Not Found", json, "keep-alive", b"{}"),
            empty: rendered("200 OK", "text/plain", "keep-alive", b""),
        }
    }
}

/// A whole answer. HTTP/1.1 with `Connection: keep-alive`, because ab asks by HTTP/1.0 and would else wait for the end.
pub(crate) fn rendered(status: &str, kind: &str, connection: &str, body: &[u8]) -> Rc<[u8]> {
    let mut bytes = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: {connection}\r\n\r\n",
        body.len()
    )
    .into_bytes();
    bytes.extend_from_slice(body);
    bytes.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_answers() {
        for (head, wanted) in [
            ("GET /ping HTTP/1.1", Ask::Small),
            ("GET /stamp HTTP/1.1", Ask::Stamped),
            ("GET /close HTTP/1.0", Ask::Last),
            ("GET /large HTTP/1.1", Ask::Large),
            ("GET /-/counts HTTP/1.1", Ask::Counts),
            ("GET /-/stamps/begin HTTP/1.1", Ask::StampsBegin),
            ("GET /-/stamps/end HTTP/1.1", Ask::StampsEnd),
            ("GET /-/ HTTP/1.1", Ask::Unknown),
            ("GET /pingx HTTP/1.1", Ask::Unknown),
            ("POST /ping HTTP/1.1", Ask::Unknown),
            ("", Ask::Unknown),
        ] {
            assert_eq!(Ask::of(head.as_bytes()), wanted, "{head}");
        }
        let answers = Answers::new();
        assert!(answers.small.ends_with(SMALL_BODY) && SMALL_BODY.len() == 31);
        assert!(answers.large.len() > LARGE_BYTES && answers.large.len() < LARGE_BYTES + 200);
        assert!(String::from_utf8_lossy(&answers.last).contains("Connection: close\r\n"));
    }
}
