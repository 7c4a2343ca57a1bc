//! How often counters are read beside the load: as a user writes it and as the plan has it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Nanos;

/// `[counters]` of an experiment.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Counters {
    /// Time between two readings of the counters, from 100ms to 60s. Default 1s.
    pub tick: Option<Nanos>,
}

/// The pace in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct CountersPlan {
    /// Time between two readings of the counters.
    pub tick_ns: u64,
}

impl Default for CountersPlan {
    /// Once a second.
    fn default() -> Self {
        Self { tick_ns: 1_000_000_000 }
    }
}
