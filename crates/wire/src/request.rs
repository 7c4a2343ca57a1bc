//! What a request may say, whatever protocol carries it: parts that would break a framing are refused.

use crate::message::{Framing, Message, Piece};
use std::convert::Infallible;
use std::num::NonZeroUsize;

/// The parts of a request; `host` becomes the Host field unless `headers` has one.
#[derive(Clone, Copy, Debug)]
pub struct RequestHead<'a> {
    /// Method token.
    pub method: &'a str,
    /// Path and query as they stand in the request line.
    pub target: &'a str,
    /// Host and, where it is not the default, port.
    pub host: &'a str,
    /// Further fields in order.
    pub headers: &'a [(String, String)],
}

/// Why a request cannot be encoded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EncodeError {
    /// Not a token of RFC 9110 §5.6.2.
    #[error("`{}` is not a valid method; use letters such as GET or POST", shown(.0))]
    Method(String),
    /// Empty, not beginning with `/` or `*`, or with anything but visible ASCII (RFC 3986 §2).
    #[error(
        "`{}` is not a valid request target; begin with `/` and percent-encode spaces and all but ASCII",
        shown(.0)
    )]
    Target(String),
    /// A field name that is not a token.
    #[error("`{}` is not a valid header name; use letters, digits and `-`", shown(.0))]
    Name(String),
    /// A field value with a line break or other control character.
    #[error("the value of header `{}` has a control character; remove line breaks", shown(.0))]
    Value(String),
    /// A Content-Length that contradicts the body.
    #[error("header Content-Length says {}, but the body has {is} bytes; leave the header out", shown(said))]
    Length {
        /// The header's value.
        said: String,
        /// The body's length.
        is: usize,
    },
    /// Chunked framing asked for by a header; the body is sent with its length, or in chunks where that is asked for.
    #[error("header Transfer-Encoding is set by prony; leave it out")]
    TransferEncoding,
    /// A Content-Length beside a chunked body (RFC 9112 §6.2).
    #[error("header Content-Length contradicts a chunked body; leave the header out")]
    LengthOfChunks,
    /// Host or Content-Length more than once, in whatever case: peers differ in which of them they believe.
    #[error("header `{0}` is given more than once; keep one")]
    Repeated(&'static str),
}

/// Most characters of a foreign text in a message.
const SHOWN_CHARS_MAX: usize = 80;

/// A foreign text for a message: on one line, and cut where it is long.
fn shown(text: &str) -> String {
    let escaped = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.to_string() };
    let mut shown: String = text.chars().take(SHOWN_CHARS_MAX).map(escaped).collect();
    if text.chars().nth(SHOWN_CHARS_MAX).is_some() {
        shown.push('…');
    }
    shown
}

impl RequestHead<'_> {
    /// Whether a request with this body may be sent; `in_chunks` says that its length is not announced.
    ///
    /// # Errors
    /// Any part that would break the framing: see [`EncodeError`].
    pub fn check(&self, body: &[u8], in_chunks: bool) -> Result<(), EncodeError> {
        check(self, body)?;
        let has_length = self.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-length"));
        if in_chunks && has_length { Err(EncodeError::LengthOfChunks) } else { Ok(()) }
    }

    /// The bytes of one request as a protocol prepares it; with `chunk_bytes` its length is not announced, and its body is
    /// sent in parts of this length.
    ///
    /// # Errors
    /// As [`RequestHead::check`].
    pub fn framed<F: Framing>(
        &self,
        body: &[u8],
        chunk_bytes: Option<NonZeroUsize>,
    ) -> Result<Vec<u8>, EncodeError> {
        self.check(body, chunk_bytes.is_some())?;
        let literal = |text: &[u8]| vec![Piece::<Infallible>::Literal(text.to_vec())];
        let fields: Vec<_> =
            self.headers.iter().map(|(name, value)| (name.clone(), literal(value.as_bytes()))).collect();
        Ok(F::prepare(&Message {
            method: self.method,
            target: &literal(self.target.as_bytes()),
            authority: self.host,
            fields: &fields,
            has_cookies: false,
            body: &literal(body),
            chunk_bytes,
        }))
    }
}

fn check(head: &RequestHead<'_>, body: &[u8]) -> Result<(), EncodeError> {
    if !is_token(head.method) {
        return Err(EncodeError::Method(head.method.to_owned()));
    }
    let target_fits = head.target.starts_with('/') || head.target == "*";
    if !target_fits || !head.target.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(EncodeError::Target(head.target.to_owned()));
    }
    if !is_value(head.host) {
        return Err(EncodeError::Value("Host".to_owned()));
    }
    for (name, value) in head.headers {
        if !is_token(name) {
            return Err(EncodeError::Name(name.clone()));
        }
        if !is_value(value) {
            return Err(EncodeError::Value(name.clone()));
        }
        // Only the blanks of HTTP: a peer takes no other for one.
        let said = value.trim_matches([' ', '\t']);
        if name.eq_ignore_ascii_case("content-length") && said != body.len().to_string() {
            return Err(EncodeError::Length { said: value.clone(), is: body.len() });
        }
        if name.eq_ignore_ascii_case("transfer-encoding") {
            return Err(EncodeError::TransferEncoding);
        }
    }
    for name in ["Host", "Content-Length"] {
        if head.headers.iter().filter(|(have, _)| have.eq_ignore_ascii_case(name)).count() > 1 {
            return Err(EncodeError::Repeated(name));
        }
    }
    Ok(())
}

fn is_token(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(is_token_byte)
}

/// A byte of a token (RFC 9110 §5.6.2).
pub(crate) fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

fn is_value(text: &str) -> bool {
    text.bytes().all(|byte| byte == b'\t' || (byte >= b' ' && byte != 0x7f))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http1::encode;

    #[test]
    fn nothing_can_break_the_framing() {
        assert_eq!(encode("GE T", "/", &[], ""), Err(EncodeError::Method("GE T".into())));
        assert_eq!(encode("GET", "/a b", &[], ""), Err(EncodeError::Target("/a b".into())));
        assert_eq!(encode("GET", "a", &[], ""), Err(EncodeError::Target("a".into())));
        assert_eq!(encode("GET", "/", &[("A:", "b")], ""), Err(EncodeError::Name("A:".into())));
        assert_eq!(encode("GET", "/", &[("A", "b\r\nC: d")], ""), Err(EncodeError::Value("A".into())));
        assert_eq!(
            encode("POST", "/", &[("Content-Length", "3")], "hi"),
            Err(EncodeError::Length { said: "3".into(), is: 2 })
        );
        assert_eq!(
            encode("POST", "/", &[("Content-Length", "2"), ("content-length", "2")], "hi"),
            Err(EncodeError::Repeated("Content-Length"))
        );
        assert_eq!(
            encode("GET", "/", &[("Host", "a"), ("host", "a")], ""),
            Err(EncodeError::Repeated("Host"))
        );
        let wide_blank = "\u{2003}2";
        assert_eq!(
            encode("POST", "/", &[("Content-Length", wide_blank)], "hi"),
            Err(EncodeError::Length { said: wide_blank.into(), is: 2 })
        );
        assert_eq!(encode("GET", "/ä", &[], ""), Err(EncodeError::Target("/ä".into())));
        assert_eq!(
            encode("POST", "/", &[("Transfer-Encoding", "chunked")], ""),
            Err(EncodeError::TransferEncoding)
        );
    }
}
