//! Requests of a trial that stand out and whose traces are sampled: as spans once, and as exemplars of the response time.
//!
//! Invariants: a request is given once, and stays until whoever takes it says that it is sent; memory is bounded: beyond
//! [`WAITING_MAX`] the oldest go; nothing of the warm-up is kept.

use schema::traced::{NotableRequest, TraceIds};
use schema::trial::{IntervalLine, Phase};
use std::collections::VecDeque;

/// Requests that wait to be sent.
const WAITING_MAX: usize = 1 << 16;
/// Exemplars of a trial.
const EXEMPLARS_MAX: usize = 8;

/// A request that stands out, as it is sent.
#[derive(Clone, Debug, PartialEq)]
pub struct TracedRequest {
    /// Name of the run's folder.
    pub run: String,
    /// Number of the trial.
    pub trial: u32,
    /// Label of its cell.
    pub cell: String,
    /// The trial's origin on the wall clock, in nanoseconds since 1970.
    pub origin_unix_ns: u64,
    /// The request.
    pub request: NotableRequest,
}

/// A response time with the trace of its request.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Exemplar {
    pub(crate) value_s: f64,
    /// When the answer was complete, in nanoseconds since 1970.
    pub(crate) time_unix_ns: u64,
    pub(crate) trace: TraceIds,
}

/// What a trial has of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Traced {
    /// Whether requests are kept until they are sent.
    keeps: bool,
    waiting: VecDeque<(u64, NotableRequest)>,
    slowest: Vec<(u64, NotableRequest)>,
}

impl Traced {
    pub(crate) fn new(keeps: bool) -> Self {
        Self { keeps, ..Self::default() }
    }

    pub(crate) const fn keeps(&self) -> bool {
        self.keeps
    }

    /// An interval of the trial. One without an origin on the wall clock has no traces.
    pub(crate) fn interval(&mut self, line: &IntervalLine) {
        let Some(origin_unix_ns) = line.origin_unix_ns.filter(|_| line.phase != Some(Phase::Warmup)) else {
            return;
        };
        let of = &line.notable;
        let with_origin = |one: &NotableRequest| (origin_unix_ns, one.clone());
        self.slowest.extend(of.slowest_sampled.iter().map(with_origin));
        self.slowest.sort_by_key(|(_, one)| (u64::MAX - one.response_ns, one.request));
        self.slowest.truncate(EXEMPLARS_MAX);
        if self.keeps {
            self.waiting.extend(of.slowest_sampled.iter().chain(&of.failures_sampled).map(with_origin));
            self.waiting.drain(..self.waiting.len().saturating_sub(WAITING_MAX));
        }
    }

    /// The oldest requests that were not sent, at most so many.
    pub(crate) fn waiting(&self, at_most: usize) -> impl Iterator<Item = &(u64, NotableRequest)> {
        self.waiting.iter().take(at_most)
    }

    /// So many of the oldest were sent.
    pub(crate) fn sent(&mut self, count: usize) {
        self.waiting.drain(..count.min(self.waiting.len()));
    }

    /// The slowest requests so far, the slowest first.
    pub(crate) fn exemplars(&self) -> Vec<Exemplar> {
        let exemplar = |(origin_unix_ns, one): &(u64, NotableRequest)| {
            Some(Exemplar {
                value_s: one.response_ns as f64 / 1e9,
                time_unix_ns: origin_unix_ns.saturating_add(one.intended_ns).saturating_add(one.response_ns),
                trace: one.trace.clone()?,
            })
        };
        self.slowest.iter().filter_map(exemplar).collect()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use schema::traced::NotableRequests;
    use units::Tracing;

    pub(crate) fn request(number: u64, response_ns: u64) -> NotableRequest {
        NotableRequest {
            request: number,
            name: "get".into(),
            intended_ns: 1_000,
            wait_ns: Some(10),
            response_ns,
            status: Some(200),
            error: None,
            trace: Some(TraceIds::of(Tracing::new(1, 1.0), number)),
        }
    }

    fn line(phase: Phase, slow: &[u64]) -> IntervalLine {
        let slowest_sampled = slow.iter().map(|number| request(*number, number * 1_000)).collect();
        IntervalLine {
            phase: Some(phase),
            origin_unix_ns: Some(5),
            notable: NotableRequests { slowest_sampled, ..NotableRequests::default() },
            ..IntervalLine::default()
        }
    }

    #[test]
    fn requests_wait_until_they_are_sent_and_those_of_the_warm_up_are_left_out() {
        let mut traced = Traced::new(true);
        traced.interval(&line(Phase::Warmup, &[99]));
        traced.interval(&line(Phase::Sample, &[3, 2]));
        traced.interval(&line(Phase::Drain, &[7]));
        let numbers = |traced: &Traced, at_most| -> Vec<u64> {
            traced.waiting(at_most).map(|(_, one)| one.request).collect()
        };
        assert_eq!((numbers(&traced, 2), numbers(&traced, 9)), (vec![3, 2], vec![3, 2, 7]));
        traced.sent(2);
        assert_eq!(numbers(&traced, 9), [7]);
        let exemplars = traced.exemplars();
        assert_eq!((exemplars[0].value_s, exemplars[0].time_unix_ns, exemplars.len()), (7e-6, 8_005, 3));
    }

    #[test]
    fn memory_is_bounded_whatever_a_file_says() {
        let mut traced = Traced::new(true);
        let many: Vec<u64> = (0..1_000).collect();
        (0..100).for_each(|_| traced.interval(&line(Phase::Sample, &many)));
        assert_eq!((traced.waiting.len(), traced.slowest.len()), (WAITING_MAX, EXEMPLARS_MAX));
        let mut scraped = Traced::new(false);
        scraped.interval(&line(Phase::Sample, &many));
        assert!(scraped.waiting.is_empty() && !scraped.exemplars().is_empty());
    }
}
