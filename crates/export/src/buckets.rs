//! Times as Prometheus counts them: native buckets, of which the classic ones are sums.
//!
//! Native buckets of schema 8 (Prometheus, "Native Histograms" specification): bucket `i` holds the times above
//! 2^((i-1)/256) s and up to 2^(i/256) s, 0.27 % wide. A quantile read from them by interpolation is off by that width
//! at most; METHOD's histograms, from which they are filled, by 0.1 %.

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
    native: BTreeMap<i32, u64>,
    /// Times up to each classic bound and above the one before, then those above all.
    classic: [u64; CLASSIC_S.len() + 1],
    count: u64,
    sum_s: f64,
}

impl Times {
    /// Counts a time in nanoseconds so many times.
    pub(crate) fn add(&mut self, time_ns: u64, count: u64) {
        let time_s = time_ns as f64 / 1e9;
        *self.native.entry(bucket(time_s)).or_default() += count;
        self.classic[CLASSIC_S.partition_point(|bound| *bound < time_s)] += count;
        self.count += count;
        self.sum_s += time_s * count as f64;
    }

    /// How many times.
    pub(crate) const fn count(&self) -> u64 {
        self.count
    }

    /// Their sum in seconds.
    pub(crate) const fn sum_s(&self) -> f64 {
        self.sum_s
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

    /// Native buckets that hold a time, ascending.
    pub(crate) fn native(&self) -> impl Iterator<Item = (i32, u64)> {
        self.native.iter().map(|(index, count)| (*index, *count))
    }
}

/// The native bucket of a time; a time of nothing is in that of a nanosecond.
fn bucket(time_s: f64) -> i32 {
    (time_s.max(1e-9).log2() * f64::from(1 << SCHEMA)).ceil() as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_belong_to_the_bucket_below_them() {
        assert_eq!((bucket(1.0), bucket(1.000_001), bucket(0.5)), (0, 1, -256));
        let mut times = Times::default();
        [0, 10_000, 10_001, 1_000_000_000, 61_000_000_000]
            .into_iter()
            .for_each(|time_ns| times.add(time_ns, 2));
        let found: Vec<(f64, u64)> = times.cumulative().collect();
        assert_eq!((found[0], found[1]), ((1e-5, 4), (2.5e-5, 6)));
        assert_eq!(found[15], (1.0, 8));
        assert_eq!((found[19], found[20]), ((60.0, 8), (f64::INFINITY, 10)));
        assert_eq!((times.count(), times.native().map(|(_, count)| count).sum::<u64>()), (10, 10));
    }
}
