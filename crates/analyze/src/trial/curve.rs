//! The percentile curve of one histogram, on a scale of nines.

use super::histogram::values_at;
use super::quantile_floor;
use crate::stats::order::rank_of;
use hdrhistogram::Histogram;
use schema::analysis::CurvePoint;

/// Steps of the curve for each nine: 0, 0.21, 0.37, … 0.9, … 0.99.
const STEPS_PER_NINE: u32 = 10;
/// The curve ends at four nines.
const NINES: u32 = 4;

/// Quantiles 0 to 0.9999 of `histogram` (nanoseconds) where `censored` more requests lie above every value, as far as
/// METHOD §4 allows; quantiles among the censored are left out.
#[must_use]
pub fn curve(histogram: &Histogram<u64>, censored: u64) -> Vec<CurvePoint> {
    let n = histogram.len().saturating_add(censored);
    let quantiles: Vec<f64> = nines().take_while(|quantile| n >= quantile_floor(*quantile)).collect();
    let ranks: Vec<u64> = quantiles.iter().map(|quantile| rank_of(*quantile, n)).collect();
    let values = values_at(histogram, &ranks);
    quantiles.into_iter().zip(values).map(|(quantile, ns)| CurvePoint { quantile, ns }).collect()
}

/// 1 − 10^(−k/10), rounded to six digits.
fn nines() -> impl Iterator<Item = f64> {
    (0..=NINES * STEPS_PER_NINE).map(|step| {
        let tail = 10.0_f64.powf(-f64::from(step) / f64::from(STEPS_PER_NINE));
        ((1.0 - tail) * 1e6).round() / 1e6
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scale_runs_from_0_over_each_nine_to_four_nines() {
        let scale: Vec<f64> = nines().collect();
        assert_eq!((scale[0], scale[10], scale[20], scale[30], scale[40]), (0.0, 0.9, 0.99, 0.999, 0.9999));
        assert!(scale.windows(2).all(|pair| pair[0] < pair[1]));
    }
}
