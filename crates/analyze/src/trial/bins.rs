//! One histogram in few bins: what the page draws as "how many answers took how long".

use hdrhistogram::Histogram;
use schema::analysis::Bin;

/// Bins of a decade: neighbours differ by 12 %, which can be seen and is far above the step of the histogram (0.1 %).
const BINS_A_DECADE: i32 = 20;
/// Six decades; what lies further out than that from the fastest answer goes into the last bin.
const BINS_MAX: usize = 120;

/// The share of requests by response time, in bins of equal width on a logarithmic axis, from the first to the last that
/// holds any; `censored` more requests lie above them all, so that shares need not add up to 1. Empty without a request.
#[must_use]
pub(crate) fn bins(histogram: &Histogram<u64>, censored: u64) -> Vec<Bin> {
    let n = histogram.len().saturating_add(censored);
    let mut counts: Vec<u64> = Vec::new();
    let mut first = None;
    for bucket in histogram.iter_recorded() {
        // The middle of the bucket, so that one that lies across a border is in the bin that has more of it.
        let bin = bin_of(histogram.median_equivalent(bucket.value_iterated_to()));
        let at = (bin - *first.get_or_insert(bin)) as usize;
        let at = at.min(BINS_MAX - 1);
        counts.resize(counts.len().max(at + 1), 0);
        counts[at] += bucket.count_at_value();
    }
    let first = first.unwrap_or(0);
    let bin = |(at, count): (usize, u64)| {
        let place = first + i32::try_from(at).unwrap_or(i32::MAX);
        Bin { from_ns: border(place), to_ns: border(place + 1), share: count as f64 / n as f64 }
    };
    counts.into_iter().enumerate().map(bin).collect()
}

fn bin_of(ns: u64) -> i32 {
    ((ns.max(1) as f64).log10() * f64::from(BINS_A_DECADE)).floor() as i32
}

fn border(bin: i32) -> f64 {
    10.0_f64.powf(f64::from(bin) / f64::from(BINS_A_DECADE))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn histogram(values: &[u64]) -> Histogram<u64> {
        let mut histogram = Histogram::new(3).unwrap();
        values.iter().for_each(|value| histogram.record(*value).unwrap());
        histogram
    }

    #[test]
    fn every_request_is_in_the_bin_that_its_time_lies_in() {
        let bins = bins(&histogram(&[1_000, 1_001, 1_500, 20_000]), 4);
        let count =
            |ns: f64| bins.iter().find(|bin| bin.from_ns <= ns && ns < bin.to_ns).unwrap().share * 8.0;
        assert_eq!([1_000.5, 1_500.0, 20_000.0, 5_000.0].map(count), [2.0, 1.0, 1.0, 0.0]);
        assert!(
            (bins.iter().map(|bin| bin.share).sum::<f64>() - 0.5).abs() < 1e-12,
            "the censored are in none"
        );
        assert!(bins.windows(2).all(|pair| pair[0].to_ns == pair[1].from_ns));
    }

    #[test]
    fn nothing_has_no_bins_and_the_last_takes_what_lies_far_out() {
        assert_eq!(bins(&histogram(&[]), 3), []);
        let far = bins(&histogram(&[1, u64::MAX / 4]), 0);
        assert_eq!((far.len(), far[0].share, far[BINS_MAX - 1].share), (BINS_MAX, 0.5, 0.5));
    }
}
