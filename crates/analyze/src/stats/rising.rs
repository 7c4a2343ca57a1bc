//! Whether a series rises in trial after trial: Kendall's test of each short series, exact, and Fisher's method over
//! the trials.
//!
//! Sources: Kendall, *Rank Correlation Methods*, 4th ed. 1970 (the number of orders with a given number of
//! inversions); Fisher, *Statistical Methods for Research Workers*, 1925 (−2 Σ ln p is χ² with 2k degrees).
//! Ties count as falls, which errs on the side of no rise.

use statrs::distribution::{ChiSquared, ContinuousCDF};

/// Fewest values of a series: four in order have a chance of 1 in 24.
const LENGTH_MIN: usize = 4;
/// Most values: longer series are thinned to every k-th, so that the exact law stays cheap.
const LENGTH_MAX: usize = 60;

/// One-sided p that no trial rises; `None` without a series of at least four values.
#[must_use]
pub fn rising(trials: &[Vec<f64>]) -> Option<f64> {
    let p_values: Vec<f64> = trials.iter().filter_map(|series| kendall(series)).collect();
    if p_values.is_empty() {
        return None;
    }
    let statistic: f64 = -2.0 * p_values.iter().map(|p| p.ln()).sum::<f64>();
    let law = ChiSquared::new(2.0 * p_values.len() as f64).ok()?;
    Some(law.sf(statistic).clamp(0.0, 1.0)).filter(|p| p.is_finite())
}

/// The share of all orders with at most as many falling pairs.
fn kendall(series: &[f64]) -> Option<f64> {
    if series.len() < LENGTH_MIN || series.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let step = series.len().div_ceil(LENGTH_MAX);
    let values: Vec<f64> = series.iter().copied().step_by(step).collect();
    let n = values.len();
    let falls = (0..n)
        .flat_map(|i| (i + 1..n).map(move |j| (i, j)))
        .filter(|(i, j)| values[*j] <= values[*i])
        .count();
    let mut law = vec![1.0_f64];
    for size in 2..=n {
        let mut next = vec![0.0; law.len() + size - 1];
        for (inversions, share) in law.iter().enumerate() {
            (0..size).for_each(|more| next[inversions + more] += share / size as f64);
        }
        law = next;
    }
    Some(law.iter().take(falls + 1).sum::<f64>().clamp(f64::MIN_POSITIVE, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_series_by_hand_and_several_together() {
        assert!((rising(&[vec![1.0, 2.0, 3.0, 4.0]]).unwrap() - 1.0 / 24.0).abs() < 1e-9);
        assert!((rising(&[vec![1.0, 2.0, 4.0, 3.0]]).unwrap() - 4.0 / 24.0).abs() < 1e-9);
        let up = vec![1.0, 2.0, 3.0, 4.0, 5.0];
        let three = rising(&[up.clone(), up.clone(), up]).unwrap();
        assert!(three < 1e-4, "{three}");
        assert!(rising(&[vec![5.0, 4.0, 3.0, 2.0, 1.0]]).unwrap() > 0.9);
        assert!(rising(&[vec![7.0; 9]]).unwrap() > 0.9, "what stands still does not rise");
        assert_eq!(rising(&[vec![1.0, 2.0, 3.0]]), None);
        assert!(rising(&[(0..500).map(f64::from).collect()]).unwrap() < 1e-9);
    }
}
