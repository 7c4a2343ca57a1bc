//! What load tools print of a cell, from planted trials: the longest response, the use of the CPUs and its peak.

use crate::synth::{SECOND_NS, closed, run, second, trial};
use analyze::{TrialData, analyze};
use schema::analysis::Extremes;
use schema::signals::Signals;
use schema::trial::{Phase, TrialOutcome};
use std::collections::BTreeMap;

/// Two seconds on two CPUs: one and a half used in all, nine tenths of one in the busier second.
fn planted(trial: &mut TrialData) {
    trial.intervals = (0..2)
        .map(|at| {
            let mut line = second(at, 900);
            line.phase = Some(Phase::Sample);
            line
        })
        .collect();
    let used = vec![Some(6e8), Some(9e8)];
    trial.signals = Some(Signals {
        ends_ns: vec![SECOND_NS, 2 * SECOND_NS],
        deltas: BTreeMap::from([("target.process/cpu_ns".into(), used)]),
        ..Signals::default()
    });
    let load = trial.file.load.as_mut().expect("it has a load");
    load.window.duration_ns = 2 * SECOND_NS;
    load.latency_ns.response.max = Some(80_000_000 + u64::from(trial.file.id));
    trial.file.target.cpu_s = Some(1.5);
}

fn of(spoil: fn(&mut TrialData)) -> Extremes {
    let mut file = run(&["a"], &[closed(4)], 5);
    file.plan.pin.target = Some(vec![1, 2]);
    let made = |id| {
        let mut one = trial(&file, id, &[]);
        planted(&mut one);
        spoil(&mut one);
        one
    };
    let trials: Vec<TrialData> = (1..=5).map(made).collect();
    analyze(&file, &trials).cells[0].extremes
}

#[test]
fn the_longest_response_and_the_busiest_interval_of_all_trials_are_shown() {
    let found = of(|_| ());
    assert_eq!(found.max_ns, Some(80_000_005));
    let near = |got: Option<f64>, wanted: f64| (got.unwrap_or(f64::NAN) - wanted).abs() < 1e-9;
    assert!(near(found.cpu, 0.375) && near(found.cpu_peak, 0.45), "{found:?}");
}

#[test]
fn void_trials_count_for_nothing_and_what_was_not_read_is_absent() {
    let last_is_void = of(|trial| {
        if trial.file.id == 5 {
            trial.file.outcome = TrialOutcome::Void;
        }
    });
    assert_eq!(last_is_void.max_ns, Some(80_000_004));
    let blind = of(|trial| {
        trial.signals = None;
        trial.file.target.cpu_s = None;
        trial.file.load.as_mut().expect("it has a load").latency_ns.response.max = None;
    });
    assert!(blind.is_empty(), "{blind:?}");
}
