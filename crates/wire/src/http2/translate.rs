//! Requests as texts of HTTP/1.1, taken apart, and requests of HTTP/2 as such texts: for scripts, which write text whatever
//! carries it, and for redirects, whose rules are written for it.
//!
//! It allocates: a script costs more than that, and a redirect is rare. Absent on purpose: bodies in chunks, whose parts would
//! have to be read first.

use super::parcel::Parcel;
use crate::hpack::{Decoder, Encoder, FieldList, TABLE_BYTES_MAX};
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

/// A request of HTTP/2 as the text of HTTP/1.1; `None` where it has not the fields that every request has.
pub(super) fn describe(parcel: &Parcel<'_>) -> Option<Vec<u8>> {
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
    use crate::http2::parcel;
    use crate::location::{Astray, Origin};
    use crate::message::Framing as _;
    use std::num::NonZeroUsize;

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

    fn described(request: &[u8]) -> String {
        String::from_utf8(describe(&Parcel::read(request).unwrap()).unwrap()).unwrap()
    }

    fn follow(request: &[u8], status: u16, location: &str) -> Result<Vec<u8>, Astray> {
        let origin = Origin { is_https: false, host: "shop".to_owned(), port: 80 };
        let (mut out, cookies) = (b"an earlier one".to_vec(), [("a", "c")].into_iter());
        Http2::redirected(request, (status, location.as_bytes()), &origin, cookies, &mut out).map(|()| out)
    }

    const POST: &str =
        "POST /a HTTP/1.1\r\nHost: shop\r\nx-a: 1\r\ncookie: a=b\r\ncontent-length: 2\r\n\r\nhi";

    #[test]
    fn a_redirect_makes_the_request_that_it_makes_of_http1() {
        let post = translated(POST).unwrap();
        assert_eq!(described(&post), POST);
        assert_eq!(
            described(&follow(&post, 303, "/b").unwrap()),
            "GET /b HTTP/1.1\r\nHost: shop\r\nx-a: 1\r\ncookie: a=c\r\n\r\n"
        );
        let kept = described(&follow(&post, 307, "/b").unwrap());
        assert!(kept.starts_with("POST /b HTTP/1.1\r\n") && kept.ends_with("\r\n\r\nhi"), "{kept}");
        assert_eq!(follow(&post, 302, "https://shop/b"), Err(Astray::Elsewhere));
        assert_eq!(follow(POST.as_bytes(), 302, "/b"), Err(Astray::Request));
    }

    #[test]
    fn a_body_in_parts_stays_one_that_has_no_length() {
        let head = RequestHead { method: "POST", target: "/a", host: "shop", headers: &[] };
        let parts = NonZeroUsize::new(2);
        let post = head.framed::<Http2>(b"hello", parts).unwrap();
        let kept = follow(&post, 308, "/b").unwrap();
        assert_eq!(Parcel::read(&kept).unwrap().parts_of(), parts);
        assert!(!described(&kept).contains("content-length"), "{}", described(&kept));
        let get = follow(&post, 303, "/b").unwrap();
        assert_eq!(described(&get), "GET /b HTTP/1.1\r\nHost: shop\r\ncookie: a=c\r\n\r\n");
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
