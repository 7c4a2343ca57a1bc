//! `memory_view` of a cell: memory, garbage collection and the tail of one trial on one time axis.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One trial of a cell: of its valid trials that have counters, the one with the middle throughput. What was not read is
/// absent, never zero.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct MemoryView {
    /// Number of the trial.
    pub trial: u32,
    /// Begin of its first sample, from the trial's origin.
    pub begin_ns: u64,
    /// Ends of the intervals that every series has a value for; at most 1,000, of longer trials every second, third …
    pub ends_ns: Vec<u64>,
    /// One entry for each thing that was read, in the order of its kinds.
    pub series: Vec<MemorySeries>,
    /// Bytes allocated for each right answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alloc_per_request_bytes: Option<f64>,
    /// Objects allocated for each right answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alloc_per_request_objects: Option<f64>,
    /// Collections per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub collections_per_s: Option<f64>,
    /// Time in pauses of collections over all time; above 1 where several processes pause at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pause_share: Option<f64>,
    /// CPU time of garbage collection over that of the target's processes, 0 to 1; of Go only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gc_cpu_share: Option<f64>,
}

/// One thing over time.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct MemorySeries {
    /// What it is; its unit follows from that.
    pub kind: MemoryKind,
    /// Where it was read, for example `go.runtime/heap_live_bytes`.
    pub from: String,
    /// One value an interval; null where it was not read.
    pub values: Vec<Option<f64>>,
}

/// What is looked at over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MemoryKind {
    /// Resident memory of the target's processes in bytes.
    Resident,
    /// Heap in use in bytes; Go tells what was alive at the last collection.
    Heap,
    /// Bytes allocated per second.
    AllocRate,
    /// Collections per second.
    Collections,
    /// Time in pauses of collections, in nanoseconds per second.
    Pauses,
    /// 99th percentile of response time of an interval in nanoseconds; for a chart, too short to be a result.
    P99,
}
