//! Quantiles of all times since the warm-up, by METHOD's histogram, for those who cannot read native buckets.

use std::collections::BTreeMap;

/// Quantiles that are told.
pub(crate) const TOLD: [(&str, f64); 5] =
    [("0.5", 0.5), ("0.9", 0.9), ("0.95", 0.95), ("0.99", 0.99), ("0.999", 0.999)];

/// How often each time came; times are those of METHOD §10's histogram, hence few.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counts {
    times: BTreeMap<u64, u64>,
    count: u64,
}

impl Counts {
    pub(crate) fn add(&mut self, time_ns: u64, count: u64) {
        *self.times.entry(time_ns).or_default() += count;
        self.count += count;
    }

    /// The smallest time that the share `at` of all is not above; `None` without times.
    pub(crate) fn quantile_ns(&self, at: f64) -> Option<u64> {
        let rank = ((at * self.count as f64).ceil() as u64).max(1);
        let mut sum = 0;
        self.times.iter().find_map(|(time_ns, count)| {
            sum += count;
            (sum >= rank).then_some(*time_ns)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantile_is_the_time_of_its_rank() {
        let mut counts = Counts::default();
        assert_eq!(counts.quantile_ns(0.5), None);
        (1..=100).rev().for_each(|time_ns| counts.add(time_ns, 10));
        assert_eq!(TOLD.map(|(_, at)| counts.quantile_ns(at)), [50, 90, 95, 99, 100].map(Some));
    }
}
