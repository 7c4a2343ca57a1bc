//! What `prony load` sends, from its arguments: a request, a scenario file, or a script.

use crate::args::{RequestArgs, with_flag};
use anyhow::{Context as _, Result, bail};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};
use plan::net::HttpUrl;
use plan::{Reflection, call_scenario, chunk_bytes, load_scenario_file};
use schema::plan::{BodyExpectation, ExpectPlan, RequestPlan, ScenarioPlan, ScriptPlan};
use std::io::Read;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

/// What is escaped in the name of an uploaded file: all but the unreserved characters of RFC 3986 §2.3.
const IN_PATH: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// What is sent: a scenario file, or the request that the arguments describe. The server says what calls take where no file
/// does.
pub(super) fn scenario(args: &RequestArgs, url: &HttpUrl, server: &Reflection<'_>) -> Result<ScenarioPlan> {
    if let Some(call) = args.call.to_call() {
        let (call, expect) = call?;
        if !["", "/"].contains(&url.path.as_str()) {
            bail!("--grpc names the method; give a URL of scheme, host and port only");
        }
        return call_scenario(&call, &expect, server).map_err(with_flag);
    }
    let Some(path) = &args.scenario else {
        if let Some(file) = &args.script {
            return scripted(file, args, url);
        }
        let body = args.expect_body.clone().map_or(BodyExpectation::Any, BodyExpectation::Exact);
        let expect = ExpectPlan { status: args.expect_status.clone(), body, ..ExpectPlan::default() };
        let mut scenario = ScenarioPlan::single("inline", request(args, url)?, expect);
        scenario.requests[0].chunk_bytes =
            chunk_bytes(args.chunked, "chunked").map_err(|problem| with_flag(problem.into()))?;
        return Ok(scenario);
    };
    if !["", "/"].contains(&url.path.as_str()) {
        bail!("the paths come from {}; give a URL of scheme, host and port only", path.display());
    }
    let mut scenario = load_scenario_file(path, Some(server))?;
    let headers: Vec<_> = args.headers.iter().map(|text| header(text)).collect::<Result<_>>()?;
    for entry in &mut scenario.requests {
        entry.request.headers.extend(headers.iter().cloned());
    }
    Ok(scenario)
}

/// A script makes the requests; the arguments say what it finds in its `wrk` table.
fn scripted(file: &Path, args: &RequestArgs, url: &HttpUrl) -> Result<ScenarioPlan> {
    if args.method.is_some() || args.body.is_some() {
        bail!("-m and -b are of no use with -s: set wrk.method and wrk.body in the script");
    }
    let text = std::fs::read_to_string(file).with_context(|| {
        format!("cannot read the script {}; name a wrk Lua script, for example -s post.lua", file.display())
    })?;
    let script = ScriptPlan { file: file.display().to_string(), text, args: args.script_args.clone() };
    let body = args.expect_body.clone().map_or(BodyExpectation::Any, BodyExpectation::Exact);
    let expect = ExpectPlan { status: args.expect_status.clone(), body, ..ExpectPlan::default() };
    Ok(ScenarioPlan { script: Some(script), ..ScenarioPlan::single("script", request(args, url)?, expect) })
}

fn request(args: &RequestArgs, url: &HttpUrl) -> Result<RequestPlan> {
    let (default, body) = match (&args.upload, &args.body) {
        (Some(file), _) => ("PUT", self::body(&format!("@{file}"))?),
        (None, Some(text)) => ("POST", self::body(text)?),
        (None, None) => ("GET", Vec::new()),
    };
    let headers = args.headers.iter().map(|text| header(text)).collect::<Result<_>>()?;
    let path = args.upload.as_deref().map_or_else(|| url.path.clone(), |file| upload_path(&url.path, file));
    Ok(RequestPlan { method: args.method.clone().unwrap_or_else(|| default.to_owned()), path, headers, body })
}

/// Where a file is uploaded to: into a path that ends in `/` it goes under its own name, as with curl.
fn upload_path(path: &str, file: &str) -> String {
    let name = Path::new(file).file_name().filter(|_| file != "-" && path.ends_with('/'));
    let name = name.map(|name| percent_encode(name.as_bytes(), IN_PATH).to_string());
    format!("{path}{}", name.unwrap_or_default())
}

fn header(text: &str) -> Result<(String, String)> {
    match text.split_once(':') {
        Some((name, value)) => Ok((name.trim().to_owned(), value.trim().to_owned())),
        None => bail!("`{text}` is no header field; write -H 'Name: value'"),
    }
}

/// A text, `@FILE`, or `@-` for standard input.
fn body(text: &str) -> Result<Vec<u8>> {
    match text.strip_prefix('@') {
        Some("-") => {
            let mut bytes = Vec::new();
            std::io::stdin().read_to_end(&mut bytes).context("cannot read the body from standard input")?;
            Ok(bytes)
        }
        Some(path) => std::fs::read(path).with_context(|| format!("cannot read the body from {path}")),
        None => Ok(text.as_bytes().to_vec()),
    }
}
