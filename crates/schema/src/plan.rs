//! The resolved plan: every setting of a run with its value, nothing left to default. Stored in `run.json`, printed
//! by `--dry-run`, and the only thing that the runner and the engine take orders from.

use crate::alarm::AlarmPlan;
use crate::arrival::{LengthPlan, ThinkPlan};
use crate::capacity::{CapacityPlan, SearchPlan};
pub use crate::claim::{ClaimComparison, ClaimMargin, ClaimPlan, ClaimQuantity, ClaimTest};
use crate::counters::CountersPlan;
use crate::design::DesignPlan;
use crate::event::EventPlan;
pub use crate::grpc::{
    CallPlan, Encoded, MessageCapture, MessageCheck, MessagePart, ScalarKind, StreamPlan, Streaming,
    ValuePart,
};
use crate::hooks::HooksPlan;
use crate::limits::LimitsPlan;
use crate::profile::ProfilePlan;
use crate::reference::Reference;
use crate::said::Said;
use crate::scenario::{Capture, Feeder, LengthRange, OnFailure, TokenMaker, UserConnection};
use crate::server_side::ChecksPlan;
pub use crate::settings::{ConnectionPlan, DriverChoice, HttpVersion, LoadPlan, PriorityChoice, SpinChoice};
use crate::soak::SoakPlan;
use crate::steady::WarmUpConditions;
use crate::target::{Metrics, Ready, Stop};
use crate::threshold::ThresholdPlan;
pub use crate::tls::TlsPlan;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;
use std::num::NonZeroUsize;

/// A whole experiment, resolved.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct ExperimentPlan {
    /// Short name.
    pub name: String,
    /// The question in one sentence.
    pub question: String,
    /// Whether phases and blocks were shortened for a first look (`prony run --short`).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub short: bool,
    /// Whether the file keeps its phases from being shortened.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub keeps_phases: bool,
    /// The systems under test, by unique name.
    pub targets: Vec<TargetPlan>,
    /// What is sent: one scenario for each level of that factor; never empty in a resolved plan. Files of older
    /// versions have one, under `scenario`.
    #[serde(alias = "scenario", deserialize_with = "one_or_many")]
    pub scenarios: Vec<ScenarioPlan>,
    /// The combinations of levels.
    pub cells: Vec<CellPlan>,
    /// Which of the combinations they are, the hidden control, and when blocks end.
    #[serde(default)]
    pub design: DesignPlan,
    /// Passes through all cells; of a run that decides while it runs: those decided upon so far.
    pub blocks: u32,
    /// What is repeated for every trial.
    #[serde(default)]
    pub replicas: Replicas,
    /// Seed of every random decision.
    pub seed: u64,
    /// Trials in the order in which they are run.
    pub order: Vec<TrialPlan>,
    /// Warm-up and samples.
    pub phases: PhasePlan,
    /// Things that happen to the target in every trial, in order of time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<EventPlan>,
    /// The ladder or search of a knee run; absent in other runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity: Option<CapacityPlan>,
    /// How far the target's own counts may differ from the client's.
    #[serde(default)]
    pub checks: ChecksPlan,
    /// How often counters are read beside the load; a soak has a pace of its own.
    #[serde(default)]
    pub counters: CountersPlan,
    /// Statements to be answered.
    #[serde(deserialize_with = "crate::claim::of_any_version")]
    pub claims: Vec<ClaimPlan>,
    /// Limits of health.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub thresholds: Vec<ThresholdPlan>,
    /// Conditions that are watched while a load runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub alarms: Vec<AlarmPlan>,
    /// Half-width of the equivalence margin as a ratio.
    pub margin: f64,
    /// Confidence level of intervals.
    pub confidence: f64,
    /// Which CPUs serve whom.
    pub pin: PinPlan,
    /// Present where the run is a soak: its one cell is run in segments, one trial each.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub soak: Option<SoakPlan>,
    /// Profiles to be taken after the last trial.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<ProfilePlan>,
    /// Programs of the user before and after each load.
    #[serde(default, skip_serializing_if = "HooksPlan::is_empty")]
    pub hooks: HooksPlan,
}

impl ExperimentPlan {
    /// The search that chooses the trials; absent where they are planned.
    #[must_use]
    pub fn search(&self) -> Option<&SearchPlan> {
        self.capacity.as_ref()?.search.as_ref()
    }

    /// What is sent in a cell; the first scenario for cells of older files, which name none.
    #[must_use]
    pub fn scenario_of(&self, cell: &CellPlan) -> Option<&ScenarioPlan> {
        if cell.scenario.is_empty() {
            return self.scenarios.first();
        }
        self.scenarios.iter().find(|scenario| scenario.name == cell.scenario)
    }

    /// What is sent to a target in any of its cells; it need not answer anything else.
    #[must_use]
    pub fn scenarios_of(&self, target: &str) -> Vec<ScenarioPlan> {
        let cells = || self.cells.iter().filter(|cell| cell.target == target);
        let is_sent = |scenario: &&ScenarioPlan| {
            cells().filter_map(|cell| self.scenario_of(cell)).any(|sent| sent.name == scenario.name)
        };
        self.scenarios.iter().filter(is_sent).cloned().collect()
    }
}

fn one_or_many<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<ScenarioPlan>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Either {
        Many(Vec<ScenarioPlan>),
        One(Box<ScenarioPlan>),
    }
    Ok(match Either::deserialize(deserializer)? {
        Either::Many(many) => many,
        Either::One(one) => vec![*one],
    })
}

/// A system under test, resolved.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct TargetPlan {
    /// Unique name within the experiment.
    pub name: String,
    /// Where it comes from.
    pub source: TargetSource,
    /// Environment added to the target's own.
    pub env: BTreeMap<String, String>,
    /// Values of its knobs, defaults included; a knob that is not set is absent.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub knobs: BTreeMap<String, String>,
    /// Where its knobs were given lists: what it is a variant of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<Variant>,
    /// What the experiment says of its counters, over what its manifest says.
    #[serde(default)]
    pub metrics: Metrics,
}

/// One combination of the knobs that were given lists.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct Variant {
    /// Name that all its variants share.
    pub of: String,
    /// Values of the knobs that were given lists; never empty.
    pub knobs: BTreeMap<String, String>,
}

/// Where a target comes from.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum TargetSource {
    /// A folder with a manifest.
    Manifest {
        /// Name under `targets/`.
        name: String,
        /// The folder, absolute.
        folder: String,
    },
    /// A server that already runs.
    Url {
        /// Scheme, host and port.
        url: String,
        /// TLS, where the scheme is https.
        #[serde(default)]
        tls: Option<TlsPlan>,
    },
    /// A command without a manifest.
    Command {
        /// Program and arguments.
        command: Vec<String>,
        /// The folder that it is built and run in, absolute; where absent, the one in which prony was started.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        folder: Option<String>,
        /// Program and arguments that build it; empty where nothing does.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        build: Vec<String>,
        /// When it counts as ready.
        ready: Ready,
        /// How it is stopped.
        stop: Stop,
    },
    /// The program of a container image.
    Image {
        /// Where the image is, as written.
        image: String,
        /// What follows its entrypoint; its own arguments where empty.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        command: Vec<String>,
        /// When it counts as ready.
        ready: Ready,
        /// How it is stopped.
        stop: Stop,
    },
    /// The reference target inside prony's own binary.
    Reference {
        /// Its law.
        law: Reference,
    },
}

/// What is sent, with bodies and expectations read in.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct ScenarioPlan {
    /// Name of the scenario, or `inline`.
    pub name: String,
    /// The requests; never empty in a resolved plan.
    pub requests: Vec<EntryPlan>,
    /// Services that must be up, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub services: Vec<String>,
    /// Values by name, each an expression, in the order in which they are drawn.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub vars: Vec<(String, String)>,
    /// Rows from files, by name; paths are absolute.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub feeders: BTreeMap<String, Feeder>,
    /// Tokens made ahead, by name; key files are absolute.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tokens: BTreeMap<String, TokenMaker>,
    /// One virtual user's requests in order; a mix by weight where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionPlan>,
    /// `FEEDER.COLUMN` whose rows name the request that is sent; weights are not used then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choose: Option<String>,
    /// A script that makes the requests instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub script: Option<ScriptPlan>,
    /// Directory that relative paths inside values refer to, absolute.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub folder: String,
}

impl ScenarioPlan {
    /// A scenario of one request.
    #[must_use]
    pub fn single(name: &str, request: RequestPlan, expect: ExpectPlan) -> Self {
        let entry = EntryPlan { name: name.to_owned(), weight: 1.0, request, expect, ..EntryPlan::default() };
        Self { name: name.to_owned(), requests: vec![entry], ..Self::default() }
    }

    /// The first request, which stands for all where only one can be shown.
    #[must_use]
    pub fn first(&self) -> Option<&EntryPlan> {
        self.requests.first()
    }

    /// What is sent to `origin` (scheme, host and port), for people: `GET http://host/path`, or how many of what.
    #[must_use]
    pub fn words(&self, origin: &str) -> String {
        let origin = origin.trim_end_matches('/');
        match (&self.script, &self.session, &self.requests[..]) {
            (Some(script), _, _) => format!("script {} to {origin}", script.file),
            // A path that is made for each request has no text of its own: the request's name says what it is.
            (None, None, [only]) if only.is_template && only.request.path.contains("${") => {
                let name = if only.name == only.request.method { &self.name } else { &only.name };
                format!("{name}: {} requests to {origin}", only.request.method)
            }
            (None, None, [EntryPlan { grpc: Some(call), .. }]) => {
                format!("calls of {} at {origin}", call.method)
            }
            (None, None, [only]) => format!("{} {origin}{}", only.request.method, only.request.path),
            (None, None, several) => {
                let order = if self.choose.is_some() { "by row" } else { "by weight" };
                format!("{}: {} requests {order} to {origin}", self.name, several.len())
            }
            (None, Some(session), _) => match session.length {
                None => format!("{}: sessions of {} requests to {origin}", self.name, session.steps.len()),
                Some(_) => format!("{}: sessions of {} to {origin}", self.name, session.words()),
            },
        }
    }

    /// Whether there is one request whose bytes are always the same.
    #[must_use]
    pub fn is_single(&self) -> bool {
        self.requests.len() == 1
            && self.session.is_none()
            && self.script.is_none()
            && !self.requests[0].is_template
    }

    /// Whether any of its requests is a call of gRPC, which takes HTTP/2.
    #[must_use]
    pub fn has_calls(&self) -> bool {
        self.requests.iter().any(|entry| entry.grpc.is_some())
    }
}

/// One named request of a scenario.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct EntryPlan {
    /// Unique within the scenario.
    pub name: String,
    /// Share among the weights of all requests; not negative.
    pub weight: f64,
    /// The request; texts are templates where `is_template`.
    pub request: RequestPlan,
    /// Whether path, header values or body hold `${…}`.
    #[serde(default)]
    pub is_template: bool,
    /// Scheme, host and port where it goes to another origin than the load's URL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// Where the request is a call of gRPC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grpc: Option<CallPlan>,
    /// What a right answer is.
    pub expect: ExpectPlan,
    /// The body is sent in chunks of this many bytes, not with its length.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chunk_bytes: Option<u64>,
    /// From written to done; the load's where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ns: Option<u64>,
    /// Values taken from the answer.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub capture: BTreeMap<String, Capture>,
    /// Session: the pause before this request; none where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub think: Option<ThinkPlan>,
}

impl EntryPlan {
    /// The version of HTTP that carries it in a load of this one: calls take HTTP/2 whatever the load says.
    #[must_use]
    pub const fn http(&self, of_load: HttpVersion) -> HttpVersion {
        if self.grpc.is_some() { HttpVersion::V2 } else { of_load }
    }

    /// Length of each chunk of the body; none where it is sent with its length.
    #[must_use]
    pub fn chunk_bytes(&self) -> Option<NonZeroUsize> {
        self.chunk_bytes.and_then(|bytes| NonZeroUsize::new(usize::try_from(bytes).unwrap_or(usize::MAX)))
    }
}

/// One virtual user's requests in order.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct SessionPlan {
    /// Places in `requests`, in order; never empty.
    pub steps: Vec<u32>,
    /// Pause before every step but the first, unless its request has its own.
    pub think: Option<ThinkPlan>,
    /// Which connection a user's requests take.
    pub connection: UserConnection,
    /// Whether cookies are kept and sent back.
    pub cookies: bool,
    /// What happens after a failed request.
    pub on_failure: OnFailure,
    /// How many of the steps a session has, drawn for each; all of them where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length: Option<LengthPlan>,
    /// Whether each step is any of the requests, by weight. Then there is a length.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_drawn: bool,
}

impl SessionPlan {
    /// How many steps, for people: `4 steps`, or the law of their number.
    #[must_use]
    pub fn words(&self) -> String {
        match (&self.length, self.is_drawn) {
            (Some(length), true) => format!("drawn steps, their number {length}"),
            (Some(length), false) => format!("up to {} steps, their number {length}", self.steps.len()),
            (None, _) => format!("{} steps", self.steps.len()),
        }
    }
}

/// A script in the manner of wrk.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct ScriptPlan {
    /// File it came from, for messages.
    pub file: String,
    /// Its text.
    pub text: String,
    /// Arguments after `--`.
    pub args: Vec<String>,
}

/// One request, resolved.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct RequestPlan {
    /// Method token.
    pub method: String,
    /// Path and query.
    pub path: String,
    /// Header fields in sending order, without those that prony adds (`Host`, `Content-Length`).
    pub headers: Vec<(String, String)>,
    /// Body bytes: as text where they are UTF-8, else base64 after `base64:`.
    #[serde(with = "crate::body")]
    #[schemars(with = "String")]
    pub body: Vec<u8>,
}

/// What a right answer is, resolved.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct ExpectPlan {
    /// Accepted status codes; empty means 200 to 399.
    pub status: Vec<u16>,
    /// Header fields (lower case) whose value must begin with the given text.
    pub headers: Vec<(String, String)>,
    /// The body that must come.
    pub body: BodyExpectation,
    /// Bounds of the body's length in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length: Option<LengthRange>,
    /// Texts that the body must contain.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub contains: Vec<String>,
    /// Regular expressions that must match somewhere in the body.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub regex: Vec<String>,
    /// JSON pointers that must exist.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub json_has: Vec<String>,
    /// JSON pointers and the values that must stand there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub json_equals: Vec<(String, serde_json::Value)>,
    /// SHA-256 of the body, lower-case hexadecimal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// Share of the answers whose body is put to the checks of content; all where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample: Option<f64>,
}

/// What the body must be.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(tag = "kind", content = "value", rename_all = "snake_case")]
pub enum BodyExpectation {
    /// Anything.
    #[default]
    Any,
    /// These bytes.
    Exact(String),
    /// A JSON text of this meaning.
    Json(serde_json::Value),
}

/// One combination of levels.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct CellPlan {
    /// Short identifier, `c1`, `c2`, …
    pub id: String,
    /// For people, for example `go/gin, 128 connections`.
    pub label: String,
    /// Name of the target.
    pub target: String,
    /// Name of the scenario; empty in files of older versions, which have only one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub scenario: String,
    /// How load is made.
    pub load: LoadPlan,
    /// What the target is confined to.
    #[serde(default, skip_serializing_if = "LimitsPlan::is_none")]
    pub limits: LimitsPlan,
}

/// The phases of a trial.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct PhasePlan {
    /// Warm-up is never shorter.
    pub warmup_at_least_ns: u64,
    /// Warm-up ends here at the latest.
    pub warmup_at_most_ns: u64,
    /// What it waits for besides the target being steady.
    #[serde(default, skip_serializing_if = "WarmUpConditions::is_empty")]
    pub warmup_also: WarmUpConditions,
    /// Length of one sample.
    pub sample_ns: u64,
    /// Samples in a trial.
    pub samples: u32,
    /// After the last intended time, requests in flight get this long to finish; none is started.
    pub drain_ns: u64,
}

/// CPU sets as Linux list syntax; `None` means not confined.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct PinPlan {
    /// CPUs of the generator's workers.
    pub generator: Option<Vec<u32>>,
    /// CPUs of the target.
    pub target: Option<Vec<u32>>,
    /// CPUs of the services; where absent and the plan has services, those of the target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub services: Option<Vec<u32>>,
    /// What could not be had, in words for the report.
    pub weakness: Option<Said>,
}

impl PinPlan {
    /// The CPUs that services run on: their own, else those of the target; `None` where neither is confined.
    #[must_use]
    pub fn of_services(&self) -> Option<&Vec<u32>> {
        self.services.as_ref().or(self.target.as_ref())
    }
}

/// What is repeated for every trial.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Replicas {
    /// The target is started.
    #[default]
    Restart,
    /// The target is built from nothing, then started: what a build leaves to chance varies too.
    Rebuild,
}

/// One trial of the order.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct TrialPlan {
    /// Folder name under `trials/`, counted from 1.
    pub id: u32,
    /// Block, counted from 1.
    pub block: u32,
    /// Cell identifier.
    pub cell: String,
}
