//! The reference target's law, as files and `prony reference` take it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Bytes, Count, Nanos};

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
