//! The collector with failing sources, and on this host.

use super::*;
use crate::go_runtime;
use std::collections::{BTreeSet, VecDeque};
use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::thread;

/// Plays a list of outcomes: a line with a gauge, or a failure.
struct Scripted {
    name: &'static str,
    outcomes: VecDeque<Option<f64>>,
}

impl Source for Scripted {
    fn name(&self) -> &str {
        self.name
    }

    fn tick(&mut self, now: Nanos) -> Result<CounterLine, CollectError> {
        let value = self.outcomes.pop_front().flatten().ok_or(CollectError::Gone { pid: 1 })?;
        let gauges = BTreeMap::from([("value".to_owned(), value)]);
        Ok(CounterLine { t_ns: now.0, source: self.name.to_owned(), gauges, ..CounterLine::default() })
    }
}

#[test]
fn a_failing_source_costs_a_gap_and_nothing_else() {
    let scripted = |name, outcomes: &[Option<f64>]| -> Box<dyn Source> {
        Box::new(Scripted { name, outcomes: outcomes.iter().copied().collect() })
    };
    let mut collector = Collector::new(vec![
        scripted("sick", &[Some(1.0), None, Some(3.0)]),
        scripted("well", &[Some(1.0), Some(2.0), Some(3.0)]),
    ]);
    let names = |lines: Vec<CounterLine>| lines.into_iter().map(|line| line.source).collect::<Vec<_>>();
    assert_eq!(names(collector.tick(Nanos(1))), ["sick", "well"]);
    assert_eq!(names(collector.tick(Nanos(2))), ["well"]);
    assert_eq!(names(collector.tick(Nanos(3))), ["sick", "well"]);
    assert_eq!(collector.gaps(), &BTreeMap::from([("sick".to_owned(), 1)]));
    assert!(collector.last_errors()["sick"].to_string().contains("gone"));
}

#[test]
fn this_host_gives_gauges_first_and_deltas_later() {
    let pid = std::process::id();
    let subjects = Subjects { generator_pid: pid, ..Subjects::default() };
    let mut collector = Collector::for_trial(&Roots::default(), subjects);
    let first = collector.tick(Nanos(5));
    assert!(first.iter().all(|line| line.deltas.is_empty() && line.t_ns == 5));
    let second = collector.tick(Nanos(9));
    let sources: BTreeSet<&str> = second.iter().map(|line| line.source.as_str()).collect();
    let wanted = [
        "host.stat",
        "host.load",
        "host.cpus",
        "host.memory",
        "host.interrupts",
        "host.net",
        "tcp.netstat",
        "tcp.snmp",
        "tcp.sockstat",
        "generator.process",
        NAME,
    ];
    assert!(wanted.iter().all(|name| sources.contains(name)), "{sources:?}");
    assert_eq!(sources.len(), second.len(), "a source has one line: {sources:?}");
    let deltas = |source: &str| &second.iter().find(|line| line.source == source).unwrap().deltas;
    assert!(deltas("host.stat").contains_key("steal_ns"));
    assert!(deltas("tcp.snmp").contains_key("RetransSegs"));
    assert!(deltas("generator.process").contains_key("cpu_ns"));
    assert!(deltas(NAME)["cpu_ns"] > 0.0 && deltas(NAME)["wall_ns"] > 0.0);
    assert_eq!(deltas(NAME)["reads"], first.len() as f64);
    assert!(collector.gaps().is_empty(), "{:?}", collector.last_errors());
}

#[test]
fn a_missed_tick_is_made_up_by_the_next_delta() {
    let folder = tempfile::tempdir().unwrap();
    let roots = Roots { proc: folder.path().to_path_buf(), sys: folder.path().to_path_buf() };
    let stat = folder.path().join("stat");
    let mut source = host_stat::source(&roots);
    let mut tick = |content: &str, now| {
        fs::write(&stat, content).unwrap();
        source.tick(Nanos(now))
    };
    tick("cpu 1 0 0 1\nctxt 10\n", 0).unwrap();
    assert!(tick("garbage", 1).is_err());
    assert_eq!(tick("cpu 1 0 0 1\nctxt 17\n", 2).unwrap().deltas["ctxt"], 7.0);
    assert_eq!(tick("cpu 1 0 0 1\nctxt 19\n", 3).unwrap().deltas["ctxt"], 2.0);
}

/// Above the kernel's largest process number.
const NO_PID: u32 = 1 << 30;

#[test]
fn a_dead_target_leaves_the_other_sources_alone() {
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let endpoint = go_runtime::source(address, "/debug/runtime".to_owned(), Default::default());
    let mut collector = Collector::for_trial(
        &Roots::default(),
        Subjects {
            target: Some(RootPid::new(NO_PID.into())),
            generator_pid: std::process::id(),
            extra: vec![endpoint],
            services: vec![("db".to_owned(), NO_PID)],
            ..Subjects::default()
        },
    );
    assert!(collector.tick(Nanos(1)).len() > 9);
    let gaps: Vec<_> = collector.gaps().iter().map(|(name, gaps)| (name.as_str(), *gaps)).collect();
    assert_eq!(
        gaps,
        [("go.runtime", 1), ("service.db.process", 1), ("target.process", 1), ("target.threads", 1)]
    );
    assert!(collector.last_errors()["go.runtime"].to_string().contains("no connection to"));
}

#[test]
fn a_go_target_is_asked_at_every_tick() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint =
        go_runtime::source(listener.local_addr().unwrap(), "/debug/runtime".to_owned(), Default::default());
    let server = thread::spawn(move || {
        for body in
            [include_str!("../../fixtures/go/first.json"), include_str!("../../fixtures/go/second.json")]
        {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = [0; 512];
            assert!(stream.read(&mut request).unwrap() > 0);
            let head = format!("HTTP/1.0 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
            stream.write_all((head + body).as_bytes()).unwrap();
        }
    });
    let subjects =
        Subjects { generator_pid: std::process::id(), extra: vec![endpoint], ..Subjects::default() };
    let mut collector = Collector::for_trial(&Roots::default(), subjects);
    let first = collector.tick(Nanos(1)).pop().unwrap();
    assert!(first.source == "go.runtime" && first.deltas.is_empty() && first.gauges["goroutines"] == 14.0);
    let mut second = collector.tick(Nanos(2));
    assert_eq!(second.pop().unwrap().source, NAME);
    let second = second.pop().unwrap();
    assert_eq!((second.deltas["gc_cycles"], second.deltas["gc_pauses"]), (120.0, 240.0));
    server.join().unwrap();
}

/// Uses CPU time, as much as it is asked to.
struct Dear {
    busy_ns: u64,
    may_rest: bool,
}

impl Source for Dear {
    fn name(&self) -> &str {
        "dear"
    }

    fn may_rest(&self) -> bool {
        self.may_rest
    }

    fn tick(&mut self, now: Nanos) -> Result<CounterLine, CollectError> {
        let until = thread_cpu_ns() + self.busy_ns;
        while thread_cpu_ns() < until {}
        Ok(CounterLine { t_ns: now.0, source: "dear".to_owned(), ..CounterLine::default() })
    }
}

#[test]
fn a_dear_source_that_may_rest_is_read_less_often_and_leaves_no_gap() {
    let lines = |may_rest| {
        let mut collector = Collector::new(vec![Box::new(Dear { busy_ns: 8_000_000, may_rest })]);
        let lines = (0..10).map(|second| collector.tick(Nanos::from_secs(second)).len()).sum::<usize>();
        assert!(collector.gaps().is_empty());
        lines
    };
    assert_eq!(lines(false), 10);
    assert!((1..=4).contains(&lines(true)), "8 ms are allowed every 2.8 s, or less often on a slow host");
    assert_eq!((rest_ns(FREE_NS), rest_ns(FREE_NS + 1), rest_ns(u64::MAX)), (0, SHARE, REST_NS_MAX));
}

#[test]
fn processes_that_end_cost_gaps_of_their_own_sources_only() {
    let sleeper = || Command::new("sleep").arg("1000").stdin(Stdio::null()).spawn().unwrap();
    let (mut target, mut service) = (sleeper(), sleeper());
    let mut collector = Collector::for_trial(
        &Roots::default(),
        Subjects {
            target: Some(RootPid::new(target.id().into())),
            generator_pid: std::process::id(),
            services: vec![("redis".to_owned(), service.id())],
            ..Subjects::default()
        },
    );
    let names = |lines: Vec<CounterLine>| lines.into_iter().map(|line| line.source).collect::<BTreeSet<_>>();
    collector.tick(Nanos::from_secs(1));
    let before = names(collector.tick(Nanos::from_secs(2)));
    let of_processes = ["service.redis.process", "target.process", "target.threads"];
    assert!(of_processes.iter().all(|name| before.contains(*name)), "{before:?}");
    assert!(collector.gaps().is_empty(), "{:?}", collector.last_errors());
    for child in [&mut target, &mut service] {
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let after = names(collector.tick(Nanos::from_secs(3)));
    let lost: Vec<&str> = before.difference(&after).map(String::as_str).collect();
    assert_eq!(lost, of_processes);
    assert_eq!(collector.gaps().keys().collect::<Vec<_>>(), of_processes);
}

/// Eight processes of eight threads each; they end when their input does.
const EIGHT_BY_EIGHT: &str = "
import os, sys, threading
for _ in range(7):
    if os.fork() == 0: break
for _ in range(7): threading.Thread(target=threading.Event().wait, daemon=True).start()
print('up', flush=True)
sys.stdin.read()
";

/// Prints what a tick costs; no pass mark, for time depends on the host:
/// `cargo test --release -p collect --lib cost_of_a_tick -- --ignored --nocapture`.
#[test]
#[ignore = "measures the cost of a tick; make test-all"]
fn cost_of_a_tick() {
    const TICKS: u64 = 60;
    let child = Command::new("python3")
        .args(["-c", EIGHT_BY_EIGHT])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let Ok(mut child) = child else {
        println!("skipped: python3 is missing (apt-get install python3)");
        return;
    };
    child.stdout.take().unwrap().read_exact(&mut [0; 24]).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let connections: Vec<_> =
        (0..500).map(|_| (TcpStream::connect(address).unwrap(), listener.accept().unwrap())).collect();
    let mut collector = Collector::for_trial(
        &Roots::default(),
        Subjects {
            target: Some(RootPid::new(child.id().into())),
            generator_pid: std::process::id(),
            address: Some(address),
            ..Subjects::default()
        },
    );
    let mut sum = 0.0;
    for second in 0..=TICKS {
        let lines = collector.tick(Nanos::from_secs(second));
        sum += lines.iter().find(|line| line.source == NAME).map_or(0.0, |line| line.deltas["cpu_ns"]);
    }
    println!("CPU time of a tick: {:.3} ms (mean of {TICKS})", sum / TICKS as f64 / 1e6);
    for seat in &mut collector.sources {
        let before = thread_cpu_ns();
        for second in 0..TICKS {
            let _ = seat.source.tick(Nanos::from_secs(second));
        }
        let mean = (thread_cpu_ns() - before) as f64 / TICKS as f64 / 1e6;
        println!("{:24} {mean:.3} ms", seat.source.name());
    }
    println!("gaps: {:?}", collector.gaps());
    drop((connections, child.stdin.take()));
    child.wait().unwrap();
}
