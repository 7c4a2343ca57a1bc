//! What targets were confined to: what throttling did, and what could not be had.
//!
//! Invariant: as with all numbers of a cell, only valid trials count.

use super::data::RunData;
use super::load::quota_is_factor;
use crate::words::{Listed, Noun, count, listed};
use schema::analysis::{BeliefLevel, BeliefNote, ThrottlingSummary};
use schema::limits::GroupUsage;
use schema::plan::CellPlan;
use schema::run::RunFile;
use schema::said;
use schema::said::Said;

/// What the quota of a cell did in its valid trials; nothing where none tells.
pub(super) fn throttling(data: &RunData<'_>, cell: &CellPlan) -> Option<ThrottlingSummary> {
    cell.limits.cpus?;
    let mut told = 0_u32;
    let (mut periods, mut throttled, mut throttled_ns) = (0_u64, 0_u64, 0.0);
    for group in data.valid(&cell.id).filter_map(|trial| trial.file.target.group) {
        let GroupUsage {
            periods: Some(all), throttled_periods: Some(stopped), throttled_ns: Some(ns), ..
        } = group
        else {
            continue;
        };
        told += 1;
        periods = periods.saturating_add(all);
        throttled = throttled.saturating_add(stopped);
        throttled_ns += ns as f64;
    }
    (told > 0).then(|| ThrottlingSummary {
        trials: told,
        share: if periods > 0 { throttled as f64 / periods as f64 } else { 0.0 },
        throttled_ns: throttled_ns / f64::from(told),
        is_asked: quota_is_factor(data.plan, cell),
    })
}

/// Limits that could not be had, before the first trial or in any trial, once each; and kills at the memory limit that
/// a target outlived.
pub(super) fn notes(run: &RunFile, data: &RunData<'_>) -> Vec<BeliefNote> {
    let in_trials = data.trials.iter().filter_map(|trial| trial.file.target.confinement.as_ref());
    let mut told: Vec<&Said> = Vec::new();
    for weakness in run.weaknesses.iter().chain(in_trials.flat_map(|held| &held.weaknesses)) {
        // By their text: an older file has no ids.
        if !told.iter().any(|known| known.text() == weakness.text()) {
            told.push(weakness);
        }
    }
    let remedy = said!(
        "confinement.see_docs_guides_confinement",
        "see docs/guides/confinement.md for what each limit needs, or take it out of the experiment"
    );
    let mut notes: Vec<BeliefNote> =
        told.into_iter().map(|text| reservation(text.clone(), remedy.clone())).collect();
    notes.extend(killed(data));
    notes
}

fn killed(data: &RunData<'_>) -> Option<BeliefNote> {
    let kills = |group: &GroupUsage| group.oom_kills.unwrap_or_default();
    let hit: Vec<_> = data
        .trials
        .iter()
        .filter_map(|trial| Some((trial.file.id, trial.file.target.group.as_ref().map(kills)?)))
        .filter(|(_, kills)| *kills > 0)
        .collect();
    let ids: Vec<u32> = hit.iter().map(|(id, _)| *id).collect();
    let sum = hit.iter().fold(0_u64, |sum, (_, kills)| sum.saturating_add(*kills));
    (!ids.is_empty()).then(|| {
        let text = said!(
            "confinement.memory_limit_target",
            "{kills} at the memory limit of a target in {trials}",
            kills = count(usize::try_from(sum).unwrap_or(usize::MAX), Noun::Kill),
            trials = listed(Listed::Trial, &ids)
        );
        reservation(
            text,
            said!("confinement.raise_limits_memory_have", "raise limits.memory, or have the target use less"),
        )
    })
}

fn reservation(text: Said, remedy: Said) -> BeliefNote {
    BeliefNote { level: BeliefLevel::WithReservations, text, remedy: Some(remedy) }
}
