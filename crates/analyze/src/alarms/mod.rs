//! Alarms: conditions that are watched while a trial runs, from its intervals and counters as they come.
//!
//! Invariants: only values that were read decide, and what is missing is neither good nor bad; an alarm fires when its
//! condition held in every value of its time, and ends with the first value in which it does not; warm-up and drain are
//! not looked at; memory is that of a minute of intervals.
//! Absent on purpose: files, clocks, and who gets alarms (crates export and cli).

mod recent;
mod watch;

use crate::words::value;
use recent::Recent;
use schema::alarm::AlarmPlan;
use schema::metric::Unit;
use schema::trial::{CounterLine, IntervalLine, Phase};
use watch::{Turn, Watch};

/// The alarms of one trial.
#[derive(Debug)]
pub struct AlarmBoard {
    recent: Recent,
    watched: Vec<Watch>,
    /// Whether the trial is within its samples.
    is_sampling: bool,
}

/// An alarm that began to hold, or holds no longer. Times are those of the trial.
#[derive(Clone, Debug, PartialEq)]
pub struct AlarmChange {
    /// Its place among those that the board was made of.
    pub place: usize,
    /// Whether it fires; else it has ended.
    pub fires: bool,
    /// Begin of what made it fire.
    pub since_ns: u64,
    /// End of what decided.
    pub at_ns: u64,
    /// The value that decided.
    pub value: f64,
    /// Its unit.
    pub unit: Unit,
    /// Value and limit in words.
    pub evidence: String,
}

impl AlarmBoard {
    /// Watches a trial whose target may use so many CPUs.
    #[must_use]
    pub fn new(plans: &[AlarmPlan], cpus: f64) -> Self {
        let watched = plans.iter().map(|plan| Watch::new(plan.clone())).collect();
        Self { recent: Recent::new(cpus), watched, is_sampling: false }
    }

    /// Takes an interval that has ended, with the response times of the answers in it, each with how often it came.
    pub fn interval(&mut self, line: &IntervalLine, times_ns: &[(u64, u64)]) -> Vec<AlarmChange> {
        // A load without phases is one long sample.
        self.is_sampling = matches!(line.phase, Some(Phase::Sample) | None);
        if !self.is_sampling {
            return Vec::new();
        }
        self.recent.interval(line, times_ns);
        self.turn(None)
    }

    /// Takes a reading of counters.
    pub fn counters(&mut self, line: &CounterLine) -> Vec<AlarmChange> {
        self.recent.counters(line);
        if self.is_sampling { self.turn(Some(&line.source)) } else { Vec::new() }
    }

    /// Ends the trial: what fires fires no longer.
    pub fn end(&mut self) -> Vec<AlarmChange> {
        let ends = |(place, watch): (usize, &mut Watch)| {
            let turn = watch.end()?;
            Some(change(place, &watch.plan, turn))
        };
        self.watched.iter_mut().enumerate().filter_map(ends).collect()
    }

    /// Places of the alarms that no value was read for.
    pub fn unread(&self) -> impl Iterator<Item = usize> {
        self.watched.iter().enumerate().filter(|(_, watch)| !watch.was_read()).map(|(place, _)| place)
    }

    #[cfg(test)]
    fn recent_intervals(&self) -> usize {
        self.recent.kept()
    }

    /// Looks at the alarms that an interval, or a reading of this source, says something new of.
    fn turn(&mut self, source: Option<&str>) -> Vec<AlarmChange> {
        let recent = &self.recent;
        let look = |(place, watch): (usize, &mut Watch)| {
            let seen = recent.value(&watch.plan, source)?;
            let turn = watch.see(seen)?;
            Some(change(place, &watch.plan, turn))
        };
        self.watched.iter_mut().enumerate().filter_map(look).collect()
    }
}

fn change(place: usize, plan: &AlarmPlan, turn: Turn) -> AlarmChange {
    let (value_of, bound) = (value(&plan.metric, turn.value), value(&plan.metric, plan.bound));
    // In signs, which every language reads alike.
    let evidence = format!("{value_of} ({} {bound})", plan.comparison.sign());
    let Turn { fires, since_ns, at_ns, value } = turn;
    AlarmChange { place, fires, since_ns, at_ns, value, unit: plan.metric.unit(), evidence }
}

#[cfg(test)]
mod tests;
