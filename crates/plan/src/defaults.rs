//! Defaults of experiment files and of `prony load`; their one home.

use units::{Count, Nanos};

/// Passes through all cells: one more than the fewest that give an interval (METHOD §3), so that a void trial that
/// stays void does not cost it.
pub const BLOCKS: u64 = 6;
/// Seed of every random decision.
pub const SEED: u64 = 1;
/// Equivalence margin (METHOD §3).
pub const MARGIN: f64 = 0.02;
/// How far a measurement may lie from a published number and reproduce it.
pub const TOLERANCE_PUBLISHED: f64 = 0.1;
/// Confidence level.
pub const CONFIDENCE: f64 = 0.95;
/// Connections.
pub const CONNECTIONS: u64 = 64;
/// Up to how many connections an open load grows where nothing is said of connections.
pub const GROWTH: Count = Count(10_000);
/// Time for a connection attempt.
pub const CONNECT_TIMEOUT: Nanos = Nanos::from_secs(5);
/// Time from written to done.
pub const TIMEOUT: Nanos = Nanos::from_secs(10);
/// Shortest warm-up.
pub const WARMUP_AT_LEAST: Nanos = Nanos::from_secs(3);
/// Longest warm-up.
pub const WARMUP_AT_MOST: Nanos = Nanos::from_secs(20);
/// Length of a sample.
pub const SAMPLE: Nanos = Nanos::from_secs(5);
/// Samples in a trial.
pub const SAMPLES: u32 = 3;
/// Longest wait for requests in flight at the end.
pub const DRAIN: Nanos = Nanos::SECOND;
/// Length of the measured window of a single load.
pub const DURATION: Nanos = Nanos::from_secs(10);
