//! How many redirects were followed, by status.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use wire::REDIRECTS;

/// Counts of followed redirects in the order of [`wire::REDIRECTS`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct Redirects([u64; REDIRECTS.len()]);

impl Redirects {
    /// One more with this status; any other than a redirect's is ignored.
    pub(crate) fn count(&mut self, status: u16) {
        if let Some(place) = REDIRECTS.iter().position(|known| *known == status) {
            self.0[place] += 1;
        }
    }

    /// Adds another part's.
    pub fn add(&mut self, other: &Self) {
        self.0.iter_mut().zip(other.0).for_each(|(sum, part)| *sum += part);
    }

    /// By status, without the zeros.
    #[must_use]
    pub fn by_status(&self) -> BTreeMap<u16, u64> {
        REDIRECTS.into_iter().zip(self.0).filter(|(_, count)| *count > 0).collect()
    }
}
