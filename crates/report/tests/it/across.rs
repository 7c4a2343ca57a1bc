//! The texts of `prony plan`, `prony compare` and `prony history`: what people read, and that hostile names stay text.

use report::{Style, advice_text, compare_text, history_text};
use schema::across::{
    CellAcross, CompareFile, HistoryChange, HistoryFile, HistoryPoint, HistoryRun, HistorySeries,
    MetricAcross, RunHead,
};
use schema::advice::{AdviceFile, AdviceRow, BlocksAdvice, LevelsAdvice, SamplesAdvice, WantedAdvice};
use schema::analysis::{Interval, Verdict};
use schema::metric::Metric;
use schema::said::Said;

/// Demands these texts in this order, lines of at most 80 columns, and nothing that a terminal would obey.
fn check(text: &str, wanted: &[&str]) {
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut rest = flat.as_str();
    for part in wanted {
        let Some(at) = rest.find(part) else { panic!("no `{part}` (in this order) in\n{text}") };
        rest = &rest[at + part.len()..];
    }
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert!(!text.contains('\u{1b}') && !text.contains("NaN") && !text.contains("inf"), "{text}");
}

fn row() -> AdviceRow {
    AdviceRow {
        what: "requests per second of a\u{1b}[31m against b".into(),
        metric: Metric::Throughput.into(),
        blocks_seen: 12,
        sd: Some(0.031),
        sd_upper: Some(0.04),
        half_width: Some(0.05),
        smallest_difference: Some(0.07),
        level: Some(0.99),
        smallest_difference_alone: Some(0.055),
        blocks_for_difference_alone: Some(9),
        equivalence_power: Some(0.1),
        blocks_for_equivalence: Some(31),
        blocks_for_precision: Some(18),
        blocks_for_difference: None,
        refused: None,
    }
}

#[test]
fn a_plan_answers_in_sentences() {
    let refused = AdviceRow { refused: Some("no earlier run has these cells".into()), ..row() };
    let advice = AdviceFile {
        levels: Some(LevelsAdvice {
            of: "a, 64 connections".into(),
            metric: Metric::Throughput,
            runs_seen: 6,
            trials_seen: 5,
            samples_seen: 3,
            run_cv: 0.012,
            trial_cv: 0.008,
            sample_cv: 0.02,
            run_ns: 90e9,
            run_is_measured: false,
            trial_ns: 8e9,
            sample_ns: 5e9,
            samples_best: Some(4),
            trials_best: Some(3),
            runs_for_precision: Some(9),
            time_ns: Some(3_600_000_000_000),
            how: "cheapest for ± 2 %: `samples = 4`".into(),
        }),
        schema: Default::default(),
        experiment: "lab".into(),
        runs: vec!["r1".into(), "r2".into(), "r3".into(), "r4".into()],
        wanted: WantedAdvice {
            precision: 0.02,
            difference: 0.05,
            power: 0.8,
            confidence: 0.95,
            margin: Some(0.02),
        },
        cells: 2,
        own: BlocksAdvice { blocks: 5, trials: 10, time_ns: 60_000_000_000 },
        for_precision: Some(BlocksAdvice { blocks: 18, trials: 36, time_ns: 216_000_000_000 }),
        for_difference: None,
        for_difference_alone: Some(BlocksAdvice { blocks: 9, trials: 18, time_ns: 108_000_000_000 }),
        for_equivalence: Some(BlocksAdvice { blocks: 31, trials: 62, time_ns: 372_000_000_000 }),
        family: Some(schema::family::Family {
            text: "12 comparisons as one family".into(),
            ..Default::default()
        }),
        trial_ns: 6_000_000_000,
        trial_is_measured: true,
        rows: vec![row(), refused],
        samples: Some(SamplesAdvice { own: 3, best: 5, of: "a, 64 connections".into() }),
        notes: vec!["a note".into()],
    };
    check(
        &advice_text(&advice, Style::PLAIN),
        &[
            "lab",
            "4 runs, the last: r2, r3, r4",
            "For intervals of ± 2 % (95 %): 18 blocks (36 trials, about 3.60 min)",
            "To find a difference of 5 % with a chance of 80 %: unknown",
            "31 blocks (62 trials",
            "The file itself: 5 blocks",
            "12 comparisons as one family.",
            "none",
            "refused",
            "no earlier run has these cells",
            "as measured",
            "5 samples",
            "the file has 3",
            "level: runs 1.20 %, trials 0.800 %, samples 2.00 % (6 runs of 5 trials of 3 samples)",
            "Cheapest for ± 2 %: `samples = 4` (about",
            "note: a note",
        ],
    );
}

#[test]
fn two_runs_stand_side_by_side_and_each_reason_once() {
    let metric = |metric: Metric, verdict: Verdict, refused: Option<&str>| MetricAcross {
        metric,
        unit: metric.unit(),
        a_trials: 6,
        b_trials: 6,
        a: Some(1_000.0),
        b: Some(900.0),
        ratio: Some(0.9),
        interval: Some(Interval { low: Some(0.88), high: None }),
        rank_ratio: Some(0.9),
        rank_interval: None,
        p_value: Some(0.001),
        p_holm: Some(0.01),
        verdict,
        refused: refused.map(Said::from),
    };
    let head = |id: &str| RunHead { id: id.into(), started_wall: "2026-11-21".into(), trials_valid: 12 };
    let found = CompareFile {
        schema: Default::default(),
        experiment: "lab".into(),
        a: head("r1"),
        b: head("r2"),
        environment: Default::default(),
        refused: None,
        warnings: vec!["version of go: 1 → 2".into()],
        confidence: 0.95,
        margin: 0.02,
        cells: vec![CellAcross {
            label: "a, 64 connections".into(),
            metrics: vec![
                metric(Metric::Throughput, Verdict::Slower, None),
                metric(Metric::P99, Verdict::Refused, Some("too short")),
                metric(Metric::P999, Verdict::Refused, Some("too short")),
            ],
        }],
        only_a: vec!["old".into()],
        only_b: Vec::new(),
    };
    let text = compare_text(&found, Style::PLAIN);
    check(
        &text,
        &[
            "a: r1 (12 valid trials)",
            "throughput",
            "0.900",
            "worse",
            "too short",
            "only in a: old",
            "warning: version of go",
        ],
    );
    assert_eq!(text.matches("too short").count(), 1, "{text}");
    let host = Said::plain("the hosts differ");
    let refused = CompareFile { refused: Some(host.clone()), ..found };
    check(&compare_text(&refused, Style::PLAIN), &["no verdict: the hosts differ"]);
}

#[test]
fn a_history_dates_its_changes() {
    let run = |id: &str, changed: &[&str]| HistoryRun {
        id: id.into(),
        started_wall: format!("{id}T00:00:00Z"),
        trials_valid: 6,
        changed: changed.iter().map(|text| (*text).into()).collect(),
    };
    let change = HistoryChange {
        after_run: "d1".into(),
        first_run: "d2".into(),
        first_wall: "d2T00:00:00Z".into(),
        before: 1_000.0,
        after: 900.0,
        ratio: 0.9,
        p_value: 0.004,
        is_worse: true,
    };
    let series = |changes: Vec<HistoryChange>, refused: Option<&str>| HistorySeries {
        alarm: None,
        levels: None,
        cell: "a".into(),
        metric: Metric::Throughput,
        unit: Metric::Throughput.unit(),
        points: vec![HistoryPoint { run: 0, value: 1_000.0, trials: 6 }],
        changes,
        refused: refused.map(Said::from),
    };
    let found = HistoryFile {
        schema: Default::default(),
        experiment: "lab".into(),
        runs: vec![run("d1", &[]), run("d2", &["go: 1 → 2"])],
        significance: 0.05,
        permutations: 999,
        seed: 1,
        series: vec![series(vec![change], None), series(Vec::new(), Some("8 runs needed"))],
        notes: vec!["by chance".into()],
    };
    check(
        &history_text(&found, Style::PLAIN),
        &[
            "lab: 2 runs",
            "changed: go: 1 → 2",
            "worse since d2",
            "1,000/s → 900/s",
            "p = 0.004",
            "refused",
            "8 runs needed",
            "note: by chance",
        ],
    );
    let quiet = HistoryFile { series: Vec::new(), notes: Vec::new(), ..found };
    check(&history_text(&quiet, Style::PLAIN), &["none found", "no run has a value"]);
}
