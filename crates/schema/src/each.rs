//! One row for each request that ended: the files of `prony load --each`.
//!
//! JSON lines begin with a head, and each line after it is a row. CSV has the same fields as columns, a header line
//! with their names, empty cells for absent values, and one column more for the wall clock. Rows stand in the order in
//! which they were written down, which is not that of time.

use crate::load::ErrorClass;
use crate::version::EachVersion;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// First line of a file of JSON lines.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct EachHead {
    /// Format and version.
    pub schema: EachVersion,
    /// The trial's origin on the wall clock, in nanoseconds since 1970-01-01 UTC: `intended_ns` counts from here.
    pub origin_unix_ns: u64,
    /// Share of the requests that have rows, above 0 to 1.
    pub share: f64,
    /// From which, and from a request's number, it was drawn whether it has a row.
    pub seed: u64,
}

/// What became of one request.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct EachRow {
    /// Its number over all workers; requests that a script made in one text share one.
    pub request: u64,
    /// Whether it was intended before the samples or within them.
    pub phase: EachPhase,
    /// Number of the worker that sent it.
    pub worker: u32,
    /// Number of its connection's slot within the worker; absent where it never had one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connection: Option<u32>,
    /// Name of the request in the scenario.
    pub name: String,
    /// When it should have been sent, from the trial's origin.
    pub intended_ns: u64,
    /// Dispatched − intended: the generator's own lateness.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pacer_lag_ns: Option<u64>,
    /// Written − dispatched; absent where it was not written in full.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connection_wait_ns: Option<u64>,
    /// Done − written. A failed request is done when it failed; a censored one never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_ns: Option<u64>,
    /// Done − intended, with the same meaning of done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_ns: Option<u64>,
    /// First byte of the answer − written; absent where none came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_byte_ns: Option<u64>,
    /// Status code; absent where no whole header section came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// Bytes of the body as far as it came, without framing, with its content coding.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body_bytes: Option<u64>,
    /// How it ended.
    pub outcome: EachOutcome,
    /// Class of the failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorClass>,
}

/// Which account a request belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EachPhase {
    /// Intended before the samples.
    Warmup,
    /// Intended within the samples.
    Measured,
}

/// How a request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EachOutcome {
    /// Answered rightly.
    Completed,
    /// With an error.
    Failed,
    /// Unsent or in flight at the end.
    Censored,
}

/// What became of the rows of a load: `written + dropped` is the number of requests in the sample.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct EachSummary {
    /// The file.
    pub file: String,
    /// Share of the requests that have rows, above 0 to 1.
    pub share: f64,
    /// Rows in the file.
    pub written: u64,
    /// Rows that were lost because the ring of their worker was full.
    pub dropped: u64,
    /// The trial's origin on the wall clock, in nanoseconds since 1970-01-01 UTC.
    pub origin_unix_ns: u64,
}
