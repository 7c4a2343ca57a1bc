//! Requests that stand out in an interval, by their numbers: the slowest, and those that failed first.
//!
//! Invariants: the lists are bounded, and what is in them follows from a total order (time, then number), so that merging the
//! lists of several workers gives the list that one worker would have; a request that is not among them costs one comparison,
//! and where traces are sent another one; no allocation once the memory is reserved. The slowest are among those whose
//! times the interval's histogram has.
//! Absent on purpose: trace ids, which follow from the number (`units::Tracing`).

use crate::fate::Fate;
use schema::load::ErrorClass;
use schema::traced::NotableRequests;
use serde::{Deserialize, Serialize};
use units::{Nanos, Tracing};

const NOTABLE_MAX: usize = NotableRequests::MAX;

/// A request that stands out. Times are in nanoseconds from the trial's origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Notable {
    /// Number of the request over all workers.
    pub request: u64,
    /// Place in the scenario.
    pub entry: u16,
    /// When it should have been sent.
    pub intended_ns: u64,
    /// When it was handed to the system in full.
    pub written_ns: Option<u64>,
    /// When its answer was complete, or it failed.
    pub done_ns: u64,
    /// Status code of the answer; 0 where none came.
    pub status: u16,
    /// Class of the failure; absent for a right answer.
    pub class: Option<ErrorClass>,
}

impl Notable {
    pub(crate) fn of(request: u64, fate: &Fate, class: Option<ErrorClass>, done: Nanos) -> Self {
        Self {
            request,
            entry: fate.entry,
            intended_ns: fate.intended.0,
            written_ns: fate.was_written.then_some(fate.written.0),
            done_ns: done.0,
            status: fate.status,
            class,
        }
    }

    /// Done − intended.
    #[must_use]
    pub const fn response_ns(&self) -> u64 {
        self.done_ns.saturating_sub(self.intended_ns)
    }
}

/// A place in the order of a list, the first first.
type Rank = (u64, u64);

/// The first of an order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
struct First(Vec<Notable>);

impl First {
    /// Notes a request where it belongs to the first.
    fn note(&mut self, notable: Notable, rank: fn(&Notable) -> Rank) {
        let at = self.0.partition_point(|kept| rank(kept) <= rank(&notable));
        if at < NOTABLE_MAX {
            self.0.truncate(NOTABLE_MAX - 1);
            self.0.insert(at, notable);
        }
    }

    /// The last of a full list.
    #[inline]
    fn last(&self) -> Option<&Notable> {
        self.0.get(NOTABLE_MAX - 1)
    }
}

fn by_response(notable: &Notable) -> Rank {
    (u64::MAX - notable.response_ns(), notable.request)
}

fn by_end(notable: &Notable) -> Rank {
    (notable.done_ns, notable.request)
}

/// Requests that stand out in one interval.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct Notables {
    slowest: First,
    failures: First,
    slowest_sampled: First,
    failures_sampled: First,
}

impl Notables {
    /// Completed requests, the slowest first.
    #[must_use]
    pub fn slowest(&self) -> &[Notable] {
        &self.slowest.0
    }

    /// The first failures, in their order.
    #[must_use]
    pub fn failures(&self) -> &[Notable] {
        &self.failures.0
    }

    /// As [`Notables::slowest`], of the requests whose traces are sampled.
    #[must_use]
    pub fn slowest_sampled(&self) -> &[Notable] {
        &self.slowest_sampled.0
    }

    /// As [`Notables::failures`], of the requests whose traces are sampled.
    #[must_use]
    pub fn failures_sampled(&self) -> &[Notable] {
        &self.failures_sampled.0
    }

    /// Whether a completed request with this response time may be among the slowest.
    #[inline]
    pub(crate) fn wants(&self, response: Nanos, tracing: Option<Tracing>) -> bool {
        let is_slow = |list: &First| list.last().is_none_or(|last| last.response_ns() <= response.0);
        is_slow(&self.slowest) || (tracing.is_some() && is_slow(&self.slowest_sampled))
    }

    /// Notes a completed request that [`Notables::wants`] let through.
    pub(crate) fn completed(&mut self, notable: Notable, tracing: Option<Tracing>) {
        self.slowest.note(notable, by_response);
        if tracing.is_some_and(|tracing| tracing.is_sampled(notable.request)) {
            self.slowest_sampled.note(notable, by_response);
        }
    }

    /// Notes a failed request.
    pub(crate) fn failed(&mut self, notable: Notable, tracing: Option<Tracing>) {
        self.failures.note(notable, by_end);
        if tracing.is_some_and(|tracing| tracing.is_sampled(notable.request)) {
            self.failures_sampled.note(notable, by_end);
        }
    }

    /// Memory for a whole interval.
    pub(crate) fn reserve(&mut self) {
        self.lists().into_iter().for_each(|list| list.0.reserve_exact(NOTABLE_MAX));
    }

    pub(super) fn clear(&mut self) {
        self.lists().into_iter().for_each(|list| list.0.clear());
    }

    /// Adds the requests of another worker, or of another interval.
    pub(super) fn merge(&mut self, other: &Self) {
        let Self { slowest, failures, slowest_sampled, failures_sampled } = other;
        slowest.0.iter().for_each(|notable| self.slowest.note(*notable, by_response));
        failures.0.iter().for_each(|notable| self.failures.note(*notable, by_end));
        slowest_sampled.0.iter().for_each(|notable| self.slowest_sampled.note(*notable, by_response));
        failures_sampled.0.iter().for_each(|notable| self.failures_sampled.note(*notable, by_end));
    }

    const fn lists(&mut self) -> [&mut First; 4] {
        let Self { slowest, failures, slowest_sampled, failures_sampled } = self;
        [slowest, failures, slowest_sampled, failures_sampled]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn notable(request: u64, response_ns: u64, done_ns: u64) -> Notable {
        let intended_ns = done_ns - response_ns;
        Notable { request, entry: 0, intended_ns, written_ns: None, done_ns, status: 200, class: None }
    }

    proptest! {
        #[test]
        fn merged_lists_are_those_of_one_worker(
            // Few distinct times, so that numbers must decide.
            times in proptest::collection::vec((1_u64..6, 10_u64..16, any::<bool>(), 0_usize..3), 0..200),
        ) {
            let of = Tracing::new(1, 0.3);
            let tracing = Some(of);
            let (mut alone, mut workers) = (Notables::default(), vec![Notables::default(); 3]);
            let mut all = Vec::new();
            for (request, (response_ns, done_ns, fails, worker)) in (0..).zip(times) {
                let notable = notable(request, response_ns, done_ns);
                for list in [&mut alone, &mut workers[worker]] {
                    if fails {
                        list.failed(notable, tracing);
                    } else if list.wants(Nanos(response_ns), tracing) {
                        list.completed(notable, tracing);
                    }
                }
                all.push((fails, notable));
            }
            let mut merged = Notables::default();
            workers.iter().rev().for_each(|list| merged.merge(list));
            prop_assert_eq!(&merged, &alone);
            let mut slow: Vec<_> = all.iter().filter(|(fails, _)| !fails).map(|(_, one)| *one).collect();
            slow.sort_by_key(by_response);
            slow.truncate(NOTABLE_MAX);
            prop_assert_eq!(alone.slowest(), &slow);
            let sampled = |one: &Notable| of.is_sampled(one.request);
            let mut failed: Vec<_> =
                all.iter().filter(|(fails, one)| *fails && sampled(one)).map(|(_, one)| *one).collect();
            failed.sort_by_key(by_end);
            failed.truncate(NOTABLE_MAX);
            prop_assert_eq!(alone.failures_sampled(), &failed);
        }
    }

    #[test]
    fn lists_need_no_memory_beyond_what_was_reserved() {
        let mut lists = Notables::default();
        lists.reserve();
        let room: Vec<_> = lists.lists().map(|list| list.0.capacity()).into();
        for request in 0..1_000 {
            lists.completed(notable(request, request, 5_000), Some(Tracing::new(1, 1.0)));
            lists.failed(notable(request, 1, 5_000 - request), Some(Tracing::new(1, 1.0)));
        }
        assert_eq!(lists.lists().map(|list| list.0.capacity()).to_vec(), room);
        assert_eq!(lists.slowest().iter().map(|one| one.request).collect::<Vec<_>>()[..2], [999, 998]);
        assert_eq!(lists.failures_sampled().len(), NOTABLE_MAX);
    }
}
