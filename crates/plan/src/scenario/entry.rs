//! One request of a scenario: its parts put together to a method, a path, header fields and a body.

use super::{expect, read, text};
use crate::grpc::{self, Sources, Wanted};
use crate::load::arrival;
use crate::place::origins;
use schema::grpc::Grpc;
use schema::plan::{EntryPlan, ExpectPlan, RequestPlan};
use schema::scenario::{Capture, Expect, NamedRequest, Part, Request};
use schema::text::Problem;
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::path::Path;
use units::Bytes;

/// The only request of a scenario.
pub(super) fn single(
    name: &str,
    request: &Request,
    expect: &Expect,
    sources: Sources<'_>,
) -> Result<EntryPlan, Problem> {
    let folder = sources.folder;
    if let Some(grpc) = &request.grpc {
        let (expect_at, request_at) = ("expect", "request");
        let wanted = Wanted { expect, capture: &BTreeMap::new(), expect_at, request_at };
        return called(name, request, grpc, wanted, sources);
    }
    let made = made(request, "request", folder)?;
    let expect = expect::plan(expect, "expect", made.is_template, folder)?;
    let chunk_bytes = chunk_bytes(request.chunked, "request.chunked")?;
    Ok(EntryPlan { chunk_bytes, ..entry(name, 1.0, made, expect) })
}

/// One of `[[requests]]`; `at` is its key.
pub(super) fn named(named: &NamedRequest, at: &str, sources: Sources<'_>) -> Result<EntryPlan, Problem> {
    let folder = sources.folder;
    let mut entry = if let Some(grpc) = &named.grpc {
        let expect_at = &*format!("{at}.expect");
        let wanted = Wanted { expect: &named.expect, capture: &named.capture, expect_at, request_at: at };
        called(&named.name, &named.request(), grpc, wanted, sources)?
    } else {
        let made = made(&named.request(), at, folder)?;
        let expect = expect::plan(&named.expect, &format!("{at}.expect"), made.is_template, folder)?;
        entry(&named.name, 1.0, made, expect)
    };
    entry.weight = named.weight.unwrap_or(1.0);
    entry.chunk_bytes = chunk_bytes(named.chunked, &format!("{at}.chunked"))?;
    let own = entry.timeout_ns;
    entry.timeout_ns = match named.timeout {
        Some(_) if own.is_some() => {
            let cause = "a call with a deadline has no other time-out";
            return Err(Problem::at(&format!("{at}.timeout"), cause, "keep grpc.deadline or timeout"));
        }
        None => own,
        Some(timeout) if timeout.0 == 0 => {
            let cause = "a time-out of zero would fail every request";
            return Err(Problem::at(&format!("{at}.timeout"), cause, "give a time such as 5s"));
        }
        timeout => timeout.map(|timeout| timeout.0),
    };
    let origin = |text: &String| origins::parse(text, &format!("{at}.origin"));
    entry.origin = named.origin.as_ref().map(origin).transpose()?.map(|url| url.origin());
    entry.capture = captures(&named.capture, at)?;
    fit_the_request(&entry.capture, named.grpc.is_some(), at)?;
    entry.think =
        named.think.as_ref().map(|think| arrival::think(think, &format!("{at}.think"))).transpose()?;
    Ok(entry)
}

/// Most bytes of a chunk.
const CHUNK_BYTES_MAX: u64 = 64 << 20;

/// The size of chunks that bodies are cut into; `at` is its key.
///
/// # Errors
/// No bytes, or more than 64 MiB.
pub fn chunk_bytes(size: Option<Bytes>, at: &str) -> Result<Option<u64>, Problem> {
    match size {
        Some(Bytes(bytes)) if !(1..=CHUNK_BYTES_MAX).contains(&bytes) => {
            let cause = format!("a chunk of {bytes} bytes cannot be");
            Err(Problem::at(at, cause, "give from 1 B to 64 MiB, such as 16KiB"))
        }
        size => Ok(size.map(|bytes| bytes.0)),
    }
}

fn captures(captures: &BTreeMap<String, Capture>, at: &str) -> Result<BTreeMap<String, Capture>, Problem> {
    for (name, capture) in captures {
        let places = [&capture.header, &capture.cookie, &capture.json, &capture.regex, &capture.message];
        if places.into_iter().flatten().count() != 1 {
            let cause = "a captured value has exactly one place";
            let remedy = "give one of header, cookie, json, regex, message";
            return Err(Problem::at(&format!("{at}.capture.{name}"), cause, remedy));
        }
    }
    Ok(captures.clone())
}

/// A call of gRPC.
fn called(
    name: &str,
    request: &Request,
    grpc: &Grpc,
    wanted: Wanted<'_>,
    sources: Sources<'_>,
) -> Result<EntryPlan, Problem> {
    let at = wanted.request_at;
    only_the_call(request, at)?;
    let expect_plan = expect::of_call(wanted.expect, wanted.expect_at)?;
    let called = grpc::call(grpc, &format!("{at}.grpc"), wanted, sources)?;
    let (timeout_ns, is_template) = (called.timeout_ns(), called.is_template);
    let made = Made { request: called.request, is_template };
    Ok(EntryPlan { grpc: Some(called.call), timeout_ns, ..entry(name, 1.0, made, expect_plan) })
}

/// What is taken from the answer to a call, and what only from that.
fn fit_the_request(captures: &BTreeMap<String, Capture>, is_call: bool, at: &str) -> Result<(), Problem> {
    let misplaced = captures.iter().find(|(_, capture)| match is_call {
        true => capture.json.is_some() || capture.regex.is_some(),
        false => capture.message.is_some(),
    });
    let Some((name, _)) = misplaced else { return Ok(()) };
    let (cause, remedy) = match is_call {
        true => ("a message of gRPC is no text", "name a field of the message: message = \"/id\""),
        false => ("only the answer to a call of gRPC has a message", "use json or regex"),
    };
    Err(Problem::at(&format!("{at}.capture.{name}"), cause, remedy))
}

/// A call says all of the request itself.
fn only_the_call(request: &Request, at: &str) -> Result<(), Problem> {
    let Request { method, path, query, headers, body, body_file, json, form, multipart, chunked, grpc: _ } =
        request;
    let given = [
        ("method", method.is_some()),
        ("path", !path.is_empty()),
        ("query", !query.is_empty()),
        ("body", body.is_some()),
        ("body_file", body_file.is_some()),
        ("json", json.is_some()),
        ("form", form.is_some()),
        ("multipart", multipart.is_some()),
        ("chunked", chunked.is_some()),
        ("headers", !headers.is_empty()),
    ];
    match given.into_iter().find(|(_, is_given)| *is_given) {
        Some(("headers", _)) => {
            let remedy = "give it as grpc.metadata";
            Err(Problem::at(
                &format!("{at}.headers"),
                "a call has metadata in place of header fields",
                remedy,
            ))
        }
        Some((key, _)) => {
            let cause = "a call of gRPC says this itself";
            Err(Problem::at(&format!("{at}.{key}"), cause, "leave it out, or leave out `grpc`"))
        }
        None => Ok(()),
    }
}

/// A request and whether its texts are templates.
struct Made {
    request: RequestPlan,
    is_template: bool,
}

fn entry(name: &str, weight: f64, made: Made, expect: ExpectPlan) -> EntryPlan {
    EntryPlan {
        name: name.to_owned(),
        weight,
        request: made.request,
        is_template: made.is_template,
        expect,
        ..EntryPlan::default()
    }
}

/// A body as it was given.
struct Body {
    bytes: Vec<u8>,
    /// Media type that is sent unless the user gives one.
    media_type: Option<String>,
    /// Whether `${` in it means a template.
    is_text: bool,
}

fn made(request: &Request, at: &str, folder: &Path) -> Result<Made, Problem> {
    let body = body(request, at, folder)?;
    let method = request
        .method
        .clone()
        .unwrap_or_else(|| if body.bytes.is_empty() { "GET" } else { "POST" }.to_owned());
    let mut headers: Vec<(String, String)> =
        request.headers.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
    let says = |name: &str| headers.iter().any(|(have, _)| have.eq_ignore_ascii_case(name));
    if let Some(media_type) = body.media_type.filter(|_| !says("content-type")) {
        headers.push(("Content-Type".to_owned(), media_type));
    }
    if request.path.is_empty() {
        return Err(Problem::at(&format!("{at}.path"), "there is no path", "write path = \"/\""));
    }
    let path = text::with_query(&request.path, &request.query);
    let is_template = text::is_template(path.as_bytes())
        || headers.iter().any(|(_, value)| text::is_template(value.as_bytes()))
        || (body.is_text && text::is_template(&body.bytes));
    let body = if is_template && !body.is_text { text::literal(&body.bytes) } else { body.bytes };
    Ok(Made { request: RequestPlan { method, path, headers, body }, is_template })
}

fn body(request: &Request, at: &str, folder: &Path) -> Result<Body, Problem> {
    let given = [
        request.body.is_some(),
        request.body_file.is_some(),
        request.json.is_some(),
        request.form.is_some(),
        request.multipart.is_some(),
    ];
    if given.into_iter().filter(|given| *given).count() > 1 {
        let remedy = "keep one of body, body_file, json, form, multipart";
        return Err(Problem::at(at, "the body is given twice", remedy));
    }
    let text = |bytes: Vec<u8>, media_type: Option<&str>| Body {
        bytes,
        media_type: media_type.map(str::to_owned),
        is_text: true,
    };
    if let Some(body) = &request.body {
        return Ok(text(body.clone().into_bytes(), None));
    }
    if let Some(file) = &request.body_file {
        let bytes = read(folder, file, &format!("{at}.body_file"))?;
        return Ok(Body { bytes, media_type: None, is_text: false });
    }
    if let Some(json) = &request.json {
        if !text::is_template(json.as_bytes()) {
            expect::json(json.as_bytes(), &format!("{at}.json"))?;
        }
        return Ok(text(json.clone().into_bytes(), Some("application/json")));
    }
    if let Some(form) = &request.form {
        let media_type = "application/x-www-form-urlencoded";
        return Ok(text(text::fields(form).into_bytes(), Some(media_type)));
    }
    match &request.multipart {
        Some(parts) => multipart(parts, at, folder),
        None => Ok(text(Vec::new(), None)),
    }
}

/// RFC 7578. The boundary comes from the parts themselves, so that the same scenario has the same bytes.
fn multipart(parts: &[Part], at: &str, folder: &Path) -> Result<Body, Problem> {
    let mut values = Vec::with_capacity(parts.len());
    let mut digest = Sha256::new();
    for (place, part) in parts.iter().enumerate() {
        let at = format!("{at}.multipart.{place}");
        let value = match (&part.text, &part.file) {
            (Some(text), None) => text.clone().into_bytes(),
            (None, Some(file)) => text::literal(&read(folder, file, &format!("{at}.file"))?),
            _ => return Err(Problem::at(&at, "a part has exactly one value", "give text or file")),
        };
        let names = [Some(&part.name), part.filename.as_ref(), part.file.as_ref()];
        if names.into_iter().flatten().any(|name| name.contains(['"', '\r', '\n'])) {
            return Err(Problem::at(&at, "a name holds a quote or a line end", "choose another name"));
        }
        digest.update(&value);
        values.push(value);
    }
    let boundary: String = "prony-".chars().chain(hex(&digest.finalize()[..12]).chars()).collect();
    let mut bytes = Vec::new();
    for (part, value) in parts.iter().zip(values) {
        bytes.extend_from_slice(part_head(part, &boundary).as_bytes());
        bytes.extend_from_slice(&value);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    Ok(Body { bytes, media_type: Some(format!("multipart/form-data; boundary={boundary}")), is_text: true })
}

fn part_head(part: &Part, boundary: &str) -> String {
    let file_name = part.filename.clone().or_else(|| {
        let path = part.file.as_deref()?;
        Some(Path::new(path).file_name()?.to_string_lossy().into_owned())
    });
    let mut head = format!("--{boundary}\r\nContent-Disposition: form-data; name=\"{}\"", part.name);
    if let Some(name) = &file_name {
        head += &format!("; filename=\"{name}\"");
    }
    let media_type =
        part.content_type.as_deref().or_else(|| file_name.as_ref().map(|_| "application/octet-stream"));
    if let Some(media_type) = media_type {
        head += &format!("\r\nContent-Type: {media_type}");
    }
    head + "\r\n\r\n"
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
