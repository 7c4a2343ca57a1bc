//! What `prony load` sends, and what a right answer is.

use schema::grpc::{CodeItem, Compression, Grpc};
use schema::scenario::Expect;
use std::path::PathBuf;
use units::{Bytes, Nanos, PerSecond};

/// The user's programs before and after the load.
#[derive(Debug, clap::Args)]
pub(crate) struct HookArgs {
    /// Run this command line (sh -c) before the load; PRONY_URL is the URL
    #[arg(long, value_name = "CMD")]
    pub(crate) setup: Option<String>,
    /// Run this command line after the load, also after Ctrl-C or a failure
    #[arg(long, value_name = "CMD")]
    pub(crate) teardown: Option<String>,
    /// Longest time of --setup and of --teardown [default: 1min]
    #[arg(long, value_name = "TIME")]
    pub(crate) hook_timeout: Option<Nanos>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct RequestArgs {
    #[command(flatten)]
    pub(crate) call: CallArgs,
    /// Send what this scenario file says; the URL gives scheme, host and port
    #[arg(long, value_name = "FILE", conflicts_with_all = ["method", "body", "upload", "expect_status", "expect_body", "chunked", "script"])]
    pub(crate) scenario: Option<PathBuf>,
    /// Send what this wrk Lua script says; its arguments follow after --
    #[arg(short, long, value_name = "FILE")]
    pub(crate) script: Option<PathBuf>,
    /// Arguments of the script
    #[arg(last = true, requires = "script", value_name = "ARGS")]
    pub(crate) script_args: Vec<String>,
    /// Method [default: GET, POST with a body, or PUT with -T]
    #[arg(short, long, value_name = "METHOD")]
    pub(crate) method: Option<String>,
    /// Header field, repeatable, for example -H 'Accept: text/html'
    #[arg(short = 'H', long = "header", value_name = "NAME: VALUE")]
    pub(crate) headers: Vec<String>,
    /// Body: a text, @FILE, or @- for standard input
    #[arg(short, long, value_name = "BODY", allow_hyphen_values = true)]
    pub(crate) body: Option<String>,
    /// Send the body in chunks of this size, as --chunked or --chunked=SIZE, not with its length [default SIZE: 16KiB]
    #[arg(long, value_name = "SIZE", num_args = 0..=1, require_equals = true, default_missing_value = "16KiB",
        conflicts_with = "script")]
    pub(crate) chunked: Option<Bytes>,
    /// Send this file as the body, by PUT unless -m says otherwise; a URL that ends in / gets the file's name. - is
    /// standard input
    #[arg(short = 'T', long = "upload-file", value_name = "FILE", conflicts_with_all = ["body", "script"])]
    pub(crate) upload: Option<String>,
    /// Status codes that are right, repeatable [default: 200 to 399]
    #[arg(long, value_name = "CODE", value_parser = clap::value_parser!(u16).range(100..=999))]
    pub(crate) expect_status: Vec<u16>,
    /// The exact body that every answer must have
    #[arg(long, value_name = "TEXT")]
    pub(crate) expect_body: Option<String>,
}

/// A call of gRPC instead of a request.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct CallArgs {
    /// Call this method of gRPC, as package.Service/Method, over HTTP/2; the URL gives scheme, host and port
    #[arg(long, value_name = "METHOD", conflicts_with_all = ["scenario", "script", "method", "body", "upload", "chunked", "headers", "expect_status", "expect_body"])]
    pub(crate) grpc: Option<String>,
    /// File that says what the method and its messages are, repeatable [default: the server is asked (reflection)]
    #[arg(long, value_name = "FILE", requires = "grpc")]
    pub(crate) proto: Vec<String>,
    /// Folder in which the imports of --proto are looked up, repeatable [default: that of each file]
    #[arg(long, value_name = "FOLDER", requires = "proto")]
    pub(crate) import_path: Vec<String>,
    /// Instead of --proto: a file that protoc --include_imports --descriptor_set_out=FILE wrote
    #[arg(long, value_name = "FILE", requires = "grpc", conflicts_with = "proto")]
    pub(crate) protoset: Option<String>,
    /// The message in JSON; its texts may hold ${…}, as '{"id": "${counter()}"}' [default: {}]
    #[arg(long, value_name = "JSON", requires = "grpc")]
    pub(crate) data: Option<String>,
    /// The message in JSON, from a file
    #[arg(long, value_name = "FILE", requires = "grpc", conflicts_with = "data")]
    pub(crate) data_file: Option<String>,
    /// Metadata, repeatable; values of names in -bin are base64
    #[arg(long, value_name = "NAME=VALUE", requires = "grpc")]
    pub(crate) metadata: Vec<String>,
    /// How long the server may take; sent as grpc-timeout [default: not sent, and --timeout holds]
    #[arg(long, value_name = "TIME", requires = "grpc", value_parser = super::duration)]
    pub(crate) call_deadline: Option<Nanos>,
    /// Compress the message
    #[arg(long, value_name = "CODING", requires = "grpc", value_parser = ["gzip"])]
    pub(crate) compress: Option<String>,
    /// Messages sent on each stream, of a method that takes a stream [default: 1, or as many as --stream-for has time for]
    #[arg(long, value_name = "N", requires = "grpc")]
    pub(crate) messages: Option<u64>,
    /// Messages a second on each stream, each intended at its own moment [default: each goes out as soon as it may]
    #[arg(long, value_name = "RATE", requires = "grpc")]
    pub(crate) message_rate: Option<PerSecond>,
    /// Messages of a stream that may wait for their answers at a time [default: 1, or no limit with --message-rate]
    #[arg(long, value_name = "N", requires = "grpc")]
    pub(crate) in_flight: Option<u32>,
    /// How long messages are sent on each stream [default: until --messages are sent]
    #[arg(long, value_name = "TIME", requires = "grpc", value_parser = super::duration)]
    pub(crate) stream_for: Option<Nanos>,
    /// Status of gRPC that is right, by name or number, repeatable [default: OK]
    #[arg(long, value_name = "STATUS", requires = "grpc")]
    pub(crate) expect_grpc: Vec<String>,
}

/// Flags that are not called as their keys are.
pub(super) const FLAGS: &[(&str, &str)] = &[
    ("request.grpc", "--data"),
    ("request.grpc.deadline", "--call-deadline"),
    ("request.grpc.method", "--grpc"),
    ("request.grpc.message", "--data"),
    ("request.grpc.message_file", "--data-file"),
    ("request.grpc.messages", "--messages"),
    ("request.grpc.message_rate", "--message-rate"),
    ("request.grpc.in_flight", "--in-flight"),
    ("request.grpc.stream_for", "--stream-for"),
    ("expect.grpc_status", "--expect-grpc"),
];

impl CallArgs {
    /// The same as `[request.grpc]` and `[expect]` of a scenario file have it; `None` where no call is made.
    pub(crate) fn to_call(&self) -> Option<anyhow::Result<(Grpc, Expect)>> {
        let method = self.grpc.clone()?;
        let metadata = self.metadata.iter().map(|text| pair(text)).collect::<anyhow::Result<_>>();
        Some(metadata.map(|metadata| {
            let grpc = Grpc {
                method,
                proto: self.proto.clone(),
                import_path: self.import_path.clone(),
                protoset: self.protoset.clone(),
                message: self.data.clone().map(serde_json::Value::String),
                message_file: self.data_file.clone(),
                metadata,
                deadline: self.call_deadline,
                compress: self.compress.as_ref().map(|_| Compression::Gzip),
                messages: self.messages,
                message_rate: self.message_rate,
                in_flight: self.in_flight,
                stream_for: self.stream_for,
            };
            let codes = self.expect_grpc.iter().map(|text| match text.parse() {
                Ok(number) => CodeItem::Number(number),
                Err(_) => CodeItem::Name(text.clone()),
            });
            (grpc, Expect { grpc_status: codes.collect(), ..Expect::default() })
        }))
    }
}

fn pair(text: &str) -> anyhow::Result<(String, String)> {
    match text.split_once('=') {
        Some((name, value)) => Ok((name.trim().to_owned(), value.to_owned())),
        None => anyhow::bail!("--metadata: `{text}` has no value\n  remedy: write --metadata NAME=VALUE"),
    }
}
