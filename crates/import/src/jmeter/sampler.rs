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
        let method = self.property("HTTPSampler.method").unwrap_or("GET");
        let Some(method) = self.context.plain(self.element, method)? else {
            self.context.leave_out(self.element, "its method is known only during the load");
            return Ok(None);
        };
        let method = method.trim().to_ascii_uppercase();
        check_method(&method)?;
        let Some((origin, mut path)) = self.place()? else { return Ok(None) };
        let mut request = NamedRequest { method: Some(method.clone()), ..NamedRequest::default() };
        self.headers(&origin, &mut request)?;
        let arguments = self.arguments();
        // Values without names are the body, too.
        let is_nameless = |item: &Properties<'_>| item.value("Argument.name").is_none_or(str::is_empty);
        let has_body = !IN_QUERY.contains(&method.as_str());
        let is_raw = has_body && !arguments.is_empty() && arguments.iter().all(is_nameless);
        if is_raw || self.element.is("HTTPSampler.postBodyRaw") {
            let whole: String = arguments.iter().filter_map(|item| item.value("Argument.value")).collect();
            let body = self.context.text(self.element, &whole)?;
            request.body = (!body.is_empty()).then_some(body);
        } else if !has_body {
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

    /// A property of the sampler, or of the nearest defaults, as a number that is known before the load.
    fn number(&mut self, key: &str) -> Result<Option<f64>, Problem> {
        let mut holders = std::iter::once(self.element).chain(self.scope.defaults.iter().rev());
        match holders.find(|holder| holder.value(key).is_some()) {
            Some(holder) => self.context.number(holder, key),
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
            let goes_on = end == rest.len() && pieces.len() > 1;
            if goes_on || rest[..end].contains("${") {
                self.context.leave_out(self.element, "the server of its URL is known only during the load");
                return Ok(None);
            }
            let url = Url::parse(&format!("{scheme}://{}", &rest[..end]))?;
            if url.credentials.is_some() {
                self.context
                    .change(self.element, "the login of its URL is not sent: add an Authorization field");
            }
            let mut path = vec![Piece::Literal(rest[end..].to_owned())];
            path.extend(pieces.into_iter().skip(1));
            return Ok(Some((url.origin, path_of(&path))));
        }
        if let Some(origin) = self.origin()? {
            return Ok(Some((origin, path_of(&pieces))));
        }
        let is_named = self.property("HTTPSampler.domain").is_some();
        match self.fallback {
            Some(origin) => {
                if is_named {
                    let note = format!("servers that are known only during the load, replaced by {origin}");
                    self.context.notes.count(&note);
                }
                Ok(Some((origin.clone(), path_of(&pieces))))
            }
            None => {
                let why =
                    if is_named { "its server is known only during the load" } else { "it has no server" };
                self.context.leave_out(self.element, &format!("{why}: say where with --origin"));
                Ok(None)
            }
        }
    }

    /// The server that the plan names; `None` where it names none, or one that is known only during the load.
    fn origin(&mut self) -> Result<Option<Origin>, Problem> {
        let mut known = [const { String::new() }; 3];
        let keys = ["HTTPSampler.protocol", "HTTPSampler.domain", "HTTPSampler.port"];
        for (known, text) in known.iter_mut().zip(keys.map(|key| self.property(key))) {
            let Some(text) = text else { continue };
            // A variable that nothing sets stands there as it is.
            match self.context.plain(self.element, text)?.filter(|text| !text.contains("${")) {
                Some(text) => text.trim().clone_into(known),
                None => return Ok(None),
            }
        }
        let [scheme, domain, port] = known;
        if domain.is_empty() {
            return Ok(None);
        }
        let scheme = if scheme.is_empty() { "http".to_owned() } else { scheme.to_ascii_lowercase() };
        let is_bare_ipv6 = domain.contains(':') && !domain.starts_with('[');
        let host = if is_bare_ipv6 { format!("[{domain}]") } else { domain };
        let port = if port.is_empty() { String::new() } else { format!(":{port}") };
        Url::parse(&format!("{scheme}://{host}{port}")).map(|url| Some(url.origin))
    }

    /// Fields, of two of a name the nearer one.
    fn headers(&mut self, origin: &Origin, request: &mut NamedRequest) -> Result<(), Problem> {
        let mut fields: BTreeMap<String, (String, String)> = BTreeMap::new();
        for manager in &self.scope.headers {
            let mut own: BTreeMap<String, (String, String)> = BTreeMap::new();
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
                if own.insert(lower, (name, value)).is_some() {
                    self.context.change(manager, "of two fields of one name only the last is sent");
                }
            }
            fields.append(&mut own);
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
                Ok(set.map_or_else(|| sendable(&pieces), |set| encoded(&pieces, set)))
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
        if let Some(ms) = self.number("HTTPSampler.response_timeout")?.filter(|ms| *ms > 0.0) {
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
        request.expect = checks::expected(&self.scope.assertions, self.context)?;
        for extractor in &self.scope.extractors {
            captures::add(extractor, &mut request.capture, self.context);
        }
        self.rest();
        Ok(())
    }

    /// What a sampler has that a request does not.
    fn rest(&mut self) {
        if self.property("HTTPSampler.image_parser") == Some("true") {
            self.context
                .change(self.element, "resources that its page embeds are not loaded: add them as requests");
        }
        let charset = self.property("HTTPSampler.contentEncoding").unwrap_or("UTF-8");
        if !charset.eq_ignore_ascii_case("utf-8") && !charset.eq_ignore_ascii_case("utf8") {
            self.context.change(self.element, "its texts are sent as UTF-8");
        }
        for (key, how) in [
            ("HTTPSampler.proxyHost", "it goes to no proxy: give --proxy to the load"),
            ("HTTPSampler.connect_timeout", "its time for connecting is the load's: see --connect-timeout"),
            ("HTTPSampler.ipSource", "its source address is the load's: see --bind"),
        ] {
            if self.property(key).is_some() {
                self.context.change(self.element, how);
            }
        }
    }
}

/// A path fit for a request line.
fn path_of(pieces: &[Piece]) -> Vec<Piece> {
    let mut path = sendable(pieces);
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

/// As the plan has it, but for bytes that a request line cannot have.
fn sendable(pieces: &[Piece]) -> Vec<Piece> {
    let one = |piece: &Piece| match piece {
        Piece::Literal(text) => {
            Piece::Literal(percent_encoding::utf8_percent_encode(text, ENCODED).to_string())
        }
        expression @ Piece::Expression(_) => expression.clone(),
    };
    pieces.iter().map(one).collect()
}
