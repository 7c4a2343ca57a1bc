//! HTTP/1.1 (RFC 9112): requests are framed, answers parsed, and the request after a redirect is made from the first.
//!
//! Nothing outside of this folder knows how a request line, a field line or a chunk is written.

mod chunked;
mod encode;
mod head;
mod plan;
mod redirect;
mod response;

pub use chunked::Chunked;
#[cfg(test)]
pub(crate) use encode::tests::encode;
pub use encode::{encode_chunked_request, encode_request};
pub(crate) use head::content_length;
pub use head::{HEAD_BYTES_MAX, Header};
pub use plan::Plan;
pub(crate) use redirect::redirected;
pub use redirect::{REDIRECTS, is_redirect};
pub use response::{Ended, Feed, ResponseParser, Visit};

use crate::location::{Astray, Origin};
use crate::message::Framing;
use crate::unfit::TranslateError;
use std::fmt;

/// The framing of HTTP/1.1. What is prepared are the bytes to send.
#[derive(Clone, Copy, Debug)]
pub enum Http1 {}

impl Framing for Http1 {
    type Plan<V: fmt::Debug + Send + Sync> = Plan<V>;

    const ALPN: &str = "http/1.1";
    const IS_HTTP1: bool = true;

    fn translate(text: &[u8], out: &mut Vec<u8>) -> Result<(), TranslateError> {
        out.extend_from_slice(text);
        Ok(())
    }

    fn redirected<'a, C>(
        request: &[u8],
        to: (u16, &[u8]),
        origin: &Origin,
        cookies: C,
        out: &mut Vec<u8>,
    ) -> Result<(), Astray>
    where
        C: Iterator<Item = (&'a str, &'a str)> + Clone,
    {
        redirected(request, to, origin, cookies, out)
    }
}
