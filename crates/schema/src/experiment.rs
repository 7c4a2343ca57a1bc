//! The experiment file (`experiments/*.toml`) exactly as a user writes it; nothing is resolved here.

use crate::arrival::{Arrivals, Shape, TextOr, Think};
use crate::counters::Counters;
use crate::design::DesignUse;
use crate::event::Event;
use crate::hooks::Hooks;
use crate::knob::KnobValue;
use crate::limits::LimitsUse;
use crate::metric::Metric;
use crate::plan::{DriverChoice, PriorityChoice, Replicas, SpinChoice};
use crate::profile::ProfileUse;
use crate::scenario::{Expect, Feeder, NamedRequest, Request, Session, TokenMaker};
use crate::server_side::Checks;
use crate::target::{Metrics, Ready, Stop};
use crate::tls::TlsUse;
use schemars::JsonSchema;
use serde::de::value::SeqAccessDeserializer;
use serde::de::{IntoDeserializer, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;
use units::{Bytes, Count, Nanos, PerSecond, Users};

/// Which factors vary, how load is made, what is measured and which claims are tested.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExperimentFile {
    /// Name, question and blocks.
    pub experiment: Design,
    /// Which cells there are, and how long blocks are repeated.
    #[serde(default)]
    pub design: DesignUse,
    /// The systems under test.
    #[serde(default)]
    pub target: Vec<TargetUse>,
    /// What targets are confined to.
    pub limits: Option<LimitsUse>,
    /// What is sent.
    pub scenario: Option<ScenarioUse>,
    /// How it is sent.
    pub load: Option<Load>,
    /// Warm-up and samples.
    #[serde(default)]
    pub phases: Phases,
    /// Things that happen to the target under load.
    #[serde(default)]
    pub event: Vec<Event>,
    /// How far the target's own counts may differ from the client's.
    #[serde(default)]
    pub checks: Checks,
    /// How often counters are read beside the load.
    #[serde(default)]
    pub counters: Counters,
    /// Statements to be answered by the run.
    #[serde(default)]
    pub claim: Vec<Claim>,
    /// Profiles to be taken after the last trial; none where absent.
    pub profile: Option<ProfileUse>,
    /// Programs that run before and after each trial's load.
    #[serde(default)]
    pub hooks: Hooks,
}

/// `[experiment]`
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Design {
    /// Short name; becomes part of the run folder's name.
    pub name: String,
    /// The question in one sentence.
    pub question: Option<String>,
    /// Passes through all cells. Default 5, the fewest that give an interval.
    pub blocks: Option<Count>,
    /// What is done anew for every trial: `restart`, or `rebuild` for targets that prony builds. Default restart.
    pub replicas: Option<Replicas>,
    /// Seed of every random decision. Default 1.
    pub seed: Option<u64>,
    /// Half-width of the equivalence margin as a ratio. Default 0.02 (±2 %).
    pub margin: Option<f64>,
    /// Confidence level of intervals. Default 0.95.
    pub confidence: Option<f64>,
    /// CPU sets: `auto` (generator, target and services apart), `off`, `GENERATOR:TARGET` such as `0:1-3`, or
    /// `GENERATOR:TARGET:SERVICES`.
    pub pin: Option<String>,
}

/// `[[target]]`: exactly one of `use`, `url`, `command`, `reference`.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TargetUse {
    /// Name in the report; default is `use`, the host of `url`, or the program.
    pub name: Option<String>,
    /// A folder under `targets/`, for example `go/gin`.
    #[serde(rename = "use")]
    pub manifest: Option<String>,
    /// A server that already runs; prony neither starts nor stops it.
    pub url: Option<String>,
    /// A command to start; `{port}` and `{host}` are replaced.
    pub command: Option<Vec<String>>,
    /// The reference target inside prony's own binary.
    pub reference: Option<Reference>,
    /// Environment added to the target's own.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Values of the manifest's knobs, for `use`; a list makes a factor: one target for each value.
    #[serde(default)]
    pub knobs: BTreeMap<String, OneOrMany<KnobValue>>,
    /// When a `command` counts as ready. Default: a TCP connection is accepted.
    pub ready: Option<Ready>,
    /// How a `command` is stopped.
    pub stop: Option<Stop>,
    /// TLS of a `url` that begins with `https://`.
    pub tls: Option<TlsUse>,
    /// What it counts of itself, over what its manifest says. Not for `reference`.
    #[serde(default)]
    pub metrics: Metrics,
    /// What it is confined to; what is not said here is as in `[limits]`.
    pub limits: Option<LimitsUse>,
}

/// The reference target's law: the known truth.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reference {
    /// Law of the service time. Default constant.
    pub law: Option<ServiceLaw>,
    /// Mean service time. Default 0 (answer at once).
    pub mean: Option<Nanos>,
    /// CPU time that each answer costs, on one thread, instead of a service time; what a server whose CPU is the limit
    /// does. Default 0.
    pub burn: Option<Nanos>,
    /// Requests served at the same time; others wait in one queue. Default 1.
    pub servers: Option<u32>,
    /// Seed of the service times. Default 1.
    pub seed: Option<u64>,
    /// Share of requests answered with status 500, from 0 to 1.
    pub error_rate: Option<f64>,
    /// Share of requests whose connection is reset instead of an answer, from 0 to 1.
    pub reset_rate: Option<f64>,
    /// `AT+LENGTH`: from AT after the first request, answer nothing for LENGTH, for example `5s+1s`.
    pub freeze: Option<String>,
    /// Memory that each request leaves behind for good: a leak of known size. Default none.
    pub leak_memory: Option<Bytes>,
    /// Every so many requests a descriptor is opened and never closed. Default none.
    pub leak_descriptors: Option<Count>,
    /// Memory up to this size is filled by requests, each filling the same share of what is left: a cache. Default none.
    pub cache: Option<Bytes>,
    /// Connections that it must be able to hold at once; more than one process has descriptors for need several
    /// processes. Default: those of the load.
    pub connections_max: Option<Count>,
}

/// Law of the reference target's service time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ServiceLaw {
    /// Every request takes the mean.
    #[default]
    Constant,
    /// Exponential: coefficient of variation 1.
    Exponential,
    /// Lognormal with coefficient of variation 1.
    Lognormal,
}

/// `[scenario]`: `use`, or an inline request.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScenarioUse {
    /// A file under `scenarios/` without its ending, for example `json`; a list makes a factor.
    #[serde(rename = "use")]
    pub file: Option<OneOrMany<String>>,
    /// Services that inline requests need, as in a scenario file.
    #[serde(default)]
    pub services: Vec<String>,
    /// An inline request instead.
    pub request: Option<Request>,
    /// What a right answer to the inline request is.
    pub expect: Option<Expect>,
    /// Several inline requests, as in a scenario file.
    #[serde(default)]
    pub requests: Vec<NamedRequest>,
    /// As in a scenario file.
    #[serde(default)]
    pub vars: BTreeMap<String, String>,
    /// As in a scenario file; paths are relative to `scenarios/`.
    #[serde(default)]
    pub feeders: BTreeMap<String, Feeder>,
    /// As in a scenario file.
    #[serde(default)]
    pub tokens: BTreeMap<String, TokenMaker>,
    /// As in a scenario file.
    pub session: Option<Session>,
}

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

/// A value or a list of them.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum OneOrMany<T> {
    /// A single level.
    One(T),
    /// Several levels.
    Many(Vec<T>),
}

impl<T: Clone> OneOrMany<T> {
    /// The levels in the order written.
    pub fn levels(&self) -> Vec<T> {
        match self {
            Self::One(one) => vec![one.clone()],
            Self::Many(many) => many.clone(),
        }
    }
}

/// Written by hand so that a wrong value is told in the words of its own type.
impl<'de, T: Deserialize<'de>> Deserialize<'de> for OneOrMany<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Either<T> {
            type Value = OneOrMany<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("one value or a list of values")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<OneOrMany<T>, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(items)).map(OneOrMany::Many)
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<OneOrMany<T>, E> {
                T::deserialize(text.into_deserializer()).map(OneOrMany::One)
            }
            fn visit_bool<E: serde::de::Error>(self, is: bool) -> Result<OneOrMany<T>, E> {
                T::deserialize(is.into_deserializer()).map(OneOrMany::One)
            }
            fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<OneOrMany<T>, E> {
                T::deserialize(number.into_deserializer()).map(OneOrMany::One)
            }
            fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<OneOrMany<T>, E> {
                T::deserialize(number.into_deserializer()).map(OneOrMany::One)
            }
            fn visit_f64<E: serde::de::Error>(self, number: f64) -> Result<OneOrMany<T>, E> {
                T::deserialize(number.into_deserializer()).map(OneOrMany::One)
            }
        }
        deserializer.deserialize_any(Either(PhantomData))
    }
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

/// `[phases]`
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Phases {
    /// Warm-up bounds.
    #[serde(default)]
    pub warmup: Warmup,
    /// Length of one sample. Default 5s.
    pub sample: Option<Nanos>,
    /// Samples in a trial. Default 3.
    pub samples: Option<u32>,
}

/// `warmup = { at_least, at_most, until }`
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Warmup {
    /// Never shorter than this. Default 3s.
    pub at_least: Option<Nanos>,
    /// Ends here even if the target is not steady. Default 20s.
    pub at_most: Option<Nanos>,
    /// What ends it in between. Default steady, or fixed where at_least and at_most are one time.
    pub until: Option<WarmupUntil>,
    /// Waits besides until there was at most one garbage collection in this time; needs targets whose Go runtime
    /// tells.
    pub gc_at_most_every: Option<Nanos>,
    /// Waits besides until the target's CPU time per second stays within this share of its median for six seconds.
    pub cpu_within: Option<f64>,
}

/// What ends a warm-up between its shortest and its longest length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WarmupUntil {
    /// The target is steady.
    Steady,
    /// Nothing: it has one length.
    Fixed,
}

/// `[[claim]]`: a statement about one metric, or about leaks. Its kind is given by exactly one of `ratio`, `difference`,
/// `is`, `order`, `equivalent`, `no_worse`, `knee` and `no_leak`.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// The statement in words, as it is to stand in the report.
    pub text: String,
    /// What is compared; with `knee` what bends, throughput or p95. `no_leak` has none.
    pub metric: Option<Metric>,
    /// `ratio` and `difference`: target in the numerator, or that is taken from.
    pub better: Option<String>,
    /// `ratio`, `difference` and `no_worse`: target in the denominator, or that is taken away or held against.
    pub than: Option<String>,
    /// The level at which it is claimed; needed where scenario or load have several.
    #[serde(default)]
    pub at: At,
    /// The level of the second target where it differs: its keys go before those of `at`.
    #[serde(default)]
    pub than_at: At,
    /// Metric of `better` divided by that of `than`, for example `">= 1.0"` or `"< 0.95"`.
    pub ratio: Option<String>,
    /// Metric of `better` minus that of `than`, with its unit, for example `"<= 5ms"`.
    pub difference: Option<String>,
    /// `is` and `knee`: the target.
    pub of: Option<String>,
    /// Bound of the metric of `of` with its unit, for example `"< 50ms"`.
    pub is: Option<String>,
    /// Targets from best to worst: each is better than the next.
    pub order: Option<Vec<String>>,
    /// Two targets that differ by less than `margin`.
    pub equivalent: Option<Vec<String>>,
    /// Target that is not worse than `than` by `margin` or more.
    pub no_worse: Option<String>,
    /// Bound of the load at which the metric of `of` bends, for example `"> 400"`: connections, or requests per second,
    /// as the ladder of `prony knee`.
    pub knee: Option<String>,
    /// Target of which nothing leaks under `prony soak`.
    pub no_leak: Option<String>,
    /// `equivalent` and `no_worse`: a share of the metric such as 0.05, or a difference with its unit such as `"5ms"`.
    /// Default: that of the experiment.
    pub margin: Option<MarginUse>,
}

/// `margin` of a claim.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(untagged, expecting = "expected a share such as 0.05, or a difference with its unit such as \"5ms\"")]
pub enum MarginUse {
    /// As a ratio.
    Share(f64),
    /// As a difference.
    Text(String),
}

/// A level named in a claim.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct At {
    /// Name of the cell's scenario.
    pub scenario: Option<String>,
    /// Connections of the cell.
    pub connections: Option<Count>,
    /// Rate of the cell.
    pub rate: Option<PerSecond>,
    /// CPU quota of the cell.
    pub cpus: Option<f64>,
}
