//! Deadlines: when a place or a connection is to be looked at, because its time may be over.
//!
//! A request costs the queue nothing. Each place and each connection stands in it once, for a time at which it cannot
//! be overdue yet. When that time comes, the real deadline is computed, and what is not overdue is queued again. So a
//! place that is used a thousand times within one time-out is looked at once.
//!
//! Invariant: the time for which something is queued is kept beside it, and an entry with any other time is void.

use super::place::PlaceId;
use crate::driver::SlotId;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use units::Nanos;

/// Bounds of the grain.
const GRAIN: (Nanos, Nanos) = (Nanos::MILLI, Nanos::from_millis(100));

/// What a deadline is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Watched {
    Place(PlaceId),
    Carrier(SlotId),
}

/// The queue.
#[derive(Debug)]
pub(super) struct Deadlines {
    due: BinaryHeap<Reverse<(Nanos, Watched)>>,
    /// Deadlines are kept to this. Those that lie close together wake the worker once, and an overloaded target is not
    /// sent one request after the other whose time is almost over.
    grain: Nanos,
}

impl Deadlines {
    /// With room for so many entries; kept to a sixteenth of the shortest time-out.
    pub(super) fn new(watched: usize, shortest: Nanos) -> Self {
        let grain = Nanos((shortest.0 / 16).clamp(GRAIN.0.0, GRAIN.1.0));
        Self { due: BinaryHeap::with_capacity(watched), grain }
    }

    /// The end of the grain in which a moment lies.
    #[inline]
    pub(super) const fn rounded(&self, at: Nanos) -> Nanos {
        Nanos(at.0.saturating_add(self.grain.0 - 1) / self.grain.0 * self.grain.0)
    }

    /// Has `whom` looked at no later than a grain after `at`; `watched` is kept beside it.
    #[inline]
    pub(super) fn watch(&mut self, whom: Watched, watched: &mut Nanos, at: Nanos) {
        if at < *watched {
            self.queue(whom, watched, self.rounded(at));
        }
    }

    /// As [`Deadlines::watch`], at the very moment: for times that are no time-outs.
    pub(super) fn queue(&mut self, whom: Watched, watched: &mut Nanos, at: Nanos) {
        if at < *watched {
            *watched = at;
            self.due.push(Reverse((at, whom)));
        }
    }

    /// When something is next to be looked at.
    #[inline]
    pub(super) fn next(&self) -> Option<Nanos> {
        self.due.peek().map(|Reverse((at, _))| *at)
    }

    /// The earliest entry, if its time has come.
    pub(super) fn pop(&mut self, now: Nanos) -> Option<(Nanos, Watched)> {
        self.next().filter(|at| *at <= now)?;
        self.due.pop().map(|Reverse(entry)| entry)
    }

    pub(super) fn len(&self) -> usize {
        self.due.len()
    }

    /// Forgets all entries, for the clock starts over.
    pub(super) fn clear(&mut self) {
        self.due.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::super::place::UNWATCHED;
    use super::*;

    #[test]
    fn one_entry_stands_for_all_later_times() {
        let (mut deadlines, mut watched) = (Deadlines::new(1, Nanos(16_000_000)), UNWATCHED);
        let place = Watched::Place(7);
        deadlines.watch(place, &mut watched, Nanos(2_500_000));
        for later in [2_500_000, 2_999_999, 3_000_000, 9_000_000] {
            deadlines.watch(place, &mut watched, Nanos(later));
        }
        assert_eq!((deadlines.len(), watched, deadlines.next()), (1, Nanos(3_000_000), Some(watched)));
        deadlines.watch(place, &mut watched, Nanos(500));
        assert_eq!((deadlines.len(), watched), (2, Nanos(1_000_000)), "an earlier one stands before it");
        assert_eq!(deadlines.pop(Nanos(999_999)), None);
        assert_eq!(deadlines.pop(Nanos(1_000_000)), Some((watched, place)));
        assert_eq!(deadlines.pop(Nanos(3_000_000)), Some((Nanos(3_000_000), place)), "void: not `watched`");
        assert_eq!(deadlines.pop(Nanos(u64::MAX)), None);
    }

    #[test]
    fn a_deadline_beyond_all_time_is_none() {
        let (mut deadlines, mut watched) = (Deadlines::new(0, UNWATCHED), UNWATCHED);
        deadlines.watch(Watched::Carrier(0), &mut watched, UNWATCHED);
        assert_eq!((deadlines.next(), watched), (None, UNWATCHED));
    }
}
