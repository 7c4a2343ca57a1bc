//! HTTP/2 as a framing of messages: what is prepared or rendered is a parcel, which each connection writes as frames.

use super::parcel::{self, Parcel};
use super::plan::Plan;
use super::translate::{describe, read};
use crate::http1::redirected;
use crate::location::{Astray, Origin};
use crate::message::Framing;
use crate::unfit::TranslateError;
use std::fmt;
use std::num::NonZeroUsize;

/// The framing of HTTP/2.
#[derive(Clone, Copy, Debug)]
pub enum Http2 {}

impl Framing for Http2 {
    type Plan<V: fmt::Debug + Send + Sync> = Plan<V>;

    const ALPN: &str = "h2";
    const IS_HTTP1: bool = false;

    fn translate(text: &[u8], out: &mut Vec<u8>) -> Result<(), TranslateError> {
        frame(text, None, out)
    }

    /// By way of the text of HTTP/1.1: a redirect is rare, and its rules are written down once. It allocates.
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
        let parcel = Parcel::read(request).ok_or(Astray::Request)?;
        let text = describe(&parcel).ok_or(Astray::Request)?;
        let mut next = Vec::new();
        redirected(&text, to, origin, cookies, &mut next)?;
        out.clear();
        frame(&next, parcel.parts_of(), out).map_err(|_| Astray::Request)
    }
}

/// The request of a text of HTTP/1.1, behind `out`; `chunk_bytes` where its body, if it has one, is sent in parts.
fn frame(text: &[u8], chunk_bytes: Option<NonZeroUsize>, out: &mut Vec<u8>) -> Result<(), TranslateError> {
    let written = read(text)?;
    let chunk_bytes = chunk_bytes.filter(|_| !written.body.is_empty());
    let mut framed = written.head().framed::<Http2>(written.body, chunk_bytes)?;
    parcel::vary(&mut framed);
    out.append(&mut framed);
    Ok(())
}
