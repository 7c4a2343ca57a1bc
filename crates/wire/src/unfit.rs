//! Why a request cannot be sent: a part that would break its framing, or a text that is none.

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

/// Why a text of HTTP/1.1 cannot be sent by another protocol.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TranslateError {
    /// It is no request, or more than one.
    #[error("the text is not one whole request of HTTP/1.1")]
    NoRequest,
    /// A part of it.
    #[error(transparent)]
    Part(#[from] EncodeError),
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
