//! The scenario file (`scenarios/*.toml`): one request and what a right answer to it is.

use crate::version::ScenarioVersion;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What is sent and what must come back. The same files serve as the contract that targets are checked against.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScenarioFile {
    /// Format and version of this file.
    pub schema: ScenarioVersion,
    /// Equal to the file's name without its ending.
    pub name: String,
    /// One line for lists.
    pub description: Option<String>,
    /// The request.
    pub request: Request,
    /// What a right answer is.
    #[serde(default)]
    pub expect: Expect,
}

/// `[request]`
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// Default GET, or POST with a body.
    pub method: Option<String>,
    /// Path and query, beginning with `/`.
    pub path: String,
    /// Header fields; `Host`, `Content-Length` are set by prony unless given.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// Body text.
    pub body: Option<String>,
    /// Body from a file beside the scenario file.
    pub body_file: Option<String>,
}

/// `[expect]`
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Expect {
    /// Accepted status codes. Default: 200 to 399.
    #[serde(default)]
    pub status: Vec<u16>,
    /// Header fields whose value must begin with the given text; names in any case.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// The exact body.
    pub body: Option<String>,
    /// The body as JSON, compared by meaning before the trial; during it the bytes then seen must come again.
    pub json: Option<String>,
    /// As `json`, from a file beside the scenario file.
    pub json_file: Option<String>,
}
