//! The gates between agents of a fleet: each delivered its share, kept its clock, was punctual and had its CPUs. Absent
//! where one machine made the load.
//!
//! Each names the agent that is furthest off. Absent on purpose: a gate on differences between agents' latencies. They
//! stand at different places in the network, so what differs is reported (`run::between`) and voids nothing.

use super::facts::TrialFacts;
use super::gate::gate;
use super::lateness::limit_ns;
use crate::words::{duration, percent};
use schema::agents::AgentReport;
use schema::load::{Gate, LoadReport};
use schema::said;

/// How far what an agent delivered may be from its share.
const SHARE_OFF: f64 = 0.01;
/// How far the grids of two agents may surely be apart: a hundredth of an interval.
const APART_NS: f64 = 10e6;
/// Stolen CPU time of an agent's host, as on one machine.
const STEAL: f64 = 0.05;

/// Their names.
const SHARE: &str = "fleet_share";
const CLOCK: &str = "fleet_clock";
const LAG: &str = "fleet_lag";
const STOLEN: &str = "fleet_steal";
/// All of them.
pub(crate) const GATES: [&str; 4] = [SHARE, CLOCK, LAG, STOLEN];

/// What a gate looks at in one agent.
pub(crate) fn number(gate: &str, agent: &AgentReport) -> Option<f64> {
    match gate {
        SHARE => off_its_share(agent),
        CLOCK => Some(agent.clock.apart_ns as f64),
        LAG => agent.pacer_lag_p99_ns.map(|lag_ns| lag_ns as f64),
        STOLEN => agent.steal_share,
        _ => None,
    }
}

fn off_its_share(agent: &AgentReport) -> Option<f64> {
    let delivered = agent.delivered?;
    let ends = 2.0 * f64::from(agent.workers) / (agent.scheduled.max(1) as f64);
    let off = (delivered - 1.0).abs();
    // `max` would make a number of what is none.
    Some(if off < ends { 0.0 } else { off - ends })
}

/// The agent with the largest number, and that number; NaN counts as largest, so that its gate fails.
fn furthest<'a>(report: &'a LoadReport, gate: &str) -> Option<(&'a AgentReport, f64)> {
    let agents = &report.fleet.as_ref()?.agents;
    let numbers = agents.iter().filter_map(|agent| Some((agent, number(gate, agent)?)));
    numbers.max_by(|(_, a), (_, b)| a.total_cmp(b))
}

/// What an agent delivered of its share. Two requests a worker more or less are the end of the schedule. Absent where
/// the target was saturated: what ended there is the target's doing.
pub(super) fn share(report: &LoadReport, _: &TrialFacts) -> Option<Gate> {
    let connections = u64::from(report.plan.load.connections);
    if report.window.backlog_max > connections || report.window.in_system_mean >= connections as f64 {
        return None;
    }
    let (agent, off) = furthest(report, SHARE)?;
    let ok = off <= SHARE_OFF;
    let found = said!(
        "gate.fleet_share.ok",
        "agent {name} delivered {share} of its share of the load, no other was further off",
        name = agent.name.clone(),
        share = percent(agent.delivered.unwrap_or_default())
    );
    let text = if ok {
        found
    } else {
        said!(
            "gate.fleet_share.failed",
            "{found}: look at the CPU, the network and the limits of its host, or leave it out",
            found
        )
    };
    Some(gate(SHARE, ok, off, SHARE_OFF, text))
}

/// An agent's grid of intervals against the controller's, as far as round trips do not explain the difference.
pub(super) fn clock(report: &LoadReport, _: &TrialFacts) -> Option<Gate> {
    let (agent, apart_ns) = furthest(report, CLOCK)?;
    let ok = apart_ns <= APART_NS;
    let found = said!(
        "gate.fleet_clock.ok",
        "the clock of agent {name} went {apart} from the controller's, {allowed} allowed, no other went further",
        name = agent.name.clone(),
        apart = duration(apart_ns),
        allowed = duration(APART_NS)
    );
    let text = if ok {
        found
    } else {
        said!(
            "gate.fleet_clock.failed",
            "{found}: its seconds are not those of the others; let NTP settle there, or look at its clock source \
             (`prony doctor`)",
            found
        )
    };
    Some(gate(CLOCK, ok, apart_ns, APART_NS, text))
}

/// METHOD §1 for each agent: the whole may hide one that is late.
pub(super) fn lag(report: &LoadReport, facts: &TrialFacts) -> Option<Gate> {
    let limit = limit_ns(facts)?;
    let (agent, lag_ns) = furthest(report, LAG)?;
    let ok = lag_ns <= limit;
    let found = said!(
        "gate.fleet_lag.ok",
        "agent {name} itself was up to {lag} late (p99), {allowed} allowed, no other was later",
        name = agent.name.clone(),
        lag = duration(lag_ns),
        allowed = duration(limit)
    );
    let text = if ok {
        found
    } else {
        said!(
            "gate.fleet_lag.failed",
            "{found}: give it cores that nobody else uses, or the fleet more agents",
            found
        )
    };
    Some(gate(LAG, ok, lag_ns, limit, text))
}

/// METHOD §9 for each agent's host.
pub(super) fn steal(report: &LoadReport, _: &TrialFacts) -> Option<Gate> {
    let (agent, share) = furthest(report, STOLEN)?;
    let ok = share <= STEAL;
    let found = said!(
        "gate.fleet_steal.ok",
        "{share} of the CPU time of agent {name} was stolen by its hypervisor, no other lost more",
        share = percent(share),
        name = agent.name.clone()
    );
    let text = if ok {
        found
    } else {
        said!("gate.fleet_steal.failed", "{found}: use a host with dedicated cores for it", found)
    };
    Some(gate(STOLEN, ok, share, STEAL, text))
}
