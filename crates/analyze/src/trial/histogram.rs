//! Reading and merging HDR histograms (METHOD §10).

use hdrhistogram::Histogram;

/// Digits of resolution of a merged histogram.
const DIGITS: u8 = 3;
/// Range of a merged histogram, an hour; more where a value lies beyond.
const RANGE_NS: u64 = 3_600_000_000_000;

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
///
/// Its range is fixed before anything is added: one that grew as it went would end at a bound that tells the order.
pub(crate) fn merged<'a>(histograms: impl Iterator<Item = &'a Histogram<u64>>) -> Option<Histogram<u64>> {
    let histograms: Vec<&Histogram<u64>> = histograms.collect();
    let highest = histograms.iter().map(|histogram| histogram.max()).max()?.max(RANGE_NS);
    let mut sum = Histogram::new_with_bounds(1, highest, DIGITS).ok()?;
    for histogram in histograms {
        sum.add(histogram).ok()?;
    }
    Some(sum)
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

    fn bytes(histogram: &Histogram<u64>) -> Vec<u8> {
        use hdrhistogram::serialization::{Serializer, V2Serializer};
        let mut bytes = Vec::new();
        V2Serializer::new().serialize(histogram, &mut bytes).unwrap();
        bytes
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig {
            cases: 64, failure_persistence: None, ..proptest::prelude::ProptestConfig::default()
        })]

        /// However the same values are split, and in whatever order and grouping the parts are added.
        #[test]
        fn any_order_of_merging_gives_the_same_bytes(
            values in proptest::collection::vec((1_u64..9_000_000_000_000, 0_usize..6), 1..200),
            rotate in 0_usize..6,
        ) {
            let part = |wanted: usize| {
                let own: Vec<u64> = values.iter().filter(|(_, part)| *part == wanted).map(|(value, _)| *value).collect();
                histogram(3, &own)
            };
            let parts: Vec<Histogram<u64>> = (0..6).map(part).collect();
            let all: Vec<u64> = values.iter().map(|(value, _)| *value).collect();
            let whole = bytes(&merged([&histogram(3, &all)].into_iter()).unwrap());
            let in_order = merged(parts.iter()).unwrap();
            let mut turned: Vec<&Histogram<u64>> = parts.iter().rev().collect();
            turned.rotate_left(rotate);
            let in_turn = merged(turned.into_iter()).unwrap();
            let halves = [merged(parts[..rotate].iter()), merged(parts[rotate..].iter())];
            let grouped = merged(halves.iter().flatten()).unwrap();
            for sum in [&in_order, &in_turn, &grouped] {
                proptest::prop_assert_eq!(&bytes(sum), &whole);
            }
        }
    }
}
