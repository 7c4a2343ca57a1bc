//! Which workers of a load a generator makes.

use schema::plan::LoadPlan;
use serde::{Deserialize, Serialize};

/// A generator's part of a load that several processes make together: the workers `first..first + workers` of
/// `LoadPlan::workers`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Part {
    /// First worker, counted from 0.
    pub first: u32,
    /// How many; at least 1.
    pub workers: u32,
}

impl Part {
    /// All workers of a load.
    #[must_use]
    pub const fn whole(load: &LoadPlan) -> Self {
        Self { first: 0, workers: load.workers }
    }
}
