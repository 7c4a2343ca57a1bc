//! Causes that are seen from outside alone: planted in what clients measure, and held against decoys that look alike.

use crate::synth::{SECOND_NS, closed, open, run, trial};
use analyze::{TrialData, analyze};
use hdrhistogram::Histogram;
use schema::finding::{Association, CellWhy, Finding, FindingCause as Cause, FindingSeverity as Severity};
use schema::metric::Metric;
use schema::plan::LoadPlan;
use schema::run::RunFile;
use schema::signals::Signals;
use schema::trial::{IntervalLine, Phase, StallSpan};

const SECONDS: usize = 4;
const BLOCKS: u32 = 3;
const MS: f64 = 1e6;

/// A target as its clients and its CPU show it.
#[derive(Clone, Copy)]
struct Target {
    /// Requests that are served at a time.
    places: f64,
    service_ns: f64,
    /// Busy share of its CPU; none where it cannot be read.
    cpu: Option<f64>,
    think_ns: f64,
}

const SLEEPS: Target =
    Target { places: f64::INFINITY, service_ns: 10.0 * MS, cpu: Some(0.03), think_ns: 0.0 };

impl Target {
    /// Throughput per second and mean response time: the asymptotic bounds themselves.
    fn at(&self, connections: u32) -> (f64, f64) {
        let cycle_ns = self.service_ns + self.think_ns;
        let throughput = (f64::from(connections) / cycle_ns).min(self.places / self.service_ns);
        (throughput * 1e9, f64::from(connections) / throughput - self.think_ns)
    }
}

fn times(ns: f64) -> Histogram<u64> {
    let mut times = Histogram::new_with_bounds(1, 3_600 * SECOND_NS, 3).unwrap();
    times.record_n(ns as u64, 1_000).unwrap();
    times
}

fn signals(cpu: f64, throughput: f64, more: &[(&str, f64)]) -> Signals {
    let series = |value: f64| vec![Some(value); SECONDS];
    let gauge = |key: &str, value: f64| (key.to_owned(), series(value));
    let mut deltas: std::collections::BTreeMap<_, _> =
        [gauge("target.process/cpu_ns", cpu * 1e9), gauge("target.process/run_delay_ns", 1e6)].into();
    deltas.extend(more.iter().map(|(key, per_request)| gauge(key, per_request * throughput)));
    Signals {
        ends_ns: (1..=SECONDS as u64).map(|second| second * SECOND_NS).collect(),
        gauges: [gauge("host.stat/cpus", 4.0), gauge("target.process/busiest_thread_percent", cpu * 100.0)]
            .into(),
        deltas,
        ..Signals::default()
    }
}

fn seconds(stalls: &[StallSpan]) -> Vec<IntervalLine> {
    (0..SECONDS as u64)
        .map(|at| {
            let (start_ns, end_ns) = (at * SECOND_NS, (at + 1) * SECOND_NS);
            let ends_here = |stall: &&StallSpan| (start_ns + 1..=end_ns).contains(&stall.end_ns);
            IntervalLine {
                start_ns,
                end_ns,
                phase: Some(Phase::Sample),
                stalls: stalls.iter().filter(ends_here).copied().collect(),
                ..IntervalLine::default()
            }
        })
        .collect()
}

/// A run of a target under these loads.
fn made(
    target: Target,
    loads: &[LoadPlan],
    more: &[(&str, f64)],
    stalls: &[StallSpan],
) -> (RunFile, Vec<TrialData>) {
    let mut run = run(&["a"], loads, BLOCKS);
    run.plan.pin.target = Some(vec![1]);
    let trials = run.plan.order.iter().map(|planned| {
        let cell = run.plan.cells.iter().find(|cell| cell.id == planned.cell).unwrap();
        let (throughput, response_ns) = target.at(cell.load.connections);
        let mut data =
            trial(&run, planned.id, &[(Metric::Throughput, throughput), (Metric::Mean, response_ns)]);
        data.response = Some(times(response_ns));
        data.intervals = seconds(stalls);
        data.signals = target.cpu.map(|cpu| signals(cpu, throughput, more));
        data
    });
    let trials = trials.collect();
    (run, trials)
}

fn why(target: Target, connections: &[u32]) -> Vec<CellWhy> {
    let loads: Vec<LoadPlan> = connections.iter().map(|count| closed(*count)).collect();
    let (run, trials) = made(target, &loads, &[], &[]);
    analyze(&run, &trials).why
}

fn of(cell: &CellWhy, cause: Cause) -> Option<&Finding> {
    cell.findings.iter().find(|finding| finding.cause == cause)
}

fn high(cell: &CellWhy) -> Vec<Cause> {
    let high = cell.findings.iter().filter(|finding| finding.severity == Severity::High);
    high.map(|finding| finding.cause).collect()
}

#[test]
fn a_pool_is_told_by_how_many_it_serves_at_a_time() {
    let cells = why(Target { places: 4.0, ..SLEEPS }, &[1, 4, 16, 32]);
    assert!(cells[..2].iter().all(|cell| high(cell).is_empty()), "it still rises up to four: {cells:#?}");
    for cell in &cells[2..] {
        let first = &cell.findings[0];
        assert_eq!((first.cause, first.severity), (Cause::ConcurrencyLimit, Severity::High), "{cell:#?}");
        assert!(first.text.contains("about 4 requests at a time"), "{}", first.text);
        assert!(first.remedy.as_ref().unwrap().contains("not one lock"), "{:?}", first.remedy);
        let Some(Association::Accounts { share }) = first.association else { panic!("{first:?}") };
        assert!(share >= 0.74, "{share}");
    }
}

#[test]
fn what_serves_one_at_a_time_is_told_as_that() {
    let cells = why(Target { places: 1.0, service_ns: 2.0 * MS, ..SLEEPS }, &[1, 4, 16]);
    for cell in &cells[1..] {
        let first = &cell.findings[0];
        assert_eq!((first.cause, first.severity), (Cause::ConcurrencyLimit, Severity::High), "{cell:#?}");
        assert!(first.text.contains("one request at a time"), "{}", first.text);
        assert!(first.remedy.as_ref().unwrap().contains("a lock"), "{:?}", first.remedy);
    }
}

#[test]
fn no_number_is_told_that_was_not_seen() {
    let cells = why(Target { places: 4.0, ..SLEEPS }, &[8, 32]);
    let found = of(&cells[1], Cause::ConcurrencyLimit).expect("flat from the first level on");
    assert!(found.text.contains("8 requests or fewer at a time"), "{}", found.text);
    let remote = why(Target { places: 4.0, cpu: None, ..SLEEPS }, &[1, 4, 16]);
    let found = of(&remote[2], Cause::ConcurrencyLimit).expect("throughput stops all the same");
    assert_eq!(found.severity, Severity::Medium, "without its CPU it may be that");
    assert!(found.text.contains("its CPU was not read"), "{}", found.text);
    assert!(found.remedy.as_ref().unwrap().contains("CPUs"), "{:?}", found.remedy);
}

#[test]
fn what_looks_like_a_limit_and_is_none_is_not_told() {
    let decoys: [(&str, Target, &[u32]); 6] = [
        ("a service that takes 30 ms", Target { service_ns: 30.0 * MS, ..SLEEPS }, &[1, 4, 16, 64]),
        ("a CPU that is used up", Target { places: 4.0, cpu: Some(0.95), ..SLEEPS }, &[1, 4, 16, 64]),
        ("a CPU that is mostly used", Target { places: 4.0, cpu: Some(0.75), ..SLEEPS }, &[1, 4, 16, 64]),
        ("users who think", Target { service_ns: MS, think_ns: 100.0 * MS, ..SLEEPS }, &[1, 4, 16, 64]),
        ("levels too far apart", Target { places: 4.0, ..SLEEPS }, &[1, 64]),
        ("one level", Target { places: 4.0, ..SLEEPS }, &[32]),
    ];
    for (name, target, connections) in decoys {
        for cell in why(target, connections) {
            assert_eq!(of(&cell, Cause::ConcurrencyLimit), None, "{name}");
            assert!(high(&cell).iter().all(|cause| *cause == Cause::CpuSaturated), "{name}: {cell:#?}");
        }
    }
    // A generator that is at its end has no more throughput to give.
    let loads = [closed(1), closed(4), closed(16)];
    let (run, mut trials) = made(Target { places: 4.0, ..SLEEPS }, &loads, &[], &[]);
    for data in &mut trials {
        data.file.load.as_mut().unwrap().generator.busy_share = 0.9;
    }
    let cells = analyze(&run, &trials).why;
    assert!(cells.iter().all(|cell| of(cell, Cause::ConcurrencyLimit).is_none()), "{cells:#?}");
    // Open loads have rates, and no levels.
    let (run, trials) = made(SLEEPS, &[open(4, 100.0), open(16, 100.0)], &[], &[]);
    let cells = analyze(&run, &trials).why;
    assert!(cells.iter().all(|cell| cell.findings.is_empty()), "{cells:#?}");
}

#[test]
fn what_was_read_inside_explains_what_is_seen_from_outside() {
    let target = Target { places: 4.0, ..SLEEPS };
    let loads = [closed(1), closed(4), closed(32)];
    // 70 of 80 ms are waiting, and the pool says so.
    let (run, trials) = made(target, &loads, &[("go.pool/pool_wait_ns", 70.0 * MS)], &[]);
    let cell = &analyze(&run, &trials).why[2];
    assert_eq!(cell.findings[0].cause, Cause::PoolWait, "{cell:#?}");
    assert_eq!(of(cell, Cause::ConcurrencyLimit).unwrap().follows, Some(Cause::PoolWait));
    assert_eq!(high(cell), [Cause::PoolWait]);
}

/// 120 ms from `offset_ms` of each second on.
fn each_second(offset_ms: u64, in_flight: u64) -> Vec<StallSpan> {
    (0..SECONDS as u64)
        .map(|second| {
            let start_ns = second * SECOND_NS + offset_ms * 1_000_000;
            StallSpan { start_ns, end_ns: start_ns + 120_000_000, in_flight }
        })
        .collect()
}

fn stalled(target: Target, connections: u32, stalls: &[StallSpan]) -> CellWhy {
    let (run, trials) = made(target, &[closed(connections)], &[], stalls);
    analyze(&run, &trials).why.remove(0)
}

#[test]
fn pauses_of_the_whole_target_are_told_with_their_period() {
    let cell = stalled(SLEEPS, 16, &each_second(300, 16));
    let first = &cell.findings[0];
    assert_eq!((first.cause, first.severity), (Cause::Stalls, Severity::High), "{cell:#?}");
    for said in ["12 times in 12 s, one every 1 s", "for 120 ms while 16 were in flight", "12 % of the time"]
    {
        assert!(first.text.contains(said), "no `{said}` in {}", first.text);
    }
    assert!(
        first.remedy.as_ref().unwrap().contains("a pool that is too small makes no stalls"),
        "{:?}",
        first.remedy
    );
    // Without a period none is told.
    let mut irregular = each_second(300, 16);
    irregular[1].start_ns += 200_000_000;
    irregular[1].end_ns += 200_000_000;
    irregular[2].start_ns -= 250_000_000;
    irregular[2].end_ns -= 250_000_000;
    let cell = stalled(SLEEPS, 16, &irregular);
    assert!(cell.findings[0].text.contains("no regular distance"), "{}", cell.findings[0].text);
}

#[test]
fn a_stall_that_an_interval_cuts_is_one() {
    let halves: Vec<StallSpan> = (1..SECONDS as u64)
        .flat_map(|second| {
            let at = second * SECOND_NS;
            let half = |start_ns, end_ns| StallSpan { start_ns, end_ns, in_flight: 16 };
            [half(at - 50_000_000, at), half(at, at + 70_000_000)]
        })
        .collect();
    let cell = stalled(SLEEPS, 16, &halves);
    let text = &of(&cell, Cause::Stalls).expect("three of 120 ms").text;
    assert!(text.contains("9 times in 12 s, one every 1 s") && text.contains("for 120 ms"), "{text}");
}

#[test]
fn gaps_that_are_no_stalls_are_not_told() {
    let slow = Target { service_ns: 100.0 * MS, ..SLEEPS };
    let decoys: [(&str, Target, u32, Vec<StallSpan>); 3] = [
        ("requests of 100 ms that were begun together", slow, 64, each_second(0, 64)),
        ("few answers that are due", Target { service_ns: 40.0 * MS, ..SLEEPS }, 4, each_second(300, 4)),
        ("a single one in each trial", SLEEPS, 16, each_second(300, 16)[..1].to_vec()),
    ];
    for (name, target, connections, stalls) in decoys {
        let cell = stalled(target, connections, &stalls);
        assert_eq!(of(&cell, Cause::Stalls), None, "{name}");
        assert_eq!(high(&cell), [], "{name}");
    }
    // The generator that had no CPU heard of no answer.
    let (run, mut trials) = made(SLEEPS, &[closed(16)], &[], &each_second(300, 16));
    for data in &mut trials {
        data.file.load.as_mut().unwrap().generator.put_off_share = 0.1;
    }
    let cell = &analyze(&run, &trials).why[0];
    assert_eq!(of(cell, Cause::Stalls), None, "{cell:#?}");
    assert!(
        cell.ruled_out.iter().any(|out| out.cause == Cause::Stalls && out.text.contains("generator itself"))
    );
}

#[test]
fn pauses_that_the_runtime_reports_explain_the_stalls() {
    let (run, trials) =
        made(SLEEPS, &[closed(16)], &[("go.runtime/gc_pause_ns", 0.12e9 / 1_600.0)], &each_second(300, 16));
    let cell = &analyze(&run, &trials).why[0];
    assert_eq!(cell.findings[0].cause, Cause::GcPauses, "{cell:#?}");
    assert_eq!(of(cell, Cause::Stalls).unwrap().follows, Some(Cause::GcPauses));
}

#[test]
fn an_idle_cpu_under_a_closed_load_is_the_answer_where_nothing_else_is() {
    let cell = &why(SLEEPS, &[16])[0];
    let found = of(cell, Cause::WaitsInside).expect("they wait");
    assert_eq!(found.severity, Severity::Low, "sleeping is no fault");
    assert!(cell.answer.contains("seen from outside, of the 10 ms that a request took"), "{}", cell.answer);
    assert!(found.remedy.as_ref().unwrap().contains("connections = [1, 4, 16]"), "{:?}", found.remedy);
    let decoys = [
        ("a busy CPU", Target { cpu: Some(0.5), ..SLEEPS }),
        ("requests of 300 µs, which are mostly the way", Target { service_ns: 0.3 * MS, ..SLEEPS }),
        ("users who think", Target { service_ns: 2.0 * MS, think_ns: 100.0 * MS, ..SLEEPS }),
        ("a CPU that was not read", Target { cpu: None, ..SLEEPS }),
    ];
    for (name, target) in decoys {
        assert_eq!(of(&why(target, &[16])[0], Cause::WaitsInside), None, "{name}");
    }
}

#[test]
fn an_endpoint_that_answered_something_else_is_told_where_its_answer_is_missed() {
    let error = "http://127.0.0.1:80/metrics answered Prometheus' text format, not the agreed JSON";
    let (run, mut trials) = made(SLEEPS, &[closed(16)], &[], &[]);
    for data in &mut trials {
        data.file.counter_errors.insert("go.runtime".to_owned(), error.into());
        data.file.counter_errors.insert("host.disk".to_owned(), "no disk".into());
    }
    let cell = &analyze(&run, &trials).why[0];
    let text = |cause: Cause| &cell.unread.iter().find(|unread| unread.cause == cause).unwrap().text;
    assert!(text(Cause::PoolWait).contains(error), "{}", text(Cause::PoolWait));
    assert!(!text(Cause::Steal).contains("answered"), "the host is no endpoint: {}", text(Cause::Steal));
}

#[test]
fn a_server_that_prony_did_not_start_has_all_cpus_of_the_host() {
    // It uses 1.9 CPUs of four; those of the plan are for targets that are started.
    let target = Target { cpu: Some(1.9), ..SLEEPS };
    let (mut run, mut trials) = made(target, &[closed(16)], &[], &[]);
    for data in &mut trials {
        let gauges = &mut data.signals.as_mut().unwrap().gauges;
        gauges.insert("target.process/busiest_thread_percent".to_owned(), vec![Some(50.0); SECONDS]);
    }
    let found = analyze(&run, &trials).why.remove(0);
    assert_eq!(high(&found), [Cause::CpuSaturated], "of a CPU set of one");
    run.plan.targets[0].source =
        schema::plan::TargetSource::Url { url: "http://127.0.0.1:80".to_owned(), tls: None };
    let found = analyze(&run, &trials).why.remove(0);
    assert_eq!(high(&found), [], "{found:#?}");
}

const PEER: &str = "10.0.0.7:80";

/// A target that asks another service so often for each request, by the number of connections.
fn asks(asked: impl Fn(u32) -> f64) -> Vec<CellWhy> {
    let (run, mut trials) = made(SLEEPS, &[closed(1), closed(16)], &[], &[]);
    for trial in &mut trials {
        let cell = run.plan.cells.iter().find(|cell| cell.id == trial.file.cell).unwrap();
        let requests = &trial.file.load.as_ref().unwrap().requests;
        let ended = (requests.completed + requests.failed) as f64;
        let each_second = asked(cell.load.connections) * ended / SECONDS as f64;
        let waiting = f64::from(cell.load.connections) / 2.0;
        let signals = trial.signals.as_mut().unwrap();
        signals.deltas.insert(format!("target.outgoing/sent@{PEER}"), vec![Some(each_second); SECONDS]);
        for key in ["waiting", "active"] {
            signals.gauges.insert(format!("target.outgoing/{key}@{PEER}"), vec![Some(waiting); SECONDS]);
        }
    }
    analyze(&run, &trials).why
}

#[test]
fn questions_that_come_with_the_load_are_repeats() {
    let cells = asks(|connections| if connections == 1 { 1.0 } else { 4.0 });
    let first = &cells[1].findings[0];
    assert_eq!((first.cause, first.severity), (Cause::RetryStorm, Severity::High), "{:#?}", cells[1]);
    for said in ["asked 10.0.0.7:80 4 times with 16 connections and 1 times with 1", "75 % of the questions"]
    {
        assert!(first.text.contains(said), "no `{said}` in {}", first.text);
    }
    assert!(of(&cells[0], Cause::RetryStorm).is_none(), "the level that is compared with");
    let follows = of(&cells[1], Cause::DownstreamWait).unwrap().follows;
    assert_eq!(follows, Some(Cause::RetryStorm));
}

#[test]
fn the_same_questions_at_every_level_are_none() {
    let cells = asks(|_| 51.0);
    assert!(cells.iter().all(|cell| of(cell, Cause::RetryStorm).is_none()), "{cells:#?}");
    assert_eq!(cells[1].findings[0].cause, Cause::DownstreamCalls, "{:#?}", cells[1]);
}
