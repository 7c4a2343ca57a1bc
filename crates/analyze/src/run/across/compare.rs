//! `prony compare`: the second of two runs over the first, cell by cell.
//!
//! The trials of two runs share no block, so they are not paired: Welch's t on the logarithms of the trials' values,
//! and the rank-sum interval beside it. What moves every number between the two hosts would be measured as a difference
//! of the target, so with such a difference there are numbers and no verdicts, unless the caller accepts it.

use super::{Past, same_cell};
use crate::environment::{Surroundings, environment_diff};
use crate::run::MIN_TRIALS;
use crate::run::data::{RunData, too_few};
use crate::run::ratio::{interval_of_logs, verdict_of};
use crate::stats::Refusal;
use crate::stats::holm::holm;
use crate::stats::rank_sum::shift;
use crate::stats::welch::Welch;
use schema::across::{CellAcross, CompareFile, MetricAcross, RunHead};
use schema::analysis::{Interval, Verdict};
use schema::environment::{EnvironmentDiff, Weight};
use schema::metric::Metric;
use schema::plan::CellPlan;
use schema::said;
use schema::said::{Joint, Said};
use schema::trial::TrialOutcome;

/// Why two runs are not compared at all.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CompareError {
    /// They answer two questions.
    #[error(
        "{a_run} is a run of the experiment {a}, {b_run} of {b}\n  remedy: name two runs of one experiment"
    )]
    Experiments {
        /// Name of the first run.
        a_run: String,
        /// Its experiment.
        a: String,
        /// Name of the second run.
        b_run: String,
        /// Its experiment.
        b: String,
    },
    /// A run without a trial that counts.
    #[error(
        "{0} has no valid trial, so there is nothing to compare\n  remedy: finish it with `prony run --resume`, or name another run"
    )]
    Empty(String),
    /// Nothing in common.
    #[error(
        "the two runs have no cell in common: targets, scenarios, loads or limits all differ\n  remedy: name runs of the same experiment file"
    )]
    NoCommonCell,
}

/// Compares run `b` with run `a`. Where their hosts differ in what moves every number, verdicts are given only with
/// `accept_hosts`.
///
/// # Errors
/// [`CompareError`] where there is nothing to compare.
pub fn compare(a: &Past, b: &Past, accept_hosts: bool) -> Result<CompareFile, CompareError> {
    if a.run.plan.name != b.run.plan.name {
        return Err(CompareError::Experiments {
            a_run: a.run.id.clone(),
            a: a.run.plan.name.clone(),
            b_run: b.run.id.clone(),
            b: b.run.plan.name.clone(),
        });
    }
    if let Some(empty) = [a, b].into_iter().find(|past| head(past).trials_valid == 0) {
        return Err(CompareError::Empty(empty.run.id.clone()));
    }
    let (data_a, data_b) = (RunData::new(&a.run.plan, &a.trials), RunData::new(&b.run.plan, &b.trials));
    let of = |past: &'_ Past, cell: &CellPlan| past.run.plan.cells.iter().any(|other| same_cell(cell, other));
    let labels = |cells: &[CellPlan], other: &Past| -> Vec<String> {
        cells.iter().filter(|cell| !of(other, cell)).map(|cell| cell.label.clone()).collect()
    };
    let environment = environment_diff(surroundings(a), surroundings(b));
    let refused = refusal(&environment).filter(|_| !accept_hosts);
    let cells: Vec<CellAcross> = b
        .run
        .plan
        .cells
        .iter()
        .filter_map(|cell| {
            let before = a.run.plan.cells.iter().find(|other| same_cell(cell, other))?;
            Some(cell_across((&data_a, before), (&data_b, cell), refused.as_ref()))
        })
        .collect();
    if cells.is_empty() {
        return Err(CompareError::NoCommonCell);
    }
    Ok(CompareFile {
        schema: Default::default(),
        experiment: b.run.plan.name.clone(),
        a: head(a),
        b: head(b),
        warnings: warnings(a, b, &environment),
        environment,
        refused,
        confidence: data_b.confidence,
        margin: data_b.margin,
        only_a: labels(&a.run.plan.cells, b),
        only_b: labels(&b.run.plan.cells, a),
        cells,
    })
}

pub(super) fn head(past: &Past) -> RunHead {
    let valid = past.trials.iter().filter(|trial| trial.file.outcome == TrialOutcome::Valid).count();
    RunHead {
        id: past.run.id.clone(),
        started_wall: past.run.started_wall.clone(),
        trials_valid: u32::try_from(valid).unwrap_or(u32::MAX),
    }
}

pub(super) fn surroundings(past: &Past) -> Surroundings<'_> {
    Surroundings { name: &past.run.id, host: &past.run.environment, versions: &past.run.versions }
}

/// The facts of the host that move every number.
fn refusal(environment: &EnvironmentDiff) -> Option<Said> {
    let decisive = environment.differences.iter().filter(|found| found.weight == Weight::Decisive);
    let titles: Vec<&Said> = decisive.map(|found| &found.title).collect();
    (!titles.is_empty()).then(|| {
        said!(
            "across.compare.hosts_two_runs_differ",
            "the hosts of the two runs differ in what moves every number ({titles}): run both on \
             one host, or accept it with --across-hosts",
            titles = Said::list(Joint::Comma, titles)
        )
    })
}

fn warnings(a: &Past, b: &Past, environment: &EnvironmentDiff) -> Vec<Said> {
    let (then, now) = (&a.run.plan, &b.run.plan);
    let plain = |differs: bool, text: Said| differs.then_some(text);
    let phases = then.phases != now.phases;
    let pins = then.pin.generator != now.pin.generator || then.pin.target != now.pin.target;
    let decisive = environment.differences.iter().filter(|found| found.weight == Weight::Decisive);
    let possible = environment.differences.iter().filter(|found| found.weight == Weight::Possible);
    let named = |found: &schema::environment::Difference| {
        let value =
            |value: &Option<Said>| value.clone().unwrap_or_else(|| said!("history.unknown", "unknown"));
        let (a, b) = (value(&found.a), value(&found.b));
        said!("across.compare.fact", "{title}: {a} → {b}", title = &found.title, a, b)
    };
    let mut all: Vec<Said> = [
        plain(
            phases,
            said!(
                "across.compare.warm_up_samples_have",
                "warm-up or samples have other lengths, which moves tails and spreads"
            ),
        ),
        plain(
            pins,
            said!(
                "across.compare.cpus_generator_target_others",
                "generator and target ran on different CPUs"
            ),
        ),
        plain(
            then.replicas != now.replicas,
            said!(
                "across.compare.only_one_runs_built",
                "only one of the runs rebuilt the targets for each trial"
            ),
        ),
        plain(
            then.events != now.events,
            said!("across.compare.events_within_trials_others", "the events within the trials differ"),
        ),
    ]
    .into_iter()
    .flatten()
    .collect();
    all.extend(decisive.chain(possible).map(named));
    let version = |found: &schema::environment::VersionDifference| {
        said!(
            "across.compare.version",
            "version of {name}: {a} → {b}",
            name = &found.name,
            a = &found.a,
            b = &found.b
        )
    };
    all.extend(environment.versions.iter().map(version));
    all
}

fn cell_across(
    (data_a, a): (&RunData<'_>, &CellPlan),
    (data_b, b): (&RunData<'_>, &CellPlan),
    refused: Option<&Said>,
) -> CellAcross {
    let mut metrics: Vec<MetricAcross> = Metric::ALL
        .into_iter()
        .map(|metric| across((data_a, &a.id), (data_b, &b.id), metric, refused))
        .collect();
    let p_values: Vec<f64> = metrics.iter().filter_map(|found| found.p_value).collect();
    let with_p = metrics.iter_mut().filter(|found| found.p_value.is_some());
    for (found, adjusted) in with_p.zip(holm(&p_values)) {
        found.p_holm = Some(adjusted);
    }
    CellAcross { label: b.label.clone(), metrics }
}

fn across(
    (data_a, a): (&RunData<'_>, &str),
    (data_b, b): (&RunData<'_>, &str),
    metric: Metric,
    refused: Option<&Said>,
) -> MetricAcross {
    let (values_a, values_b) = (data_a.values(a, metric), data_b.values(b, metric));
    let number = |values: &[f64]| u32::try_from(values.len()).unwrap_or(u32::MAX);
    let mut found = MetricAcross {
        metric,
        unit: metric.unit(),
        a_trials: number(&values_a),
        b_trials: number(&values_b),
        a: geometric_mean(&values_a),
        b: geometric_mean(&values_b),
        ratio: None,
        interval: None,
        rank_ratio: None,
        rank_interval: None,
        p_value: None,
        p_holm: None,
        verdict: Verdict::Refused,
        refused: None,
    };
    let finite = |value: f64| Some(value).filter(|value| value.is_finite() && *value > 0.0);
    found.ratio = found.a.zip(found.b).and_then(|(a, b)| finite(b / a));
    let few = [(data_a, a, &values_a), (data_b, b, &values_b)]
        .into_iter()
        .find(|(_, _, values)| values.len() < MIN_TRIALS);
    if let Some((data, cell, values)) = few {
        found.refused = Some(data.why_missing(cell, metric).unwrap_or_else(|| {
            too_few(said!("noun.trials_in_each_run", "trials in each run"), values.len())
        }));
        return found;
    }
    if found.ratio.is_none() {
        let why = said!(
            "across.compare.value_there_no_ratio",
            "a value is 0, so there is no ratio: compare the values themselves, or measure longer"
        );
        found.refused = Some(why);
        return found;
    }
    let logs = |values: &[f64]| values.iter().map(|value| value.ln()).collect::<Vec<f64>>();
    let (logs_a, logs_b) = (logs(&values_a), logs(&values_b));
    match Welch::of_logs(&logs_b, &logs_a) {
        Err(refusal) => found.refused = Some(in_words(refusal)),
        Ok(test) => {
            let (low, high) = test.interval(data_b.confidence);
            found.interval = Some(interval_of_logs(low, high));
            found.p_value = Some(test.p_value());
            found.verdict =
                verdict_of(metric, |level| test.interval(level), data_b.confidence, data_b.margin);
        }
    }
    if let Ok(ranks) = shift(&logs_b, &logs_a, data_b.confidence) {
        found.rank_ratio = finite(ranks.estimate.exp());
        let none = Interval { low: None, high: None };
        found.rank_interval = Some(ranks.interval.map_or(none, |(low, high)| interval_of_logs(low, high)));
    }
    if let Some(reason) = refused {
        found.verdict = Verdict::Refused;
        found.refused = Some(reason.clone());
    }
    found
}

fn in_words(refusal: Refusal) -> Said {
    match refusal {
        Refusal::NoSpread { .. } => {
            said!(
                "across.compare.all_trials_each_run",
                "all trials of each run gave the same value, so their spread is unknown: \
                 read the ratio as it stands"
            )
        }
        other => other.said(),
    }
}

/// `None` without values or where one is 0.
pub(super) fn geometric_mean(values: &[f64]) -> Option<f64> {
    let mean = values.iter().map(|value| value.ln()).sum::<f64>() / values.len() as f64;
    Some(mean.exp()).filter(|mean| mean.is_finite() && *mean > 0.0)
}
