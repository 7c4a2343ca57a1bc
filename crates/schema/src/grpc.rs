//! Calls of gRPC: `[request.grpc]` of a scenario, and what it is resolved to.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use units::{Nanos, PerSecond};

/// `[request.grpc]`: the request is a call of gRPC over HTTP/2. The request's own `path`, `method` and body stay out.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Grpc {
    /// `package.Service/Method`.
    pub method: String,
    /// `.proto` files that say what the messages are, relative to the scenario file. With `import_path`: relative to one of
    /// those. Without them and without `protoset`, `prony load` asks the server.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub proto: Vec<String>,
    /// Folders in which imports are looked up, relative to the scenario file. Default: the folder of the file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub import_path: Vec<String>,
    /// Instead of `proto`: a file that `protoc --include_imports --descriptor_set_out=FILE` wrote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protoset: Option<String>,
    /// The message: a table, or JSON text. Its texts may hold `${…}`. Default: an empty message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<serde_json::Value>,
    /// The message as JSON text from a file, instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_file: Option<String>,
    /// Metadata by lower-case name; values of names in `-bin` are base64. Values may hold `${…}`, but for those.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: BTreeMap<String, String>,
    /// How long the server may take, sent as `grpc-timeout`, counted from written. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Nanos>,
    /// Compresses the message, which must not be a template. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compress: Option<Compression>,
    /// Messages sent on each stream, of a method that takes a stream of messages. Default: 1, or as many as `stream_for`
    /// has time for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub messages: Option<u64>,
    /// Messages a second on each stream, each intended at its own moment. Default: each goes out as soon as it may.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_rate: Option<PerSecond>,
    /// Messages of a stream that may wait for their answers at a time, where both sides stream. Default: 1, or no limit with
    /// `message_rate`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_flight: Option<u32>,
    /// How long messages are sent on each stream. Default: until `messages` are sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream_for: Option<Nanos>,
}

/// How messages are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Compression {
    /// RFC 1952.
    Gzip,
}

/// One entry of `expect.grpc_status`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum CodeItem {
    /// A number from 0 to 16.
    Number(u8),
    /// A name such as `NOT_FOUND`.
    Name(String),
}

/// A call of gRPC, resolved. Method, path, fields and, where it is always the same, the message stand in the request as
/// HTTP/2 sends them.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct CallPlan {
    /// `package.Service/Method`.
    pub method: String,
    /// Accepted status codes, 0 to 16; never empty.
    pub status: Vec<u8>,
    /// How long the server may take; none where the call has no deadline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline_ns: Option<u64>,
    /// What the message of a right answer must say.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<MessageCheck>,
    /// What is taken from it for later requests.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub captures: Vec<MessageCapture>,
    /// The message where it holds `${…}`: its parts in order. The request's body is then empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<Vec<MessagePart>>,
    /// How messages follow each other; absent where each side sends one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream: Option<StreamPlan>,
}

/// Which sides of a call send a stream of messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Streaming {
    /// The server: one message goes out, any number comes.
    #[default]
    Server,
    /// The client: messages go out, one comes.
    Client,
    /// Both: the n-th message that comes is the answer to the n-th that went out.
    Both,
}

/// The messages of a call with a stream of them, resolved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct StreamPlan {
    /// Which sides stream.
    pub streaming: Streaming,
    /// Messages sent on each stream; until `lasts_ns` where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub messages: Option<u64>,
    /// Messages a second on each stream; each goes out as soon as it may where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_per_s: Option<f64>,
    /// Messages that may wait for their answers at a time, where both sides stream.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_flight: Option<u32>,
    /// How long messages are sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lasts_ns: Option<u64>,
}

/// A field that the message of an answer must have.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct MessageCheck {
    /// The check in words.
    pub name: String,
    /// Numbers of the fields on the way, each with which of its values is meant.
    pub path: Vec<(u32, u32)>,
    /// Type of the field's values; absent where they are messages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<ScalarKind>,
    /// The field with the value that it must have, encoded as a message of its own; it need only be there where this is
    /// absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<Encoded>,
}

/// A field whose value is taken from the message of an answer, as the text that JSON has for it.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct MessageCapture {
    /// Name of the value.
    pub name: String,
    /// Numbers of the fields on the way, each with which of its values is meant.
    pub path: Vec<(u32, u32)>,
    /// Type of the field's values.
    pub kind: ScalarKind,
    /// Of an enumeration: the names of its numbers.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub names: BTreeMap<i32, String>,
    /// Whether a message without the field has it with its default value.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub implied: bool,
    /// The value where there is none; without it, that is a failed check.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
}

/// A part of a message of protobuf.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MessagePart {
    /// Encoded fields that are always the same.
    Fixed(Encoded),
    /// A field whose value is rendered for each request.
    Value(ValuePart),
    /// A field that is a message with such fields.
    Message {
        /// Number of the field.
        field: u32,
        /// Parts of the inner message.
        parts: Vec<MessagePart>,
    },
}

/// Bytes of protobuf, as a request's body stands in files: text where they are UTF-8, else base64 after `base64:`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct Encoded(
    #[serde(with = "crate::body")]
    #[schemars(with = "String")]
    pub Vec<u8>,
);

/// A field whose value is rendered for each request.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct ValuePart {
    /// Number of the field.
    pub field: u32,
    /// How its value is encoded.
    pub kind: ScalarKind,
    /// The text with `${…}`, as JSON writes such a value: `bytes` in base64.
    pub text: String,
    /// Of an enumeration: the numbers of its names.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub names: BTreeMap<String, i32>,
}

/// The scalar types of protobuf.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "they are called as protobuf calls them")]
pub enum ScalarKind {
    Double,
    Float,
    Int32,
    Int64,
    Uint32,
    Uint64,
    Sint32,
    Sint64,
    Fixed32,
    Fixed64,
    Sfixed32,
    Sfixed64,
    Bool,
    String,
    Bytes,
    Enum,
}
