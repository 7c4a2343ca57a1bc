//! Whether two series move together, by circular shifts: autocorrelated series correlate by chance far more often than
//! tests for independent values allow, and a shifted series keeps its autocorrelation (METHOD §9, stage one).
//!
//! Source: Cryer, in Bradley, *Distribution-Free Statistical Tests*, 1968, for the random-shift test; the statistic is
//! Spearman's rank correlation within each trial, weighted by length. Every trial is shifted on its own, so that few
//! intervals in each of several trials still give a small p.
//! Bounds: all combinations of shifts where there are at most [`SHIFTS_MAX`], else as many drawn from the seed.

use super::fit::mid_ranks;
use units::Seed;

/// Most combinations of shifts that are looked at.
pub const SHIFTS_MAX: u64 = 4_999;
/// Fewest intervals of a trial that is used: with fewer a shift has nowhere to go.
const LENGTH_MIN: usize = 4;

/// How two series move together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Together {
    /// Mean rank correlation, −1 to 1.
    pub rho: f64,
    /// One-sided: the share of shifts, the one as it is included, whose correlation is at least as high.
    pub p_value: f64,
    /// Combinations of shifts that were looked at, the one as it is included.
    pub shifts: u64,
}

/// Tests pairs of series of equal length, one pair a trial, for moving together. `None` where no trial has
/// four values in both that vary.
#[must_use]
pub fn together(trials: &[(Vec<f64>, Vec<f64>)], seed: Seed) -> Option<Together> {
    let ranked: Vec<(Vec<f64>, Vec<f64>)> =
        trials.iter().filter_map(|(x, y)| Some((standardised(x)?, standardised(y)?))).collect();
    let usable: Vec<&(Vec<f64>, Vec<f64>)> = ranked.iter().filter(|(x, y)| x.len() == y.len()).collect();
    let weight: f64 = usable.iter().map(|(x, _)| x.len() as f64).sum();
    if usable.is_empty() {
        return None;
    }
    // One correlation for each shift of each trial, made once.
    let tables: Vec<Vec<f64>> = usable.iter().map(|(x, y)| correlations(x, y)).collect();
    let of = |shifts: &[usize]| -> f64 {
        tables.iter().zip(shifts).map(|(table, shift)| table[*shift] * table.len() as f64).sum::<f64>()
            / weight
    };
    let observed = of(&vec![0; tables.len()]);
    let (as_high, shifts) = count(&tables, seed, |shifts| of(shifts) >= observed - 1e-12);
    Some(Together { rho: observed, p_value: as_high as f64 / shifts as f64, shifts })
}

/// How many of the combinations of shifts meet a condition, and how many there were.
fn count(tables: &[Vec<f64>], seed: Seed, mut meets: impl FnMut(&[usize]) -> bool) -> (u64, u64) {
    let all = tables.iter().try_fold(1_u64, |all, table| all.checked_mul(table.len() as u64));
    let mut shifts = vec![0; tables.len()];
    if let Some(all) = all.filter(|all| *all <= SHIFTS_MAX) {
        let met = (0..all).filter(|number| {
            let mut left = *number;
            for (shift, table) in shifts.iter_mut().zip(tables) {
                *shift = (left % table.len() as u64) as usize;
                left /= table.len() as u64;
            }
            meets(&shifts)
        });
        return (met.count() as u64, all);
    }
    let mut rng = seed.rng();
    let mut met = 1;
    for _ in 0..SHIFTS_MAX {
        for (shift, table) in shifts.iter_mut().zip(tables) {
            *shift = rng.below(table.len() as u64) as usize;
        }
        met += u64::from(meets(&shifts));
    }
    (met, SHIFTS_MAX + 1)
}

/// Ranks with mean 0 and length 1; `None` where there are too few, or they do not differ.
fn standardised(values: &[f64]) -> Option<Vec<f64>> {
    if values.len() < LENGTH_MIN || values.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let ranks = mid_ranks(values);
    let mean = ranks.iter().sum::<f64>() / ranks.len() as f64;
    let length = ranks.iter().map(|rank| (rank - mean).powi(2)).sum::<f64>().sqrt();
    (length > 0.0).then(|| ranks.iter().map(|rank| (rank - mean) / length).collect())
}

/// The correlation for each shift of x.
fn correlations(x: &[f64], y: &[f64]) -> Vec<f64> {
    let n = x.len();
    (0..n).map(|shift| (0..n).map(|at| x[(at + shift) % n] * y[at]).sum()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walk(seed: u64, length: usize) -> Vec<f64> {
        let mut rng = Seed(seed).rng();
        let mut level = 0.0;
        (0..length)
            .map(|_| {
                level = 0.8 * level + rng.normal();
                level
            })
            .collect()
    }

    #[test]
    fn what_moves_together_is_found_and_small_p_needs_enough_shifts() {
        let x = walk(1, 12);
        let y: Vec<f64> = x.iter().map(|value| 3.0 * value + 1.0).collect();
        let one = together(&[(x.clone(), y.clone())], Seed(1)).unwrap();
        assert!((one.rho - 1.0).abs() < 1e-9 && one.shifts == 12);
        assert!((one.p_value - 1.0 / 12.0).abs() < 1e-12, "one short trial cannot give a small p");
        let three = together(&[(x.clone(), y.clone()), (y.clone(), x.clone()), (x, y)], Seed(1)).unwrap();
        assert!((three.p_value - 1.0 / 1_728.0).abs() < 1e-12, "{three:?}");
    }

    #[test]
    fn autocorrelated_series_that_have_nothing_to_do_with_each_other_are_found_at_the_stated_rate() {
        let hits = (0..1_000_u64)
            .filter(|run| {
                let trials: Vec<_> = (0..3)
                    .map(|trial| (walk(run * 31 + trial, 20), walk(run * 37 + trial + 9_999, 20)))
                    .collect();
                together(&trials, Seed(*run)).unwrap().p_value <= 0.05
            })
            .count();
        assert!((25..=80).contains(&hits), "{hits} of 1,000 at 5 %");
    }

    #[test]
    fn what_cannot_be_told_is_not() {
        assert_eq!(together(&[], Seed(1)), None);
        assert_eq!(together(&[(vec![1.0; 9], walk(1, 9))], Seed(1)), None);
        assert_eq!(together(&[(walk(1, 3), walk(2, 3))], Seed(1)), None);
        assert_eq!(together(&[(vec![f64::NAN; 9], walk(1, 9))], Seed(1)), None);
        assert_eq!(together(&[(walk(1, 9), walk(2, 8))], Seed(1)), None);
    }
}
