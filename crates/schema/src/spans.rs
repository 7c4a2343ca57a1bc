//! `spans.json` of a run folder: where the time of slow requests went, span by span, by the target's own traces.

use crate::traced::NotableRequest;
use crate::trial::is_zero;
use crate::version::SpansVersion;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Spans of a request that people are shown; `spans.json` has all.
pub const SPANS_SHOWN: usize = 12;

/// `spans.json`, and `spans` of `prony why --format json`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct SpansFile {
    /// Format and version.
    pub schema: SpansVersion,
    /// Name of the run folder.
    pub run: String,
    /// Lines of the file that were read.
    pub lines: u64,
    /// Lines that were no traces of OTLP in JSON.
    pub lines_skipped: u64,
    /// Sampled requests that stand out, of which the file has no span.
    pub requests_missing: u64,
    /// Spans beyond the limit of a request, which were left out.
    pub spans_left_out: u64,
    /// Those of which it has some, by trial, the slowest first.
    pub requests: Vec<RequestSpans>,
}

/// One request and the spans of its trace.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct RequestSpans {
    /// Number of the trial.
    pub trial: u32,
    /// Identifier of its cell.
    pub cell: String,
    /// The request as the load saw it.
    pub request: NotableRequest,
    /// Response time that no span covers: waiting in the generator, the way there and back, queues before the target's
    /// first span.
    pub outside_ns: u64,
    /// Spans of the target and of what is behind it, each before those within it.
    pub spans: Vec<SpanTime>,
    /// Further spans, which only `spans.json` has; 0 there.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub spans_left_out: u64,
}

/// One span.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct SpanTime {
    /// What it says that it is.
    pub name: String,
    /// `service.name` of the resource; empty where it says none.
    pub service: String,
    /// How many of the listed spans it lies within.
    pub depth: u32,
    /// Its length.
    pub duration_ns: u64,
    /// What of it lies in none of the spans within it.
    pub self_ns: u64,
    /// `self_ns` over the response time; the shares of spans that run at the same time may add up to more than 1.
    pub self_share: f64,
}
