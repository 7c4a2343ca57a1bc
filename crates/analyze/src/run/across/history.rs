//! `prony history`: each metric of each cell over the runs of an experiment, and where it changed (METHOD's E-divisive,
//! [`crate::stats::e_divisive`]).
//!
//! A point is a run, not a trial: the trials of one run share its day, host and builds, and would make every day a
//! change. A change is dated by the first run after it. Runs of neighbouring days are alike too, for which permutations
//! make no allowance: so a change stands only if a step explains its stretch better than noise that remembers
//! ([`crate::stats::similar`]). The last runs are watched by a CUSUM chart, as no split has three of them behind it
//! ([`crate::stats::cusum`]; ADR 0023).

use super::compare::{geometric_mean, head, surroundings};
use super::repetition::repetition;
use super::{Past, same_cell};
use crate::environment::environment_diff;
use crate::run::data::RunData;
use crate::stats::Refusal;
use crate::stats::cusum;
use crate::stats::e_divisive::{ChangePoint, Settings, VALUES_MAX, e_divisive};
use crate::stats::similar::p_of_no_step;
use schema::across::{
    HistoryAlarm, HistoryChange, HistoryFile, HistoryLevels, HistoryPoint, HistoryRun, HistorySeries,
};
use schema::environment::Weight;
use schema::metric::Metric;
use schema::plan::CellPlan;
use schema::said;
use schema::said::{Arg, Said};
use units::Seed;

/// Fewest runs on either side of a change: one odd day is none.
const SEGMENT_MIN: usize = 3;
/// Fewest runs in which a change can be distinguished from chance: of seven, with three after it, 2 in 35 orders are as
/// good.
const RUNS_MIN: usize = 8;

/// The limit of the test against noise over the significance, by the number of runs; straight lines between these. A change
/// must pass E-divisive's test and this one, which of few runs lets through less than either, and of many, where
/// E-divisive lets nearly all noise pass that remembers, as much as this one. Chosen by simulation (ADR 0030), so that
/// both together are wrong in 5 % at most; `histories_at_full_size` holds that.
const ALLOWANCE: [(f64, f64); 3] = [(12.0, 1.4), (24.0, 1.0), (40.0, 0.8)];

fn allowance(runs: usize) -> f64 {
    let runs = (runs as f64).clamp(ALLOWANCE[0].0, ALLOWANCE[2].0);
    let [(from, first), (to, last)] =
        if runs <= ALLOWANCE[1].0 { [ALLOWANCE[0], ALLOWANCE[1]] } else { [ALLOWANCE[1], ALLOWANCE[2]] };
    first + (last - first) * (runs - from) / (to - from)
}

/// How changes are looked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HistorySettings {
    /// p up to which a change stands, 0 to 1.
    pub significance: f64,
    /// Permutations for each p, 1 or more.
    pub permutations: u32,
    /// Their seed.
    pub seed: u64,
}

/// The history of runs of one experiment, oldest first. Those beyond the newest 1,000 do not count.
#[must_use]
pub fn history(experiment: &str, past: &[Past], settings: HistorySettings) -> HistoryFile {
    let past = &past[past.len().saturating_sub(VALUES_MAX)..];
    let seen: Vec<RunData<'_>> = past.iter().map(|past| RunData::new(&past.run.plan, &past.trials)).collect();
    let runs: Vec<HistoryRun> = (0..past.len()).map(|at| run(past, at)).collect();
    let mut series = Vec::new();
    for cell in cells(past) {
        for metric in Metric::ALL {
            let points = points(&seen, cell, metric);
            if !points.is_empty() {
                let levels = levels(&seen, cell, metric);
                series.push(HistorySeries { levels, ..one(cell, metric, points, &runs, settings) });
            }
        }
    }
    let notes = notes(&series, settings);
    HistoryFile {
        schema: Default::default(),
        experiment: experiment.to_owned(),
        runs,
        significance: settings.significance,
        permutations: settings.permutations,
        seed: settings.seed,
        series,
        notes,
    }
}

/// A run, and what was another than in the run before.
fn run(past: &[Past], at: usize) -> HistoryRun {
    let own = head(&past[at]);
    let mut changed = Vec::new();
    if let Some(before) = at.checked_sub(1) {
        let found = environment_diff(surroundings(&past[before]), surroundings(&past[at]));
        let value =
            |value: &Option<Said>| value.clone().unwrap_or_else(|| said!("history.unknown", "unknown"));
        let decisive = found.differences.iter().filter(|found| found.weight == Weight::Decisive);
        changed.extend(decisive.map(|found| changed_from(&found.title, value(&found.a), value(&found.b))));
        changed.extend(found.versions.iter().map(|one| changed_from(&one.name, &one.a, &one.b)));
    }
    HistoryRun { id: own.id, started_wall: own.started_wall, trials_valid: own.trials_valid, changed }
}

fn changed_from(what: impl Into<Arg>, before: impl Into<Arg>, after: impl Into<Arg>) -> Said {
    said!(
        "history.changed",
        "{what}: {before} → {after}",
        what = what.into(),
        before = before.into(),
        after = after.into()
    )
}

/// All cells of all runs, those of the newest run first.
fn cells(past: &[Past]) -> Vec<&CellPlan> {
    let mut cells: Vec<&CellPlan> = Vec::new();
    for cell in past.iter().rev().flat_map(|past| &past.run.plan.cells) {
        if !cells.iter().any(|known| same_cell(known, cell)) {
            cells.push(cell);
        }
    }
    cells
}

fn points(seen: &[RunData<'_>], cell: &CellPlan, metric: Metric) -> Vec<HistoryPoint> {
    let point = |(run, data): (usize, &RunData<'_>)| {
        let own = data.plan.cells.iter().find(|other| same_cell(cell, other))?;
        let values = data.values(&own.id, metric);
        let value = geometric_mean(&values)?;
        let trials = u32::try_from(values.len()).unwrap_or(u32::MAX);
        Some(HistoryPoint { run: u32::try_from(run).unwrap_or(u32::MAX), value, trials })
    };
    seen.iter().enumerate().filter_map(point).collect()
}

fn one(
    cell: &CellPlan,
    metric: Metric,
    points: Vec<HistoryPoint>,
    runs: &[HistoryRun],
    settings: HistorySettings,
) -> HistorySeries {
    let (changes, refused) = match changes(metric, &points, runs, settings) {
        Ok(changes) => (changes, None),
        Err(reason) => (Vec::new(), Some(reason)),
    };
    let from = changes.last().and_then(|last| {
        points
            .iter()
            .position(|point| runs.get(point.run as usize).is_some_and(|run| run.id == last.first_run))
    });
    let alarm = if refused.is_none() { alarm(metric, &points[from.unwrap_or(0)..], runs) } else { None };
    HistorySeries {
        cell: cell.label.clone(),
        metric,
        unit: metric.unit(),
        points,
        changes,
        alarm,
        levels: None,
        refused,
    }
}

/// Samples in trials in runs; what a run costs besides is not in its trials, so it is taken for as much as a trial does.
fn levels(seen: &[RunData<'_>], cell: &CellPlan, metric: Metric) -> Option<HistoryLevels> {
    let found = repetition(seen, cell, metric)?;
    let run_ns = found.costs_ns.map_or(0.0, |(_, besides)| besides);
    let [samples, trials, runs] =
        [0, 1, 2].map(|level| found.levels.counts.get(level).map(|count| *count as u32));
    Some(HistoryLevels {
        runs: runs?,
        trials: trials?,
        samples: samples?,
        run_cv: found.cv(2),
        trial_cv: found.cv(1),
        sample_cv: found.cv(0),
        trials_best: found.best(1, run_ns),
        samples_best: found.best(0, run_ns),
    })
}

/// Whether the last runs left the level that they had since the last change.
fn alarm(metric: Metric, points: &[HistoryPoint], runs: &[HistoryRun]) -> Option<HistoryAlarm> {
    let logs: Vec<f64> = points.iter().map(|point| point.value.ln()).collect();
    let found = cusum::alarm(&logs)?;
    let level = |part: &[f64]| part.iter().sum::<f64>() / part.len().max(1) as f64;
    let ratio = (level(&logs[found.since..]) - level(&logs[..found.since])).exp();
    let id = |at: usize| runs.get(points.get(at)?.run as usize).map(|run| run.id.clone());
    Some(HistoryAlarm {
        since_run: id(found.since)?,
        raised_run: id(found.raised)?,
        ratio: Some(ratio).filter(|ratio| ratio.is_finite())?,
        average_run_length: cusum::AVERAGE_RUN_LENGTH,
        is_worse: (ratio > 1.0) != metric.higher_is_better(),
    })
}

fn changes(
    metric: Metric,
    points: &[HistoryPoint],
    runs: &[HistoryRun],
    settings: HistorySettings,
) -> Result<Vec<HistoryChange>, Said> {
    if points.len() < RUNS_MIN {
        let missing = RUNS_MIN - points.len();
        return Err(said!(
            "across.history.runs_needed_tell_change",
            "{least} runs needed to distinguish a change from chance, had {had}: run it {missing} more \
             times",
            least = RUNS_MIN,
            had = points.len(),
            missing
        ));
    }
    let logs: Vec<f64> = points.iter().map(|point| point.value.ln()).collect();
    let found = e_divisive(
        &logs,
        &Settings {
            segment_min: SEGMENT_MIN,
            permutations: settings.permutations,
            significance: settings.significance,
            seed: Seed(settings.seed).derive(metric.key(), 0),
        },
    );
    let found = match found {
        Ok(found) => found,
        // Nothing varies, so nothing changed.
        Err(Refusal::NoSpread { .. }) => return Ok(Vec::new()),
        Err(other) => return Err(other.said()),
    };
    let found = confirmed(&logs, found, metric, settings);
    let mut borders: Vec<usize> = found.iter().map(|change| change.at).collect();
    borders.insert(0, 0);
    borders.push(points.len());
    let level = |part: &[f64]| (part.iter().sum::<f64>() / part.len().max(1) as f64).exp();
    let changes = found.iter().enumerate().filter_map(|(at, change)| {
        let before = level(&logs[borders[at]..borders[at + 1]]);
        let after = level(&logs[borders[at + 1]..borders[at + 2]]);
        let first = runs.get(points[change.at].run as usize)?;
        let last = runs.get(points[change.at - 1].run as usize)?;
        let ratio = Some(after / before).filter(|ratio| ratio.is_finite())?;
        Some(HistoryChange {
            after_run: last.id.clone(),
            first_run: first.id.clone(),
            first_wall: first.started_wall.clone(),
            before,
            after,
            ratio,
            p_value: change.p_value,
            is_worse: (ratio > 1.0) != metric.higher_is_better(),
        })
    });
    Ok(changes.collect())
}

/// Those that noise with a memory does not explain. First the whole series is asked whether anything in it moved: only
/// that keeps false alarms at their rate, however many changes were found. Then the weakest is taken out and its neighbours
/// are judged again, until all that are left stand.
fn confirmed(
    logs: &[f64],
    mut found: Vec<ChangePoint>,
    metric: Metric,
    settings: HistorySettings,
) -> Vec<ChangePoint> {
    let seed = Seed(settings.seed).derive(metric.key(), 1);
    let limit = settings.significance * allowance(logs.len());
    let p = |part: &[f64]| p_of_no_step(part, SEGMENT_MIN, seed).unwrap_or(1.0);
    if found.is_empty() || p(logs) > limit {
        return Vec::new();
    }
    // One change alone was judged with the whole.
    while found.len() > 1 {
        let own = |at: usize| {
            let from = at.checked_sub(1).map_or(0, |before| found[before].at);
            let to = found.get(at + 1).map_or(logs.len(), |after| after.at);
            p(&logs[from..to])
        };
        let weakest = (0..found.len()).map(|at| (at, own(at))).max_by(|a, b| a.1.total_cmp(&b.1));
        match weakest {
            Some((at, p)) if p > limit => {
                found.remove(at);
            }
            _ => break,
        }
    }
    found
}

/// Many series are looked at, so some change by chance.
fn notes(series: &[HistorySeries], settings: HistorySettings) -> Vec<Said> {
    let tested = series.iter().filter(|one| one.refused.is_none()).count();
    let expected = tested as f64 * settings.significance;
    let mut notes: Vec<Said> = series.iter().filter_map(alarm_note).collect();
    if tested > 1 {
        notes.push(said!(
            "across.history.series_tested_p_about",
            "{tested} series were tested at p ≤ {significance}: about {expected} of them show a \
             change by chance alone",
            tested,
            significance = settings.significance,
            expected = format!("{:.1}", expected)
        ));
    }
    if settings.significance * (f64::from(settings.permutations) + 1.0) < 1.0 {
        notes.push(said!(
            "across.history.permutations_give_no_p",
            "{permutations} permutations give no p below {least}, so no change can stand: use \
             more of them",
            permutations = settings.permutations,
            least = format!("{:.4}", 1.0 / (f64::from(settings.permutations) + 1.0))
        ));
    }
    notes
}

/// The last runs of a series left its level, too lately for a change to be dated.
fn alarm_note(series: &HistorySeries) -> Option<Said> {
    let alarm = series.alarm.as_ref()?;
    Some(said!(
        "across.history.last_runs_left",
        "{metric} of {cell}: since run {run} {change} against the runs before, which a chart of the sums signals by \
         chance once in {length} runs: run it three more times to date the change",
        metric = series.metric.words(),
        cell = series.cell.as_str(),
        run = alarm.since_run.as_str(),
        change = format!("{:+.1} %", 100.0 * (alarm.ratio - 1.0)).replace('-', "−"),
        length = alarm.average_run_length
    ))
}
