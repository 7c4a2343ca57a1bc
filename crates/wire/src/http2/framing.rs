//! HTTP/2 as a framing of messages: what is prepared or rendered is a parcel, which each connection writes as frames.

use super::plan::Plan;
use crate::message::{Fill, Framing, Message};
use std::fmt;

/// The framing of HTTP/2.
#[derive(Clone, Copy, Debug)]
pub enum Http2 {}

impl Framing for Http2 {
    type Plan<V: fmt::Debug + Send + Sync> = Plan<V>;

    fn prepare<V: Clone>(message: &Message<'_, V>) -> Vec<u8> {
        Plan::new(&Message { has_cookies: false, ..*message }).into_fixed()
    }

    fn plan<V: Clone + fmt::Debug + Send + Sync>(message: &Message<'_, V>) -> Plan<V> {
        Plan::new(message)
    }

    #[inline]
    fn render<V: fmt::Debug + Send + Sync, F: Fill<V>>(
        plan: &Plan<V>,
        fill: &mut F,
        out: &mut Vec<u8>,
        scratch: &mut Vec<u8>,
    ) -> Result<(), F::Error> {
        plan.render(fill, out, scratch)
    }
}
