//! `node.runtime`: what Node reports on itself, served by `targets/node/common` (its `src/runtime.js` and
//! `src/fleet.js`).
//!
//! The answer has a list `processes`: one, or with cluster workers all that answered each other in time.
//!
//! | key | kind | in each process | over processes |
//! |---|---|---|---|
//! | `loop_delay_p50_ns` | gauge | `loop_delay_ns.p50`: how late timers of the event loop fire | mean |
//! | `loop_delay_p99_ns`, `loop_delay_max_ns` | gauge | `loop_delay_ns.p99`, `.max` | largest |
//! | `loop_utilisation_percent` | gauge | `active_ms`, `idle_ms` since the previous line: share of time not spent
//! waiting for events | largest |
//! | `heap_used_bytes`, `heap_limit_bytes`, `rss_bytes`, `external_bytes` | gauge | the same | sum |
//! | `processes` | gauge | | number |
//! | `gc_pause_ns`, `gc_cycles`, `gc_major_cycles` | delta | `gc` | sum over processes seen twice |
//! | `requests` | delta | `requests` | sum over processes seen twice |
//!
//! The part `pool` of each process is summed for `node.pool`.
//!
//! `?window=new` asks the target to begin a new window of the delays, so each line covers the time since the one
//! before; whoever else asks leaves the window alone. The answer comes from the event loop itself: while that is
//! blocked there is none, and the next answer tells how long it was.

use super::LIMITS;
use super::pool::{self, PoolSlot};
use crate::backoff::Backoff;
use crate::error::{CollectError, ParseError};
use crate::reading::{Reading, Values};
use crate::server_side::{Endpoint, get_within};
use crate::source::{Comparable, Differencing, Source};
use serde::Deserialize;
use std::collections::BTreeMap;

/// Name of the source.
pub const NAME: &str = "node.runtime";

/// Most processes of one answer; node:cluster has one for each core.
const PROCESSES_MAX: usize = 1024;

/// One answer, by process number.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeReading {
    processes: BTreeMap<u32, Process>,
    /// The pools of all processes, where one has a pool.
    pub pool: Option<Reading>,
}

#[derive(Clone, Debug, Deserialize, PartialEq)]
struct Process {
    pid: u32,
    /// Absent where no delay was sampled in the window.
    loop_delay_ns: Option<Delay>,
    active_ms: f64,
    idle_ms: f64,
    gc: Collections,
    heap_used_bytes: f64,
    heap_limit_bytes: f64,
    rss_bytes: f64,
    external_bytes: f64,
    requests: Option<u64>,
    #[serde(default)]
    pool: serde_json::Value,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
struct Delay {
    p50: f64,
    p99: f64,
    max: f64,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
struct Collections {
    pause_ns: f64,
    cycles: u64,
    major_cycles: u64,
}

impl Process {
    fn is_in_range(&self) -> bool {
        let Self { active_ms, idle_ms, heap_used_bytes, heap_limit_bytes, rss_bytes, external_bytes, .. } =
            self;
        let delays = self.loop_delay_ns.iter().flat_map(|delay| [delay.p50, delay.p99, delay.max]);
        let rest = [
            active_ms,
            idle_ms,
            heap_used_bytes,
            heap_limit_bytes,
            rss_bytes,
            external_bytes,
            &self.gc.pause_ns,
        ];
        delays.chain(rest.into_iter().copied()).all(|value| value.is_finite() && value >= 0.0)
    }

    /// Share of the time since `previous` in which the loop did not wait; nothing where no time passed.
    fn utilisation_percent(&self, previous: &Self) -> Option<f64> {
        let (active, idle) = (self.active_ms - previous.active_ms, self.idle_ms - previous.idle_ms);
        (active >= 0.0 && idle >= 0.0 && active + idle > 0.0).then(|| 100.0 * active / (active + idle))
    }
}

/// Parses the endpoint's answer.
///
/// # Errors
/// It is not the agreed JSON, or has no process.
pub fn parse(body: &[u8]) -> Result<NodeReading, ParseError> {
    #[derive(Deserialize)]
    struct Answer {
        processes: Vec<Process>,
    }
    let answer: Answer = serde_json::from_slice(body).map_err(|error| ParseError::Json(error.to_string()))?;
    if answer.processes.is_empty() || answer.processes.len() > PROCESSES_MAX {
        return Err(ParseError::Json(format!("`processes` has not 1 to {PROCESSES_MAX} entries")));
    }
    let mut reading = NodeReading::default();
    for process in answer.processes {
        if !process.is_in_range() {
            return Err(ParseError::Json(format!("a number of process {} is out of range", process.pid)));
        }
        if let Some(pool) = pool::read(&process.pool)? {
            add(reading.pool.get_or_insert_default(), &pool);
        }
        reading.processes.insert(process.pid, process);
    }
    Ok(reading)
}

fn add(sum: &mut Reading, more: &Reading) {
    for (name, value) in &more.gauges {
        *sum.gauges.entry(name).or_default() += value;
    }
    for (name, value) in &more.counters {
        let sum = sum.counters.entry(name).or_default();
        *sum = sum.saturating_add(*value);
    }
}

pub(crate) fn source(at: Endpoint, path: &str, slot: PoolSlot) -> Box<dyn Source> {
    let parting = if path.contains('?') { '&' } else { '?' };
    let path = format!("{path}{parting}window=new");
    let mut backoff = Backoff::default();
    Box::new(Differencing::new(NAME, move || -> Result<NodeReading, CollectError> {
        let found = backoff.attempt(|| get_within(&at, None, &path, LIMITS, parse));
        slot.put(found.as_ref().ok().map(|found| found.pool.clone()));
        found
    }))
}

impl Comparable for NodeReading {
    fn gauges(&self, previous: Option<&Self>) -> Values {
        let all = || self.processes.values();
        let largest = |values: Vec<f64>| values.into_iter().reduce(f64::max);
        let delays: Vec<Delay> = all().filter_map(|process| process.loop_delay_ns).collect();
        let middle = delays.iter().map(|delay| delay.p50).sum::<f64>() / delays.len() as f64;
        let pairs = all().filter_map(|process| Some((process, previous?.processes.get(&process.pid)?)));
        let utilisations = pairs.filter_map(|(now, before)| now.utilisation_percent(before)).collect();
        let gauges = [
            ("loop_delay_p50_ns", Some(middle).filter(|_| !delays.is_empty())),
            ("loop_delay_p99_ns", largest(delays.iter().map(|delay| delay.p99).collect())),
            ("loop_delay_max_ns", largest(delays.iter().map(|delay| delay.max).collect())),
            ("loop_utilisation_percent", largest(utilisations)),
            ("heap_used_bytes", Some(all().map(|process| process.heap_used_bytes).sum())),
            ("heap_limit_bytes", Some(all().map(|process| process.heap_limit_bytes).sum())),
            ("rss_bytes", Some(all().map(|process| process.rss_bytes).sum())),
            ("external_bytes", Some(all().map(|process| process.external_bytes).sum())),
            ("processes", Some(self.processes.len() as f64)),
        ];
        gauges.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
    }

    fn deltas(&self, previous: &Self) -> Values {
        let mut deltas = Values::new();
        for (pid, now) in &self.processes {
            let Some(before) = previous.processes.get(pid) else { continue };
            let increases = [
                ("gc_pause_ns", Some(now.gc.pause_ns - before.gc.pause_ns)),
                ("gc_cycles", since(now.gc.cycles, before.gc.cycles)),
                ("gc_major_cycles", since(now.gc.major_cycles, before.gc.major_cycles)),
                ("requests", now.requests.zip(before.requests).and_then(|(now, before)| since(now, before))),
            ];
            for (name, increase) in increases {
                if let Some(increase) = increase.filter(|increase| *increase >= 0.0) {
                    *deltas.entry(name.to_owned()).or_default() += increase;
                }
            }
        }
        deltas
    }
}

fn since(now: u64, before: u64) -> Option<f64> {
    now.checked_sub(before).map(|increase| increase as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: &[u8] = include_bytes!("../../fixtures/node/first.json");
    const SECOND: &[u8] = include_bytes!("../../fixtures/node/second.json");

    fn process(pid: u32, more: &str) -> String {
        format!(
            r#"{{"pid":{pid},"loop_delay_ns":{{"p50":1,"p99":5,"max":{pid}}},"active_ms":10,"idle_ms":10,
                "gc":{{"pause_ns":1,"cycles":1,"major_cycles":0}},"heap_used_bytes":1,"heap_limit_bytes":2,
                "rss_bytes":3,"external_bytes":4,"requests":5{more}}}"#
        )
    }

    fn answer(processes: &[String]) -> NodeReading {
        parse(format!("{{\"processes\":[{}]}}", processes.join(",")).as_bytes()).unwrap()
    }

    #[test]
    fn real_answers_with_load_in_between() {
        let (first, second) = (parse(FIRST).unwrap(), parse(SECOND).unwrap());
        assert!(!first.gauges(None).contains_key("loop_utilisation_percent"));
        let gauges = second.gauges(Some(&first));
        assert_eq!(gauges.len(), 9, "{gauges:?}");
        assert!((0.0..=100.0).contains(&gauges["loop_utilisation_percent"]), "{gauges:?}");
        assert!(gauges["loop_delay_p50_ns"] <= gauges["loop_delay_max_ns"], "{gauges:?}");
        assert!(gauges["heap_used_bytes"] < gauges["heap_limit_bytes"], "{gauges:?}");
        let deltas = second.deltas(&first);
        assert!(deltas["gc_cycles"] >= 1.0 && deltas["gc_pause_ns"] > 0.0, "{deltas:?}");
        assert_eq!(deltas["requests"], 300.0);
    }

    #[test]
    fn processes_are_brought_together_and_a_new_one_adds_no_increase() {
        let first = answer(&[process(7, "")]);
        let second = answer(&[process(7, ""), process(9, "")]);
        let gauges = second.gauges(Some(&first));
        assert_eq!((gauges["processes"], gauges["rss_bytes"], gauges["loop_delay_max_ns"]), (2.0, 6.0, 9.0));
        assert!(!gauges.contains_key("loop_utilisation_percent"), "no time passed");
        assert_eq!(second.deltas(&first)["requests"], 0.0);
    }

    #[test]
    fn pools_are_summed() {
        let pool = r#","pool":{"max":10,"open":3,"in_use":1,"idle":2,"waits":4,"wait_ns":8}"#;
        let both = answer(&[process(1, pool), process(2, pool), process(3, "")]).pool.unwrap();
        assert_eq!((both.gauge("pool_max"), both.counter("pool_waits")), (Some(20.0), Some(8)));
        assert_eq!(answer(&[process(1, r#","pool":null"#)]).pool, None);
    }

    #[test]
    fn what_is_not_agreed_is_an_error() {
        for body in ["", "{}", r#"{"processes":[]}"#, r#"{"processes":[{"pid":1}]}"#] {
            parse(body.as_bytes()).expect_err(body);
        }
        let negative = process(1, "").replace("\"active_ms\":10", "\"active_ms\":-1");
        parse(format!("{{\"processes\":[{negative}]}}").as_bytes()).unwrap_err();
    }
}
