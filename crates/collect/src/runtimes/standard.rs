//! Standard names: what the usual client libraries and exporters call what prony knows under names of its own, so that a
//! target needs no code for prony. Read from Prometheus' text format or OpenMetrics, one GET for all of an endpoint.
//!
//! | library or exporter | families | become |
//! |---|---|---|
//! | client_golang | `go_*` of the default collector; with `collectors.MetricsAll` also waits for locks and CPU classes | `go.runtime` |
//! | client_golang, `collectors.NewDBStatsCollector` | `go_sql_*` | `go.pool` |
//! | Micrometer, client_java, the JMX exporter | `jvm_*` | `jvm.runtime` |
//! | HikariCP by Micrometer | `hikaricp_*` | `jvm.pool` |
//! | prom-client of Node | `nodejs_*` | `node.runtime` |
//! | php-fpm_exporter | `phpfpm_*` | `php.fpm` |
//! | redis_exporter | `redis_*` | `service.exported.redis` |
//!
//! The whole of it is `NAMES`. Series of one name are summed, such as those of several pools or collectors. Times are
//! in seconds there and in nanoseconds here.
//!
//! prom-client's delays have the period of Node's own timer in them, 10 ms unless it was set otherwise; that, or the
//! smallest delay where it is less, is taken off.
//!
//! Invariants: what is not there is absent, and an endpoint with none of the names is an error that says so; the `go_*`
//! of an exporter that runs beside the target are its own and are left out; a value is a number from 0 to 2^53 in its unit
//! here.
//! Absent on purpose: `process_cpu_seconds_total`, because on another host the number of CPUs is not known, and on this
//! one the process is read itself; quantiles of summaries, which cannot be summed or brought to one tick.

use super::LIMITS;
use crate::backoff::Backoff;
use crate::error::{CollectError, ParseError};
use crate::exposition::{self, Exposition};
use crate::reading::Reading;
use crate::server_side::{Endpoint, get_within};
use crate::source::{Differencing, Source};
use schema::target::ExporterAt;
use schema::trial::CounterLine;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use units::Nanos;

const GO: &str = "go.runtime";
const GO_POOL: &str = "go.pool";
const JVM: &str = "jvm.runtime";
const JVM_POOL: &str = "jvm.pool";
const NODE: &str = "node.runtime";
const FPM: &str = "php.fpm";
const REDIS: &str = "service.exported.redis";
/// All that can come of one endpoint, in the order in which they are read.
const SOURCES: [&str; 7] = [GO, GO_POOL, JVM, JVM_POOL, NODE, FPM, REDIS];
/// Of programs that run beside what they report on.
const BESIDE: [&str; 2] = [FPM, REDIS];

/// How a value is taken over.
#[derive(Clone, Copy)]
enum As {
    /// As it stands.
    Gauge,
    /// A time in seconds as it stands.
    GaugeSeconds,
    /// A number that only grows.
    Counter,
    /// A time in seconds that only grows.
    CounterSeconds,
}

/// A sample, the label that it must have if any, and what it is here.
struct Name {
    sample: &'static str,
    label: Option<(&'static str, &'static str)>,
    source: &'static str,
    key: &'static str,
    kind: As,
}

const fn name(sample: &'static str, source: &'static str, key: &'static str, kind: As) -> Name {
    Name { sample, label: None, source, key, kind }
}

const fn labelled(
    sample: &'static str,
    label: (&'static str, &'static str),
    source: &'static str,
    key: &'static str,
) -> Name {
    Name { sample, label: Some(label), source, key, kind: As::Gauge }
}

/// The smallest delay of Node's loop, which only corrects the others.
const LOOP_MIN: &str = "loop_delay_min_ns";
/// Period of Node's timer by default.
const LOOP_TIMER_NS: f64 = 10e6;

const HEAP: (&str, &str) = ("area", "heap");

/// The table. Where several names give one key, as of several versions of a library, the first that is there counts.
const NAMES: &[Name] = &[
    name("go_goroutines", GO, "goroutines", As::Gauge),
    name("go_threads", GO, "threads", As::Gauge),
    name("go_sched_gomaxprocs_threads", GO, "gomaxprocs", As::Gauge),
    name("go_memstats_heap_alloc_bytes", GO, "heap_bytes", As::Gauge),
    name("go_memstats_next_gc_bytes", GO, "heap_goal_bytes", As::Gauge),
    name("go_memstats_heap_objects", GO, "heap_objects", As::Gauge),
    name("go_memstats_sys_bytes", GO, "total_bytes", As::Gauge),
    name("go_gc_duration_seconds_count", GO, "gc_cycles", As::Counter),
    name("go_gc_duration_seconds_count", GO, "gc_pauses", As::Counter),
    name("go_gc_duration_seconds_sum", GO, "gc_pause_ns", As::CounterSeconds),
    name("go_memstats_alloc_bytes_total", GO, "alloc_bytes", As::Counter),
    name("go_memstats_mallocs_total", GO, "alloc_objects", As::Counter),
    name("go_sync_mutex_wait_total_seconds_total", GO, "mutex_wait_ns", As::CounterSeconds),
    name("go_cpu_classes_gc_total_cpu_seconds_total", GO, "gc_cpu_ns", As::CounterSeconds),
    name("go_cpu_classes_gc_mark_assist_cpu_seconds_total", GO, "gc_assist_cpu_ns", As::CounterSeconds),
    name("go_cpu_classes_user_cpu_seconds_total", GO, "user_cpu_ns", As::CounterSeconds),
    name("go_cpu_classes_total_cpu_seconds_total", GO, "total_cpu_ns", As::CounterSeconds),
    name("go_sql_max_open_connections", GO_POOL, "pool_max", As::Gauge),
    name("go_sql_open_connections", GO_POOL, "pool_open", As::Gauge),
    name("go_sql_in_use_connections", GO_POOL, "pool_in_use", As::Gauge),
    name("go_sql_idle_connections", GO_POOL, "pool_idle", As::Gauge),
    name("go_sql_wait_count_total", GO_POOL, "pool_waits", As::Counter),
    name("go_sql_wait_duration_seconds_total", GO_POOL, "pool_wait_ns", As::CounterSeconds),
    labelled("jvm_memory_used_bytes", HEAP, JVM, "heap_used_bytes"),
    labelled("jvm_memory_bytes_used", HEAP, JVM, "heap_used_bytes"),
    labelled("jvm_memory_committed_bytes", HEAP, JVM, "heap_committed_bytes"),
    labelled("jvm_memory_bytes_committed", HEAP, JVM, "heap_committed_bytes"),
    name("jvm_threads_live_threads", JVM, "threads", As::Gauge),
    name("jvm_threads_current", JVM, "threads", As::Gauge),
    labelled("jvm_threads_states_threads", ("state", "blocked"), JVM, "threads_blocked"),
    labelled("jvm_threads_state", ("state", "BLOCKED"), JVM, "threads_blocked"),
    name("jvm_gc_pause_seconds_count", JVM, "gc_cycles", As::Counter),
    name("jvm_gc_collection_seconds_count", JVM, "gc_cycles", As::Counter),
    name("jvm_gc_pause_seconds_sum", JVM, "gc_pause_ns", As::CounterSeconds),
    name("jvm_gc_collection_seconds_sum", JVM, "gc_pause_ns", As::CounterSeconds),
    name("hikaricp_connections_max", JVM_POOL, "pool_max", As::Gauge),
    name("hikaricp_connections", JVM_POOL, "pool_open", As::Gauge),
    name("hikaricp_connections_active", JVM_POOL, "pool_in_use", As::Gauge),
    name("hikaricp_connections_idle", JVM_POOL, "pool_idle", As::Gauge),
    name("hikaricp_connections_pending", JVM_POOL, "pool_waiting", As::Gauge),
    name("hikaricp_connections_acquire_seconds_count", JVM_POOL, "pool_waits", As::Counter),
    name("hikaricp_connections_acquire_seconds_sum", JVM_POOL, "pool_wait_ns", As::CounterSeconds),
    name("nodejs_eventloop_lag_min_seconds", NODE, LOOP_MIN, As::GaugeSeconds),
    name("nodejs_eventloop_lag_p50_seconds", NODE, "loop_delay_p50_ns", As::GaugeSeconds),
    name("nodejs_eventloop_lag_p99_seconds", NODE, "loop_delay_p99_ns", As::GaugeSeconds),
    name("nodejs_eventloop_lag_max_seconds", NODE, "loop_delay_max_ns", As::GaugeSeconds),
    name("nodejs_gc_duration_seconds_count", NODE, "gc_cycles", As::Counter),
    name("nodejs_gc_duration_seconds_sum", NODE, "gc_pause_ns", As::CounterSeconds),
    name("nodejs_heap_size_used_bytes", NODE, "heap_used_bytes", As::Gauge),
    name("nodejs_external_memory_bytes", NODE, "external_bytes", As::Gauge),
    name("phpfpm_active_processes", FPM, "active", As::Gauge),
    name("phpfpm_idle_processes", FPM, "idle", As::Gauge),
    name("phpfpm_total_processes", FPM, "total", As::Gauge),
    name("phpfpm_listen_queue", FPM, "listen_queue", As::Gauge),
    name("phpfpm_max_children_reached", FPM, "max_children_reached", As::Counter),
    name("phpfpm_slow_requests", FPM, "slow_requests", As::Counter),
    name("redis_commands_duration_seconds_total", REDIS, "command_ns", As::CounterSeconds),
    name("redis_keyspace_hits_total", REDIS, "hits", As::Counter),
    name("redis_keyspace_misses_total", REDIS, "misses", As::Counter),
];

/// What one text said, by source.
pub type Standard = BTreeMap<&'static str, Reading>;

/// Counts beyond this have no exact form in the format's floating-point numbers.
const COUNT_MAX: f64 = 9_007_199_254_740_992.0;

/// Reads one text.
///
/// # Errors
/// It is in neither format, or has none of the names.
pub fn parse(body: &[u8]) -> Result<Standard, ParseError> {
    let names: Vec<&str> = NAMES.iter().map(|name| name.sample).collect();
    let found = exposition::parse(body, &names)?;
    let mut standard = Standard::new();
    for name in NAMES {
        if let Some(value) = sum(&found, name) {
            put(standard.entry(name.source).or_default(), name, value);
        }
    }
    if BESIDE.iter().any(|source| standard.contains_key(source)) {
        standard.remove(GO);
    }
    if let Some(node) = standard.get_mut(NODE) {
        without_timer(node);
    }
    // Go says 0 where there is no limit.
    if let Some(pool) = standard.get_mut(GO_POOL).filter(|pool| pool.gauge("pool_max") == Some(0.0)) {
        pool.gauges.remove("pool_max");
    }
    if standard.is_empty() {
        return Err(ParseError::Missing(
            "every family of the standard names (go_*, go_sql_*, jvm_*, hikaricp_*, nodejs_*, phpfpm_*, redis_*)",
        ));
    }
    Ok(standard)
}

/// Takes the period of Node's timer off the delays of its loop.
fn without_timer(node: &mut Reading) {
    let timer = node.gauges.remove(LOOP_MIN).unwrap_or_default().min(LOOP_TIMER_NS);
    for (_, delay) in node.gauges.iter_mut().filter(|(key, _)| key.starts_with("loop_delay_")) {
        *delay = (*delay - timer).max(0.0);
    }
}

/// The sum over the series that have the label, in the unit here; nothing where there is none in range.
fn sum(found: &Exposition, name: &Name) -> Option<f64> {
    let values: Vec<f64> = found.values(name.sample, name.label).collect();
    let sum = values.iter().sum::<f64>();
    let factor = match name.kind {
        As::Gauge | As::Counter => 1.0,
        As::GaugeSeconds | As::CounterSeconds => 1e9,
    };
    Some(sum * factor).filter(|value| !values.is_empty() && (0.0..=COUNT_MAX).contains(value))
}

fn put(reading: &mut Reading, name: &Name, value: f64) {
    match name.kind {
        As::Gauge | As::GaugeSeconds => {
            reading.gauges.entry(name.key).or_insert(value);
        }
        As::Counter | As::CounterSeconds => {
            reading.counters.entry(name.key).or_insert(value as u64);
        }
    }
}

/// The latest answer, until the last of its sources has taken its part.
type Latest = Arc<Mutex<Option<Standard>>>;

/// The sources of one endpoint. The first one asks, and tells how many of the others there are; these must be read after.
pub(crate) fn sources(at: &Endpoint, wanted: &ExporterAt) -> Vec<Box<dyn Source>> {
    let latest = Latest::default();
    let mut all: Vec<Box<dyn Source>> = vec![asking(at.clone(), wanted.clone(), latest.clone())];
    all.extend(SOURCES.map(|name| -> Box<dyn Source> { Box::new(Part::new(name, latest.clone())) }));
    all
}

/// Name of the source that asks.
pub const NAME: &str = "target.exporter";

fn asking(at: Endpoint, wanted: ExporterAt, latest: Latest) -> Box<dyn Source> {
    let mut backoff = Backoff::default();
    Box::new(Differencing::new(NAME, move || {
        let found = backoff.attempt(|| get_within(&at, wanted.port, &wanted.path, LIMITS, parse));
        let (answer, result) = match found {
            Ok(standard) => {
                let gauges = [("sources", standard.len() as f64)].into();
                (Some(standard), Ok(Reading { gauges, ..Reading::default() }))
            }
            Err(error) => (None, Err(error)),
        };
        *latest.lock().unwrap_or_else(PoisonError::into_inner) = answer;
        result
    }))
}

/// One source of the answer: silent where the answer never had it, a gap where it had it before.
struct Part {
    name: &'static str,
    latest: Latest,
    inner: Option<Box<dyn Source>>,
}

impl Part {
    fn new(name: &'static str, latest: Latest) -> Self {
        Self { name, latest, inner: None }
    }

    fn begin(&self) -> Box<dyn Source> {
        let (name, latest) = (self.name, self.latest.clone());
        Box::new(Differencing::new(name, move || {
            let mut latest = latest.lock().unwrap_or_else(PoisonError::into_inner);
            latest.as_mut().and_then(|standard| standard.remove(name)).ok_or(CollectError::Absent {
                what: "its part of the exporter's answer",
                remedy: "the line of target.exporter tells why",
            })
        }))
    }

    fn is_there(&self) -> bool {
        let latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        latest.as_ref().is_some_and(|standard| standard.contains_key(self.name))
    }
}

impl Source for Part {
    fn name(&self) -> &str {
        self.name
    }

    fn tick(&mut self, now: Nanos) -> Result<CounterLine, CollectError> {
        if self.inner.is_none() && self.is_there() {
            self.inner = Some(self.begin());
        }
        match &mut self.inner {
            Some(inner) => inner.tick(now),
            None => Ok(CounterLine { t_ns: now.0, source: self.name.to_owned(), ..CounterLine::default() }),
        }
    }

    fn may_be_silent(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests;
