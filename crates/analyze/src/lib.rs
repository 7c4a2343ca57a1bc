//! Pure statistics: from histograms and trial files to summaries, gates, comparisons, claims and the answer.
//!
//! Invariants: the trial is the unit of analysis and percentiles are never averaged (METHOD §0); what cannot be
//! answered is refused with its cause and remedy; no number that leaves this crate is NaN or infinite; no input,
//! however hostile, makes it panic; the order in which trials are handed over does not matter.
//! Layout: `stats` knows numbers only, `arrivals` what was sent when, `trial` knows one trial, `run` knows a whole run,
//! `environment` what two hosts differ in, `alarms` what holds while a load runs, `words` writes numbers for people, `made` makes up runs for `selfcheck` and tests.
//! Absent on purpose: IO, sockets, clocks, randomness, and the reading or writing of run folders.

mod alarms;
pub mod arrivals;
mod environment;
mod instrument;
pub mod made;
mod measure;
mod run;
mod selfcheck;
mod soak;
mod spans;
pub mod stats;
mod thresholds;
mod trial;
mod words;

pub use alarms::{AlarmBoard, AlarmChange};
pub use environment::{Surroundings, environment_diff};
pub use instrument::{instrument_limit, stale};
pub use run::{
    CompareError, Costs, HistorySettings, Look, Past, RunningSearch, TrialData, Wanted, advice, allowed_cpus,
    analyze, compare, fleet, history, look, shown_first, undecided,
};
pub use selfcheck::{RUNS_MAX, selfcheck};
pub use soak::{SegmentData, WINDOWS_MIN, looks, soak, soak_so_far, with_soak};
pub use spans::{TargetSpan, where_time_went};
pub use thresholds::{crossing, is_kept_in_windows, window_value};
pub use trial::{
    Beside, CounterCurves, HeatMaker, Judgement, MessageLateness, Objective, Of, PauseMaker, Residence,
    ServerFacts, SignalsMaker, Threshold, ThresholdError, TrialFacts, Warmth, curve, event_effect,
    gate_names, latency, quantile_floor, request_curves, steadiness, validity, warmth, warmup_expected_ns,
};
