//! Metrics that only claims ask for, each from planted intervals, counters and events.

use crate::synth::{SECOND_NS, claim_of, closed, run, second, trial};
use analyze::{TrialData, analyze};
use schema::event::{Around, EventEffect, EventRecord};
use schema::limits::{Confinement, IsolatedGenerator};
use schema::load::{ErrorClass, LatencySummary, MessageSummary, StreamLength};
use schema::metric::Metric;
use schema::plan::{ClaimComparison, ClaimTest};
use schema::signals::Signals;
use schema::trial::Phase;
use std::collections::BTreeMap;

/// A ledger in which every value is another.
fn messages() -> MessageSummary {
    let times =
        |p50: u64, p99: u64| LatencySummary { p50: Some(p50), p99: Some(p99), ..LatencySummary::default() };
    MessageSummary {
        scheduled: 1_000,
        completed: 970,
        failed: 20,
        unanswered: 5,
        censored: 10,
        received: 980,
        received_per_s: 490.0,
        completed_per_s: 480.0,
        per_stream: Some(StreamLength { streams: 40, mean: 24.25, min: 20, p50: 24, max: 30 }),
        response: times(3_000_000, 9_000_000),
        first_message: times(4_000_000, 11_000_000),
        gap: times(1_000_000, 7_000_000),
        ..MessageSummary::default()
    }
}

/// Two seconds of samples with everything that the metrics read.
pub(crate) fn planted(trial: &mut TrialData) {
    trial.intervals = (0..2)
        .map(|at| {
            let mut line = second(at, 900);
            line.phase = Some(Phase::Sample);
            line.failed = BTreeMap::from([(ErrorClass::Refused, 100)]);
            line.connects = 250;
            line
        })
        .collect();
    let series = |values: [f64; 2]| values.into_iter().map(Some).collect::<Vec<_>>();
    trial.signals = Some(Signals {
        ends_ns: vec![SECOND_NS, 2 * SECOND_NS],
        gauges: BTreeMap::from([
            ("go.runtime/gc_pause_p99_ns".into(), series([1e6, 3e6])),
            ("go.runtime/gc_pause_max_ns".into(), series([2e6, 4e6])),
            ("target.connections/rtt_p50_ns".into(), series([5e5, 7e5])),
            ("go.runtime/total_bytes".into(), series([20e6, 25e6])),
            ("go.runtime/released_bytes".into(), series([2e6, 9e6])),
            ("go.runtime/heap_bytes".into(), series([9e6, 1e6])),
        ]),
        deltas: BTreeMap::from([
            ("go.runtime/gc_cycles".into(), series([10.0, 14.0])),
            ("go.runtime/gc_pause_ns".into(), series([1e7, 3e7])),
            ("go.runtime/guarded_calls".into(), series([30.0, 10.0])),
            ("go.runtime/fallbacks".into(), series([2.0, 8.0])),
            ("tcp.snmp/RetransSegs".into(), series([1.0, 3.0])),
            ("tcp.snmp/OutSegs".into(), series([100.0, 300.0])),
            ("tcp.snmp/ActiveOpens".into(), series([60.0, 40.0])),
            ("tcp.netstat/TWRecycled".into(), series([50.0, 37.0])),
        ]),
        ..Signals::default()
    });
    let load = trial.file.load.as_mut().expect("it has a load");
    load.window.duration_ns = 2 * SECOND_NS;
    load.status = BTreeMap::from([(200, 1_800)]);
    load.errors = BTreeMap::from([(ErrorClass::Refused, 200)]);
    load.bytes.read = 360_000;
    load.bytes.written = 180_000;
    load.latency_ns.response.max = Some(80_000_000);
    load.messages = Some(messages());
    trial.file.target.cpu_s = Some(1.5);
    let generator = IsolatedGenerator {
        address: [10, 64, 0, 1].into(),
        target_end: [10, 64, 0, 2].into(),
        namespace: "/proc/1/fd/3".into(),
        sysctls: BTreeMap::new(),
    };
    trial.file.target.confinement =
        Some(Confinement { generator: Some(generator), ..Confinement::default() });
    trial.file.events = vec![EventRecord {
        name: "reload".into(),
        began_ns: 0,
        ended_ns: 1,
        unavailable_ns: Some(40_000_000),
        still_down: false,
        error: None,
        effect: Some(EventEffect {
            before: Around::default(),
            worst: Around::default(),
            lost: 7,
            recovered_ns: Some(0),
        }),
    }];
}

fn value(metric: Metric, spoil: fn(&mut TrialData)) -> Option<f64> {
    let mut file = run(&["a"], &[closed(4)], 5);
    file.plan.pin.target = Some(vec![1]);
    let test = ClaimTest::Threshold { cell: "c1".into(), comparison: ClaimComparison::AtLeast, bound: 0.0 };
    file.plan.claims = vec![claim_of(metric, test)];
    let trials: Vec<TrialData> = (1..=5)
        .map(|id| {
            let mut one = trial(&file, id, &[]);
            planted(&mut one);
            spoil(&mut one);
            one
        })
        .collect();
    analyze(&file, &trials).claims.remove(0).value
}

#[test]
fn each_metric_is_read_from_what_its_table_says() {
    for (metric, wanted) in [
        (Metric::Cpu, 0.75),
        (Metric::Max, 8e7),
        (Metric::GcCount, 24.0),
        (Metric::GcRate, 12.0),
        (Metric::GcPauseP99, 3e6),
        (Metric::GcPauseMax, 4e6),
        (Metric::GcPauseShare, 0.02),
        (Metric::MemorySlack, 0.5),
        (Metric::BytesPerRequest, 200.0),
        (Metric::ConnectionReuse, 0.75),
        (Metric::Reconnects, 250.0),
        (Metric::ConnectFailures, 200.0 / 700.0),
        (Metric::TimeWaitReuse, 0.87),
        (Metric::Retransmissions, 0.01),
        (Metric::Rtt, 6e5),
        (Metric::Downtime, 4e7),
        (Metric::RequestsLost, 7.0),
        (Metric::SentBytes, 90_000.0),
        (Metric::ReceivedBytes, 180_000.0),
        (Metric::SentPerCpu, 120_000.0),
        (Metric::ReceivedPerCpu, 240_000.0),
        (Metric::MessagesCompleted, 480.0),
        (Metric::MessagesReceived, 490.0),
        (Metric::MessageP50, 3e6),
        (Metric::MessageP99, 9e6),
        (Metric::FirstMessageP50, 4e6),
        (Metric::FirstMessageP99, 11e6),
        (Metric::MessageGapP99, 7e6),
        (Metric::StreamLength, 24.25),
    ] {
        let found = value(metric, |_| ()).unwrap_or(f64::NAN);
        assert!((found - wanted).abs() < 1e-6 * wanted, "{metric:?}: {found} instead of {wanted}");
    }
    assert_eq!(Metric::ASKED.len(), 29, "a new one needs a line above");
}

#[test]
fn ports_in_time_wait_are_not_counted_on_the_host() {
    let on_the_host = |trial: &mut TrialData| {
        trial.file.target.confinement.as_mut().expect("planted").generator = None;
    };
    assert_eq!(value(Metric::TimeWaitReuse, on_the_host), None);
}

#[test]
fn php_has_its_own_gauges() {
    let php = |trial: &mut TrialData| {
        let signals = trial.signals.as_mut().expect("planted");
        signals.gauges = BTreeMap::from([
            ("php.runtime/gc_pause_max_ns".into(), vec![None, Some(7e5)]),
            ("php.runtime/held_bytes".into(), vec![None, Some(4e6)]),
            ("php.runtime/used_bytes".into(), vec![Some(1e6), Some(3e6)]),
        ]);
        signals.deltas = BTreeMap::from([("php.runtime/gc_cycles".into(), vec![Some(3.0), None])]);
    };
    assert_eq!(value(Metric::GcPauseMax, php), Some(7e5));
    assert_eq!(value(Metric::MemorySlack, php), Some(0.25));
    assert_eq!(value(Metric::GcCount, php), Some(3.0));
}

#[test]
fn what_was_not_read_is_absent_and_never_0() {
    let blind = |trial: &mut TrialData| {
        trial.signals = None;
        trial.file.events.clear();
        trial.file.target.cpu_s = None;
        let load = trial.file.load.as_mut().expect("it has a load");
        (load.latency_ns.response.max, load.messages) = (None, None);
    };
    for metric in [
        Metric::Cpu,
        Metric::Max,
        Metric::GcCount,
        Metric::GcRate,
        Metric::GcPauseP99,
        Metric::GcPauseMax,
        Metric::MemorySlack,
        Metric::GcPauseShare,
        Metric::TimeWaitReuse,
        Metric::Retransmissions,
        Metric::Rtt,
        Metric::Downtime,
        Metric::RequestsLost,
        Metric::MessagesCompleted,
        Metric::MessagesReceived,
        Metric::MessageP99,
        Metric::FirstMessageP50,
        Metric::MessageGapP99,
        Metric::StreamLength,
    ] {
        assert_eq!(value(metric, blind), None, "{metric:?}");
    }
    // A target that never came back has no known downtime.
    assert_eq!(value(Metric::Downtime, |trial| trial.file.events[0].still_down = true), None);
}

#[test]
fn a_cell_has_the_ledger_of_its_valid_trials_and_the_times_of_its_middle_one() {
    let file = run(&["a", "b"], &[closed(4)], 4);
    let trials: Vec<TrialData> = (1..=8)
        .map(|id| {
            let mut one = trial(&file, id, &[]);
            let load = one.file.load.as_mut().expect("it has a load");
            load.window.duration_ns = 2 * SECOND_NS;
            let is_streamed = one.file.cell == "c1";
            load.messages = is_streamed.then(|| {
                let mut messages = messages();
                messages.first_message.p50 = Some(1_000 * u64::from(id));
                messages.gap.p99 = None;
                messages
            });
            one
        })
        .collect();
    let cells = analyze(&file, &trials).cells;
    assert_eq!(cells[1].messages, None, "nothing streams there");
    let of = trials.iter().filter(|one| one.file.cell == "c1").count() as u64;
    let found = cells[0].messages.expect("it streams");
    assert_eq!((found.scheduled, found.completed), (1_000 * of, 970 * of));
    assert_eq!((found.failed, found.unanswered, found.censored), (20 * of, 5 * of, 10 * of));
    assert_eq!(found.scheduled, found.completed + found.failed + found.censored);
    assert!((found.completed_per_s - 480.0).abs() < 1e-9 && (found.received_per_s - 490.0).abs() < 1e-9);
    assert!((found.per_stream.unwrap() - 24.25).abs() < 1e-9);
    let mut ids: Vec<u64> =
        trials.iter().filter(|one| one.file.cell == "c1").map(|one| one.file.id.into()).collect();
    ids.sort_unstable();
    assert_eq!(
        found.first_message_p50_ns,
        Some(1_000 * ids[(ids.len() - 1) / 2]),
        "a value that a trial had"
    );
    assert_eq!((found.response_p99_ns, found.gap_p99_ns), (Some(9_000_000), None));
}
