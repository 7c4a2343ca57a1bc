//! Memory and garbage collection over time, from made-up counters whose values are known.

use crate::synth::{SECOND_NS, closed, run, second, trial};
use analyze::{TrialData, analyze};
use schema::memory_view::{MemoryKind, MemoryView};
use schema::metric::Metric;
use schema::run::RunFile;
use schema::signals::Signals;
use schema::trial::{IntervalLine, Phase, TrialOutcome};

/// Seconds 2 to 5 are the samples, with 1,000 right answers each; before them two of warm-up.
fn intervals() -> Vec<IntervalLine> {
    (0..6)
        .map(|at| IntervalLine {
            phase: Some(if at < 2 { Phase::Warmup } else { Phase::Sample }),
            p99_ns: (at != 4).then_some(2_000_000 + at),
            ..second(at, 1_000)
        })
        .collect()
}

fn signals(gauges: &[(&str, [Option<f64>; 4])], deltas: &[(&str, [Option<f64>; 4])]) -> Signals {
    let all = |of: &[(&str, [Option<f64>; 4])]| {
        of.iter().map(|(key, values)| ((*key).to_owned(), values.to_vec())).collect()
    };
    Signals {
        ends_ns: (3..=6).map(|at| at * SECOND_NS).collect(),
        gauges: all(gauges),
        deltas: all(deltas),
        ..Signals::default()
    }
}

fn go() -> Signals {
    let each = |value: f64| [Some(value); 4];
    signals(
        &[
            ("target.process/rss_bytes", [Some(4e7), Some(5e7), None, Some(6e7)]),
            ("go.runtime/heap_live_bytes", each(1e7)),
            ("go.runtime/heap_bytes", each(2e7)),
        ],
        &[
            ("go.runtime/alloc_bytes", [Some(1.2e6), Some(1.2e6), None, Some(1.2e6)]),
            ("go.runtime/alloc_objects", each(9_000.0)),
            ("go.runtime/gc_cycles", [Some(30.0), Some(32.0), Some(30.0), Some(32.0)]),
            ("go.runtime/gc_pause_ns", each(4e6)),
            // A cycle ended in two of the four seconds.
            ("go.runtime/gc_cpu_ns", [Some(1e8), None, Some(1e8), None]),
            ("target.process/cpu_ns", each(5e8)),
        ],
    )
}

/// One cell whose trials have these throughputs and all the same counters.
fn cell(signals: Option<Signals>, throughputs: &[f64]) -> (RunFile, Vec<TrialData>) {
    let file = run(&["go/gin"], &[closed(64)], throughputs.len() as u32);
    let one = |(id, throughput): (u32, &f64)| {
        let made = trial(&file, id, &[(Metric::Throughput, *throughput)]);
        TrialData { intervals: intervals(), signals: signals.clone(), ..made }
    };
    let data = (1..).zip(throughputs).map(one).collect();
    (file, data)
}

fn view(signals: Option<Signals>) -> Option<MemoryView> {
    let (file, data) = cell(signals, &[1e3]);
    analyze(&file, &data).cells.remove(0).memory_view
}

fn values(view: &MemoryView, kind: MemoryKind) -> Vec<Option<f64>> {
    view.series
        .iter()
        .find(|series| series.kind == kind)
        .map(|series| series.values.clone())
        .unwrap_or_default()
}

#[test]
fn a_go_target_has_every_panel_and_its_figures() {
    let view = view(Some(go())).unwrap();
    assert_eq!((view.trial, view.begin_ns, view.ends_ns.len()), (1, 2 * SECOND_NS, 4));
    let kinds: Vec<MemoryKind> = view.series.iter().map(|series| series.kind).collect();
    use MemoryKind::{AllocRate, Collections, Heap, P99, Pauses, Resident};
    assert_eq!(kinds, [Resident, Heap, AllocRate, Collections, Pauses, P99]);
    assert_eq!(view.series[1].from, "go.runtime/heap_live_bytes");
    assert_eq!(values(&view, Resident), [Some(4e7), Some(5e7), None, Some(6e7)]);
    assert_eq!(values(&view, AllocRate), [Some(1.2e6), Some(1.2e6), None, Some(1.2e6)]);
    assert_eq!(values(&view, Pauses), [Some(4e6); 4]);
    // p99 of the samples' intervals only; the one that has none is a gap.
    assert_eq!(values(&view, P99), [Some(2_000_002.0), Some(2_000_003.0), None, Some(2_000_005.0)]);
    // The second that was not read has neither bytes nor answers in the sum: 3.6e6 over 3,000.
    assert_eq!(view.alloc_per_request_bytes, Some(1_200.0));
    assert_eq!(view.alloc_per_request_objects, Some(9.0));
    assert_eq!(view.collections_per_s, Some(31.0));
    assert!((view.pause_share.unwrap() - 0.004).abs() < 1e-12);
    assert_eq!(view.gc_cpu_share, Some(0.1));
}

#[test]
fn other_runtimes_tell_what_they_can_and_the_rest_is_absent() {
    let node = signals(
        &[("node.runtime/heap_used_bytes", [Some(3e7); 4])],
        &[("node.runtime/gc_cycles", [Some(2.0); 4]), ("node.runtime/gc_pause_ns", [Some(1e7); 4])],
    );
    let view = view(Some(node)).unwrap();
    let kinds: Vec<MemoryKind> = view.series.iter().map(|series| series.kind).collect();
    assert_eq!(kinds, [MemoryKind::Heap, MemoryKind::Collections, MemoryKind::Pauses, MemoryKind::P99]);
    assert_eq!((view.collections_per_s, view.pause_share), (Some(2.0), Some(0.01)));
    assert_eq!(
        (view.alloc_per_request_bytes, view.alloc_per_request_objects, view.gc_cpu_share),
        (None, None, None)
    );
}

#[test]
fn what_was_not_read_is_absent_and_never_zero() {
    assert_eq!(view(None), None);
    assert_eq!(view(Some(Signals::default())), None);
    // Counters of other things, and of memory without one value.
    let other = signals(&[("host.load/runnable", [Some(1.0); 4])], &[("go.runtime/alloc_bytes", [None; 4])]);
    assert_eq!(view(Some(other)), None);
    // Signals of another length, of other intervals, and values that are none.
    let odd = Signals {
        ends_ns: vec![3 * SECOND_NS, 99 * SECOND_NS],
        ..signals(
            &[("target.process/rss_bytes", [Some(f64::NAN), Some(7.0), Some(8.0), None])],
            &[("jvm.runtime/alloc_bytes", [Some(f64::INFINITY), Some(5.0), None, None])],
        )
    };
    let found = view(Some(odd)).unwrap();
    assert_eq!(values(&found, MemoryKind::Resident), [None, Some(7.0)]);
    assert_eq!(values(&found, MemoryKind::AllocRate), [] as [Option<f64>; 0]);
    assert_eq!(found.alloc_per_request_bytes, None);
}

#[test]
fn the_trial_is_the_valid_one_with_the_middle_throughput() {
    let (file, mut data) = cell(Some(go()), &[900.0, 1_300.0, 1_000.0, 1_100.0, 1_200.0]);
    let trial_of =
        |data: &[TrialData]| analyze(&file, data).cells[0].memory_view.as_ref().map(|view| view.trial);
    assert_eq!(trial_of(&data), Some(4));
    // Void ones, and those without counters, do not count.
    data[3].file.outcome = TrialOutcome::Void;
    data[1].signals = None;
    assert_eq!(trial_of(&data), Some(3));
    data.reverse();
    assert_eq!(trial_of(&data), Some(3), "the order of trials does not matter");
    data.iter_mut().for_each(|trial| trial.file.outcome = TrialOutcome::Void);
    assert_eq!(trial_of(&data), None);
}

#[test]
fn long_trials_are_thinned() {
    let (file, mut data) = cell(None, &[1e3]);
    data[0].intervals =
        (0..2_500).map(|at| IntervalLine { phase: Some(Phase::Sample), ..second(at, 10) }).collect();
    let rss = (0..2_500).map(|at| Some(f64::from(at))).collect();
    data[0].signals = Some(Signals {
        ends_ns: (1..=2_500).map(|at| at * SECOND_NS).collect(),
        gauges: [("target.process/rss_bytes".to_owned(), rss)].into(),
        ..Signals::default()
    });
    let view = analyze(&file, &data).cells.remove(0).memory_view.unwrap();
    assert_eq!((view.ends_ns.len(), view.ends_ns[1]), (834, 4 * SECOND_NS));
    assert_eq!(values(&view, MemoryKind::Resident)[..2], [Some(0.0), Some(3.0)]);
}
