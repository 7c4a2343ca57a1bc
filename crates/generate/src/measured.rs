//! The result of one load.

use crate::GenerateError;
use analyze::TrialFacts;
use schema::load::LoadReport;
use schema::steady::WarmUpEnd;
use schema::trial::{PhaseSpan, SampleSummary};

/// A load that has ended.
#[derive(Debug)]
pub struct Measured {
    /// The measured window; its `validity` is not yet filled in.
    pub report: LoadReport,
    /// What validity needs beside the report, as far as the load itself knows.
    pub facts: TrialFacts,
    /// One entry a sample.
    pub samples: Vec<SampleSummary>,
    /// Phases in order.
    pub phases: Vec<PhaseSpan>,
    /// How warm-up ended.
    pub warmup: WarmUpEnd,
    /// Whether it was stopped before its end.
    pub interrupted: bool,
    /// The agent of the fleet that was asked to end the load.
    pub stopped_by: Option<String>,
    /// Why there is no file of rows although one was wanted.
    pub rows_error: Option<GenerateError>,
}
