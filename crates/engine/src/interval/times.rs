//! The times of METHOD §1 of the requests that ended in an interval, one store of times for each.

use super::waited::{Lack, Waited};
use crate::core::InFlight;
use crate::lazy_histogram::LazyHistogram;
use crate::tally::{AddTo, Store, Tally};
use hdrhistogram::Histogram;
use schema::load::Time;
use std::ops::{Index, IndexMut};
use units::Nanos;

/// The parts of the connection wait.
const WAITS: [(Time, Lack); 3] = [
    (Time::WaitConnection, Lack::Connection),
    (Time::WaitStream, Lack::Stream),
    (Time::WaitWindow, Lack::Window),
];

/// The times of METHOD §1, in nanoseconds: histograms, or the tallies of a worker. Indexed by [`Time`].
#[derive(Clone, Debug)]
pub struct Times<H = LazyHistogram> {
    /// In the order of [`Time::ALL`].
    by: [H; Time::ALL.len()],
    /// Response times of requests that were written when they were intended and answered in one piece: their service
    /// time and time to the first byte are the same, all lags are zero. Noted once on the hot path and added to
    /// the others by [`Times::settle`].
    plain: H,
    /// Requests of connections with streams that did not wait for one; added to their histograms by [`Times::settle`].
    at_once: u32,
}

impl<H: Store> Default for Times<H> {
    fn default() -> Self {
        Self { by: std::array::from_fn(|_| H::empty()), plain: H::empty(), at_once: 0 }
    }
}

impl Index<Time> for Times {
    type Output = Histogram<u64>;

    fn index(&self, time: Time) -> &Histogram<u64> {
        &self.by[time.index()]
    }
}

impl IndexMut<Time> for Times {
    fn index_mut(&mut self, time: Time) -> &mut Histogram<u64> {
        &mut self.by[time.index()]
    }
}

impl Index<Time> for Times<Tally> {
    type Output = Tally;

    #[inline]
    fn index(&self, time: Time) -> &Tally {
        &self.by[time.index()]
    }
}

impl IndexMut<Time> for Times<Tally> {
    #[inline]
    fn index_mut(&mut self, time: Time) -> &mut Tally {
        &mut self.by[time.index()]
    }
}

impl Times {
    /// Each histogram with the tag it has in `latency.hlog`, in the order of [`Time::ALL`].
    #[must_use]
    pub fn tagged(&self) -> [(&'static str, &Histogram<u64>); Time::ALL.len()] {
        Time::ALL.map(|time| (time.key(), &self[time]))
    }
}

impl<H: Store> Times<H> {
    pub(super) fn clear(&mut self) {
        self.by.iter_mut().for_each(Store::clear);
    }

    /// Adds the counts of `other`; the order of additions does not matter (METHOD §10).
    pub(super) fn add<P: AddTo<H>>(&mut self, other: &Times<P>) {
        self.by.iter_mut().zip(&other.by).for_each(|(sum, part)| part.add_to(sum));
    }
}

impl Times<Tally> {
    /// The times of a request that was answered rightly at `done`. They are complete after [`Times::settle`].
    #[inline]
    pub(crate) fn note(&mut self, request: &InFlight, done: Nanos) {
        let InFlight { intended, dispatched, ready, written, first_byte, .. } = *request;
        if first_byte.is_none() && [dispatched, ready, written] == [intended; 3] {
            return self.plain.note(done.since(intended).0, 1);
        }
        let first_byte = first_byte.unwrap_or(done);
        for (time, from, to) in [
            (Time::Response, intended, done),
            (Time::Service, written, done),
            (Time::SendLag, intended, written),
            (Time::PacerLag, intended, dispatched),
            (Time::Write, ready, written),
            (Time::FirstByte, written, first_byte),
            (Time::Transfer, first_byte, done),
        ] {
            self[time].note(to.since(from).0, 1);
        }
    }

    /// What a request on a connection with streams waited to be written, by cause. Complete after [`Times::settle`].
    #[inline]
    pub(crate) fn note_waits(&mut self, waited: Waited) {
        if waited == Waited::default() {
            self.at_once = self.at_once.saturating_add(1);
            return;
        }
        for (time, cause) in WAITS {
            self[time].note(waited[cause], 1);
        }
    }

    /// Adds plain requests to every tally they belong to; once at the end of an interval.
    pub(crate) fn settle(&mut self) {
        let at_once = std::mem::take(&mut self.at_once);
        if at_once > 0 {
            WAITS.iter().for_each(|(time, _)| self[*time].note(0, at_once));
        }
        let count = u32::try_from(self.plain.count()).unwrap_or(u32::MAX);
        if count == 0 {
            return;
        }
        for time in [Time::Response, Time::Service, Time::FirstByte] {
            self.plain.add_to(&mut self.by[time.index()]);
        }
        for lag in [Time::SendLag, Time::PacerLag, Time::Write, Time::Transfer] {
            self[lag].note(0, count);
        }
        self.plain.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Stamps in the order intended, dispatched, ready, written, first byte.
    fn request(stamps: [u64; 4], first_byte: Option<u64>) -> InFlight {
        InFlight {
            intended: Nanos(stamps[0]),
            dispatched: Nanos(stamps[1]),
            ready: Nanos(stamps[2]),
            written: Nanos(stamps[3]),
            first_byte: first_byte.map(Nanos),
            ..InFlight::default()
        }
    }

    #[test]
    fn every_request_with_streams_is_in_all_three_waits() {
        let mut found = Times::<Tally>::default();
        let mut waited = Waited::default();
        (waited[Lack::Connection], waited[Lack::Window]) = (40, 700);
        [Waited::default(), waited, Waited::default()].iter().for_each(|waited| found.note_waits(*waited));
        found.settle();
        let mut sum = Times::<LazyHistogram>::default();
        sum.add(&found);
        let of = |time| (sum[time].len(), sum[time].max(), sum[time].value_at_quantile(0.6));
        assert_eq!(of(Time::WaitConnection), (3, 40, 0));
        assert_eq!((of(Time::WaitStream), of(Time::WaitWindow)), ((3, 0, 0), (3, 700, 0)));
        found.clear();
        found.settle();
        assert_eq!(found[Time::WaitStream].count(), 0, "nothing is counted twice");
    }

    #[test]
    fn plain_requests_are_in_all_their_histograms_once_settled() {
        let cases = [
            (request([10; 4], None), 5_010),
            (request([10; 4], None), 900_010),
            (request([10; 4], Some(40)), 60),
            (request([10, 11, 11, 11], None), 70),
            (request([10, 10, 12, 12], None), 80),
            (request([10, 10, 10, 13], None), 90),
        ];
        let mut found = Times::<Tally>::default();
        cases.iter().for_each(|(request, done)| found.note(request, Nanos(*done)));
        found.settle();
        let mut wanted = Times::<LazyHistogram>::default();
        for (request, done) in cases {
            let first_byte = request.first_byte.unwrap_or(Nanos(done));
            for (time, from, to) in [
                (Time::Response, request.intended, Nanos(done)),
                (Time::Service, request.written, Nanos(done)),
                (Time::SendLag, request.intended, request.written),
                (Time::PacerLag, request.intended, request.dispatched),
                (Time::Write, request.ready, request.written),
                (Time::FirstByte, request.written, first_byte),
                (Time::Transfer, first_byte, Nanos(done)),
            ] {
                wanted[time].record(to.0 - from.0).unwrap();
            }
        }
        assert_eq!(found.plain.count(), 0, "a second settling would count twice");
        let mut sum = Times::<LazyHistogram>::default();
        sum.add(&found);
        for ((tag, found), (_, wanted)) in sum.tagged().into_iter().zip(wanted.tagged()) {
            assert_eq!(found, wanted, "{tag}");
        }
    }
}
