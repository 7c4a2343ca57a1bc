//! HTTP archives (HAR 1.2), as browsers and proxies export them.
//!
//! Invariants: the text is read once; requests borrow from it, answers are skipped without a copy. What never reached
//! a server or was never answered (from the cache, aborted, `data:`, `ws:`) is left out and counted. A cookie that an
//! answer of the recording set is left to the answers of the load; others are kept as recorded.
//! A pause of a session is the time between the end of all earlier answers and the start of the next request: what
//! runs at the same time in a browser has none, and an answer's own time is the target's, not the user's.

use crate::assemble::Assembler;
use crate::draft::{Body, Draft};
use crate::error::{Problem, quoted};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use schema::scenario::Part;
use serde::Deserialize;
use std::borrow::Cow;
use std::collections::HashSet;
use units::Nanos;

/// Shorter pauses are the browser's, not the user's.
const PAUSE_AT_LEAST: Nanos = Nanos(10_000_000);
/// Longer ones are two recordings and no thought, and could be longer than a scenario may say.
const PAUSE_AT_MOST: Nanos = Nanos(24 * 3_600 * 1_000_000_000);
/// Names of cookies that are kept in mind.
const COOKIES_MAX: usize = 10_000;

#[derive(Deserialize)]
struct Archive<'a> {
    #[serde(borrow)]
    log: Log<'a>,
}

#[derive(Deserialize)]
struct Log<'a> {
    #[serde(borrow, default)]
    entries: Vec<Entry<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry<'a> {
    #[serde(borrow, default)]
    started_date_time: Cow<'a, str>,
    /// Milliseconds from start to the answer's end.
    #[serde(default)]
    time: Option<f64>,
    #[serde(borrow)]
    request: Request<'a>,
    #[serde(borrow, default)]
    response: Response<'a>,
    /// Chrome: the answer came from a cache.
    #[serde(rename = "_fromCache", default)]
    from_cache: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Request<'a> {
    #[serde(borrow)]
    method: Cow<'a, str>,
    #[serde(borrow)]
    url: Cow<'a, str>,
    #[serde(borrow, default)]
    http_version: Cow<'a, str>,
    #[serde(borrow, default)]
    headers: Vec<Field<'a>>,
    #[serde(borrow, default)]
    query_string: Vec<Field<'a>>,
    #[serde(borrow, default)]
    post_data: Option<PostData<'a>>,
}

#[derive(Deserialize)]
struct Field<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow, default)]
    value: Cow<'a, str>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PostData<'a> {
    #[serde(borrow, default)]
    mime_type: Cow<'a, str>,
    #[serde(borrow, default)]
    text: Cow<'a, str>,
    #[serde(default)]
    encoding: Option<String>,
    #[serde(default)]
    params: Vec<Param>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Param {
    name: String,
    value: Option<String>,
    file_name: Option<String>,
    content_type: Option<String>,
}

#[derive(Default, Deserialize)]
struct Response<'a> {
    /// 0 where there was no answer, which is what browsers write.
    #[serde(default)]
    status: Option<f64>,
    #[serde(borrow, default)]
    headers: Vec<Field<'a>>,
}

pub(crate) fn read(text: &str, assembler: &mut Assembler<'_>, session: bool) -> Result<(), Problem> {
    let archive: Archive<'_> = serde_json::from_str(text).map_err(|error| {
        let what = error.to_string();
        let what = what.split(" at line ").next().unwrap_or_default().to_owned();
        Problem::new(format!("this is no HAR: {what}"), "export it again, as HAR 1.2 (\"Save all as HAR\")")
            .at(error.line().max(1))
    })?;
    let entries = archive.log.entries;
    if entries.is_empty() {
        return Err(Problem::new(
            "the HAR has no entries",
            "open the network panel before the page is loaded, and export it with the requests in it",
        ));
    }
    let mut entries: Vec<(usize, Entry<'_>)> = (1..).zip(entries).collect();
    let mut clock = Clock::default();
    if session {
        let mut timed = Vec::with_capacity(entries.len());
        for (number, entry) in entries {
            timed.push((
                start_ns(&entry).map_err(|problem| placed(problem, number, &entry, text))?,
                number,
                entry,
            ));
        }
        timed.sort_by_key(|(start, number, _)| (*start, *number));
        entries = timed.into_iter().map(|(_, number, entry)| (number, entry)).collect();
    }
    let mut cookies = session.then(HashSet::new);
    for (number, entry) in &entries {
        let mut add = || add(entry, &mut cookies, if session { Some(&mut clock) } else { None }, assembler);
        add().map_err(|problem| placed(problem, *number, entry, text))?;
    }
    Ok(())
}

/// Names the entry, and its line where the URL stands in the text as it is.
fn placed(problem: Problem, number: usize, entry: &Entry<'_>, text: &str) -> Problem {
    let problem = Problem { cause: format!("entry {number}: {}", problem.cause), ..problem };
    let Cow::Borrowed(url) = entry.request.url else { return problem };
    let offset = (url.as_ptr() as usize).wrapping_sub(text.as_ptr() as usize);
    match text.as_bytes().get(..offset) {
        Some(before) => problem.at(before.iter().filter(|byte| **byte == b'\n').count() + 1),
        None => problem,
    }
}

fn add(
    entry: &Entry<'_>,
    cookies: &mut Option<HashSet<String>>,
    clock: Option<&mut Clock>,
    assembler: &mut Assembler<'_>,
) -> Result<(), Problem> {
    let request = &entry.request;
    if let Some(why) = never_sent(entry) {
        assembler.notes.count(why);
        return Ok(());
    }
    let mut draft = Draft {
        method: request.method.as_ref().into(),
        url: url(request).into(),
        headers: Vec::with_capacity(request.headers.len()),
        ..Draft::default()
    };
    for field in &request.headers {
        let value = match cookies {
            Some(known) if field.name.eq_ignore_ascii_case("cookie") => {
                Cow::Owned(without_set(&field.value, known, assembler))
            }
            _ => Cow::Borrowed(field.value.as_ref()),
        };
        if !(value.is_empty() && field.name.eq_ignore_ascii_case("cookie")) {
            draft.headers.push((field.name.as_ref().into(), value));
        }
    }
    let has_cookie = draft.header("cookie").is_some();
    if let Some(data) = &request.post_data {
        put_body(&mut draft, data, assembler)?;
    }
    let (think, end) = clock.as_ref().map_or(Ok((None, 0)), |clock| clock.pause(entry))?;
    draft.think = think;
    if assembler.add(draft)? {
        if let Some(clock) = clock {
            clock.end_ns = clock.end_ns.max(end);
        }
        told(request, has_cookie, assembler);
        remember(entry, cookies);
    }
    Ok(())
}

/// What is reported about a request that was taken.
fn told(request: &Request<'_>, has_cookie: bool, assembler: &mut Assembler<'_>) {
    let version = request.http_version.to_ascii_lowercase();
    if ["h2", "h3", "http/2", "http/3"].iter().any(|newer| version.starts_with(newer)) {
        assembler.notes.count("requests recorded over HTTP/2 or 3, sent by HTTP/1.1");
    }
    if has_cookie {
        assembler.notes.count("requests with recorded cookies, which may be secrets or have expired");
    }
}

/// Why the request of an entry never reached a server of HTTP.
fn never_sent(entry: &Entry<'_>) -> Option<&'static str> {
    if entry.from_cache.is_some() {
        return Some("entries that the browser's cache answered left out");
    }
    if entry.response.status.is_some_and(|status| status <= 0.0) {
        return Some("entries without an answer (aborted or blocked, status 0) left out");
    }
    let scheme = entry.request.url.split_once(':').map(|(scheme, _)| scheme.to_ascii_lowercase());
    match scheme.as_deref() {
        Some("ws" | "wss") => Some("WebSocket entries left out"),
        Some("data" | "blob" | "about" | "file" | "chrome-extension" | "moz-extension") => {
            Some("entries that are no request of HTTP (data:, blob: and the like) left out")
        }
        _ => None,
    }
}

/// The URL has its query already; some writers give it in `queryString` only.
fn url(request: &Request<'_>) -> String {
    if request.url.contains('?') || request.query_string.is_empty() {
        return request.url.clone().into_owned();
    }
    let base = request.url.split_once('#').map_or(request.url.as_ref(), |(before, _)| before);
    format!("{base}?{}", encoded(request.query_string.iter().map(|field| (&*field.name, &*field.value))))
}

fn encoded<'a>(fields: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish()
}

/// Text, encoded text, or fields of a form.
fn put_body<'a>(
    draft: &mut Draft<'a>,
    data: &'a PostData<'_>,
    assembler: &mut Assembler<'_>,
) -> Result<(), Problem> {
    let media = data.mime_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    if !data.text.is_empty() {
        draft.body = match data.encoding.as_deref() {
            Some("base64") => Body::from_bytes(STANDARD.decode(data.text.as_bytes()).map_err(|error| {
                Problem::new(
                    format!("its body is not base64: {error}"),
                    "export the HAR again, or remove the entry",
                )
            })?),
            _ => Body::Text(data.text.as_ref().into()),
        };
    } else if !data.params.is_empty() && media == "multipart/form-data" {
        draft.body = Body::Parts(data.params.iter().map(|param| part(param, assembler)).collect());
        return Ok(());
    } else if !data.params.is_empty() {
        let pairs =
            data.params.iter().map(|param| (&*param.name, param.value.as_deref().unwrap_or_default()));
        draft.body = Body::Text(encoded(pairs).into());
    }
    if !media.is_empty() && !matches!(draft.body, Body::None) {
        draft.header_default("Content-Type", data.mime_type.as_ref());
    }
    Ok(())
}

fn part(param: &Param, assembler: &mut Assembler<'_>) -> Part {
    if param.file_name.is_some() && param.value.is_none() {
        assembler.notes.count("uploaded files whose content is not in the HAR, sent empty");
    }
    Part {
        name: param.name.clone(),
        text: Some(param.value.clone().unwrap_or_default()),
        file: None,
        filename: param.file_name.clone(),
        content_type: param.content_type.clone(),
    }
}

/// A `Cookie` field without the cookies that earlier answers set.
fn without_set(field: &str, set: &HashSet<String>, assembler: &mut Assembler<'_>) -> String {
    let pairs = field.split(';').map(str::trim).filter(|pair| !pair.is_empty());
    let is_set = |pair: &str| set.contains(pair.split('=').next().unwrap_or_default());
    let kept: Vec<&str> = pairs.clone().filter(|pair| !is_set(pair)).collect();
    if kept.len() < pairs.count() {
        assembler.notes.count("requests whose recorded cookies are left to the answers that set them");
    }
    kept.join("; ")
}

/// Keeps the names of cookies that an answer sets; Firefox joins several fields by line ends.
fn remember(entry: &Entry<'_>, cookies: &mut Option<HashSet<String>>) {
    let Some(known) = cookies else { return };
    let fields = entry.response.headers.iter().filter(|field| field.name.eq_ignore_ascii_case("set-cookie"));
    for line in fields.flat_map(|field| field.value.lines()) {
        if let Some((name, _)) = line.split_once('=')
            && known.len() < COOKIES_MAX
        {
            known.insert(name.trim().to_owned());
        }
    }
}

/// Nanoseconds since 1970.
fn start_ns(entry: &Entry<'_>) -> Result<i128, Problem> {
    let text = entry.started_date_time.as_ref();
    let start: Timestamp = text.parse().map_err(|_| {
        Problem::new(
            format!("startedDateTime is {}, which is no time", quoted(text)),
            "write ISO 8601 with its zone, for example 2026-11-21T09:30:00.000Z, or import without the session",
        )
    })?;
    Ok(start.as_nanosecond())
}

/// When the answers so far had ended.
#[derive(Default)]
struct Clock {
    end_ns: i128,
}

impl Clock {
    /// The pause before a request, and when its answer ends.
    fn pause(&self, entry: &Entry<'_>) -> Result<(Option<Nanos>, i128), Problem> {
        let start = start_ns(entry)?;
        let took_ms = entry.time.filter(|time| time.is_finite() && *time > 0.0).unwrap_or_default();
        let pause = u64::try_from(start - self.end_ns).ok().map(|ns| Nanos(ns).min(PAUSE_AT_MOST));
        let pause = pause.filter(|pause| *pause >= PAUSE_AT_LEAST);
        Ok((pause, start + (took_ms * 1e6) as i128))
    }
}
