//! Where requests and sessions ended, as counts that balance.

use schema::load::ErrorClass;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Where requests of one account ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct Account {
    /// Intended.
    pub scheduled: u64,
    /// Answered rightly.
    pub completed: u64,
    /// Failed, by [`ErrorClass::index`].
    pub failed: [u64; ErrorClass::ALL.len()],
    /// Unsent or in flight at the end.
    pub censored: u64,
}

impl Account {
    /// All failures.
    #[must_use]
    pub fn failed_total(&self) -> u64 {
        self.failed.iter().sum()
    }

    /// Whether every scheduled request has ended in exactly one way.
    #[must_use]
    pub fn balances(&self) -> bool {
        self.scheduled == self.completed + self.failed_total() + self.censored
    }

    /// Failures by class, without the zeros.
    #[must_use]
    pub fn failed_by_class(&self) -> BTreeMap<ErrorClass, u64> {
        ErrorClass::ALL
            .into_iter()
            .map(|class| (class, self.failed[class.index()]))
            .filter(|(_, n)| *n > 0)
            .collect()
    }

    /// Adds another account.
    pub fn add(&mut self, other: &Self) {
        self.scheduled += other.scheduled;
        self.completed += other.completed;
        self.censored += other.censored;
        self.failed.iter_mut().zip(&other.failed).for_each(|(sum, n)| *sum += n);
    }
}

/// `started = completed + failed + censored`, once all have ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct SessionAccount {
    /// Begun.
    pub started: u64,
    /// All steps answered rightly.
    pub completed: u64,
    /// With a failed request.
    pub failed: u64,
    /// Under way at the end.
    pub censored: u64,
}

impl SessionAccount {
    /// Adds another account.
    pub fn add(&mut self, other: &Self) {
        self.started += other.started;
        self.completed += other.completed;
        self.failed += other.failed;
        self.censored += other.censored;
    }
}
