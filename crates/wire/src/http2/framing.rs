//! HTTP/2 as a framing of messages: what is prepared or rendered is a parcel, which each connection writes as frames.

use super::plan::Plan;
use crate::message::Framing;
use std::fmt;

/// The framing of HTTP/2.
#[derive(Clone, Copy, Debug)]
pub enum Http2 {}

impl Framing for Http2 {
    type Plan<V: fmt::Debug + Send + Sync> = Plan<V>;
}
