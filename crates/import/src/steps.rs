//! Requests that a foreign file names, with their checks and pauses: of Postman, OpenAPI and k6.
//!
//! Invariants: each has a name of its own, made of that in the file; header fields that prony sets are left to it; one
//! origin, unless all are asked for; the number of requests is bounded.
//! Unlike recordings (`assemble`) nothing is merged: who wrote two requests down wants to see both.

use crate::assemble::{DROPPED, FILES, REQUESTS_MAX, is_set_by_prony};
use crate::draft::{check_header, check_method};
use crate::error::Problem;
use crate::imported::{Imported, Options};
use crate::notes::Notes;
use crate::url::{Origin, Url};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use schema::arrival::Think;
use schema::scenario::{NamedRequest, OnFailure, ScenarioFile, Session};
use std::collections::{BTreeMap, HashSet};
use units::Nanos;

/// Longest name of a request.
const NAME_CHARS_MAX: usize = 80;

/// Takes requests in the file's order.
pub(crate) struct Steps<'o> {
    options: &'o Options,
    origin: Option<Origin>,
    taken: HashSet<String>,
    pub(crate) requests: Vec<NamedRequest>,
    pub(crate) notes: Notes,
}

impl<'o> Steps<'o> {
    pub(crate) fn new(options: &'o Options) -> Result<Self, Problem> {
        let origin = options.origin.as_deref().map(Origin::parse).transpose()?;
        Ok(Self { options, origin, taken: HashSet::new(), requests: Vec::new(), notes: Notes::default() })
    }

    /// The origin so far: the given one, or that of the first request.
    pub(crate) fn origin(&self) -> Option<Origin> {
        self.origin.clone()
    }

    /// Names an origin where none is known yet.
    pub(crate) fn usual_origin(&mut self, origin: Origin) {
        self.origin.get_or_insert(origin);
    }

    /// Names what is left out.
    pub(crate) fn leave_out(&mut self, what: &str, why: &str) {
        self.notes.count(&format!("left out: {what}, {why}"));
    }

    /// Adds a request and gives its place; one to another origin is counted and left out.
    ///
    /// # Errors
    /// A method or header field that cannot be sent, or too many requests.
    pub(crate) fn add(
        &mut self,
        title: &str,
        url: Url,
        mut request: NamedRequest,
    ) -> Result<Option<usize>, Problem> {
        if let Some(method) = &request.method {
            check_method(method)?;
        }
        let origin = self.origin.get_or_insert_with(|| url.origin.clone());
        let is_other = *origin != url.origin;
        if is_other && !self.options.all_origins {
            self.notes.other_origin(url.origin);
            return Ok(None);
        }
        if self.requests.len() == REQUESTS_MAX {
            return Err(Problem::new(
                format!(
                    "there are more than {REQUESTS_MAX} requests, each of which would have results of its own"
                ),
                "import a part of the file, or write one request whose path takes lines from a feeder",
            ));
        }
        request.headers = self.headers(&request, &url.origin)?;
        if let Some(mut credentials) = url.credentials {
            if !credentials.contains(&b':') {
                credentials.push(b':');
            }
            let field = format!("Basic {}", STANDARD.encode(credentials));
            request.headers.entry("Authorization".to_owned()).or_insert(field);
        }
        let has_files =
            request.body_file.is_some() || request.multipart.iter().flatten().any(|part| part.file.is_some());
        if has_files {
            self.notes.count(FILES);
        }
        let has_body = request.body.is_some()
            || request.body_file.is_some()
            || request.json.is_some()
            || request.form.is_some()
            || request.multipart.is_some();
        let default_method = if has_body { "POST" } else { "GET" };
        request.method = request.method.filter(|method| method != default_method);
        request.origin = is_other.then(|| url.origin.to_string());
        request.path = url.path;
        request.name = self.name(title);
        self.requests.push(request);
        Ok(Some(self.requests.len() - 1))
    }

    fn headers(
        &mut self,
        request: &NamedRequest,
        origin: &Origin,
    ) -> Result<BTreeMap<String, String>, Problem> {
        let mut headers = BTreeMap::new();
        for (name, value) in &request.headers {
            let lower = name.to_ascii_lowercase();
            let is_host = lower == "host" && origin.is_host(value);
            let is_multipart = lower == "content-type" && request.multipart.is_some();
            if is_host || is_multipart || is_set_by_prony(&lower) {
                self.notes.count(DROPPED);
                continue;
            }
            check_header(name, value)?;
            headers.insert(name.clone(), value.trim().to_owned());
        }
        Ok(headers)
    }

    fn name(&mut self, title: &str) -> String {
        let title: String = title.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        let mut base: String = title.trim().chars().take(NAME_CHARS_MAX).collect();
        if base.is_empty() {
            base.push_str("request");
        }
        let mut name = base.clone();
        let mut count = 1_usize;
        while !self.taken.insert(name.clone()) {
            count += 1;
            name = format!("{base} {count}");
        }
        name
    }

    /// The scenario: a session in the order of the file, or a mix of equal shares.
    ///
    /// # Errors
    /// There is no request.
    pub(crate) fn finish(
        self,
        name: &str,
        description: String,
        session: Option<OnFailure>,
        load: Vec<String>,
    ) -> Result<Imported, Problem> {
        let Some(origin) = self.origin.filter(|_| !self.requests.is_empty()) else {
            return Err(match (&self.options.origin, self.notes.commonest_origin()) {
                (Some(wanted), Some(other)) => Problem::new(
                    format!("no request goes to {wanted}"),
                    format!("leave the origin out, or give the commonest one: {other}"),
                ),
                _ => Problem::new(
                    "there is no request in it that can be sent",
                    "give a file with at least one request of HTTP that stands in no condition and no loop",
                ),
            });
        };
        let mut requests = self.requests;
        if session.is_none() {
            requests.iter_mut().for_each(|request| request.think = None);
        }
        let think = session.map(|_| requests.iter().map(|request| mean_of(request.think.as_ref())).collect());
        let scenario = ScenarioFile {
            name: name.to_owned(),
            description: Some(description),
            requests,
            session: session.map(|on_failure| Session { on_failure, ..Session::default() }),
            ..ScenarioFile::default()
        };
        Ok(Imported {
            scenario,
            origin: origin.to_string(),
            bodies: Vec::new(),
            notes: self.notes.into_texts(),
            think,
            load,
        })
    }
}

fn mean_of(think: Option<&Think>) -> Nanos {
    match think {
        Some(Think::Constant { mean }) => *mean,
        Some(Think::Uniform { from, to }) => Nanos(u64::midpoint(from.unwrap_or_default().0, to.0)),
        _ => Nanos::ZERO,
    }
}
