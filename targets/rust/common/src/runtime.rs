//! `GET /debug/runtime`: counters of Tokio and of the process, and what the target was built with.
use std::sync::atomic::{AtomicU64, Ordering};

use serde::Serialize;
use tokio::runtime::Handle;

/// Requests of this process, whose one server counts them.
static SERVED: AtomicU64 = AtomicU64::new(0);

/// Counts a request to `path`, but for those below /debug/, which are prony's own.
pub fn count(path: &str) {
    if !path.starts_with("/debug/") {
        SERVED.fetch_add(1, Ordering::Relaxed);
    }
}

/// The whole answer. Counters grow from the start of the process.
#[derive(Debug, Serialize)]
pub struct Facts {
    allocator: &'static str,
    requests: u64,
    tasks_alive: usize,
    global_queue_tasks: usize,
    /// Absent where `/proc` cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    resident_bytes: Option<u64>,
    workers: Vec<Worker>,
}

#[derive(Debug, Serialize)]
struct Worker {
    busy_seconds: f64,
    parks: u64,
}

/// Reads them, inside a runtime.
pub fn facts() -> Facts {
    let metrics = Handle::current().metrics();
    let worker = |k| Worker {
        busy_seconds: metrics.worker_total_busy_duration(k).as_secs_f64(),
        parks: metrics.worker_park_count(k),
    };
    Facts {
        allocator: if cfg!(feature = "mimalloc") { "mimalloc" } else { "system" },
        requests: SERVED.load(Ordering::Relaxed),
        tasks_alive: metrics.num_alive_tasks(),
        global_queue_tasks: metrics.global_queue_depth(),
        resident_bytes: std::fs::read_to_string("/proc/self/statm")
            .ok()
            .and_then(|text| resident_bytes(&text)),
        workers: (0..metrics.num_workers()).map(worker).collect(),
    }
}

/// The second field counts pages, proc(5).
fn resident_bytes(statm: &str) -> Option<u64> {
    let pages: u64 = statm.split_ascii_whitespace().nth(1)?.parse().ok()?;
    Some(pages * rustix::param::page_size() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resident_memory_is_the_second_field() {
        let page = rustix::param::page_size() as u64;
        assert_eq!(resident_bytes("900 7 3 1 0 5 0\n"), Some(7 * page));
        assert_eq!(resident_bytes("900"), None);
    }

    #[test]
    fn requests_are_counted_but_those_for_prony() {
        let served = || SERVED.load(Ordering::Relaxed);
        let before = served();
        ["/ping", "/nope", "/debug/runtime", "/"].into_iter().for_each(count);
        assert_eq!(served() - before, 3);
    }

    #[test]
    fn every_worker_is_told() {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(3).build().unwrap();
        let facts = runtime.block_on(async { facts() });
        assert_eq!(facts.workers.len(), 3);
        assert!(facts.resident_bytes.is_some_and(|bytes| bytes > 0));
    }
}
