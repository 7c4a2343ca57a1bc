//! Collections of Postman, format 2.0 and 2.1, as its applications export them.
//!
//! Folders are names; variables of the collection are put in, those that a script takes from an answer are captured, and
//! Postman's dynamic ones become expressions where prony has an equal. What only a program can say (scripts) is read line
//! by line: what is a check or takes a value is kept, every other line is named.
//! Invariants: nothing is dropped without a note; folders and texts have limits.

mod body;
mod scripts;
mod variables;

use crate::error::{Problem, quoted};
use crate::imported::{Imported, Options};
use crate::steps::Steps;
use crate::texts;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use schema::scenario::{NamedRequest, OnFailure};
use serde::Deserialize;
use serde_json::Value;
use variables::{UNKNOWN, Variables};

/// Folders within folders.
const DEPTH_MAX: usize = 64;

#[derive(Deserialize)]
struct Collection {
    #[serde(default)]
    item: Vec<Item>,
    #[serde(default)]
    variable: Vec<Pair>,
    #[serde(default)]
    auth: Option<Value>,
    #[serde(default)]
    event: Vec<scripts::Script>,
}

/// A folder or a request.
#[derive(Deserialize)]
struct Item {
    #[serde(default)]
    name: String,
    item: Option<Vec<Item>>,
    request: Option<Request>,
    #[serde(default)]
    event: Vec<scripts::Script>,
    #[serde(default)]
    auth: Option<Value>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Request {
    Url(String),
    Whole(Box<Whole>),
}

#[derive(Deserialize)]
struct Whole {
    #[serde(default)]
    method: Option<String>,
    #[serde(default)]
    header: Value,
    #[serde(default)]
    body: Option<Value>,
    #[serde(default)]
    url: Value,
    #[serde(default)]
    auth: Option<Value>,
}

/// A name with its value, as headers, queries, variables and forms have them.
#[derive(Clone, Debug, Default, Deserialize)]
struct Pair {
    #[serde(default)]
    key: Option<String>,
    #[serde(default)]
    value: Value,
    #[serde(default)]
    disabled: bool,
}

impl Pair {
    /// Name and value, unless it is switched off.
    fn on(&self) -> Option<(&str, String)> {
        let key = self.key.as_deref().filter(|key| !key.is_empty() && !self.disabled)?;
        Some((key, plain(&self.value)))
    }
}

/// A value as text; nothing where there is none.
fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// A list of pairs, of whatever form; anything else has none.
fn pairs(value: &Value) -> Vec<Pair> {
    serde_json::from_value(value.clone()).unwrap_or_default()
}

/// Whether a JSON text is a collection: its `info` names the schema.
pub(crate) fn is_collection(begin: &str) -> bool {
    begin.contains("schema.getpostman.com") || begin.contains("\"_postman_id\"")
}

pub(crate) fn read(
    name: &str,
    text: &str,
    description: String,
    options: &Options,
) -> Result<Imported, Problem> {
    let collection: Collection = serde_json::from_str(text).map_err(|error| {
        let what = error.to_string();
        let what = what.split(" at line ").next().unwrap_or_default().to_owned();
        Problem::new(
            format!("this is no collection of Postman: {what}"),
            "export it again, as Collection v2.1",
        )
        .at(error.line().max(1))
    })?;
    let mut reader = Reader { steps: Steps::new(options)?, variables: Variables::default(), captures: false };
    for (key, value) in collection.variable.iter().filter_map(Pair::on) {
        reader.variables.put(key, &value);
    }
    reader.scripts_without_request(&collection.event, "the collection");
    reader.items(&collection.item, &mut Vec::new(), collection.auth.as_ref())?;
    let is_session = options.session || reader.captures;
    if reader.captures && !options.session {
        reader
            .steps
            .notes
            .count("values are taken from answers, so the requests are a session in their order");
    }
    // The runner goes on after a failed request.
    reader.steps.finish(name, description, is_session.then_some(OnFailure::GoOn), Vec::new())
}

struct Reader<'o> {
    steps: Steps<'o>,
    variables: Variables,
    /// Whether a value was captured.
    captures: bool,
}

impl Reader<'_> {
    fn items(&mut self, items: &[Item], path: &mut Vec<String>, auth: Option<&Value>) -> Result<(), Problem> {
        if path.len() > DEPTH_MAX {
            return Err(Problem::new(
                format!("folders are more than {DEPTH_MAX} deep"),
                "export a folder of the collection on its own",
            ));
        }
        for item in items {
            let auth = item.auth.as_ref().or(auth);
            if let Some(inner) = &item.item {
                self.scripts_without_request(&item.event, &format!("the folder {}", quoted(&item.name)));
                path.push(item.name.clone());
                self.items(inner, path, auth)?;
                path.pop();
            }
            if let Some(request) = &item.request {
                let title = path.iter().chain([&item.name]).cloned().collect::<Vec<_>>().join(" / ");
                self.request(&title, request, &item.event, auth)?;
            }
        }
        Ok(())
    }

    fn request(
        &mut self,
        title: &str,
        request: &Request,
        events: &[scripts::Script],
        auth: Option<&Value>,
    ) -> Result<(), Problem> {
        let empty = Value::Null;
        let (method, header, body, url, auth) = match request {
            Request::Url(url) => (None, &empty, None, Value::String(url.clone()), auth),
            Request::Whole(whole) => {
                let auth = whole.auth.as_ref().or(auth);
                (whole.method.as_deref(), &whole.header, whole.body.as_ref(), whole.url.clone(), auth)
            }
        };
        let at =
            |problem: Problem| Problem { cause: format!("{}: {}", quoted(title), problem.cause), ..problem };
        let mut made =
            NamedRequest { method: Some(method.unwrap_or("GET").to_owned()), ..NamedRequest::default() };
        for (key, value) in headers(header) {
            let value = self.text(&value);
            made.headers.insert(key, value);
        }
        if let Some(body) = body {
            body::put(body, &mut made, title, self);
        }
        let address = address(&url);
        let mut pieces = self.variables.pieces(&address);
        if let Some(pair) = self.auth(auth, &mut made, title) {
            let between = if address.contains('?') { '&' } else { '?' };
            pieces.push(texts::Piece::Literal(format!("{between}{pair}")));
        }
        let origin = self.steps.origin();
        let url = texts::url(&pieces, origin.as_ref(), UNKNOWN, &mut self.steps.notes).map_err(at)?;
        for event in events {
            self.captures |= event.read(title, &mut made, &mut self.variables, &mut self.steps);
        }
        self.steps.add(title, url, made).map_err(at)?;
        Ok(())
    }

    /// A text with its variables put in.
    fn text(&mut self, text: &str) -> String {
        texts::text(&self.variables.pieces(text), UNKNOWN, &mut self.steps.notes)
    }

    fn scripts_without_request(&mut self, events: &[scripts::Script], of: &str) {
        for event in events.iter().filter(|event| !event.is_empty()) {
            let what = format!("the {} script of {of}", event.listen);
            self.steps.leave_out(&what, "only those of requests are read");
        }
    }

    /// Puts credentials in; gives what the query gets.
    fn auth(&mut self, auth: Option<&Value>, made: &mut NamedRequest, title: &str) -> Option<String> {
        let auth = auth?;
        let kind = auth["type"].as_str().unwrap_or_default();
        let of = |name: &str| -> Option<String> {
            let all = &auth[kind];
            // 2.0 has a table, 2.1 a list.
            let listed = pairs(all)
                .iter()
                .filter_map(|pair| pair.on().map(|(k, v)| (k.to_owned(), v)))
                .find(|(k, _)| k == name);
            listed.map(|(_, value)| value).or_else(|| all.get(name).map(plain))
        };
        match kind {
            "" | "noauth" => {}
            "bearer" => {
                let token = self.text(&of("token").unwrap_or_default());
                made.headers.entry("Authorization".to_owned()).or_insert(format!("Bearer {token}"));
            }
            "basic" => {
                let (user, password) =
                    (of("username").unwrap_or_default(), of("password").unwrap_or_default());
                let whole = texts::plain(&self.variables.pieces(&format!("{user}:{password}")));
                let Some(whole) = whole else {
                    self.steps.leave_out(
                        &format!("the basic credentials of {}", quoted(title)),
                        "they are not known before the load",
                    );
                    return None;
                };
                let field = format!("Basic {}", STANDARD.encode(whole));
                made.headers.entry("Authorization".to_owned()).or_insert(field);
            }
            "apikey" => {
                let (key, value) = (of("key").unwrap_or_default(), of("value").unwrap_or_default());
                if of("in").as_deref() == Some("query") {
                    let plain = texts::plain(&self.variables.pieces(&value))?;
                    return Some(
                        form_urlencoded::Serializer::new(String::new()).append_pair(&key, &plain).finish(),
                    );
                }
                let value = self.text(&value);
                made.headers.entry(key).or_insert(value);
            }
            other => self.steps.leave_out(
                &format!("the {} authorization of {}", quoted(other), quoted(title)),
                "prony has no such signature: set a header field",
            ),
        }
        None
    }
}

/// Header fields: a list, or one text with a field a line.
fn headers(value: &Value) -> Vec<(String, String)> {
    if let Value::String(text) = value {
        let field = |line: &str| {
            let (key, value) = line.split_once(':')?;
            Some((key.trim().to_owned(), value.trim().to_owned()))
        };
        return text.lines().filter_map(field).collect();
    }
    pairs(value).iter().filter_map(|pair| pair.on().map(|(key, value)| (key.to_owned(), value))).collect()
}

/// The URL as text: `raw`, with path variables put in and without what is switched off.
fn address(url: &Value) -> String {
    let Value::Object(parts) = url else { return plain(url) };
    let mut address =
        parts.get("raw").map(plain).filter(|raw| !raw.is_empty()).unwrap_or_else(|| joined(url));
    for (key, value) in pairs(&url["variable"]).iter().filter_map(Pair::on) {
        let (before, query) = match address.split_once('?') {
            Some((before, query)) => (before.to_owned(), format!("?{query}")),
            None => (address.clone(), String::new()),
        };
        let segments = before
            .split('/')
            .map(|segment| if segment == format!(":{key}") { value.as_str() } else { segment });
        address = segments.collect::<Vec<_>>().join("/") + &query;
    }
    address
}

/// A URL that was taken apart.
fn joined(url: &Value) -> String {
    let list = |value: &Value, between: &str| match value {
        Value::Array(parts) => parts.iter().map(plain).collect::<Vec<_>>().join(between),
        other => plain(other),
    };
    let protocol = url["protocol"].as_str().map_or_else(String::new, |protocol| format!("{protocol}://"));
    let port = url["port"].as_str().map_or_else(String::new, |port| format!(":{port}"));
    let query: Vec<String> = pairs(&url["query"])
        .iter()
        .filter_map(|pair| pair.on().map(|(key, value)| format!("{key}={value}")))
        .collect();
    let query = if query.is_empty() { String::new() } else { format!("?{}", query.join("&")) };
    format!("{protocol}{}{port}/{}{query}", list(&url["host"], "."), list(&url["path"], "/"))
}
