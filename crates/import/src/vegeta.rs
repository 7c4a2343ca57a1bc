//! Targets of vegeta (`vegeta attack -targets`), in its HTTP and its JSON format, as its README has them.

use crate::assemble::Assembler;
use crate::draft::{Body, Draft, check_method};
use crate::error::{Problem, quoted};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// `METHOD URL`, then header lines, then perhaps `@FILE`; a blank line or the next `METHOD URL` ends a target.
pub(crate) fn http(text: &str, assembler: &mut Assembler<'_>) -> Result<(), Problem> {
    let mut current: Option<(usize, Draft<'_>)> = None;
    for (index, line) in text.lines().enumerate() {
        let (number, line) = (index + 1, line.trim());
        if line.starts_with('#') {
            continue;
        }
        if line.is_empty() {
            add(current.take(), assembler)?;
        } else if is_target(line) {
            add(current.take(), assembler)?;
            current = Some((number, target(line).map_err(|problem| problem.at(number))?));
        } else if let Some((_, draft)) = &mut current {
            continue_target(draft, line).map_err(|problem| problem.at(number))?;
        } else {
            return Err(Problem::new(
                format!("{} is no target", quoted(line)),
                "begin a target with METHOD URL, for example GET http://127.0.0.1:8080/",
            )
            .at(number));
        }
    }
    add(current, assembler)
}

fn add(target: Option<(usize, Draft<'_>)>, assembler: &mut Assembler<'_>) -> Result<(), Problem> {
    let Some((line, draft)) = target else { return Ok(()) };
    assembler.add(draft).map(|_| ()).map_err(|problem| problem.at(line))
}

/// Whether a line begins a target, as vegeta decides it: capital letters and a space.
pub(crate) fn is_target(line: &str) -> bool {
    line.split_once([' ', '\t'])
        .is_some_and(|(method, _)| !method.is_empty() && method.bytes().all(|byte| byte.is_ascii_uppercase()))
}

fn target(line: &str) -> Result<Draft<'_>, Problem> {
    let (method, url) = line.split_once([' ', '\t']).unwrap_or((line, ""));
    check_method(method)?;
    Ok(Draft { method: method.into(), url: url.trim().into(), ..Draft::default() })
}

fn continue_target<'a>(draft: &mut Draft<'a>, line: &'a str) -> Result<(), Problem> {
    if !matches!(draft.body, Body::None) {
        return Err(Problem::new(
            format!("{} comes after the body", quoted(line)),
            "put a blank line between targets, and header fields before the @FILE",
        ));
    }
    if let Some(path) = line.strip_prefix('@') {
        if path.is_empty() || path.starts_with("<<") {
            return Err(Problem::new(
                "the body's file has no name",
                "write @ and a path, for example @body.json",
            ));
        }
        draft.body = Body::File(path.to_owned());
        return Ok(());
    }
    match line.split_once(':').map(|(name, value)| (name.trim(), value.trim())) {
        Some((name, value)) if !name.is_empty() && !value.is_empty() => {
            draft.headers.push((name.into(), value.into()));
            Ok(())
        }
        _ => Err(Problem::new(
            format!("{} is neither a header field nor a body", quoted(line)),
            "write NAME: VALUE, or @FILE for a body",
        )),
    }
}

/// One line of the JSON format.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct JsonTarget<'a> {
    #[serde(borrow)]
    method: Cow<'a, str>,
    #[serde(borrow)]
    url: Cow<'a, str>,
    body: Option<String>,
    header: Option<BTreeMap<String, Vec<String>>>,
}

pub(crate) fn json(text: &str, assembler: &mut Assembler<'_>) -> Result<(), Problem> {
    for (index, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let draft = json_target(line).map_err(|problem| problem.at(index + 1))?;
        assembler.add(draft).map_err(|problem| problem.at(index + 1))?;
    }
    Ok(())
}

fn json_target(line: &str) -> Result<Draft<'_>, Problem> {
    let target: JsonTarget<'_> = serde_json::from_str(line).map_err(|error| {
        Problem::new(
            format!("the line is no target: {error}"),
            r#"write one object a line: {"method":"POST","url":"http://…","header":{"A":["b"]},"body":"BASE64"}"#,
        )
    })?;
    let body = match target.body.as_deref() {
        None | Some("") => Body::None,
        Some(body) => Body::from_bytes(STANDARD.decode(body).map_err(|error| {
            Problem::new(
                format!("the body is not base64: {error}"),
                "encode the body by base64, with its padding",
            )
        })?),
    };
    let fields = target.header.unwrap_or_default().into_iter();
    let headers = fields
        .flat_map(|(name, values)| values.into_iter().map(move |value| (name.clone().into(), value.into())))
        .collect();
    Ok(Draft { method: target.method, url: target.url, headers, body, ..Draft::default() })
}
