//! Scenarios: from a file under `scenarios/` or inline, with the files that they name read in; and contract files,
//! which have the same format.

mod contract;
mod entry;
mod expect;
mod session;
mod text;

pub use contract::load_contract;
pub use entry::chunk_bytes;

use crate::context::Context;
use crate::error::PlanError;
use crate::grpc::{Reflection, Sources};
use crate::wrong::Wrong;
use schema::experiment::ScenarioUse;
use schema::grpc::Grpc;
use schema::plan::{EntryPlan, ScenarioPlan};
use schema::scenario::{Expect, Feeder, NamedRequest, Request, ScenarioFile, Session, StepOrder, TokenMaker};
use schema::text::{FileError, Problem, nearest};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use units::Seed;

/// Longest body that is read from a file: it is held in memory and stored in `run.json`.
const FILE_BYTES_MAX: u64 = 64 << 20;
/// Most named requests: each has its own histograms, half a megabyte in every worker.
const REQUESTS_MAX: usize = 100;

/// What a scenario is made of, wherever it stands.
#[derive(Clone, Copy)]
struct Parts<'a> {
    services: &'a [String],
    request: Option<&'a Request>,
    expect: Option<&'a Expect>,
    requests: &'a [NamedRequest],
    vars: &'a BTreeMap<String, String>,
    feeders: &'a BTreeMap<String, Feeder>,
    tokens: &'a BTreeMap<String, TokenMaker>,
    session: Option<&'a Session>,
    choose: Option<&'a str>,
}

impl<'a> From<&'a ScenarioFile> for Parts<'a> {
    fn from(file: &'a ScenarioFile) -> Self {
        Self {
            services: &file.services,
            request: file.request.as_ref(),
            expect: file.expect.as_ref(),
            requests: &file.requests,
            vars: &file.vars,
            feeders: &file.feeders,
            tokens: &file.tokens,
            session: file.session.as_ref(),
            choose: file.choose.as_deref(),
        }
    }
}

impl<'a> From<&'a ScenarioUse> for Parts<'a> {
    fn from(inline: &'a ScenarioUse) -> Self {
        Self {
            services: &inline.services,
            request: inline.request.as_ref(),
            expect: inline.expect.as_ref(),
            requests: &inline.requests,
            vars: &inline.vars,
            feeders: &inline.feeders,
            tokens: &inline.tokens,
            session: inline.session.as_ref(),
            choose: None,
        }
    }
}

impl Parts<'_> {
    fn is_empty(&self) -> bool {
        self.services.is_empty()
            && self.request.is_none()
            && self.expect.is_none()
            && self.requests.is_empty()
            && self.vars.is_empty()
            && self.feeders.is_empty()
            && self.tokens.is_empty()
            && self.session.is_none()
    }
}

/// Loads `scenarios/NAME.toml` of the project.
///
/// # Errors
/// It is missing (with the nearest name there is) or wrong, or a file that it names is.
pub fn load_scenario(context: &Context, name: &str) -> Result<ScenarioPlan, PlanError> {
    let folder = context.project.join("scenarios");
    let (file, path, text) = named(&folder, name)?;
    one_origin(&file.requests).map_err(|problem| problem.locate(&path.display().to_string(), &text))?;
    in_file(&file, &path, &text, None)
}

/// An experiment loads its targets: a request that goes elsewhere would measure something that is no target.
fn one_origin(requests: &[NamedRequest]) -> Result<(), Problem> {
    match requests.iter().position(|request| request.origin.is_some()) {
        Some(index) => {
            let cause = "an experiment sends all requests to its targets";
            let remedy = "leave `origin` out, or use the scenario with prony load --scenario";
            Err(Problem::at(&format!("requests.{index}.origin"), cause, remedy))
        }
        None => Ok(()),
    }
}

/// The file NAME.toml in `folder`, with its path and text.
fn named(folder: &Path, name: &str) -> Result<(ScenarioFile, PathBuf, String), PlanError> {
    let is_plain = |part: &str| !part.is_empty() && part != "." && part != "..";
    if !name.split('/').all(is_plain) {
        let last = folder.file_name().unwrap_or_default().to_string_lossy();
        let cause = format!("`{name}` is no name of a file in {last}/");
        let remedy = Some(format!("name a file in {last}/ without its ending"));
        return Err(FileError { file: folder.display().to_string(), at: None, cause, remedy }.into());
    }
    let path = folder.join(format!("{name}.toml"));
    let shown = path.display().to_string();
    let text = std::fs::read_to_string(&path).map_err(|error| FileError {
        file: shown.clone(),
        at: None,
        cause: format!("the scenario cannot be read ({error})"),
        remedy: Some(names_in(folder, name)),
    })?;
    let file = ScenarioFile::from_toml(&shown, &text)?;
    if file.name != name {
        let cause = format!("the file calls itself `{}`", file.name);
        return Err(Problem::at("name", cause, format!("write name = \"{name}\""))
            .locate(&shown, &text)
            .into());
    }
    Ok((file, path, text))
}

/// Loads a scenario file by its path, wherever it lies and whatever its name. The server is asked what calls take whose files
/// say nothing of it.
///
/// # Errors
/// It cannot be read or is wrong, or a file that it names is; the server does not answer.
pub fn load_scenario_file(path: &Path, server: Option<&Reflection<'_>>) -> Result<ScenarioPlan, PlanError> {
    let shown = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|error| FileError {
        file: shown.clone(),
        at: None,
        cause: format!("the scenario cannot be read ({error})"),
        remedy: Some("name a scenario file, for example scenarios/ping.toml".to_owned()),
    })?;
    in_file(&ScenarioFile::from_toml(&shown, &text)?, path, &text, server)
}

fn in_file(
    file: &ScenarioFile,
    path: &Path,
    text: &str,
    server: Option<&Reflection<'_>>,
) -> Result<ScenarioPlan, PlanError> {
    let beside = path.parent().unwrap_or(Path::new("."));
    let beside = std::path::absolute(beside).unwrap_or_else(|_| beside.to_owned());
    plan(&file.name, file.into(), Sources { folder: &beside, server })
        .map_err(|problem| PlanError::File(problem.locate(&path.display().to_string(), text)))
}

/// A scenario of one call, as the command line says it; files are relative to the present folder, and the server is asked
/// where there are none.
///
/// # Errors
/// What is wrong with it, with the key that a file would have.
pub fn call_scenario(call: &Grpc, expect: &Expect, server: &Reflection<'_>) -> Result<ScenarioPlan, Wrong> {
    let request = Request { grpc: Some(call.clone()), ..Request::default() };
    let inline =
        ScenarioUse { request: Some(request), expect: Some(expect.clone()), ..ScenarioUse::default() };
    let folder = std::path::absolute(".").unwrap_or_else(|_| PathBuf::from("."));
    let sources = Sources { folder: &folder, server: Some(server) };
    Ok(plan("inline", Parts::from(&inline), sources)?)
}

/// The scenarios of an experiment, at least one, each name once.
pub(super) fn of_experiment(
    wanted: Option<&ScenarioUse>,
    context: &Context,
) -> Result<Vec<ScenarioPlan>, Wrong> {
    let missing = || Problem::at("scenario", "there is no scenario", "add\n  [scenario]\n  use = \"ping\"");
    let wanted = wanted.ok_or_else(missing)?;
    let parts = Parts::from(wanted);
    match &wanted.file {
        Some(names) if parts.is_empty() => by_name(&names.levels(), context),
        Some(_) => {
            let remedy = "remove `use`, or the inline request and expect";
            Err(Problem::at("scenario", "the scenario is given twice", remedy).into())
        }
        None if parts.is_empty() => Err(missing().into()),
        None => {
            one_origin(parts.requests).map_err(|problem| Wrong::Here(under("scenario", problem)))?;
            let folder = context.project.join("scenarios");
            let plan = plan("inline", parts, Sources { folder: &folder, server: None });
            Ok(vec![plan.map_err(|problem| Wrong::Here(under("scenario", problem)))?])
        }
    }
}

fn by_name(names: &[String], context: &Context) -> Result<Vec<ScenarioPlan>, Wrong> {
    if names.is_empty() {
        return Err(Problem::at("scenario.use", "the list is empty", "name at least one scenario").into());
    }
    let mut seen = BTreeSet::new();
    if let Some(twice) = names.iter().find(|name| !seen.insert(*name)) {
        let cause = format!("`{twice}` is named twice");
        return Err(Problem::at("scenario.use", cause, "name each scenario once").into());
    }
    names.iter().map(|name| Ok(load_scenario(context, name)?)).collect()
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

fn plan(name: &str, parts: Parts<'_>, sources: Sources<'_>) -> Result<ScenarioPlan, Problem> {
    let folder = sources.folder;
    let requests = match (parts.request, parts.requests) {
        (Some(request), []) => {
            let entry = entry::single(name, request, parts.expect.unwrap_or(&Expect::default()), sources)?;
            vec![entry]
        }
        (None, [_, ..]) if parts.expect.is_some() => {
            let remedy = "put `expect` into each of the requests";
            return Err(Problem::at("expect", "`[expect]` belongs to a single request", remedy));
        }
        (_, []) if parts.choose.is_some() => {
            let remedy = "name them under [[requests]], as the rows do";
            return Err(Problem::at("choose", "there are no requests to choose from", remedy));
        }
        (None, requests @ [_, ..]) => several(requests, order(parts)?, sources)?,
        (Some(_), _) => {
            return Err(Problem::at(
                "requests",
                "there is one request and a list of them",
                "keep one of the two",
            ));
        }
        (None, []) => {
            let remedy = "add\n  [request]\n  path = \"/\"";
            return Err(Problem::at("request", "there is no request", remedy));
        }
    };
    let session = parts.session.map(|session| session::plan(session, &requests)).transpose()?;
    let plan = ScenarioPlan {
        name: name.to_owned(),
        services: parts.services.to_vec(),
        session,
        choose: parts.choose.map(str::to_owned),
        requests,
        vars: parts.vars.iter().map(|(name, text)| (name.clone(), text.clone())).collect(),
        feeders: parts.feeders.iter().map(|(name, feeder)| (name.clone(), beside(feeder, folder))).collect(),
        tokens: parts.tokens.iter().map(|(name, maker)| (name.clone(), keys_beside(maker, folder))).collect(),
        script: None,
        folder: folder.display().to_string(),
    };
    check(&plan, parts.request.is_some())?;
    Ok(plan)
}

/// What only the compiler of requests can say, said before any load.
fn check(plan: &ScenarioPlan, is_single: bool) -> Result<(), Problem> {
    request::Traffic::new(plan, "host", Seed(0), &[]).map(drop).map_err(|error| {
        let key = key_of_call(plan, error.key);
        let key = if is_single { key.replacen("requests.0", "request", 1) } else { key };
        Problem::at(&key, error.cause, error.remedy)
    })
}

/// The header fields of a call stand in files as its metadata.
fn key_of_call(plan: &ScenarioPlan, key: String) -> String {
    let Some((request, _)) = key.split_once(".headers.") else { return key };
    let index = request.strip_prefix("requests.").and_then(|index| index.parse::<usize>().ok());
    match index.and_then(|index| plan.requests.get(index)) {
        Some(entry) if entry.grpc.is_some() => format!("{request}.grpc.metadata"),
        _ => key,
    }
}

/// What says which of several requests is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    Weights,
    Rows,
    Session,
    /// A session whose steps are drawn by weight.
    Drawn,
}

fn order(parts: Parts<'_>) -> Result<Order, Problem> {
    match (parts.session, parts.choose) {
        (Some(_), Some(_)) => {
            Err(Problem::at("choose", "a session sends its steps in order", "keep `choose` or [session]"))
        }
        (Some(session), None) if session.order == StepOrder::Drawn => Ok(Order::Drawn),
        (Some(_), None) => Ok(Order::Session),
        (None, Some(_)) => Ok(Order::Rows),
        (None, None) => Ok(Order::Weights),
    }
}

fn several(requests: &[NamedRequest], order: Order, sources: Sources<'_>) -> Result<Vec<EntryPlan>, Problem> {
    if requests.len() > REQUESTS_MAX {
        let cause = format!("{} requests are too many", requests.len());
        return Err(Problem::at(
            "requests",
            cause,
            format!("name at most {REQUESTS_MAX}; use a template or a feeder"),
        ));
    }
    let mut names = BTreeSet::new();
    let mut entries = Vec::with_capacity(requests.len());
    for (place, request) in requests.iter().enumerate() {
        let at = format!("requests.{place}");
        if request.name.trim().is_empty() || !names.insert(&request.name) {
            let cause = format!("the name `{}` is empty or given twice", request.name);
            return Err(Problem::at(&format!("{at}.name"), cause, "give each request a name of its own"));
        }
        let unweighted = match order {
            Order::Weights | Order::Drawn => None,
            Order::Rows => {
                Some(("rows that choose have no weights", "remove it: each row names its request"))
            }
            Order::Session => {
                Some(("a session has no weights", "remove it: a session sends its steps in order"))
            }
        };
        if let (Some(_), Some((cause, remedy))) = (request.weight, unweighted) {
            return Err(Problem::at(&format!("{at}.weight"), cause, remedy));
        }
        if order != Order::Session && request.think.is_some() {
            let (cause, remedy) = match order {
                Order::Drawn => ("drawn steps have one law of pauses", "give it as session.think"),
                _ => ("only sessions think", "remove it, or add [session]"),
            };
            return Err(Problem::at(&format!("{at}.think"), cause, remedy));
        }
        if !request.weight.is_none_or(|weight| weight.is_finite() && weight >= 0.0) {
            let remedy = "give a number from 0";
            return Err(Problem::at(&format!("{at}.weight"), "this weight cannot be", remedy));
        }
        entries.push(entry::named(request, &at, sources)?);
    }
    if matches!(order, Order::Weights | Order::Drawn)
        && entries.iter().map(|entry| entry.weight).sum::<f64>() <= 0.0
    {
        return Err(Problem::at(
            "requests",
            "all weights are 0",
            "give at least one request a weight above 0",
        ));
    }
    Ok(entries)
}

fn beside(feeder: &Feeder, folder: &Path) -> Feeder {
    Feeder { file: folder.join(&feeder.file).display().to_string(), ..feeder.clone() }
}

fn keys_beside(maker: &TokenMaker, folder: &Path) -> TokenMaker {
    let key_file = maker.key_file.as_ref().map(|file| folder.join(file).display().to_string());
    TokenMaker { key_file, ..maker.clone() }
}

pub(crate) fn read(folder: &Path, file: &str, key: &str) -> Result<Vec<u8>, Problem> {
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
