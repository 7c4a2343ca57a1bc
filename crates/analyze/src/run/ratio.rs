//! One metric of two cells, paired by block: on the log scale, and as differences where there are zeros (METHOD §3).

use super::MIN_TRIALS;
use super::data::{RunData, too_few};
use crate::measure::Measure;
use crate::stats::Refusal;
use crate::stats::student::MeanTest;
use crate::stats::tost::Tost;
use schema::analysis::{Basis, Interval, Verdict};
use schema::metric::{Metric, Unit};
use schema::said;
use schema::said::Said;
use units::TIME_DIGITS;

/// One metric of two cells, paired by block.
pub(super) struct Paired {
    /// How many blocks have both values.
    pub(super) blocks: usize,
    /// (a, b) by block.
    pub(super) pairs: Vec<(f64, f64)>,
    /// ln(a/b) by block; empty where a value is 0.
    pub(super) logs: Vec<f64>,
    /// exp of the mean log ratio; `None` without common blocks or with a 0.
    pub(super) ratio: Option<f64>,
    /// Mean log ratio with its spread, or why there is none and what would cure it. Ratios that are all the same have one
    /// step of what measured them, where that is known.
    pub(super) test: Result<MeanTest, Said>,
    /// Whether the ratios differ at all. Where they do not, the interval of the step holds no chance, and the comparison
    /// does not count in the family of verdicts.
    pub(super) differs: bool,
    /// Mean of a − b; `None` without common blocks.
    pub(super) difference: Option<f64>,
    /// The same with its spread, or why there is none and what would cure it.
    pub(super) difference_test: Result<MeanTest, Said>,
}

impl Paired {
    /// Differences for shares, which are usually 0, and for other values where one is 0; else log ratios.
    pub(super) fn basis<'m>(&self, measure: impl Into<Measure<'m>>) -> Basis {
        let zero = self.pairs.iter().any(|(a, b)| *a == 0.0 || *b == 0.0);
        if measure.into().unit() == Unit::Share || zero { Basis::Difference } else { Basis::Ratio }
    }

    /// a − b by block.
    pub(super) fn differences(&self) -> Vec<f64> {
        self.pairs.iter().map(|(a, b)| a - b).collect()
    }
}

pub(super) fn paired<'m>(data: &RunData<'_>, a: &str, b: &str, measure: impl Into<Measure<'m>>) -> Paired {
    let measure = measure.into();
    let (values_a, values_b) = (data.values_by_block(a, measure), data.values_by_block(b, measure));
    let pairs: Vec<(f64, f64)> =
        values_a.iter().filter_map(|(block, a)| Some((*a, *values_b.get(block)?))).collect();
    let few = (pairs.len() < MIN_TRIALS).then(|| why_too_few(data, (a, b), measure, pairs.len()));
    let (logs, ratio, test) = log_ratios(&pairs, few.clone(), || step(data, (a, b), measure));
    let (difference, difference_test) = differences(&pairs, few);
    let differs = MeanTest::of_logs(&logs).is_ok();
    Paired { blocks: pairs.len(), pairs, logs, ratio, test, differs, difference, difference_test }
}

type LogRatios = (Vec<f64>, Option<f64>, Result<MeanTest, Said>);

/// One step of what measures the ratio of two cells: for times that of their histograms, for throughput an answer more or
/// less on each side. `None` where the steps of what was read are not known.
fn step(data: &RunData<'_>, (a, b): (&str, &str), measure: Measure<'_>) -> Option<f64> {
    let answer = |cell: &str| {
        let answers = data.valid(cell).filter_map(|trial| Some(trial.file.load.as_ref()?.window.answers));
        answers.min().filter(|least| *least > 0).map(|least| 1.0 / least as f64)
    };
    match measure.metric()? {
        Metric::Throughput => Some(answer(a)? + answer(b)?),
        Metric::Mean | Metric::P50 | Metric::P90 | Metric::P95 | Metric::P99 | Metric::P999 | Metric::Max => {
            Some(10_f64.powi(-i32::from(TIME_DIGITS)))
        }
        _ => None,
    }
}

/// `few` is why there are too few pairs, where that is so; `step` is what ratios that do not differ are known within.
fn log_ratios(pairs: &[(f64, f64)], few: Option<Said>, step: impl FnOnce() -> Option<f64>) -> LogRatios {
    let zeros = pairs.iter().filter(|(a, b)| *a == 0.0 || *b == 0.0).count();
    if zeros > 0 {
        let why = said!(
            "ratio.value_blocks_there_no",
            "a value is 0 in {zeros} of {blocks} blocks, so there is no ratio: compare the \
             values themselves, or measure longer",
            zeros,
            blocks = pairs.len()
        );
        return (Vec::new(), None, Err(why));
    }
    let logs: Vec<f64> = pairs.iter().map(|(a, b)| a.ln() - b.ln()).collect();
    let mean = logs.iter().sum::<f64>() / logs.len() as f64;
    let ratio = Some(mean.exp()).filter(|ratio| ratio.is_finite() && *ratio > 0.0);
    let test = match few {
        Some(few) => Err(few),
        None if ratio.is_none() => Err(said!(
            "ratio.ratio_beyond_every_number",
            "the ratio is beyond every number that can be written: look for the fault in the \
                 values"
        )),
        None => match (MeanTest::of_logs(&logs), step()) {
            (Err(Refusal::NoSpread { had }), Some(step)) => Ok(MeanTest::within_step(had, mean, step)),
            (found, _) => found.map_err(|refusal| why_refused(refusal, said!("ratio.a_ratio", "ratio"))),
        },
    };
    (logs, ratio, test)
}

fn differences(pairs: &[(f64, f64)], few: Option<Said>) -> (Option<f64>, Result<MeanTest, Said>) {
    let differences: Vec<f64> = pairs.iter().map(|(a, b)| a - b).collect();
    let mean = differences.iter().sum::<f64>() / differences.len() as f64;
    let size = pairs.iter().map(|(a, b)| a.max(*b)).fold(0.0, f64::max);
    let test = match few {
        Some(few) => Err(few),
        None => MeanTest::of_differences(&differences, size)
            .map_err(|refusal| why_refused(refusal, said!("ratio.a_difference", "difference"))),
    };
    (Some(mean).filter(|mean| mean.is_finite()), test)
}

/// Blocks may lack because trials lack, or because valid trials have no value; the second cannot be cured by blocks.
fn why_too_few(data: &RunData<'_>, cells: (&str, &str), measure: Measure<'_>, had: usize) -> Said {
    let missing = [cells.0, cells.1].into_iter().find_map(|cell| data.why_missing(cell, measure));
    missing
        .unwrap_or_else(|| too_few(said!("noun.blocks_with_both", "blocks with a valid trial of both"), had))
}

fn why_refused(refusal: Refusal, what: Said) -> Said {
    match refusal {
        Refusal::NoSpread { had } => said!(
            "ratio.all_blocks_gave_same",
            "the same {what} in all {had} blocks, ± one step of the measurement",
            had,
            what
        ),
        other => other.said(),
    }
}

/// From logs to ratios. An end that overflows is unbounded.
pub(super) fn interval_of_logs(low: f64, high: f64) -> Interval {
    let end = |log: f64| Some(log.exp()).filter(|end| end.is_finite());
    Interval { low: end(low), high: end(high) }
}

/// From a test of differences. An end that overflows is unbounded.
pub(super) fn interval_of_values((low, high): (f64, f64)) -> Interval {
    let end = |value: f64| Some(value).filter(|end| end.is_finite());
    Interval { low: end(low), high: end(high) }
}

/// The verdict on a/b by two one-sided tests (Schuirmann, J. Pharmacokin. Biopharm. 15, 1987; METHOD §3).
///
/// With α = 1 − confidence:
/// 1. *equivalent* iff the (1 − 2α) interval lies within [1/(1+margin), 1+margin]: both one-sided tests at α reject a
///    difference as large as the margin. This comes first: an interval that excludes 1 but lies wholly within the
///    margin shows a difference too small to matter, and is equivalent.
/// 2. else *faster* or *slower* iff the (1 − α) interval excludes 1, by the direction in which the metric is better.
/// 3. else *inconclusive*.
///
/// So identical targets are called faster or slower with probability α at most.
pub(super) fn verdict<'m>(
    measure: impl Into<Measure<'m>>,
    test: &MeanTest,
    confidence: f64,
    margin: f64,
) -> Verdict {
    let bound = margin.ln_1p();
    if Tost::of(test, -bound, bound).p_value() <= 1.0 - confidence {
        return Verdict::Equivalent;
    }
    direction(measure.into(), test.interval(confidence))
}

/// The same for any interval of the logarithm by its level: both one-sided tests reject at α where the (1 − 2α)
/// interval lies within the margin.
pub(super) fn verdict_of<'m>(
    measure: impl Into<Measure<'m>>,
    interval: impl Fn(f64) -> (f64, f64),
    confidence: f64,
    margin: f64,
) -> Verdict {
    let alpha = 1.0 - confidence;
    let bound = margin.ln_1p();
    let (low, high) = interval(1.0 - 2.0 * alpha);
    if low >= -bound && high <= bound {
        return Verdict::Equivalent;
    }
    direction(measure.into(), interval(confidence))
}

/// The same without a margin, which is a ratio and means nothing for a difference: never *equivalent*.
pub(super) fn verdict_of_difference<'m>(
    measure: impl Into<Measure<'m>>,
    test: &MeanTest,
    confidence: f64,
) -> Verdict {
    direction(measure.into(), test.interval(confidence))
}

fn direction(measure: Measure<'_>, (low, high): (f64, f64)) -> Verdict {
    match (low > 0.0, high < 0.0) {
        (false, false) => Verdict::Inconclusive,
        (a_is_higher, _) if a_is_higher == measure.higher_is_better() => Verdict::Faster,
        _ => Verdict::Slower,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(metric: Metric, mean: f64, sd: f64, wanted: Verdict) {
        let test = MeanTest { n: 5, mean, sd };
        assert_eq!(verdict(metric, &test, 0.95, 0.02), wanted, "{metric:?} {mean} {sd}");
    }

    #[test]
    fn verdicts_follow_the_intervals() {
        // n = 5: the 95 % interval is ± 1.2417 sd, the 90 % interval ± 0.9534 sd; ln 1.02 = 0.0198.
        check(Metric::Throughput, 0.0, 0.020, Verdict::Equivalent);
        check(Metric::Throughput, 0.0, 0.022, Verdict::Inconclusive);
        check(Metric::Throughput, 0.05, 0.04, Verdict::Faster);
        check(Metric::Throughput, -0.05, 0.04, Verdict::Slower);
        check(Metric::P99, 0.05, 0.04, Verdict::Slower);
        check(Metric::P99, -0.05, 0.04, Verdict::Faster);
        check(Metric::Throughput, 0.05, 0.05, Verdict::Inconclusive);
        // Excludes 1, but the whole interval is immaterial.
        check(Metric::Throughput, 0.01, 0.002, Verdict::Equivalent);
        // Excludes 1 and reaches over the margin.
        check(Metric::Throughput, 0.015, 0.010, Verdict::Faster);
    }

    #[test]
    fn ends_that_overflow_are_unbounded() {
        assert_eq!(interval_of_logs(-1e4, 1e4), Interval { low: Some(0.0), high: None });
    }
}
