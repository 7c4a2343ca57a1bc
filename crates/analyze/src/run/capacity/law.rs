//! The Universal Scalability Law over the levels of a ladder.

use super::ladder::{Ladder, Level};
use super::scaling::Fitted;
use crate::run::data::RunData;
use crate::stats::scaling::Law as LawKind;
use crate::stats::usl::{Ends, Point, Usl, UslIntervals, usl, usl_intervals};
use schema::analysis::Interval;
use schema::capacity::{Estimate, LoadAxis, UslFit};
use schema::metric::Metric;
use schema::said;
use schema::said::Said;
use units::Seed;

/// Bootstrap fits (METHOD §3: at least 2000).
const DRAWS: u32 = 2_000;
/// Levels at which the bootstrap looks besides, as multiples of the last.
const BEYOND: [f64; 2] = [2.0, 4.0];
/// Weight of the pooled variance in that of one level, in degrees of freedom: five trials tell a variance so badly that
/// one level could outweigh all others by chance (Smyth, Stat. Appl. Genet. Mol. Biol. 3, 2004, moderates alike).
const PRIOR: f64 = 4.0;
/// Relative standard deviation that is taken at least, so that trials that agree by chance do not weigh without bound.
const SD_LEAST: f64 = 1e-3;

/// Given where the law fits as well as trials agree and no other describes the ladder better; its peak only where trials
/// show that throughput falls.
pub(super) fn law(
    data: &RunData<'_>,
    ladder: &Ladder<'_>,
    axis: LoadAxis,
    fitted: Option<&Fitted>,
) -> Result<UslFit, Said> {
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
    let Some(fitted) = fitted else {
        return Err(said!(
            "capacity.law.no_spread_to_test",
            "whether the law fits cannot be tested without a spread between trials: run two blocks or more"
        ));
    };
    fitted.stands(LawKind::Usl)?;
    let at = BEYOND.map(|times| times * last.n);
    let seed = Seed(data.plan.seed).derive("usl", 0);
    let intervals = usl_intervals(&points, &fit, at, data.confidence, DRAWS, seed).ok();
    let is_shown = fit.peak().is_some_and(|peak| peak < last.n) && fitted.declines(data.confidence);
    Ok(of_fit(&fit, intervals.as_ref(), is_shown, missed))
}

fn of_fit(fit: &Usl, intervals: Option<&UslIntervals>, is_shown: bool, misfit: f64) -> UslFit {
    let estimate = |value: Option<f64>, of: fn(&UslIntervals) -> Ends| Estimate {
        value: value.filter(|value| value.is_finite()),
        interval: intervals.map(of).and_then(interval),
    };
    let peak = |value: Option<f64>, of: fn(&UslIntervals) -> Ends| match is_shown {
        true => estimate(value, of),
        false => Estimate::default(),
    };
    UslFit {
        alpha: estimate(Some(fit.alpha), |i| i.alpha),
        beta: estimate(Some(fit.beta), |i| i.beta),
        gamma: estimate(Some(fit.gamma), |i| i.gamma),
        peak: peak(fit.peak(), |i| i.peak),
        peak_per_s: peak(fit.peak_throughput(), |i| i.peak_throughput),
        peak_is_beyond: false,
        peak_is_shown: is_shown,
        misfit,
        predictions: Vec::new(),
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
