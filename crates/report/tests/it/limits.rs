//! Limits, throttling and findings say the same in every format, and nothing hostile acts in them.

use report::Style;
use schema::analysis::{AnalysisFile, Finding, FindingCause, FindingLevel, ThrottlingSummary};

/// The sample run whose first cell has a quota of which the second knows nothing.
fn confined() -> AnalysisFile {
    let mut analysis = crate::sample::analysis();
    let cell = &mut analysis.cells[0];
    cell.limits = "0.5 CPUs, isolated network".into();
    cell.throttling =
        Some(ThrottlingSummary { trials: 5, share: 0.43, throttled_ns: 12.1e9, is_asked: false });
    analysis.cells[1].limits = "1GiB".into();
    analysis.findings = vec![Finding {
        cause: FindingCause::Throttling,
        level: FindingLevel::Finding,
        cell: "c1".into(),
        text: "the quota stopped <i>it</i>\u{1b}[2J | often".into(),
        remedy: Some("raise limits.cpus".into()),
        ..Finding::default()
    }];
    analysis
}

#[test]
fn every_format_tells_limits_throttling_and_findings() {
    let (run, analysis) = (crate::sample::plan::run_file(), confined());
    let terminal = report::explained(&run, &analysis, Style::PLAIN);
    let markdown = report::markdown(&run, &analysis);
    let html = report::html(&run, &analysis).unwrap();
    for (name, text) in [("terminal", &terminal), ("markdown", &markdown), ("html", &html)] {
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for expected in [
            "0.5 CPUs, isolated network",
            "throttled in 43.0 % of periods, 12.1 s",
            "1GiB",
            "raise limits.cpus",
        ] {
            assert!(words.contains(expected), "{name} has no `{expected}`:\n{words}");
        }
        assert!(!text.contains('\u{1b}'), "{name}");
    }
    assert!(!html.contains("<i>it") && !markdown.contains(" <i>it"), "text is no markup");
}

#[test]
fn without_limits_there_is_no_such_section() {
    let (run, analysis) = (crate::sample::plan::run_file(), crate::sample::analysis());
    let html = report::html(&run, &analysis).unwrap();
    assert!(!html.contains("id=\"limits\"") && !html.contains("id=\"findings\""));
    let markdown = report::markdown(&run, &analysis);
    assert!(!markdown.contains("## Limits") && !markdown.contains("## Findings"));
}
