//! The percentile distribution text of HdrHistogram (`.hgrm`), as `outputPercentileDistribution` of the Java library
//! and wrk2 print it and the HdrHistogram plotter reads it. Values are milliseconds.

use hdrhistogram::Histogram;
use std::fmt::Write as _;

/// Rows for each halving of the distance to 100 %, as the Java library's default.
const TICKS_PER_HALF_DISTANCE: u32 = 5;
const NS_PER_MS: f64 = 1e6;

/// The distribution of `histogram` (nanoseconds) with its `#[Mean`, `#[Max` and `#[Buckets` footer.
///
/// Finite values only: the format has no place for requests that never ended.
#[must_use]
pub fn hgrm(histogram: &Histogram<u64>) -> String {
    let mut text =
        format!("{:>12} {:>14} {:>10} {:>14}\n\n", "Value", "Percentile", "TotalCount", "1/(1-Percentile)");
    let mut total = 0_u64;
    for step in histogram.iter_quantiles(TICKS_PER_HALF_DISTANCE) {
        total += step.count_since_last_iteration();
        let value_ms = histogram.highest_equivalent(step.value_iterated_to()) as f64 / NS_PER_MS;
        let quantile = step.quantile_iterated_to();
        let _ = write!(text, "{value_ms:12.6} {quantile:14.12} {total:10}");
        // At 100 % there is no number to write.
        let _ =
            if quantile < 1.0 { writeln!(text, " {:14.2}", 1.0 / (1.0 - quantile)) } else { writeln!(text) };
    }
    let (mean, deviation) =
        if histogram.is_empty() { (0.0, 0.0) } else { (histogram.mean(), histogram.stdev()) };
    let sub_buckets = 2 * 10_u32.pow(histogram.sigfig().into());
    let _ = write!(
        text,
        "#[Mean    = {:12.6}, StdDeviation   = {:12.6}]\n#[Max     = {:12.6}, Total count    = {:12}]\n\
         #[Buckets = {:12}, SubBuckets     = {:12}]\n",
        mean / NS_PER_MS,
        deviation / NS_PER_MS,
        histogram.max() as f64 / NS_PER_MS,
        histogram.len(),
        histogram.buckets(),
        sub_buckets.next_power_of_two(),
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hlog::new_histogram;

    #[test]
    fn the_text_is_the_one_that_plotters_read() {
        let mut histogram = new_histogram();
        (1..=10_000_u64).for_each(|value| histogram.record(value * 1_000).unwrap());
        let text = hgrm(&histogram);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "       Value     Percentile TotalCount 1/(1-Percentile)");
        let rows: Vec<Vec<f64>> = lines[2..]
            .iter()
            .take_while(|line| !line.starts_with('#'))
            .map(|line| line.split_whitespace().map(|number| number.parse().unwrap()).collect())
            .collect();
        assert!(
            rows.len() > 20 && rows.windows(2).all(|two| two[0][0] <= two[1][0] && two[0][2] <= two[1][2])
        );
        let median = rows.iter().find(|row| row[1] >= 0.5).unwrap();
        assert!((median[0] / 5.0 - 1.0).abs() < 0.002 && (median[3] - 2.0).abs() < 0.01, "{median:?}");
        let last = rows.last().unwrap();
        assert_eq!((last.len(), last[1], last[2]), (3, 1.0, 10_000.0), "the last row has no fourth column");
        assert!(
            text.contains("#[Mean    =     5.0") && text.contains("Total count    =        10000]"),
            "{text}"
        );
        assert!(text.contains("SubBuckets     =         2048]"), "{text}");
    }

    #[test]
    fn nothing_recorded_is_still_a_file() {
        let text = hgrm(&new_histogram());
        assert!(text.contains("Total count    =            0]") && !text.contains("NaN"), "{text}");
    }
}
