//! Counters that claims name wrongly, said before anything is judged: with the nearest that the run has, or the kind that
//! they are of.

use super::data::RunData;
use crate::measure::Measure;
use schema::counter_metric::{CounterMetric, Per};
use schema::said;
use schema::said::Said;
use schema::text::nearest;
use std::collections::BTreeSet;

/// What a claim names wrongly: a counter that no valid trial of a cell has, or one of the other kind. `None` where all is
/// well, and where there is no valid trial yet.
pub(super) fn unknown(data: &RunData<'_>, measure: Measure<'_>, cells: &[&str]) -> Option<Said> {
    let Measure::Counter(counter) = measure else { return None };
    cells.iter().find_map(|cell| {
        let signals = || data.valid(cell).filter_map(|trial| trial.signals.as_ref());
        signals().next()?;
        let is_level = |key: &str| signals().any(|found| found.gauges.contains_key(key));
        let grows = |key: &str| signals().any(|found| found.deltas.contains_key(key));
        let missing = counter.counters().into_iter().find(|key| !is_level(key) && !grows(key));
        match missing {
            Some(missing) => Some(not_there(data, cell, missing)),
            None => of_other_kind(counter, is_level, grows),
        }
    })
}

fn of_other_kind(
    counter: &CounterMetric,
    is_level: impl Fn(&str) -> bool,
    grows: impl Fn(&str) -> bool,
) -> Option<Said> {
    let key = counter.counter.as_str();
    match counter.per() {
        Per::Mean | Per::Largest if !is_level(key) => Some(said!(
            "counted.grows",
            "{key} counts up, so it has no mean: add per = \"second\", \"request\", \"total\" or another counter",
            key
        )),
        Per::Second | Per::Request | Per::Total if !grows(key) => {
            Some(said!("counted.level", "{key} is a level, of which the mean is taken: remove `per`", key))
        }
        Per::Counter(other) if !(is_level(key) && is_level(other) || grows(key) && grows(other)) => {
            Some(said!(
                "counted.unlike",
                "{key} and {other} cannot be divided, because one is a level and the other counts up: choose two of one kind",
                key,
                other
            ))
        }
        _ => None,
    }
}

fn not_there(data: &RunData<'_>, cell: &str, missing: &str) -> Said {
    let label = data.cell(cell).map_or(cell, |cell| &cell.label);
    let signals = data.trials.iter().filter_map(|trial| trial.signals.as_ref());
    let names: BTreeSet<&str> = signals
        .flat_map(|found| found.gauges.keys().chain(found.deltas.keys()))
        .map(String::as_str)
        .filter(|name| *name != missing)
        .collect();
    match nearest(missing, names) {
        Some(near) => said!(
            "counted.unknown_near",
            "no trial of {label} counted {missing}: did you mean {near}?",
            label,
            missing,
            near
        ),
        None => said!(
            "counted.unknown",
            "no trial of {label} counted {missing}: the report lists the counters of each trial",
            label,
            missing
        ),
    }
}
