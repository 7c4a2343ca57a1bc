//! Counts of arrivals in equal bins of time, in any order of arrival, with a limit on their number.

/// Bins that are made at once where a record is earlier than all before it.
const SLACK: u64 = 600;

/// Arrivals by bin.
#[derive(Clone, Debug)]
pub(crate) struct Bins {
    width_ns: u64,
    max: u64,
    /// Number of the first bin since 1970.
    begin: u64,
    counts: Vec<u32>,
    outside: u64,
}

impl Bins {
    /// At most `max` bins; arrivals that would need more are only counted.
    pub(crate) const fn new(width_ns: u64, max: u64) -> Self {
        Self { width_ns, max, begin: 0, counts: Vec::new(), outside: 0 }
    }

    #[inline]
    pub(crate) fn add(&mut self, time_ns: u64) {
        let number = time_ns / self.width_ns;
        if let Some(count) = number.checked_sub(self.begin).and_then(|at| self.counts.get_mut(at as usize)) {
            *count = count.saturating_add(1);
        } else if self.make(number) {
            self.counts[(number - self.begin) as usize] += 1;
        } else {
            self.outside += 1;
        }
    }

    /// Makes room for a bin; false where there is none.
    fn make(&mut self, number: u64) -> bool {
        if self.counts.is_empty() {
            self.begin = number;
        }
        if number < self.begin {
            let missing = self.begin - number;
            let room = self.max.saturating_sub(self.counts.len() as u64);
            if missing > room {
                return false;
            }
            let added = (missing + SLACK).min(room).min(self.begin);
            self.counts.splice(0..0, std::iter::repeat_n(0, added as usize));
            self.begin -= added;
        } else if number - self.begin >= self.max {
            return false;
        } else if number - self.begin >= self.counts.len() as u64 {
            self.counts.resize((number - self.begin + 1) as usize, 0);
        }
        true
    }

    /// Arrivals that had no bin.
    pub(crate) const fn outside(&self) -> u64 {
        self.outside
    }

    pub(crate) const fn width_ns(&self) -> u64 {
        self.width_ns
    }

    /// Begin of the first bin with an arrival, since 1970, and the counts from there to the last with one.
    pub(crate) fn used(&self) -> (u64, &[u32]) {
        let Some(first) = self.counts.iter().position(|count| *count > 0) else { return (0, &[]) };
        let last = self.counts.iter().rposition(|count| *count > 0).unwrap_or(first);
        ((self.begin + first as u64) * self.width_ns, &self.counts[first..=last])
    }
}

/// Sums of `each` counts in a row; a last group that is not whole is left out.
pub(crate) fn sums(counts: &[u32], each: usize) -> impl Iterator<Item = u64> + '_ {
    counts.chunks_exact(each.max(1)).map(|group| group.iter().map(|count| u64::from(*count)).sum())
}

/// Index of dispersion of counts: variance over mean, 1 for a Poisson process of one rate. `None` with fewer than two
/// counts or no arrivals.
pub(crate) fn dispersion(counts: impl Iterator<Item = u64>) -> (u64, Option<f64>) {
    // Welford's update (Technometrics 4, 1962).
    let (mut n, mut mean, mut squares) = (0_u64, 0.0, 0.0);
    for count in counts {
        n += 1;
        let off = count as f64 - mean;
        mean += off / n as f64;
        squares += off * (count as f64 - mean);
    }
    let known = n > 1 && mean > 0.0;
    (n, known.then(|| squares / (n - 1) as f64 / mean))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrivals_are_counted_in_any_order_within_the_limit() {
        let mut bins = Bins::new(10, 1000);
        for time in [50_000, 50_009, 50_010, 49_990, 50_055, 44_000, 60_000, 1] {
            bins.add(time);
        }
        let (begin, counts) = bins.used();
        // Room for 1000 bins is used up towards the past, so 60,000 has none, nor has 1.
        assert_eq!((begin, bins.outside()), (44_000, 2));
        assert_eq!(counts.len(), 606);
        assert_eq!((counts[0], counts[599], counts[600], counts[601], counts[605]), (1, 1, 2, 1, 1));
        assert_eq!(sums(counts, 600).collect::<Vec<_>>(), [2]);
    }

    #[test]
    fn dispersion_is_variance_over_mean() {
        // Variance 2.5, mean 3.
        let (n, index) = dispersion([1, 2, 3, 4, 5].into_iter());
        assert!(n == 5 && (index.unwrap() - 2.5 / 3.0).abs() < 1e-12);
        assert_eq!(dispersion([0, 0].into_iter()).1, None);
        assert_eq!(dispersion([3].into_iter()).1, None);
    }
}
