//! The experiment file (`experiments/*.toml`) exactly as a user writes it; nothing is resolved here.

use crate::alarm::AlarmUse;
use crate::counter_metric::ClaimMetric;
use crate::counters::Counters;
use crate::design::DesignUse;
use crate::event::Event;
use crate::hooks::Hooks;
use crate::knob::KnobValue;
pub use crate::levels::OneOrMany;
use crate::limits::LimitsUse;
use crate::plan::Replicas;
use crate::profile::ProfileUse;
use crate::published::{ClaimSource, Conditions, Direction, PublishedUse};
pub use crate::reference::{Reference, ServiceLaw};
use crate::scenario::{Expect, Feeder, NamedRequest, Request, Session, TokenMaker};
use crate::server_side::Checks;
use crate::settings::HttpVersion;
pub use crate::settings::{ConnectionUse, Load, LoadModel, Resolve};
use crate::target::{Metrics, Ready, Stop};
use crate::text::{FileError, parse_toml};
use crate::threshold::ThresholdUse;
use crate::tls::TlsUse;
use crate::trace_level::TraceLevel;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use units::{Count, Nanos, PerSecond};

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
    /// Limits of health, held against every trial and every window of a soak.
    #[serde(default)]
    pub threshold: Vec<ThresholdUse>,
    /// Conditions that are watched while a load runs, and may end it.
    #[serde(default)]
    pub alarm: Vec<AlarmUse>,
    /// Profiles to be taken after the last trial; none where absent.
    pub profile: Option<ProfileUse>,
    /// Programs that run before and after each trial's load.
    #[serde(default)]
    pub hooks: Hooks,
}

impl ExperimentFile {
    /// Reads the text of a file; compiled here once instead of in every crate that reads such files.
    ///
    /// # Errors
    /// As of [`parse_toml`].
    pub fn from_toml(file: &str, text: &str) -> Result<Self, FileError> {
        parse_toml(file, text)
    }
}

/// `[experiment]`
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Design {
    /// Short name; becomes part of the run folder's name.
    pub name: String,
    /// The question in one sentence.
    pub question: Option<String>,
    /// Passes through all cells. Default 6: five give an interval, one is spare.
    pub blocks: Option<Count>,
    /// What is repeated for every trial: `restart`, or `rebuild` for targets that prony builds. Default restart.
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

/// `[[target]]`: exactly one of `use`, `url`, `image`, `command`, `reference`; an `image` may have a `command`, too.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TargetUse {
    /// Name in the report; default is `use`, the host of `url`, or the program.
    pub name: Option<String>,
    /// A folder under `targets/`, for example `go/gin`.
    #[serde(rename = "use")]
    pub manifest: Option<String>,
    /// For `use`: the project whose `targets/` has it, for example another checkout; relative to the experiment's own
    /// project, which is the default.
    pub project: Option<String>,
    /// A server that already runs; prony neither starts nor stops it.
    pub url: Option<String>,
    /// A container image on this host: as podman or docker list it, or with its transport, such as `oci:FOLDER:TAG`,
    /// `oci-archive:FILE` or `docker-archive:FILE`.
    pub image: Option<String>,
    /// A command to start; `{port}` and `{host}` are replaced. For `image`: what follows its entrypoint, in place of its own
    /// arguments; where neither this nor `env` has `{port}`, the variable `PORT` has it.
    pub command: Option<Vec<String>>,
    /// For `command`: the folder that it is built and run in, `{folder}`; relative to the project. Default: the folder in
    /// which prony was started.
    pub folder: Option<String>,
    /// For `command` with a `folder`: program and arguments that build it there before the first trial.
    #[serde(default)]
    pub build: Vec<String>,
    /// The reference target inside prony's own binary.
    pub reference: Option<Reference>,
    /// Environment added to the target's own.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Values of the manifest's knobs, for `use`; a list makes a factor: one target for each value.
    #[serde(default)]
    pub knobs: BTreeMap<String, OneOrMany<KnobValue>>,
    /// When a `command` or an `image` counts as ready. Default: a TCP connection is accepted.
    pub ready: Option<Ready>,
    /// How a `command` or an `image` is stopped.
    pub stop: Option<Stop>,
    /// TLS of a `url` that begins with `https://`.
    pub tls: Option<TlsUse>,
    /// What it counts of itself, over what its manifest says. Not for `reference`.
    #[serde(default)]
    pub metrics: Metrics,
    /// What it is confined to; what is not said here is as in `[limits]`.
    pub limits: Option<LimitsUse>,
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
    /// Whether `--short` may shorten them; false where what is asked needs its time. Default true.
    pub shorten: Option<bool>,
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

/// `[[claim]]`: a statement about one metric, or about leaks. Its kind is given by exactly one of `ratio`,
/// `difference`, `is`, `order`, `equivalent`, `no_worse`, `knee`, `no_leak` and `published`.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// The statement in words, as it is to stand in the report.
    pub text: String,
    /// What is compared: a metric, or a counter as a table; with `knee` what bends, throughput or p95. `no_leak` has none.
    pub metric: Option<ClaimMetric>,
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
    /// Metric of `better` divided by that of `than`, for example `">= 1.0"`, `"< 0.95"` or `"1.2 to 1.5"`.
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
    /// Name by which a study's file points to this claim, unique within the experiment.
    pub id: Option<String>,
    /// Where it was published.
    pub source: Option<ClaimSource>,
    /// The published ratio of `better` to `than`, or the published value of `of`: the kind of a claim that is tested as
    /// it was published.
    pub published: Option<PublishedUse>,
    /// The published direction; where absent that of the published ratio.
    pub direction: Option<Direction>,
    /// How far a measurement may lie from the published number and still reproduce it: a share such as 0.1, or a
    /// difference with its unit.
    pub tolerance: Option<MarginUse>,
    /// Under which conditions it was published.
    #[serde(default)]
    pub conditions: Conditions,
}

/// `margin` and `tolerance` of a claim.
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
    /// Version of HTTP of the cell.
    pub http: Option<HttpVersion>,
    /// Streams of a connection of the cell.
    pub streams: Option<u32>,
    /// Share of sampled traces of the cell, or off.
    pub trace: Option<TraceLevel>,
    /// CPU quota of the cell.
    pub cpus: Option<f64>,
}
