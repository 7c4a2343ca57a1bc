//! Stamps of what was really sent, for the goodness-of-fit gate of open loads.

use serde::{Deserialize, Serialize};

/// Stamps of what was really sent in an interval, for the goodness-of-fit gate: complete from its begin up to a point.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct Sent {
    /// (intended, written) in nanoseconds from the trial's origin, in order of writing; for several workers merged.
    pub stamps: Vec<(u64, u64)>,
    /// Requests written after this moment may lack; `u64::MAX` where there was room for all.
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

    /// The interval has ended. Where there was room for all, nothing lacks, however late an interval was closed: a worker
    /// that was kept from its core writes the last requests after the interval's nominal end.
    pub(crate) fn close(&mut self) {
        let is_full = self.stamps.len() == SENT_MAX;
        self.complete_to_ns = self.stamps.last().filter(|_| is_full).map_or(u64::MAX, |last| last.1);
    }

    /// Keeps the first `most` stamps: it is complete up to the last of them.
    pub(crate) fn cut(&mut self, most: usize) {
        if self.stamps.len() > most {
            self.stamps.truncate(most);
            let last_ns = self.stamps.last().map_or(0, |last| last.1);
            self.complete_to_ns = self.complete_to_ns.min(last_ns);
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(stamps: impl Iterator<Item = (u64, u64)>) -> Sent {
        let mut sent = Sent::default();
        sent.reserve();
        stamps.for_each(|(intended_ns, written_ns)| sent.note(intended_ns, written_ns));
        sent.close();
        sent
    }

    #[test]
    fn what_a_late_worker_wrote_stays() {
        let mut merged = sent([(10, 11), (90, 140)].into_iter());
        merged.merge(&sent([(20, 21), (95, 160)].into_iter()));
        assert_eq!(merged.stamps, [(10, 11), (20, 21), (90, 140), (95, 160)]);
        assert_eq!(merged.complete_to_ns, u64::MAX);
    }

    #[test]
    fn what_is_cut_is_complete_up_to_its_last_stamp() {
        let whole = sent([(10, 11), (20, 21), (30, 31)].into_iter());
        let cut = |most| {
            let mut cut = whole.clone();
            cut.cut(most);
            (cut.stamps.len(), cut.complete_to_ns)
        };
        assert_eq!([cut(0), cut(2), cut(3)], [(0, 0), (2, 21), (3, u64::MAX)]);
    }

    #[test]
    fn after_the_last_stamp_of_a_full_worker_nothing_stays() {
        let full = sent((0..=SENT_MAX as u64).map(|step| (step, step)));
        assert_eq!((full.stamps.len(), full.complete_to_ns), (SENT_MAX, SENT_MAX as u64 - 1));
        let mut merged = sent([(5, 6), (9_000, 9_001)].into_iter());
        merged.merge(&full);
        assert_eq!(merged.stamps.len(), SENT_MAX + 1);
        assert!(merged.stamps.iter().all(|stamp| stamp.1 <= merged.complete_to_ns));
    }
}
