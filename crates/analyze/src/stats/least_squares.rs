//! Weighted non-linear least squares of a few parameters: Levenberg–Marquardt with Marquardt's scaling (J. SIAM 11, 1963),
//! steps projected onto bounds, derivatives by central differences.
//!
//! Parameters at a bound are held: they are no longer estimated, and what follows from the fit treats them as known.

/// Most parameters of a curve.
pub const PARAMETERS_MAX: usize = 5;
/// Most steps from one start.
const STEPS: usize = 80;
/// What the values do not determine is taken to have this standard deviation, so that what does not hang on it keeps its
/// own: on logarithms a factor of 150 either way.
const VAGUE: f64 = 5.0;
/// Step of the central differences.
const STEP: f64 = 1e-5;

/// Parameters; places beyond those of the curve are not used.
pub type Parameters = [f64; PARAMETERS_MAX];
type Matrix = [Parameters; PARAMETERS_MAX];

/// One value with its weight, 1 over its variance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weighted {
    /// Where.
    pub x: f64,
    /// The value.
    pub y: f64,
    /// Above 0.
    pub weight: f64,
}

/// A curve with bounds on its parameters.
pub struct Curve<'a> {
    /// How many parameters, at most [`PARAMETERS_MAX`].
    pub parameters: usize,
    /// Lowest value of each.
    pub low: Parameters,
    /// Highest value of each.
    pub high: Parameters,
    /// The value at a place.
    pub value: &'a dyn Fn(&Parameters, f64) -> f64,
}

/// A fit.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    /// The best parameters.
    pub at: Parameters,
    /// Σ weight · (y − value)².
    pub chi2: f64,
    /// Inverse of JᵀWJ over the parameters that are not held; `None` where the values do not determine them.
    inverse: Option<Matrix>,
    /// How many parameters.
    parameters: usize,
}

impl Fit {
    /// The variance of a quantity that follows from the parameters, for weights that are 1 over variances (the delta
    /// method); infinite where the values do not determine it.
    #[must_use]
    pub fn variance(&self, quantity: impl Fn(&Parameters) -> f64) -> f64 {
        let Some(inverse) = &self.inverse else { return f64::INFINITY };
        let mut gradient = [0.0; PARAMETERS_MAX];
        for (place, slope) in gradient.iter_mut().enumerate().take(self.parameters) {
            if inverse[place][place] > 0.0 {
                *slope = derivative(&self.at, place, &quantity);
            }
        }
        let mut sum = 0.0;
        for (row, left) in inverse.iter().zip(gradient) {
            sum += row.iter().zip(gradient).map(|(cell, right)| left * cell * right).sum::<f64>();
        }
        if sum.is_finite() { sum.max(0.0) } else { f64::INFINITY }
    }
}

fn derivative(at: &Parameters, place: usize, quantity: impl Fn(&Parameters) -> f64) -> f64 {
    let (mut above, mut below) = (*at, *at);
    above[place] += STEP;
    below[place] -= STEP;
    (quantity(&above) - quantity(&below)) / (2.0 * STEP)
}

/// The best fit from several starts; `None` where none gives a number.
#[must_use]
pub fn fit(curve: &Curve<'_>, values: &[Weighted], starts: &[Parameters]) -> Option<Fit> {
    let fits = starts.iter().filter_map(|start| descend(curve, values, *start));
    let (at, chi2) = fits.min_by(|a, b| a.1.total_cmp(&b.1))?;
    let (_, normal) = slopes(curve, values, &at);
    let free = |place: usize| {
        place < curve.parameters && at[place] > curve.low[place] && at[place] < curve.high[place]
    };
    let mut known = normal;
    for (place, row) in known.iter_mut().enumerate() {
        row[place] += 1.0 / VAGUE.powi(2);
    }
    let normal = known;
    Some(Fit { at, chi2, inverse: inverse(&normal, free), parameters: curve.parameters })
}

fn chi2(curve: &Curve<'_>, values: &[Weighted], at: &Parameters) -> f64 {
    values.iter().map(|one| one.weight * (one.y - (curve.value)(at, one.x)).powi(2)).sum()
}

fn descend(curve: &Curve<'_>, values: &[Weighted], start: Parameters) -> Option<(Parameters, f64)> {
    let held_in = |at: &mut Parameters| {
        let bounds = curve.low.iter().zip(&curve.high);
        for (value, (low, high)) in at.iter_mut().zip(bounds).take(curve.parameters) {
            *value = value.clamp(*low, *high);
        }
    };
    let mut at = start;
    held_in(&mut at);
    let mut now = chi2(curve, values, &at);
    let mut damping = 1e-3;
    let mut slope = slopes(curve, values, &at);
    for _ in 0..STEPS {
        let step = solve(curve, &at, &slope, damping);
        let mut next = at;
        next.iter_mut().zip(step).for_each(|(value, step)| *value += step);
        held_in(&mut next);
        let sum = chi2(curve, values, &next);
        if sum < now {
            let gained = now - sum;
            (at, now) = (next, sum);
            damping = (damping / 10.0_f64).max(1e-12);
            if gained <= 1e-10 * now + 1e-14 {
                break;
            }
            slope = slopes(curve, values, &at);
        } else {
            damping *= 10.0;
            if damping > 1e10 {
                break;
            }
        }
    }
    now.is_finite().then_some((at, now))
}

/// JᵀWr and JᵀWJ.
fn slopes(curve: &Curve<'_>, values: &[Weighted], at: &Parameters) -> (Parameters, Matrix) {
    let (mut gradient, mut normal) = ([0.0; PARAMETERS_MAX], [[0.0; PARAMETERS_MAX]; PARAMETERS_MAX]);
    for one in values {
        let mut row = [0.0; PARAMETERS_MAX];
        for (place, cell) in row.iter_mut().enumerate().take(curve.parameters) {
            *cell = derivative(at, place, |at| (curve.value)(at, one.x));
        }
        let residual = one.y - (curve.value)(at, one.x);
        for (i, slope) in row.iter().enumerate() {
            gradient[i] += one.weight * slope * residual;
            normal[i].iter_mut().zip(row).for_each(|(cell, other)| *cell += one.weight * slope * other);
        }
    }
    (gradient, normal)
}

/// (C + λ diag C) δ = g over the parameters that are not held at a bound.
fn solve(
    curve: &Curve<'_>,
    at: &Parameters,
    (gradient, normal): &(Parameters, Matrix),
    damping: f64,
) -> Parameters {
    let free = |place: usize| {
        place < curve.parameters
            && !(at[place] <= curve.low[place] && gradient[place] < 0.0)
            && !(at[place] >= curve.high[place] && gradient[place] > 0.0)
    };
    let mut damped = *normal;
    for (place, row) in damped.iter_mut().enumerate() {
        row[place] = row[place] * (1.0 + damping) + 1e-300;
    }
    let mut step = [0.0; PARAMETERS_MAX];
    if let Some(inverse) = inverse(&damped, free) {
        for (place, row) in inverse.iter().enumerate() {
            step[place] = row.iter().zip(gradient).map(|(cell, slope)| cell * slope).sum();
        }
    }
    step
}

/// Gauss–Jordan with pivots over the free places, after scaling to a diagonal of 1; 0 elsewhere. `None` where it is
/// singular to the last digits.
fn inverse(matrix: &Matrix, free: impl Fn(usize) -> bool) -> Option<Matrix> {
    let places: Vec<usize> = (0..PARAMETERS_MAX).filter(|place| free(*place)).collect();
    let n = places.len();
    let scale: Vec<f64> = places.iter().map(|place| matrix[*place][*place].sqrt()).collect();
    if scale.iter().any(|scale| !(*scale > 0.0 && scale.is_finite())) {
        return None;
    }
    let mut rows: Vec<Vec<f64>> = (0..n)
        .map(|i| {
            let own = (0..n).map(|j| matrix[places[i]][places[j]] / scale[i] / scale[j]);
            own.chain((0..n).map(|j| f64::from(u8::from(i == j)))).collect()
        })
        .collect();
    for column in 0..n {
        let pivot = (column..n).max_by(|a, b| rows[*a][column].abs().total_cmp(&rows[*b][column].abs()))?;
        rows.swap(column, pivot);
        let by = rows[column][column];
        if by.abs() < 1e-11 {
            return None;
        }
        rows[column].iter_mut().for_each(|cell| *cell /= by);
        let pivot = rows[column].clone();
        for (place, row) in rows.iter_mut().enumerate() {
            if place != column {
                let times = row[column];
                row.iter_mut().zip(&pivot).for_each(|(cell, pivot)| *cell -= times * pivot);
            }
        }
    }
    let mut found = [[0.0; PARAMETERS_MAX]; PARAMETERS_MAX];
    for i in 0..n {
        for j in 0..n {
            found[places[i]][places[j]] = rows[i][n + j] / scale[i] / scale[j];
        }
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_the_variances_of_the_textbook() {
        // y = 2 + 3x at 0..9 with weight 4: var of the slope is 1/(4 Σ(x − 4.5)²) = 1/330.
        let values: Vec<Weighted> =
            (0..10).map(|x| Weighted { x: f64::from(x), y: 2.0 + 3.0 * f64::from(x), weight: 4.0 }).collect();
        let line = |at: &Parameters, x: f64| at[0] + at[1] * x;
        let curve = Curve { parameters: 2, low: [-1e9; 5], high: [1e9; 5], value: &line };
        let found = fit(&curve, &values, &[[0.0; 5]]).unwrap();
        assert!((found.at[0] - 2.0).abs() < 1e-6 && (found.at[1] - 3.0).abs() < 1e-6, "{found:?}");
        assert!((found.variance(|at| at[1]) * 330.0 - 1.0).abs() < 1e-2);
        assert!((found.variance(|at| at[0] + 4.5 * at[1]) * 40.0 - 1.0).abs() < 1e-2);
        // Held at a bound, the slope is known and the rest follows.
        let held = Curve { high: [1e9, 1.0, 1e9, 1e9, 1e9], ..curve };
        let found = fit(&held, &values, &[[0.0; 5]]).unwrap();
        assert_eq!((found.at[1], found.variance(|at| at[1])), (1.0, 0.0));
    }

    #[test]
    fn what_is_not_determined_is_vague_and_the_rest_is_not() {
        let values = [Weighted { x: 1.0, y: 1.0, weight: 1e4 }; 4];
        let line = |at: &Parameters, x: f64| at[0] + at[1] * x;
        let curve = Curve { parameters: 2, low: [-1e9; 5], high: [1e9; 5], value: &line };
        let found = fit(&curve, &values, &[[0.0; 5]]).unwrap();
        assert!(found.variance(|at| at[1]) > 10.0, "{found:?}");
        assert!((found.variance(|at| at[0] + at[1]) * 4e4 - 1.0).abs() < 1e-3);
    }
}
