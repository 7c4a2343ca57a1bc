//! The ledger of messages on streams, beside the accounts of the streams themselves.
//!
//! Invariant: every message that is scheduled ends as completed, failed or censored, in the account of its own intended time;
//! asserted when the worker ends. A worker without streams has an empty ledger.

use crate::interval::MessageAccount;
use schema::load::ErrorClass;

/// What becomes of the messages that a stream leaves behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MessageEnd {
    /// Their stream was completed, and they need no answer of their own.
    Completed,
    /// Their stream failed.
    Failed,
    /// Their stream took longer than allowed.
    Overdue,
    /// Their stream was completed without an answer to them.
    Unanswered,
    /// The load has ended.
    Censored,
}

impl MessageEnd {
    /// How the messages of a stream end that failed with this class.
    pub(crate) const fn of(class: ErrorClass) -> Self {
        if class.is_beyond() { Self::Overdue } else { Self::Failed }
    }
}

/// A worker's sums of messages.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    pub(super) warm: MessageAccount,
    pub(super) measured: MessageAccount,
}

impl Ledger {
    /// Checks that nothing is lost.
    ///
    /// # Panics
    /// If an account does not balance: a defect of the engine, never of the target.
    pub(super) fn finish(&self) {
        for (name, account) in [("warm-up", &self.warm), ("measured", &self.measured)] {
            let balances = account.balances();
            assert!(balances, "messages, {name}: scheduled ≠ completed + failed + censored: {account:?}");
        }
    }
}
