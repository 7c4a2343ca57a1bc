//! Where a curve bends, on the logarithms of load and value.
//!
//! Logarithms, because ladders double, trial effects multiply, and on them the two asymptotes of a queue are straight:
//! throughput grows with slope 1 and then not at all. A knee is claimed only where the broken line beats *both* lines
//! without a break, the power law and the affine line y = a + b·N, by ΔBIC ≥ 10 (METHOD §6) and AICc, where it bends
//! the right way, and where it bends at all. Where throughput bends is then where the asymptotes of the law cross that fits
//! it (`scaling`); of other metrics it is the break of the line.

use super::ladder::{Ladder, Level};
use super::scaling::Fitted;
use crate::run::data::RunData;
use crate::run::instrument::NEGLIGIBLE;
use crate::stats::kneedle::{Curve, kneedle, second_differences};
use crate::stats::segmented::{Segmented, break_interval, segmented};
use crate::words::{Noun, count, number};
use schema::analysis::Interval;
use schema::capacity::Knee;
use schema::metric::Metric;
use schema::said;
use schema::said::Said;

/// METHOD §6.
const DELTA_BIC: f64 = 10.0;
/// Sensitivity of Kneedle (METHOD §6).
const SENSITIVITY: f64 = 1.0;
/// Least change of slope that is a bend: with 0.2 a doubling of the load gains 13 % less after it.
const BEND: f64 = 0.2;
/// Fewest levels: two on each side of a break and one more to tell the noise by.
const LEVELS: usize = 5;
/// Slopes up to here are flat; from 1 less this on, in proportion.
const FLAT: f64 = 0.1;

/// `fitted` are the laws of throughput; `level` is the confidence of the interval.
pub(super) fn knee(
    data: &RunData<'_>,
    ladder: &Ladder<'_>,
    metric: Metric,
    fitted: Option<&Fitted>,
    level: f64,
) -> Knee {
    let levels = ladder.levels(data, metric);
    let mut knee = Knee {
        metric,
        at: None,
        interval: None,
        law: None,
        slope_before: None,
        slope_after: None,
        delta_bic: None,
        kneedle: None,
        sharpest: None,
        refused: None,
    };
    if levels.len() < LEVELS {
        knee.refused = Some(said!(
            "capacity.knee.value_needed_had_lengthen",
            "{least} with a value needed, had {had}: lengthen the ladder{also}",
            least = count(LEVELS, Noun::Level),
            had = levels.len(),
            also = if metric == Metric::P95 {
                said!(
                    "capacity.knee.samples_p95_needs_requests",
                    ", or the samples (p95 needs 6,000 requests in a trial)"
                )
            } else {
                Said::default()
            }
        ));
        return knee;
    }
    let (x, means): (Vec<f64>, Vec<f64>) = levels.iter().map(|level| (level.load.ln(), level.mean())).unzip();
    let curve = if metric == Metric::Throughput { Curve::ConcaveIncreasing } else { Curve::ConvexIncreasing };
    knee.kneedle = kneedle(&x, &means, curve, SENSITIVITY).ok().flatten().map(f64::exp);
    knee.sharpest = sharpest(&x, &means, metric);
    match claim(&levels, metric, level, &mut knee) {
        Ok((at, interval)) => {
            knee.at = Some(at);
            knee.interval = Some(match ladder.levels_by_instrument(data, metric) {
                Some(ends) => with_instrument(interval, &ends, metric, level, &knee),
                None => interval,
            });
        }
        Err(reason) => knee.refused = Some(reason),
    }
    if let (Some(_), Metric::Throughput, Some(fitted)) = (knee.at, metric, fitted) {
        crossing(&levels, fitted, level, &mut knee);
    }
    knee
}

/// The interval with those of the curve as low and as high as the instrument's error allows, which bends elsewhere: what
/// is added to all times alike flattens the low part of the curve most (ADR 0027). Open where such a curve has no knee.
/// As it was where that is negligible.
fn with_instrument(
    interval: Interval,
    ends: &[Vec<Level>; 2],
    metric: Metric,
    confidence: f64,
    knee: &Knee,
) -> Interval {
    let mut wide = interval;
    for levels in ends {
        let mut beside = knee.clone();
        let found = match claim(levels, metric, confidence, &mut beside) {
            Ok((_, found)) => found,
            Err(_) => Interval { low: None, high: None },
        };
        wide.low = wide.low.zip(found.low).map(|(a, b)| a.min(b));
        wide.high = wide.high.zip(found.high).map(|(a, b)| a.max(b));
    }
    let far = |a: Option<f64>, b: Option<f64>| match (a, b) {
        (Some(a), Some(b)) => (a / b).ln().abs(),
        (None, None) => 0.0,
        _ => f64::INFINITY,
    };
    let moved = far(interval.low, wide.low).max(far(interval.high, wide.high));
    let half = far(interval.low, interval.high) / 2.0;
    if moved > NEGLIGIBLE * half || !half.is_finite() { wide } else { interval }
}

/// The knee of throughput is where the asymptotes of the fitted law cross. Where no law fits, the interval spans that of
/// the least bad one, widened by its misfit, and that of the broken line, which stays the value.
fn crossing(levels: &[Level], fitted: &Fitted, level: f64, knee: &mut Knee) {
    let Some((law, found)) = fitted.knee(level) else { return };
    let (first, last) = (levels[0].load, levels[levels.len() - 1].load);
    let (mut low, mut high) = (found.low.exp(), found.high.exp());
    if fitted.best().is_some() {
        (knee.at, knee.law) = (Some(found.value.exp().clamp(first, last)), Some(law));
    } else if let Some(broken) = knee.interval {
        (low, high) = (low.min(broken.low.unwrap_or(0.0)), high.max(broken.high.unwrap_or(f64::INFINITY)));
    }
    let inside = |end: f64| Some(end).filter(|end| *end > first && *end < last);
    knee.interval = Some(Interval { low: inside(low), high: inside(high) });
}

/// The level of the strongest bend in the direction of a knee; `None` where all bend the other way.
fn sharpest(x: &[f64], means: &[f64], metric: Metric) -> Option<f64> {
    let sign = if metric == Metric::Throughput { -1.0 } else { 1.0 };
    let bends = second_differences(x, means).ok()?;
    let bends = bends.iter().zip(x).filter_map(|(bend, x)| Some(((*bend)? * sign, *x)));
    let sharpest = bends.filter(|(bend, _)| *bend > 0.0).max_by(|a, b| a.0.total_cmp(&b.0));
    sharpest.map(|(_, x)| x.exp())
}

/// The knee with its interval, or why there is none.
fn claim(
    levels: &[Level],
    metric: Metric,
    confidence: f64,
    knee: &mut Knee,
) -> Result<(f64, Interval), Said> {
    let (x, y): (Vec<f64>, Vec<f64>) =
        levels.iter().flat_map(|level| level.logs.iter().map(|log| (level.load.ln(), *log))).unzip();
    let fit = match segmented(&x, &y) {
        Ok(fit) => fit,
        // Equal values everywhere are as flat as can be.
        Err(crate::stats::Refusal::NoSpread { .. }) => return Err(no_bend(levels, metric, 0.0)),
        Err(refusal) => return Err(refusal.said()),
    };
    let rss_line = affine_rss(&x, &y).map_or(fit.rss_line, |rss| rss.min(fit.rss_line));
    let delta_bic = fit.delta_bic(rss_line);
    knee.delta_bic = Some(delta_bic);
    (knee.slope_before, knee.slope_after) = (Some(fit.slope_before), Some(fit.slope_after));
    let bend = match metric {
        Metric::Throughput => fit.slope_before - fit.slope_after,
        _ => fit.slope_after - fit.slope_before,
    };
    if delta_bic < DELTA_BIC || bend < BEND {
        return Err(no_bend(levels, metric, delta_bic));
    }
    if fit.delta_aicc(rss_line) < 0.0 {
        return Err(said!(
            "capacity.knee.bend_near_shows_but",
            "a bend near {at} shows, but {trials} are too few to distinguish it from noise (AICc \
             prefers a line without one): run more blocks, or more levels",
            at = number(fit.break_at.exp()),
            trials = count(fit.n, Noun::Trial)
        ));
    }
    Ok((fit.break_at.exp(), interval(&fit, &x, &y, confidence)))
}

fn interval(fit: &Segmented, x: &[f64], y: &[f64], confidence: f64) -> Interval {
    let (low, high) = break_interval(fit, x, y, confidence).unwrap_or((None, None));
    Interval { low: low.map(f64::exp), high: high.map(f64::exp) }
}

/// Why no knee is claimed, by how the curve runs from its first to its last level.
fn no_bend(levels: &[Level], metric: Metric, delta_bic: f64) -> Said {
    let (first, last) = (&levels[0], &levels[levels.len() - 1]);
    let slope = (last.mean() - first.mean()) / (last.load / first.load).ln();
    let (from, to) = (number(first.load), number(last.load));
    if metric != Metric::Throughput {
        return said!(
            "capacity.knee.p95_bends_nowhere_between",
            "p95 bends nowhere between {from} and {to} (ΔBIC {delta_bic}, {least} needed): raise \
             the ladder, or run more blocks if p95 differs much between trials",
            from,
            to,
            delta_bic = number(delta_bic),
            least = DELTA_BIC
        );
    }
    if slope > 1.0 - FLAT {
        return said!(
            "capacity.knee.throughput_rises_proportion_load",
            "throughput rises in proportion to the load up to {to}, the last level: the knee \
             lies beyond; raise the ladder",
            to
        );
    }
    if slope.abs() < FLAT {
        return said!(
            "capacity.knee.throughput_flat_from_first",
            "throughput is flat from {from} on, the first level: the knee lies below, or \
             something else than the load limits it; begin the ladder lower",
            from
        );
    }
    said!(
        "capacity.knee.no_place_between_stands",
        "no place between {from} and {to} stands out as a knee (ΔBIC {delta_bic}, {least} \
         needed): throughput bends evenly, or trials differ too much; run more blocks, or a \
         wider ladder",
        from,
        to,
        delta_bic = number(delta_bic),
        least = DELTA_BIC
    )
}

/// Residual sum of ln y about ln(a + b·N), for x = ln N: Gauss–Newton from the line with weights 1/y². `None` where
/// the line is not positive at every level, or does not settle.
fn affine_rss(x: &[f64], y: &[f64]) -> Option<f64> {
    let points: Vec<(f64, f64)> = x.iter().zip(y).map(|(x, y)| (x.exp(), *y)).collect();
    let scale = points.iter().map(|(n, _)| n).fold(0.0_f64, |most, n| most.max(*n));
    let (mut a, mut b) = weighted_line(points.iter().map(|(n, y)| (n / scale, y.exp(), (-2.0 * y).exp())))?;
    let rss = |a: f64, b: f64| {
        let residual = |(n, y): &(f64, f64)| {
            let line = a + b * n / scale;
            (line > 0.0).then(|| (y - line.ln()).powi(2))
        };
        points.iter().map(residual).sum::<Option<f64>>()
    };
    let mut best = rss(a, b)?;
    for _ in 0..20 {
        // ln y − ln f ≈ (δa + δb·n)/f: a line through f + f·(ln y − ln f), with weights 1/f².
        let working = points.iter().map(|(n, y)| {
            let f = a + b * n / scale;
            (n / scale, f * (1.0 + y - f.ln()), 1.0 / (f * f))
        });
        let next = weighted_line(working)?;
        match rss(next.0, next.1).filter(|rss| *rss < best) {
            Some(rss) => (a, b, best) = (next.0, next.1, rss),
            None => break,
        }
    }
    Some(best)
}

/// Weighted least squares of y = a + b·x over (x, y, w); `None` where it has no finite answer.
fn weighted_line(points: impl Iterator<Item = (f64, f64, f64)> + Clone) -> Option<(f64, f64)> {
    let sum = |of: &dyn Fn((f64, f64, f64)) -> f64| points.clone().map(of).sum::<f64>();
    let w = sum(&|(_, _, w)| w);
    let (x, y) = (sum(&|(x, _, w)| w * x) / w, sum(&|(_, y, w)| w * y) / w);
    let xx = sum(&|(px, _, w)| w * (px - x).powi(2));
    let xy = sum(&|(px, py, w)| w * (px - x) * (py - y));
    let slope = xy / xx;
    (slope.is_finite() && y.is_finite()).then_some((y - slope * x, slope))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_affine_line_is_fitted_on_the_log_scale() {
        let n: Vec<f64> = (0..8).map(|i| 2.0_f64.powi(i)).collect();
        let x: Vec<f64> = n.iter().map(|n| n.ln()).collect();
        let y: Vec<f64> = n.iter().map(|n| (50.0 + 7.0 * n).ln()).collect();
        assert!(affine_rss(&x, &y).unwrap() < 1e-20);
        // scipy 1.17.1 curve_fit of ln y = ln(a + b n) on these: a 0.5146…, b 0.4788…; the sum is what is held here.
        let bent: Vec<f64> = n.iter().map(|n| n.min(16.0).ln()).collect();
        let found = affine_rss(&x, &bent).unwrap();
        let line = segmented(&x, &bent).unwrap();
        assert!(found > line.rss && line.delta_bic(found.min(line.rss_line)) > 10.0);
    }
}
