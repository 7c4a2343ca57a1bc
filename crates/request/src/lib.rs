//! What to send and what a right answer is, rendered and compiled before the load begins.
//!
//! Invariants: nothing here allocates or fails once the load runs; an answer is judged while its bytes pass by,
//! without keeping them. Header expectations are judged by the contract check before the load; under load every
//! answer's status and body are.
//! Absent on purpose: sockets, clocks, and templates (every request of a load is the same bytes for now).

mod feeder;
mod program;
mod template;
mod token;

pub use program::{
    Bytes, CAPTURED_BYTES_MAX, Captured, Made, MakeCause, MakeError, Maker, Program, ProgramError, TokenUse,
    User,
};
use schema::plan::RequestPlan;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
pub use wire::EncodeError;
use wire::{Header, RequestHead, Visit, encode_request};

/// A request ready to be sent, with the judgement of its answers.
#[derive(Clone, Debug)]
pub struct Prepared {
    bytes: Arc<[u8]>,
    is_head: bool,
    check: Check,
}

impl Prepared {
    /// Renders `plan` for `host` (the value of the Host field).
    ///
    /// # Errors
    /// Where a part of the request would break its framing.
    pub fn new(plan: &RequestPlan, host: &str, check: Check) -> Result<Self, EncodeError> {
        let head = RequestHead { method: &plan.method, target: &plan.path, host, headers: &plan.headers };
        Ok(Self { bytes: encode_request(&head, &plan.body)?.into(), is_head: plan.method == "HEAD", check })
    }

    /// The bytes on the wire.
    #[inline]
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The same bytes, to be held on to.
    #[must_use]
    pub fn shared_bytes(&self) -> Arc<[u8]> {
        self.bytes.clone()
    }

    /// Whether answers have no body whatever their header section says.
    #[inline]
    #[must_use]
    pub const fn is_head(&self) -> bool {
        self.is_head
    }

    /// The judgement of answers.
    #[inline]
    #[must_use]
    pub const fn check(&self) -> &Check {
        &self.check
    }
}

/// What every answer must be.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Check {
    status: StatusSet,
    body: Option<Vec<u8>>,
}

impl Check {
    /// Accepts the given status codes (200 to 399 where none is given) and, where given, exactly this body.
    #[must_use]
    pub fn new(status: &[u16], body: Option<Vec<u8>>) -> Self {
        Self { status: StatusSet::new(status), body }
    }
}

/// A set of the status codes 0 to 1023.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
struct StatusSet {
    bits: [u64; 16],
}

impl StatusSet {
    fn new(codes: &[u16]) -> Self {
        let mut set = Self { bits: [0; 16] };
        if codes.is_empty() {
            (200..400).for_each(|code| set.insert(code));
        } else {
            codes.iter().for_each(|code| set.insert(*code));
        }
        set
    }

    fn insert(&mut self, code: u16) {
        if let Some(word) = self.bits.get_mut(usize::from(code >> 6)) {
            *word |= 1 << (code & 63);
        }
    }

    #[inline]
    fn contains(&self, code: u16) -> bool {
        self.bits.get(usize::from(code >> 6)).is_some_and(|word| word >> (code & 63) & 1 == 1)
    }
}

/// The judgement of one answer in progress.
#[derive(Clone, Copy, Debug, Default)]
pub struct Answer {
    status: u16,
    body_bytes: usize,
    body_differs: bool,
}

/// What an answer turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judged {
    /// As it should be.
    Right,
    /// Complete, with a status that is not expected.
    UnexpectedStatus,
    /// Complete, with a body that is not expected.
    WrongBody,
}

impl Answer {
    /// The final status; 0 before it is known.
    #[inline]
    #[must_use]
    pub const fn status(&self) -> u16 {
        self.status
    }

    /// Connects this answer to the parser.
    #[inline]
    pub fn judge<'a>(&'a mut self, check: &'a Check) -> Judge<'a> {
        Judge { answer: self, check }
    }

    /// The judgement once the answer is complete.
    #[inline]
    #[must_use]
    pub fn finish(&self, check: &Check) -> Judged {
        if !check.status.contains(self.status) {
            return Judged::UnexpectedStatus;
        }
        match &check.body {
            Some(body) if self.body_differs || self.body_bytes != body.len() => Judged::WrongBody,
            _ => Judged::Right,
        }
    }
}

/// Judges the bytes of one answer as the parser shows them.
#[derive(Debug)]
pub struct Judge<'a> {
    answer: &'a mut Answer,
    check: &'a Check,
}

impl Visit for Judge<'_> {
    #[inline]
    fn head(&mut self, status: u16, _: &[Header<'_>]) {
        self.answer.status = status;
    }

    #[inline]
    fn body(&mut self, bytes: &[u8]) {
        let from = self.answer.body_bytes;
        self.answer.body_bytes += bytes.len();
        if let Some(expected) = &self.check.body {
            self.answer.body_differs |= expected.get(from..from + bytes.len()) != Some(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(check: &Check, status: u16, parts: &[&str]) -> Judged {
        let mut answer = Answer::default();
        let mut judge = answer.judge(check);
        judge.head(status, &[]);
        parts.iter().for_each(|part| judge.body(part.as_bytes()));
        answer.finish(check)
    }

    #[test]
    fn status_sets() {
        let usual = Check::new(&[], None);
        let only = Check::new(&[404, 999], None);
        for (status, in_usual, in_only) in [
            (200, true, false),
            (399, true, false),
            (400, false, false),
            (404, false, true),
            (999, false, true),
        ] {
            assert_eq!(judge(&usual, status, &["x"]) == Judged::Right, in_usual, "{status}");
            assert_eq!(judge(&only, status, &["x"]) == Judged::Right, in_only, "{status}");
        }
        assert_eq!(judge(&usual, u16::MAX, &[]), Judged::UnexpectedStatus);
    }

    #[test]
    fn bodies_are_compared_in_any_split() {
        let check = Check::new(&[], Some(b"hello".to_vec()));
        for (parts, expected) in [
            (&["hello"][..], Judged::Right),
            (&["he", "", "llo"], Judged::Right),
            (&["hel"], Judged::WrongBody),
            (&["hello", "!"], Judged::WrongBody),
            (&["hellO"], Judged::WrongBody),
            (&[], Judged::WrongBody),
        ] {
            assert_eq!(judge(&check, 200, parts), expected, "{parts:?}");
        }
        assert_eq!(judge(&check, 500, &["x"]), Judged::UnexpectedStatus, "the status is named first");
    }

    #[test]
    fn a_head_request_says_so() {
        let plan = RequestPlan { method: "HEAD".into(), path: "/x".into(), headers: vec![], body: vec![] };
        let prepared = Prepared::new(&plan, "h", Check::new(&[], None)).unwrap();
        assert!(prepared.is_head());
        assert_eq!(prepared.bytes(), b"HEAD /x HTTP/1.1\r\nHost: h\r\n\r\n");
    }
}
