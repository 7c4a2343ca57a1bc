//! `[request.grpc]` resolved: a request of HTTP/2, and what its answer must say.

use super::encode::{self, Message};
use super::{Sources, answer, descriptors, metadata, stream};
use prost_reflect::MethodDescriptor;
use schema::grpc::{CodeItem, Compression, Grpc};
use schema::plan::{CallPlan, RequestPlan};
use schema::scenario::{Capture, Expect};
use schema::text::{Problem, nearest};
use std::collections::BTreeMap;
use std::path::Path;
use units::Nanos;
use wire::grpc::{self, Code};

/// A server that keeps the deadline says so after it; its answer is waited for this long, at least and at most.
const GRACE: (Nanos, Nanos) = (Nanos::from_millis(20), Nanos::SECOND);

/// A call, resolved.
#[derive(Debug)]
pub(crate) struct Called {
    pub(crate) request: RequestPlan,
    pub(crate) call: CallPlan,
    /// Whether message or metadata hold `${…}`.
    pub(crate) is_template: bool,
}

impl Called {
    /// From written to done, where the call has a deadline: the deadline, and a tenth more for the server's word of it.
    pub(crate) fn timeout_ns(&self) -> Option<u64> {
        let (least, most) = GRACE;
        self.call.deadline_ns.map(|deadline| deadline.saturating_add((deadline / 10).clamp(least.0, most.0)))
    }
}

/// What is made of the answer to a call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted<'a> {
    pub(crate) expect: &'a Expect,
    pub(crate) capture: &'a BTreeMap<String, Capture>,
    /// Key of what is expected.
    pub(crate) expect_at: &'a str,
    /// Key of the request.
    pub(crate) request_at: &'a str,
}

/// Resolves a call and what its answer must say; `at` is the key of its table.
///
/// # Errors
/// Every mistake in it, with its key.
pub(crate) fn call(
    grpc: &Grpc,
    at: &str,
    wanted: Wanted<'_>,
    sources: Sources<'_>,
) -> Result<Called, Problem> {
    let Wanted { expect, capture, expect_at, request_at } = wanted;
    let status = accepted(&expect.grpc_status, &format!("{expect_at}.grpc_status"))?;
    let method = descriptors::method(grpc, at, sources)?;
    let stream = stream::plan(grpc, &method, at)?;
    let path = format!("/{}/{}", method.parent_service().full_name(), method.name());
    let message = message(grpc, &method, at, sources.folder)?;
    let is_template =
        matches!(message, Message::Parts(_)) || grpc.metadata.values().any(|value| value.contains("${"));
    let mut call = CallPlan {
        method: path[1..].to_owned(),
        status: if status.is_empty() { vec![Code::OK.number()] } else { status },
        deadline_ns: deadline(grpc, at)?,
        checks: answer::checks(expect, &method.output(), expect_at)?,
        captures: answer::captures(capture, &method.output(), request_at)?,
        message: None,
        stream,
    };
    let reads_message = !(call.checks.is_empty() && call.captures.is_empty());
    if reads_message && grpc.compress.is_some() {
        let cause = "the answer may come compressed, and is not looked into then";
        let remedy = "leave `compress` out, or what is checked and captured of the message";
        return Err(Problem::at(&format!("{at}.compress"), cause, remedy));
    }
    let body = match message {
        Message::Fixed(bytes) => framed(&bytes, grpc.compress, at)?,
        Message::Parts(_) if grpc.compress.is_some() => {
            let cause = "a message that is rendered for each request cannot be compressed";
            let remedy = "leave `compress` out, or send the same message each time";
            return Err(Problem::at(&format!("{at}.compress"), cause, remedy));
        }
        Message::Parts(parts) => {
            call.message = Some(parts);
            Vec::new()
        }
    };
    let headers = headers(grpc, &call, at)?;
    let request = RequestPlan { method: "POST".to_owned(), path, headers, body };
    Ok(Called { request, call, is_template })
}

/// Accepted status codes; `at` is the key of their list.
///
/// # Errors
/// A code that gRPC does not have.
pub(super) fn accepted(items: &[CodeItem], at: &str) -> Result<Vec<u8>, Problem> {
    let mut codes = Vec::new();
    for item in items {
        let (code, shown) = match item {
            CodeItem::Number(number) => (Code::of_number(*number), number.to_string()),
            CodeItem::Name(name) => (Code::of_name(name), format!("`{name}`")),
        };
        let code = code.ok_or_else(|| {
            let near = nearest(&shown.to_uppercase(), Code::all().map(Code::name));
            let near = near.map_or(String::new(), |near| format!("; did you mean {near}?"));
            let remedy = format!("give a name such as NOT_FOUND, or a number from 0 to 16{near}");
            Problem::at(at, format!("{shown} is no status of gRPC"), remedy)
        })?;
        codes.push(code.number());
    }
    codes.sort_unstable();
    codes.dedup();
    Ok(codes)
}

fn message(grpc: &Grpc, method: &MethodDescriptor, at: &str, folder: &Path) -> Result<Message, Problem> {
    let (key, value) = match (&grpc.message, &grpc.message_file) {
        (Some(_), Some(_)) => {
            let remedy = "keep one of message, message_file";
            return Err(Problem::at(at, "the message is given twice", remedy));
        }
        (None, None) => return Ok(Message::Fixed(Vec::new())),
        (Some(serde_json::Value::String(text)), None) => {
            let key = format!("{at}.message");
            let value = json(text.as_bytes(), &key)?;
            (key, value)
        }
        (Some(value), None) => (format!("{at}.message"), value.clone()),
        (None, Some(file)) => {
            let key = format!("{at}.message_file");
            let value = json(&crate::scenario::read(folder, file, &key)?, &key)?;
            (key, value)
        }
    };
    encode::message(&method.input(), value).map_err(|cause| {
        let remedy = format!("write it as the message {} in JSON", method.input().full_name());
        Problem::at(&key, cause, remedy)
    })
}

fn json(text: &[u8], key: &str) -> Result<serde_json::Value, Problem> {
    serde_json::from_slice(text).map_err(|error| {
        let remedy = "mend the JSON text; ${…} is written within quotes, also for numbers";
        Problem::at(key, format!("not JSON: {error}"), remedy)
    })
}

/// The message with its prefix.
fn framed(message: &[u8], compress: Option<Compression>, at: &str) -> Result<Vec<u8>, Problem> {
    grpc::frame(message, compress == Some(Compression::Gzip)).map_err(|bytes| {
        let cause = format!("the message has {bytes} bytes");
        let remedy = "send at most 4 MiB, which servers take unless told otherwise";
        Problem::at(&format!("{at}.message"), cause, remedy)
    })
}

fn deadline(grpc: &Grpc, at: &str) -> Result<Option<u64>, Problem> {
    match grpc.deadline {
        Some(Nanos::ZERO) => {
            let cause = "a deadline of zero would fail every call";
            Err(Problem::at(&format!("{at}.deadline"), cause, "give a time such as 500ms"))
        }
        deadline => Ok(deadline.map(|deadline| deadline.0)),
    }
}

/// Header fields in the order in which gRPC's own libraries send them.
fn headers(grpc: &Grpc, call: &CallPlan, at: &str) -> Result<Vec<(String, String)>, Problem> {
    let field = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let mut headers = vec![field("content-type", "application/grpc"), field("te", "trailers")];
    if let Some(deadline_ns) = call.deadline_ns {
        headers.push(("grpc-timeout".to_owned(), grpc::timeout(deadline_ns)));
    }
    if grpc.compress == Some(Compression::Gzip) {
        headers.extend([field("grpc-encoding", "gzip"), field("grpc-accept-encoding", "gzip")]);
    }
    headers.extend(metadata::sent(grpc, at)?);
    Ok(headers)
}
