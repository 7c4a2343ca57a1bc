//! A look at a block border: how wide the intervals of what is judged still are, and how many blocks would do.
//!
//! Looking again and again until an interval is narrow favours the moments at which its spread is underestimated. What
//! keeps the looks honest is in [`crate::stats::sequential`]; this file only asks it.

use super::MIN_TRIALS;
use super::TrialData;
use super::claims;
use super::data::RunData;
use super::families::Families;
use super::judged::judged;
use crate::stats::power::half_width;
use crate::stats::sequential;
use schema::analysis::ClaimVerdict;
use schema::calibration::CalibrationSummary;
use schema::plan::ExperimentPlan;
use schema::said;
use schema::said::Said;

/// How many claims are not decided by the trials so far: neither held nor contradicted by the whole interval.
///
/// Asked at each block border of a run that waits for its claims; its intervals allow for that, and for the error of
/// the instrument as the report of the run will.
#[must_use]
pub fn undecided(
    plan: &ExperimentPlan,
    calibration: Option<&CalibrationSummary>,
    trials: &[TrialData],
) -> u32 {
    let data = RunData::new(plan, trials).with_instrument(calibration);
    let families = Families::new(&data);
    let answers = claims::answers(&data, &families, &[]);
    let open = answers
        .iter()
        .filter(|answer| !matches!(answer.verdict, ClaimVerdict::Holds | ClaimVerdict::DoesNotHold));
    u32::try_from(open.count()).unwrap_or(u32::MAX)
}

/// What a look finds.
#[derive(Clone, Debug, PartialEq)]
pub struct Look {
    /// Whether everything that is judged is as precise as wanted, at this look.
    pub is_narrow: bool,
    /// The widest half-width as a share of the ratio or value, 0 or more; `None` where nothing can be judged.
    pub half_width: Option<f64>,
    /// What that is, in words; or why nothing can be judged.
    pub of: Said,
    /// Blocks after which the widest is expected to be narrow enough; `None` where that is unknown.
    pub blocks_needed: Option<u32>,
}

/// Looks at the trials so far for a wanted half-width, as a share (0.02 is ± 2 %).
///
/// Trials may be incomplete, in any order, void or failed.
#[must_use]
pub fn look(plan: &ExperimentPlan, trials: &[TrialData], wanted: f64) -> Look {
    let data = RunData::new(plan, trials);
    let families = Families::new(&data);
    let wanted_log = wanted.max(0.0).ln_1p();
    let mut worst = Look { is_narrow: true, half_width: None, of: Said::default(), blocks_needed: None };
    let mut unjudged: Option<Said> = None;
    for one in judged(plan) {
        let measure = one.measure(&data);
        match one.test(&data, measure, MIN_TRIALS) {
            Err(reason) => {
                worst.is_narrow = false;
                unjudged.get_or_insert_with(|| {
                    said!("look.because", "{what}: {reason}", what = one.words(&data, measure), reason)
                });
            }
            Ok(spread) => {
                let (n, sd) = spread.map_or((MIN_TRIALS, 0.0), |test| (test.n, test.sd));
                let n = u32::try_from(n).unwrap_or(u32::MAX);
                let level = one.level(&data, &families, measure).confidence;
                let half = half_width(n, sd, level).exp_m1();
                worst.is_narrow &= sequential::is_narrow(n, sd, wanted_log, level);
                if !half.is_finite() {
                    let why = said!(
                        "look.spread_beyond_every_number",
                        "{metric}: its spread is beyond every number",
                        metric = one.words(&data, measure)
                    );
                    unjudged.get_or_insert(why);
                } else if worst.half_width.is_none_or(|widest| half > widest) {
                    worst.half_width = Some(half);
                    worst.of = one.words(&data, measure);
                    worst.blocks_needed = sequential::needed(n, sd, wanted_log, level);
                }
            }
        }
    }
    if worst.half_width.is_none() {
        worst.of = unjudged.unwrap_or_else(|| said!("look.plan_has_no_cells", "the plan has no cells"));
        worst.is_narrow = false;
    }
    worst
}
