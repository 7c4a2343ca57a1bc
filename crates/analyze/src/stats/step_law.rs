//! How much better a step explains a series than noise that remembers: the ratio of their marginal likelihoods.
//!
//! Without a step a series is a level plus noise of a first-order autoregression; with one a regressor is added: one step,
//! or a level that is left and come back to, with a prior of [`BACK`]. For a given φ series and regressors are whitened
//! (Prais & Winsten, Cowles Commission 383, 1954), level and scale are integrated out under the usual reference prior,
//! and the height of the step under a normal prior of [`HEIGHT`] innovations (Zellner's g-prior for one coefficient; the
//! Bayes factor: Kass & Raftery, JASA 90, 1995). Then φ is averaged over: [`GRID`] without a step; with one, weighted by
//! exp(−φ/[`MEMORY`]), because a step in noise without memory is the one that must not be lost (a test that is good on
//! average over alternatives: Andrews & Ploberger, Econometrica 62, 1994). Places are equally likely within each kind.
//!
//! Invariant: only the sums of a series are taken, so a series costs its candidates times the grid, whatever its length.

/// φ that are averaged over; beyond, a walk would explain every step.
pub(super) const GRID: [f64; 12] = [0.0, 0.08, 0.16, 0.24, 0.32, 0.4, 0.5, 0.6, 0.7, 0.8, 0.88, 0.94];
/// Prior standard deviation of a step's height, in standard deviations of an innovation.
const HEIGHT: f64 = 3.0;
/// Prior mean of φ beside a step.
const MEMORY: f64 = 0.2;
/// Places of a level that is left and come back to: every so many'th part of the series.
const PLACES: usize = 20;
/// Prior of a level that is left and come back to; the rest is that of one step.
const BACK: f64 = 0.2;

/// A step: it is 1 from an index up to another.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    from: usize,
    to: usize,
}

/// What a candidate needs of one φ.
#[derive(Clone, Copy, Debug)]
struct Row {
    /// Σ of regressor times level, over Σ of level squared.
    slope: f64,
    /// 1/(g + 1/τ²), with g the squared length of the regressor less its share of the level.
    shrink: f64,
    /// Prior weight over √(1 + τ² g).
    weight: f64,
}

/// The candidates of series of one length, whitened for each φ.
pub(super) struct StepLaw {
    n: usize,
    candidates: Vec<Candidate>,
    rows: Vec<Vec<Row>>,
}

/// What a series says.
pub(super) struct Found {
    /// ln of the ratio of marginal likelihoods, of a step over none.
    pub(super) log_ratio: f64,
    /// Posterior weights of the φ of [`GRID`] without a step; together 1.
    pub(super) weights: [f64; GRID.len()],
}

impl StepLaw {
    /// For series of `n` values, whose steps lie `segment` values from the ends at least and last as long; n ≥ 2 `segment`,
    /// `segment` ≥ 2.
    pub(super) fn new(n: usize, segment: usize) -> Self {
        let mut weighed: Vec<(Candidate, f64)> = Vec::new();
        let mut kind = |all: Vec<Candidate>, prior: f64| {
            let weight = prior / all.len().max(1) as f64;
            weighed.extend(all.into_iter().map(|one| (one, weight)));
        };
        kind((segment..=n - segment).map(|from| Candidate { from, to: n }).collect(), 1.0 - BACK);
        let stride = (n / PLACES).max(1);
        let back = |from: usize| {
            (from + segment..=n - segment).step_by(stride).map(move |to| Candidate { from, to })
        };
        kind((segment..n).step_by(stride).flat_map(back).collect(), BACK);
        let rows = GRID.iter().map(|phi| weighed.iter().map(|one| row(n, *phi, *one)).collect()).collect();
        Self { n, candidates: weighed.into_iter().map(|one| one.0).collect(), rows }
    }

    /// Of `values`; `None` where they do not vary.
    pub(super) fn of(&self, values: &[f64]) -> Option<Found> {
        let n = self.n as f64;
        let mean = values.iter().sum::<f64>() / n;
        let half = (n - 1.0) / 2.0;
        let (mut none, mut better) = ([0.0; GRID.len()], [0.0; GRID.len()]);
        let mut sums = Vec::with_capacity(self.n + 1);
        for (at, (phi, rows)) in GRID.iter().zip(&self.rows).enumerate() {
            let first = (1.0 - phi * phi).sqrt();
            let white = |t: usize| match t {
                0 => first * (values[0] - mean),
                _ => values[t] - mean - phi * (values[t - 1] - mean),
            };
            sums.clear();
            sums.push(0.0);
            let (mut sum, mut squares) = (0.0, 0.0);
            for t in 0..self.n {
                let y = white(t);
                squares += y * y;
                sum += y;
                sums.push(sum);
            }
            let level = level_squared(self.n, *phi);
            let along = first * sums[1] + (1.0 - phi) * (sum - sums[1]);
            let rest = squares - along * along / level;
            if !rest.is_finite() || rest <= 1e-300 {
                return None;
            }
            none[at] = first.ln() - 0.5 * level.ln() - half * rest.ln();
            for (Candidate { from, to }, row) in self.candidates.iter().zip(rows) {
                let inside = (sums[from + 1] - sums[*from]) + (1.0 - phi) * (sums[*to] - sums[from + 1]);
                let after = if *to < self.n { phi * (sums[to + 1] - sums[*to]) } else { 0.0 };
                let product = inside - after;
                let own = product - row.slope * along;
                let explained = (own * own * row.shrink / rest).min(1.0 - 1e-9);
                better[at] += row.weight * (-half * (-explained).ln_1p()).exp();
            }
        }
        let top = none.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mut weights = none.map(|log| (log - top).exp());
        let all: f64 = weights.iter().sum();
        weights.iter_mut().for_each(|weight| *weight /= all);
        let with = |(at, weight): (usize, &f64)| weight * (-GRID[at] / MEMORY).exp() * better[at];
        let ratio: f64 = weights.iter().enumerate().map(with).sum();
        Some(Found { log_ratio: ratio.ln(), weights })
    }
}

/// Squared length of a level of 1 for this φ.
fn level_squared(n: usize, phi: f64) -> f64 {
    1.0 - phi * phi + (1.0 - phi).powi(2) * (n as f64 - 1.0)
}

fn row(n: usize, phi: f64, (Candidate { from, to }, prior): (Candidate, f64)) -> Row {
    let level = level_squared(n, phi);
    let (rest, back) = ((to - from - 1) as f64, if to < n { phi } else { 0.0 });
    let squares = 1.0 + (1.0 - phi).powi(2) * rest + back * back;
    let product = (1.0 - phi) * (1.0 + (1.0 - phi) * rest - back);
    let own = (squares - product * product / level).max(0.0);
    let prior_squared = HEIGHT * HEIGHT;
    Row {
        slope: product / level,
        shrink: 1.0 / (own + 1.0 / prior_squared),
        weight: prior / (1.0 + prior_squared * own).sqrt(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ln of the ratio by matrices: the same model with the inverse of the covariance written out, for one φ.
    #[test]
    fn the_ratio_is_that_of_the_model_written_out() {
        let values = [0.3, -0.2, 0.9, 1.4, 3.0, 2.2, 2.9, 3.3];
        let n = values.len();
        let law = StepLaw::new(n, 3);
        let mean = values.iter().sum::<f64>() / n as f64;
        let (mut none, mut moved) = (Vec::new(), Vec::new());
        for (at, phi) in GRID.iter().enumerate() {
            // Inverse of the correlations of an autoregression, times 1 − φ² over innovations: tridiagonal.
            let form = |a: &dyn Fn(usize) -> f64, b: &dyn Fn(usize) -> f64| -> f64 {
                (0..n)
                    .map(|t| {
                        let own = if t == 0 || t == n - 1 { 1.0 } else { 1.0 + phi * phi };
                        let beside =
                            if t > 0 { a(t - 1) } else { 0.0 } + if t + 1 < n { a(t + 1) } else { 0.0 };
                        (own * a(t) - phi * beside) * b(t)
                    })
                    .sum()
            };
            let x = |t: usize| values[t] - mean;
            let one = |_: usize| 1.0;
            let rest = form(&x, &x) - form(&x, &one).powi(2) / form(&one, &one);
            let base = 0.5 * (1.0 - phi * phi).ln() - 0.5 * form(&one, &one).ln();
            none.push((base - 3.5 * rest.ln()).exp());
            let mut sum = 0.0;
            for (candidate, row) in law.candidates.iter().zip(&law.rows[at]) {
                let z = |t: usize| f64::from((candidate.from..candidate.to).contains(&t));
                let g = form(&z, &z) - form(&z, &one).powi(2) / form(&one, &one);
                let q = form(&z, &x) - form(&z, &one) * form(&x, &one) / form(&one, &one);
                let left = rest - q * q / (g + 1.0 / 9.0);
                let prior = row.weight * (1.0 + 9.0 * g).sqrt();
                sum += prior * (1.0 + 9.0 * g).powf(-0.5) * (base - 3.5 * left.ln()).exp();
            }
            moved.push(sum * (-phi / MEMORY).exp());
        }
        let wanted = (moved.iter().sum::<f64>() / none.iter().sum::<f64>()).ln();
        let found = law.of(&values).unwrap();
        assert!((found.log_ratio - wanted).abs() < 1e-9, "{} is not {wanted}", found.log_ratio);
        assert!((found.weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert!(law.of(&[2.0; 8]).is_none());
    }

    #[test]
    fn a_step_is_likelier_than_none_where_there_is_one() {
        let law = StepLaw::new(24, 3);
        let ratio = |f: &dyn Fn(usize) -> f64| {
            let values: Vec<f64> = (0..24).map(|t| f(t) + 0.5 * (t as f64 * 2.4).sin()).collect();
            law.of(&values).unwrap().log_ratio
        };
        assert!(ratio(&|_| 0.0) < 0.0);
        for moved in [
            ratio(&|t| if t < 9 { 0.0 } else { 2.0 }),
            ratio(&|t| if (8..15).contains(&t) { 2.0 } else { 0.0 }),
        ] {
            assert!(moved > 3.0, "{moved}");
        }
    }
}
