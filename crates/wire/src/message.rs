//! A request in parts, as no protocol has framed it yet, and what protocols do with one.
//!
//! Texts are pieces: literals, known before the load, and values, which are filled in for each request. A protocol plans a
//! message once, with all literals framed, and renders the plan for each request, so that no byte is written twice.
//! Absent on purpose: what a value is and how it gets its text; whether a message may be sent (`request`).

use crate::location::{Astray, Origin};
use crate::unfit::TranslateError;
use std::fmt;
use std::num::NonZeroUsize;

/// A piece of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece<V> {
    /// The same in every request.
    Literal(Vec<u8>),
    /// Filled in for each request.
    Value(V),
}

/// A request in parts.
#[derive(Debug)]
pub struct Message<'a, V> {
    /// Method token.
    pub method: &'a str,
    /// Path and query.
    pub target: &'a [Piece<V>],
    /// Host and, where it is not the default, port. A field `Host` says it instead.
    pub authority: &'a str,
    /// Further fields in order.
    pub fields: &'a [(String, Vec<Piece<V>>)],
    /// Whether the cookies of a user are sent, too: within the field `Cookie`, or in one of their own behind all fields.
    pub has_cookies: bool,
    /// The body, possibly empty.
    pub body: &'a [Piece<V>],
    /// The body is sent in parts of this length, and its length is not announced.
    pub chunk_bytes: Option<NonZeroUsize>,
}

// Not derived: that would ask the same of values, which are only referred to.
impl<V> Clone for Message<'_, V> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<V> Copy for Message<'_, V> {}

impl<V> Message<'_, V> {
    /// Whether a field has this name, in any case.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.fields.iter().any(|(have, _)| have.eq_ignore_ascii_case(name))
    }
}

/// The part of a message in which a value stands, which decides what its text may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spot {
    /// The target.
    Target,
    /// The value of a field.
    Field,
    /// The body.
    Body,
}

/// Gives values their texts while a request is rendered. Values are asked for in the order of the message.
pub trait Fill<V> {
    /// Why a text cannot be had, or may not be sent.
    type Error;

    /// Appends the text of a value, fit for its spot: no control character in a field, visible ASCII alone in a target.
    ///
    /// # Errors
    /// There is no such text.
    fn fill(&mut self, value: &V, spot: Spot, out: &mut Vec<u8>) -> Result<(), Self::Error>;

    /// Whether the user has cookies at present.
    fn has_cookies(&self) -> bool;

    /// Appends the user's cookies, fit for a field.
    ///
    /// # Errors
    /// They cannot stand there.
    fn fill_cookies(&mut self, out: &mut Vec<u8>) -> Result<(), Self::Error>;

    /// Judges how a target begins whose beginning is a value; `None` is an empty one.
    ///
    /// # Errors
    /// A target cannot begin so.
    fn judge_target(&self, first: Option<u8>) -> Result<(), Self::Error>;
}

/// A message as far as a protocol can frame it before the load.
pub trait Planned<V>: fmt::Debug + Send + Sync {
    /// Plans a message.
    fn new(message: &Message<'_, V>) -> Self
    where
        V: Clone;

    /// The bytes of a message without values and cookies.
    fn into_fixed(self) -> Vec<u8>;

    /// Renders the message into `out`, which is empty; `scratch` is memory for what must be measured first. Allocates only
    /// where they must grow.
    ///
    /// # Errors
    /// As `fill`; `out` holds no message then.
    fn render<F: Fill<V>>(
        &self,
        fill: &mut F,
        out: &mut Vec<u8>,
        scratch: &mut Vec<u8>,
    ) -> Result<(), F::Error>;
}

/// How a protocol writes messages; chosen at compile time.
pub trait Framing: fmt::Debug + Send + Sync + 'static {
    /// The protocol's name in a TLS handshake (RFC 7301 §6, RFC 9113 §3.2).
    const ALPN: &str;

    /// Whether what is sent is the text of HTTP/1.1.
    const IS_HTTP1: bool;

    /// A whole request that was written as HTTP/1.1, as this protocol writes it, behind `out`. A protocol with
    /// [`Framing::IS_HTTP1`] takes it as it stands, whatever it says.
    ///
    /// # Errors
    /// It is not one whole request, or says what this protocol cannot carry; `out` is as it was then.
    fn translate(text: &[u8], out: &mut Vec<u8>) -> Result<(), TranslateError>;

    /// Writes into `out` the request that follows `request`, which this framing made and which was answered with a redirect
    /// of this status and Location (RFC 9110 §15.4). `cookies` are names and values that the redirect sets, for a user who keeps
    /// them: they replace those of their name; an empty value deletes.
    ///
    /// # Errors
    /// A Location that is not followed, or a request that is not of this framing.
    fn redirected<'a, C>(
        request: &[u8],
        to: (u16, &[u8]),
        origin: &Origin,
        cookies: C,
        out: &mut Vec<u8>,
    ) -> Result<(), Astray>
    where
        C: Iterator<Item = (&'a str, &'a str)> + Clone;

    /// A message with values.
    type Plan<V: fmt::Debug + Send + Sync>: Planned<V>;

    /// The lasting bytes of a message whose texts are all literals, without cookies. What they are is the protocol's affair.
    fn prepare<V: Clone + fmt::Debug + Send + Sync>(message: &Message<'_, V>) -> Vec<u8> {
        Self::Plan::new(&Message { has_cookies: false, ..*message }).into_fixed()
    }
}
