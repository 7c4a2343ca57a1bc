//! What to send and what a right answer is, rendered and compiled before the load begins.
//!
//! Invariants: nothing here fails once the load runs. An answer's status and exact body are judged while its bytes
//! pass by, without keeping them or allocating; only checks of content keep a bounded part ([`Notes`]).
//! Absent on purpose: sockets, clocks, and templates (every request of a load is the same bytes for now).

mod check;

pub use check::{Answer, Check, CheckError, CookieJar, FailureLog, Judge, Judged, Notes};

use schema::plan::RequestPlan;
use std::sync::Arc;
pub use wire::EncodeError;
use wire::{RequestHead, encode_request};

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_request_says_so() {
        let plan = RequestPlan { method: "HEAD".into(), path: "/x".into(), headers: vec![], body: vec![] };
        let prepared = Prepared::new(&plan, "h", Check::new(&[], None)).unwrap();
        assert!(prepared.is_head());
        assert_eq!(prepared.bytes(), b"HEAD /x HTTP/1.1\r\nHost: h\r\n\r\n");
    }
}
