//! Requests about runs: the library, one run's page and trials, its label, its live events, and its end.

use crate::blocking::blocking;
use crate::downloads;
use crate::error::{ApiError, json, json_text};
use crate::lab::{Lab, Shared};
use crate::live;
use crate::pages::Page;
use analyze::Past;
use axum::body::{Body, Bytes};
use axum::extract::{Path, RawQuery, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use index::Query;
use record::RunFolder;
use record::page::PageWishes;
use rustix::process::{Pid, PidfdFlags, Signal};
use schema::lab::{Accepted, ComparePair, ComparePairs, Label, RunDetail, RunList, RunState};
use schema::page::PageLanguage;
use schema::said;
use schema::said::Said;
use schema::version::LabVersion;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path as FilePath;
use std::time::{Duration, SystemTime};

/// Largest body of a request.
const BODY_BYTES_MAX: usize = 64 * 1024;
const BODY_WAIT_MAX: Duration = Duration::from_secs(10);
/// Most runs of one answer.
const LIMIT_MAX: u32 = 500;
const LIMIT: u32 = 100;
/// Most runs that are compared at once.
const COMPARED_MAX: usize = 12;

/// The values of a query by name; the last of a name counts.
pub(crate) fn values(query: Option<String>) -> BTreeMap<String, String> {
    form_urlencoded::parse(query.unwrap_or_default().as_bytes()).into_owned().collect()
}

fn number(values: &BTreeMap<String, String>, name: &str, default: u32) -> Result<u32, ApiError> {
    match values.get(name) {
        None => Ok(default),
        Some(text) => text.parse().map_err(|_| {
            ApiError::new(
                StatusCode::BAD_REQUEST,
                said!("lab.no_number", "{name}={text} is not a whole number", name, text),
                said!("lab.give_number", "give {name} as in {name}={default}", name, default),
            )
        }),
    }
}

/// A JSON body within its limits.
pub(crate) async fn body<T: serde::de::DeserializeOwned>(body: Body) -> Result<T, ApiError> {
    let read = tokio::time::timeout(BODY_WAIT_MAX, axum::body::to_bytes(body, BODY_BYTES_MAX)).await;
    let text = match read {
        Ok(Ok(text)) => text,
        Ok(Err(error)) => {
            return Err(ApiError::new(
                StatusCode::PAYLOAD_TOO_LARGE,
                said!(
                    "lab.body_unreadable",
                    "the body of the request cannot be read: {why}",
                    why = Said::from(error.to_string())
                ),
                said!("lab.body_most", "send at most 64 KiB"),
            ));
        }
        Err(_) => {
            return Err(ApiError::new(
                StatusCode::REQUEST_TIMEOUT,
                said!("lab.no_body", "the body did not come"),
                said!("lab.send_body", "send it at once"),
            ));
        }
    };
    serde_json::from_slice(&text).map_err(|error| {
        ApiError::new(
            StatusCode::BAD_REQUEST,
            said!(
                "lab.body_wrong",
                "the body is not what is wanted: {why}",
                why = Said::from(error.to_string())
            ),
            said!("lab.see_schemas", "see the schemas of prony serve in docs/schemas"),
        )
    })
}

pub(crate) async fn list(State(lab): State<Shared>, RawQuery(query): RawQuery) -> Result<Response, ApiError> {
    let values = values(query);
    let state = match values.get("state").map(String::as_str) {
        None | Some("") => None,
        Some(name) => Some(state_of(name)?),
    };
    let filled = |name: &str| values.get(name).filter(|text| !text.is_empty()).cloned();
    let query = Query {
        text: values.get("q").cloned().unwrap_or_default(),
        tag: filled("tag"),
        name: filled("name"),
        state,
        limit: number(&values, "limit", LIMIT)?.clamp(1, LIMIT_MAX),
        offset: number(&values, "offset", 0)?,
    };
    let list = blocking(move || {
        let index = lab.index()?;
        let (runs, total) = index.search(&query)?;
        Ok(RunList {
            schema: LabVersion::default(),
            runs,
            total,
            tags: index.tags()?,
            notes: index.notes().to_vec(),
        })
    });
    Ok(json(&list.await?))
}

fn state_of(name: &str) -> Result<RunState, ApiError> {
    let all = [RunState::Running, RunState::Done, RunState::Interrupted, RunState::Damaged];
    all.into_iter().find(|state| state.key() == name).ok_or_else(|| {
        ApiError::new(
            StatusCode::BAD_REQUEST,
            said!("lab.no_state", "{name} is not a state of a run", name),
            said!("lab.states", "use running, done, interrupted or damaged"),
        )
    })
}

pub(crate) async fn detail(State(lab): State<Shared>, Path(id): Path<String>) -> Result<Response, ApiError> {
    let detail = blocking(move || {
        let card = lab.card(&id)?;
        let files = downloads::list(&lab.runs, &id);
        Ok(RunDetail { schema: LabVersion::default(), card, files })
    });
    Ok(json(&detail.await?))
}

/// The page of a run: the same document as within its report.
pub(crate) async fn page(
    State(lab): State<Shared>,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
) -> Result<Response, ApiError> {
    let is_zh = values(query).get("lang").is_some_and(|lang| lang == "zh");
    let _one_at_a_time = lab.pages.making.lock().await;
    let asked = lab.clone();
    let text = blocking(move || {
        let folder = asked.folder(&id)?;
        let key = page_key(&folder, id, is_zh);
        if let Some(text) = asked.pages.find(&key) {
            return Ok(text);
        }
        let (run, analysis) = record::analysed(&folder)?;
        let lang = if is_zh { PageLanguage::Zh } else { PageLanguage::En };
        let page = record::page::page(&folder, run, analysis, &PageWishes { lang, against: None });
        let text = Bytes::from(schema::json::line(&page).map_err(|error| {
            ApiError::new(
                StatusCode::INTERNAL_SERVER_ERROR,
                error.to_string(),
                said!("lab.report_with_folder", "report it with the run folder"),
            )
        })?);
        asked.pages.keep(Page { key, text: text.clone() });
        Ok(text)
    });
    Ok(json_text(text.await?))
}

/// Changes when a trial ends or the run is analysed again.
fn page_key(folder: &RunFolder, id: String, is_zh: bool) -> (String, bool, Option<SystemTime>, u64) {
    let changed = |path: &FilePath| fs::metadata(path).and_then(|found| found.modified()).ok();
    let times = [folder.path().to_owned(), folder.path().join("run.json"), folder.path().join("trials")];
    let done = u64::from(index::card_of(folder.path()).trials_done);
    (id, is_zh, times.iter().filter_map(|path| changed(path)).max(), done)
}

pub(crate) async fn trial(
    State(lab): State<Shared>,
    Path((id, trial)): Path<(String, u32)>,
) -> Result<Response, ApiError> {
    let detail = blocking(move || {
        let folder = lab.folder(&id)?;
        let run = folder.read_run()?;
        Ok(record::page::trial(&folder, &run, trial)?)
    });
    Ok(json(&detail.await?))
}

pub(crate) async fn label(
    State(lab): State<Shared>,
    Path(id): Path<String>,
    request: Body,
) -> Result<Response, ApiError> {
    let said: Label = body(request).await?;
    let kept = blocking(move || {
        index::run_folder(&lab.runs, &id)?;
        Ok(lab.index()?.set_label(&id, said)?)
    });
    Ok(json(&kept.await?))
}

pub(crate) async fn events(State(lab): State<Shared>, Path(id): Path<String>) -> Result<Response, ApiError> {
    let followed = live::follow(&lab, &id).await?;
    Ok(live::stream(followed))
}

/// Asks the process of a run to end, as Ctrl-C does, if it is proven to be that process.
pub(crate) async fn stop(State(lab): State<Shared>, Path(id): Path<String>) -> Result<Response, ApiError> {
    let stopped = blocking(move || {
        let path = index::run_folder(&lab.runs, &id)?;
        interrupt(&path)?;
        lab.outdate();
        Ok(())
    });
    stopped.await?;
    let text = said!("lab.asked_to_end", "the run was asked to end; what has ended of it is kept");
    let accepted = Accepted { schema: LabVersion::default(), text, start: None };
    Ok((StatusCode::ACCEPTED, json(&accepted)).into_response())
}

fn interrupt(run: &FilePath) -> Result<(), ApiError> {
    let not_running = || {
        ApiError::new(
            StatusCode::CONFLICT,
            said!("lab.no_process", "no process can be proven to write this run folder"),
            said!("lab.end_there", "it has ended, or runs in another container: end it there with Ctrl-C"),
        )
    };
    let refused = |error: rustix::io::Errno| {
        ApiError::new(
            StatusCode::FORBIDDEN,
            said!(
                "lab.not_signalled",
                "the run's process cannot be signalled: {why}",
                why = Said::from(std::io::Error::from(error).to_string())
            ),
            said!("lab.end_as_owner", "end it as the user who began it"),
        )
    };
    let writer = record::live::writer(run).ok_or_else(not_running)?;
    let pid = i32::try_from(writer.pid).ok().and_then(Pid::from_raw).ok_or_else(not_running)?;
    let handle = rustix::process::pidfd_open(pid, PidfdFlags::empty()).map_err(refused)?;
    // The handle names one process for good: looked at again, it is the run's or the number was reused.
    if !record::live::is_alive(&writer, FilePath::new("/proc")) {
        return Err(not_running());
    }
    rustix::process::pidfd_send_signal(&handle, Signal::INT).map_err(refused)
}

pub(crate) async fn compare(
    State(lab): State<Shared>,
    RawQuery(query): RawQuery,
) -> Result<Response, ApiError> {
    let values = values(query);
    let names = values.get("runs").map(String::as_str).unwrap_or_default();
    let ids: Vec<String> = names.split(',').filter(|id| !id.is_empty()).map(str::to_owned).collect();
    if !(2..=COMPARED_MAX).contains(&ids.len()) {
        return Err(ApiError::new(
            StatusCode::BAD_REQUEST,
            said!("lab.not_comparable", "{runs} runs cannot be compared", runs = ids.len()),
            said!("lab.name_runs", "name 2 to 12 runs as in runs=A,B; the first is the one compared with"),
        ));
    }
    let accepts_hosts = values.get("across_hosts").is_some_and(|text| text == "true");
    Ok(json(&blocking(move || pairs(&lab, &ids, accepts_hosts)).await?))
}

fn pairs(lab: &Lab, ids: &[String], accepts_hosts: bool) -> Result<ComparePairs, ApiError> {
    let past = |id: &String| -> Result<Past, ApiError> {
        let folder = lab.folder(id)?;
        let run = folder.read_run()?;
        let trials = folder.read_numbers(&run)?;
        Ok(Past { run, trials })
    };
    let cards = ids.iter().map(|id| lab.card(id)).collect::<Result<_, _>>()?;
    let first = past(&ids[0])?;
    let mut pairs = Vec::new();
    for id in &ids[1..] {
        let compared = analyze::compare(&first, &past(id)?, accepts_hosts);
        let refused = compared.as_ref().err().map(|error| Said::from(error.to_string()));
        pairs.push(ComparePair { a: ids[0].clone(), b: id.clone(), compare: compared.ok(), refused });
    }
    Ok(ComparePairs { schema: LabVersion::default(), runs: cards, pairs })
}
