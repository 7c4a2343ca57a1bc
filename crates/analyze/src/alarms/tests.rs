//! Alarms over seconds that are made up: when they fire, when they end, and what is no value.

use super::*;
use schema::counter_metric::{ClaimMetric, CounterMetric};
use schema::load::ErrorClass;
use schema::metric::Metric;
use schema::plan::ClaimComparison::{LessThan, MoreThan};

const S: u64 = 1_000_000_000;
const MS: u64 = 1_000_000;

fn alarm(metric: impl Into<ClaimMetric>, bound: f64, for_s: u64) -> AlarmPlan {
    AlarmPlan {
        text: "it".to_owned(),
        when: "it".to_owned(),
        metric: metric.into(),
        comparison: MoreThan,
        bound,
        for_ns: for_s * S,
        target: None,
        abort: false,
    }
}

/// A second of the samples with so many answers that took so long.
fn second(at: u64, answers: u64) -> IntervalLine {
    IntervalLine {
        start_ns: at * S,
        end_ns: (at + 1) * S,
        phase: Some(Phase::Sample),
        completed: answers,
        in_flight: 4,
        ..IntervalLine::default()
    }
}

fn reading(t_s: u64, source: &str, gauges: &[(&str, f64)], deltas: &[(&str, f64)]) -> CounterLine {
    let owned = |all: &[(&str, f64)]| all.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
    CounterLine {
        t_ns: t_s * S,
        source: source.to_owned(),
        gauges: owned(gauges),
        deltas: owned(deltas),
        ..CounterLine::default()
    }
}

/// Seconds of what happened, as `(second, fires)`.
fn turns(board: &mut AlarmBoard, times_ms: &[u64]) -> Vec<(u64, bool)> {
    let mut found = Vec::new();
    for (at, time_ms) in times_ms.iter().enumerate() {
        let changes = board.interval(&second(at as u64, 500), &[(time_ms * MS, 500)]);
        found.extend(changes.iter().map(|change| (at as u64, change.fires)));
    }
    found
}

#[test]
fn an_alarm_fires_when_its_condition_held_for_its_time_and_ends_with_the_first_good_value() {
    let mut board = AlarmBoard::new(&[alarm(Metric::P99, 200e6, 3)], 1.0);
    let times_ms = [100, 300, 100, 300, 300, 300, 300, 100, 300];
    assert_eq!(turns(&mut board, &times_ms), [(5, true), (7, false)]);
    assert_eq!(board.end(), [], "it had only begun to hold again");
    let mut board = AlarmBoard::new(&[alarm(Metric::P99, 200e6, 0)], 1.0);
    let change = board.interval(&second(0, 500), &[(100 * MS, 490), (250 * MS, 10)]).remove(0);
    assert_eq!((change.fires, change.since_ns, change.at_ns), (true, 0, S));
    assert_eq!(change.evidence, "250 ms (> 200 ms)");
    let end = board.end().remove(0);
    assert!(!end.fires && end.value == 250e6);
    assert_eq!(board.end(), [], "an alarm ends once");
}

#[test]
fn a_percentile_needs_enough_answers_and_takes_as_many_seconds_as_that_needs() {
    // Five of a hundred are slow: the 99th percentile is slow, but a hundred answers do not say so.
    let slow = [(100 * MS, 95), (300 * MS, 5)];
    let mut board = AlarmBoard::new(&[alarm(Metric::P99, 200e6, 0)], 1.0);
    let fired: Vec<usize> =
        (0..6).map(|at| board.interval(&second(at, 100), &slow).iter().filter(|c| c.fires).count()).collect();
    assert_eq!(fired, [0, 0, 0, 1, 0, 0], "368 answers are there in the fourth second");
    assert_eq!(board.unread().count(), 0);
    // Six a minute are never enough.
    let mut board = AlarmBoard::new(&[alarm(Metric::P99, 200e6, 0)], 1.0);
    for at in 0..600 {
        let answers = u64::from(at % 10 == 0);
        let line = IntervalLine { in_flight: 0, ..second(at, answers) };
        assert_eq!(board.interval(&line, &[(300 * MS, answers)]), []);
    }
    assert_eq!(board.unread().collect::<Vec<_>>(), [0]);
    assert_eq!(board.recent_intervals(), 60, "of a minute, whatever came before");
}

#[test]
fn a_target_that_stands_still_is_slow_and_a_load_that_rests_is_not() {
    for (in_flight, wanted) in [(4, Some(3)), (0, None)] {
        let mut board = AlarmBoard::new(&[alarm(Metric::P99, 1.5e9, 0)], 1.0);
        board.interval(&second(0, 500), &[(MS, 500)]);
        let silent = |at| IntervalLine { in_flight, ..second(at, 0) };
        let fired = (1..6).find(|at| !board.interval(&silent(*at), &[]).is_empty());
        assert_eq!(fired, wanted, "in flight since the end of second 1, more than 1.5 s at that of second 3");
    }
}

#[test]
fn warm_up_and_drain_are_not_looked_at() {
    let mut board = AlarmBoard::new(&[alarm(Metric::P99, 200e6, 0), alarm(Metric::Memory, 1e6, 0)], 1.0);
    for phase in [Phase::Warmup, Phase::Drain] {
        let line = IntervalLine { phase: Some(phase), ..second(0, 500) };
        assert_eq!(board.interval(&line, &[(900 * MS, 500)]), []);
        assert_eq!(board.counters(&reading(1, "target.process", &[("rss_bytes", 2e6)], &[])), []);
    }
}

#[test]
fn errors_rates_and_counters_are_watched() {
    let counter = |name: &str, per: Option<&str>| {
        ClaimMetric::Counter(CounterMetric {
            counter: name.to_owned(),
            per: per.map(str::to_owned),
            higher_is_better: false,
        })
    };
    let few = AlarmPlan { comparison: LessThan, ..alarm(Metric::Throughput, 400.0, 0) };
    let plans = [
        alarm(Metric::ErrorRate, 0.1, 0),
        few,
        alarm(Metric::Cpu, 0.9, 0),
        alarm(Metric::Memory, 1e6, 0),
        alarm(Metric::GcPauseShare, 0.1, 0),
        alarm(Metric::GcPauseMax, 5e6, 0),
        alarm(counter("go.runtime/goroutines", None), 100.0, 0),
        alarm(counter("target.process/voluntary_switches", Some("second")), 1e3, 0),
        alarm(counter("go.runtime/never", None), 1.0, 0),
    ];
    let mut board = AlarmBoard::new(&plans, 2.0);
    let fired = |changes: Vec<AlarmChange>| changes.into_iter().map(|c| c.place).collect::<Vec<_>>();
    let failed = [(ErrorClass::ALL[0], 100)].into();
    let line = IntervalLine { failed, ..second(0, 300) };
    assert_eq!(fired(board.interval(&line, &[(MS, 300)])), [0, 1]);
    let process = |t_s, cpu_s: f64| {
        reading(
            t_s,
            "target.process",
            &[("rss_bytes", 2e6)],
            &[("cpu_ns", cpu_s * 1e9), ("voluntary_switches", 3e3)],
        )
    };
    // The first reading has no rate, but levels.
    assert_eq!(fired(board.counters(&process(1, 3.9))), [3]);
    assert_eq!(fired(board.counters(&process(3, 3.9))), [2, 7], "3.9 s of CPU in 2 s on 2 CPUs");
    let runtime = |t_s, pause_ns: f64, max_ns: f64| {
        reading(
            t_s,
            "go.runtime",
            &[("goroutines", 200.0), ("gc_pause_max_ns", max_ns)],
            &[("gc_pause_ns", pause_ns)],
        )
    };
    assert_eq!(fired(board.counters(&runtime(1, 1e9, 1e6))), [6]);
    assert_eq!(fired(board.counters(&runtime(2, 2e8, 9e6))), [4, 5]);
    // A source of which nothing was read any more has no value of now.
    assert_eq!(board.counters(&reading(3, "go.runtime", &[], &[])), []);
    assert_eq!(board.unread().collect::<Vec<_>>(), [8]);
    let ends: Vec<usize> = board.end().into_iter().map(|change| change.place).collect();
    assert_eq!(ends, [0, 1, 2, 3, 4, 5, 6, 7]);
}

#[test]
fn values_that_are_far_apart_are_no_unbroken_time() {
    let mut board = AlarmBoard::new(&[alarm(Metric::Memory, 1e6, 30)], 1.0);
    board.interval(&second(0, 1), &[]);
    let mut read = |t_s| board.counters(&reading(t_s, "target.process", &[("rss_bytes", 2e6)], &[])).len();
    assert_eq!((read(0), read(100)), (0, 0), "what was in between nobody knows");
    assert_eq!((read(110), read(130)), (0, 1));
}
