//! How load is made: `[load]` as a user writes it, and as it is resolved. A new setting stands in both.

use crate::arrival::{ArrivalPlan, Arrivals, Shape, ShapePlan, TextOr, Think, ThinkPlan};
use crate::fleet::FleetPlan;
use crate::levels::OneOrMany;
use crate::tls::TlsPlan;
use crate::trace_level::TraceLevel;
use crate::traced::TracePlan;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::net::IpAddr;
use units::{Count, Nanos, PerSecond, Users};

/// `[load]`
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Load {
    /// Closed (each connection sends when its answer has come) or open (a rate).
    pub model: LoadModel,
    /// Connections; a list makes a factor.
    pub connections: Option<OneOrMany<Count>>,
    /// Closed model: virtual users instead of connections, as a count or a product such as `"50_000 × 0.003"`. Each has
    /// a connection of its own, unless the scenario's session shares connections: then give `connections` too.
    pub users: Option<Users>,
    /// Open model: requests per second in total; a list makes a factor.
    pub rate: Option<OneOrMany<PerSecond>>,
    /// Open model: the arrival process. Default constant.
    #[schemars(with = "Option<TextOr<Arrivals>>")]
    pub arrivals: Option<Arrivals>,
    /// Open model: the rate over time. Default: the rate holds.
    #[schemars(with = "Option<TextOr<Shape>>")]
    pub shape: Option<Shape>,
    /// Closed model: the pause between an answer and the next request. Default: none.
    #[schemars(with = "Option<TextOr<Think>>")]
    pub think: Option<Think>,
    /// Generator threads. Default 1 for each core of the generator's CPU set, at most one per connection; more where
    /// the connections need several processes.
    pub workers: Option<u32>,
    /// From the start of a connection attempt. Default 5s.
    pub connect_timeout: Option<Nanos>,
    /// From written to done. Default 10s.
    pub timeout: Option<Nanos>,
    /// From intended to done, waiting included. Default: none.
    pub total_timeout: Option<Nanos>,
    /// Open model: connections may grow on demand up to this many. Default: as many as `connections`.
    pub max_connections: Option<Count>,
    /// Open model: a request that could not be sent this long after its intended time is shed. Default: never.
    pub deadline: Option<Nanos>,
    /// How sockets are driven: `auto`, `io_uring` or `epoll`. Default auto.
    pub driver: Option<DriverChoice>,
    /// Whether workers spin before an intended time: `off`, `auto` or `full`. Default auto.
    pub spin: Option<SpinChoice>,
    /// Whether workers with times to keep ask for short slices and a higher priority: `auto` or `normal`. Default auto.
    pub priority: Option<PriorityChoice>,
    /// Every request carries a trace id in the header `traceparent` (W3C Trace Context), and this share of them, such as
    /// `"1%"` or 0.01, asks the target to record its trace. Default `"off"`: no header; a list makes a factor.
    pub trace: Option<OneOrMany<TraceLevel>>,
    /// How connections are made, kept and ended.
    #[serde(default)]
    pub connection: ConnectionUse,
}

/// `[load.connection]`
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConnectionUse {
    /// Whether a connection serves more than one request. Default true.
    pub keepalive: Option<bool>,
    /// A connection is closed after this many requests. Default: never.
    pub requests: Option<Count>,
    /// A connection is closed once it is this old and free. Default: never.
    pub lifetime: Option<Nanos>,
    /// Connection attempts per second while the load is set up. Default: as fast as possible.
    pub ramp: Option<PerSecond>,
    /// Closed model: requests sent ahead of their predecessors' answers on one connection, 1 to 1024. Default 1.
    pub pipeline: Option<u32>,
    /// Version of HTTP: `1.1`, or `2`, which is spoken at once over plain text (prior knowledge) and agreed on by ALPN over
    /// TLS. Default 1.1; a list makes a factor.
    pub http: Option<OneOrMany<HttpVersion>>,
    /// HTTP/2: requests that a connection carries at a time, 1 to 10000, as far as the server allows. A closed load has so
    /// many users on each connection. Default 1; a list makes a factor of those over HTTP/2.
    pub streams: Option<OneOrMany<u32>>,
    /// HTTP/2: bits of the window of each stream's answer, 1 to 30: the server may send 2^N - 1 bytes ahead of what was
    /// read. 16 is the protocol's own. Default 30.
    pub window_bits: Option<u32>,
    /// The same for all answers of a connection together, 16 to 30. Default 30.
    pub connection_window_bits: Option<u32>,
    /// Redirects of one request that are followed, 1 to 100, within the origin only; a connection then carries one
    /// request at a time. Default: none, a redirect is an answer.
    pub follow: Option<u32>,
    /// TCP_NODELAY. Default true.
    pub nodelay: Option<bool>,
    /// TCP keep-alive probes after this long without traffic. Default: none.
    pub tcp_keepalive: Option<Nanos>,
    /// Congestion control, for example `cubic`. Default: the system's.
    pub congestion: Option<String>,
    /// Differentiated services code point, 0 to 63. Default: the system's.
    pub dscp: Option<u8>,
    /// Local addresses, used in turn; `A-B` is a range of IPv4 addresses. Default: the system chooses, but on loopback
    /// as many of 127.0.0.0/8 as the ports need.
    #[serde(default)]
    pub sources: Vec<String>,
    /// Network device to bind to, for example `eth0`.
    pub device: Option<String>,
    /// Path of a Unix socket to connect to instead of the target's address.
    pub unix_socket: Option<String>,
    /// Whether the name is resolved `once` or for `each` connection. Default once.
    pub resolve: Option<Resolve>,
}

/// How often a name is resolved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Resolve {
    /// Before the load.
    #[default]
    Once,
    /// Anew for every connection; the time it takes is measured.
    Each,
}

/// How requests are triggered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LoadModel {
    /// The next request waits for the answer to the last.
    #[default]
    Closed,
    /// Requests come at their own times and never wait for an answer.
    Open,
}

/// How load is made, resolved.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct LoadPlan {
    /// Closed or open.
    pub model: LoadModel,
    /// Connections in total, opened before the load begins.
    pub connections: u32,
    /// Open model: connections may grow on demand up to this many in total; never below `connections`.
    pub connections_max: u32,
    /// Closed model with sessions that share connections: virtual users in total; as many as connections where absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub users: Option<u32>,
    /// Requests per second in total; open model only. With a shape, the rate that it refers to.
    pub rate_per_s: Option<f64>,
    /// Arrival process; open model only.
    pub arrivals: Option<ArrivalPlan>,
    /// Rate over time; open model only. Where absent, the rate holds.
    pub shape: Option<ShapePlan>,
    /// Pause between an answer and the next request of its connection; closed model only.
    pub think: Option<ThinkPlan>,
    /// Generator threads in total.
    pub workers: u32,
    /// Generator processes, which share the workers; 0 stands for 1 in files of older versions.
    pub processes: u32,
    /// From the start of a connection attempt.
    pub connect_timeout_ns: u64,
    /// From written to done.
    pub timeout_ns: u64,
    /// From intended to done; none where absent.
    pub total_timeout_ns: Option<u64>,
    /// Open model: a request that could not be sent this long after its intended time is shed; never where absent.
    pub deadline_ns: Option<u64>,
    /// Seed of arrivals.
    pub seed: u64,
    /// How sockets are driven.
    pub driver: DriverChoice,
    /// Whether workers spin before an intended time.
    pub spin: SpinChoice,
    /// Whether workers with times to keep ask for a better standing than other threads.
    #[serde(default)]
    pub priority: PriorityChoice,
    /// Trace context of the requests; they carry none where absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<TracePlan>,
    /// How connections are made, kept and ended.
    pub connection: ConnectionPlan,
    /// TLS; plain text where absent.
    pub tls: Option<TlsPlan>,
    /// The agents that share the workers; this machine alone where absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fleet: Option<FleetPlan>,
}

impl LoadPlan {
    /// How many of its requests have their traces recorded.
    #[must_use]
    pub fn trace_level(&self) -> TraceLevel {
        TraceLevel::of(self.trace.map(|trace| trace.share))
    }

    /// Requests that the connections opened ahead carry at once. A closed load without pauses has so many users.
    #[must_use]
    pub fn at_once(&self) -> u64 {
        u64::from(self.connections) * u64::from(self.connection.at_once())
    }
}

/// How sockets are driven.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DriverChoice {
    /// `io_uring` where the kernel has all that it needs, else `epoll`.
    #[default]
    Auto,
    /// io_uring; an error where the kernel lacks it.
    IoUring,
    /// epoll.
    Epoll,
}

impl DriverChoice {
    /// The name used in files and on screens.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::IoUring => "io_uring",
            Self::Epoll => "epoll",
        }
    }
}

/// Whether workers spin before an intended time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SpinChoice {
    /// Never: wake-ups of the system decide how late a request is.
    Off,
    /// Sleep to an adaptive margin before the intended time and spin the rest.
    #[default]
    Auto,
    /// Never sleep while load runs: most punctual, costs a whole core for each worker.
    Full,
}

/// How workers that have times to keep stand among other threads: an open load's, and those that wait for think times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PriorityChoice {
    /// Short slices, and nice -10 where that is allowed; other loads stay as they are.
    #[default]
    Auto,
    /// As any thread.
    Normal,
}

/// Version of HTTP that connections speak.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub enum HttpVersion {
    /// HTTP/1.1.
    #[default]
    #[serde(rename = "1.1")]
    V1_1,
    /// HTTP/2.
    #[serde(rename = "2")]
    V2,
}

impl HttpVersion {
    /// The version as it is written.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            Self::V1_1 => "1.1",
            Self::V2 => "2",
        }
    }

    const fn is_usual(&self) -> bool {
        matches!(self, Self::V1_1)
    }
}

const fn is_one(streams: &u32) -> bool {
    *streams == 1
}

/// How connections are made, kept and ended. The default is what most clients do.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct ConnectionPlan {
    /// Whether a connection serves more than one request.
    pub keepalive: bool,
    /// A connection is closed after this many requests.
    pub requests_max: Option<u64>,
    /// A connection is closed once it is this old and free.
    pub lifetime_ns: Option<u64>,
    /// Connection attempts per second, in total, while the load is set up; as fast as possible where absent.
    pub ramp_per_s: Option<f64>,
    /// Requests sent ahead of their predecessors' answers on one connection; 1 is no pipelining.
    pub pipeline: u32,
    /// Version of HTTP; 1.1 where absent.
    #[serde(skip_serializing_if = "HttpVersion::is_usual")]
    pub http: HttpVersion,
    /// HTTP/2: requests that a connection carries at a time, as far as the server allows; 1 where absent.
    #[serde(skip_serializing_if = "is_one")]
    pub streams: u32,
    /// HTTP/2: bits of the window of each stream's answer; 30 where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window_bits: Option<u32>,
    /// HTTP/2: bits of the window of all answers of a connection together; 30 where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connection_window_bits: Option<u32>,
    /// Redirects of one request that are followed at most, within the origin; a redirect is an answer where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub follow: Option<u32>,
    /// TCP_NODELAY.
    pub nodelay: bool,
    /// TCP keep-alive probes after this long without traffic; off where absent.
    pub tcp_keepalive_ns: Option<u64>,
    /// Congestion control, for example `cubic`; the system's default where absent.
    pub congestion: Option<String>,
    /// Differentiated services code point, 0 to 63.
    pub dscp: Option<u8>,
    /// Local addresses, used in turn; the system chooses where empty.
    pub sources: Vec<IpAddr>,
    /// Network device to bind to.
    pub device: Option<String>,
    /// Path of a Unix socket to connect to instead of a network address.
    pub unix_socket: Option<String>,
    /// Whether the name is resolved again for every connection instead of once.
    pub resolve_each: bool,
}

/// Bits of a window where the plan says nothing: the most that is offered.
const WINDOW_BITS: u32 = 30;

impl ConnectionPlan {
    /// Requests that a connection carries at once: one, or as many as its streams or its pipeline allow.
    #[must_use]
    pub fn at_once(&self) -> u32 {
        self.streams.max(self.pipeline).max(1)
    }

    /// HTTP/2: bits of the windows that the load offers, of each stream's answer and of a connection's together.
    #[must_use]
    pub fn windows(&self) -> [u32; 2] {
        [self.window_bits, self.connection_window_bits].map(|bits| bits.unwrap_or(WINDOW_BITS))
    }

    /// ` of 10 streams (HTTP/2)`, as it follows a number of connections; nothing over HTTP/1.1.
    #[must_use]
    pub fn stream_words(&self) -> String {
        match (self.http, self.streams) {
            (HttpVersion::V1_1, _) => String::new(),
            (HttpVersion::V2, 1) => " of 1 stream (HTTP/2)".to_owned(),
            (HttpVersion::V2, streams) => format!(" of {streams} streams (HTTP/2)"),
        }
    }
}

impl Default for ConnectionPlan {
    fn default() -> Self {
        Self {
            keepalive: true,
            requests_max: None,
            lifetime_ns: None,
            ramp_per_s: None,
            pipeline: 1,
            http: HttpVersion::V1_1,
            streams: 1,
            window_bits: None,
            connection_window_bits: None,
            follow: None,
            nodelay: true,
            tcp_keepalive_ns: None,
            congestion: None,
            dscp: None,
            sources: Vec::new(),
            device: None,
            unix_socket: None,
            resolve_each: false,
        }
    }
}
