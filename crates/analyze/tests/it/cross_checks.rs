//! CPU per request over ladders with known truth, and counts of the target that could not be read.

use crate::synth::{closed, open, run, trial};
use analyze::{TrialData, analyze};
use schema::analysis::{BeliefLevel, BeliefNote};
use schema::metric::Metric;
use schema::plan::LoadPlan;
use schema::server_side::ServerSide;

/// The note about CPU, where each load gives (requests per second, CPU per request in ns) in five blocks.
fn note(loads: &[LoadPlan], steps: &[(f64, f64)], wobble: f64) -> Option<BeliefNote> {
    let plan = run(&["a"], loads, 5);
    let trials: Vec<TrialData> = (plan.plan.order.iter())
        .map(|planned| {
            let cell = plan.plan.cells.iter().position(|cell| cell.id == planned.cell).expect("planned");
            let (throughput, cpu_ns) = steps[cell];
            let sway = 1.0 + wobble * (f64::from(planned.block) - 3.0);
            trial(
                &plan,
                planned.id,
                &[(Metric::Throughput, throughput), (Metric::CpuPerRequest, cpu_ns * sway)],
            )
        })
        .collect();
    analyze(&plan, &trials).belief.notes.into_iter().find(|note| note.text.contains("CPU per request"))
}

#[test]
fn cpu_per_request_is_looked_at_below_the_knee_only() {
    let ladder = [closed(1), closed(2), closed(4), closed(8)];
    // At the knee a request costs twice as much, and that is what a knee is.
    let constant = note(&ladder, &[(1e3, 50e3), (2e3, 51e3), (3.9e3, 52e3), (4e3, 100e3)], 0.01).unwrap();
    assert_eq!(constant.level, BeliefLevel::Yes);
    assert_eq!(constant.text, "CPU per request of a is constant below its knee, within 2 % over 2 loads");
    let bent = note(&ladder, &[(1e3, 90e3), (2e3, 51e3), (3.9e3, 52e3), (4e3, 52e3)], 0.01).unwrap();
    assert_eq!(bent.level, BeliefLevel::WithReservations);
    assert_eq!(
        bent.text,
        "CPU per request of a is not constant below its knee: 51 µs at 2 connections, 90 µs at 1 connection"
    );
    let rates = [open(64, 100.0), open(64, 200.0), open(64, 400.0)];
    let bent = note(&rates, &[(1e2, 90e3), (2e2, 51e3), (4e2, 52e3)], 0.01).unwrap();
    assert!(bent.text.contains("90 µs at 100 requests per second"), "{}", bent.text);
}

#[test]
fn trials_that_overlap_and_short_ladders_say_nothing_of_a_bend() {
    let ladder = [closed(1), closed(2), closed(4)];
    let noisy = note(&ladder, &[(1e3, 70e3), (2e3, 55e3), (4e3, 52e3)], 0.1).unwrap();
    assert_eq!(noisy.level, BeliefLevel::Yes, "{}", noisy.text);
    assert_eq!(note(&ladder[..2], &[(1e3, 90e3), (2e3, 50e3)], 0.0), None);
    assert_eq!(note(&ladder, &[(4e3, 90e3), (4e3, 50e3), (4e3, 50e3)], 0.0), None, "all at the knee");
    for bad in [f64::NAN, f64::INFINITY, -1.0, 0.0] {
        assert_eq!(note(&ladder, &[(1e3, bad), (2e3, bad), (4e3, bad)], 0.0), None, "{bad}");
    }
}

#[test]
fn other_targets_scenarios_and_laws_are_other_ladders() {
    let plan = [closed(1), closed(2), LoadPlan { think: None, timeout_ns: 1, ..closed(4) }];
    assert_eq!(note(&plan, &[(1e3, 90e3), (2e3, 50e3), (4e3, 50e3)], 0.0), None);
}

#[test]
fn counts_that_could_not_be_read_are_told_with_their_reason() {
    let plan = run(&["a"], &[closed(4)], 2);
    let mut trials: Vec<TrialData> = (1..=2).map(|id| trial(&plan, id, &[])).collect();
    let text = |trials: &[TrialData]| {
        let notes = analyze(&plan, trials).belief.notes;
        notes.into_iter().map(|note| note.text).find(|text| text.contains("own counts"))
    };
    assert_eq!(text(&trials), None);
    let missing = vec!["GET http://127.0.0.1:9/stats: refused".into()];
    trials[1].file.target.server = Some(ServerSide { missing, ..ServerSide::default() });
    assert_eq!(
        text(&trials).as_deref(),
        Some(
            "the target's own counts could not be held against the client's in trial 2: GET http://127.0.0.1:9/stats: refused"
        )
    );
}
