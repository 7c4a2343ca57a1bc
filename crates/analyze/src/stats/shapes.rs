//! Which shape a growing series has: a line, a curve that levels off, a few steps, or a slow wave (METHOD §8).
//!
//! Each shape is fitted by least squares and compared by Schwarz's criterion (Ann. Statist. 6, 1978) as
//! BIC = m ln(RSS/n) + k ln m. Neighbouring values depend on each other, so m is not the number of values n but the
//! effective n(1 − ρ)/(1 + ρ), with the lag-one autocorrelation ρ of what the best shape leaves over (Bayley &
//! Hammersley, JRSS Suppl. 8, 1946). All shapes of one series share m, so a difference of two BIC has a meaning.
//!
//! The curve y = a + b(1 − e^(−t/τ)) may not level off above the ceiling. Without a bound it has the line as its limit
//! for τ → ∞, and could never be ln m worse; with it, it is what a cache does, and a line that beats it has no harmless
//! explanation of this kind.
//!
//! Bounds: at most [`POINTS_MAX`] points, which take some 100 ms. Absent on purpose: tests of a trend (`trend`) and the
//! meaning of a shape.

use super::order::median;
use super::{Refusal, check_values};

/// Most points that are compared: the search for steps looks at all pairs.
pub const POINTS_MAX: usize = 4_000;
/// Fewest points for a shape with seven parameters.
pub const POINTS_MIN: usize = 10;
/// Most steps.
const STEPS_MAX: usize = 3;
/// Shortest level between two steps, in points (as the shortest segment of METHOD §5).
const LEVEL_MIN: usize = 5;
/// Without a ceiling the curve must have covered 63 % of its rise within the series.
const TIME_CONSTANT_FREE: f64 = 1.0;
/// With one, it may be this many times as slow. Slower curves bend by less than 1 % over the series: no data tell them
/// from a line, and within a horizon of ten lengths they do what a line does.
const TIME_CONSTANT_MAX: f64 = 10.0;
/// Trials of a time constant before the best is refined, evenly on the log scale.
const TIME_CONSTANTS: usize = 60;
/// Steps of the refinement by golden section: the time constant is then known to one part in a thousand.
const REFINEMENTS: usize = 30;
/// Periods of the slow wave, in lengths of the series.
const WAVES: [f64; 12] = [0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.2, 1.4, 1.6, 1.8, 2.1, 2.5];
/// Autocorrelation is not taken for more than this; the effective n stays above 0.5 % of n.
const CORRELATION_MAX: f64 = 0.99;

/// The curve of something that fills up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Filling {
    /// Value at the first point.
    pub start: f64,
    /// Rise from there to the level that it tends to; 0 or more.
    pub rise: f64,
    /// Time in which it covers 63 % of what is left, in the unit of the times.
    pub time_constant: f64,
    /// Sum of squared residuals.
    rss: f64,
}

impl Filling {
    /// The level that it tends to.
    #[must_use]
    pub fn plateau(&self) -> f64 {
        self.start + self.rise
    }
}

/// The shapes of one series, each against a line: above 0 the line is better.
#[derive(Clone, Debug, PartialEq)]
pub struct Shapes {
    /// Effective number of values.
    pub n_effective: f64,
    /// BIC of a level less that of the line.
    pub level: f64,
    /// BIC of the curve that levels off less that of the line.
    pub filling: f64,
    /// BIC of the best one to three steps less that of the line.
    pub steps: f64,
    /// BIC of a slow wave (half a period to two periods of it are seen) less that of the line.
    pub wave: f64,
    /// The curve.
    pub curve: Filling,
    /// Index of the first point of each level but the first.
    pub step_at: Vec<usize>,
}

/// Fits all shapes to `values` over rising `times`.
///
/// # Errors
/// [`Refusal`] with fewer than [`POINTS_MIN`] or more than [`POINTS_MAX`] points, different lengths, times that do not
/// rise, equal values, or numbers that are not finite.
pub fn shapes(times: &[f64], values: &[f64], ceiling: Option<f64>) -> Result<Shapes, Refusal> {
    if times.len() != values.len() {
        return Err(Refusal::Unpaired { first: times.len(), second: values.len() });
    }
    check_values(times, POINTS_MIN)?;
    check_values(values, POINTS_MIN)?;
    if ceiling.is_some_and(f64::is_nan) {
        return Err(Refusal::NotFinite);
    }
    if times.windows(2).any(|pair| pair[0] >= pair[1]) {
        return Err(Refusal::Disordered);
    }
    if values.len() > POINTS_MAX {
        return Err(Refusal::TooMany { most: POINTS_MAX, had: values.len() });
    }
    Ok(Scaled::new(times, values)?.compare(ceiling))
}

/// The series moved and stretched to 0..1 in both directions, so that sums of squares neither overflow nor vanish.
struct Scaled {
    times: Vec<f64>,
    values: Vec<f64>,
    low: f64,
    height: f64,
    length: f64,
}

impl Scaled {
    fn new(times: &[f64], values: &[f64]) -> Result<Self, Refusal> {
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let (height, length) = (high - low, times[times.len() - 1] - times[0]);
        if height <= 0.0 {
            return Err(Refusal::NoSpread { had: values.len() });
        }
        if !height.is_finite() || !length.is_finite() {
            return Err(Refusal::NotFinite);
        }
        Ok(Self {
            times: times.iter().map(|time| (time - times[0]) / length).collect(),
            values: values.iter().map(|value| (value - low) / height).collect(),
            low,
            height,
            length,
        })
    }

    fn compare(&self, ceiling: Option<f64>) -> Shapes {
        // A ceiling below what was seen leaves no curve a place; then it is the highest value.
        let ceiling = ceiling.map(|top| ((top - self.low) / self.height).max(1.0));
        let line = self.residuals_of(&[&|_| 1.0, &|time| time]);
        let level = self.residuals_of(&[&|_| 1.0]);
        let curve = self.fill(ceiling);
        let curve_residuals =
            self.residuals(|time| curve.start + curve.rise * risen(time, curve.time_constant));
        let (step_at, steps) = self.best_steps();
        let wave = WAVES
            .iter()
            .map(|period| {
                let turn = std::f64::consts::TAU / period;
                self.residuals_of(&[&|_| 1.0, &|time| (turn * time).sin(), &|time| (turn * time).cos()])
            })
            .min_by(|a, b| squares(a).total_cmp(&squares(b)))
            .unwrap_or_else(|| level.clone());
        let n = self.values.len() as f64;
        let all = [&line, &curve_residuals, &steps, &wave];
        let best = all.into_iter().min_by(|a, b| squares(a).total_cmp(&squares(b))).unwrap_or(&line);
        let floor = self.resolution();
        // What is below the resolution is rounding, whose neighbours tell nothing.
        let is_rounding = squares(best) / n <= floor;
        let rho = if is_rounding { 0.0 } else { lag_one(best).clamp(0.0, CORRELATION_MAX) };
        let n_effective = (n * (1.0 - rho) / (1.0 + rho)).max(2.0);
        let bic = |residuals: &[f64], parameters: f64| {
            n_effective * (squares(residuals) / n).max(floor).ln() + parameters * n_effective.ln()
        };
        let of_line = bic(&line, 2.0);
        // A step counts its place and its level.
        let step_parameters = 2.0 * step_at.len() as f64 + 1.0;
        Shapes {
            n_effective,
            level: bic(&level, 1.0) - of_line,
            filling: bic(&curve_residuals, 3.0) - of_line,
            steps: bic(&steps, step_parameters) - of_line,
            wave: bic(&wave, 4.0) - of_line,
            curve: Filling {
                start: self.low + curve.start * self.height,
                rise: curve.rise * self.height,
                time_constant: curve.time_constant * self.length,
                rss: curve.rss,
            },
            step_at,
        }
    }

    fn residuals(&self, shape: impl Fn(f64) -> f64) -> Vec<f64> {
        self.times.iter().zip(&self.values).map(|(time, value)| value - shape(*time)).collect()
    }

    /// What the best combination of these functions of time leaves over.
    fn residuals_of(&self, functions: &[&dyn Fn(f64) -> f64]) -> Vec<f64> {
        let weights = self.least_squares(functions);
        self.residuals(|time| functions.iter().zip(&weights).map(|(of, weight)| weight * of(time)).sum())
    }

    /// Weights by the normal equations; a function that adds nothing gets 0.
    fn least_squares(&self, functions: &[&dyn Fn(f64) -> f64]) -> Vec<f64> {
        let size = functions.len();
        let mut rows = vec![vec![0.0; size + 1]; size];
        for (time, value) in self.times.iter().zip(&self.values) {
            let at: Vec<f64> = functions.iter().map(|of| of(*time)).collect();
            for (row, left) in rows.iter_mut().zip(&at) {
                for (sum, right) in row.iter_mut().zip(at.iter().chain([value])) {
                    *sum += left * right;
                }
            }
        }
        solve(rows)
    }

    /// What a line with a wave of so many periods over the series leaves over, and the weights of sine and cosine.
    fn with_wave(&self, periods: f64) -> (f64, f64, f64) {
        let turn = std::f64::consts::TAU * periods;
        let (sine, cosine) = (|time: f64| (turn * time).sin(), |time: f64| (turn * time).cos());
        let weights = self.least_squares(&[&|_| 1.0, &|time| time, &sine, &cosine]);
        let rest = self.residuals(|time| {
            weights[0] + weights[1] * time + weights[2] * sine(time) + weights[3] * cosine(time)
        });
        (squares(&rest), weights[2], weights[3])
    }

    /// The least variance that can be measured: that of rounding to the smallest step between two values.
    fn resolution(&self) -> f64 {
        let mut sorted = self.values.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        let gaps = sorted.windows(2).map(|pair| pair[1] - pair[0]).filter(|gap| *gap > 0.0);
        let smallest = gaps.fold(1.0, f64::min);
        (smallest * smallest / 12.0).max(1e-12)
    }

    /// The best curve over all time constants.
    fn fill(&self, ceiling: Option<f64>) -> Filling {
        let slowest = if ceiling.is_some() { TIME_CONSTANT_MAX } else { TIME_CONSTANT_FREE };
        let fastest = 1.0 / self.times.len() as f64;
        let ratio = (slowest / fastest).powf(1.0 / (TIME_CONSTANTS as f64 - 1.0));
        let at = |index: usize| fastest * ratio.powi(index as i32);
        let tried = (0..TIME_CONSTANTS).map(|index| (index, self.fill_at(at(index), ceiling)));
        let (index, best) = tried
            .min_by(|a, b| a.1.rss.total_cmp(&b.1.rss))
            .unwrap_or_else(|| (0, self.fill_at(slowest, ceiling)));
        let around = (at(index.saturating_sub(1)).ln(), at((index + 1).min(TIME_CONSTANTS - 1)).ln());
        let finer = golden(around, |log| self.fill_at(log.exp(), ceiling).rss);
        let finer = self.fill_at(finer.exp(), ceiling);
        if finer.rss < best.rss { finer } else { best }
    }

    /// The best curve of one time constant: free, then held to rise, then held below the ceiling.
    fn fill_at(&self, time_constant: f64, ceiling: Option<f64>) -> Filling {
        let of = |time: f64| risen(time, time_constant);
        let weights = self.least_squares(&[&|_| 1.0, &of]);
        let (mut start, mut rise) = (weights[0], weights[1]);
        if rise < 0.0 {
            let mean = self.values.iter().sum::<f64>() / self.values.len() as f64;
            (start, rise) = (mean, 0.0);
        }
        if let Some(top) = ceiling.filter(|top| start + rise > *top) {
            // y = top − b e^(−t/τ): one weight is left.
            let (mut products, mut parts) = (0.0, 0.0);
            for (time, value) in self.times.iter().zip(&self.values) {
                let left = 1.0 - of(*time);
                products += (top - value) * left;
                parts += left * left;
            }
            rise = products / parts.max(f64::MIN_POSITIVE);
            start = top - rise;
        }
        let rss = squares(&self.residuals(|time| start + rise * of(time)));
        Filling { start, rise, time_constant, rss }
    }

    /// One to three steps that leave the least over, by dynamic programming over the places of the last step; as many
    /// of them as the criterion of independent values likes best. Also what they leave over.
    fn best_steps(&self) -> (Vec<usize>, Vec<f64>) {
        let sums = Sums::of(&self.values);
        let n = self.values.len();
        // cost[k][end]: least squares of the first `end` values in k + 1 levels, with the begin of the last level.
        let mut cost: Vec<Vec<(f64, usize)>> = vec![(0..=n).map(|end| (sums.squares(0, end), 0)).collect()];
        for steps in 1..=STEPS_MAX {
            let before = &cost[steps - 1];
            let row = (0..=n)
                .map(|end| {
                    let begins = LEVEL_MIN * steps..=end.saturating_sub(LEVEL_MIN);
                    let choices = begins.map(|begin| (before[begin].0 + sums.squares(begin, end), begin));
                    choices.min_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or((f64::INFINITY, 0))
                })
                .collect();
            cost.push(row);
        }
        let floor = self.resolution() * n as f64;
        let score = |steps: usize| {
            let size = n as f64;
            size * (cost[steps][n].0.max(floor) / size).ln() + 2.0 * steps as f64 * size.ln()
        };
        let steps = (1..=STEPS_MAX)
            .filter(|steps| cost[*steps][n].0.is_finite())
            .min_by(|a, b| score(*a).total_cmp(&score(*b)))
            .unwrap_or(0);
        let mut places = Vec::new();
        let mut end = n;
        for level in (1..=steps).rev() {
            end = cost[level][end].1;
            places.push(end);
        }
        places.reverse();
        let residuals = levels(&places, n)
            .flat_map(|(begin, end)| {
                let mean = sums.mean(begin, end);
                self.values[begin..end].iter().map(move |value| value - mean)
            })
            .collect();
        (places, residuals)
    }
}

/// Begin and end of each level between these steps.
fn levels(step_at: &[usize], n: usize) -> impl Iterator<Item = (usize, usize)> + '_ {
    let begins = std::iter::once(0).chain(step_at.iter().copied());
    begins.zip(step_at.iter().copied().chain([n]))
}

/// The share of its rise that a curve has covered.
fn risen(time: f64, time_constant: f64) -> f64 {
    -(-time / time_constant).exp_m1()
}

fn squares(residuals: &[f64]) -> f64 {
    residuals.iter().map(|residual| residual * residual).sum()
}

/// Pearson's autocorrelation at lag one, of residuals whose mean is about 0.
fn lag_one(residuals: &[f64]) -> f64 {
    let all = squares(residuals);
    let products: f64 = residuals.windows(2).map(|pair| pair[0] * pair[1]).sum();
    if all > 0.0 { products / all } else { 0.0 }
}

/// Sums from the begin, for sums of squares of any stretch in one step.
struct Sums {
    values: Vec<f64>,
    squares: Vec<f64>,
}

impl Sums {
    fn of(values: &[f64]) -> Self {
        let running = |of: fn(f64) -> f64| {
            let mut sum = 0.0;
            std::iter::once(0.0)
                .chain(values.iter().map(|value| {
                    sum += of(*value);
                    sum
                }))
                .collect()
        };
        Self { values: running(|value| value), squares: running(|value| value * value) }
    }

    fn mean(&self, begin: usize, end: usize) -> f64 {
        (self.values[end] - self.values[begin]) / (end - begin).max(1) as f64
    }

    /// Σ(y − ȳ)² of the values from `begin` to before `end`.
    fn squares(&self, begin: usize, end: usize) -> f64 {
        let sum = self.values[end] - self.values[begin];
        let of_squares = self.squares[end] - self.squares[begin];
        (of_squares - sum * sum / (end - begin).max(1) as f64).max(0.0)
    }
}

/// Solves a small system, given with its right side as the last column, by elimination with pivots.
fn solve(mut rows: Vec<Vec<f64>>) -> Vec<f64> {
    let size = rows.len();
    for column in 0..size {
        let pivot = (column..size).max_by(|a, b| rows[*a][column].abs().total_cmp(&rows[*b][column].abs()));
        rows.swap(column, pivot.unwrap_or(column));
        let chosen = rows[column].clone();
        if chosen[column].abs() < 1e-12 {
            continue;
        }
        for (_, row) in rows.iter_mut().enumerate().filter(|(index, _)| *index != column) {
            let factor = row[column] / chosen[column];
            row.iter_mut().zip(&chosen).for_each(|(value, subtracted)| *value -= factor * subtracted);
        }
    }
    (0..size)
        .map(|index| {
            let pivot = rows[index][index];
            if pivot.abs() < 1e-12 { 0.0 } else { rows[index][size] / pivot }
        })
        .collect()
}

/// A wave of which at least two periods are seen and that explains at least half of what a line leaves over, as values
/// to subtract; `None` without one. Times must rise.
#[must_use]
pub fn regular_wave(times: &[f64], values: &[f64]) -> Option<Vec<f64>> {
    const SHARE_MIN: f64 = 0.5;
    const PERIODS_MIN: f64 = 2.0;
    /// Steps of the frequency for each period of difference over the series.
    const FINENESS: usize = 4;
    /// Values that a period needs.
    const VALUES_MIN: usize = 6;
    if values.len() < POINTS_MIN || times.len() != values.len() {
        return None;
    }
    let scaled = Scaled::new(times, values).ok()?;
    let line = squares(&scaled.residuals_of(&[&|_| 1.0, &|time| time]));
    let least = PERIODS_MIN as usize * FINENESS;
    let most = values.len() / VALUES_MIN * FINENESS;
    let at = |step: usize| step as f64 / FINENESS as f64;
    let left = |periods: f64| scaled.with_wave(periods).0;
    let tried = (least..=most).map(at).map(|periods| (periods, left(periods)));
    let (coarse, _) = tried.min_by(|a, b| a.1.total_cmp(&b.1))?;
    let step = 1.0 / FINENESS as f64;
    let periods = golden(((coarse - step).max(PERIODS_MIN), coarse + step), left);
    let (rest, sine, cosine) = scaled.with_wave(periods);
    let turn = std::f64::consts::TAU * periods;
    let wave = |time: &f64| (sine * (turn * time).sin() + cosine * (turn * time).cos()) * scaled.height;
    (rest <= (1.0 - SHARE_MIN) * line && line > 0.0).then(|| scaled.times.iter().map(wave).collect())
}

/// Where a function of one valley is least, by golden section.
fn golden((mut low, mut high): (f64, f64), of: impl Fn(f64) -> f64) -> f64 {
    let share = (5.0_f64.sqrt() - 1.0) / 2.0;
    for _ in 0..REFINEMENTS {
        let (left, right) = (high - share * (high - low), low + share * (high - low));
        if of(left) <= of(right) {
            high = right;
        } else {
            low = left;
        }
    }
    f64::midpoint(low, high)
}

/// Median of the first and of the last `share` of the values, at least one and at most nine of them.
#[must_use]
pub fn ends(values: &[f64]) -> Option<(f64, f64)> {
    let size = (values.len() / 4).clamp(1, 9).min(values.len());
    Some((median(&values[..size])?, median(&values[values.len() - size..])?))
}

#[cfg(test)]
#[path = "shapes_tests.rs"]
mod tests;
