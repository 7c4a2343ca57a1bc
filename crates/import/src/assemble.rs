//! Requests one after the other become a scenario: one origin, equal ones merged, each with a name.
//!
//! Invariants: texts are escaped, so that what a foreign file calls `${x}` is sent as `${x}`; names are unique; the
//! memory grows with the distinct requests only, whose number is bounded (and with the steps of a session).

use crate::draft::{Body, Draft, check_header, check_method};
use crate::error::Problem;
use crate::imported::{Imported, Options};
use crate::notes::Notes;
use crate::url::{Origin, Url};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use schema::arrival::Think;
use schema::scenario::{NamedRequest, Part, ScenarioFile, Session};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{Hash, Hasher};
use units::Nanos;

/// Distinct requests of a scenario: each has results of its own.
pub(crate) const REQUESTS_MAX: usize = 5_000;
/// Steps of a session.
pub(crate) const STEPS_MAX: usize = 20_000;
/// Longest name of a request.
const NAME_CHARS_MAX: usize = 80;

/// Fields that prony sets, or that belong to the recorded connection (RFC 9110 §7.6.1), in lower case. `Host` is
/// looked at on its own.
const SET_BY_PRONY: [&str; 8] = [
    "content-length",
    "connection",
    "keep-alive",
    "proxy-connection",
    "transfer-encoding",
    "upgrade",
    "http2-settings",
    "te",
];

pub(crate) const FILES: &str =
    "bodies named as files: keep the scenario in the folder of this file, their paths are relative to it";
pub(crate) const DROPPED: &str =
    "header fields that prony sets itself left out (Host, Content-Length, Connection and the like)";

/// Whether prony sets a field, whose name is in lower case, itself.
pub(crate) fn is_set_by_prony(lower: &str) -> bool {
    SET_BY_PRONY.contains(&lower)
}

/// What makes two requests equal.
#[derive(Debug, PartialEq, Eq)]
struct Core {
    /// Where it is another than the scenario's.
    origin: Option<Origin>,
    method: String,
    path: String,
    headers: BTreeMap<String, String>,
    content: Content,
    timeout: Option<Nanos>,
    think: Option<Nanos>,
}

#[derive(Debug, PartialEq, Eq)]
enum Content {
    None,
    Text(String),
    Bytes(Vec<u8>),
    File(String),
    Parts(Vec<Part>),
}

// Parts have no hash; the rest tells nearly all requests apart.
impl Hash for Core {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.origin, &self.method, &self.path, &self.headers, self.think).hash(state);
        match &self.content {
            Content::Text(text) | Content::File(text) => text.hash(state),
            Content::Bytes(bytes) => bytes.hash(state),
            Content::None | Content::Parts(_) => {}
        }
    }
}

/// Takes requests in the file's order.
pub(crate) struct Assembler<'o> {
    options: &'o Options,
    origin: Option<Origin>,
    /// Distinct requests, each with its place in the order of first appearance.
    cores: HashMap<Core, usize>,
    counts: Vec<u64>,
    steps: Vec<usize>,
    pauses: Vec<Nanos>,
    pub(crate) notes: Notes,
}

impl<'o> Assembler<'o> {
    pub(crate) fn new(options: &'o Options) -> Result<Self, Problem> {
        let origin = options.origin.as_deref().map(Origin::parse).transpose()?;
        Ok(Self {
            options,
            origin,
            cores: HashMap::new(),
            counts: Vec::new(),
            steps: Vec::new(),
            pauses: Vec::new(),
            notes: Notes::default(),
        })
    }

    /// The origin so far: the given one, or that of the first request.
    pub(crate) fn origin(&self) -> Option<&Origin> {
        self.origin.as_ref()
    }

    /// Adds a request; one to another origin is counted and left out. Says whether it was taken.
    pub(crate) fn add(&mut self, draft: Draft<'_>) -> Result<bool, Problem> {
        check_method(&draft.method)?;
        let url = Url::parse(&draft.url)?;
        let origin = self.origin.get_or_insert_with(|| url.origin.clone());
        let is_other = *origin != url.origin;
        if is_other && !self.options.all_origins {
            self.notes.other_origin(url.origin);
            return Ok(false);
        }
        let origin = is_other.then(|| url.origin.clone());
        let core = Core { origin, ..self.core(draft, url)? };
        let next = self.counts.len();
        let place = *self.cores.entry(core).or_insert(next);
        if place == next {
            if next == REQUESTS_MAX {
                return Err(Problem::new(
                    format!(
                        "there are more than {REQUESTS_MAX} different requests, each of which would have results of its own"
                    ),
                    "import a part of the file, or write one request whose path takes lines from a feeder",
                ));
            }
            self.counts.push(0);
        }
        self.counts[place] += 1;
        if self.options.session {
            self.steps.push(place);
            if self.steps.len() > STEPS_MAX {
                return Err(Problem::new(
                    format!("the session has more than {STEPS_MAX} steps"),
                    "import it as a mix, without the session, or record a shorter one",
                ));
            }
        }
        Ok(true)
    }

    fn core(&mut self, draft: Draft<'_>, url: Url) -> Result<Core, Problem> {
        let think = draft.think.filter(|_| self.options.session && !self.steps.is_empty());
        if self.options.session {
            self.pauses.push(think.unwrap_or_default());
        }
        let mut headers = self.headers(&draft, &url.origin)?;
        if let Some(mut credentials) = url.credentials
            && draft.header("authorization").is_none()
        {
            if !credentials.contains(&b':') {
                credentials.push(b':');
            }
            headers.insert("Authorization".to_owned(), format!("Basic {}", STANDARD.encode(credentials)));
        }
        let content = match draft.body {
            Body::None => Content::None,
            Body::Text(text) if text.is_empty() => Content::None,
            Body::Text(text) => Content::Text(escape(&text)),
            Body::Bytes(bytes) => Content::Bytes(bytes),
            Body::File(path) => {
                self.notes.count(FILES);
                Content::File(path)
            }
            Body::Parts(parts) => {
                parts.iter().filter(|part| part.file.is_some()).for_each(|_| self.notes.count(FILES));
                Content::Parts(parts.into_iter().map(escape_part).collect())
            }
        };
        Ok(Core {
            origin: None,
            method: draft.method.into_owned(),
            path: escape(&url.path),
            headers,
            content,
            timeout: draft.timeout,
            think,
        })
    }

    /// The fields to send, several of one name put together.
    fn headers(&mut self, draft: &Draft<'_>, origin: &Origin) -> Result<BTreeMap<String, String>, Problem> {
        let mut headers: BTreeMap<String, String> = BTreeMap::new();
        for (name, value) in &draft.headers {
            let lower = name.to_ascii_lowercase();
            let is_host = lower == "host" && origin.is_host(value);
            let is_multipart = lower == "content-type" && matches!(draft.body, Body::Parts(_));
            if lower.starts_with(':') || is_host || is_multipart || is_set_by_prony(&lower) {
                self.notes.count(DROPPED);
                continue;
            }
            check_header(name, value)?;
            let value = escape(value.trim());
            match headers.iter_mut().find(|(known, _)| known.eq_ignore_ascii_case(name)) {
                Some((_, known)) => {
                    let between = if lower == "cookie" { "; " } else { ", " };
                    known.push_str(between);
                    known.push_str(&value);
                }
                None => {
                    headers.insert(name.clone().into_owned(), value);
                }
            }
        }
        Ok(headers)
    }

    /// The scenario.
    pub(crate) fn finish(self, name: &str, description: String) -> Result<Imported, Problem> {
        let Some(origin) = self.origin.filter(|_| !self.counts.is_empty()) else {
            return Err(no_requests(&self.notes, self.options));
        };
        let mut cores: Vec<(Core, usize)> = self.cores.into_iter().collect();
        cores.sort_by_key(|(_, place)| *place);
        let is_even = self.counts.iter().all(|count| *count == self.counts[0]);
        let mut names = Names::default();
        let mut bodies = Vec::new();
        let mut requests = Vec::with_capacity(cores.len());
        for (core, place) in cores {
            let mut request = named(core, &mut names, name, &mut bodies);
            request.weight = (!self.options.session && !is_even).then_some(self.counts[place] as f64);
            requests.push(request);
        }
        let session = self.options.session.then(|| session(&self.steps, &requests));
        let scenario = ScenarioFile {
            name: name.to_owned(),
            description: Some(description),
            requests,
            session,
            ..ScenarioFile::default()
        };
        let think = self.options.session.then_some(self.pauses);
        Ok(Imported {
            scenario,
            origin: origin.to_string(),
            bodies,
            notes: self.notes.into_texts(),
            think,
            load: Vec::new(),
        })
    }
}

fn no_requests(notes: &Notes, options: &Options) -> Problem {
    match (&options.origin, notes.commonest_origin()) {
        (Some(wanted), Some(other)) => Problem::new(
            format!("no request goes to {wanted}"),
            format!("leave the origin out, or give the commonest one: {other}"),
        ),
        _ => Problem::new("there is no request in it", "give a file with at least one request of HTTP"),
    }
}

/// A request of the scenario. A body that is no text goes to `bodies`, as a file of its own.
fn named(core: Core, names: &mut Names, scenario: &str, bodies: &mut Vec<(String, Vec<u8>)>) -> NamedRequest {
    let mut request = NamedRequest {
        name: match &core.origin {
            Some(origin) => names.next(&core.method, &format!("{origin}{}", core.path)),
            None => names.next(&core.method, &core.path),
        },
        origin: core.origin.map(|origin| origin.to_string()),
        path: core.path,
        headers: core.headers,
        timeout: core.timeout,
        think: core.think.map(|mean| Think::Constant { mean }),
        ..NamedRequest::default()
    };
    let mut default_method = "POST";
    match core.content {
        Content::None => default_method = "GET",
        Content::Text(text) => request.body = Some(text),
        Content::File(path) => request.body_file = Some(path),
        Content::Parts(parts) => request.multipart = Some(parts),
        Content::Bytes(bytes) => {
            let file = format!("{scenario}-body-{}.bin", bodies.len() + 1);
            request.body_file = Some(file.clone());
            bodies.push((file, bytes));
        }
    }
    request.method = (core.method != default_method).then_some(core.method);
    request
}

/// Steps are written only where they are not simply all requests in order.
fn session(steps: &[usize], requests: &[NamedRequest]) -> Session {
    let is_plain = steps.iter().copied().eq(0..requests.len());
    let steps = (!is_plain).then(|| steps.iter().map(|step| requests[*step].name.clone()).collect());
    Session { steps, ..Session::default() }
}

/// Names such as `GET /a/b`, then `GET /a/b 2`.
#[derive(Default)]
struct Names {
    taken: HashSet<String>,
    /// How often each base was asked for, so that equal ones do not cost ever more tries.
    asked: HashMap<String, usize>,
}

impl Names {
    fn next(&mut self, method: &str, path: &str) -> String {
        let path = path.split_once('?').map_or(path, |(before, _)| before);
        let whole = format!("{method} {path}");
        let mut base: String = whole.chars().take(NAME_CHARS_MAX).collect();
        if base.len() < whole.len() {
            base.push('…');
        }
        let asked = self.asked.entry(base.clone()).or_default();
        loop {
            *asked += 1;
            let name = if *asked == 1 { base.clone() } else { format!("{base} {asked}") };
            if self.taken.insert(name.clone()) {
                return name;
            }
        }
    }
}

/// What is sent as it is: `${` begins an expression in a scenario, `$${` stands for it.
pub(crate) fn escape(text: &str) -> String {
    text.replace("${", "$${")
}

fn escape_part(part: Part) -> Part {
    Part { text: part.text.as_deref().map(escape), ..part }
}
