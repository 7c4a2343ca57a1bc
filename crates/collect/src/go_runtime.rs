//! `go.runtime`: what a Go target's runtime knows about itself, read by GET from the target.
//!
//! The answer is one JSON object keyed by the names of Go's package runtime/metrics; a histogram is
//! `{"buckets":[…],"counts":[…]}` with infinite bounds as null (targets/go/common/runtimestats).
//!
//! | key | kind | runtime/metrics |
//! |---|---|---|
//! | `goroutines_created` | delta | `/sched/goroutines-created:goroutines` |
//! | `goroutines`, `goroutines_runnable` | gauge | `/sched/goroutines:goroutines`,
//! `/sched/goroutines/runnable:goroutines` |
//! | `threads`, `gomaxprocs` | gauge | `/sched/threads/total:threads`, `/sched/gomaxprocs:threads` |
//! | `heap_bytes`, `heap_live_bytes`, `heap_goal_bytes` | gauge | `/memory/classes/heap/objects:bytes`,
//! `/gc/heap/{live,goal}:bytes` |
//! | `heap_objects`, `stacks_bytes`, `total_bytes` | gauge | `/gc/heap/objects:objects`,
//! `/memory/classes/{heap/stacks,total}:bytes` |
//! | `released_bytes` | gauge | `/memory/classes/heap/released:bytes`: of the total, what the system has back |
//! | `gc_cycles` | delta | `/gc/cycles/total:gc-cycles` |
//! | `alloc_bytes`, `alloc_objects` | delta | `/gc/heap/allocs:{bytes,objects}` |
//! | `mutex_wait_ns` | delta | `/sync/mutex/wait/total:seconds` |
//! | `gc_cpu_ns`, `gc_assist_cpu_ns`, `user_cpu_ns` | delta | `/cpu/classes/{gc/total,gc/mark/assist,user}:cpu-seconds`
//! |
//! | `total_cpu_ns` | delta | `/cpu/classes/total:cpu-seconds` |
//! | `gc_pauses`, `gc_pause_ns` | delta | `/sched/pauses/total/gc:seconds` |
//! | `gc_pause_p99_ns`, `gc_pause_max_ns` | gauge | the same, increase since the previous line |
//! | `pauses` of the line | by bucket | the same, increase since the previous line; empty buckets are left out |
//! | `sched_latency_p99_ns` | gauge | `/sched/latencies:seconds`, increase since the previous line |
//! | `pool_wait_p95_ns` | gauge | `pool-wait:seconds` of `targets/go/common`, increase since the previous line: how long it took to get a connection of the pool, also in vain; absent where nobody asked for one |
//! | `orders_waiting` | gauge | what `targets/go/orders` counts of its queue |
//! | `orders_done`, `orders_failed`, `orders_refused` | delta | the same |
//! | `guarded_calls`, `fallbacks`, `breaker_opened` | delta | what it counts of its circuit breaker |
//!
//! An answer may have a `pool` too, of package database/sql: see [`crate::runtimes::pool`].
//!
//! `gc_pause_ns` is an estimate: each pause counts as the middle of its bucket (from 256 ns on, a bucket is at most a
//! quarter of its lower bound wide). `sched_latency_p99_ns`, `gc_pause_p99_ns` and `gc_pause_max_ns` are the upper
//! bound of the bucket that holds the quantile or the longest pause, so they are never too low, except in the last,
//! unbounded bucket, where the lower bound is given; without a pause they are absent.
//! The `/cpu/classes` estimates stand still between two collections, so their deltas are absent where no cycle ended;
//! where one did, they span the time back to the cycle before, all over the same time.
//! The reading itself is one request a tick on a fresh connection; it is not part of the load's counts.

use crate::backoff::Backoff;
use crate::error::{CollectError, ParseError};
use crate::reading::{self, Reading, Values};
use crate::runtimes::pool::{self, PoolSlot};
use crate::runtimes::shape;
use crate::source::{Comparable, Differencing, Source};
use probe::Limits;
use schema::counter_name::GO_AT_CYCLE_END;
use schema::trial::PauseCount;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

/// Name of the source.
pub const NAME: &str = "go.runtime";

/// Of one whole GET.
const LIMITS: Limits = Limits { timeout: Duration::from_secs(1), body_bytes: 1 << 20 };

const GAUGES: [(&str, &str); 12] = [
    ("/sched/goroutines:goroutines", "goroutines"),
    ("/sched/goroutines/runnable:goroutines", "goroutines_runnable"),
    ("/sched/threads/total:threads", "threads"),
    ("/sched/gomaxprocs:threads", "gomaxprocs"),
    ("/memory/classes/heap/objects:bytes", "heap_bytes"),
    ("/gc/heap/live:bytes", "heap_live_bytes"),
    ("/gc/heap/goal:bytes", "heap_goal_bytes"),
    ("/gc/heap/objects:objects", "heap_objects"),
    ("/memory/classes/heap/stacks:bytes", "stacks_bytes"),
    ("/memory/classes/total:bytes", "total_bytes"),
    ("/memory/classes/heap/released:bytes", "released_bytes"),
    ("orders_waiting", "orders_waiting"),
];

const COUNTERS: [(&str, &str); 10] = [
    ("/sched/goroutines-created:goroutines", "goroutines_created"),
    ("/gc/cycles/total:gc-cycles", "gc_cycles"),
    ("/gc/heap/allocs:bytes", "alloc_bytes"),
    ("/gc/heap/allocs:objects", "alloc_objects"),
    ("orders_done", "orders_done"),
    ("orders_failed", "orders_failed"),
    ("orders_refused", "orders_refused"),
    ("guarded_calls", "guarded_calls"),
    ("fallbacks", "fallbacks"),
    ("breaker_opened", "breaker_opened"),
];

/// Counters in seconds, stored in nanoseconds.
const SECONDS: [(&str, &str); 5] = [
    ("/sync/mutex/wait/total:seconds", "mutex_wait_ns"),
    ("/cpu/classes/gc/total:cpu-seconds", "gc_cpu_ns"),
    ("/cpu/classes/gc/mark/assist:cpu-seconds", "gc_assist_cpu_ns"),
    ("/cpu/classes/user:cpu-seconds", "user_cpu_ns"),
    ("/cpu/classes/total:cpu-seconds", "total_cpu_ns"),
];

const PAUSES: &str = "/sched/pauses/total/gc:seconds";
const LATENCIES: &str = "/sched/latencies:seconds";
const POOL_WAITS: &str = "pool-wait:seconds";

/// One answer of the endpoint.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GoReading {
    /// Plain gauges and counters.
    pub plain: Reading,
    /// Pauses of the collector, in seconds, since the start of the process.
    pub pauses: Option<Histogram>,
    /// Times that goroutines waited to run, in seconds, since the start of the process.
    pub latencies: Option<Histogram>,
    /// The pool of database connections, where the target reports one.
    pub pool: Option<Reading>,
    /// Times that it took to get a connection of it, in seconds, since the start of the process.
    pub pool_waits: Option<Histogram>,
    /// For example `go1.26.8`.
    pub go_version: Option<String>,
    /// Module path → version.
    pub dependencies: BTreeMap<String, String>,
}

/// A histogram of package runtime/metrics: `counts[k]` values lie in `[bounds[k], bounds[k + 1])`.
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram {
    /// One more than counts, rising; the outer ones may be infinite.
    bounds: Vec<f64>,
    counts: Vec<u64>,
}

/// Parses the endpoint's answer. A metric that the runtime lacks is absent.
///
/// # Errors
/// Where it is not the agreed JSON.
pub fn parse(body: &[u8]) -> Result<GoReading, ParseError> {
    let object: Map<String, Value> =
        serde_json::from_slice(body).map_err(|e| ParseError::Json(e.to_string()))?;
    let mut plain = Reading::default();
    for (key, name) in GAUGES {
        if let Some(value) = amount(&object, key)? {
            plain.gauges.insert(name, value);
        }
    }
    for (key, name) in COUNTERS {
        if let Some(value) = object.get(key) {
            plain.counters.insert(name, value.as_u64().ok_or_else(|| not_number(key))?);
        }
    }
    for (key, name) in SECONDS {
        if let Some(seconds) = amount(&object, key)? {
            plain.counters.insert(name, (seconds * 1e9).round() as u64);
        }
    }
    Ok(GoReading {
        plain,
        pauses: Histogram::from_json(&object, PAUSES)?,
        latencies: Histogram::from_json(&object, LATENCIES)?,
        pool: object.get("pool").map(pool::read).transpose()?.flatten(),
        pool_waits: Histogram::from_json(&object, POOL_WAITS)?,
        go_version: object.get("go_version").and_then(Value::as_str).map(str::to_owned),
        dependencies: dependencies(&object),
    })
}

fn amount(object: &Map<String, Value>, key: &str) -> Result<Option<f64>, ParseError> {
    let Some(value) = object.get(key) else { return Ok(None) };
    let number = value.as_f64().filter(|number| number.is_finite() && *number >= 0.0);
    number.map(Some).ok_or_else(|| not_number(key))
}

fn not_number(key: &str) -> ParseError {
    ParseError::Json(format!("{key} is not a number in range"))
}

fn dependencies(object: &Map<String, Value>) -> BTreeMap<String, String> {
    let modules = object.get("dependencies").and_then(Value::as_object);
    modules
        .into_iter()
        .flatten()
        .filter_map(|(module, version)| Some((module.clone(), version.as_str()?.to_owned())))
        .collect()
}

/// Increases between two answers.
#[must_use]
pub fn delta(previous: &GoReading, now: &GoReading) -> Values {
    let mut deltas = reading::delta(&previous.plain, &now.plain);
    if deltas.get("gc_cycles").is_none_or(|cycles| *cycles == 0.0) {
        GO_AT_CYCLE_END.iter().for_each(|name| {
            deltas.remove(*name);
        });
    }
    if let Some(pauses) = increase(previous.pauses.as_ref(), now.pauses.as_ref()) {
        deltas.insert("gc_pauses".to_owned(), pauses.count() as f64);
        deltas.insert("gc_pause_ns".to_owned(), pauses.sum_of_middles() * 1e9);
    }
    deltas
}

impl Comparable for GoReading {
    fn gauges(&self, previous: Option<&Self>) -> Values {
        let mut gauges = reading::named(&self.plain.gauges);
        let since = |of: fn(&Self) -> Option<&Histogram>| increase(of(previous?), of(self));
        let pauses = since(|reading| reading.pauses.as_ref());
        for (name, times, q) in [
            ("sched_latency_p99_ns", &since(|reading| reading.latencies.as_ref()), 0.99),
            ("pool_wait_p95_ns", &since(|reading| reading.pool_waits.as_ref()), 0.95),
            ("gc_pause_p99_ns", &pauses, 0.99),
            ("gc_pause_max_ns", &pauses, 1.0),
        ] {
            if let Some(seconds) = times.as_ref().and_then(|times| times.quantile(q)) {
                gauges.insert(name.to_owned(), seconds * 1e9);
            }
        }
        gauges
    }

    fn deltas(&self, previous: &Self) -> Values {
        delta(previous, self)
    }

    fn pauses(&self, previous: &Self) -> Vec<PauseCount> {
        let pauses = increase(previous.pauses.as_ref(), self.pauses.as_ref());
        pauses.map(|pauses| pauses.by_length()).unwrap_or_default()
    }
}

fn increase(previous: Option<&Histogram>, now: Option<&Histogram>) -> Option<Histogram> {
    now?.since(previous?)
}

impl Histogram {
    fn from_json(object: &Map<String, Value>, key: &'static str) -> Result<Option<Self>, ParseError> {
        #[derive(Deserialize)]
        struct Raw {
            buckets: Vec<Option<f64>>,
            counts: Vec<u64>,
        }
        let Some(value) = object.get(key) else { return Ok(None) };
        let raw = Raw::deserialize(value).map_err(|error| ParseError::Json(format!("{key}: {error}")))?;
        let last = raw.buckets.len().saturating_sub(1);
        let bound = |(index, bound): (usize, &Option<f64>)| match (bound, index) {
            (Some(bound), _) => *bound,
            (None, 0) => f64::NEG_INFINITY,
            (None, index) if index == last => f64::INFINITY,
            (None, _) => f64::NAN,
        };
        let bounds: Vec<f64> = raw.buckets.iter().enumerate().map(bound).collect();
        if bounds.len() != raw.counts.len() + 1 || !bounds.is_sorted_by(|a, b| a < b) {
            return Err(ParseError::Histogram(key));
        }
        Ok(Some(Self { bounds, counts: raw.counts }))
    }

    /// What came in since `previous`; nothing where a count went backwards or the bounds changed (another process).
    fn since(&self, previous: &Self) -> Option<Self> {
        if self.bounds != previous.bounds {
            return None;
        }
        let counts = self.counts.iter().zip(&previous.counts).map(|(now, before)| now.checked_sub(*before));
        Some(Self { bounds: self.bounds.clone(), counts: counts.collect::<Option<_>>()? })
    }

    fn count(&self) -> u64 {
        self.counts.iter().fold(0, |sum, count| sum.saturating_add(*count))
    }

    /// Sum of all values, each taken as the middle of its bucket, or as the finite bound of an unbounded one.
    fn sum_of_middles(&self) -> f64 {
        let middle = |low: f64, high: f64| match (low.is_finite(), high.is_finite()) {
            (true, true) => f64::midpoint(low, high),
            (true, false) => low,
            (false, true) => high,
            (false, false) => 0.0,
        };
        self.bounds.windows(2).zip(&self.counts).map(|(pair, n)| middle(pair[0], pair[1]) * *n as f64).sum()
    }

    /// The buckets that are not empty, in nanoseconds; an end that is not finite is the other one.
    fn by_length(&self) -> Vec<PauseCount> {
        let ns = |seconds: f64| (seconds * 1e9).round() as u64;
        let bucket = |(pair, count): (&[f64], &u64)| {
            let [low, high] = [pair[0], pair[1]];
            let from = if low.is_finite() { low } else { high };
            let to = if high.is_finite() { high } else { low };
            (*count > 0).then(|| PauseCount { from_ns: ns(from), to_ns: ns(to), count: *count })
        };
        self.bounds.windows(2).zip(&self.counts).filter_map(bucket).collect()
    }

    /// Upper bound of the bucket with quantile `q`; nothing where there are no values.
    fn quantile(&self, q: f64) -> Option<f64> {
        let rank = ((self.count() as f64) * q).ceil().max(1.0);
        let mut below = 0.0;
        let index = self.counts.iter().position(|count| {
            below += *count as f64;
            below >= rank
        })?;
        [self.bounds[index + 1], self.bounds[index]].into_iter().find(|bound| bound.is_finite())
    }
}

/// Asks the target once.
///
/// # Errors
/// Where it does not answer well within a second.
pub fn read(address: SocketAddr, path: &str) -> Result<GoReading, CollectError> {
    let body = probe::get(address, path, LIMITS).map_err(|source| CollectError::Get {
        address,
        path: path.to_owned(),
        source,
    })?;
    let found = match parse(&body) {
        // JSON of something else has none of the names.
        Ok(found) if found == GoReading::default() => {
            Err(ParseError::Missing("every metric of Go's runtime/metrics"))
        }
        parsed => parsed,
    };
    found.map_err(|source| shape::explained(format!("http://{address}{path}"), source, &body))
}

/// Asked at each tick; what each answer says of the pool goes into `slot`.
pub(crate) fn source(address: SocketAddr, path: String, slot: PoolSlot) -> Box<dyn Source> {
    let mut backoff = Backoff::default();
    Box::new(Differencing::new(NAME, move || {
        let found = backoff.attempt(|| read(address, &path));
        slot.put(found.as_ref().ok().map(|found| found.pool.clone()));
        found
    }))
}

#[cfg(test)]
mod tests;
