//! The scenario file (`scenarios/*.toml`): what is sent and what right answers are.
//!
//! Either one request (`[request]`, `[expect]`) or a list of named ones (`[[requests]]`), mixed by weight, chosen by the
//! rows of a feeder (`choose`) or, with `[session]`, sent in order by one virtual user. Texts of paths, queries, headers and bodies may hold `${…}`
//! expressions over `[vars]`, feeders, tokens and captured values; `$${` stands for a plain `${`.
//! Absent on purpose: how much is sent and when (the load's work), and defaults (the runner fills them in).

use crate::arrival::{Lengths, TextOr, Think};
use crate::grpc::{CodeItem, Grpc};
use crate::text::{FileError, parse_toml};
use crate::version::ScenarioVersion;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use units::{Bytes, Nanos};

/// What is sent and what must come back. The same files serve as the contract that targets are checked against.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScenarioFile {
    /// Format and version of this file.
    pub schema: ScenarioVersion,
    /// Equal to the file's name without its ending.
    pub name: String,
    /// One line for lists.
    pub description: Option<String>,
    /// Services that the requests need at the target, by their folder under `services/`, for example `mariadb`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub services: Vec<String>,
    /// The only request.
    pub request: Option<Request>,
    /// What a right answer to the only request is.
    pub expect: Option<Expect>,
    /// Several requests instead, chosen by weight or, with `session`, sent in its order.
    #[serde(default)]
    pub requests: Vec<NamedRequest>,
    /// Values by name, each an expression such as `zipf(1, 100000, 1.1)`, drawn once for each request.
    #[serde(default)]
    pub vars: BTreeMap<String, String>,
    /// Rows from files, by name; a column is `${NAME.COLUMN}`.
    #[serde(default)]
    pub feeders: BTreeMap<String, Feeder>,
    /// JSON Web Tokens made ahead, by name; one is `${token("NAME")}`.
    #[serde(default)]
    pub tokens: BTreeMap<String, TokenMaker>,
    /// The requests of one virtual user in order.
    pub session: Option<Session>,
    /// `FEEDER.COLUMN`: each row names the request that is sent, in place of weights. Not with `[session]`.
    pub choose: Option<String>,
}

impl ScenarioFile {
    /// Reads the text of a file; compiled here once instead of in every crate that reads such files.
    ///
    /// # Errors
    /// As of [`parse_toml`].
    pub fn from_toml(file: &str, text: &str) -> Result<Self, FileError> {
        parse_toml(file, text)
    }
}

/// `[request]`
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// Default GET, or POST with a body.
    pub method: Option<String>,
    /// Path, perhaps with a query, beginning with `/`. Needed, except by a call of gRPC.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub path: String,
    /// A call of gRPC over HTTP/2, in place of path, method and body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grpc: Option<Grpc>,
    /// Query fields, percent-encoded by prony, in the order of their names.
    #[serde(default)]
    pub query: BTreeMap<String, String>,
    /// Header fields; `Host`, `Content-Length` are set by prony unless given.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// Body text.
    pub body: Option<String>,
    /// Body from a file beside the scenario file, sent as it is.
    pub body_file: Option<String>,
    /// Body as JSON text: checked before the load; sets `Content-Type: application/json` unless given.
    pub json: Option<String>,
    /// Body as `application/x-www-form-urlencoded`, encoded by prony.
    pub form: Option<BTreeMap<String, String>>,
    /// Body as `multipart/form-data`.
    pub multipart: Option<Vec<Part>>,
    /// Sends the body in chunks of this size (`Transfer-Encoding: chunked`), from 1 B to 64 MiB, not with its length.
    pub chunked: Option<Bytes>,
}

/// One part of a multipart body.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// Field name.
    pub name: String,
    /// The value, as text.
    pub text: Option<String>,
    /// The value, from a file beside the scenario file.
    pub file: Option<String>,
    /// File name that is sent to the server. Default: that of `file`.
    pub filename: Option<String>,
    /// Media type. Default: `application/octet-stream` for files.
    pub content_type: Option<String>,
}

/// One of `[[requests]]`.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NamedRequest {
    /// Unique; results are reported by it.
    pub name: String,
    /// Share among the weights of all requests; 0 is never chosen. Default 1. With `[session]` for drawn steps only.
    pub weight: Option<f64>,
    /// Another origin than the load's URL: scheme, host and port. For `prony load`, and not with `[session]`.
    pub origin: Option<String>,
    /// Default GET, or POST with a body.
    pub method: Option<String>,
    /// As in `[request]`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub path: String,
    /// As in `[request]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grpc: Option<Grpc>,
    /// As in `[request]`.
    #[serde(default)]
    pub query: BTreeMap<String, String>,
    /// As in `[request]`.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// As in `[request]`.
    pub body: Option<String>,
    /// As in `[request]`.
    pub body_file: Option<String>,
    /// As in `[request]`.
    pub json: Option<String>,
    /// As in `[request]`.
    pub form: Option<BTreeMap<String, String>>,
    /// As in `[request]`.
    pub multipart: Option<Vec<Part>>,
    /// As in `[request]`.
    pub chunked: Option<Bytes>,
    /// From written to done, instead of the load's.
    pub timeout: Option<Nanos>,
    /// What a right answer is.
    #[serde(default)]
    pub expect: Expect,
    /// Values taken from the answer, by name, for later requests of the session: `${NAME}`.
    #[serde(default)]
    pub capture: BTreeMap<String, Capture>,
    /// Session only: the pause before this request, instead of the session's.
    #[schemars(with = "Option<TextOr<Think>>")]
    pub think: Option<Think>,
}

impl NamedRequest {
    /// The request without its surroundings.
    #[must_use]
    pub fn request(&self) -> Request {
        Request {
            method: self.method.clone(),
            path: self.path.clone(),
            grpc: self.grpc.clone(),
            query: self.query.clone(),
            headers: self.headers.clone(),
            body: self.body.clone(),
            body_file: self.body_file.clone(),
            json: self.json.clone(),
            form: self.form.clone(),
            multipart: self.multipart.clone(),
            chunked: self.chunked,
        }
    }
}

/// `[expect]`
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Expect {
    /// Accepted status codes: a code, a class such as `"2xx"`, or a range such as `"200-299"`. Default: 200 to 399.
    #[serde(default)]
    pub status: Vec<StatusItem>,
    /// Calls of gRPC: accepted status codes by name or number. Default: OK.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub grpc_status: Vec<CodeItem>,
    /// Calls of gRPC: fields that the answer's message must have, as JSON pointers such as `/records/0/id`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub message_has: Vec<String>,
    /// Calls of gRPC: such fields and the values that they must have, as JSON writes them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub message_equals: BTreeMap<String, serde_json::Value>,
    /// Header fields whose value must begin with the given text; names in any case.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// The exact body.
    pub body: Option<String>,
    /// The body as JSON, compared by meaning before the trial; during it the bytes then seen must come again.
    pub json: Option<String>,
    /// As `json`, from a file beside the scenario file.
    pub json_file: Option<String>,
    /// Bounds of the body's length in bytes.
    pub length: Option<LengthRange>,
    /// Texts that the body must contain.
    #[serde(default)]
    pub contains: Vec<String>,
    /// Regular expressions that must match somewhere in the body.
    #[serde(default)]
    pub regex: Vec<String>,
    /// JSON pointers (RFC 6901) that must exist in the body.
    #[serde(default)]
    pub json_has: Vec<String>,
    /// JSON pointers and the values that must stand there.
    #[serde(default)]
    pub json_equals: BTreeMap<String, serde_json::Value>,
    /// SHA-256 of the body, hexadecimal.
    pub sha256: Option<String>,
    /// Share of the answers whose body is put to `contains`, `regex`, `json_*` and `sha256`, above 0, at most 1.
    /// Status, headers and length are checked on every one. Default 1.
    pub sample: Option<f64>,
}

/// One entry of `status`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum StatusItem {
    /// One code.
    Code(u16),
    /// A class (`2xx`) or a range (`200-299`).
    Range(String),
}

/// Bounds of a length in bytes; either may be left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LengthRange {
    /// Smallest.
    pub at_least: Option<u64>,
    /// Largest.
    pub at_most: Option<u64>,
}

/// Where in an answer a value is taken from: exactly one of the first five.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Capture {
    /// Name of a header field, in any case.
    pub header: Option<String>,
    /// Name of a cookie that the answer sets.
    pub cookie: Option<String>,
    /// JSON pointer (RFC 6901) into the body.
    pub json: Option<String>,
    /// Regular expression over the body: its first group, or all of the match.
    pub regex: Option<String>,
    /// Field in the message of an answer to a call of gRPC, as `/id` or `/items/0/name`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The value where none is found; without it, a missing value is a failed check.
    pub default: Option<String>,
}

/// One of `[feeders]`: rows from a file.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Feeder {
    /// Path, relative to the scenario file.
    pub file: String,
    /// Default: by the file's ending (`.csv`, `.jsonl`, `.ndjson`), else plain lines, whose column is `line`.
    pub format: Option<FeederFormat>,
    /// CSV: the field separator, one byte. Default `,`.
    pub delimiter: Option<String>,
    /// CSV: the column names where the file has no header line.
    pub columns: Option<Vec<String>>,
    /// Which row comes next. Default sequential.
    #[serde(default)]
    pub order: FeederOrder,
}

/// The format of a feeder's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FeederFormat {
    /// Comma-separated values (RFC 4180).
    Csv,
    /// A JSON object on each line; a column is a key of its first level.
    Jsonl,
    /// A value on each line.
    Lines,
}

/// Which row of a feeder comes next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FeederOrder {
    /// In the file's order, from the begin again after the end.
    #[default]
    Sequential,
    /// Each time any row.
    Random,
    /// In a drawn order, a new one for each pass; each row once before any comes again.
    Shuffled,
    /// One row for each session, never twice; when all are used the load ends its sessions with an error.
    Unique,
}

/// One of `[tokens]`: JSON Web Tokens (RFC 7519) made ahead.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TokenMaker {
    /// How it is signed.
    pub algorithm: TokenAlgorithm,
    /// HS256: the shared secret.
    pub secret: Option<String>,
    /// The secret from an environment variable, so that it stands in no file.
    pub secret_env: Option<String>,
    /// RS256, ES256, EdDSA: the private key, PKCS #8 PEM, beside the scenario file.
    pub key_file: Option<String>,
    /// `kid` of the header.
    pub key_id: Option<String>,
    /// Claims; values may hold `${…}`. `iat` and `exp` are set by prony.
    #[serde(default)]
    pub claims: BTreeMap<String, serde_json::Value>,
    /// Shortest life. Default 30 s.
    pub expires_at_least: Option<Nanos>,
    /// Longest life; drawn uniformly between the two. Default 5 min.
    pub expires_at_most: Option<Nanos>,
    /// Share that has already expired, 0 to 1. Default 0.
    pub expired: Option<f64>,
    /// Share with a wrong signature, 0 to 1. Default 0.
    pub badly_signed: Option<f64>,
    /// Tokens made ahead. Default 1000.
    pub pool: Option<u32>,
}

/// How a token is signed (RFC 7518, RFC 8037).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub enum TokenAlgorithm {
    /// HMAC with SHA-256.
    HS256,
    /// RSA PKCS #1 v1.5 with SHA-256.
    RS256,
    /// ECDSA on P-256 with SHA-256.
    ES256,
    /// Ed25519.
    EdDSA,
}

/// `[session]`: the requests of one virtual user in order.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Session {
    /// Names of requests, in order; one may come several times. Default: all, as they stand in the file.
    pub steps: Option<Vec<String>>,
    /// Pause before every step but the first. Default none.
    #[schemars(with = "Option<TextOr<Think>>")]
    pub think: Option<Think>,
    /// Whether a user keeps a connection of its own. Default `own`.
    #[serde(default)]
    pub connection: UserConnection,
    /// Whether cookies that answers set are sent back (RFC 6265, name and value only). Default true.
    pub cookies: Option<bool>,
    /// What happens to the rest of a session after a failed request. Default `end`.
    #[serde(default)]
    pub on_failure: OnFailure,
    /// How many steps a session has, drawn for each: the first so many, or with `order = "drawn"` so many drawn ones.
    /// Default: all steps.
    #[schemars(with = "Option<TextOr<Lengths>>")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length: Option<Lengths>,
    /// Whether steps come in order or are drawn by the weights of the requests. Default `listed`.
    #[serde(default, skip_serializing_if = "StepOrder::is_listed")]
    pub order: StepOrder,
}

/// Which step of a session comes next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StepOrder {
    /// `steps` in their order.
    #[default]
    Listed,
    /// Each step any request, by weight; needs `length`.
    Drawn,
}

impl StepOrder {
    /// Whether it is the default.
    #[must_use]
    pub const fn is_listed(&self) -> bool {
        matches!(self, Self::Listed)
    }
}

/// Which connection a virtual user's requests take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum UserConnection {
    /// One of its own for the whole session.
    #[default]
    Own,
    /// Any free one.
    Pool,
}

/// What happens to the rest of a session after a failed request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnFailure {
    /// The session ends and counts as failed.
    #[default]
    End,
    /// The next step comes; the session counts as failed at its end.
    GoOn,
}
