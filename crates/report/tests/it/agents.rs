//! What is said of a fleet's agents against each other stands in every format, and nothing where they are not compared.

use report::Style;
use schema::agents::{AgentSummary, AgentsCompared, FleetSummary};
use schema::analysis::AnalysisFile;

const SAID: &str = "Agent load-2 differs most: its p99 was 1.40 times that of the others.";

fn texts(compared: Option<AgentsCompared>) -> [String; 3] {
    let agent = |name: &str| AgentSummary { name: name.into(), ..AgentSummary::default() };
    let fleet =
        FleetSummary { agents: vec![agent("load-1"), agent("load-2")], compared, ..FleetSummary::default() };
    let (run, analysis) =
        (crate::sample::plan::run_file(), AnalysisFile { fleet: Some(fleet), ..crate::sample::analysis() });
    [
        report::terminal(&run, &analysis, Style { color: false, width: 200 }),
        report::markdown(&run, &analysis),
        report::html(&run, &analysis).unwrap(),
    ]
}

#[test]
fn an_agent_that_differs_is_named_in_every_format() {
    let compared =
        AgentsCompared { differ: vec!["load-2".into()], text: SAID.into(), ..AgentsCompared::default() };
    for text in texts(Some(compared)) {
        assert_eq!(text.matches(SAID).count(), 1, "{text}");
    }
    for text in texts(None) {
        assert!(!text.contains("differs most"), "{text}");
    }
}
