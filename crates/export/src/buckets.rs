//! Times as Prometheus counts them, derived from METHOD's histogram: native buckets, and classic ones for the others.
//!
//! Native buckets of schema 8 (Prometheus, "Native Histograms" specification): bucket `i` holds the times above
//! 2^((i-1)/256) s and up to 2^(i/256) s, 0.27 % wide. A quantile read from them by interpolation is off by that width
//! at most; METHOD's histograms, from which they are filled, by 0.1 %.

use crate::traced::Exemplar;
use hdrhistogram::Histogram;
use std::collections::BTreeMap;

/// Resolution of the native buckets: 2^8 for each doubling.
pub(crate) const SCHEMA: i32 = 8;
/// Upper bounds of the classic buckets in seconds: 1, 2.5, 5 a decade from 10 us to 10 s, then a minute.
pub(crate) const CLASSIC_S: [f64; 20] = [
    1e-5, 2.5e-5, 5e-5, 1e-4, 2.5e-4, 5e-4, 1e-3, 2.5e-3, 5e-3, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5,
    5.0, 10.0, 60.0,
];

/// Times by bucket, and their sum.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Times {
    /// Count by native bucket, ascending.
    pub(crate) native: BTreeMap<i32, u64>,
    /// Times up to each classic bound and above the one before, then those above all.
    classic: [u64; CLASSIC_S.len() + 1],
    pub(crate) count: u64,
    pub(crate) sum_s: f64,
    /// Some of the times with their traces, the longest first.
    pub(crate) exemplars: Vec<Exemplar>,
}

impl Times {
    /// Of times in nanoseconds.
    pub(crate) fn of(times_ns: &Histogram<u64>) -> Self {
        let mut times = Self::default();
        for bucket in times_ns.iter_recorded() {
            let count = bucket.count_since_last_iteration();
            let time_s = times_ns.median_equivalent(bucket.value_iterated_to()) as f64 / 1e9;
            *times.native.entry(native(time_s)).or_default() += count;
            times.classic[CLASSIC_S.partition_point(|bound| *bound < time_s)] += count;
            times.count += count;
            times.sum_s += time_s * count as f64;
        }
        times
    }

    /// With traces of some of them.
    pub(crate) fn with_exemplars(self, exemplars: Vec<Exemplar>) -> Self {
        Self { exemplars, ..self }
    }

    /// Upper bound in seconds and how many times are not above it, ascending; the last bound is infinite.
    pub(crate) fn cumulative(&self) -> impl Iterator<Item = (f64, u64)> {
        let bounds = CLASSIC_S.into_iter().chain([f64::INFINITY]);
        let mut sum = 0;
        bounds.zip(self.classic).map(move |(bound, count)| {
            sum += count;
            (bound, sum)
        })
    }
}

/// The native bucket of a time; a time of nothing is in that of a nanosecond.
fn native(time_s: f64) -> i32 {
    (time_s.max(1e-9).log2() * f64::from(1 << SCHEMA)).ceil() as i32
}

#[cfg(test)]
pub(crate) fn times(times_ns: &[u64]) -> Times {
    let mut histogram = record::hlog::new_histogram();
    times_ns.iter().for_each(|time_ns| histogram.saturating_record(*time_ns));
    Times::of(&histogram)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_time_is_in_one_bucket_of_each_kind() {
        assert_eq!((native(1.0), native(1.000_001), native(0.5)), (0, 1, -256));
        let times = times(&[1, 9_900, 11_000, 990_000_000, 61_000_000_000]);
        let found: Vec<(f64, u64)> = times.cumulative().collect();
        assert_eq!((found[0], found[1]), ((1e-5, 2), (2.5e-5, 3)));
        assert_eq!((found[15], found[19], found[20]), ((1.0, 4), (60.0, 4), (f64::INFINITY, 5)));
        assert_eq!((times.count, times.native.values().sum::<u64>()), (5, 5));
        assert!((times.sum_s / 61.99 - 1.0).abs() < 1e-3, "{}", times.sum_s);
    }
}
