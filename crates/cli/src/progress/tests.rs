//! The view of a run as text at several moments and sizes, and the lines that stand for it elsewhere.

use super::state::State;
use super::*;
use ratatui_core::buffer::Buffer;
use schema::finding::{FindingCause, FindingLevel, FindingSeverity};
use schema::trial::{Phase, TrialOutcome};

const S: u64 = 1_000_000_000;

fn text(buffer: &Buffer) -> String {
    let row = |y: u16| -> String { (0..buffer.area.width).map(|x| buffer[(x, y)].symbol()).collect() };
    (0..buffer.area.height).map(|y| row(y).trim_end().to_owned() + "\n").collect()
}

/// The embedded default, resolved for two CPUs.
fn run_file() -> RunFile {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments/demo.toml");
    let experiment_text = std::fs::read_to_string(path).unwrap();
    let context = plan::Context { project: "/".into(), usable_cpus: vec![0, 1], pin: None };
    RunFile {
        schema: Default::default(),
        id: "r".to_owned(),
        started_wall: String::new(),
        command: Vec::new(),
        plan: plan::experiment("demo.toml", &experiment_text, &context).unwrap(),
        experiment_text,
        environment: Default::default(),
        versions: Default::default(),
        services: Vec::new(),
        weaknesses: Vec::new(),
        instrument: Default::default(),
        calibration: None,
        agents: Vec::new(),
    }
}

fn trial_file(outcome: TrialOutcome, reasons: &[&str]) -> TrialFile {
    let mut file: TrialFile = serde_json::from_value(serde_json::json!({
        "schema": "prony.trial/1", "id": 1, "cell": "c1", "block": 1, "outcome": "valid", "reasons": reasons,
        "origin_wall": "", "phases": [], "level": false, "load": null, "samples": [], "target": {},
        "ready_ns": null, "counter_gaps": {},
        "steadiness": {"class": "slow_down", "intervals": 4, "series": []},
    }))
    .unwrap();
    file.outcome = outcome;
    file
}

fn interval(second: u64, phase: Phase) -> IntervalLine {
    IntervalLine {
        start_ns: second * S,
        end_ns: (second + 1) * S,
        phase: Some(phase),
        sample: (phase == Phase::Sample).then_some(1),
        completed: 700 + 60 * second,
        p50_ns: Some(8_200_000 - 100_000 * second),
        p99_ns: Some(12_000_000 + 500_000 * (second % 3)),
        ..IntervalLine::default()
    }
}

/// Six trials are over, and the seventh is in its first sample.
fn seventh() -> State {
    let run = run_file();
    let mut state = State::default();
    state.started(&run, 10);
    for at in 0..7 {
        let planned = &run.plan.order[at];
        let cell = run.plan.cells.iter().find(|cell| cell.id == planned.cell).unwrap();
        state.trial_begins(planned, cell, 8 * S * at as u64);
        let outcome = if at == 3 { TrialOutcome::Void } else { TrialOutcome::Valid };
        if at < 6 {
            state.trial_ends(&trial_file(outcome, &[]), 8 * S * at as u64 + 7 * S);
        }
    }
    (0..2).for_each(|second| state.interval(&interval(second, Phase::Warmup)));
    (2..5).for_each(|second| state.interval(&interval(second, Phase::Sample)));
    state
}

#[test]
fn the_view_at_80_columns() {
    insta::assert_snapshot!(text(&view::render(&seventh(), 48 * S + 5 * S, 80, 24)));
}

#[test]
fn the_view_at_40_columns() {
    insta::assert_snapshot!(text(&view::render(&seventh(), 48 * S + 5 * S, 40, 24)));
}

#[test]
fn the_view_on_a_low_terminal_keeps_what_matters_most() {
    let shown = text(&view::render(&seventh(), 53 * S, 80, 5));
    assert_eq!(shown.lines().count(), 4, "{shown}");
    assert!(shown.contains("6 of 10 trials") && shown.contains("trial 7"), "{shown}");
}

fn finding(cause: FindingCause, cell: &str) -> Finding {
    let text = "of 5.2 ms a request waited 3.1 ms".to_owned();
    Finding {
        cause,
        cell: cell.to_owned(),
        text: text.into(),
        severity: FindingSeverity::High,
        ..Finding::default()
    }
}

#[test]
fn a_cause_is_told_when_it_is_found_and_when_it_is_no_longer() {
    let mut state = seventh();
    let pool = finding(FindingCause::PoolWait, "c1");
    let told = state.found(std::slice::from_ref(&pool));
    let line = "found so far: reference-1000us, waiting for a pool: of 5.2 ms a request waited 3.1 ms";
    assert_eq!(told, [(Tone::Warn, line.to_owned())]);
    // Of another cell of that target it is no news; of another target it is.
    let other = finding(FindingCause::PoolWait, "c2");
    let asked = Finding { level: FindingLevel::Fact, ..finding(FindingCause::Throttling, "c1") };
    let told = state.found(&[pool.clone(), other, asked]);
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].1.starts_with("found so far: reference-1100us, "), "{told:?}");
    let told = state.found(&[pool]);
    assert_eq!(told, [(Tone::Plain, "no longer found: reference-1100us, waiting for a pool".to_owned())]);
}

#[test]
fn a_cell_that_a_search_adds_is_known_by_its_first_trial() {
    let mut state = seventh();
    let plan = run_file().plan;
    let cell = CellPlan { id: "c9".to_owned(), ..plan.cells[0].clone() };
    state.trial_begins(&plan.order[0], &cell, 0);
    state.found(&[finding(FindingCause::PoolWait, "c1")]);
    assert_eq!(state.found(&[finding(FindingCause::PoolWait, "c9")]), [], "the same target");
}

#[test]
fn the_view_names_what_is_found() {
    let mut state = seventh();
    state.found(&[finding(FindingCause::PoolWait, "c1"), finding(FindingCause::GcPauses, "c2")]);
    insta::assert_snapshot!(text(&view::render(&state, 48 * S + 5 * S, 80, 24)));
    assert!(text(&view::render(&state, 53 * S, 40, 24)).lines().all(|line| line.chars().count() < 40));
    assert!(!text(&view::render(&state, 53 * S, 80, 5)).contains("found"));
}

#[test]
fn before_and_between_trials_it_says_what_goes_on() {
    let mut state = State::default();
    "preparing go/gin".clone_into(&mut state.doing);
    assert_eq!(text(&view::render(&state, 0, 80, 24)), "preparing go/gin\n");
    state.started(&run_file(), 10);
    let shown = text(&view::render(&state, 0, 80, 24));
    assert!(shown.contains("0 of 10 trials") && shown.contains("about 1 min 00 s left"), "{shown}");
}

#[test]
fn time_left_goes_by_the_trials_so_far_and_never_below_nothing() {
    let mut state = seventh();
    // Each took 7 s by the clock; four are left, of which one has 2 s to go.
    assert_eq!(state.left_ns(53 * S), Some(23 * S));
    assert_eq!(state.left_ns(1_000 * S), Some(21 * S));
    assert!((state.share(53 * S) - (6.0 + 5.0 / 7.0) / 10.0).abs() < 1e-9);
    state.decided(-4);
    assert_eq!(state.left_ns(53 * S), Some(0));
    state.decided(i64::MIN);
    assert_eq!(state.left_ns(53 * S), None);
    assert_eq!(State::default().left_ns(S), None);
}

#[test]
fn the_plan_and_a_trial_in_one_line() {
    assert_eq!(
        words::plan(&run_file().plan).unwrap(),
        "plan: 2 cells × 6 blocks, warm-up 2 s, 1 sample of 4 s; about 1 min 12 s of load"
    );
    let file = trial_file(TrialOutcome::Void, &["the generator was late"]);
    assert_eq!(words::trial(&file), "VOID - the generator was late; it became slower");
    for (ns, expected) in
        [(1, "1 s"), (59 * S, "59 s"), (61 * S, "1 min 01 s"), (750 * S, "13 min"), (7_500 * S, "2 h 05 min")]
    {
        assert_eq!(words::span(ns), expected);
    }
}

#[test]
fn foreign_text_cannot_steer_the_terminal() {
    let mut run = run_file();
    run.plan.question = "\x1b[2Jwhy\u{202e}\n".to_owned();
    run.plan.cells[0].label = "\x1b]0;title\x07".repeat(20);
    let mut state = State::default();
    state.started(&run, 10);
    state.trial_begins(&run.plan.order[0], &run.plan.cells[0], 0);
    let shown = text(&view::render(&state, 0, 80, 24));
    assert!(!shown.contains(['\x1b', '\x07', '\u{202e}']), "{shown:?}");
    assert!(shown.lines().all(|line| line.chars().count() < 80));
}
