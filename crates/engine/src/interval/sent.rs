//! Stamps of what was really sent, for the goodness-of-fit gate of open loads.

use serde::{Deserialize, Serialize};

/// Stamps of what was really sent in an interval, for the goodness-of-fit gate: complete from its begin up to a point.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct Sent {
    /// (intended, written) in nanoseconds from the trial's origin, in order of writing; for several workers merged.
    pub stamps: Vec<(u64, u64)>,
    /// Requests written after this moment may lack.
    pub complete_to_ns: u64,
}

/// Stamps of one worker and interval.
const SENT_MAX: usize = 4096;

impl Sent {
    /// Notes a request unless there is no room; `now` is when it was written.
    #[inline]
    pub(crate) fn note(&mut self, intended_ns: u64, written_ns: u64) {
        if self.stamps.len() < SENT_MAX {
            self.stamps.push((intended_ns, written_ns));
        }
    }

    /// Memory for a whole interval.
    pub(crate) fn reserve(&mut self) {
        self.stamps.reserve_exact(SENT_MAX);
    }

    /// The interval has ended at `end_ns`.
    pub(crate) fn close(&mut self, end_ns: u64) {
        let is_full = self.stamps.len() == SENT_MAX;
        self.complete_to_ns = if is_full { self.stamps.last().map_or(end_ns, |last| last.1) } else { end_ns };
    }

    /// Adds another worker's stamps of the same interval; only what both have in full stays.
    pub(super) fn merge(&mut self, other: &Self) {
        self.complete_to_ns = self.complete_to_ns.min(other.complete_to_ns);
        self.stamps.extend_from_slice(&other.stamps);
        self.stamps.retain(|(_, written_ns)| *written_ns <= self.complete_to_ns);
        self.stamps.sort_unstable_by_key(|(intended_ns, written_ns)| (*written_ns, *intended_ns));
    }

    pub(super) fn clear(&mut self) {
        self.stamps.clear();
        self.complete_to_ns = u64::MAX;
    }
}
