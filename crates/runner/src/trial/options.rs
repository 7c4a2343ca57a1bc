//! How a trial is watched.

use crate::soak::Floors;
use units::Nanos;

/// How a trial is watched, and what happens where it is interrupted.
#[derive(Clone, Debug)]
pub(crate) struct TrialOptions {
    /// Between two readings of the counters.
    pub(crate) tick: Nanos,
    /// Where readings of the target go besides `counters.ndjson`.
    pub(crate) floors: Option<Floors>,
    /// Whether a trial that is interrupted under load is ended and kept.
    pub(crate) keeps_interrupted: bool,
}
