//! Values of metrics as the sentences of this crate show them. How a number looks is `units::format::sentence`'s.

use crate::measure::Measure;
use schema::analysis::Interval;
use schema::metric::Unit;
use schema::said;
use schema::said::{Joint, Said};
use units::format::narrow::apart;
use units::format::sentence::{bytes_with, duration_with, number_with};

pub(crate) use units::format::grouped;
pub(crate) use units::format::sentence::{
    bytes, duration, number, numbers, p_value, percent, percents, ratio, ratios,
};

/// The ends of an interval; an absent one is unbounded.
pub(crate) fn ends(interval: Interval) -> (f64, f64) {
    (interval.low.unwrap_or(f64::NEG_INFINITY), interval.high.unwrap_or(f64::INFINITY))
}

/// The values of a metric as [`value`], an estimate with its ends.
pub(crate) fn values<'m>(of: impl Into<Measure<'m>>, estimate: Option<f64>, ends: (f64, f64)) -> [String; 3] {
    match of.into().unit() {
        Unit::PerSecond => {
            apart(estimate, ends, |value, more| format!("{} per second", number_with(value, more)))
        }
        Unit::Nanoseconds => apart(estimate, ends, duration_with),
        Unit::Share => {
            let [shown, low, high] = percents([estimate.unwrap_or_default(), ends.0, ends.1]);
            [if estimate.is_some() { shown } else { "unknown".to_owned() }, low, high]
        }
        Unit::Bytes => apart(estimate, ends, bytes_with),
        Unit::Count => apart(estimate, ends, number_with),
        Unit::BytesPerSecond => {
            apart(estimate, ends, |value, more| format!("{} per second", bytes_with(value, more)))
        }
    }
}

/// The value of a metric with its unit.
pub(crate) fn value<'m>(of: impl Into<Measure<'m>>, value: f64) -> String {
    match of.into().unit() {
        Unit::PerSecond => format!("{} per second", number(value)),
        Unit::Nanoseconds => duration(value),
        Unit::Share => percent(value),
        Unit::Bytes => bytes(value),
        Unit::Count => number(value),
        Unit::BytesPerSecond => format!("{} per second", bytes(value)),
    }
}

/// What is counted in sentences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Noun {
    Block,
    Cause,
    Cell,
    Comparison,
    Connection,
    FreshTrial,
    Kill,
    Level,
    Load,
    OtherCell,
    Request,
    Reservation,
    Run,
    Step,
    Trial,
    Window,
    Worker,
}

/// `1 block`, `2 blocks`.
pub(crate) fn count(number: usize, noun: Noun) -> Said {
    let n = grouped(number as u64);
    match (noun, number) {
        (Noun::Block, 1) => said!("count.block", "{n} block", n),
        (Noun::Block, _) => said!("count.blocks", "{n} blocks", n),
        (Noun::Cause, 1) => said!("count.cause", "{n} cause", n),
        (Noun::Cause, _) => said!("count.causes", "{n} causes", n),
        (Noun::Cell, 1) => said!("count.cell", "{n} cell", n),
        (Noun::Cell, _) => said!("count.cells", "{n} cells", n),
        (Noun::Comparison, 1) => said!("count.comparison", "{n} comparison", n),
        (Noun::Comparison, _) => said!("count.comparisons", "{n} comparisons", n),
        (Noun::Connection, 1) => said!("count.connection", "{n} connection", n),
        (Noun::Connection, _) => said!("count.connections", "{n} connections", n),
        (Noun::FreshTrial, 1) => said!("count.fresh_trial", "{n} fresh trial", n),
        (Noun::FreshTrial, _) => said!("count.fresh_trials", "{n} fresh trials", n),
        (Noun::Kill, 1) => said!("count.kill", "{n} kill", n),
        (Noun::Kill, _) => said!("count.kills", "{n} kills", n),
        (Noun::Level, 1) => said!("count.level", "{n} level", n),
        (Noun::Level, _) => said!("count.levels", "{n} levels", n),
        (Noun::Load, 1) => said!("count.load", "{n} load", n),
        (Noun::Load, _) => said!("count.loads", "{n} loads", n),
        (Noun::OtherCell, 1) => said!("count.other_cell", "{n} other cell", n),
        (Noun::OtherCell, _) => said!("count.other_cells", "{n} other cells", n),
        (Noun::Request, 1) => said!("count.request", "{n} request", n),
        (Noun::Request, _) => said!("count.requests", "{n} requests", n),
        (Noun::Reservation, 1) => said!("count.reservation", "{n} reservation", n),
        (Noun::Reservation, _) => said!("count.reservations", "{n} reservations", n),
        (Noun::Run, 1) => said!("count.run", "{n} run", n),
        (Noun::Run, _) => said!("count.runs", "{n} runs", n),
        (Noun::Step, 1) => said!("count.step", "{n} step", n),
        (Noun::Step, _) => said!("count.steps", "{n} steps", n),
        (Noun::Trial, 1) => said!("count.trial", "{n} trial", n),
        (Noun::Trial, _) => said!("count.trials", "{n} trials", n),
        (Noun::Window, 1) => said!("count.window", "{n} window", n),
        (Noun::Window, _) => said!("count.windows", "{n} windows", n),
        (Noun::Worker, 1) => said!("count.worker", "{n} worker", n),
        (Noun::Worker, _) => said!("count.workers", "{n} workers", n),
    }
}

/// What is listed by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Listed {
    Segment,
    Trial,
}

/// `trial 3`, `trials 3, 7 and 9`, `trials 1, 2, 3, 4, 5 and 7 more`.
pub(crate) fn listed(noun: Listed, ids: &[u32]) -> Said {
    const SHOWN: usize = 5;
    let several = |ids: &[u32]| Said::list(Joint::Comma, ids);
    match (noun, ids) {
        (Listed::Trial, []) => said!("listed.no_trial", "no trial"),
        (Listed::Segment, []) => said!("listed.no_segment", "no segment"),
        (Listed::Trial, [id]) => said!("listed.trial", "trial {id}", id),
        (Listed::Segment, [id]) => said!("listed.segment", "segment {id}", id),
        (_, ids) if ids.len() > SHOWN => {
            let (first, more) = (several(&ids[..SHOWN]), ids.len() - SHOWN);
            match noun {
                Listed::Trial => said!("listed.trials_more", "trials {first} and {more} more", first, more),
                Listed::Segment => {
                    said!("listed.segments_more", "segments {first} and {more} more", first, more)
                }
            }
        }
        (Listed::Trial, ids) => said!("listed.trials", "trials {ids}", ids = Said::list(Joint::And, ids)),
        (Listed::Segment, ids) => {
            said!("listed.segments", "segments {ids}", ids = Said::list(Joint::And, ids))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::metric::Metric;

    #[test]
    fn values_of_metrics_have_the_digits_that_tell_the_ends_apart() {
        assert_eq!(values(Metric::P99, Some(2e6), (1.999e6, 2.001e6)), ["2.000 ms", "1.999 ms", "2.001 ms"]);
        assert_eq!(values(Metric::Memory, Some(2048.0), (1024.0, 4096.0)), ["2 KiB", "1 KiB", "4 KiB"]);
        let per_second = values(Metric::Throughput, Some(800.0), (799.6, 800.4));
        assert_eq!(per_second, ["800.0 per second", "799.6 per second", "800.4 per second"]);
        assert_eq!(values(Metric::ErrorRate, None, (0.01, 0.02)), ["unknown", "1 %", "2 %"]);
        let unbounded = ends(Interval { low: None, high: Some(2.0) });
        assert_eq!(ratios(None, unbounded), ["unknown", "unbounded", "2"]);
    }

    #[test]
    fn what_is_counted_and_listed() {
        let table = [
            (count(1, Noun::Block), "1 block"),
            (count(5, Noun::Block), "5 blocks"),
            (listed(Listed::Trial, &[]), "no trial"),
            (listed(Listed::Trial, &[3]), "trial 3"),
            (listed(Listed::Trial, &[3, 7, 9]), "trials 3, 7 and 9"),
            (listed(Listed::Trial, &[1, 2, 3, 4, 5, 6, 7]), "trials 1, 2, 3, 4, 5 and 2 more"),
        ];
        for (got, wanted) in table {
            assert_eq!(got, wanted);
        }
    }
}
