//! HTTP/2 as a framing of messages: what is prepared or rendered is a parcel, which each connection writes as frames.

use super::parcel;
use super::plan::Plan;
use super::translate::read;
use crate::message::Framing;
use crate::unfit::TranslateError;
use std::fmt;

/// The framing of HTTP/2.
#[derive(Clone, Copy, Debug)]
pub enum Http2 {}

impl Framing for Http2 {
    type Plan<V: fmt::Debug + Send + Sync> = Plan<V>;

    const ALPN: &str = "h2";
    const IS_HTTP1: bool = false;

    fn translate(text: &[u8], out: &mut Vec<u8>) -> Result<(), TranslateError> {
        let written = read(text)?;
        let mut framed = written.head().framed::<Self>(written.body, None)?;
        parcel::vary(&mut framed);
        out.append(&mut framed);
        Ok(())
    }
}
