//! When a mean is known as precisely as wanted, if one looks again and again while the values come in.
//!
//! The rule is that of Chow and Robbins (Annals of Mathematical Statistics 36, 1965): stop at the first n whose interval
//! of fixed level is narrow enough. It stops where the spread happens to be underestimated, so at 5 to 30 values its
//! intervals cover too seldom. Simons (Annals of Mathematical Statistics 39, 1968) proved that a fixed number of values
//! beyond that moment makes up for not knowing the variance, whatever it is. Here it is [`CONFIRMING`], after which the
//! interval must be narrow (again).
//! What that gives at a level of 95 %, by simulation of normal values at spreads of 0.3 to 5 times the width (tests
//! below): the mean ± the wanted width covers the truth in 95 % or more, the interval of all values in 93 % or more.
//! Without the confirming values it is 93 % and 92 %.
//!
//! When a claim is decided, if one looks after every value: by repeated confidence intervals (Jennison & Turnbull, J. R.
//! Stat. Soc. B 51, 1989) whose two-sided p is held against the same bound at every look, so α is spent over the looks
//! (Lan & DeMets, Biometrika 70, 1983) nearly evenly. The law of Student's t at growing n under a true mean of 0 has no
//! unknown parameter, so the bound is exact up to its simulation ([`repeated`]).
//! Absent on purpose: the decision itself, which also knows a budget.

use super::power::{count_for_width, half_width};

/// Values that must follow the first moment at which the interval was narrow enough.
pub const CONFIRMING: u32 = 3;
/// Most values that are foretold.
const COUNT_MAX: u32 = 100_000;

/// Whether the interval of `n` values of standard deviation `sd` has at most the wanted half-width.
#[must_use]
pub fn is_narrow(n: u32, sd: f64, wanted: f64, confidence: f64) -> bool {
    half_width(n, sd, confidence) <= wanted
}

/// Whether to stop at `n` values, where the interval was first narrow enough at `first` of them.
#[must_use]
pub fn is_reached(n: u32, is_narrow: bool, first: Option<u32>) -> bool {
    is_narrow && first.is_some_and(|first| n >= first.saturating_add(CONFIRMING))
}

/// At how many values the rule is expected to stop; `None` beyond 100,000.
#[must_use]
pub fn needed(n: u32, sd: f64, wanted: f64, confidence: f64) -> Option<u32> {
    let narrow = count_for_width(sd, wanted, confidence, n, COUNT_MAX)?;
    Some(narrow.saturating_add(CONFIRMING))
}

/// α over the bound of one look, by looks (rows: those of [`LOOKS`]) and α (columns: those of [`ALPHAS`]): of one million
/// made-up series of normal values the share whose smallest two-sided p of Student's t at 5, 6, … values is at most the
/// bound is α. Standard errors are 0.5 % at α = 5 % and 3 % at 0.1 %.
const SPENT: [[f64; 8]; 11] = [
    [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0],
    [1.459, 1.474, 1.495, 1.530, 1.600, 1.641, 1.689, 1.760],
    [1.855, 1.879, 1.922, 2.006, 2.122, 2.220, 2.359, 2.563],
    [2.206, 2.251, 2.320, 2.439, 2.589, 2.720, 2.918, 3.166],
    [2.841, 2.922, 3.051, 3.205, 3.461, 3.664, 3.903, 4.295],
    [3.379, 3.507, 3.673, 3.868, 4.195, 4.414, 4.808, 5.340],
    [4.086, 4.257, 4.460, 4.711, 5.098, 5.461, 5.895, 6.377],
    [5.064, 5.256, 5.512, 5.835, 6.415, 6.845, 7.651, 8.072],
    [5.830, 6.062, 6.349, 6.746, 7.424, 7.951, 8.916, 9.478],
    [6.500, 6.763, 7.111, 7.542, 8.252, 8.780, 10.016, 10.887],
    [7.604, 7.927, 8.299, 8.901, 9.801, 10.440, 11.787, 12.896],
];
const LOOKS: [u32; 11] = [1, 2, 3, 4, 6, 8, 11, 16, 21, 26, 36];
const ALPHAS: [f64; 8] = [0.05, 0.04, 0.03, 0.02, 0.01, 0.005, 0.002, 0.001];
/// How the ratio grows beyond the table, at least as fast as within it: with the number of looks, and as α falls.
const BEYOND_LOOKS: f64 = 0.6;
const BEYOND_ALPHA: f64 = 0.15;

/// The α at which each of `looks` looks at 5, 6, … values may decide, so that all of them together are wrong with
/// probability `alpha` at most. Never below alpha/looks, which always suffices (Bonferroni).
#[must_use]
pub fn repeated(alpha: f64, looks: u32) -> f64 {
    let looks = looks.max(1);
    if looks == 1 {
        return alpha;
    }
    let most = LOOKS[LOOKS.len() - 1];
    let beyond = (f64::from(looks) / f64::from(most)).max(1.0).powf(BEYOND_LOOKS);
    let least = ALPHAS[ALPHAS.len() - 1];
    let smaller = (least / alpha).max(1.0).powf(BEYOND_ALPHA);
    let ratio = table(alpha.clamp(least, ALPHAS[0]), looks.min(most)) * beyond * smaller;
    alpha / ratio.clamp(1.0, f64::from(looks))
}

/// Between rows and columns, on logarithms.
fn table(alpha: f64, looks: u32) -> f64 {
    let row = LOOKS.iter().rposition(|row| *row <= looks).unwrap_or(0).min(LOOKS.len() - 2);
    let column = ALPHAS.iter().rposition(|column| *column >= alpha).unwrap_or(0).min(ALPHAS.len() - 2);
    let part = |x: f64, from: f64, to: f64| ((x.ln() - from.ln()) / (to.ln() - from.ln())).clamp(0.0, 1.0);
    let down = part(f64::from(looks), f64::from(LOOKS[row]), f64::from(LOOKS[row + 1]));
    let across = part(alpha, ALPHAS[column], ALPHAS[column + 1]);
    let of = |row: usize| SPENT[row][column].ln() * (1.0 - across) + SPENT[row][column + 1].ln() * across;
    (of(row) * (1.0 - down) + of(row + 1) * down).exp()
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Seed;

    /// Shares of runs in which the truth lies within the interval of all values, and within the wanted width of the mean;
    /// and the mean number of values. `spread` is the standard deviation over the wanted half-width.
    fn played(runs: u64, spread: f64) -> (f64, f64, f64) {
        let (mut by_interval, mut by_width, mut values) = (0_u64, 0_u64, 0_u64);
        for index in 0..runs {
            let mut rng = Seed(11).derive("sequential", index).rng();
            let (mut n, mut mean, mut squares, mut first) = (0_u32, 0.0, 0.0, None);
            let half = loop {
                n += 1;
                let value = spread * rng.normal();
                let before = mean;
                mean += (value - before) / f64::from(n);
                squares += (value - before) * (value - mean);
                if n < 5 {
                    continue;
                }
                let sd = (squares / f64::from(n - 1)).sqrt();
                let narrow = is_narrow(n, sd, 1.0, 0.95);
                first = first.or(narrow.then_some(n));
                if is_reached(n, narrow, first) {
                    break half_width(n, sd, 0.95);
                }
            };
            by_interval += u64::from(mean.abs() <= half);
            by_width += u64::from(mean.abs() <= 1.0);
            values += u64::from(n);
        }
        let share = |count: u64| count as f64 / runs as f64;
        (share(by_interval), share(by_width), share(values))
    }

    /// The bounds are those of the header less three standard errors of the simulation.
    fn check(runs: u64) {
        let error = 3.0 * (0.05 * 0.95 / runs as f64).sqrt();
        for spread in [0.3, 0.9, 1.4, 1.8, 2.5, 4.0] {
            let (by_interval, by_width, values) = played(runs, spread);
            assert!(by_interval >= 0.93 - error, "{by_interval} at {spread}, {values} values");
            assert!(by_width >= 0.95 - error, "{by_width} at {spread}, {values} values");
        }
    }

    #[test]
    fn repeated_looks_keep_the_coverage() {
        check(500);
    }

    #[test]
    #[ignore = "20,000 runs at six spreads take minutes in a debug build"]
    fn repeated_looks_keep_the_coverage_in_full() {
        check(20_000);
    }

    #[test]
    fn it_stops_neither_early_nor_late() {
        assert!(
            !is_reached(8, true, None) && !is_reached(7, true, Some(5)) && !is_reached(9, false, Some(5))
        );
        assert!(is_reached(8, true, Some(5)));
        // A known spread of 1.8 widths needs 15 values: t₁₄ · 1.8 / √15 = 0.997; the rule takes three more.
        assert_eq!(needed(5, 1.8, 1.0, 0.95), Some(18));
        let (_, _, values) = played(500, 1.8);
        assert!((13.0..20.0).contains(&values), "{values}");
        assert_eq!(needed(5, 1.0, 0.0, 0.95), None);
        assert_eq!(needed(5, 0.0, 1.0, 0.95), Some(8));
    }

    /// The share of series of normal values of mean 0 that some look at 5, 6, … values rejects.
    fn rejected(alpha: f64, looks: u32, runs: u64) -> f64 {
        let each = repeated(alpha, looks);
        let bounds: Vec<f64> = (0..looks)
            .map(|look| super::super::student::t_quantile(1.0 - each / 2.0, look as usize + 4))
            .collect();
        let is_rejected = |index: &u64| {
            let mut rng = Seed(31).derive("repeated", *index).rng();
            let (mut n, mut mean, mut squares) = (0.0, 0.0, 0.0);
            (0..looks + 4).any(|place| {
                n += 1.0;
                let value = rng.normal();
                let before: f64 = mean;
                mean += (value - before) / n;
                squares += (value - before) * (value - mean);
                place >= 4 && mean.abs() > bounds[place as usize - 4] * (squares / (n - 1.0) / n).sqrt()
            })
        };
        (0..runs).filter(is_rejected).count() as f64 / runs as f64
    }

    #[test]
    fn all_looks_together_are_as_sure_as_one() {
        for (alpha, looks) in [(0.05, 16), (0.04, 8), (0.02, 30), (0.01, 5)] {
            let runs = 20_000;
            let share = rejected(alpha, looks, runs);
            let error = (alpha * (1.0 - alpha) / runs as f64).sqrt();
            assert!(share <= alpha + 3.1 * error, "{share} at {alpha}, {looks} looks");
            // And not because nothing is ever rejected: without the correction it would be several times as many.
            assert!(share >= 0.8 * alpha, "{share} at {alpha}, {looks} looks");
        }
        assert_eq!((repeated(0.05, 1), repeated(0.05, 0)), (0.05, 0.05));
        for alpha in [0.05, 0.003, 1e-5, 1e-9] {
            for looks in [2, 7, 40, 500] {
                let each = repeated(alpha, looks);
                assert!(
                    each >= alpha / f64::from(looks) * 0.999_999 && each < alpha,
                    "{each} at {alpha}, {looks}"
                );
            }
        }
    }
}
