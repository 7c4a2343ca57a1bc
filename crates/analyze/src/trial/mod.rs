//! One trial: its latency summaries, its gates, and whether its warm-up is over.

pub(crate) mod histogram;
mod level;
mod summary;
mod validity;

pub use level::is_level;
pub use summary::{latency, quantile_floor};
pub(crate) use validity::{STEAL_SAID, gate};
pub use validity::{TrialFacts, validity};
