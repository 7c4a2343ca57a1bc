//! The agents of a fleet over the trials of a run: clocks, delivered shares, lateness, and the gates that each kept.

use crate::{clean, format};
use schema::agents::{AgentGate, AgentSummary};
use schema::analysis::AnalysisFile;

/// What the table shows.
pub(crate) const ABOUT: &str = "A worst is that of one trial; response times are those of the trial in the middle. Each agent is held against the gates of \
     its trials by itself.";

/// Heads of the columns: agent, and the values of a view.
pub(crate) const HEADER: [&str; 12] = [
    "Agent",
    "Host",
    "Share",
    "Clock ahead",
    "Known within",
    "Clock drift, worst",
    "Delivered of its share",
    "Own lateness p99, worst",
    "CPU stolen, worst",
    "p50",
    "p99",
    "Gates",
];

/// Whether any of them sees other response times than the rest; empty where they are not compared.
pub(crate) fn compared(analysis: &AnalysisFile) -> String {
    let compared = analysis.fleet.as_ref().and_then(|fleet| fleet.compared.as_ref());
    compared.map_or_else(String::new, |compared| clean::line(&compared.text))
}

/// One agent.
pub(crate) struct AgentView {
    pub(crate) name: String,
    pub(crate) values: Vec<String>,
}

/// All agents in the order of their shares; none without a fleet.
pub(crate) fn views(analysis: &AnalysisFile) -> Vec<AgentView> {
    let view = |agent: &AgentSummary| AgentView { name: clean::line(&agent.name), values: values(agent) };
    analysis.fleet.iter().flat_map(|fleet| &fleet.agents).map(view).collect()
}

fn values(of: &AgentSummary) -> Vec<String> {
    let none = || format::NONE.to_owned();
    let time = |ns: Option<u64>| ns.map_or_else(none, |ns| format::duration(ns as f64));
    let share = |share: Option<f64>| share.map_or_else(none, format::percent);
    vec![
        clean::line(&of.host),
        format::percent(of.share),
        ahead(of.offset_ns),
        format!("±{}", format::duration(of.bound_ns as f64)),
        time(of.apart_ns),
        delivered(share(of.delivered_least), share(of.delivered_most)),
        time(of.pacer_lag_p99_ns),
        share(of.steal_share),
        time(of.response_p50_ns),
        time(of.response_p99_ns),
        gates(&of.gates),
    ]
}

fn ahead(offset_ns: i64) -> String {
    let text = format::duration(offset_ns.unsigned_abs() as f64);
    if offset_ns < 0 { format!("-{text}") } else { text }
}

fn delivered(least: String, most: String) -> String {
    if least == most { least } else { format!("{least} to {most}") }
}

fn gates(all: &[AgentGate]) -> String {
    let held = all.iter().filter(|gate| gate.trials > 0).count();
    let broken: Vec<String> = all
        .iter()
        .filter(|gate| gate.failed > 0)
        .map(|gate| format!("{} not kept in {} of {}", clean::line(&gate.gate), gate.failed, gate.trials))
        .collect();
    match (held, broken.is_empty()) {
        (0, _) => format::NONE.to_owned(),
        (_, true) => format!("all {held} kept"),
        (_, false) => broken.join("; "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_says_what_it_did_and_which_gate_it_did_not_keep() {
        let gate = |gate: &str, trials, failed| AgentGate { gate: gate.to_owned(), trials, failed };
        let mut agent = AgentSummary {
            share: 0.5,
            offset_ns: -1_000,
            bound_ns: 2_000,
            delivered_least: Some(0.97),
            delivered_most: Some(1.0),
            gates: vec![gate("fleet_share", 6, 2), gate("fleet_steal", 0, 0)],
            ..AgentSummary::default()
        };
        let shown = values(&agent);
        assert_eq!(shown.len(), HEADER.len() - 1);
        for part in ["50.0 %", "-1.00 µs", "±2.00 µs", "97.0 % to 100 %", "fleet_share not kept in 2 of 6"]
        {
            assert!(shown.iter().any(|value| value.replace('\u{a0}', " ") == part), "{part} in {shown:?}");
        }
        agent.gates[0].failed = 0;
        agent.delivered_most = agent.delivered_least;
        assert_eq!(values(&agent)[10], "all 1 kept");
        assert_eq!(values(&AgentSummary::default())[10], format::NONE, "no data is not a kept gate");
    }
}
