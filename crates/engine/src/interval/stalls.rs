//! Stalls: times in which requests were in flight and none of them ended.
//!
//! Invariants: a worker's stall begins when its last request ended, or when its first one after a time without any was
//! written, and ends when one ends or at the interval's end, so that a long one is told in pieces that touch. Of several
//! workers only the time stays in which all of them waited: a worker with nothing in flight knows of no stall, so what
//! is told is never too much. Memory is bounded: the shortest make room for longer ones.
//! Absent on purpose: what a stall means, which is for the analysis (crate analyze, `run::why`).

use serde::{Deserialize, Serialize};
use units::Nanos;

/// Shorter ones are not noted: gaps of this length are common between the answers of slow targets.
pub(crate) const STALL_MIN_NS: u64 = 10_000_000;
/// Stalls of one interval.
const STALLS_MAX: usize = 32;

/// A time in which nothing ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Stall {
    /// Begin, from the trial's origin.
    pub start_ns: u64,
    /// End, from the trial's origin.
    pub end_ns: u64,
    /// Requests in flight at its end.
    pub in_flight: u64,
}

impl Stall {
    const fn length_ns(&self) -> u64 {
        self.end_ns.saturating_sub(self.start_ns)
    }

    /// The time that two workers waited at once.
    fn common(&self, other: &Self) -> Option<Self> {
        let both = Self {
            start_ns: self.start_ns.max(other.start_ns),
            end_ns: self.end_ns.min(other.end_ns),
            in_flight: self.in_flight + other.in_flight,
        };
        (both.start_ns < both.end_ns).then_some(both)
    }
}

/// The stalls of one interval, in order of time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct Stalls {
    list: Vec<Stall>,
    /// How many workers' lists are in it; none in an empty sum.
    workers: u64,
}

impl Stalls {
    /// What was noted, in order of time.
    #[must_use]
    pub fn as_slice(&self) -> &[Stall] {
        &self.list
    }

    /// Notes a stall that has ended. Of too many the longest stay.
    pub(crate) fn note(&mut self, start: Nanos, end: Nanos, in_flight: u64) {
        let stall = Stall { start_ns: start.0, end_ns: end.0, in_flight };
        if self.list.len() == STALLS_MAX {
            let shortest = self.list.iter().enumerate().min_by_key(|(_, stall)| stall.length_ns());
            match shortest.filter(|(_, shortest)| shortest.length_ns() < stall.length_ns()) {
                Some((place, _)) => self.list.remove(place),
                None => return,
            };
        }
        self.list.push(stall);
    }

    /// Memory for a whole interval of one worker.
    pub(crate) fn reserve(&mut self) {
        self.list.reserve_exact(STALLS_MAX);
    }

    /// A worker's interval has ended.
    pub(crate) const fn close(&mut self) {
        self.workers = 1;
    }

    pub(super) fn clear(&mut self) {
        self.list.clear();
        self.workers = 0;
    }

    /// Adds the stalls of other workers in the same interval: the time stays in which all of them waited. Intervals that
    /// do not overlap have none in common.
    pub(super) fn merge(&mut self, other: &Self) {
        match (self.workers, other.workers) {
            (_, 0) => {}
            (0, _) => self.clone_from(other),
            _ => {
                let pairs = self.list.iter().flat_map(|mine| other.list.iter().map(move |its| (mine, its)));
                let mut common: Vec<Stall> = pairs.filter_map(|(mine, its)| mine.common(its)).collect();
                common.sort_unstable_by_key(|stall| stall.start_ns);
                self.list = common;
                self.workers += other.workers;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn worker(of: &[(u64, u64, u64)]) -> Stalls {
        let mut stalls = Stalls::default();
        of.iter().for_each(|(start, end, in_flight)| stalls.note(Nanos(*start), Nanos(*end), *in_flight));
        stalls.close();
        stalls
    }

    #[test]
    fn only_the_time_in_which_all_workers_waited_stays() {
        let parts = [worker(&[(10, 50, 2), (60, 90, 2)]), worker(&[(20, 70, 3)]), worker(&[(0, 100, 1)])];
        for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0]] {
            let mut sum = Stalls::default();
            order.iter().for_each(|part: &usize| sum.merge(&parts[*part]));
            let found: Vec<(u64, u64, u64)> =
                sum.as_slice().iter().map(|stall| (stall.start_ns, stall.end_ns, stall.in_flight)).collect();
            assert_eq!(found, [(20, 50, 6), (60, 70, 6)], "{order:?}");
        }
    }

    #[test]
    fn a_worker_that_answered_all_the_time_leaves_no_stall() {
        let mut sum = worker(&[(10, 50, 2)]);
        sum.merge(&worker(&[]));
        assert_eq!(sum.as_slice(), []);
        sum.merge(&worker(&[(10, 50, 2)]));
        assert_eq!(sum.as_slice(), [], "it was never silent, whoever comes after");
    }

    #[test]
    fn of_too_many_the_longest_stay_and_their_order_in_time() {
        let mut stalls = Stalls::default();
        (0..100).for_each(|at| stalls.note(Nanos(at * 1_000), Nanos(at * 1_000 + at + 1), 4));
        let starts: Vec<u64> = stalls.as_slice().iter().map(|stall| stall.start_ns / 1_000).collect();
        assert_eq!(starts, (68..100).collect::<Vec<_>>());
    }
}
