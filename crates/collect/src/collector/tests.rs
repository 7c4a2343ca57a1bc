//! The collector with failing sources, and on this host.

use super::*;
use std::collections::VecDeque;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
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
        Ok(CounterLine { t_ns: now.0, source: self.name.to_owned(), gauges, deltas: BTreeMap::new() })
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
    let mut collector = Collector::for_trial(&Roots::default(), None, Groups::new(), pid, None);
    let first = collector.tick(Nanos(5));
    assert!(first.iter().all(|line| line.deltas.is_empty() && line.t_ns == 5));
    let second = collector.tick(Nanos(9));
    let sources: Vec<&str> = second.iter().map(|line| line.source.as_str()).collect();
    assert_eq!(
        sources,
        ["host.stat", "host.load", "tcp.netstat", "tcp.snmp", "tcp.sockstat", "generator.process"]
    );
    let deltas = |source: &str| &second.iter().find(|line| line.source == source).unwrap().deltas;
    assert!(deltas("host.stat").contains_key("steal_ns"));
    assert!(deltas("tcp.snmp").contains_key("RetransSegs"));
    assert!(deltas("generator.process").contains_key("cpu_ns"));
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
    let endpoint = Some((address, "/debug/runtime".to_owned()));
    let mut collector = Collector::for_trial(
        &Roots::default(),
        Some(&RootPid::new(NO_PID.into())),
        Groups::new(),
        std::process::id(),
        endpoint,
    );
    assert_eq!(collector.tick(Nanos(1)).len(), 6);
    let gaps: Vec<_> = collector.gaps().iter().map(|(name, gaps)| (name.as_str(), *gaps)).collect();
    assert_eq!(gaps, [("go.runtime", 1), ("target.process", 1)]);
    assert!(collector.last_errors()["go.runtime"].to_string().contains("no connection to"));
}

#[test]
fn a_go_target_is_asked_at_every_tick() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = Some((listener.local_addr().unwrap(), "/debug/runtime".to_owned()));
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
    let mut collector =
        Collector::for_trial(&Roots::default(), None, Groups::new(), std::process::id(), endpoint);
    let first = collector.tick(Nanos(1)).pop().unwrap();
    assert!(first.source == "go.runtime" && first.deltas.is_empty() && first.gauges["goroutines"] == 14.0);
    let second = collector.tick(Nanos(2)).pop().unwrap();
    assert_eq!((second.deltas["gc_cycles"], second.deltas["gc_pauses"]), (120.0, 240.0));
    server.join().unwrap();
}
