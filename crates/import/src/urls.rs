//! URL lists: one URL a line as `h2load -i` reads it, and siege's additions (urls.txt): variables, `POST`, `PUT`,
//! bodies from files, URLs without a scheme.

use crate::assemble::Assembler;
use crate::draft::{Body, Draft};
use crate::error::{Problem, quoted};
use schema::text::nearest;
use std::collections::HashMap;

/// Longest line after variables are put in: a variable may hold others, each doubling the length.
const LINE_BYTES_MAX: usize = 64 << 10;
/// Variables of a list; with the length of a line this bounds the memory.
const VARIABLES_MAX: usize = 1000;
/// What siege sends with data.
const FORM: &str = "application/x-www-form-urlencoded";

pub(crate) fn read(text: &str, assembler: &mut Assembler<'_>) -> Result<(), Problem> {
    let mut variables = HashMap::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        read_line(line, &mut variables, assembler).map_err(|problem| problem.at(index + 1))?;
    }
    Ok(())
}

fn read_line(
    line: &str,
    variables: &mut HashMap<String, String>,
    assembler: &mut Assembler<'_>,
) -> Result<(), Problem> {
    let line = expand(line, variables)?;
    if let Some((name, value)) = assignment(&line) {
        if variables.len() == VARIABLES_MAX {
            return Err(Problem::new(format!("there are more than {VARIABLES_MAX} variables"), "use fewer"));
        }
        variables.insert(name.to_owned(), value.to_owned());
        return Ok(());
    }
    let (url, data) = match line.split_once(char::is_whitespace) {
        Some((url, rest)) => (url, Some(rest.trim())),
        None => (line.as_str(), None),
    };
    let mut draft = Draft { method: "GET".into(), url: absolute(url, assembler)?.into(), ..Draft::default() };
    if let Some(data) = data {
        put_data(&mut draft, data)?;
    }
    assembler.add(draft).map(|_| ())
}

/// `NAME = VALUE`; a URL with `=` has a character before it that names cannot have.
pub(crate) fn assignment(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.split_once('=')?;
    let name = name.trim();
    let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    (is_name && name.bytes().next().is_some_and(|first| !first.is_ascii_digit()))
        .then_some((name, value.trim()))
}

/// Puts values in place of `$(NAME)` and `${NAME}`.
fn expand(line: &str, variables: &HashMap<String, String>) -> Result<String, Problem> {
    let mut expanded = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find("$(").into_iter().chain(rest.find("${")).min() {
        let close = if rest.as_bytes()[at + 1] == b'(' { ')' } else { '}' };
        let Some((name, after)) = rest[at + 2..].split_once(close) else {
            break;
        };
        let value = variables.get(name).ok_or_else(|| {
            let remedy = match nearest(name, variables.keys().map(String::as_str)) {
                Some(near) => format!("did you mean {near}?"),
                None => "set it in a line above: NAME=value".to_owned(),
            };
            Problem::new(format!("the variable {} has no value", quoted(name)), remedy)
        })?;
        expanded.push_str(&rest[..at]);
        expanded.push_str(value);
        rest = after;
        if expanded.len() > LINE_BYTES_MAX {
            return Err(Problem::new(
                format!("with its variables the line is longer than {LINE_BYTES_MAX} bytes"),
                "use shorter values",
            ));
        }
    }
    expanded.push_str(rest);
    Ok(expanded)
}

/// A URL with scheme and host: siege's may lack the scheme, h2load's (with `-B`) the host.
fn absolute(url: &str, assembler: &Assembler<'_>) -> Result<String, Problem> {
    if url.contains("://") {
        return Ok(url.to_owned());
    }
    if !url.starts_with('/') {
        return Ok(format!("http://{url}"));
    }
    match assembler.origin() {
        Some(origin) => Ok(format!("{origin}{url}")),
        None => Err(Problem::new(
            format!("{} is a path, and no origin is known", quoted(url)),
            "say where it is: --origin http://HOST:PORT",
        )),
    }
}

/// `POST DATA`, `POST <FILE`, the same with `PUT`.
fn put_data(draft: &mut Draft<'_>, data: &str) -> Result<(), Problem> {
    let method = |method: &'static str| data.strip_prefix(method).map(|rest| (method, rest));
    let split = method("POST").or_else(|| method("PUT"));
    let Some((method, data)) =
        split.filter(|(_, rest)| rest.is_empty() || rest.starts_with([' ', '\t', '<']))
    else {
        return Err(Problem::new(
            format!("{} stands after the URL", quoted(data)),
            "write POST DATA or POST <FILE there, or %20 for a space of the URL",
        ));
    };
    draft.method = method.into();
    let data = data.trim();
    match data.strip_prefix('<').map(str::trim) {
        Some("") => {
            return Err(Problem::new("the body's file has no name", "write for example POST <body.txt"));
        }
        Some(path) => draft.body = Body::File(path.to_owned()),
        None => {
            draft.body = Body::Text(data.to_owned().into());
            draft.headers.push(("Content-Type".into(), FORM.into()));
        }
    }
    Ok(())
}
