//! The resolved plan: every setting of a run with its value, nothing left to default. Stored in `run.json`, printed
//! by `--dry-run`, and the only thing that the runner and the engine take orders from.

use crate::experiment::{ArrivalLaw, LoadModel, Reference};
use crate::metric::Metric;
use crate::target::{Ready, Stop};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A whole experiment, resolved.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct ExperimentPlan {
    /// Short name.
    pub name: String,
    /// The question in one sentence.
    pub question: String,
    /// The systems under test, by unique name.
    pub targets: Vec<TargetPlan>,
    /// What is sent.
    pub scenario: ScenarioPlan,
    /// The combinations of levels.
    pub cells: Vec<CellPlan>,
    /// Passes through all cells.
    pub blocks: u32,
    /// Seed of every random decision.
    pub seed: u64,
    /// Trials in the order in which they are run.
    pub order: Vec<TrialPlan>,
    /// Warm-up and samples.
    pub phases: PhasePlan,
    /// Statements to be answered.
    pub claims: Vec<ClaimPlan>,
    /// Half-width of the equivalence margin as a ratio.
    pub margin: f64,
    /// Confidence level of intervals.
    pub confidence: f64,
    /// Which CPUs serve whom.
    pub pin: PinPlan,
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
    },
    /// A command without a manifest.
    Command {
        /// Program and arguments.
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
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct ScenarioPlan {
    /// Name of the scenario, or `inline`.
    pub name: String,
    /// The request.
    pub request: RequestPlan,
    /// What a right answer is.
    pub expect: ExpectPlan,
}

/// One request, resolved.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
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
    /// How load is made.
    pub load: LoadPlan,
}

/// How load is made, resolved.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct LoadPlan {
    /// Closed or open.
    pub model: LoadModel,
    /// Connections in total.
    pub connections: u32,
    /// Requests per second in total; open model only.
    pub rate_per_s: Option<f64>,
    /// Arrival process; open model only.
    pub arrivals: Option<ArrivalLaw>,
    /// Generator threads.
    pub workers: u32,
    /// From the start of a connection attempt.
    pub connect_timeout_ns: u64,
    /// From written to done.
    pub timeout_ns: u64,
    /// From intended to done; none where absent.
    pub total_timeout_ns: Option<u64>,
    /// Seed of arrivals.
    pub seed: u64,
}

/// The phases of a trial.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct PhasePlan {
    /// Warm-up is never shorter.
    pub warmup_at_least_ns: u64,
    /// Warm-up ends here at the latest.
    pub warmup_at_most_ns: u64,
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
    /// What could not be had, in words for the report.
    pub weakness: Option<String>,
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

/// A claim, resolved to two cells and a bound.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct ClaimPlan {
    /// The statement in words.
    pub text: String,
    /// What is compared.
    pub metric: Metric,
    /// Cell in the numerator.
    pub numerator: String,
    /// Cell in the denominator.
    pub denominator: String,
    /// How the ratio is compared with the bound.
    pub comparison: ClaimComparison,
    /// The bound.
    pub bound: f64,
}

/// How a ratio is compared with its bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub enum ClaimComparison {
    /// `>=`
    #[serde(rename = ">=")]
    AtLeast,
    /// `>`
    #[serde(rename = ">")]
    MoreThan,
    /// `<=`
    #[serde(rename = "<=")]
    AtMost,
    /// `<`
    #[serde(rename = "<")]
    LessThan,
}
