//! What the analysis of a run gets of one trial. Absent on purpose: reading it (crate record).

use hdrhistogram::Histogram;
use schema::signals::Signals;
use schema::trial::{IntervalLine, TrialFile};

/// One trial as read from its folder.
#[derive(Clone, Debug)]
pub struct TrialData {
    /// `trial.json`.
    pub file: TrialFile,
    /// `intervals.ndjson`.
    pub intervals: Vec<IntervalLine>,
    /// Response times of the measured window in nanoseconds, merged over intervals; absent where there are none.
    pub response: Option<Histogram<u64>>,
    /// Its counters on the intervals of its samples; absent where there are none.
    pub signals: Option<Signals>,
}
