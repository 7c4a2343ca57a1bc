//! Where requests and sessions ended, as counts that balance.

use schema::load::ErrorClass;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};

const CLASSES: usize = ErrorClass::ALL.len();

/// A count for each class, by [`ErrorClass::index`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByClass([u64; CLASSES]);

impl Default for ByClass {
    fn default() -> Self {
        Self([0; CLASSES])
    }
}

impl Deref for ByClass {
    type Target = [u64; CLASSES];

    #[inline]
    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl DerefMut for ByClass {
    #[inline]
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

// Not derived: serde knows arrays of up to 32.
impl Serialize for ByClass {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0)
    }
}

impl<'de> Deserialize<'de> for ByClass {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let counts = Vec::<u64>::deserialize(deserializer)?;
        let length = counts.len();
        let counts = counts.try_into();
        counts.map(Self).map_err(|_| D::Error::custom(format!("{length} classes of errors, not {CLASSES}")))
    }
}

/// Where requests of one account ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct Account {
    /// Intended.
    pub scheduled: u64,
    /// Answered rightly.
    pub completed: u64,
    /// Failed, by [`ErrorClass::index`].
    pub failed: ByClass,
    /// Unsent or in flight at the end.
    pub censored: u64,
}

impl Account {
    /// All failures.
    #[must_use]
    pub fn failed_total(&self) -> u64 {
        self.failed.iter().sum()
    }

    /// Requests whose time is known only to lie above every finite one: censored, or longer than allowed (METHOD §1).
    #[must_use]
    pub fn beyond(&self) -> u64 {
        let late = ErrorClass::ALL.into_iter().filter(|class| class.is_beyond());
        self.censored + late.map(|class| self.failed[class.index()]).sum::<u64>()
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
        self.failed.iter_mut().zip(other.failed.iter()).for_each(|(sum, n)| *sum += n);
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
