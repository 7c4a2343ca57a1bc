//! HTTP/2 as a framing of messages: what is prepared or rendered is a parcel, which each connection writes as frames.

use super::plan::Plan;
use super::translate::{describe, translate};
use crate::http1::redirected;
use crate::location::{Astray, Origin};
use crate::message::Framing;
use crate::unfit::TranslateError;
use std::fmt;

/// The framing of HTTP/2.
#[derive(Clone, Copy, Debug)]
pub enum Http2 {}

impl Framing for Http2 {
    type Plan<V: fmt::Debug + Send + Sync> = Plan<V>;

    const IS_HTTP1: bool = false;

    fn translate(text: &[u8], out: &mut Vec<u8>) -> Result<(), TranslateError> {
        translate::<Self>(text, out)
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
        let text = describe(request).ok_or(Astray::Request)?;
        let mut next = Vec::new();
        redirected(&text, to, origin, cookies, &mut next)?;
        out.clear();
        translate::<Self>(&next, out).map_err(|_| Astray::Request)
    }
}
