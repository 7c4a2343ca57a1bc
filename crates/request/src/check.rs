//! What every answer must be, and what is taken from it.
//!
//! Invariants: a plain check (status and exact body only) keeps nothing of a right answer and allocates nothing; every
//! other check keeps a bounded part of the answer in the connection's [`Notes`]. The judgement depends on the bytes,
//! never on how they were split. No answer makes a check panic, whatever is in it.
//! A body whose check or capture reads it is decoded first; without one nothing is decoded.
//! Absent on purpose: what happens after a failed check.

mod answer;
mod call;
mod capture;
mod coding;
mod compile;
mod content;
mod cookies;
mod failures;
mod json;
mod message;
mod message_capture;
mod notes;
mod rule;
mod status;
mod text_rule;
mod undecoded;

pub use answer::{Answer, Judge, Judged};
pub use call::{Call, CallCheck};
pub use compile::CheckError;
pub use cookies::CookieJar;
pub use failures::FailureLog;
pub use json::{Pointer, same_number};
pub use message::MessageRule;
pub use notes::Notes;
pub use rule::Rule;

use coding::{Coding, Decoder};
use content::Content;
use status::StatusSet;
use std::borrow::Cow;
use undecoded::{TOO_LONG, Undecoded};
use units::Seed;
use wire::Header;
use wire::grpc::Code;

/// What every answer must be.
///
/// Clone one for each worker: regular expressions hold scratch memory, and a clone has its own.
#[derive(Clone, Debug)]
pub struct Check {
    status: StatusSet,
    body: Option<Vec<u8>>,
    /// Whether `body` is what the answer means, and not what once came over the wire.
    decodes_body: bool,
    content: Option<Box<Content>>,
    /// What the calls must come to, of a request that is a call of gRPC.
    call: Option<CallCheck>,
}

/// A whole body as checks read it: without its content coding. One that cannot be decoded stays as it came.
#[must_use]
pub fn decoded<'a>(headers: &[Header<'_>], body: &'a [u8]) -> Cow<'a, [u8]> {
    let Some(coding) = Coding::of(headers) else { return Cow::Borrowed(body) };
    let (mut decoder, mut plain) = (Decoder::new(coding), Vec::new());
    decoder.push(body, &mut |part| plain.extend_from_slice(part));
    if decoder.failure().is_some() { Cow::Borrowed(body) } else { Cow::Owned(plain) }
}

impl Check {
    /// Accepts the given status codes (200 to 399 where none is given) and, where given, exactly this body.
    #[must_use]
    pub fn new(status: &[u16], body: Option<Vec<u8>>) -> Self {
        Self { status: StatusSet::new(status), body, decodes_body: true, content: None, call: None }
    }

    /// The same check with another choice of the answers that `sample` examines.
    #[must_use]
    pub fn with_seed(mut self, seed: Seed) -> Self {
        if let Some(content) = &mut self.content {
            content.seed = seed.derive("check sample", 0).0;
        }
        self
    }

    /// The same check of a request that is a call of gRPC.
    #[must_use]
    pub fn of_call(mut self, call: CallCheck) -> Self {
        self.call = Some(call);
        self
    }

    /// What calls must come to, where the request is a call of gRPC.
    #[inline]
    #[must_use]
    pub const fn call(&self) -> Option<&CallCheck> {
        self.call.as_ref()
    }

    /// Whether only the status and the exact body are judged; no value is then captured and no cookie collected.
    #[inline]
    #[must_use]
    pub const fn is_plain(&self) -> bool {
        self.content.is_none()
    }

    /// The check behind [`Judged::Failed`] in words, for example `contains "ok"` or `header content-type`.
    #[must_use]
    pub fn describe(&self, number: u16) -> String {
        if number == TOO_LONG {
            return "body longer than 1 MiB cannot be checked".to_owned();
        }
        if let Some(undecoded) = Undecoded::of_number(number) {
            return undecoded.words().to_owned();
        }
        if let Some(words) = self.call.as_ref().and_then(|call| call.rule_words(number)) {
            return words.to_owned();
        }
        let names = self.content.as_ref().map(|content| &content.names);
        names
            .and_then(|names| names.get(usize::from(number)))
            .cloned()
            .unwrap_or_else(|| format!("check {number}"))
    }

    /// The body that must come byte for byte, where there is one.
    #[must_use]
    pub fn exact_body(&self) -> Option<&[u8]> {
        self.body.as_deref()
    }

    /// The accepted status codes in words, for example `200, 204 to 206`.
    #[must_use]
    pub fn expected_status(&self) -> String {
        self.status.to_string()
    }

    /// A status of gRPC that is not accepted, in words.
    #[must_use]
    pub fn describe_status(&self, code: Code) -> String {
        self.call.as_ref().map_or_else(|| format!("grpc-status {code}"), |call| call.explain(code))
    }

    /// What `judged` says of an answer with this status, in words.
    fn explain(&self, judged: Judged, status: u16) -> String {
        match judged {
            Judged::Right => "right".to_owned(),
            Judged::UnexpectedStatus => format!("status {status}, expected {}", self.status),
            Judged::WrongBody => "body: not the expected one".to_owned(),
            Judged::Failed(number) => self.describe(number),
            Judged::Refused(code) => self.describe_status(code),
            Judged::Broken(fault) => fault.to_string(),
        }
    }
}
