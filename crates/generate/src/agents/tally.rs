//! What one agent delivered, kept apart from the sum: its part of an interval and of the measured window, and the report
//! of all agents.

use engine::{Account, IntervalData, LazyHistogram, give_way};
use hdrhistogram::Histogram;
use schema::agents::{AgentReport, FleetReport};
use schema::load::Time;
use schema::trial::{AgentInterval, IntervalLine};

/// One agent's sums, in as much memory as its times need: there may be thousands of agents.
#[derive(Default)]
pub(super) struct Tally {
    measured: Account,
    response: LazyHistogram,
    pacer_lag: LazyHistogram,
}

impl Tally {
    /// Adds an interval; its times are of requests of the window where `is_measured`.
    pub(super) fn add(&mut self, data: &IntervalData, is_measured: bool) {
        self.measured.add(&data.counts.measured);
        if is_measured {
            let bounds = "it grows with what is added";
            self.response.add(&data.times[Time::Response]).expect(bounds);
            self.pacer_lag.add(&data.times[Time::PacerLag]).expect(bounds);
        }
    }

    /// Puts the sums into a report.
    pub(super) fn fill(&self, report: AgentReport) -> AgentReport {
        let at = |histogram: &Histogram<u64>, quantile: f64| {
            (!histogram.is_empty()).then(|| histogram.value_at_quantile(quantile))
        };
        AgentReport {
            scheduled: self.measured.scheduled,
            completed: self.measured.completed,
            failed: self.measured.failed_total(),
            censored: self.measured.censored,
            response_p50_ns: at(&self.response, 0.5),
            response_p99_ns: at(&self.response, 0.99),
            pacer_lag_p99_ns: at(&self.pacer_lag, 0.99),
            ..report
        }
    }
}

/// The lines by agent of an interval.
pub(super) struct Lines {
    lines: Vec<AgentInterval>,
    /// Agents with a line of their own; one more has all others.
    own: usize,
}

impl Lines {
    /// Of so many agents.
    pub(super) fn of(agents: usize) -> Self {
        let own = if agents <= IntervalLine::AGENTS_MAX { agents } else { IntervalLine::AGENTS_MAX - 1 };
        Self { lines: Vec::with_capacity(agents.min(IntervalLine::AGENTS_MAX)), own }
    }

    /// The part of the next agent.
    pub(super) fn add(&mut self, name: &str, data: &IntervalData) {
        if self.lines.len() < self.own {
            return self.lines.push(line(name.to_owned(), data));
        }
        if self.lines.len() == self.own {
            self.lines.push(AgentInterval::default());
        }
        let (rest, counts) = (&mut self.lines[self.own], counts(data));
        rest.scheduled += counts.scheduled;
        rest.completed += counts.completed;
        rest.failed += counts.failed;
    }

    pub(super) fn all(self) -> Vec<AgentInterval> {
        self.lines
    }
}

fn line(name: String, data: &IntervalData) -> AgentInterval {
    let at = |time: Time, quantile: f64| {
        let times = &data.times[time];
        (!times.is_empty()).then(|| times.value_at_quantile(quantile))
    };
    let line = AgentInterval {
        name: Some(name),
        p50_ns: at(Time::Response, 0.5),
        p99_ns: at(Time::Response, 0.99),
        pacer_lag_p99_ns: at(Time::PacerLag, 0.99),
        ..counts(data)
    };
    give_way();
    line
}

fn counts(data: &IntervalData) -> AgentInterval {
    let counts = &data.counts;
    AgentInterval {
        scheduled: counts.warm.scheduled + counts.measured.scheduled,
        completed: counts.answers,
        failed: counts.warm.failed_total() + counts.measured.failed_total(),
        ..AgentInterval::default()
    }
}

/// The report of all agents of a load; shares are only held against each other where the load is open.
pub(super) fn report(mut agents: Vec<AgentReport>, is_open: bool) -> FleetReport {
    let ended = |agent: &AgentReport| (agent.completed + agent.failed) as f64;
    let (all, workers) = agents
        .iter()
        .fold((0.0, 0.0), |(all, workers), agent| (all + ended(agent), workers + f64::from(agent.workers)));
    for agent in agents.iter_mut().filter(|_| is_open && all > 0.0) {
        agent.delivered = Some(ended(agent) / (all * f64::from(agent.workers) / workers));
    }
    let p50_spread = spread(agents.iter().map(|agent| agent.response_p50_ns));
    let p99_spread = spread(agents.iter().map(|agent| agent.response_p99_ns));
    FleetReport { agents, p50_spread, p99_spread }
}

/// Largest over smallest.
fn spread(times_ns: impl Iterator<Item = Option<u64>>) -> Option<f64> {
    let times_ns = times_ns.collect::<Option<Vec<u64>>>()?;
    let (least, most) = (times_ns.iter().min()?, times_ns.iter().max()?);
    Some(*most as f64 / (*least).max(1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agent(workers: u32, completed: u64, p50_ns: Option<u64>) -> AgentReport {
        AgentReport { workers, completed, response_p50_ns: p50_ns, ..AgentReport::default() }
    }

    #[test]
    fn what_was_delivered_is_held_against_the_share() {
        let agents = || vec![agent(1, 90, Some(100)), agent(1, 100, Some(150)), agent(2, 200, Some(120))];
        let found = report(agents(), true);
        let delivered: Vec<f64> = found.agents.iter().filter_map(|agent| agent.delivered).collect();
        assert_eq!(delivered.len(), 3);
        assert!((delivered[0] - 90.0 / 97.5).abs() < 1e-12 && (delivered[2] - 200.0 / 195.0).abs() < 1e-12);
        assert_eq!(found.p50_spread, Some(1.5));
        assert_eq!(found.p99_spread, None, "one without a time gives no spread");
        assert!(report(agents(), false).agents.iter().all(|agent| agent.delivered.is_none()));
        assert!(report(vec![agent(1, 0, None)], true).agents[0].delivered.is_none(), "no data is not zero");
    }

    #[test]
    fn an_interval_of_warm_up_has_no_times_of_the_window() {
        let mut tally = Tally::default();
        let mut data = IntervalData::default();
        data.times[Time::Response].record(5).unwrap();
        tally.add(&data, false);
        assert_eq!(tally.fill(AgentReport::default()).response_p50_ns, None);
        data.counts.measured.completed = 2;
        tally.add(&data, true);
        let found = tally.fill(AgentReport::default());
        assert_eq!((found.response_p50_ns, found.completed), (Some(5), 2));
    }

    #[test]
    fn each_agent_has_its_line_and_the_counts_of_many_are_whole() {
        let part = |number: u64| {
            let mut data = IntervalData::default();
            data.counts.warm.scheduled = 1;
            data.counts.measured.scheduled = number;
            data.counts.answers = 2;
            data.times[Time::Response].record(1_000 + number).unwrap();
            data
        };
        for agents in [1, 64, 65, 200] {
            let parts: Vec<IntervalData> = (0..agents).map(part).collect();
            let mut lines = Lines::of(parts.len());
            parts.iter().enumerate().for_each(|(at, data)| lines.add(&format!("a{at}"), data));
            let found = lines.all();
            assert_eq!(found.len(), parts.len().min(IntervalLine::AGENTS_MAX));
            let sum = |of: fn(&AgentInterval) -> u64| found.iter().map(of).sum::<u64>();
            assert_eq!(sum(|line| line.scheduled), agents + agents * (agents - 1) / 2);
            assert_eq!(sum(|line| line.completed), 2 * agents);
            assert_eq!((found[0].name.as_deref(), found[0].p99_ns), (Some("a0"), Some(1_000)));
            let last = found.last().unwrap();
            assert_eq!(last.name.is_none(), agents > 64, "{agents}");
        }
    }
}
