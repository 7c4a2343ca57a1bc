//! Findings with planted causes: each rule is held against counters in which its cause is planted alone, against the
//! same counters without it, and against none at all.

use crate::synth::{SECOND_NS, closed, run, trial};
use analyze::{TrialData, analyze};
use hdrhistogram::Histogram;
use schema::calibration::Canary;
use schema::finding::{Association, CellWhy, FindingCause as Cause, FindingSeverity as Severity};
use schema::limits::{GroupUsage, NetworkMode};
use schema::load::{ErrorClass, Gate, StreamSummary};
use schema::metric::Metric;
use schema::run::RunFile;
use schema::signals::Signals;
use schema::trial::{IntervalLine, Phase, StallSpan};
use std::collections::BTreeMap;

const SECONDS: usize = 8;
const MS: u64 = 1_000_000;

/// Counters of a target that nothing holds back: gauges, then increases per second. 10,000 answers a second.
const WELL: [(&str, f64); 33] = [
    ("host.stat/cpus", 4.0),
    ("host.cpus/cpu1_busy_percent", 40.0),
    ("host.cpus/cpu2_busy_percent", 40.0),
    ("target.process/busiest_thread_percent", 30.0),
    ("target.process/processes_busy_cv", 0.1),
    ("target.process/threads", 12.0),
    ("target.process/rss_bytes", 50e6),
    ("target.process/fds", 40.0),
    ("target.process/fd_limit", 20_000.0),
    ("target.connections/established", 16.0),
    ("target.outgoing/connections", 10.0),
    ("target.outgoing/waiting@127.0.0.1:3306", 2.0),
    ("target.outgoing/active@127.0.0.1:3306", 3.0),
    ("target.process/disk_waits", 0.1),
    ("target.listen/queue", 0.0),
    ("target.listen/limit", 4096.0),
    ("tcp.states/to_target_time_wait", 3_000.0),
    ("tcp.states/ports_available", 28_232.0),
    ("go.runtime/goroutines", 30.0),
    ("go.runtime/gc_pause_max_ns", 50e3),
    ("go.pool/pool_max", 20.0),
    ("go.pool/pool_in_use", 3.0),
    ("node.runtime/loop_delay_p99_ns", 1e6),
    ("node.runtime/loop_utilisation_percent", 40.0),
    ("php.fpm/active", 3.0),
    ("php.fpm/children_max", 16.0),
    ("php.fpm/listen_queue", 0.0),
    ("target.cgroup/memory_bytes", 1e8),
    ("target.cgroup/memory_limit_bytes", 1e9),
    ("service.mariadb.db/connections", 10.0),
    ("service.mariadb.db/connections_max", 100.0),
    ("service.mariadb.db/running", 2.0),
    ("service.mariadb.db/lock_waiting", 0.0),
];
const WELL_PER_SECOND: [(&str, f64); 26] = [
    ("host.stat/steal_ns", 1e6),
    ("host.stat/softirq_ns", 1e7),
    ("host.stat/irq_ns", 0.0),
    ("host.memory/swap_in_pages", 0.0),
    ("target.process/cpu_ns", 0.7e9),
    ("target.process/system_ns", 0.2e9),
    ("target.process/run_delay_ns", 1e7),
    ("target.process/major_faults", 0.0),
    ("target.outgoing/sent@127.0.0.1:3306", 10_000.0),
    ("host.disk/busy_ns", 0.2e9),
    ("target.cgroup/memory_reclaims", 0.0),
    ("go.runtime/gc_pause_ns", 1e6),
    ("go.runtime/gc_pauses", 60.0),
    ("go.runtime/gc_cycles", 30.0),
    ("go.runtime/gc_cpu_ns", 0.02e9),
    ("go.runtime/alloc_bytes", 1e7),
    ("go.runtime/mutex_wait_ns", 1e6),
    ("go.pool/pool_wait_ns", 1e6),
    ("tcp.netstat/ListenOverflows", 0.0),
    ("tcp.netstat/ListenDrops", 0.0),
    ("tcp.snmp/RetransSegs", 0.0),
    ("tcp.snmp/OutSegs", 20_000.0),
    ("target.connections/retransmits", 0.0),
    ("service.mariadb.process/cpu_ns", 0.1e9),
    ("service.redis.redis/command_ns", 1e7),
    ("service.redis.redis/hits", 1_000.0),
];

/// A run of one cell, 16 connections, 3 blocks, CPUs 1 and 2 for the target, with all counters well.
fn well() -> (RunFile, Vec<TrialData>) {
    let mut run = run(&["a"], &[closed(16)], 3);
    run.plan.pin.target = Some(vec![1, 2]);
    run.plan.pin.services = Some(vec![3]);
    let trials = (1..=3).map(|id| {
        let mut data = trial(&run, id, &[(Metric::Throughput, 10_000.0)]);
        data.response = Some(times(&[(1_600_000, 9_800), (2_000_000, 200)]));
        data.file.canary = Some(Canary { drift: 0.001, ..canary() });
        data.intervals = (0..SECONDS as u64)
            .map(|second| IntervalLine {
                start_ns: second * SECOND_NS,
                end_ns: (second + 1) * SECOND_NS,
                phase: Some(Phase::Sample),
                completed: 10_000,
                read_bytes: 1_000_000,
                // Different in each second, so that there is something to move with.
                p50_ns: Some(1_600_000 + noise(id, second) * 1_000),
                p99_ns: Some(2_000_000 + noise(id, second) * 10_000),
                ..IntervalLine::default()
            })
            .collect();
        let series = |(key, value): &(&str, f64)| ((*key).to_owned(), vec![Some(*value); SECONDS]);
        data.signals = Some(Signals {
            ends_ns: (1..=SECONDS as u64).map(|second| second * SECOND_NS).collect(),
            gauges: WELL.iter().map(series).collect(),
            deltas: WELL_PER_SECOND.iter().map(series).collect(),
            ..Signals::default()
        });
        data
    });
    let trials = trials.collect();
    (run, trials)
}

/// A number from 0 to 9 that has nothing to do with anything.
fn noise(trial: u32, second: u64) -> u64 {
    units::Seed(u64::from(trial) * 100 + second).rng().below(10)
}

fn canary() -> Canary {
    serde_json::from_value(serde_json::json!({
        "before": { "runs": 10, "mean_ns": 1000.0, "median_ns": 1000.0, "variation": 0.01, "p99_over_median": 1.1 },
        "after": { "runs": 10, "mean_ns": 1000.0, "median_ns": 1000.0, "variation": 0.01, "p99_over_median": 1.1 },
        "drift": 0.0
    }))
    .expect("a canary")
}

fn times(of: &[(u64, u64)]) -> Histogram<u64> {
    let mut times = Histogram::new_with_bounds(1, 3_600 * SECOND_NS, 3).unwrap();
    of.iter().for_each(|(ns, count)| times.record_n(*ns, *count).unwrap());
    times
}

type Plant = fn(&mut RunFile, &mut TrialData);

fn gauge(data: &mut TrialData, key: &str, value: f64) {
    data.signals.as_mut().unwrap().gauges.insert(key.to_owned(), vec![Some(value); SECONDS]);
}

fn per_second(data: &mut TrialData, key: &str, value: f64) {
    data.signals.as_mut().unwrap().deltas.insert(key.to_owned(), vec![Some(value); SECONDS]);
}

fn rises(data: &mut TrialData, key: &str, first: f64, by: f64) {
    let series = (0..SECONDS).map(|second| Some(first + by * second as f64)).collect();
    data.signals.as_mut().unwrap().gauges.insert(key.to_owned(), series);
}

fn fails(data: &mut TrialData, class: ErrorClass, count: u64) {
    let load = data.file.load.as_mut().unwrap();
    load.errors.insert(class, count);
    load.requests.failed += count;
    load.requests.completed -= count;
}

/// Each cause with what plants it.
const PLANTS: &[(Cause, Plant)] = &[
    (Cause::GeneratorSaturated, |_, data| {
        let load = data.file.load.as_mut().unwrap();
        load.generator.busy_share = 0.99;
        let gate =
            Gate { gate: "generator_cpu".into(), ok: false, value: 0.99, limit: 0.95, text: "busy".into() };
        load.validity.reasons.push(gate);
        load.validity.ok = false;
        data.file.outcome = schema::trial::TrialOutcome::Void;
    }),
    (Cause::Steal, |_, data| per_second(data, "host.stat/steal_ns", 0.4e9)),
    (Cause::ClockDrift, |_, data| data.file.canary.as_mut().unwrap().drift = 0.2),
    (Cause::HostBusy, |_, data| {
        gauge(data, "host.cpus/cpu1_busy_percent", 100.0);
        gauge(data, "host.cpus/cpu2_busy_percent", 100.0);
        per_second(data, "target.process/run_delay_ns", 4e9);
    }),
    (Cause::CoreFull, |_, data| shared_core(data, 0.9e9)),
    (Cause::Throttling, |run, data| {
        run.plan.cells[0].limits.cpus = Some(0.9);
        data.file.target.group = Some(GroupUsage {
            periods: Some(80),
            throttled_periods: Some(40),
            throttled_ns: Some(2 * SECOND_NS),
            ..GroupUsage::default()
        });
    }),
    (Cause::MemoryLimit, |_, data| gauge_and_faults(data)),
    (Cause::Swap, |_, data| {
        per_second(data, "host.memory/swap_in_pages", 5_000.0);
        per_second(data, "host.pressure/memory_full_ns", 0.3e9);
    }),
    (Cause::CpuSaturated, |_, data| per_second(data, "target.process/cpu_ns", 1.98e9)),
    (Cause::RunQueue, |_, data| {
        per_second(data, "target.process/run_delay_ns", 6e9);
        per_second(data, "target.process/cpu_ns", 1e9);
        gauge(data, "host.cpus/cpu1_busy_percent", 60.0);
        gauge(data, "host.cpus/cpu2_busy_percent", 45.0);
    }),
    (Cause::GcPauses, |_, data| {
        gauge(data, "go.runtime/gc_pause_max_ns", 30e6);
        per_second(data, "go.runtime/gc_pause_ns", 0.1e9);
        data.response = Some(times(&[(MS, 9_000), (30 * MS, 1_000)]));
    }),
    (Cause::AllocationPressure, |_, data| {
        per_second(data, "target.process/cpu_ns", 1.95e9);
        per_second(data, "go.runtime/gc_cpu_ns", 0.9e9);
    }),
    (Cause::ThreadGrowth, |_, data| rises(data, "go.runtime/goroutines", 100.0, 200.0)),
    (Cause::MemoryGrowth, |_, data| rises(data, "target.process/rss_bytes", 50e6, 10e6)),
    (Cause::PoolWait, |_, data| per_second(data, "go.pool/pool_wait_ns", 10e9)),
    (Cause::DatabaseSaturated, |_, data| per_second(data, "service.mariadb.process/cpu_ns", 0.97e9)),
    (Cause::CacheSlow, |_, data| per_second(data, "service.redis.redis/command_ns", 0.95e9)),
    (Cause::DownstreamCalls, |_, data| {
        per_second(data, "target.outgoing/sent@127.0.0.1:3306", 510_000.0);
        gauge(data, "target.outgoing/active@127.0.0.1:3306", 10.0);
        gauge(data, "target.outgoing/waiting@127.0.0.1:3306", 8.0);
    }),
    (Cause::DownstreamWait, |_, data| gauge(data, "target.outgoing/waiting@127.0.0.1:3306", 12.0)),
    (Cause::DiskWait, |_, data| {
        gauge(data, "target.process/disk_waits", 9.0);
        per_second(data, "host.disk/busy_ns", 0.6e9);
    }),
    (Cause::LockContention, |_, data| per_second(data, "go.runtime/mutex_wait_ns", 12e9)),
    (Cause::EventLoopBlocked, |_, data| {
        gauge(data, "node.runtime/loop_delay_p99_ns", 80e6);
        data.response = Some(times(&[(20 * MS, 500), (100 * MS, 500)]));
    }),
    (Cause::WorkersExhausted, |_, data| {
        gauge(data, "php.fpm/active", 16.0);
        gauge(data, "php.fpm/listen_queue", 20.0);
    }),
    (Cause::AcceptQueue, |_, data| {
        per_second(data, "tcp.netstat/ListenOverflows", 10.0);
        gauge(data, "target.listen/queue", 5_000.0);
        data.file.load.as_mut().unwrap().latency_ns.connect.max = Some(1_020 * MS);
    }),
    (Cause::PortExhaustion, |_, data| fails(data, ErrorClass::AddressNotAvailable, 5_000)),
    (Cause::ConnectionChurn, |_, data| {
        let load = data.file.load.as_mut().unwrap();
        load.connections.reconnects = 79_000;
        load.latency_ns.connect.mean = Some(300_000.0);
    }),
    (Cause::StreamLimit, |_, data| {
        streams(data, [0, 900, 0], StreamSummary { granted: Some(10), ..STREAMS });
    }),
    (Cause::SmallWindow, |_, data| streams(data, [0, 0, 900], StreamSummary { stalls: 30_000, ..STREAMS })),
    (Cause::GoawayChurn, |_, data| {
        let churn = StreamSummary { goaways: 1_600, requeued: 4_000, ..STREAMS };
        streams(data, [500, 0, 0], churn);
    }),
    (Cause::HeadOfLine, |run, data| {
        run.plan.cells[0].load.connections = 1;
        streams(data, [0; 3], STREAMS);
        per_second(data, "target.connections/retransmits", 3.0);
        stand_still(data, 16);
    }),
    (Cause::Retransmission, |_, data| {
        per_second(data, "tcp.snmp/RetransSegs", 200.0);
        per_second(data, "target.connections/retransmits", 180.0);
        data.response = Some(times(&[(MS, 9_700), (205 * MS, 300)]));
    }),
    (Cause::DelayedAck, |_, data| {
        data.file.load.as_mut().unwrap().latency_ns.transfer.p50 = Some(40 * MS);
        data.response = Some(times(&[(MS, 100), (41 * MS, 9_900)]));
    }),
    (Cause::Bandwidth, |run, data| {
        run.plan.cells[0].limits.network = NetworkMode::Isolated;
        run.plan.cells[0].limits.rate_bits_per_s = Some(20_000_000);
        data.intervals.iter_mut().for_each(|line| line.read_bytes = 2_350_000);
    }),
    (Cause::DescriptorLimit, |_, data| gauge(data, "target.process/fds", 19_990.0)),
    (Cause::DescriptorLeak, |_, data| rises(data, "target.process/fds", 40.0, 30.0)),
    (Cause::ColdCode, |_, data| {
        for (second, line) in data.intervals.iter_mut().enumerate() {
            line.p50_ns = Some(4 * MS - second as u64 * 300_000);
        }
    }),
    (Cause::UnevenWorkers, |_, data| {
        gauge(data, "target.process/processes_busy_cv", 1.2);
        gauge(data, "target.process/busiest_thread_percent", 90.0);
    }),
    (Cause::Errors, |_, data| fails(data, ErrorClass::UnexpectedStatus, 5_000)),
];

/// Connections of 100 streams, all of them granted and sound.
const STREAMS: StreamSummary =
    StreamSummary { asked: 100, granted: Some(100), requeued: 0, goaways: 0, resets: 0, stalls: 0 };

/// A load over HTTP/2 whose requests take 1.6 ms, and wait so many microseconds of it for a connection, a stream and a
/// window.
fn streams(data: &mut TrialData, waits_us: [u64; 3], summary: StreamSummary) {
    let load = data.file.load.as_mut().unwrap();
    load.streams = Some(summary);
    let times = &mut load.latency_ns;
    times.response.mean = Some(1_600_000.0);
    let waits = [&mut times.wait_connection, &mut times.wait_stream, &mut times.wait_window];
    waits.into_iter().zip(waits_us).for_each(|(wait, us)| wait.mean = Some(us as f64 * 1e3));
}

/// Twice in each second nothing ends for 30 ms though so many requests are in flight.
fn stand_still(data: &mut TrialData, in_flight: u64) {
    for line in &mut data.intervals {
        let at = |ms: u64| line.start_ns + ms * MS;
        let span = |from| StallSpan { start_ns: at(from), end_ns: at(from + 30), in_flight };
        line.stalls = vec![span(100), span(600)];
    }
}

/// A service that uses 45 % of its CPUs, others 51 %, its threads waiting so long a second. Under its closed load of 16
/// connections the wait is 6 to 9 % of the response time at most: the rest is the queue.
fn shared_core(data: &mut TrialData, run_delay_ns: f64) {
    gauge(data, "host.cpus/cpu1_busy_percent", 97.0);
    gauge(data, "host.cpus/cpu2_busy_percent", 97.0);
    per_second(data, "target.process/cpu_ns", 0.9e9);
    per_second(data, "target.process/run_delay_ns", run_delay_ns);
}

fn gauge_and_faults(data: &mut TrialData) {
    gauge(data, "target.cgroup/memory_bytes", 0.99e9);
    per_second(data, "target.process/major_faults", 3_000.0);
}

fn why(run: &RunFile, trials: &[TrialData]) -> CellWhy {
    analyze(run, trials).why.remove(0)
}

fn planted(plant: impl Fn(&mut RunFile, &mut TrialData)) -> CellWhy {
    let (mut run, mut trials) = well();
    trials.iter_mut().for_each(|data| plant(&mut run, data));
    why(&run, &trials)
}

#[test]
fn a_target_that_nothing_holds_back_has_no_finding() {
    let (run, trials) = well();
    let found = why(&run, &trials);
    assert!(found.findings.is_empty(), "{:#?}", found.findings);
    assert!(found.answer.starts_with("nothing was found"), "{}", found.answer);
    assert!(found.ruled_out.len() >= 29 && found.unread.is_empty(), "{:?}", found.unread);
}

#[test]
fn each_cause_planted_alone_comes_first() {
    let mut wrong = Vec::new();
    for (cause, plant) in PLANTS {
        let found = planted(*plant);
        let first = found.findings.first();
        let is_right =
            first.is_some_and(|finding| finding.cause == *cause && finding.severity > Severity::Low);
        if !is_right {
            let all: Vec<_> =
                found.findings.iter().map(|finding| (finding.cause, finding.severity)).collect();
            wrong.push(format!("{cause:?}: {all:?}"));
        }
        assert!(found.findings.iter().all(|finding| !finding.text.contains("because")), "{found:?}");
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn streams_without_a_wait_are_no_finding() {
    let ruled_out = |plant: Plant, cause: Cause| {
        let found = planted(plant);
        assert!(
            found.findings.iter().all(|finding| finding.cause != cause),
            "{cause:?}: {:?}",
            found.findings
        );
        assert!(found.ruled_out.iter().any(|out| out.cause == cause), "{cause:?}: {:?}", found.ruled_out);
    };
    // Ten streams that suffice, and a wait for a hundred that the load itself set.
    let few: Plant = |_, data| streams(data, [0, 90, 0], StreamSummary { granted: Some(10), ..STREAMS });
    ruled_out(few, Cause::StreamLimit);
    ruled_out(|_, data| streams(data, [0, 900, 0], STREAMS), Cause::StreamLimit);
    ruled_out(
        |_, data| streams(data, [0, 0, 90], StreamSummary { stalls: 9, ..STREAMS }),
        Cause::SmallWindow,
    );
    // A server that leaves in two steps, after many requests.
    let seldom: Plant = |_, data| streams(data, [10, 0, 0], StreamSummary { goaways: 8, ..STREAMS });
    ruled_out(seldom, Cause::GoawayChurn);
    let still: Plant = |run, data| {
        run.plan.cells[0].load.connections = 1;
        streams(data, [0; 3], STREAMS);
        stand_still(data, 16);
    };
    // All streams stand still and no packet is lost: it is the target.
    ruled_out(still, Cause::HeadOfLine);
    assert_eq!(planted(still).findings[0].cause, Cause::Stalls);
    let lossy = |run: &mut RunFile, data: &mut TrialData| {
        still(run, data);
        run.plan.cells[0].load.connections = 16;
        per_second(data, "target.connections/retransmits", 3.0);
    };
    let found = planted(lossy);
    assert!(found.findings.iter().all(|finding| finding.cause != Cause::HeadOfLine), "{:?}", found.findings);
}

#[test]
fn answers_longer_than_the_offered_window_are_seen() {
    let plant = |run: &mut RunFile, data: &mut TrialData, bits| {
        run.plan.cells[0].load.connection.window_bits = Some(bits);
        streams(data, [0; 3], STREAMS);
        let load = data.file.load.as_mut().unwrap();
        load.bytes.read = load.requests.completed * 200_000;
        load.latency_ns.transfer.mean = Some(1_200_000.0);
    };
    let found = planted(|run, data| plant(run, data, 16));
    assert_eq!(found.findings[0].cause, Cause::SmallWindow, "{:?}", found.findings);
    assert!(found.findings[0].text.contains("offers"), "{}", found.findings[0].text);
    let found = planted(|run, data| plant(run, data, 20));
    assert!(found.findings.iter().all(|finding| finding.cause != Cause::SmallWindow), "{:?}", found.findings);
}

#[test]
fn sleeps_without_a_busy_disk_are_no_wait_for_it() {
    let found = planted(|_, data| {
        gauge(data, "target.process/disk_waits", 9.0);
        per_second(data, "host.disk/busy_ns", 0.01e9);
    });
    assert!(found.findings.is_empty(), "{:#?}", found.findings);
    assert!(found.ruled_out.iter().any(|out| out.cause == Cause::DiskWait));
}

#[test]
fn a_busy_target_does_not_wait_for_others() {
    let found = planted(|_, data| {
        per_second(data, "target.process/cpu_ns", 1.5e9);
        gauge(data, "target.outgoing/waiting@127.0.0.1:3306", 12.0);
    });
    assert!(found.findings.iter().all(|finding| finding.cause != Cause::DownstreamWait), "{found:#?}");
}

#[test]
fn a_full_core_is_the_sum_of_all_that_use_it() {
    let found = planted(|_, data| shared_core(data, 0.9e9));
    let first = &found.findings[0];
    assert_eq!((first.cause, first.severity), (Cause::CoreFull, Severity::High), "{found:#?}");
    for said in ["45 % itself", "51.", "others", "50 % of the time for which they wanted a core"] {
        assert!(first.text.contains(said), "no `{said}` in {}", first.text);
    }
    let follows = |cause: Cause| found.findings.iter().find(|f| f.cause == cause).and_then(|f| f.follows);
    assert_eq!(follows(Cause::HostBusy), Some(Cause::CoreFull));
    assert_eq!(follows(Cause::RunQueue), Some(Cause::CoreFull));
    assert!(!found.ruled_out.iter().any(|out| [Cause::RunQueue, Cause::HostBusy].contains(&out.cause)));
    // A service on the same CPUs is distinguished from others.
    let service = planted(|run, data| {
        run.plan.pin.services = None;
        shared_core(data, 0.9e9);
        per_second(data, "service.mariadb.process/cpu_ns", 0.8e9);
    });
    assert!(service.findings[0].text.contains("40 % its services"), "{}", service.findings[0].text);
    assert_eq!(service.findings[0].severity, Severity::High, "others have their part in it: {service:#?}");
}

#[test]
fn a_busy_host_is_not_to_blame_for_a_target_that_wants_little_of_it() {
    let found = planted(|_, data| {
        gauge(data, "host.cpus/cpu1_busy_percent", 100.0);
        gauge(data, "host.cpus/cpu2_busy_percent", 100.0);
        // Of two CPUs 5 %, and a fifth of what it wanted was waited for.
        per_second(data, "target.process/cpu_ns", 0.1e9);
        per_second(data, "target.process/run_delay_ns", 0.025e9);
        per_second(data, "go.runtime/mutex_wait_ns", 12e9);
    });
    assert_eq!(found.findings[0].cause, Cause::LockContention, "{found:#?}");
    let host = found.findings.iter().find(|f| f.cause == Cause::HostBusy).unwrap();
    assert_eq!(host.severity, Severity::Low, "{host:#?}");
}

#[test]
fn what_the_hypervisor_took_is_not_told_as_others() {
    let found = planted(|_, data| {
        shared_core(data, 0.9e9);
        // A quarter of four CPUs.
        per_second(data, "host.stat/steal_ns", 1e9);
    });
    let first = &found.findings[0];
    assert_eq!((first.cause, first.severity), (Cause::Steal, Severity::High), "{found:#?}");
    let core = found.findings.iter().find(|f| f.cause == Cause::CoreFull).unwrap();
    assert!(
        core.text.contains("26.") && core.text.contains("25 % taken away by the hypervisor"),
        "{}",
        core.text
    );
    assert_eq!(core.follows, Some(Cause::Steal));
}

#[test]
fn a_core_full_of_its_own_services_is_a_sign_of_what_they_do() {
    let severity =
        |found: &CellWhy| found.findings.iter().find(|f| f.cause == Cause::CoreFull).map(|f| f.severity);
    let service = planted(|run, data| {
        run.plan.pin.services = None;
        shared_core(data, 0.9e9);
        per_second(data, "target.process/cpu_ns", 0.1e9);
        per_second(data, "service.redis.process/cpu_ns", 1.8e9);
        per_second(data, "service.redis.redis/command_ns", 0.97e9);
    });
    assert_eq!(service.findings[0].cause, Cause::CacheSlow, "{:#?}", service.findings);
    assert_eq!(severity(&service), Some(Severity::Medium));
    // The target and its packets alone: what makes it work so much comes first.
    let alone = planted(|_, data| {
        shared_core(data, 0.9e9);
        per_second(data, "target.process/cpu_ns", 1.75e9);
        per_second(data, "host.stat/softirq_ns", 0.5e9);
    });
    assert_eq!(severity(&alone), Some(Severity::Medium), "{:#?}", alone.findings);
}

#[test]
fn a_busy_neighbour_that_takes_nothing_is_no_cause() {
    // The scheduler puts the target first: it hardly ever waits.
    let polite = planted(|_, data| shared_core(data, 0.02e9));
    assert!(polite.findings.iter().all(|finding| finding.severity == Severity::Low), "{polite:#?}");
    // Another core is full.
    let elsewhere = planted(|_, data| {
        gauge(data, "host.cpus/cpu3_busy_percent", 100.0);
        gauge(data, "host.cpus/busiest_percent", 100.0);
    });
    assert!(elsewhere.findings.is_empty(), "{elsewhere:#?}");
    // The target sleeps for nearly all of its response time; what little it computes waits, and nobody sees it.
    let idle = planted(|_, data| {
        per_second(data, "target.process/cpu_ns", 0.05e9);
        per_second(data, "target.process/run_delay_ns", 0.02e9);
    });
    assert!(idle.findings.iter().all(|finding| finding.severity == Severity::Low), "{idle:#?}");
}

#[test]
fn a_loop_that_is_always_busy_is_not_cleared_by_the_queue_it_makes() {
    let found = planted(|_, data| {
        gauge(data, "node.runtime/loop_delay_p99_ns", 80e6);
        gauge(data, "node.runtime/loop_utilisation_percent", 99.0);
        data.response = Some(times(&[(7 * MS, 500), (900 * MS, 500)]));
    });
    assert!(
        found.findings.iter().any(|f| f.cause == Cause::EventLoopBlocked && f.severity == Severity::High),
        "{found:#?}"
    );
}

#[test]
fn collections_on_a_shared_core_hold_back_as_much_as_the_core_lacks() {
    let found = planted(|_, data| {
        shared_core(data, 0.9e9);
        per_second(data, "go.runtime/gc_cpu_ns", 0.4e9);
    });
    let of = found.findings.iter().find(|finding| finding.cause == Cause::AllocationPressure);
    assert!(of.is_some_and(|finding| finding.severity > Severity::Low), "{found:#?}");
}

/// It is detected by a difference between trials, so it cannot be planted in all of them alike.
#[test]
fn trials_on_a_slower_machine_are_told_where_they_were_slower() {
    let (mut run, mut trials) = well();
    run.plan.blocks = 6;
    let more: Vec<TrialData> = well().1;
    trials.extend(more.into_iter().map(|mut data| {
        data.file.id += 3;
        data.file.block += 3;
        data
    }));
    for data in trials.iter_mut().filter(|data| data.file.id > 4) {
        let canary = data.file.canary.as_mut().unwrap();
        canary.before.mean_ns *= 1.3;
        canary.after.mean_ns *= 1.3;
    }
    let same = why(&run, &trials);
    assert!(same.findings.iter().all(|finding| finding.cause != Cause::SlowReplica), "{same:#?}");
    trials
        .iter_mut()
        .filter(|data| data.file.id > 4)
        .for_each(|data| data.file.load.as_mut().unwrap().throughput_per_s *= 0.8);
    let found = why(&run, &trials);
    let first = &found.findings[0];
    assert_eq!((first.cause, first.severity), (Cause::SlowReplica, Severity::High), "{found:#?}");
    assert!(first.text.contains("trials 5 and 6"), "{}", first.text);
}

#[test]
fn a_piece_of_work_is_long_for_a_loop_whose_others_are_short() {
    let of = |delay_ns: f64, pause_ns: f64| {
        let (run, mut trials) = well();
        for data in &mut trials {
            gauge(data, "node.runtime/loop_delay_p99_ns", delay_ns);
            per_second(data, "node.runtime/gc_pause_ns", 4.0 * pause_ns);
            per_second(data, "node.runtime/gc_cycles", 4.0);
            data.response = Some(times(&[(600_000, 9_000), (15 * MS, 1_000)]));
        }
        let found = why(&run, &trials).findings;
        found.iter().map(|finding| (finding.cause, finding.severity)).collect::<Vec<_>>()
    };
    assert_eq!(of(11e6, 3e6), [(Cause::EventLoopBlocked, Severity::Medium)]);
    // Fifteen short pieces in a turn, or a collection, do as much.
    assert_eq!(of(5.9e6, 1e6), []);
    assert_eq!(of(11e6, 6e6), []);
}

#[test]
fn pauses_that_follow_each_other_count_though_the_tail_outlasts_each() {
    let of = |pause_per_second_ns: f64| {
        let (run, mut trials) = well();
        for data in &mut trials {
            gauge(data, "go.runtime/gc_pause_max_ns", 84e6);
            per_second(data, "go.runtime/gc_pause_ns", pause_per_second_ns);
            data.response = Some(times(&[(30 * MS, 9_000), (200 * MS, 1_000)]));
        }
        let found = why(&run, &trials).findings;
        found.first().map(|finding| (finding.cause, finding.severity))
    };
    assert_eq!(of(0.37e9), Some((Cause::GcPauses, Severity::High)));
    assert_eq!(of(0.02e9), None);
}

#[test]
fn a_straight_rise_is_told_however_short_and_one_that_levels_off_is_not() {
    let of = |megabytes: [f64; 4]| {
        let (run, mut trials) = well();
        for data in &mut trials {
            let series = megabytes.iter().map(|value| Some(value * 1e6)).collect();
            data.signals.as_mut().unwrap().gauges.insert("target.process/rss_bytes".to_owned(), series);
        }
        why(&run, &trials).findings.iter().map(|finding| finding.cause).collect::<Vec<_>>()
    };
    assert_eq!(of([77.4, 112.7, 147.5, 182.1]), [Cause::MemoryGrowth]);
    assert_eq!(of([77.4, 112.7, 117.5, 122.1]), []);
}

#[test]
fn without_counters_nothing_that_needs_them_is_ruled_out() {
    let (run, mut trials) = well();
    for data in &mut trials {
        data.signals = None;
        data.file.canary = None;
    }
    let found = why(&run, &trials);
    assert!(found.findings.is_empty(), "{:#?}", found.findings);
    let ruled: Vec<Cause> = found.ruled_out.iter().map(|out| out.cause).collect();
    for cause in [Cause::Steal, Cause::CpuSaturated, Cause::RunQueue, Cause::PoolWait, Cause::AcceptQueue] {
        assert!(!ruled.contains(&cause), "{cause:?} was not read");
        assert!(found.unread.iter().any(|unread| unread.cause == cause), "{cause:?}");
    }
}

#[test]
fn a_jvm_that_tells_only_how_often_its_threads_waited_is_not_cleared_of_it() {
    let found = planted(|_, data| {
        data.signals.as_mut().unwrap().deltas.remove("go.runtime/mutex_wait_ns");
        per_second(data, "jvm.runtime/lock_parks", 5_000.0);
    });
    assert!(found.ruled_out.iter().all(|out| out.cause != Cause::LockContention));
    let unread = found.unread.iter().find(|unread| unread.cause == Cause::LockContention).unwrap();
    assert!(unread.text.contains("0.5 times for each request"), "{}", unread.text);
}

#[test]
fn a_rule_that_is_met_without_an_association_is_of_low_severity() {
    // Between 1 and 5 % of the CPU is stolen, the same in each second: nothing moves with it.
    let found = planted(|_, data| per_second(data, "host.stat/steal_ns", 0.1e9));
    let [finding] = &found.findings[..] else { panic!("{:#?}", found.findings) };
    assert_eq!(
        (finding.cause, finding.severity, finding.association.is_none()),
        (Cause::Steal, Severity::Low, true)
    );
    // The same with p99 moving with it.
    let found = planted(|_, data| {
        let stolen: Vec<Option<f64>> =
            data.intervals.iter().map(|line| Some(line.p99_ns.unwrap() as f64 * 40.0)).collect();
        data.signals.as_mut().unwrap().deltas.insert("host.stat/steal_ns".to_owned(), stolen);
    });
    let finding = &found.findings[0];
    assert_eq!((finding.cause, finding.severity), (Cause::Steal, Severity::Medium));
    let Some(Association::Time { rho, p, q, .. }) = &finding.association else { panic!("{finding:?}") };
    assert!(*rho > 0.99 && *p <= 0.01 && *q >= *p, "{finding:?}");
}

#[test]
fn a_saturated_generator_vetoes_all_else() {
    let found = planted(|run, data| {
        PLANTS[0].1(run, data);
        per_second(data, "target.process/cpu_ns", 1.98e9);
        fails(data, ErrorClass::UnexpectedStatus, 5_000);
    });
    assert_eq!(found.findings[0].cause, Cause::GeneratorSaturated);
    assert!(found.void_only && found.findings.len() > 2);
    assert!(
        found.findings[1..].iter().all(|finding| finding.severity == Severity::Low),
        "{:#?}",
        found.findings
    );
}

#[test]
fn consequences_follow_their_cause_and_are_not_told_as_news() {
    let (mut run, mut trials) = well();
    for data in &mut trials {
        fails(data, ErrorClass::AddressNotAvailable, 5_000);
        let load = data.file.load.as_mut().unwrap();
        load.connections.reconnects = 79_000;
    }
    run.plan.cells[0].load.connection.keepalive = true;
    let file = analyze(&run, &trials);
    let all: Vec<(Cause, Option<Cause>)> =
        file.why[0].findings.iter().map(|finding| (finding.cause, finding.follows)).collect();
    assert_eq!(all[0], (Cause::PortExhaustion, None), "{all:?}");
    assert!(all[1..].iter().all(|(_, follows)| *follows == Some(Cause::PortExhaustion)), "{all:?}");
    let news: Vec<Cause> = file.findings.iter().map(|finding| finding.cause).collect();
    assert_eq!(news, [Cause::PortExhaustion]);
}

#[test]
fn decoys_are_not_taken_for_causes() {
    let decoys: [(&str, Plant); 6] = [
        ("retransmissions of others", |_, data| per_second(data, "tcp.snmp/RetransSegs", 900.0)),
        ("accept queues of others", |_, data| per_second(data, "tcp.netstat/ListenOverflows", 90.0)),
        ("a service that simply takes 40 ms", |_, data| data.response = Some(times(&[(40 * MS, 10_000)]))),
        ("collections shorter than the tail", |_, data| per_second(data, "go.runtime/gc_pause_ns", 0.02e9)),
        ("sockets in TIME_WAIT", |_, data| gauge(data, "tcp.states/to_target_time_wait", 28_000.0)),
        ("memory that fills up", |_, data| {
            let series =
                (0..SECONDS).map(|second| Some(50e6 + 40e6 * (1.0 - 0.4_f64.powi(second as i32)))).collect();
            data.signals.as_mut().unwrap().gauges.insert("target.process/rss_bytes".to_owned(), series);
        }),
    ];
    for (name, decoy) in decoys {
        let found = planted(decoy);
        assert!(found.findings.is_empty(), "{name}: {:#?}", found.findings);
    }
}

#[test]
fn hostile_counters_give_finite_words() {
    let found = planted(|_, data| {
        let signals = data.signals.as_mut().unwrap();
        for series in signals.gauges.values_mut().chain(signals.deltas.values_mut()) {
            *series = vec![Some(f64::MAX), None, Some(0.0), Some(f64::MIN_POSITIVE)];
        }
        let names: BTreeMap<String, Vec<Option<f64>>> = (0..50)
            .map(|number| (format!("service.{number}\u{1b}[31m.db/running"), vec![Some(1e308)]))
            .collect();
        signals.gauges.extend(names);
    });
    let text = serde_json::to_string(&found).unwrap();
    assert!(!text.contains("NaN") && !text.contains("inf "), "{text}");
}
