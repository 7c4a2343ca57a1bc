//! `prony why` and `prony intervene` in words: a snapshot each, and hostile text that does not act.

use report::Style;
use schema::finding::{
    Association, CellWhy, Certainty, Change, Evidence, Finding, FindingCause, FindingSeverity, Intervention,
    RuledOut, Unread, Watched, WhyFile,
};
use schema::intervention::{InterventionFile, InterventionVerdict};
use schema::metric::Metric;

fn intervention() -> Intervention {
    let change = Change::Cpus { value: Some(0.6) };
    Intervention {
        change,
        text: "the CPU quota from 0.3 to 0.6".into(),
        metric: Metric::Throughput,
        ratio: 1.2,
    }
}

fn sample() -> WhyFile {
    let throttled = Finding {
        cause: FindingCause::Throttling,
        severity: FindingSeverity::High,
        cell: "c1".into(),
        text: "the quota of 0.3 CPUs stopped go/gin in 62 % of its periods".into(),
        evidence: vec![Evidence {
            what: "periods in which it was stopped".into(),
            value: "62 %".into(),
            limit: Some("5 %".into()),
            from: "target.cgroup/throttled_periods".into(),
        }],
        association: Some(Association::Direct { share: 0.62 }),
        remedy: Some("raise limits.cpus and see whether they change".into()),
        intervention: Some(intervention()),
        source: "METHOD §9".into(),
        ..Finding::default()
    };
    let waits = Finding {
        cause: FindingCause::RunQueue,
        severity: FindingSeverity::Medium,
        follows: Some(FindingCause::Throttling),
        text: "its threads waited \u{1b}[31m3 ms for a core for each request".into(),
        association: Some(Association::Time {
            counter: "target.process/run_delay_ns".into(),
            with: Watched::P99,
            rho: 0.81,
            p: 0.001,
            q: 0.003,
        }),
        ..throttled.clone()
    };
    let low = Finding {
        severity: FindingSeverity::Low,
        cause: FindingCause::Steal,
        text: "2 % stolen".into(),
        ..Finding::default()
    };
    WhyFile {
        schema: Default::default(),
        run: "2026-11-22T09-30-00Z-gin".into(),
        cells: vec![CellWhy {
            cell: "c1".into(),
            label: "go/gin, 16 connections".into(),
            trials: 3,
            void_only: false,
            answer: "consistent with throttling by the CPU quota".into(),
            findings: vec![throttled, waits, low],
            ruled_out: vec![RuledOut {
                cause: FindingCause::GcPauses,
                text: "pauses took 0.1 % of the time".into(),
            }],
            unread: vec![Unread { cause: FindingCause::PoolWait, text: "the target does not tell".into() }],
        }],
        spans: None,
    }
}

#[test]
fn findings_in_words() {
    let text = report::why_text(&sample(), "runs/r1", true, Style::PLAIN);
    assert!(!text.contains('\u{1b}'), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    insta::assert_snapshot!(text);
    let short = report::why_text(&sample(), "runs/r1", false, Style::PLAIN);
    assert!(
        short.contains("ruled out: pauses of garbage collection") && short.contains("waiting for a pool")
    );
}

#[test]
fn what_was_confirmed_is_told_as_because_and_needs_no_further_experiment() {
    let mut why = sample();
    why.cells[0].findings[0].certainty = Certainty::Because;
    let text = report::why_text(&why, "runs/r1", false, Style::PLAIN);
    assert!(text.contains("high because of throttling"), "{text}");
    assert_eq!(text.matches("to know:").count(), 1, "{text}");
}

#[test]
fn an_experiment_before_and_after() {
    let finding = &sample().cells[0].findings[0];
    let before = report::intervention_proposal(
        finding,
        &intervention(),
        "with it, throughput above 1.2 times what it was",
        (10, 5),
        "runs/r1",
        Style::PLAIN,
    );
    let answer = |verdict, ends: Option<(f64, f64)>| InterventionFile {
        schema: Default::default(),
        of: "r1".into(),
        run: "r2".into(),
        cell: "c1".into(),
        cause: FindingCause::Throttling,
        intervention: intervention(),
        prediction: "throughput above 1.2 times".into(),
        ratio: ends.map(|(low, high)| f64::midpoint(low, high)),
        low: ends.map(|(low, _)| low),
        high: ends.map(|(_, high)| high),
        verdict,
        refused: ends.is_none().then(|| "5 blocks needed, had 3".into()),
    };
    let told = |verdict, ends| {
        report::intervention_text(&answer(verdict, ends), "runs/r2/report.html", Style::PLAIN)
    };
    let texts = [
        before,
        told(InterventionVerdict::Holds, Some((1.9, 2.1))),
        told(InterventionVerdict::DoesNotHold, Some((0.98, 1.02))),
        told(InterventionVerdict::Inconclusive, None),
    ];
    insta::assert_snapshot!(texts.join("\n"));
}
