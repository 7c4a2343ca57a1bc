//! What is exported of the agents of a fleet.
//!
//! Invariants: labels are `run` and `agent`, and `trial` and `cell` where a value is of a trial; of a run the newest trial
//! with agents alone, so that a long run of a large fleet does not leave its series behind. Agents that an interval has no
//! line for are one, [`OTHERS`].

use crate::family::{Family, Kind};
use crate::feed::{RunFeed, TrialFeed};
use crate::totals::AgentTotals;
use schema::agents::AgentRecord;
use schema::trial::IntervalLine;

/// The label of all agents that have no line of their own; no agent of a fleet can be called so.
const OTHERS: &str = "(others)";

/// The families in their order.
pub(crate) struct AgentFamilies {
    share: Family,
    clock_bound: Family,
    scheduled: Family,
    completed: Family,
    failed: Family,
    quantile: Family,
    lag: Family,
}

impl AgentFamilies {
    pub(crate) fn new() -> Self {
        use Kind::{Counter, Gauge};
        Self {
            share: Family::new("prony_agent_share", Gauge, "An agent's share of every load, 0 to 1"),
            clock_bound: Family::new(
                "prony_agent_clock_bound_seconds",
                Gauge,
                "By how much the clock of an agent may be off, as the run began",
            ),
            scheduled: Family::new(
                "prony_agent_requests_scheduled",
                Counter,
                "Requests of an agent's part by their intended moment",
            ),
            completed: Family::new("prony_agent_requests_completed", Counter, "Right answers to an agent"),
            failed: Family::new(
                "prony_agent_requests_failed",
                Counter,
                "Requests of an agent without a right answer",
            ),
            quantile: Family::new(
                "prony_agent_response_quantile_seconds",
                Gauge,
                "Quantiles of the response time of an agent in the last interval",
            ),
            lag: Family::new(
                "prony_agent_pacer_lag_p99_seconds",
                Gauge,
                "99th percentile of how late an agent itself was in the last interval",
            ),
        }
    }

    pub(crate) fn all(self) -> [Family; 7] {
        [self.share, self.clock_bound, self.scheduled, self.completed, self.failed, self.quantile, self.lag]
    }

    pub(crate) fn run(&mut self, feed: &RunFeed) {
        let run = ("run", feed.head.id.as_str());
        feed.head.agents.iter().take(IntervalLine::AGENTS_MAX).for_each(|agent| self.agent(run, agent));
        let with_agents = feed.trials.iter().rev().find(|(_, trial)| !trial.totals.agents.is_empty());
        if let Some((id, trial)) = with_agents {
            let id = id.to_string();
            self.trial([run, ("trial", &id), ("cell", &trial.cell)], trial);
        }
    }

    fn agent(&mut self, run: (&'static str, &str), agent: &AgentRecord) {
        let labels = [run, ("agent", agent.name.as_str())];
        self.share.push(&labels, agent.share);
        self.clock_bound.push(&labels, agent.clock.bound_ns as f64 / 1e9);
    }

    fn trial(&mut self, labels: [(&'static str, &str); 3], trial: &TrialFeed) {
        let with = |name| [labels[0], labels[1], labels[2], ("agent", name)];
        for (name, AgentTotals { scheduled, completed, failed }) in &trial.totals.agents {
            let labels = with(name.as_deref().unwrap_or(OTHERS));
            self.scheduled.push(&labels, *scheduled as f64);
            self.completed.push(&labels, *completed as f64);
            self.failed.push(&labels, *failed as f64);
        }
        for line in trial.totals.last.iter().flat_map(|last| &last.agents) {
            let labels = with(line.name.as_deref().unwrap_or(OTHERS));
            for (quantile, time_ns) in [("0.5", line.p50_ns), ("0.99", line.p99_ns)] {
                if let Some(time_ns) = time_ns {
                    let labels = [labels[0], labels[1], labels[2], labels[3], ("quantile", quantile)];
                    self.quantile.push(&labels, time_ns as f64 / 1e9);
                }
            }
            if let Some(lag_ns) = line.pacer_lag_p99_ns {
                self.lag.push(&labels, lag_ns as f64 / 1e9);
            }
        }
    }
}
