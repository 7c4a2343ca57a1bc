//! What each agent of a fleet did over the trials of a run: the worst of each, and the gates held against it alone.
//!
//! Invariants: a worst is that of one trial, a time is one that a trial had; nothing is averaged. Failed trials have no report
//! and are not counted here. Gates void trials, and they name only the agent that is furthest off; here each is held against
//! the same limits. How the agents' times compare is `between`'s.

use super::TrialData;
use super::between::between;
use super::data::RunData;
use crate::stats::order::lower_median;
use crate::trial::fleet::{GATES, number};
use schema::agents::{AgentGate, AgentRecord, AgentReport, AgentSummary, FleetSummary};
use schema::load::LoadReport;
use schema::run::RunFile;

/// Over all trials that ended; absent where one machine makes the load.
#[must_use]
pub fn fleet(run: &RunFile, trials: &[TrialData]) -> Option<FleetSummary> {
    if run.agents.is_empty() {
        return None;
    }
    let loads = trials.iter().filter_map(|trial| trial.file.load.as_ref());
    let loads: Vec<&LoadReport> = loads.filter(|load| load.fleet.is_some()).collect();
    let reports = || loads.iter().filter_map(|load| load.fleet.as_ref());
    let names: Vec<&str> = run.agents.iter().map(|agent| &*agent.name).collect();
    let between = between(&RunData::new(&run.plan, trials), &names);
    let mut agents: Vec<AgentSummary> = run.agents.iter().map(|agent| summary(agent, &loads)).collect();
    for (agent, [p50, p99]) in agents.iter_mut().zip(between.iter().flat_map(|found| &found.ratios)) {
        (agent.p50_of_others, agent.p99_of_others) = (Some(*p50), Some(*p99));
    }
    Some(FleetSummary {
        trials: u32::try_from(loads.len()).unwrap_or(u32::MAX),
        agents,
        p50_spread: greatest(reports().filter_map(|report| report.p50_spread)),
        p99_spread: greatest(reports().filter_map(|report| report.p99_spread)),
        compared: between.map(|found| found.compared),
    })
}

fn summary(agent: &AgentRecord, loads: &[&LoadReport]) -> AgentSummary {
    let own: Vec<(&LoadReport, &AgentReport)> =
        loads.iter().filter_map(|load| Some((*load, part(load, &agent.name)?))).collect();
    let parts = || own.iter().map(|(_, part)| *part);
    AgentSummary {
        name: agent.name.clone(),
        host: agent.facts.host.clone(),
        share: agent.share,
        offset_ns: agent.clock.offset_ns,
        bound_ns: parts().map(|part| part.clock.bound_ns).fold(agent.clock.bound_ns, u64::max),
        apart_ns: parts().map(|part| part.clock.apart_ns).max(),
        delivered_least: greatest(parts().filter_map(|part| Some(-part.delivered?))).map(|least| -least),
        delivered_most: greatest(parts().filter_map(|part| part.delivered)),
        pacer_lag_p99_ns: parts().filter_map(|part| part.pacer_lag_p99_ns).max(),
        steal_share: greatest(parts().filter_map(|part| part.steal_share)),
        response_p50_ns: lower_median(parts().filter_map(|part| part.response_p50_ns)),
        response_p99_ns: lower_median(parts().filter_map(|part| part.response_p99_ns)),
        p50_of_others: None,
        p99_of_others: None,
        reconnects: parts().fold(0, |sum: u64, part| sum.saturating_add(part.reconnects)),
        gates: GATES.iter().map(|name| gate(name, &own)).collect(),
    }
}

fn part<'a>(load: &'a LoadReport, name: &str) -> Option<&'a AgentReport> {
    load.fleet.as_ref()?.agents.iter().find(|agent| agent.name == name)
}

/// A gate with the limit that each trial had for it; trials in which it did not apply are left out.
fn gate(name: &str, own: &[(&LoadReport, &AgentReport)]) -> AgentGate {
    let held = own.iter().filter_map(|(load, part)| {
        let limit = load.validity.gates.iter().find(|gate| gate.gate == name)?.limit;
        let value = number(name, part)?;
        // What is no number does not keep a limit.
        Some(value.partial_cmp(&limit).is_none_or(std::cmp::Ordering::is_gt))
    });
    let mut found = AgentGate { gate: name.to_owned(), ..AgentGate::default() };
    for is_beyond in held {
        found.trials += 1;
        found.failed += u32::from(is_beyond);
    }
    found
}

fn greatest(numbers: impl Iterator<Item = f64>) -> Option<f64> {
    numbers.max_by(f64::total_cmp)
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::agents::{AgentClock, FleetReport};
    use schema::load::Gate;

    fn part(name: &str, delivered: f64, lag_ns: u64, p99_ns: u64) -> AgentReport {
        AgentReport {
            name: name.to_owned(),
            clock: AgentClock { bound_ns: lag_ns / 10, apart_ns: lag_ns / 100, ..AgentClock::default() },
            delivered: Some(delivered),
            pacer_lag_p99_ns: Some(lag_ns),
            response_p99_ns: Some(p99_ns),
            scheduled: 1_000_000,
            workers: 1,
            reconnects: 1,
            ..AgentReport::default()
        }
    }

    /// A trial whose agents may be this late.
    fn load(limit_ns: f64, spread: f64, agents: [AgentReport; 2]) -> LoadReport {
        let gate =
            |gate: &str, limit| Gate { gate: gate.to_owned(), ok: true, value: 0.0, limit, text: "".into() };
        let mut load = LoadReport::default();
        load.validity.gates = vec![gate("fleet_lag", limit_ns), gate("fleet_share", 0.01)];
        let agents = agents.to_vec();
        load.fleet = Some(FleetReport { agents, p99_spread: Some(spread), ..FleetReport::default() });
        load
    }

    #[test]
    fn the_worst_of_each_agent_is_kept_and_each_is_held_against_the_limits_of_its_trial() {
        let loads = [
            load(1000.0, 1.5, [part("a", 1.0, 900, 70), part("b", 0.98, 1100, 50)]),
            load(2000.0, 3.0, [part("a", 1.02, 800, 50), part("b", 1.0, 1900, 60)]),
            load(2000.0, 2.0, [part("a", 1.0, 100, 60), part("b", f64::NAN, 100, 90)]),
        ];
        let loads: Vec<&LoadReport> = loads.iter().collect();
        let of =
            |name: &str| summary(&AgentRecord { name: name.to_owned(), ..AgentRecord::default() }, &loads);
        let (a, b) = (of("a"), of("b"));
        assert_eq!((a.pacer_lag_p99_ns, a.bound_ns, a.apart_ns), (Some(900), 90, Some(9)));
        assert_eq!((a.delivered_least, a.delivered_most), (Some(1.0), Some(1.02)));
        assert_eq!(
            (a.response_p99_ns, b.response_p99_ns),
            (Some(60), Some(60)),
            "of the trial in the middle"
        );
        assert_eq!((a.reconnects, a.steal_share, a.response_p50_ns), (3, None, None), "no data is not zero");
        let held = |agent: &AgentSummary| -> Vec<(u32, u32)> {
            agent.gates.iter().map(|gate| (gate.trials, gate.failed)).collect()
        };
        // Share, clock (no trial had its gate), lag, steal (no host says).
        assert_eq!(held(&a), [(3, 1), (0, 0), (3, 0), (0, 0)]);
        assert_eq!(held(&b), [(3, 2), (0, 0), (3, 1), (0, 0)], "no number keeps no limit");
        let gone = of("c");
        assert_eq!((gone.apart_ns, held(&gone)[0]), (None, (0, 0)));
    }
}
