//! What the events did, by cell: medians over the trials in which they took place.

use super::data::RunData;
use schema::event::{Around, EventEffect, EventRecord, EventSummary};
use schema::said::Said;
use schema::trial::TrialOutcome;

/// One entry for each cell and event of the plan that took place at least once, in plan order.
pub(super) fn summaries(data: &RunData<'_>) -> Vec<EventSummary> {
    let mut all = Vec::new();
    for cell in &data.plan.cells {
        for (place, event) in data.plan.events.iter().enumerate() {
            // By place and not by name: two events may be alike.
            let records: Vec<&EventRecord> = data
                .trials
                .iter()
                .filter(|trial| trial.file.cell == cell.id && trial.file.outcome != TrialOutcome::Void)
                .filter_map(|trial| trial.file.events.get(place))
                .collect();
            if !records.is_empty() {
                all.push(summary(&cell.id, &event.name, &records));
            }
        }
    }
    all
}

fn summary(cell: &str, name: &str, records: &[&EventRecord]) -> EventSummary {
    let done: Vec<&&EventRecord> = records.iter().filter(|record| record.error.is_none()).collect();
    let effects: Vec<EventEffect> = done.iter().filter_map(|record| record.effect).collect();
    let recovered = effects.iter().filter_map(|effect| effect.recovered_ns.map(|time| time as f64));
    let mut errors: Vec<Said> = records.iter().filter_map(|record| record.error.clone()).collect();
    errors.sort();
    errors.dedup();
    EventSummary {
        cell: cell.to_owned(),
        name: name.to_owned(),
        trials: effects.len() as u32,
        before: around(effects.iter().map(|effect| effect.before)),
        worst: around(effects.iter().map(|effect| effect.worst)),
        lost: median(effects.iter().map(|effect| effect.lost as f64)).unwrap_or_default(),
        lost_max: effects.iter().map(|effect| effect.lost).max().unwrap_or_default(),
        unavailable_ns: median(done.iter().map(|record| record.unavailable_ns.unwrap_or_default() as f64))
            .unwrap_or_default(),
        recovered_ns: median(recovered),
        not_recovered: effects.iter().filter(|effect| effect.recovered_ns.is_none()).count() as u32,
        errors,
    }
}

fn around(all: impl Iterator<Item = Around> + Clone) -> Around {
    Around {
        throughput_per_s: median(all.clone().map(|one| one.throughput_per_s)).unwrap_or_default(),
        p99_ns: median(all.clone().filter_map(|one| one.p99_ns.map(|time| time as f64)))
            .map(|time| time.round() as u64),
        failed_per_s: median(all.map(|one| one.failed_per_s)).unwrap_or_default(),
    }
}

/// The middle value, or the mean of the two in the middle.
fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => None,
        count if count % 2 == 1 => Some(values[middle]),
        _ => Some(f64::midpoint(values[middle - 1], values[middle])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trials_are_summed_up_by_their_medians_and_their_worst() {
        let record = |lost, recovered_ns, unavailable_ns, error: Option<&str>| EventRecord {
            name: "kill".into(),
            began_ns: 1,
            ended_ns: 2,
            unavailable_ns,
            still_down: false,
            error: error.map(Said::from),
            effect: Some(EventEffect {
                before: Around { throughput_per_s: 100.0, p99_ns: Some(5), failed_per_s: 0.0 },
                worst: Around { throughput_per_s: lost as f64, p99_ns: Some(9), failed_per_s: 1.0 },
                lost,
                recovered_ns,
            }),
        };
        let records = [
            record(10, Some(4), Some(40), None),
            record(30, None, None, None),
            record(20, Some(8), Some(60), None),
            record(99, Some(1), Some(1), Some("no process")),
        ];
        let seen = summary("c1", "kill", &records.iter().collect::<Vec<_>>());
        assert_eq!((seen.trials, seen.lost, seen.lost_max), (3, 20.0, 30));
        assert_eq!((seen.recovered_ns, seen.not_recovered), (Some(6.0), 1));
        assert_eq!((seen.unavailable_ns, seen.worst.throughput_per_s), (40.0, 20.0));
        assert_eq!(seen.errors, ["no process"]);
    }
}
