//! Requests that somebody wrote as HTTP/1.1, as HTTP/2 carries them (RFC 9113 §8.3.1), and back: for scripts, which write
//! text, and for redirects, whose rules are written for it.
//!
//! It allocates, and is for requests that are rare or cost more to make than that. Absent on purpose: bodies in chunks, whose parts
//! would have to be read first.

use super::parcel::{self, Parcel};
use crate::hpack::{Decoder, Encoder, FieldList, TABLE_BYTES_MAX};
use crate::message::Framing;
use crate::request::RequestHead;
use crate::unfit::{EncodeError, TranslateError};

/// As many as a script's framing allows.
const FIELDS_MAX: usize = 128;

/// The request in the framing `F` of HTTP/2, behind `out`.
pub(super) fn translate<F: Framing>(text: &[u8], out: &mut Vec<u8>) -> Result<(), TranslateError> {
    let begin = text.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
    let text = &text[begin..];
    let mut fields = [httparse::EMPTY_HEADER; FIELDS_MAX];
    let mut head = httparse::Request::new(&mut fields);
    let Ok(httparse::Status::Complete(end)) = head.parse(text) else { return Err(TranslateError::NoRequest) };
    let read = |field: &httparse::Header<'_>| {
        let value =
            std::str::from_utf8(field.value).map_err(|_| EncodeError::Value(field.name.to_owned()))?;
        Ok((field.name.to_owned(), value.to_owned()))
    };
    let headers = head.headers.iter().map(read).collect::<Result<Vec<_>, EncodeError>>()?;
    let head = RequestHead {
        method: head.method.unwrap_or_default(),
        target: head.path.unwrap_or_default(),
        host: "",
        headers: &headers,
    };
    let mut framed = head.framed::<F>(&text[end..], None)?;
    parcel::vary(&mut framed);
    out.append(&mut framed);
    Ok(())
}

/// A request of HTTP/2 as the text of HTTP/1.1; `None` where the bytes are none.
pub(super) fn describe(request: &[u8]) -> Option<Vec<u8>> {
    let parcel = Parcel::read(request)?;
    let (mut block, mut fields) = (Vec::new(), FieldList::default());
    Encoder::new(false).encode(parcel.parts, false, &mut block);
    Decoder::new(TABLE_BYTES_MAX).decode(&block, &mut fields).ok()?;
    let value = |wanted: &[u8]| fields.iter().find(|(name, _)| *name == wanted).map(|(_, value)| value);
    let mut text =
        [value(b":method")?, b" ", value(b":path")?, b" HTTP/1.1\r\nHost: ", value(b":authority")?].concat();
    for (name, value) in fields.iter().filter(|(name, _)| !name.starts_with(b":")) {
        text.extend_from_slice(&[b"\r\n", name, b": ", value].concat());
    }
    text.extend_from_slice(b"\r\n\r\n");
    text.extend_from_slice(parcel.body);
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http2::Http2;
    use crate::location::{Astray, Origin};

    fn translated(text: &str) -> Result<Vec<u8>, TranslateError> {
        let mut out = Vec::new();
        translate::<Http2>(text.as_bytes(), &mut out).map(|()| out)
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
    fn a_request_can_be_described_and_is_the_same_again() {
        let text = "POST /a HTTP/1.1\r\nHost: shop\r\nx-a: 1\r\ncookie: a=b\r\ncontent-length: 2\r\n\r\nhi";
        assert_eq!(String::from_utf8(describe(&translated(text).unwrap()).unwrap()).unwrap(), text);
        assert_eq!(describe(text.as_bytes()), None);
    }

    #[test]
    fn a_redirect_makes_the_request_that_it_makes_of_http1() {
        let origin = Origin { is_https: false, host: "shop".to_owned(), port: 80 };
        let follow = |text: &str, status: u16, location: &str| {
            let mut out = b"an earlier one".to_vec();
            let request = translated(text).unwrap();
            let cookies = [("a", "c")].into_iter();
            Http2::redirected(&request, (status, location.as_bytes()), &origin, cookies, &mut out)
                .map(|()| String::from_utf8(describe(&out).unwrap()).unwrap())
        };
        let post = "POST /a HTTP/1.1\r\nHost: shop\r\nx-a: 1\r\ncookie: a=b\r\ncontent-length: 2\r\n\r\nhi";
        assert_eq!(
            follow(post, 303, "/b").unwrap(),
            "GET /b HTTP/1.1\r\nHost: shop\r\nx-a: 1\r\ncookie: a=c\r\n\r\n"
        );
        let kept = follow(post, 307, "/b").unwrap();
        assert!(kept.starts_with("POST /b HTTP/1.1\r\n") && kept.ends_with("\r\n\r\nhi"), "{kept}");
        assert_eq!(follow(post, 302, "https://shop/b"), Err(Astray::Elsewhere));
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
