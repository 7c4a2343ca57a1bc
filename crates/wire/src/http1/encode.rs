//! Whole requests, framed before any load, so clarity goes before speed here.

use super::Http1;
use crate::request::{EncodeError, RequestHead};
use std::num::NonZeroUsize;

/// The bytes of one request. `Content-Length` is added where there is a body, or the method implies one.
///
/// # Errors
/// Any part that would break the framing: see [`EncodeError`].
pub fn encode_request(head: &RequestHead<'_>, body: &[u8]) -> Result<Vec<u8>, EncodeError> {
    head.framed::<Http1>(body, None)
}

/// As [`encode_request`], with the body in chunks of `chunk_bytes` (the last may be shorter), even an empty one.
///
/// # Errors
/// As [`encode_request`], and where a Content-Length is given.
pub fn encode_chunked_request(
    head: &RequestHead<'_>,
    body: &[u8],
    chunk_bytes: NonZeroUsize,
) -> Result<Vec<u8>, EncodeError> {
    head.framed::<Http1>(body, Some(chunk_bytes))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// The framed text of a request to `h:1`.
    pub(crate) fn encode(
        method: &str,
        target: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Result<String, EncodeError> {
        let headers: Vec<_> = headers.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
        let head = RequestHead { method, target, host: "h:1", headers: &headers };
        encode_request(&head, body.as_bytes()).map(|bytes| String::from_utf8(bytes).unwrap())
    }

    #[test]
    fn requests_are_framed() {
        assert_eq!(encode("GET", "/a?b", &[], "").unwrap(), "GET /a?b HTTP/1.1\r\nHost: h:1\r\n\r\n");
        assert_eq!(
            encode("POST", "/", &[("host", "other"), ("X-A", "1")], "hi").unwrap(),
            "POST / HTTP/1.1\r\nhost: other\r\nX-A: 1\r\nContent-Length: 2\r\n\r\nhi"
        );
        assert!(encode("PUT", "/", &[], "").unwrap().contains("Content-Length: 0\r\n"));
    }

    #[test]
    fn bodies_are_cut_into_chunks() {
        let head = RequestHead { method: "POST", target: "/", host: "h", headers: &[] };
        let encode = |body: &str, chunk: usize| {
            let bytes =
                encode_chunked_request(&head, body.as_bytes(), NonZeroUsize::new(chunk).unwrap()).unwrap();
            let text = String::from_utf8(bytes).unwrap();
            let (start, rest) = text.split_once("\r\n\r\n").unwrap();
            assert_eq!(start, "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked");
            rest.to_owned()
        };
        assert_eq!(encode("hello", 2), "2\r\nhe\r\n2\r\nll\r\n1\r\no\r\n0\r\n\r\n");
        assert_eq!(encode("hello", 5), "5\r\nhello\r\n0\r\n\r\n");
        assert_eq!(encode("", 5), "0\r\n\r\n");
        let long = "x".repeat(4096 + 171);
        assert_eq!(
            encode(&long, 4096),
            format!("1000\r\n{0}\r\nab\r\n{1}\r\n0\r\n\r\n", &long[..4096], &long[..171])
        );
        let headers = [("content-length".to_owned(), "2".to_owned())];
        let head = RequestHead { headers: &headers, ..head };
        assert_eq!(encode_chunked_request(&head, b"hi", NonZeroUsize::MIN), Err(EncodeError::LengthOfChunks));
    }
}
