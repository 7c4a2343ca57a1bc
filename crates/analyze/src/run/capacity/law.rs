//! The Universal Scalability Law over the levels of a ladder.

use super::ladder::{Ladder, Level};
use crate::run::data::RunData;
use crate::stats::usl::{Ends, Point, Usl, UslIntervals, usl, usl_intervals};
use crate::words::{number, percent};
use schema::analysis::Interval;
use schema::capacity::{Estimate, LoadAxis, UslFit, UslPoint};
use schema::metric::Metric;
use schema::said;
use schema::said::Said;
use units::Seed;

/// Bootstrap fits (METHOD §3: at least 2000).
const DRAWS: u32 = 2_000;
/// Levels beyond the ladder that are predicted, as multiples of its last.
const BEYOND: [f64; 2] = [2.0, 4.0];
/// A law that misses a level by more does not describe the ladder.
const MISFIT: f64 = 0.25;
/// Weight of the pooled variance in that of one level, in degrees of freedom: five trials tell a variance so badly that
/// one level could outweigh all others by chance (Smyth, Stat. Appl. Genet. Mol. Biol. 3, 2004, moderates alike).
const PRIOR: f64 = 4.0;
/// Relative standard deviation that is taken at least, so that trials that agree by chance do not weigh without bound.
const SD_LEAST: f64 = 1e-3;

pub(super) fn law(data: &RunData<'_>, ladder: &Ladder<'_>, axis: LoadAxis) -> Result<UslFit, Said> {
    if axis == LoadAxis::Rate {
        return Err(said!(
            "capacity.law.law_speaks_concurrency_this",
            "the law speaks of concurrency, and this ladder is of rates: give a ladder of \
                 connections"
        ));
    }
    let levels = ladder.levels(data, Metric::Throughput);
    let points = points(&levels);
    let fit = usl(&points).map_err(|refusal| refusal.said())?;
    let worst = points.iter().max_by(|a, b| misfit(&fit, a).total_cmp(&misfit(&fit, b)));
    let Some((worst, last)) = worst.zip(points.last()) else {
        return Err(said!(
            "capacity.law.no_level_has_valid",
            "no level has a valid trial: see the reasons of the trials"
        ));
    };
    let missed = misfit(&fit, worst);
    if missed > MISFIT {
        return Err(said!(
            "capacity.law.law_misses_does_not",
            "the law misses {n} by {missed}, so it does not describe this ladder (a hard limit \
             such as a quota or a pool bends more sharply than any contention): use the knee",
            n = number(worst.n),
            missed = percent(missed)
        ));
    }
    let at = BEYOND.map(|times| times * last.n);
    let seed = Seed(data.plan.seed).derive("usl", 0);
    let intervals = usl_intervals(&points, &fit, at, data.confidence, DRAWS, seed).ok();
    Ok(fitted(&fit, intervals.as_ref(), at, last.n, missed))
}

fn fitted(fit: &Usl, intervals: Option<&UslIntervals>, at: [f64; 2], last: f64, misfit: f64) -> UslFit {
    let estimate = |value: Option<f64>, of: fn(&UslIntervals) -> Ends| Estimate {
        value: value.filter(|value| value.is_finite()),
        interval: intervals.map(of).and_then(interval),
    };
    let prediction = |place: usize, of: fn(&UslIntervals) -> Ends| UslPoint {
        n: at[place],
        per_s: estimate(Some(fit.at(at[place])), of),
        is_beyond: at[place] > last,
    };
    UslFit {
        alpha: estimate(Some(fit.alpha), |i| i.alpha),
        beta: estimate(Some(fit.beta), |i| i.beta),
        gamma: estimate(Some(fit.gamma), |i| i.gamma),
        peak: estimate(fit.peak(), |i| i.peak),
        peak_per_s: estimate(fit.peak_throughput(), |i| i.peak_throughput),
        peak_is_beyond: fit.peak().is_none_or(|peak| peak > last),
        misfit,
        predictions: vec![prediction(0, |i| i.at[0]), prediction(1, |i| i.at[1])],
    }
}

/// An interval whose lower end is infinite says nothing that the value does not.
fn interval((low, high): Ends) -> Option<Interval> {
    Some(Interval { low: Some(low?), high })
}

fn misfit(fit: &Usl, point: &Point) -> f64 {
    (fit.at(point.n) / point.x - 1.0).abs()
}

/// Mean throughput of each level with its moderated standard error.
fn points(levels: &[Level]) -> Vec<Point> {
    let freedom: f64 = levels.iter().map(|level| level.logs.len() as f64 - 1.0).sum();
    let squares = |level: &Level| {
        let mean = level.mean();
        level.logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>()
    };
    let pooled = if freedom > 0.0 { levels.iter().map(squares).sum::<f64>() / freedom } else { 0.0 };
    levels
        .iter()
        .map(|level| {
            let trials = level.logs.len() as f64;
            let variance = (squares(level) + PRIOR * pooled) / (trials - 1.0 + PRIOR);
            let sd = variance.sqrt().max(SD_LEAST);
            let x = level.mean().exp();
            Point { n: level.load, x, se: x * sd / trials.sqrt() }
        })
        .collect()
}
