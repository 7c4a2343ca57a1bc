//! What a run says of the steadiness of its trials, with planted moves: nothing is hidden, and silence is no consent.

use crate::synth::{closed, run, second, trials};
use analyze::{TrialData, analyze};
use schema::analysis::{BeliefLevel, BeliefNote};
use schema::steady::SteadyClass;
use schema::trial::{IntervalLine, Phase};

const BLOCKS: u32 = 5;

/// A measured window of `seconds` with a speed of `speed(second)`.
fn window(seconds: u64, speed: impl Fn(u64) -> f64) -> Vec<IntervalLine> {
    let line = |at: u64| IntervalLine {
        phase: Some(Phase::Sample),
        sample: Some(1),
        p50_ns: Some((1e6 / speed(at)) as u64),
        ..second(at, (20_000.0 * speed(at)) as u64 + [3, 8, 1, 6, 0, 5][at as usize % 6])
    };
    (0..seconds).map(line).collect()
}

/// The notes about steadiness of a run whose trial number `index` has the window `window(index)`, and the classes.
fn notes(windows: impl Fn(usize) -> Vec<IntervalLine>) -> (Vec<BeliefNote>, Vec<Option<SteadyClass>>) {
    let plan = run(&["a"], &[closed(64)], BLOCKS);
    let mut data: Vec<TrialData> = trials(&plan, |_, block| 20_000.0 + f64::from(block));
    for (index, trial) in data.iter_mut().enumerate() {
        trial.intervals = windows(index);
    }
    let found = analyze(&plan, &data);
    let is_about = |note: &BeliefNote| ["while", "steadiness"].iter().any(|word| note.text.contains(word));
    let notes = found.belief.notes.into_iter().filter(is_about).collect();
    let class = |row: &schema::analysis::TrialRow| row.steadiness.as_ref().and_then(|found| found.class);
    (notes, found.trials.iter().map(class).collect())
}

fn one(mut notes: Vec<BeliefNote>) -> BeliefNote {
    assert_eq!(notes.len(), 1, "{notes:#?}");
    notes.remove(0)
}

#[test]
fn flat_windows_are_told_as_such() {
    let (notes, classes) = notes(|_| window(30, |_| 1.0));
    let note = one(notes);
    assert_eq!((note.level, classes), (BeliefLevel::Yes, vec![Some(SteadyClass::Flat); 5]));
    assert!(note.text.contains("all 5 trials judged were steady"), "{}", note.text);
}

#[test]
fn trials_that_moved_are_named_with_what_moved_and_a_remedy() {
    for (speed, class, text) in [
        ((|at| if at < 12 { 0.9 } else { 1.0 }) as fn(u64) -> f64, SteadyClass::WarmUp, "still got better"),
        (|at| if at < 15 { 1.0 } else { 0.93 }, SteadyClass::SlowDown, "got worse"),
        (|at| if (10..20).contains(&at) { 0.8 } else { 1.0 }, SteadyClass::Unsteady, "moved to and fro"),
    ] {
        let (notes, classes) = notes(|index| window(30, if index == 2 { speed } else { |_| 1.0 }));
        let note = one(notes);
        assert_eq!(classes[2], Some(class));
        assert_eq!(note.level, BeliefLevel::WithReservations, "{}", note.text);
        assert!(note.text.starts_with("1 of 5 trials judged (20 %)"), "{}", note.text);
        assert!(note.text.contains(text) && note.text.contains("in trial 3 "), "{}", note.text);
        assert!(note.remedy.is_some());
    }
}

#[test]
fn what_is_too_short_to_judge_is_no_consent() {
    let (notes, classes) = notes(|_| window(5, |_| 1.0));
    let note = one(notes);
    assert_eq!((note.level, classes), (BeliefLevel::WithReservations, vec![None; 5]));
    assert!(note.text.ends_with("10 intervals with answers are needed, had 5"), "{}", note.text);
    assert_eq!(note.remedy.as_deref(), Some("measure for at least 10 s"));
}
