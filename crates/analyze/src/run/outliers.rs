//! Trials far from the others of their cell, one by one, and what differed on the host while they ran.
//!
//! Throughput, median and p99 response time are looked at, as logarithms: spreads of such values are ratios. In a run
//! whose trials differ by chance alone, one is flagged in 5 % of runs at most, however many cells it has (METHOD §3).
//!
//! Invariants: only valid trials are looked at, and what is found changes no number: a trial that is left out because it
//! does not fit makes every interval too narrow.
//! Absent on purpose: a search, which visits most of its rates once, and a soak, whose windows are judged instead.

use super::TrialData;
use super::data::RunData;
use super::trials::value;
use crate::stats::order::median;
use crate::stats::outliers::{Outlier, VALUES_MIN, outliers as far_ones};
use crate::words::{Listed, Noun, count, listed, number, percent};
use schema::analysis::{BeliefLevel, BeliefNote, OutlyingMetric, OutlyingTrial};
use schema::metric::Metric;
use schema::plan::CellPlan;
use schema::said;
use schema::said::{Joint, Said};

/// The metrics that are looked at.
const METRICS: [Metric; 3] = [Metric::Throughput, Metric::P50, Metric::P99];
/// Share of runs without any outlying trial in which one is flagged, where logarithms are normal: the logarithms of
/// normal values that spread by 10 % have a longer tail, and of those 5 % of runs are not to be exceeded either (ADR 0026).
const ALPHA: f64 = 0.04;
/// Standard deviation of logarithms below which trials do not differ measurably: half a step of a histogram of 3 digits.
const SCALE_MIN: f64 = 5e-4;
/// What differs on the host is worth saying from this on: shares by so much, times of the fixed work by this ratio.
const SHARE_MORE: f64 = 0.05;
const STEAL_MORE: f64 = 0.01;
const WORK_MORE: f64 = 0.05;

/// The outlying trials, by number.
pub(super) fn outliers(data: &RunData<'_>) -> Vec<OutlyingTrial> {
    if data.plan.search().is_some() || data.plan.soak.is_some() {
        return Vec::new();
    }
    let samples: Vec<Sample<'_>> = data
        .plan
        .cells
        .iter()
        .flat_map(|cell| METRICS.into_iter().filter_map(|metric| Sample::of(data, cell, metric)))
        .collect();
    let mut found: Vec<OutlyingTrial> = Vec::new();
    for cell in &data.plan.cells {
        let mut by_trial: Vec<(&TrialData, OutlyingMetric)> = Vec::new();
        for sample in samples.iter().filter(|sample| sample.cell.id == cell.id) {
            by_trial.extend(sample.far(samples.len(), data.margin));
        }
        by_trial.sort_by(|a, b| {
            (a.0.file.id, a.1.p_value).partial_cmp(&(b.0.file.id, b.1.p_value)).expect("finite")
        });
        let ids: Vec<u32> = by_trial.iter().map(|(trial, _)| trial.file.id).collect();
        let calm: Vec<&TrialData> = data.valid(&cell.id).filter(|one| !ids.contains(&one.file.id)).collect();
        found.extend(by_trial.chunk_by(|a, b| a.0.file.id == b.0.file.id).map(|group| {
            let metrics: Vec<OutlyingMetric> = group.iter().map(|(_, metric)| *metric).collect();
            let text = in_words(group[0].0, metrics[0], cell, &calm);
            OutlyingTrial { trial: group[0].0.file.id, cell: cell.id.clone(), metrics, text }
        }));
    }
    found.sort_by_key(|outlier| outlier.trial);
    found
}

/// One metric of the valid trials of one cell.
struct Sample<'a> {
    cell: &'a CellPlan,
    metric: Metric,
    trials: Vec<&'a TrialData>,
    logs: Vec<f64>,
}

impl<'a> Sample<'a> {
    /// `None` with too few values to tell.
    fn of(data: &RunData<'a>, cell: &'a CellPlan, metric: Metric) -> Option<Self> {
        let log = |trial: &'a TrialData| {
            let value = value(&trial.file, metric).filter(|value| *value > 0.0)?;
            Some((trial, value.ln()))
        };
        let (trials, logs): (Vec<_>, Vec<_>) = data.valid(&cell.id).filter_map(log).unzip();
        (logs.len() >= VALUES_MIN).then_some(Self { cell, metric, trials, logs })
    }

    /// The trials far from the others, where this is one of `samples` that are looked at; by more than `margin`, below
    /// which a difference does not matter.
    fn far(&self, samples: usize, margin: f64) -> Vec<(&'a TrialData, OutlyingMetric)> {
        let tests = samples.max(1) as f64;
        let far = far_ones(&self.logs, ALPHA / tests, SCALE_MIN).unwrap_or_default();
        let is_calm = |place: &usize| far.iter().all(|found| found.place != *place);
        let calm: Vec<f64> = (0..self.logs.len()).filter(is_calm).map(|place| self.logs[place]).collect();
        let Some(middle) = median(&calm) else { return Vec::new() };
        let row = |found: &Outlier| {
            let ratio = (self.logs[found.place] - middle).exp();
            let p_value = (found.p_value * tests).min(1.0);
            (self.trials[found.place], OutlyingMetric { metric: self.metric, ratio, p_value })
        };
        far.iter().map(row).filter(|(_, found)| found.ratio.ln().abs() > margin.ln_1p()).collect()
    }
}

/// `trial 7 is 38 % slower than the other 5 trials of a, 64 connections: other processes used 41 % of its CPUs, 2 % in
/// the others; it counts in every number`.
fn in_words(trial: &TrialData, found: OutlyingMetric, cell: &CellPlan, calm: &[&TrialData]) -> Said {
    let how = how(found);
    let differs = differences(trial, calm);
    let host = if differs.is_empty() {
        said!("outlier.nothing_differs", "nothing that was read on the host differs")
    } else {
        Said::list(Joint::And, differs)
    };
    said!(
        "outlier.trial",
        "trial {trial} {how} the other {trials} of {cell}: {host}; it counts in every number",
        trial = trial.file.id,
        how,
        trials = count(calm.len(), Noun::Trial),
        cell = &cell.label,
        host
    )
}

/// `is 38 % slower than`, `has a p99 response time 3.1 times that of`.
fn how(found: OutlyingMetric) -> Said {
    let OutlyingMetric { metric, ratio, .. } = found;
    let is_throughput = metric == Metric::Throughput;
    let by = percent((ratio - 1.0).abs());
    let metric = metric.words();
    match (is_throughput, ratio) {
        (true, ratio) if ratio >= 2.0 => {
            said!(
                "outlier.times_as_fast",
                "answered {factor} times as many requests per second as",
                factor = number(ratio)
            )
        }
        (true, ratio) if ratio > 1.0 => said!("outlier.faster", "is {by} faster than", by),
        (true, _) => said!("outlier.slower", "is {by} slower than", by),
        (false, ratio) if ratio >= 2.0 => {
            said!("outlier.times", "has a {metric} {factor} times that of", metric, factor = number(ratio))
        }
        (false, ratio) if ratio > 1.0 => {
            said!("outlier.longer", "has a {metric} {by} longer than", metric, by)
        }
        (false, _) => said!("outlier.shorter", "has a {metric} {by} shorter than", metric, by),
    }
}

/// What was read of the host while the trial ran and differs from what was read in the others.
fn differences(trial: &TrialData, calm: &[&TrialData]) -> Vec<Said> {
    let against = |of: fn(&TrialData) -> Option<f64>| {
        let others: Vec<f64> = calm.iter().filter_map(|other| of(other)).collect();
        Some((of(trial)?, median(&others)?))
    };
    let shares = |pair: Option<(f64, f64)>, more: f64| {
        pair.filter(|(its, theirs)| its - theirs >= more).map(|(its, theirs)| (percent(its), percent(theirs)))
    };
    let competing = shares(against(|trial| gate(trial, "competing_cpu")), SHARE_MORE).map(|(its, theirs)| {
        said!(
            "outlier.competing_cpu",
            "other processes used up to {its} of its CPUs, {theirs} in the others",
            its,
            theirs
        )
    });
    let stolen = shares(against(|trial| gate(trial, "steal")), STEAL_MORE).map(|(its, theirs)| {
        said!(
            "outlier.steal",
            "{its} of the CPU time was stolen from the host, {theirs} in the others",
            its,
            theirs
        )
    });
    let throttled = shares(against(throttled), SHARE_MORE).map(|(its, theirs)| {
        said!(
            "outlier.throttled",
            "the target was stopped by its CPU quota in {its} of the periods, {theirs} in the others",
            its,
            theirs
        )
    });
    let work =
        against(work_ns).filter(|(its, theirs)| its / theirs >= 1.0 + WORK_MORE).map(|(its, theirs)| {
            said!(
                "outlier.canary",
                "a fixed amount of work took {by} longer than in the others",
                by = percent(its / theirs - 1.0)
            )
        });
    [competing, stolen, throttled, work].into_iter().flatten().collect()
}

/// The value of a gate of the trial.
fn gate(trial: &TrialData, name: &str) -> Option<f64> {
    let gates = &trial.file.load.as_ref()?.validity.gates;
    gates.iter().find(|gate| gate.gate == name).map(|gate| gate.value)
}

fn throttled(trial: &TrialData) -> Option<f64> {
    trial.file.target.group.as_ref()?.throttled_share
}

/// The time that the fixed amount of work took, before and after the load, in the middle.
fn work_ns(trial: &TrialData) -> Option<f64> {
    let canary = trial.file.canary.as_ref()?;
    let time = f64::midpoint(canary.before.median_ns, canary.after.median_ns);
    (time.is_finite() && time > 0.0).then_some(time)
}

/// The reservation: each outlying trial, or the most unlikely and how many more there are.
pub(super) fn notes(found: &[OutlyingTrial]) -> Vec<BeliefNote> {
    /// Of more only the numbers are given.
    const NAMED: usize = 3;
    let remedy = || {
        said!(
            "outlier.remedy",
            "look for what ran beside it, or run more blocks, of which one trial moves less"
        )
    };
    let note = |text: Said| BeliefNote { level: BeliefLevel::WithReservations, text, remedy: Some(remedy()) };
    let mut notes: Vec<BeliefNote> =
        found.iter().take(NAMED).map(|outlier| note(outlier.text.clone())).collect();
    if found.len() > NAMED {
        let ids: Vec<u32> = found[NAMED..].iter().map(|outlier| outlier.trial).collect();
        let trials = listed(Listed::Trial, &ids);
        notes.push(note(said!("outlier.more", "also far from the others of their cells: {trials}", trials)));
    }
    notes
}
