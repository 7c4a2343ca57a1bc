//! Is a series still on its way to a level, and how far from it? For a warm-up that slows down as it goes on, such as
//! 1 − e^(−t/20 s): its last seconds hardly move beside their noise, its first ones say where it is going.
//!
//! The whole series so far is explained by c + b·e^(−t/τ) with first-order autoregressive noise: τ on a grid, c and b by
//! least squares, the autocorrelation from what is left, corrected for being too small (Kendall, Biometrika 41, 1954:
//! −(1 + 3φ)/n). It is on its way where that explains it better than one level does (BIC), and one step, or a ramp
//! that has ended, which have as many parameters and are over, do not explain it far better; and where what remains is
//! material, at the value of τ that the data still allow and that leaves most of it (profile likelihood, 97.5 % on one side).
//! Absent on purpose: any other law. A ramp is an approach with a long τ; what neither climbs nor steps is noise.

use super::recent::RECENT;

/// Time constants tried: from this many values …
const TAU_MIN: f64 = 2.0;
/// … each so much longer than the last …
const TAU_RATIO: f64 = 1.25;
/// … to this many times the length of the series.
const TAU_LENGTHS: f64 = 3.0;
/// By so much BIC must prefer an approach to one level (positive evidence, 2 to 6: Kass & Raftery, as below). With none, one
/// flat start in twenty waits for nothing; with six, approaches in noise of 5 % are missed twice as often.
const EVIDENCE: f64 = 3.0;
/// By so much the BIC of what is over must be better (strong evidence: Kass & Raftery, J. Am. Stat. Assoc. 90, 1995): in
/// much noise the first seconds of an approach look like a step.
const OVER_EVIDENCE: f64 = 6.0;
/// Fall of −2 log likelihood from its best that a τ may have: χ²₁ at 95 %, 97.5 % on one side.
const ALLOWED: f64 = 3.84;
/// Highest autocorrelation taken for noise.
const AUTOCORRELATION_MAX: f64 = 0.9;

/// What remains from the last value's place on the curve to the level that it approaches, at most, in units of the
/// values; `None` where the series does not approach one.
///
/// `floor` is the least standard deviation of the noise, above 0. Series of fewer than twelve values are not judged.
pub(super) fn remaining(values: &[f64], floor: f64) -> Option<f64> {
    let n = values.len();
    if n < 2 * RECENT {
        return None;
    }
    let plain = |tau: f64| Fit::new(values, 0.0, |at| (-(at as f64) / tau).exp());
    let first = taus(n).map(plain).min_by(|a, b| a.squares.total_cmp(&b.squares))?;
    let phi = autocorrelation(&first.left(values));
    // −2 log likelihood up to a constant.
    let misfit = |squares: f64| n as f64 * (squares / n as f64 + floor * floor * (1.0 - phi).powi(2)).ln();
    let curves: Vec<(f64, Fit)> = taus(n)
        .map(|tau| (tau, Fit::new(values, phi, |at| (-(at as f64) / tau).exp())))
        .filter(|(_, fit)| fit.squares.is_finite())
        .collect();
    let best = curves.iter().map(|(_, fit)| misfit(fit.squares)).min_by(f64::total_cmp)?;
    let level = misfit(Fit::new(values, phi, |_| 0.0).squares);
    // Two parameters more.
    if level - best < 2.0 * (n as f64).ln() + EVIDENCE {
        return None;
    }
    if over(values, phi).map(misfit).min_by(f64::total_cmp).is_some_and(|over| over <= best - OVER_EVIDENCE) {
        return None;
    }
    let left = |(tau, fit): &(f64, Fit)| fit.slope * (-(n as f64 - 1.0) / tau).exp();
    let possible = curves.iter().filter(|(_, fit)| misfit(fit.squares) <= best + ALLOWED);
    possible.map(left).max_by(|a, b| a.abs().total_cmp(&b.abs()))
}

/// How well what is over explains the series, as sums of squares: one step, or a ramp that ended six values ago or more.
fn over(values: &[f64], phi: f64) -> impl Iterator<Item = f64> {
    let n = values.len();
    let steps = (1..n).map(move |from| Fit::new(values, phi, |at| f64::from(u8::from(at >= from))).squares);
    let ramps = 2..=n.saturating_sub(RECENT);
    steps.chain(ramps.map(move |end| Fit::new(values, phi, |at| at.min(end) as f64 / end as f64).squares))
}

fn taus(n: usize) -> impl Iterator<Item = f64> {
    let end = TAU_LENGTHS * n as f64;
    std::iter::successors(Some(TAU_MIN), |tau| Some(tau * TAU_RATIO)).take_while(move |tau| *tau <= end)
}

/// Level and slope over a shape, by least squares on innovations of autocorrelation `phi`.
struct Fit {
    level: f64,
    slope: f64,
    shape: Vec<f64>,
    /// Sum of squared innovations.
    squares: f64,
}

impl Fit {
    fn new(values: &[f64], phi: f64, shape: impl Fn(usize) -> f64) -> Self {
        let shape: Vec<f64> = (0..values.len()).map(shape).collect();
        let first = (1.0 - phi * phi).sqrt();
        let innovation =
            |of: &[f64], at: usize| if at == 0 { first * of[0] } else { of[at] - phi * of[at - 1] };
        let one = |at: usize| if at == 0 { first } else { 1.0 - phi };
        let [mut oo, mut os, mut ss, mut oy, mut sy] = [0.0; 5];
        for at in 0..values.len() {
            let (o, s, y) = (one(at), innovation(&shape, at), innovation(values, at));
            oo += o * o;
            os += o * s;
            ss += s * s;
            oy += o * y;
            sy += s * y;
        }
        let determinant = oo * ss - os * os;
        let slope = if determinant > 1e-9 * oo * ss { (oo * sy - os * oy) / determinant } else { 0.0 };
        let level = (oy - slope * os) / oo;
        let squares = (0..values.len())
            .map(|at| innovation(values, at) - level * one(at) - slope * innovation(&shape, at))
            .map(|rest| rest * rest)
            .sum();
        Self { level, slope, shape, squares }
    }

    fn left(&self, values: &[f64]) -> Vec<f64> {
        values.iter().zip(&self.shape).map(|(value, shape)| value - self.level - self.slope * shape).collect()
    }
}

/// Of neighbours, 0 to [`AUTOCORRELATION_MAX`].
fn autocorrelation(left: &[f64]) -> f64 {
    let squares: f64 = left.iter().map(|value| value * value).sum();
    let products: f64 = left.windows(2).map(|pair| pair[0] * pair[1]).sum();
    let found = if squares > 0.0 { products / squares } else { 0.0 };
    (found + (1.0 + 3.0 * found.max(0.0)) / left.len() as f64).clamp(0.0, AUTOCORRELATION_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Seed;

    #[test]
    fn what_remains_of_an_approach_is_found_and_a_step_leaves_nothing() {
        let mut rng = Seed(5).rng();
        let mut noisy = |shape: &dyn Fn(f64) -> f64, n: u32| -> Vec<f64> {
            (0..n).map(|at| shape(f64::from(at)) + 0.01 * rng.normal()).collect()
        };
        let climb = |t: f64| -0.3 * (-t / 20.0).exp();
        for n in [15, 30, 45] {
            let left = remaining(&noisy(&climb, n), 1e-3).expect("it climbs");
            let truth = climb(f64::from(n) - 1.0);
            // A bound: the truth or more, never the other way.
            assert!(left <= 0.9 * truth, "{n} values: {left} for {truth}");
        }
        assert_eq!(remaining(&noisy(&|_| 0.0, 40), 1e-3), None);
        assert_eq!(remaining(&noisy(&|t| if t < 12.0 { -0.4 } else { 0.0 }, 25), 1e-3), None);
        assert_eq!(remaining(&[1.0; 40], 1e-3), None);
        assert_eq!(remaining(&[1.0, 2.0, 3.0], 1e-3), None);
    }
}
