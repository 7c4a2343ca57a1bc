//! Scenarios: from a file under `scenarios/` or inline, with the files that they name read in.

use super::{Context, Wrong};
use crate::RunnerError;
use schema::experiment::ScenarioUse;
use schema::plan::{BodyExpectation, ExpectPlan, RequestPlan, ScenarioPlan};
use schema::scenario::{Expect, Request, ScenarioFile};
use schema::text::{FileError, Problem, nearest, parse_toml};
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

/// Longest body that is read from a file: it is held in memory and stored in `run.json`.
const FILE_BYTES_MAX: u64 = 64 << 20;

/// Loads `scenarios/NAME.toml` of the project.
///
/// # Errors
/// It is missing (with the nearest name there is) or wrong, or a file that it names is.
pub fn load_scenario(context: &Context, name: &str) -> Result<ScenarioPlan, RunnerError> {
    let folder = context.project.join("scenarios");
    let is_plain = |part: &str| !part.is_empty() && part != "." && part != "..";
    if !name.split('/').all(is_plain) {
        let (cause, remedy) =
            (format!("`{name}` is no scenario's name"), "name a file under scenarios/ without its ending");
        return Err(FileError {
            file: folder.display().to_string(),
            at: None,
            cause,
            remedy: Some(remedy.to_owned()),
        }
        .into());
    }
    let path = folder.join(format!("{name}.toml"));
    let shown = path.display().to_string();
    let text = std::fs::read_to_string(&path).map_err(|error| FileError {
        file: shown.clone(),
        at: None,
        cause: format!("the scenario cannot be read ({error})"),
        remedy: Some(names_in(&folder, name)),
    })?;
    let file: ScenarioFile = parse_toml(&shown, &text)?;
    if file.name != name {
        let cause = format!("the file calls itself `{}`", file.name);
        return Err(Problem::at("name", cause, format!("write name = \"{name}\""))
            .locate(&shown, &text)
            .into());
    }
    let beside = path.parent().unwrap_or(&folder);
    let plan = plan(name, &file.request, &file.expect, beside);
    plan.map_err(|problem| RunnerError::File(problem.locate(&shown, &text)))
}

pub(super) fn of_experiment(wanted: Option<&ScenarioUse>, context: &Context) -> Result<ScenarioPlan, Wrong> {
    let missing = || Problem::at("scenario", "there is no scenario", "add\n  [scenario]\n  use = \"ping\"");
    let wanted = wanted.ok_or_else(missing)?;
    match (&wanted.file, &wanted.request) {
        (Some(name), None) if wanted.expect.is_none() => Ok(load_scenario(context, name)?),
        (Some(_), _) => {
            let remedy = "remove `use`, or the inline request and expect";
            Err(Problem::at("scenario", "the scenario is given twice", remedy).into())
        }
        (None, Some(request)) => {
            let expect = wanted.expect.clone().unwrap_or_default();
            let plan = plan("inline", request, &expect, &context.project.join("scenarios"));
            plan.map_err(|problem| Wrong::Here(under("scenario", problem)))
        }
        (None, None) => Err(missing().into()),
    }
}

/// The same problem one table further in.
fn under(table: &str, mut problem: Problem) -> Problem {
    problem.key.insert(0, table.to_owned());
    problem
}

fn names_in(folder: &Path, wanted: &str) -> String {
    let names: Vec<String> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.strip_suffix(".toml").map(str::to_owned))
        .collect();
    match nearest(wanted, names.iter().map(String::as_str)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("put {wanted}.toml into {}", folder.display()),
    }
}

fn plan(name: &str, request: &Request, expect: &Expect, folder: &Path) -> Result<ScenarioPlan, Problem> {
    let body = match (&request.body, &request.body_file) {
        (Some(_), Some(_)) => {
            return Err(Problem::at("request.body_file", "the body is given twice", "keep one of them"));
        }
        (Some(text), None) => text.clone().into_bytes(),
        (None, Some(file)) => read(folder, file, "request.body_file")?,
        (None, None) => Vec::new(),
    };
    let method =
        request.method.clone().unwrap_or_else(|| if body.is_empty() { "GET" } else { "POST" }.to_owned());
    let headers = request.headers.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
    let request = RequestPlan { method, path: request.path.clone(), headers, body };
    // The one encoder says what cannot be sent.
    request::Prepared::new(&request, "host", request::Check::new(&[], None))
        .map_err(|error| Problem::at("request", error.to_string(), "mend that part of the request"))?;
    Ok(ScenarioPlan { name: name.to_owned(), request, expect: expectation(expect, folder)? })
}

fn expectation(expect: &Expect, folder: &Path) -> Result<ExpectPlan, Problem> {
    if let Some(code) = expect.status.iter().find(|code| !(100..=999).contains(*code)) {
        return Err(Problem::at(
            "expect.status",
            format!("{code} is no status code"),
            "give codes from 100 to 999",
        ));
    }
    let given = [expect.body.is_some(), expect.json.is_some(), expect.json_file.is_some()];
    if given.into_iter().filter(|given| *given).count() > 1 {
        return Err(Problem::at("expect", "the body is expected twice", "keep one of body, json, json_file"));
    }
    let body = match (&expect.body, &expect.json, &expect.json_file) {
        (Some(text), _, _) => BodyExpectation::Exact(text.clone()),
        (_, Some(text), _) => BodyExpectation::Json(json(text.as_bytes(), "expect.json")?),
        (_, _, Some(file)) => {
            BodyExpectation::Json(json(&read(folder, file, "expect.json_file")?, "expect.json_file")?)
        }
        _ => BodyExpectation::Any,
    };
    let headers =
        expect.headers.iter().map(|(name, value)| (name.to_ascii_lowercase(), value.clone())).collect();
    Ok(ExpectPlan { status: expect.status.clone(), headers, body })
}

fn json(text: &[u8], key: &str) -> Result<serde_json::Value, Problem> {
    serde_json::from_slice(text)
        .map_err(|error| Problem::at(key, format!("not JSON: {error}"), "mend the JSON text"))
}

fn read(folder: &Path, file: &str, key: &str) -> Result<Vec<u8>, Problem> {
    let path = folder.join(file);
    read_regular(&path).map_err(|error| {
        Problem::at(
            key,
            format!("{} cannot be read ({error})", path.display()),
            "name a file of at most 64 MiB; paths are relative to scenarios/",
        )
    })
}

/// A device or a pipe may never end, so only regular files are opened, and only so much of them is read.
fn read_regular(path: &Path) -> io::Result<Vec<u8>> {
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(io::Error::other("it is too large"));
    }
    Ok(bytes)
}
