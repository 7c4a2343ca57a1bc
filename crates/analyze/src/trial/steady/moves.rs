//! How one series moved: steps by PELT, a trend by Mann–Kendall.
//!
//! PELT takes the noise for independent (METHOD §5). Seconds of a service are not: queues, caches and collectors make
//! neighbours alike, and on an autoregressive series with φ = 0.6 PELT alone sees steps nine times in ten where there
//! are none. So each change point must also be confirmed: it stays only if the series with it is explained better,
//! by 5 ln n, than without it, where *both* explanations may have noise of first order autocorrelation
//! (−2 log likelihood, Cochrane & Orcutt, JASA 44, 1949), and if its step is material.
//! One outlier is no step: values beyond four deviations from the running median of seven are drawn in to it first
//! (Hampel, JASA 69, 1974).

use super::series::Series;
use crate::stats::memory::{p_of_no_move, smallest_drift_seen};
use crate::stats::order::median;
use crate::stats::pelt::{SEGMENT_MIN, noise_scale, pelt_with_scale};
use crate::stats::trend::{MannKendall, mann_kendall};
use units::Seed;

/// Values of the running median.
const HAMPEL: usize = 7;
/// Deviations, by the median of the absolute ones, from which a value is an outlier.
const OUTLIER: f64 = 4.0;
/// Standard deviation of normal values over their median absolute deviation.
const MAD: f64 = 1.4826;
/// The scale of the noise is at least this share of what is material: medians of quantised times stand still.
const FLOOR: f64 = 0.1;
/// Highest autocorrelation that is taken for noise; beyond, a walk would explain every step.
const AUTOCORRELATION_MAX: f64 = 0.95;
/// Penalty of a change point over ln n. PELT has 3; the rest pays for the search over all places at which it may lie,
/// which the likelihood takes for granted (measured on made-up series, see `synthetic`).
const PENALTY: f64 = 5.0;

/// Of the simulated noise; the same window gets the same class.
const SEED: Seed = Seed(0x5EAD);

/// What a series did.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Moves {
    /// Index of the first value after each step.
    pub(super) change_points: Vec<usize>,
    /// Mean of each stretch between them; one more than change points.
    pub(super) levels: Vec<f64>,
    /// Trend over the last stretch; absent where it is too short or does not vary.
    pub(super) trend: Option<Trend>,
}

/// A trend, significant or not.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Trend {
    /// Two-sided, the larger of with and without the correction for autocorrelation.
    pub(super) p_value: f64,
    /// From the first value to the last, in units of the values: slope times length, but no more than the mean of the
    /// last quarter above that of the first, of which a line shows three quarters. A small step in the middle makes the
    /// slope half as steep again as the step is high.
    pub(super) change: f64,
}

/// The steps of a series and the trend after the last of them.
pub(super) fn moves(series: &Series) -> Moves {
    let values = without_outliers(&series.values, noise_floor(series));
    let change_points = confirmed(&values, series.material);
    let levels = levels(&values, &change_points);
    let last = change_points.last().copied().unwrap_or(0);
    Moves { trend: trend(&values[last..]), levels, change_points }
}

/// Index of the first value after the last material step that PELT finds, confirmed or not; 0 without one.
///
/// For a target that is warming up an explanation by noise is no comfort: what may be a step is waited out.
pub(super) fn last_step(series: &Series) -> usize {
    let values = without_outliers(&series.values, noise_floor(series));
    let change_points = found(&values, series.material);
    let levels = levels(&values, &change_points);
    let last = levels.windows(2).rposition(|pair| (pair[1] - pair[0]).abs() > series.material);
    last.map_or(0, |index| change_points[index])
}

/// The least standard deviation that a series is given, in units of its values.
pub(super) fn noise_floor(series: &Series) -> f64 {
    series.material * FLOOR
}

/// p of no move in a series whose neighbours are alike; `None` where it is too short or does not vary.
pub(super) fn p_of_none(series: &Series) -> Option<f64> {
    let floor = noise_floor(series);
    let values = without_outliers(&series.values, floor);
    p_of_no_move(&values, SEGMENT_MIN, floor, SEED)
}

/// The smallest drift over the series that would have been seen, in units of the values: what is material at least.
pub(super) fn drift_seen(series: &Series) -> Option<f64> {
    let values = without_outliers(&series.values, noise_floor(series));
    Some(smallest_drift_seen(&values)?.max(series.material))
}

fn trend(values: &[f64]) -> Option<Trend> {
    let MannKendall { p_value, corrected_p_value, slope, .. } = mann_kendall(values).ok()?;
    let (by_slope, by_quarters) = (slope * (values.len() as f64 - 1.0), between_quarters(values));
    let change = if by_slope * by_quarters <= 0.0 {
        0.0
    } else if by_slope.abs() < by_quarters.abs() {
        by_slope
    } else {
        by_quarters
    };
    change.is_finite().then_some(Trend { p_value: p_value.max(corrected_p_value), change })
}

/// How far a line would rise whose first and last quarter have the means that these have.
fn between_quarters(values: &[f64]) -> f64 {
    let quarter = (values.len() / 4).max(1);
    let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
    let rise = mean(&values[values.len() - quarter..]) - mean(&values[..quarter]);
    rise * (values.len() as f64 - 1.0) / (values.len() - quarter) as f64
}

/// The values with outliers drawn in to the running median.
fn without_outliers(values: &[f64], scale_min: f64) -> Vec<f64> {
    let half = HAMPEL / 2;
    let middles: Vec<f64> = (0..values.len())
        .map(|at| {
            let (from, to) = (at.saturating_sub(half), (at + half + 1).min(values.len()));
            median(&values[from..to]).unwrap_or(values[at])
        })
        .collect();
    let deviations: Vec<f64> =
        values.iter().zip(&middles).map(|(value, middle)| (value - middle).abs()).collect();
    let limit = OUTLIER * (MAD * median(&deviations).unwrap_or(0.0)).max(scale_min);
    values.iter().zip(middles).map(|(value, middle)| value.clamp(middle - limit, middle + limit)).collect()
}

/// The change points of PELT; none in a series too short for one.
fn found(values: &[f64], material: f64) -> Vec<usize> {
    let found = noise_scale(values).and_then(|scale| pelt_with_scale(values, scale.max(material * FLOOR)));
    found.map(|found| found.change_points).unwrap_or_default()
}

/// Those that are confirmed and material.
fn confirmed(values: &[f64], material: f64) -> Vec<usize> {
    let floor = material * FLOOR;
    let penalty = PENALTY * (values.len() as f64).ln();
    let cost = |points: &[usize]| misfit(values, points, floor) + penalty * points.len() as f64;
    let mut points = found(values, material);
    let mut best = (f64::INFINITY, Vec::new());
    loop {
        let weakest = weakest(values, &points, floor, material);
        let all_material = weakest.is_none_or(|(_, gain)| gain > f64::NEG_INFINITY);
        let cost = cost(&points);
        // Of equals the one with fewer steps.
        if all_material && cost <= best.0 {
            best = (cost, points.clone());
        }
        match weakest {
            Some((index, _)) => points.remove(index),
            None => return best.1,
        };
    }
}

/// The change point that explains least, and how much; one whose step is not material explains nothing.
fn weakest(values: &[f64], change_points: &[usize], floor: f64, material: f64) -> Option<(usize, f64)> {
    let with_all = misfit(values, change_points, floor);
    let levels = levels(values, change_points);
    let gain = |index: usize| {
        if (levels[index + 1] - levels[index]).abs() <= material {
            return f64::NEG_INFINITY;
        }
        let without: Vec<usize> = change_points
            .iter()
            .enumerate()
            .filter(|(at, _)| *at != index)
            .map(|(_, point)| *point)
            .collect();
        misfit(values, &without, floor) - with_all
    };
    (0..change_points.len()).map(|index| (index, gain(index))).min_by(|a, b| a.1.total_cmp(&b.1))
}

/// n ln(mean squared innovation): −2 log likelihood, up to a constant, of levels plus autoregressive noise.
fn misfit(values: &[f64], change_points: &[usize], floor: f64) -> f64 {
    let levels = levels(values, change_points);
    let mut rest = Vec::with_capacity(values.len());
    for (part, level) in stretches(values, change_points).zip(levels) {
        rest.extend(part.iter().map(|value| value - level));
    }
    let squares: f64 = rest.iter().map(|value| value * value).sum();
    let products: f64 = rest.windows(2).map(|pair| pair[0] * pair[1]).sum();
    let phi = if squares > 0.0 { (products / squares).clamp(0.0, AUTOCORRELATION_MAX) } else { 0.0 };
    let innovations: f64 = rest.windows(2).map(|pair| (pair[1] - phi * pair[0]).powi(2)).sum();
    let first = rest.first().map_or(0.0, |value| (1.0 - phi * phi) * value * value);
    let n = values.len() as f64;
    n * ((innovations + first) / n + floor * floor).ln()
}

fn levels(values: &[f64], change_points: &[usize]) -> Vec<f64> {
    stretches(values, change_points).map(|part| part.iter().sum::<f64>() / part.len().max(1) as f64).collect()
}

fn stretches<'a>(values: &'a [f64], change_points: &'a [usize]) -> impl Iterator<Item = &'a [f64]> {
    let ends = change_points.iter().copied().chain([values.len()]);
    [0].into_iter().chain(change_points.iter().copied()).zip(ends).map(|(from, to)| &values[from..to])
}

/// Fewest values in which a step can be seen.
pub(super) const VALUES_MIN: usize = 2 * SEGMENT_MIN;
