//! What a load did: the output of `prony load --format json`, and the same object in every `trial.json`.

use crate::agents::FleetReport;
use crate::belief::BeliefLevel;
use crate::calibration::CalibrationSummary;
use crate::each::EachSummary;
pub use crate::error_class::ErrorClass;
pub use crate::messages::{MessageSummary, MessageTime, StreamLength};
use crate::plan::{LoadPlan, PhasePlan, ScenarioPlan};
use crate::said::Said;
pub use crate::times::{Latencies, LatencySummary, RankInterval, Time};
use crate::traced::NotableRequests;
use crate::version::LoadVersion;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One load, measured. All counts are of requests whose intended time lies in the measured window.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct LoadReport {
    /// Format and version.
    pub schema: LoadVersion,
    /// What was asked for, resolved.
    pub plan: ResolvedLoad,
    /// Where every scheduled request ended.
    pub requests: Requests,
    /// Failed requests by class; the sum is `requests.failed`.
    pub errors: BTreeMap<ErrorClass, u64>,
    /// Up to three distinct messages for each class.
    pub error_examples: BTreeMap<ErrorClass, Vec<String>>,
    /// Answers by status code, wrong ones included.
    pub status: BTreeMap<u16, u64>,
    /// Redirects that were followed, by status code. They are no answers of their own: a request that was redirected
    /// has the status of its last answer, and the times of all of its hops.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub redirects: BTreeMap<u16, u64>,
    /// Right answers that arrived inside the measured window, per second of it.
    pub throughput_per_s: f64,
    /// The measured window.
    pub window: Window,
    /// Bytes moved from the begin of the measured window to the end of the drain, as the counts of requests.
    pub bytes: BytesMoved,
    /// Connections over the whole load.
    pub connections: Connections,
    /// Streams of HTTP/2 over the whole load; absent over HTTP/1.1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub streams: Option<StreamSummary>,
    /// Messages on streams of gRPC; absent where each call has one message each way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub messages: Option<MessageSummary>,
    /// Times of completed requests.
    pub latency_ns: Latencies,
    /// The same by request, in the scenario's order; empty for a scenario of one request.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_request: Vec<RequestSummary>,
    /// Sessions of virtual users; absent without them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sessions: Option<SessionSummary>,
    /// What the target answered to each kind of token.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tokens: Vec<TokenSummary>,
    /// The first answers that failed a check.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed_answers: Vec<FailedAnswer>,
    /// The slowest requests and the first failures.
    #[serde(default, skip_serializing_if = "NotableRequests::is_empty")]
    pub notable: NotableRequests,
    /// What the generator itself used.
    pub generator: Generator,
    /// Whether what was sent follows the arrivals that were asked for; absent for closed loads and too few requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrivals: Option<ArrivalCheck>,
    /// Whether these numbers may be believed.
    pub validity: Validity,
    /// What the reader of the numbers must know besides: limits met, settings that make them not comparable.
    #[serde(default)]
    pub notes: Vec<Said>,
    /// What the instrument can do on this host, where it was calibrated; of a trial, `run.json` has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instrument_limit: Option<CalibrationSummary>,
    /// Limits that the user set with `--fail`, each with its answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub thresholds: Vec<ThresholdResult>,
    /// What became of the rows of `--each`; absent without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub each: Option<EachSummary>,
    /// What each agent of a fleet did; absent where one machine made the load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fleet: Option<FleetReport>,
}

/// One named request of a scenario within the measured window.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct RequestSummary {
    /// Its name.
    pub name: String,
    /// Its share of all scheduled requests, 0 to 1.
    pub share: f64,
    /// Where its requests ended; the sums over all names are those of the load.
    pub requests: Requests,
    /// Failed ones by class.
    pub errors: BTreeMap<ErrorClass, u64>,
    /// Answers by status code.
    pub status: BTreeMap<u16, u64>,
    /// Done − intended.
    pub response: LatencySummary,
    /// Done − written.
    pub service: LatencySummary,
}

/// Sessions that began within the measured window: `started = completed + failed + censored`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct SessionSummary {
    /// Begun.
    pub started: u64,
    /// All steps answered rightly.
    pub completed: u64,
    /// With a failed request.
    pub failed: u64,
    /// Under way at the end.
    pub censored: u64,
    /// Intended begin to the end of the last step, think times included.
    pub time: LatencySummary,
}

/// Answers to the tokens of one maker and kind.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct TokenSummary {
    /// Name of the maker.
    pub name: String,
    /// How it was made.
    pub kind: TokenKind,
    /// Answers by status code, over the whole load.
    pub status: BTreeMap<u16, u64>,
}

/// How a token was made.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum TokenKind {
    /// Not expired and well signed.
    #[default]
    Valid,
    /// Expired and well signed.
    Expired,
    /// Not expired, with a wrong signature.
    BadlySigned,
}

/// An answer that failed a check, as far as it was kept.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct FailedAnswer {
    /// Name of the request.
    pub request: String,
    /// What it failed, for example `contains "ok"`.
    pub check: String,
    /// Its status code.
    pub status: u16,
    /// The beginning of its body; bytes that are no UTF-8 are replaced.
    pub body: String,
    /// Length of the body in bytes; `body` holds fewer where it was cut.
    pub body_bytes: u64,
}

/// What was really sent, held against the arrivals that were asked for (METHOD §2). Gaps are in intended arrivals: time
/// is rescaled by the rate, so that their mean is 1 whatever the shape.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct ArrivalCheck {
    /// Requests that were looked at.
    pub requests: u64,
    /// Stretches of time without a hole from which they come.
    pub windows: u64,
    /// Gaps between them.
    pub gaps: u64,
    /// 99th percentile of |written − intended|, after the median lag, which all share, is taken out.
    pub deviation_p99_ns: u64,
    /// What METHOD §1 allows of it.
    pub deviation_allowed_ns: u64,
    /// Requests sent over intended ones; absent where arrivals are determined.
    pub rate_ratio: Option<f64>,
    /// Largest allowed distance of that from 1.
    pub rate_limit: Option<f64>,
    /// The gaps against their law; absent where arrivals are determined.
    pub fit: Option<ArrivalFit>,
    /// The outcome.
    pub verdict: ArrivalVerdict,
}

/// Gaps against their law.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct ArrivalFit {
    /// Kolmogorov-Smirnov distance, 0 to 1: the effect size.
    pub ks_d: f64,
    /// What is allowed: 0.02, or more where so few gaps make more by chance.
    pub ks_limit: f64,
    /// For Poisson only.
    pub anderson_darling: Option<AndersonDarling>,
    /// Absent where the law gives no value to hold it against.
    pub spearman: Option<SerialCorrelation>,
}

/// Anderson-Darling for the exponential law with estimated rate.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct AndersonDarling {
    /// A²(1 + 0.6/n).
    pub a2: f64,
    /// Limit at 5 %.
    pub limit_5: f64,
    /// Limit at 1 %.
    pub limit_1: f64,
}

/// Spearman's rank correlation between neighbouring gaps.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct SerialCorrelation {
    /// From −1 to 1.
    pub rho: f64,
    /// That of the law: 0 for independent gaps.
    pub expected: f64,
    /// Largest allowed distance between the two.
    pub limit: f64,
    /// Pairs of neighbours in one window.
    pub n_effective: u64,
}

/// What the check of arrivals found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ArrivalVerdict {
    /// What was sent is what was asked for.
    Passes,
    /// It differs, but by no more than the lag that is allowed.
    WithinLag,
    /// The intended times are not those of the plan: a fault of prony.
    Schedule,
    /// Another rate.
    Rate,
    /// Another law of gaps.
    Law,
    /// Neighbouring gaps depend on each other.
    Order,
    /// Determined times were not kept.
    Late,
}

/// What was asked for, resolved.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct ResolvedLoad {
    /// Scheme, host and port as asked for.
    pub url: String,
    /// The address connected to, or `unix:` and the path of a socket.
    pub address: String,
    /// What is sent.
    pub scenario: ScenarioPlan,
    /// How it is sent.
    pub load: LoadPlan,
    /// When it is measured.
    pub phases: PhasePlan,
    /// Closed model: end after this many requests.
    pub requests_max: Option<u64>,
    /// How sockets are driven.
    pub driver: String,
}

/// `scheduled = completed + failed + censored`, always.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct Requests {
    /// Intended within the window.
    pub scheduled: u64,
    /// Answered rightly, also where the answer came in the drain after the window.
    pub completed: u64,
    /// Ended with an error.
    pub failed: u64,
    /// Unsent or in flight at the end.
    pub censored: u64,
}

/// The measured window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct Window {
    /// Length.
    pub duration_ns: u64,
    /// Right answers that arrived inside it, whenever they were asked for: throughput times duration.
    pub answers: u64,
    /// Mean number of requests waiting or in flight, from the integral over time: the L of Little's law.
    pub in_system_mean: f64,
    /// Highest backlog at the end of an interval: intended but not yet written.
    pub backlog_max: u64,
}

/// Bytes over all connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct BytesMoved {
    /// Received.
    pub read: u64,
    /// Sent.
    pub written: u64,
}

/// Connections over the whole load, warm-up included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct Connections {
    /// Asked for.
    pub asked: u64,
    /// Of these, open when load began.
    pub established: u64,
    /// Opened later, in place of closed or failed ones.
    pub reconnects: u64,
    /// TLS handshakes; absent without TLS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handshakes: Option<Handshakes>,
}

/// What became of streams and of the connections below them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct StreamSummary {
    /// Requests at a time that each connection was to carry.
    pub asked: u32,
    /// What the least generous connection was granted of them; absent where none was established.
    pub granted: Option<u32>,
    /// Requests that a server which left (GOAWAY) had not processed, and that were put on another connection with the same
    /// intended time.
    pub requeued: u64,
    /// GOAWAY frames of the server.
    pub goaways: u64,
    /// Streams that the server reset, refused ones included.
    pub resets: u64,
    /// Times that a request's body had to wait for the server's window.
    pub stalls: u64,
}

/// TLS handshakes that ended well.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct Handshakes {
    /// Done in full.
    pub full: u64,
    /// Resumed an earlier session.
    pub resumed: u64,
}

/// What the generator itself used within the measured window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct Generator {
    /// CPU time of all workers.
    pub cpu_s: f64,
    /// Highest resident memory of the process.
    pub peak_rss_bytes: u64,
    /// Threads that made load.
    pub workers: u32,
    /// Share of the workers' time in which they did something other than wait or spin, 0 to 1; the highest worker's.
    pub busy_share: f64,
    /// Share of the workers' time in which they could have run and others had their CPU, 0 to 1.
    #[serde(default)]
    pub put_off_share: f64,
    /// Priority that the workers had, from -20 to 19; 0 is that of other threads.
    #[serde(default)]
    pub nice: i32,
}

/// Whether the numbers may be believed.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct Validity {
    /// No gate failed.
    pub ok: bool,
    /// The gates that failed.
    pub reasons: Vec<Gate>,
    /// All gates that were checked, failed ones included.
    pub gates: Vec<Gate>,
    /// What weakens the numbers without voiding them, for example a gate that passed close to its limit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reservations: Vec<Gate>,
    /// Failed requests and how far they mislead; absent where no request failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failures: Option<Failures>,
}

impl Validity {
    /// The answer to "can these numbers be believed?": the worst of gates, failures and reservations.
    #[must_use]
    pub fn level(&self) -> BeliefLevel {
        let by_failures = self.failures.as_ref().map_or(BeliefLevel::Yes, |failures| failures.level);
        let by_gates = match (self.ok, self.reservations.is_empty()) {
            (false, _) => BeliefLevel::No,
            (true, false) => BeliefLevel::WithReservations,
            (true, true) => BeliefLevel::Yes,
        };
        by_failures.max(by_gates)
    }
}

/// Failed requests of a load: times and throughput count right answers only, so many failures make them misleading.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct Failures {
    /// Failed over completed and failed, 0 to 1.
    pub share: f64,
    /// What the share does to the belief in the numbers. It never voids a trial: a failing target is a result.
    pub level: BeliefLevel,
    /// The share in words, with the most frequent class.
    pub text: Said,
}

/// One named check with its number.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct Gate {
    /// Name, for example `pacer_lag`.
    pub gate: String,
    /// Whether it passed.
    pub ok: bool,
    /// The number that was looked at.
    pub value: f64,
    /// The limit it was held against.
    pub limit: f64,
    /// Both in words with units, and the remedy where it failed.
    pub text: Said,
}

/// A limit that the user set with `--fail`, and whether the load crossed it.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct ThresholdResult {
    /// The condition of failure as it was written, for example `p99>50ms`.
    pub expression: String,
    /// The condition is met, or cannot be decided.
    pub failed: bool,
    /// Whether the condition could be decided; a percentile that was refused decides nothing.
    pub decided: bool,
    /// The number that was looked at: nanoseconds, a share from 0 to 1, a count, bytes, or per second.
    pub value: Option<f64>,
    /// What it was held against, in the same unit.
    pub limit: f64,
    /// Both in words with units, or why it cannot be decided.
    pub text: Said,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_index_is_the_position_and_the_key_is_the_serde_name() {
        for (position, class) in ErrorClass::ALL.into_iter().enumerate() {
            assert_eq!(class.index(), position);
            assert_eq!(serde_json::to_value(class).unwrap(), class.key());
        }
    }

    #[test]
    fn no_kind_of_time_is_forgotten() {
        let latencies = Latencies::default();
        let fields = serde_json::to_value(&latencies).unwrap();
        let fields: Vec<&String> = fields.as_object().unwrap().keys().collect();
        let all: Vec<&str> = latencies.all().into_iter().map(|(key, _)| key).collect();
        assert_eq!(all, fields);
    }
}
