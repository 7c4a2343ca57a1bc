//! The times of a request (METHOD §1): their names, and the quantiles that a load's result has of each.

use crate::said::Said;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The times of METHOD §1, in nanoseconds; what each lies between stands at the fields of [`Latencies`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields of Latencies have the same names, and say it")]
pub enum Time {
    Response,
    Service,
    SendLag,
    PacerLag,
    WaitConnection,
    WaitStream,
    WaitWindow,
    Name,
    Connect,
    Tls,
    Write,
    FirstByte,
    Transfer,
}

impl Time {
    /// All of them; files and screens have this order.
    pub const ALL: [Self; 13] = [
        Self::Response,
        Self::Service,
        Self::SendLag,
        Self::PacerLag,
        Self::WaitConnection,
        Self::WaitStream,
        Self::WaitWindow,
        Self::Name,
        Self::Connect,
        Self::Tls,
        Self::Write,
        Self::FirstByte,
        Self::Transfer,
    ];

    /// Place in [`Time::ALL`].
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// Its name in files: the key in `latency_ns` and the tag in `latency.hlog`.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            Self::Response => "response",
            Self::Service => "service",
            Self::SendLag => "send_lag",
            Self::PacerLag => "pacer_lag",
            Self::WaitConnection => "wait_connection",
            Self::WaitStream => "wait_stream",
            Self::WaitWindow => "wait_window",
            Self::Name => "name",
            Self::Connect => "connect",
            Self::Tls => "tls",
            Self::Write => "write",
            Self::FirstByte => "first_byte",
            Self::Transfer => "transfer",
        }
    }
}

/// One summary for each kind of time (METHOD §1).
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct Latencies {
    /// Done − intended.
    pub response: LatencySummary,
    /// Done − written.
    pub service: LatencySummary,
    /// Written − intended.
    pub send_lag: LatencySummary,
    /// Dispatched − intended: the generator's own lateness.
    pub pacer_lag: LatencySummary,
    /// The part of the connection wait (written − dispatched) in which no connection was established that takes requests.
    /// This and the next two are of connections that carry streams; without them the connection wait has one cause.
    #[serde(default)]
    pub wait_connection: LatencySummary,
    /// The part in which as many streams were open as the server or the plan allows.
    #[serde(default)]
    pub wait_stream: LatencySummary,
    /// The part in which a window of the server held up the request or its body.
    #[serde(default)]
    pub wait_window: LatencySummary,
    /// Name resolution, where it is done for each connection; over the whole load.
    #[serde(default)]
    pub name: LatencySummary,
    /// Connection attempt to established; over the whole load.
    pub connect: LatencySummary,
    /// TLS handshake, from established to secured; over the whole load.
    #[serde(default)]
    pub tls: LatencySummary,
    /// Connection ready to the last part of the request handed to the system; 0 where one call took it whole.
    #[serde(default)]
    pub write: LatencySummary,
    /// Written to the first byte of the answer.
    #[serde(default)]
    pub first_byte: LatencySummary,
    /// First byte to the last of the answer; 0 where it came in one piece.
    #[serde(default)]
    pub transfer: LatencySummary,
}

impl Latencies {
    /// Each time's quantiles.
    #[must_use]
    pub fn from_fn(mut of: impl FnMut(Time) -> LatencySummary) -> Self {
        Self {
            response: of(Time::Response),
            service: of(Time::Service),
            send_lag: of(Time::SendLag),
            pacer_lag: of(Time::PacerLag),
            wait_connection: of(Time::WaitConnection),
            wait_stream: of(Time::WaitStream),
            wait_window: of(Time::WaitWindow),
            name: of(Time::Name),
            connect: of(Time::Connect),
            tls: of(Time::Tls),
            write: of(Time::Write),
            first_byte: of(Time::FirstByte),
            transfer: of(Time::Transfer),
        }
    }

    /// The quantiles of one time.
    #[must_use]
    pub const fn of(&self, time: Time) -> &LatencySummary {
        match time {
            Time::Response => &self.response,
            Time::Service => &self.service,
            Time::SendLag => &self.send_lag,
            Time::PacerLag => &self.pacer_lag,
            Time::WaitConnection => &self.wait_connection,
            Time::WaitStream => &self.wait_stream,
            Time::WaitWindow => &self.wait_window,
            Time::Name => &self.name,
            Time::Connect => &self.connect,
            Time::Tls => &self.tls,
            Time::Write => &self.write,
            Time::FirstByte => &self.first_byte,
            Time::Transfer => &self.transfer,
        }
    }

    /// Every kind of time with its key, in the order of [`Time::ALL`]; screens and files walk this list.
    #[must_use]
    pub fn all(&self) -> [(&'static str, &LatencySummary); Time::ALL.len()] {
        Time::ALL.map(|time| (time.key(), self.of(time)))
    }
}

/// Quantiles of one time in nanoseconds; a value is null where it is refused.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct LatencySummary {
    /// Finite observations.
    pub count: u64,
    /// Observations known only to lie above every finite one: censored and timed-out requests.
    pub censored: u64,
    /// Arithmetic mean of the finite observations.
    pub mean: Option<f64>,
    /// Smallest.
    pub min: Option<u64>,
    /// Median.
    pub p50: Option<u64>,
    /// 90th percentile.
    pub p90: Option<u64>,
    /// 95th percentile.
    pub p95: Option<u64>,
    /// 99th percentile.
    pub p99: Option<u64>,
    /// 99.9th percentile.
    pub p999: Option<u64>,
    /// Largest finite one.
    pub max: Option<u64>,
    /// Why a value is null and what would cure it, by its key.
    #[serde(default)]
    pub refused: BTreeMap<String, Said>,
    /// Lower bounds (`≥ x`) for values that fall among the censored, by key.
    #[serde(default)]
    pub at_least: BTreeMap<String, u64>,
    /// Between which values each percentile lies, by its key; that of a refused percentile has one end at most.
    #[serde(default)]
    pub intervals: BTreeMap<String, RankInterval>,
}

/// The 95 % interval of a percentile by order statistics, in nanoseconds (METHOD §4). It counts requests as if they
/// were independent: correlated ones make the true uncertainty larger, never smaller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct RankInterval {
    /// Null where the requests are too few for a lower end.
    pub low: Option<u64>,
    /// Null where they are too few for an upper end, or it lies among those that never ended.
    pub high: Option<u64>,
    /// The ends are more than 25 % apart, or one is missing.
    pub is_wide: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_is_the_serde_name_and_the_index_the_position() {
        let counted =
            |time: Time| LatencySummary { count: time.index() as u64 + 1, ..LatencySummary::default() };
        let written = serde_json::to_value(Latencies::from_fn(counted)).unwrap();
        assert_eq!(written.as_object().unwrap().len(), Time::ALL.len());
        for (position, time) in Time::ALL.into_iter().enumerate() {
            assert_eq!(time.index(), position);
            assert_eq!(written[time.key()]["count"], position + 1, "{}", time.key());
        }
    }
}
