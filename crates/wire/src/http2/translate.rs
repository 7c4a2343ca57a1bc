//! Requests that somebody wrote as HTTP/1.1, taken apart: for scripts, which write text whatever carries it.
//!
//! It allocates: a script costs more than that. Absent on purpose: bodies in chunks, whose parts would have to be read first.

use crate::request::RequestHead;
use crate::unfit::{EncodeError, TranslateError};

/// As many as a script's framing allows.
const FIELDS_MAX: usize = 128;

/// A request as it was written.
#[derive(Debug)]
pub(super) struct Written<'a> {
    method: &'a str,
    target: &'a str,
    headers: Vec<(String, String)>,
    pub(super) body: &'a [u8],
}

impl Written<'_> {
    /// Its parts without the body. A field Host says where it goes.
    pub(super) fn head(&self) -> RequestHead<'_> {
        RequestHead { method: self.method, target: self.target, host: "", headers: &self.headers }
    }
}

/// Takes the text of one request apart.
pub(super) fn read(text: &[u8]) -> Result<Written<'_>, TranslateError> {
    let begin = text.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
    let text = &text[begin..];
    let mut fields = [httparse::EMPTY_HEADER; FIELDS_MAX];
    let mut head = httparse::Request::new(&mut fields);
    let Ok(httparse::Status::Complete(end)) = head.parse(text) else { return Err(TranslateError::NoRequest) };
    let owned = |field: &httparse::Header<'_>| {
        let value =
            std::str::from_utf8(field.value).map_err(|_| EncodeError::Value(field.name.to_owned()))?;
        Ok((field.name.to_owned(), value.to_owned()))
    };
    Ok(Written {
        method: head.method.unwrap_or_default(),
        target: head.path.unwrap_or_default(),
        headers: head.headers.iter().map(owned).collect::<Result<_, EncodeError>>()?,
        body: &text[end..],
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http2::Http2;
    use crate::http2::parcel::{self, Parcel};
    use crate::message::Framing as _;

    fn translated(text: &str) -> Result<Vec<u8>, TranslateError> {
        let mut out = Vec::new();
        Http2::translate(text.as_bytes(), &mut out).map(|()| out)
    }

    #[test]
    fn a_text_becomes_the_request_that_its_parts_make() {
        let text = "\r\nPOST /a?b=c HTTP/1.1\r\nHost: shop:80\r\nX-A: 1\r\nConnection: keep-alive\r\n\
                    Content-Length: 2\r\n\r\nhi";
        let headers = [("X-A", "1"), ("content-length", "2")];
        let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let head = RequestHead { method: "POST", target: "/a?b=c", host: "shop:80", headers: &headers };
        let mut wanted = head.framed::<Http2>(b"hi", None).unwrap();
        parcel::vary(&mut wanted);
        let got = translated(text).unwrap();
        assert_eq!(got, wanted);
        let parcel = Parcel::read(&got).unwrap();
        assert!(!parcel.is_fixed, "the next request may have another header block");
        assert_eq!(parcel.body, b"hi");
    }

    #[test]
    fn what_http2_cannot_carry_is_refused() {
        for (text, cause) in [
            ("GET / HTTP/1.1\r\nHost: x\r\n", "not one whole request"),
            ("nonsense", "not one whole request"),
            ("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "Transfer-Encoding"),
            ("POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\nhi", "has 2 bytes"),
            ("GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", "more than once"),
        ] {
            let error = translated(text).unwrap_err().to_string();
            assert!(error.contains(cause), "{text:?}: {error}");
        }
    }
}
