//! `go.runtime` of package expvar: its `memstats`, which every Go program that imports it serves under `/debug/vars`.
//!
//! | key | kind | runtime.MemStats |
//! |---|---|---|
//! | `heap_bytes`, `heap_goal_bytes`, `heap_objects`, `stacks_bytes`, `total_bytes` | gauge | `HeapAlloc`, `NextGC`, `HeapObjects`, `StackInuse`, `Sys` |
//! | `gc_cycles`, `gc_pauses` | delta | `NumGC` |
//! | `gc_pause_ns` | delta | `PauseTotalNs` |
//! | `alloc_bytes`, `alloc_objects` | delta | `TotalAlloc`, `Mallocs` |
//!
//! Absent on purpose: goroutines, waits for locks and pools, which expvar does not publish by itself; a program's own
//! variables, whose names only it knows. Each reading stops the target's goroutines for a moment (runtime.ReadMemStats).

use super::fields::Table;
use crate::error::ParseError;
use crate::reading::Reading;

const TABLE: Table = Table {
    gauges: &[
        ("/memstats/HeapAlloc", "heap_bytes"),
        ("/memstats/NextGC", "heap_goal_bytes"),
        ("/memstats/HeapObjects", "heap_objects"),
        ("/memstats/StackInuse", "stacks_bytes"),
        ("/memstats/Sys", "total_bytes"),
    ],
    counters: &[
        ("/memstats/NumGC", "gc_cycles"),
        ("/memstats/NumGC", "gc_pauses"),
        ("/memstats/PauseTotalNs", "gc_pause_ns"),
        ("/memstats/TotalAlloc", "alloc_bytes"),
        ("/memstats/Mallocs", "alloc_objects"),
    ],
};

/// Parses one answer.
///
/// # Errors
/// It is no JSON, or has no `memstats`.
pub fn parse(body: &[u8]) -> Result<Reading, ParseError> {
    TABLE.parse(body)
}
