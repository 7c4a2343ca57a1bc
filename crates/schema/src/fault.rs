//! The faults that the fault server can play: the output of `prony reference --list-faults --format json`.

use crate::version::FaultListVersion;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Every fault.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct FaultList {
    /// Format and version.
    pub schema: FaultListVersion,
    /// In the order of the guide.
    pub faults: Vec<FaultListEntry>,
}

/// One fault.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct FaultListEntry {
    /// What `--fault` takes.
    pub name: String,
    /// The heading under which it stands.
    pub group: String,
    /// What the server does.
    pub about: String,
    /// What it happens to, and what a pattern counts.
    pub unit: FaultUnit,
    /// Which request brings it out.
    pub ask: FaultAsk,
    /// Whether it needs a client that speaks TLS.
    pub tls: bool,
    /// Error class of the request that meets it; absent where that request is answered rightly.
    pub class: Option<String>,
    /// What becomes of the connection.
    pub connection: FaultConnection,
    /// Error class of the next request on the connection, where `connection` is `next_fails`.
    pub next_class: Option<String>,
}

/// What a fault happens to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FaultUnit {
    /// The whole listener; it takes no pattern.
    Listener,
    /// Connections, in the order in which they are accepted.
    Connection,
    /// Requests, in the order in which they come.
    Request,
}

/// Which request brings a fault out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FaultAsk {
    /// Any.
    Any,
    /// HEAD.
    Head,
    /// A call of gRPC.
    Call,
    /// One with a body of 8 MiB or more.
    LargeBody,
}

/// What becomes of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FaultConnection {
    /// It serves the next request.
    Kept,
    /// The client replaces it.
    Replaced,
    /// It looks sound until the next request is on it.
    NextFails,
}
