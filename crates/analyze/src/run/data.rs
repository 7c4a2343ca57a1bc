//! The trials of a run, sorted and indexed once, with the settings that everything else needs.

use super::TrialData;
use super::clock;
use super::load;
use super::{asked, counted, trials};
use crate::measure::Measure;
use schema::calibration::{CalibrationSummary, InstrumentError};
use schema::metric::Metric;
use schema::plan::{CellPlan, ExperimentPlan};
use schema::said;
use schema::said::Said;
use schema::trial::TrialOutcome;
use std::collections::BTreeMap;

/// Confidence level and margin where the plan has none that can be used.
const CONFIDENCE: f64 = 0.95;
const MARGIN: f64 = 0.02;

/// A run's plan and trials.
pub(super) struct RunData<'a> {
    pub(super) plan: &'a ExperimentPlan,
    /// By trial number.
    pub(super) trials: Vec<&'a TrialData>,
    /// Above one half and below 1.
    pub(super) confidence: f64,
    /// Above 0.
    pub(super) margin: f64,
    /// The plan's own confidence and margin could be used.
    pub(super) settings_usable: bool,
    /// The instrument's own error, where a calibration bounds it.
    pub(super) error: Option<&'a InstrumentError>,
    /// Numbers of the trials whose clock ran backwards.
    pub(super) backwards: Vec<u32>,
    by_cell: BTreeMap<&'a str, Vec<&'a TrialData>>,
}

impl<'a> RunData<'a> {
    pub(super) fn new(plan: &'a ExperimentPlan, trials: &'a [TrialData]) -> Self {
        let mut trials: Vec<&TrialData> = trials.iter().collect();
        trials.sort_by(|a, b| {
            let key = |trial: &'a TrialData| (trial.file.id, trial.file.block, &trial.file.cell);
            key(a).cmp(&key(b))
        });
        let mut by_cell: BTreeMap<&str, Vec<&TrialData>> = BTreeMap::new();
        for trial in &trials {
            by_cell.entry(&trial.file.cell).or_default().push(trial);
        }
        let confidence = Some(plan.confidence).filter(|level| *level > 0.5 && *level < 1.0);
        let margin = Some(plan.margin).filter(|margin| *margin > 0.0 && margin.is_finite());
        Self {
            plan,
            confidence: confidence.unwrap_or(CONFIDENCE),
            margin: margin.unwrap_or(MARGIN),
            backwards: trials
                .iter()
                .filter(|trial| clock::ran_backwards(trial))
                .map(|trial| trial.file.id)
                .collect(),
            trials,
            error: None,
            settings_usable: confidence.is_some() && margin.is_some(),
            by_cell,
        }
    }

    /// With the error of the instrument that the run was made with.
    pub(super) fn with_instrument(self, calibration: Option<&'a CalibrationSummary>) -> Self {
        Self { error: error_of(calibration), ..self }
    }

    /// Load, share of traces, quota and scenario of a cell in words, all but the load where they vary: `128 connections`,
    /// `128 connections with 0.5 CPUs (json)`.
    pub(super) fn level_in_words(&self, cell: &CellPlan) -> String {
        let load = load::load_with_factors(self.plan, cell);
        if self.plan.scenarios.len() < 2 { load } else { format!("{load} ({})", cell.scenario) }
    }

    pub(super) fn cell(&self, id: &str) -> Option<&'a CellPlan> {
        self.plan.cells.iter().find(|cell| cell.id == id)
    }

    /// All trials of a cell, by number.
    pub(super) fn trials_of(&self, cell: &str) -> impl Iterator<Item = &'a TrialData> + '_ {
        self.by_cell.get(cell).into_iter().flatten().copied()
    }

    /// The valid trials of a cell, by number, but those whose clock ran backwards.
    pub(super) fn valid(&self, cell: &str) -> impl Iterator<Item = &'a TrialData> + '_ {
        let is_usable = move |trial: &&TrialData| {
            trial.file.outcome == TrialOutcome::Valid && !self.backwards.contains(&trial.file.id)
        };
        self.trials_of(cell).filter(is_usable)
    }

    /// One metric of a trial: from its file, and where only claims ask for it also from its counters.
    pub(super) fn value(&self, trial: &TrialData, measure: Measure<'_>) -> Option<f64> {
        match measure {
            Measure::Metric(metric) => {
                trials::value(&trial.file, metric).or_else(|| asked::value(self.plan, trial, metric))
            }
            Measure::Counter(counter) => counted::value(trial, counter),
        }
    }

    /// One metric of the valid trials of a cell, by number; only those that have a value.
    pub(super) fn values<'m>(&self, cell: &str, measure: impl Into<Measure<'m>>) -> Vec<f64> {
        let measure = measure.into();
        self.valid(cell).filter_map(|trial| self.value(trial, measure)).collect()
    }

    /// The same by block. Of two valid trials in one block the first counts.
    pub(super) fn values_by_block<'m>(
        &self,
        cell: &str,
        measure: impl Into<Measure<'m>>,
    ) -> BTreeMap<u32, f64> {
        let measure = measure.into();
        let mut values = BTreeMap::new();
        for trial in self.valid(cell) {
            if let Some(value) = self.value(trial, measure) {
                values.entry(trial.file.block).or_insert(value);
            }
        }
        values
    }

    /// Why valid trials of a cell have no value of a metric, in the words of the first that gives a reason.
    pub(super) fn why_missing<'m>(&self, cell: &str, measure: impl Into<Measure<'m>>) -> Option<Said> {
        let measure = measure.into();
        let mut missing = self.valid(cell).filter(|trial| self.value(trial, measure).is_none()).peekable();
        let first = missing.peek()?;
        let metric = match measure {
            Measure::Metric(metric) => metric,
            Measure::Counter(counter) => return Some(counted::why_missing(first, counter)),
        };
        let said = missing.find_map(|trial| {
            trial.file.load.as_ref()?.latency_ns.response.refused.get(metric.key()).cloned()
        });
        Some(said.unwrap_or_else(|| match metric {
            Metric::CpuPerRequest | Metric::Memory | Metric::Cpu => {
                said!(
                    "data.cannot_read_this_target",
                    "it cannot be read for this target: let prony start the target on this \
                         machine"
                )
            }
            Metric::Downtime | Metric::RequestsLost => said!(
                "data.no_event_that_ended",
                "no event took place of which the end was seen: give the experiment an [[event]]"
            ),
            Metric::AllocPerRequest
            | Metric::GcCount
            | Metric::GcRate
            | Metric::GcPauseP99
            | Metric::GcPauseMax
            | Metric::GcPauseShare => {
                said!(
                    "data.target_runtime_does_not",
                    "the target's runtime does not tell: name its endpoint under [metrics] \
                         in its target.toml"
                )
            }
            _ => said!(
                "data.valid_trial_has_no",
                "a valid trial has no value: look at its errors and its target.log"
            ),
        }))
    }

    /// `95 % interval 1.029 to 1.053, 5 blocks` and the like begin with this.
    pub(super) fn interval_name(&self) -> Said {
        interval_name(self.confidence, false)
    }
}

/// The error that holds for a run: none from a host that was busy when it was calibrated, because what it measured then
/// was the host.
fn error_of(calibration: Option<&CalibrationSummary>) -> Option<&InstrumentError> {
    let calibration = calibration.filter(|calibration| calibration.disturbed.is_none())?;
    calibration.error.as_ref().filter(|error| {
        let late = error.late.map_or([0.0; 3], |late| [late.mean_ns, late.p99_ns, late.max_ns]);
        let all = [error.clock_ns, error.histogram_share, error.wake_p99_ns];
        all.into_iter().chain(late).all(|one| one.is_finite() && one >= 0.0)
    })
}

/// `95 % interval` of one, `95 % joint interval` of one of a family.
pub(super) fn interval_name(confidence: f64, is_joint: bool) -> Said {
    let confidence = crate::words::percent(confidence);
    match is_joint {
        true => said!("data.joint_interval", "{confidence} joint interval", confidence),
        false => said!("data.interval", "{confidence} interval", confidence),
    }
}

/// `5 trials needed, had 3: run 2 more blocks`.
pub(super) fn too_few(noun: Said, had: usize) -> Said {
    let missing = super::MIN_TRIALS.saturating_sub(had);
    said!(
        "data.needed_had_run_more",
        "{least} {noun} needed, had {had}: run {missing} more block{plural}",
        least = super::MIN_TRIALS,
        noun,
        had,
        missing,
        plural = plural(missing)
    )
}

fn plural(number: usize) -> &'static str {
    if number == 1 { "" } else { "s" }
}
