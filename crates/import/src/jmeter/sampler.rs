//! An HTTP sampler with all that applies to it, as a request.

use super::captures;
use super::checks;
use super::element::{Element, Properties};
use super::pause;
use super::plan::Context;
use super::scope::Scope;
use super::values::{Piece, encoded, joined};
use crate::assemble::is_set_by_prony;
use crate::draft::{check_header, check_method};
use crate::error::Problem;
use crate::url::{ENCODED, Origin, Url};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC};
use schema::scenario::{NamedRequest, Part};
use std::collections::BTreeMap;
use units::Nanos;

/// What a form leaves as it is (RFC 3986 §2.3, unreserved).
const IN_FORM: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
/// Methods whose arguments stand in the query.
const IN_QUERY: [&str; 6] = ["GET", "HEAD", "OPTIONS", "DELETE", "TRACE", "PROPFIND"];

/// A request and where it goes.
pub(super) struct Made {
    pub(super) origin: Origin,
    pub(super) request: NamedRequest,
    /// Whether redirects are followed.
    pub(super) follows: bool,
    pub(super) keeps_alive: bool,
}

/// The request of a sampler; `None` where it cannot be sent, which is noted. `fallback` is where it goes if the plan
/// does not say so.
pub(super) fn made(
    element: &Element<'_>,
    scope: &Scope<'_>,
    fallback: Option<&Origin>,
    context: &mut Context<'_>,
) -> Result<Option<Made>, Problem> {
    Sampler { element, scope, fallback, context }.made().map_err(|problem| problem.at(element.line()))
}

struct Sampler<'s, 'a, 'n> {
    element: &'s Element<'a>,
    scope: &'s Scope<'a>,
    fallback: Option<&'s Origin>,
    context: &'s mut Context<'n>,
}

impl<'a> Sampler<'_, 'a, '_> {
    fn made(mut self) -> Result<Option<Made>, Problem> {
        let method =
            self.known("HTTPSampler.method")?.unwrap_or_else(|| "GET".to_owned()).to_ascii_uppercase();
        check_method(&method)?;
        let Some((origin, mut path)) = self.place()? else { return Ok(None) };
        let mut request = NamedRequest { method: Some(method.clone()), ..NamedRequest::default() };
        self.headers(&origin, &mut request)?;
        let arguments = self.arguments();
        if self.element.is("HTTPSampler.postBodyRaw") {
            let whole: String = arguments.iter().filter_map(|item| item.value("Argument.value")).collect();
            let body = self.context.text(self.element, &whole)?;
            request.body = (!body.is_empty()).then_some(body);
        } else if IN_QUERY.contains(&method.as_str()) {
            let query = self.encoded(&arguments)?;
            if !query.is_empty() {
                path.push(Piece::Literal(if joined(&path).contains('?') { "&" } else { "?" }.to_owned()));
                path.extend(query);
            }
        } else {
            self.form(&arguments, &mut request)?;
        }
        self.files(&mut request)?;
        request.path = joined(&path);
        self.surroundings(&mut request)?;
        // What says the same when it is left out.
        let has_body = request.body.is_some() || request.body_file.is_some() || request.multipart.is_some();
        request.method = (method != if has_body { "POST" } else { "GET" }).then_some(method);
        let follows =
            self.element.is("HTTPSampler.follow_redirects") || self.element.is("HTTPSampler.auto_redirects");
        let keeps_alive = self.element.value("HTTPSampler.use_keepalive") != Some("false");
        Ok(Some(Made { origin, request, follows, keeps_alive }))
    }

    /// A property of the sampler, or of the nearest defaults.
    fn property(&self, key: &str) -> Option<&'a str> {
        let defaults = self.scope.defaults.iter().rev();
        self.element.value(key).or_else(|| defaults.into_iter().find_map(|defaults| defaults.value(key)))
    }

    /// The same as it is before the load; `None` where it is not known then.
    fn known(&mut self, key: &str) -> Result<Option<String>, Problem> {
        match self.property(key) {
            Some(text) => Ok(self.context.plain(self.element, text)?.map(|text| text.trim().to_owned())),
            None => Ok(None),
        }
    }

    /// Where the request goes, and its path.
    fn place(&mut self) -> Result<Option<(Origin, Vec<Piece>)>, Problem> {
        let path = self.property("HTTPSampler.path").unwrap_or_default();
        let pieces = self.context.values.pieces(path, self.context.notes)?;
        // A path may be a whole URL.
        if let Some(Piece::Literal(begin)) = pieces.first()
            && let Some((scheme, rest)) = begin.split_once("://")
            && matches!(scheme.to_ascii_lowercase().as_str(), "http" | "https")
        {
            let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
            let url = Url::parse(&format!("{scheme}://{}", &rest[..end]))?;
            if url.credentials.is_some() {
                self.context
                    .change(self.element, "the login of its URL is not sent: add an Authorization field");
            }
            let mut path = vec![Piece::Literal(rest[end..].to_owned())];
            path.extend(pieces.into_iter().skip(1));
            return Ok(Some((url.origin, sendable(path))));
        }
        match self.origin()? {
            Some(origin) => Ok(Some((origin, sendable(pieces)))),
            None => {
                let why = "its server is known only during the load: say where with --origin";
                self.context.leave_out(self.element, why);
                Ok(None)
            }
        }
    }

    fn origin(&mut self) -> Result<Option<Origin>, Problem> {
        let Some(domain) = self.known("HTTPSampler.domain")?.filter(|domain| is_host(domain)) else {
            return Ok(self.fallback.cloned());
        };
        let scheme = self.known("HTTPSampler.protocol")?.unwrap_or_default().to_ascii_lowercase();
        let scheme = if scheme.is_empty() || scheme.contains("${") { "http".to_owned() } else { scheme };
        let host =
            if domain.contains(':') && !domain.starts_with('[') { format!("[{domain}]") } else { domain };
        let port = self.known("HTTPSampler.port")?.filter(|port| !port.is_empty() && !port.contains("${"));
        let port = port.map(|port| format!(":{port}")).unwrap_or_default();
        Url::parse(&format!("{scheme}://{host}{port}")).map(|url| Some(url.origin))
    }

    /// Fields, of two of a name the nearer one.
    fn headers(&mut self, origin: &Origin, request: &mut NamedRequest) -> Result<(), Problem> {
        let mut fields: BTreeMap<String, (String, String)> = BTreeMap::new();
        for manager in &self.scope.headers {
            for item in manager.properties().items("HeaderManager.headers") {
                let name = item.value("Header.name").unwrap_or_default();
                let Some(name) = self.context.plain(manager, name)? else {
                    self.context
                        .change(manager, "a field whose name is known only during the load is not sent");
                    continue;
                };
                let name = name.trim().to_owned();
                let value =
                    self.context.text(manager, item.value("Header.value").unwrap_or_default().trim())?;
                if name.is_empty() {
                    continue;
                }
                check_header(&name, &value).map_err(|problem| problem.at(item.line()))?;
                let lower = name.to_ascii_lowercase();
                if is_set_by_prony(&lower) || (lower == "host" && origin.is_host(&value)) {
                    self.context.notes.count(crate::assemble::DROPPED);
                    continue;
                }
                fields.insert(lower, (name, value));
            }
        }
        request.headers = fields.into_values().collect();
        Ok(())
    }

    fn arguments(&self) -> Vec<Properties<'a>> {
        let of = |element: &Element<'a>| -> Vec<Properties<'a>> {
            let part = element.properties().part("HTTPsampler.Arguments");
            part.into_iter().flat_map(|part| part.items("Arguments.arguments")).collect()
        };
        // Those of the defaults are sent as well.
        let mut all: Vec<_> = self.scope.defaults.iter().flat_map(of).collect();
        all.extend(of(self.element));
        all
    }

    /// `name=value&…`, encoded where the plan says so.
    fn encoded(&mut self, arguments: &[Properties<'a>]) -> Result<Vec<Piece>, Problem> {
        let mut whole: Vec<Piece> = Vec::new();
        for item in arguments {
            let set: Option<&'static AsciiSet> =
                (item.value("HTTPArgument.always_encode") != Some("false")).then_some(IN_FORM);
            let mut read = |text: &str| -> Result<Vec<Piece>, Problem> {
                let pieces = self.context.values.pieces(text, self.context.notes)?;
                Ok(set.map_or_else(|| sendable_query(&pieces), |set| encoded(&pieces, set)))
            };
            let name = read(item.value("Argument.name").unwrap_or_default())?;
            let value = read(item.value("Argument.value").unwrap_or_default())?;
            if name.is_empty() && value.is_empty() {
                continue;
            }
            if !whole.is_empty() {
                whole.push(Piece::Literal("&".to_owned()));
            }
            let has_equals = !name.is_empty() && item.value("HTTPArgument.use_equals") != Some("false");
            whole.extend(name);
            if has_equals {
                whole.push(Piece::Literal("=".to_owned()));
            }
            whole.extend(value);
        }
        Ok(whole)
    }

    /// Arguments of a method with a body: a form, or parts.
    fn form(&mut self, arguments: &[Properties<'a>], request: &mut NamedRequest) -> Result<(), Problem> {
        let has_files = !self.file_items().is_empty();
        if self.element.is("HTTPSampler.DO_MULTIPART_POST") || has_files {
            let mut parts = Vec::new();
            for item in arguments {
                let name = item.value("Argument.name").unwrap_or_default();
                let Some(name) = self.context.plain(self.element, name)?.filter(|name| !name.is_empty())
                else {
                    self.context.change(
                        self.element,
                        "a part without a name that is known before the load is not sent",
                    );
                    continue;
                };
                let text =
                    self.context.text(self.element, item.value("Argument.value").unwrap_or_default())?;
                let content_type = item.value("HTTPArgument.content_type").filter(|text| !text.is_empty());
                parts.push(Part {
                    name,
                    text: Some(text),
                    content_type: content_type.map(str::to_owned),
                    ..Part::default()
                });
            }
            request.multipart = (!parts.is_empty()).then_some(parts);
            return Ok(());
        }
        let body = joined(&self.encoded(arguments)?);
        if body.is_empty() {
            return Ok(());
        }
        request.body = Some(body);
        let has_type = request.headers.keys().any(|name| name.eq_ignore_ascii_case("content-type"));
        if !has_type {
            request.headers.insert("Content-Type".to_owned(), "application/x-www-form-urlencoded".to_owned());
        }
        Ok(())
    }

    fn file_items(&self) -> Vec<Properties<'a>> {
        let part = self.element.properties().part("HTTPsampler.Files");
        part.into_iter().flat_map(|part| part.items("HTTPFileArgs.files")).collect()
    }

    fn files(&mut self, request: &mut NamedRequest) -> Result<(), Problem> {
        for item in self.file_items() {
            let path = self.context.plain(self.element, item.value("File.path").unwrap_or_default())?;
            let Some(path) = path.filter(|path| !path.is_empty() && !path.contains("${")) else {
                self.context
                    .change(self.element, "a file whose path is known only during the load is not sent");
                continue;
            };
            self.context.notes.count(crate::assemble::FILES);
            let name = self.context.plain(self.element, item.value("File.paramname").unwrap_or_default())?;
            let media = item.value("File.mimetype").filter(|media| !media.is_empty()).map(str::to_owned);
            match name.filter(|name| !name.is_empty()) {
                Some(name) => {
                    let part = Part { name, file: Some(path), content_type: media, ..Part::default() };
                    request.multipart.get_or_insert_default().push(part);
                }
                None if request.body.is_none()
                    && request.multipart.is_none()
                    && request.body_file.is_none() =>
                {
                    request.body_file = Some(path);
                    if let Some(media) = media {
                        request.headers.entry("Content-Type".to_owned()).or_insert(media);
                    }
                }
                None => {
                    self.context.change(self.element, "a file without a name is sent only as the whole body");
                }
            }
        }
        if request.multipart.is_some() {
            // prony writes the boundary.
            request.headers.retain(|name, _| !name.eq_ignore_ascii_case("content-type"));
        }
        Ok(())
    }

    /// Times, checks, captures, and what a sampler has that prony does not.
    fn surroundings(&mut self, request: &mut NamedRequest) -> Result<(), Problem> {
        if let Some(ms) =
            self.context.number(self.element, "HTTPSampler.response_timeout")?.filter(|ms| *ms > 0.0)
        {
            request.timeout = Some(Nanos((ms.min(86_400_000.0) * 1e6) as u64));
        }
        if let Some(timer) = pause::sum(&self.scope.timers) {
            let (think, is_changed) = pause::think(timer);
            if is_changed {
                self.context.change(self.element, "the pause before it is cut to what a think time can be");
            } else if pause::is_approximate(&self.scope.timers) {
                self.context.change(
                    self.element,
                    "the sum of the timers before it keeps its mean and deviation, under a normal law",
                );
            }
            request.think = Some(think);
        }
        for assertion in &self.scope.assertions {
            checks::add(assertion, &mut request.expect, self.context)?;
        }
        for extractor in &self.scope.extractors {
            captures::add(extractor, &mut request.capture, self.context)?;
        }
        if self.property("HTTPSampler.image_parser") == Some("true") {
            self.context
                .change(self.element, "resources that its page embeds are not loaded: add them as requests");
        }
        let charset = self.property("HTTPSampler.contentEncoding").unwrap_or("UTF-8");
        if !charset.eq_ignore_ascii_case("utf-8") && !charset.eq_ignore_ascii_case("utf8") {
            self.context.change(self.element, "its texts are sent as UTF-8");
        }
        if self.property("HTTPSampler.proxyHost").is_some() {
            self.context.change(self.element, "it goes to no proxy: give --proxy to the load");
        }
        Ok(())
    }
}

/// A host that is known: what nothing sets stands there as `${…}`.
fn is_host(domain: &str) -> bool {
    !domain.is_empty() && !domain.contains("${")
}

/// A path fit for a request line.
fn sendable(pieces: Vec<Piece>) -> Vec<Piece> {
    let mut path: Vec<Piece> = pieces
        .into_iter()
        .map(|piece| match piece {
            Piece::Literal(text) => {
                Piece::Literal(percent_encoding::utf8_percent_encode(&text, ENCODED).to_string())
            }
            expression @ Piece::Expression(_) => expression,
        })
        .collect();
    // A fragment is the browser's.
    for place in 0..path.len() {
        if let Piece::Literal(text) = &mut path[place]
            && let Some(fragment) = text.find('#')
        {
            text.truncate(fragment);
            path.truncate(place + 1);
            break;
        }
    }
    // What an expression begins with is not known here.
    match path.first_mut() {
        Some(Piece::Literal(begin)) if !begin.starts_with('/') => begin.insert(0, '/'),
        None => path.push(Piece::Literal("/".to_owned())),
        Some(_) => {}
    }
    path
}

fn sendable_query(pieces: &[Piece]) -> Vec<Piece> {
    let one = |piece: &Piece| match piece {
        Piece::Literal(text) => {
            Piece::Literal(percent_encoding::utf8_percent_encode(text, ENCODED).to_string())
        }
        expression @ Piece::Expression(_) => expression.clone(),
    };
    pieces.iter().map(one).collect()
}
