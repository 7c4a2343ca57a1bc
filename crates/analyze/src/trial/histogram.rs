//! Reading and merging HDR histograms (METHOD §10).

use hdrhistogram::Histogram;

/// Digits of resolution of a merged histogram.
const DIGITS: u8 = 3;

/// The values at `ranks` (from 1, rising), each as the highest value of its bucket, which is what every HDR tool
/// prints. Ranks beyond the count give nothing, so the answer may be shorter.
pub(crate) fn values_at(histogram: &Histogram<u64>, ranks: &[u64]) -> Vec<u64> {
    let mut values = Vec::with_capacity(ranks.len());
    let mut passed = 0_u64;
    for bucket in histogram.iter_recorded() {
        passed = passed.saturating_add(bucket.count_at_value());
        while ranks.get(values.len()).is_some_and(|rank| *rank <= passed) {
            values.push(histogram.highest_equivalent(bucket.value_iterated_to()));
        }
    }
    values
}

/// The sum of histograms; `None` without any, or where their values cannot be held together.
pub(crate) fn merged<'a>(histograms: impl Iterator<Item = &'a Histogram<u64>>) -> Option<Histogram<u64>> {
    let mut sum: Option<Histogram<u64>> = None;
    for histogram in histograms {
        let sum = match &mut sum {
            Some(sum) => sum,
            None => {
                let mut empty = Histogram::new(DIGITS).ok()?;
                empty.auto(true);
                sum.insert(empty)
            }
        };
        sum.add(histogram).ok()?;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    fn histogram(digits: u8, values: &[u64]) -> Histogram<u64> {
        let mut histogram = Histogram::new(digits).unwrap();
        for value in values {
            histogram.record(*value).unwrap();
        }
        histogram
    }

    #[test]
    fn ranks_count_observations_and_stop_at_the_last() {
        let histogram = histogram(3, &[5, 7, 7, 9]);
        assert_eq!(values_at(&histogram, &[1, 2, 3, 4, 5]), [5, 7, 7, 9]);
        assert_eq!(values_at(&histogram, &[3, 3]), [7, 7]);
        assert_eq!(values_at(&Histogram::new(3).unwrap(), &[1]), [0_u64; 0]);
    }

    #[test]
    fn merging_adds_counts_in_any_order_and_over_any_range() {
        let (small, large) = (histogram(3, &[1, 2, 3]), histogram(2, &[3_600_000_000_000, u64::MAX / 2]));
        let ab = merged([&small, &large].into_iter()).unwrap();
        let ba = merged([&large, &small].into_iter()).unwrap();
        assert_eq!(ab.len(), 5);
        assert_eq!(values_at(&ab, &[1, 2, 3, 4, 5]), values_at(&ba, &[1, 2, 3, 4, 5]));
        assert!(merged(std::iter::empty()).is_none());
    }
}
