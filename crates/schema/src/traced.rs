//! Traces of requests: what is sampled, and the requests that a file keeps by their number.

use crate::error_class::ErrorClass;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Seed, Tracing};

/// Trace context of every request (W3C Trace Context, version 00).
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct TracePlan {
    /// Share of the requests whose flag says `sampled`, 0 to 1; all others carry the header without the flag.
    pub share: f64,
    /// From it and a request's number follow its trace id, its span id and its flag. Each trial of a run has its own.
    pub seed: u64,
}

impl TracePlan {
    /// The ids that follow from it.
    #[must_use]
    pub fn tracing(&self) -> Tracing {
        Tracing::new(self.seed, self.share)
    }

    /// The plan of trial `id`: no two trials of a run share ids.
    #[must_use]
    pub fn of_trial(self, id: u32) -> Self {
        Self { seed: Seed(self.seed).derive("trial", id.into()).0, ..self }
    }
}

/// Requests that stand out, by their number: the slowest, and those that failed first. Of each list the first eight.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct NotableRequests {
    /// Completed ones by response time, the longest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slowest: Vec<NotableRequest>,
    /// Failed ones in the order in which they failed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<NotableRequest>,
    /// As `slowest`, of the requests whose traces are sampled.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slowest_sampled: Vec<NotableRequest>,
    /// As `failures`, of the requests whose traces are sampled.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failures_sampled: Vec<NotableRequest>,
}

impl NotableRequests {
    /// Requests of each list, of an interval, a trial and a cell alike.
    pub const MAX: usize = 8;

    /// Whether every list is empty.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.slowest.is_empty()
            && self.failures.is_empty()
            && self.slowest_sampled.is_empty()
            && self.failures_sampled.is_empty()
    }
}

/// One request that stands out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct NotableRequest {
    /// Its number over all workers, from 0; requests that a script made in one text share one.
    pub request: u64,
    /// Name of the request in the scenario.
    pub name: String,
    /// When it should have been sent, from the trial's origin.
    pub intended_ns: u64,
    /// Written − intended; absent where it was never written in full.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait_ns: Option<u64>,
    /// Done − intended; of a failed request, the moment it failed counts as done.
    pub response_ns: u64,
    /// Status code; absent where no whole header section came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// Class of its failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorClass>,
    /// Its trace; absent where requests carry none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<TraceIds>,
}

/// Requests that stand out of all valid trials of a cell: of each list the first eight, merged exactly from those of the
/// trials.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct CellNotable {
    /// Completed ones by response time, the longest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slowest: Vec<TrialRequest>,
    /// As `slowest`, of the requests whose traces are sampled; none that `slowest` has.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slowest_sampled: Vec<TrialRequest>,
    /// Failed ones in the order of the trials, and of a trial in the order in which they failed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<TrialRequest>,
    /// As `failures`, of the requests whose traces are sampled; none that `failures` has.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failures_sampled: Vec<TrialRequest>,
}

impl CellNotable {
    /// Whether every list is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.all().next().is_none()
    }

    /// The requests of all lists, each once.
    pub fn all(&self) -> impl Iterator<Item = &TrialRequest> {
        let Self { slowest, slowest_sampled, failures, failures_sampled } = self;
        [slowest, slowest_sampled, failures, failures_sampled].into_iter().flatten()
    }
}

/// A request that stands out, and its trial.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct TrialRequest {
    /// Number of the trial.
    pub trial: u32,
    /// The request as the load saw it.
    pub request: NotableRequest,
}

/// The trace of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct TraceIds {
    /// 32 hexadecimal digits.
    pub trace_id: String,
    /// Of the request's own span, the parent of the target's first one: 16 hexadecimal digits.
    pub span_id: String,
    /// Whether the target was asked to record its part.
    pub sampled: bool,
}

impl TraceIds {
    /// The trace of request `request`.
    #[must_use]
    pub fn of(tracing: Tracing, request: u64) -> Self {
        let context = tracing.context(request);
        Self {
            trace_id: format!("{:032x}", context.trace_id),
            span_id: format!("{:016x}", context.span_id),
            sampled: context.is_sampled,
        }
    }
}
