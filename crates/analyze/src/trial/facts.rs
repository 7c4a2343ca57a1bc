//! What the gates of a trial need beside its report.

use schema::calibration::ClockCheck;
use schema::load::ArrivalCheck;
use schema::server_side::{ChecksPlan, ClientSide, QuantileBucket, ServerSide};

/// What the gates need beside the report, taken straight from histograms and counters: nothing here is refused for
/// small numbers. What cannot be known is `None` and its gate is absent.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TrialFacts {
    /// 99th percentile of dispatched − intended.
    pub pacer_lag_p99_ns: Option<u64>,
    /// Median of done − written.
    pub service_p50_ns: Option<u64>,
    /// 99th percentile of done − intended.
    pub response_p99_ns: Option<u64>,
    /// Mean of done − intended.
    pub response_mean_ns: Option<f64>,
    /// Longest done − intended.
    pub response_max_ns: Option<u64>,
    /// The lateness of messages on streams; absent where none has a time of its own to keep.
    pub messages: Option<MessageLateness>,
    /// All outcomes that came inside the window, failed ones included.
    pub answered_all: u64,
    /// Share of CPU time stolen from this host, 0 to 1.
    pub host_steal_share: Option<f64>,
    /// The largest share of the CPUs of generator, target or services that other processes used, 0 to 1.
    pub competing_share: Option<f64>,
    /// Time of a fixed amount of work on the generator's CPU after the load over that before it, less 1.
    pub canary_drift: Option<f64>,
    /// The host's clocks against each other over the load.
    pub clocks: Option<ClockCheck>,
    /// What was sent against the arrivals that were asked for.
    pub arrivals: Option<ArrivalCheck>,
    /// The two sides of the identity of residence, over the whole load.
    pub residence: Option<Residence>,
    /// What the target counted of itself.
    pub server: Option<ServerFacts>,
    /// Whether the target still ran when the window ended; `None` where prony did not start it and cannot know.
    pub target_alive: Option<bool>,
    /// Whether events disturbed the window on purpose. What holds of a steady load only is then not asked.
    pub disturbed: bool,
}

/// How late the generator sent messages, and the times that this is held against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageLateness {
    /// 99th percentile of dispatched − intended, of messages that were due on an open stream.
    pub pacer_lag_p99_ns: u64,
    /// Median of done − written; that of their streams counts where messages have no answers.
    pub service_p50_ns: Option<u64>,
    /// 99th percentile of done − intended, likewise.
    pub response_p99_ns: Option<u64>,
}

/// The time that requests spent in the system, by two books that share nothing but the stamps: warm-up, samples and
/// failures included, up to the end of load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Residence {
    /// ∫ N dt: the number of requests in the system, integrated over time.
    pub integral_ns: f64,
    /// Σ (done − intended) over all requests, each cut off at the end of load.
    pub sum_ns: f64,
}

/// What the gates need of the target's own counts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ServerFacts {
    /// Requests that the target counted.
    pub requests: Option<u64>,
    /// The bucket of its 95th percentile.
    pub p95: Option<QuantileBucket>,
    /// The client's side.
    pub client: ClientSide,
    /// The limits in force.
    pub limits: ChecksPlan,
}

impl ServerFacts {
    /// The facts of what was read in a trial.
    #[must_use]
    pub fn new(seen: &ServerSide, limits: ChecksPlan) -> Self {
        Self { requests: seen.requests, p95: seen.p95, client: seen.client, limits }
    }
}
