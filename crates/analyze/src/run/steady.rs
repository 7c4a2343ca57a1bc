//! Steadiness over a run: which trials were not steady while they were measured, which could not be judged, and how
//! the start of each cell looked (METHOD §5).

use super::TrialData;
use super::data::RunData;
use crate::trial::steadiness;
use crate::words::{Listed, Noun, count, listed, percent};
use schema::analysis::{BeliefLevel, BeliefNote};
use schema::metric::Metric;
use schema::said;
use schema::said::Said;
use schema::steady::{Steadiness, SteadyClass, SteadySeries, WarmUpEndedBy, WarmUpLine};
use schema::trial::{IntervalLine, Phase, TrialOutcome};

/// Most bars of each part of a line.
const BARS: usize = 30;
/// Heights of a bar.
const HEIGHTS: f64 = 8.0;

/// Whether a trial's window was steady: as it was written, or from its intervals where it was not (then without CPU
/// time and memory).
pub(super) fn of_trial(trial: &TrialData) -> Option<Steadiness> {
    let load = trial.file.load.as_ref()?;
    trial.file.steadiness.clone().or_else(|| {
        let window: Vec<IntervalLine> =
            trial.intervals.iter().filter(|line| line.phase == Some(Phase::Sample)).cloned().collect();
        let disturbed = !trial.file.events.is_empty();
        (!window.is_empty()).then(|| steadiness(&window, &[], &load.plan.load, disturbed))
    })
}

/// What the reader must know before believing the numbers. Nothing where no valid trial has intervals.
pub(super) fn notes(data: &RunData<'_>) -> Vec<BeliefNote> {
    let valid = data.trials.iter().filter(|trial| trial.file.outcome == TrialOutcome::Valid);
    let found: Vec<(u32, Steadiness)> =
        valid.filter_map(|trial| Some((trial.file.id, of_trial(trial)?))).collect();
    let judged = found.iter().filter(|(_, found)| found.class.is_some()).count();
    let mut notes: Vec<BeliefNote> = [SteadyClass::WarmUp, SteadyClass::SlowDown, SteadyClass::Unsteady]
        .into_iter()
        .filter_map(|class| moved(&found, class, judged))
        .collect();
    if notes.is_empty() && judged > 0 {
        let text = match judged {
            1 => said!(
                "steady.one_trial_judged_steady",
                "the one trial judged was steady while it was measured"
            ),
            all => said!(
                "steady.all_trials_judged_steady",
                "all {all} trials judged were steady while they were measured",
                all
            ),
        };
        notes.push(BeliefNote { level: BeliefLevel::Yes, text, remedy: None });
        notes.extend(unseen(&found));
    }
    notes.extend(unjudged(&found));
    notes
}

/// The smallest drift over a window that would have been seen in the series that a metric follows: the mean over trials,
/// as a ratio less 1. `None` unless all of them were flat and state one.
pub(super) fn drift_unseen(trials: &[Option<Steadiness>], metric: Metric) -> Option<f64> {
    let name = series_of(metric)?;
    let of = |found: &Option<Steadiness>| {
        let found = found.as_ref().filter(|found| found.class == Some(SteadyClass::Flat))?;
        found.series.iter().find(|series| series.series == name)?.drift_seen
    };
    let all: Vec<f64> = trials.iter().map(of).collect::<Option<_>>()?;
    let mean = all.iter().sum::<f64>() / all.len() as f64;
    mean.is_finite().then_some(mean)
}

fn series_of(metric: Metric) -> Option<SteadySeries> {
    match metric {
        Metric::Throughput => Some(SteadySeries::Throughput),
        Metric::Mean | Metric::P50 => Some(SteadySeries::P50),
        Metric::P90 | Metric::P95 | Metric::P99 | Metric::P999 => Some(SteadySeries::P99),
        Metric::CpuPerRequest => Some(SteadySeries::CpuPerRequest),
        // Counted or added up over the window, not followed through it.
        _ => None,
    }
}

/// What steady means: the drift that would have been seen, and what one that was not can do. Of the trial in which it
/// is largest, in what users see.
fn unseen(found: &[(u32, Steadiness)]) -> Option<BeliefNote> {
    let series = found.iter().flat_map(|(_, found)| &found.series);
    let seen = series.filter(|series| matches!(series.series, SteadySeries::Throughput | SteadySeries::P50));
    let most = seen
        .filter_map(|series| Some((series.series, series.drift_seen?)))
        .max_by(|a, b| a.1.total_cmp(&b.1))?;
    let text = said!(
        "steady.drift_seen",
        "steady means that a drift of {drift} over a window would have been seen ({name}, the least certain trial); a \
         smaller one moves a value by {half} at most",
        drift = percent(most.1),
        name = most.0.words(),
        half = percent(most.1 / 2.0)
    );
    Some(BeliefNote { level: BeliefLevel::Yes, text, remedy: None })
}

/// The trials of one class, with the share that they are of those judged.
fn moved(found: &[(u32, Steadiness)], class: SteadyClass, judged: usize) -> Option<BeliefNote> {
    let of_class: Vec<&(u32, Steadiness)> =
        found.iter().filter(|(_, found)| found.class == Some(class)).collect();
    let (first, evidence) = of_class.first()?;
    let ids: Vec<u32> = of_class.iter().map(|(id, _)| *id).collect();
    let (what, remedy) = match class {
        SteadyClass::WarmUp => (
            said!("steady.still_got_better_while", "still got better while measured (warm-up)"),
            said!(
                "steady.raise_warmup_least_samples",
                "raise `warmup.at_least`, so that the samples begin later"
            ),
        ),
        SteadyClass::SlowDown => (
            said!("steady.got_worse_while_measured", "got worse while measured (slow-down)"),
            said!(
                "steady.look_growing_data_memory",
                "look for growing data, memory or heat, and measure longer to see where it ends"
            ),
        ),
        _ => (
            said!("steady.moved_fro_while_measured", "moved to and fro while measured (unsteady)"),
            said!(
                "steady.measure_longer_window_holds",
                "measure longer, so that the window holds many of its swings, or find what \
                 causes them"
            ),
        ),
    };
    let share = ids.len() as f64 / judged as f64;
    let text = said!(
        "steady.judged_trial",
        "{n} of {trials} judged ({share}) {moved}: {which}; in trial {first} {evidence}",
        n = ids.len(),
        trials = count(judged, Noun::Trial),
        share = percent(share),
        moved = what,
        which = listed(Listed::Trial, &ids),
        first,
        evidence = in_words(evidence)
    );
    Some(BeliefNote { level: BeliefLevel::WithReservations, text, remedy: Some(remedy) })
}

/// What moved most, against what is material in it: `median response time went from its first to its last level by
/// −4.1 %`.
fn in_words(found: &Steadiness) -> Said {
    let moved = found.series.iter().filter(|series| series.class != SteadyClass::Flat);
    let size = |change: f64, material: f64| (change / material.max(f64::MIN_POSITIVE)).abs();
    let most = moved.max_by(|a, b| size(a.change, a.material).total_cmp(&size(b.change, b.material)));
    most.map_or_else(Said::default, |series| {
        let name = series.series.words();
        if series.change.abs() <= series.material {
            said!("steady.left_level_came_back", "{name} left its level and came back", name)
        } else {
            let verb =
                if series.change > 0.0 { said!("steady.rose", "rose") } else { said!("steady.fell", "fell") };
            said!(
                "steady.moved_by",
                "{name} {verb} by {change}",
                name,
                verb,
                change = percent(series.change.abs())
            )
        }
    })
}

/// Trials whose window is too short or too empty to tell. One that changes by plan is nobody's fault.
fn unjudged(found: &[(u32, Steadiness)]) -> Option<BeliefNote> {
    let short: Vec<&(u32, Steadiness)> =
        found.iter().filter(|(_, found)| found.class.is_none() && !found.by_plan).collect();
    let (_, first) = short.first()?;
    let ids: Vec<u32> = short.iter().map(|(id, _)| *id).collect();
    let refused = first.refused.clone().unwrap_or_default();
    let remedy = refused.arg("remedy").unwrap_or_else(|| said!("steady.measure_longer", "measure longer"));
    let reason = refused.arg("reason").unwrap_or(refused);
    let text = said!(
        "steady.whether_steady_while_measured",
        "steadiness unknown in {n} of {trials} ({which}): {reason}",
        n = ids.len(),
        trials = count(found.len(), Noun::Trial),
        which = listed(Listed::Trial, &ids),
        reason
    );
    // Nobody looked: that is no approval.
    Some(BeliefNote { level: BeliefLevel::WithReservations, text, remedy: Some(remedy) })
}

/// The start of a cell's first valid trial that has intervals.
pub(super) fn warm_up_line(data: &RunData<'_>, cell: &str) -> Option<WarmUpLine> {
    let trial = data.valid(cell).find(|trial| !trial.intervals.is_empty())?;
    let rates = |phase: Phase| -> Vec<f64> {
        let lines =
            trial.intervals.iter().filter(|line| line.phase == Some(phase) && line.end_ns > line.start_ns);
        lines.map(|line| line.completed as f64 * 1e9 / (line.end_ns - line.start_ns) as f64).collect()
    };
    let (cut, kept) = (binned(&rates(Phase::Warmup)), binned(&rates(Phase::Sample)));
    let most = cut.iter().chain(&kept).copied().fold(0.0, f64::max);
    if most <= 0.0 {
        return None;
    }
    let heights = |rates: &[f64]| -> Vec<u8> {
        rates.iter().map(|rate| (rate / most * HEIGHTS).clamp(0.0, HEIGHTS - 1.0) as u8).collect()
    };
    let warm = trial.intervals.iter().filter(|line| line.phase == Some(Phase::Warmup));
    Some(WarmUpLine {
        trial: trial.file.id,
        cut: heights(&cut),
        kept: heights(&kept),
        cut_ns: warm.map(|line| line.end_ns).max().unwrap_or(0),
        by: trial.file.warmup.as_ref().map(|warmup| warmup.by),
    })
}

/// At most [`BARS`] means of neighbours.
fn binned(rates: &[f64]) -> Vec<f64> {
    let block = rates.len().div_ceil(BARS).max(1);
    rates.chunks(block).map(|part| part.iter().sum::<f64>() / part.len() as f64).collect()
}

/// Trials whose longest warm-up ran out, with what the first of them still waited for.
pub(super) fn ran_out(data: &RunData<'_>) -> Option<(Vec<u32>, Option<Said>)> {
    let valid = data.trials.iter().filter(|trial| trial.file.outcome == TrialOutcome::Valid);
    let out: Vec<&&TrialData> = valid.filter(|trial| !trial.file.level).collect();
    let ids: Vec<u32> = out.iter().map(|trial| trial.file.id).collect();
    let waited = out.iter().filter_map(|trial| trial.file.warmup.as_ref());
    let first = waited
        .filter(|warmup| warmup.by == WarmUpEndedBy::AtMost)
        .find_map(|warmup| warmup.waiting_for.first());
    (!ids.is_empty()).then(|| (ids, first.cloned()))
}
