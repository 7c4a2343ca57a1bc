//! Documents of OpenAPI 3.0 and 3.1, as JSON: one request for each operation, made of its examples.
//!
//! A document says what may be sent, not what is: a value without an example, a default, an enumeration or a constant is
//! made by its type only where any value does (`string`, numbers with their bounds); an operation that still lacks a
//! required value is left out and named.
//! Invariants: references within the document are followed, with a limit; nothing is dropped without a note.

mod example;
mod value;

use crate::error::{Problem, quoted};
use crate::imported::{Imported, Options};
use crate::steps::Steps;
use crate::texts::{self, Piece};
use crate::url::Url;
use example::Document;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use schema::scenario::{NamedRequest, OnFailure, StatusItem};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The methods of a path, in the order in which they are sent.
const METHODS: [&str; 7] = ["get", "head", "options", "post", "put", "patch", "delete"];
/// What a note calls variables that nobody sets.
const UNKNOWN: &str = "variables of the server";

/// Whether the begin of a JSON text is such a document.
pub(crate) fn is_document(begin: &str) -> bool {
    begin.contains("\"openapi\"")
}

pub(crate) fn read(
    name: &str,
    text: &str,
    description: String,
    options: &Options,
) -> Result<Imported, Problem> {
    let root: Value = value::read(text)?;
    let version = root["openapi"].as_str().unwrap_or_default();
    if !version.starts_with("3.") {
        let cause = match root["swagger"].as_str() {
            Some(old) => format!("this is Swagger {old}"),
            None => "this is no document of OpenAPI 3".to_owned(),
        };
        return Err(Problem::new(cause, "convert it to OpenAPI 3.0 or 3.1"));
    }
    let mut reader = Reader { document: Document::new(&root), steps: Steps::new(options)? };
    let base = reader.server(&root["servers"])?;
    let paths = root["paths"].as_object().cloned().unwrap_or_default();
    for (path, item) in &paths {
        let item = reader.document.followed(item);
        let shared = item["parameters"].as_array().cloned().unwrap_or_default();
        let base = match item["servers"].as_array() {
            Some(_) => reader.server(&item["servers"])?,
            None => base.clone(),
        };
        for method in METHODS {
            if let Some(operation) = item[method].as_object() {
                reader.operation(&base, path, method, operation, &shared)?;
            }
        }
    }
    let is_session = options.session;
    reader.steps.finish(name, description, is_session.then_some(OnFailure::GoOn), Vec::new())
}

struct Reader<'d, 'o> {
    document: Document<'d>,
    steps: Steps<'o>,
}

/// What a parameter came to: where it goes, its name, and its values as text.
struct Parameter {
    place: String,
    name: String,
    values: Vec<String>,
}

impl Reader<'_, '_> {
    /// The path that the server's URL begins with; its origin becomes that of the scenario.
    fn server(&mut self, servers: &Value) -> Result<String, Problem> {
        let servers = servers.as_array().map(Vec::as_slice).unwrap_or_default();
        let Some(server) = servers.first() else { return Ok(String::new()) };
        if servers.len() > 1 {
            self.steps.notes.count("servers beside the first left out");
        }
        let mut url = server["url"].as_str().unwrap_or("/").to_owned();
        if let Some(variables) = server["variables"].as_object() {
            for (name, variable) in variables {
                url = url.replace(&format!("{{{name}}}"), variable["default"].as_str().unwrap_or_default());
            }
        }
        if url.contains("://") {
            let url = Url::parse(&url)?;
            self.steps.usual_origin(url.origin);
            return Ok(url.path.trim_end_matches('/').to_owned());
        }
        // Relative to where the document was found, which is the server itself.
        Ok(url.trim_end_matches('/').to_owned())
    }

    fn operation(
        &mut self,
        base: &str,
        path: &str,
        method: &str,
        operation: &Map<String, Value>,
        shared: &[Value],
    ) -> Result<(), Problem> {
        let method = method.to_ascii_uppercase();
        let called = format!("{method} {path}");
        let title = operation.get("operationId").and_then(Value::as_str).unwrap_or(&called).to_owned();
        let own = operation.get("parameters").and_then(Value::as_array).cloned().unwrap_or_default();
        let Some(parameters) = self.parameters(&called, &own, shared) else { return Ok(()) };
        let mut made = NamedRequest { method: Some(method), ..NamedRequest::default() };
        let Some(address) = self.address(&called, &format!("{base}{path}"), &parameters) else {
            return Ok(());
        };
        let mut cookies = Vec::new();
        for parameter in &parameters {
            match parameter.place.as_str() {
                "header" => {
                    let value = self.escaped(&parameter.values.join(","));
                    made.headers.insert(parameter.name.clone(), value);
                }
                "cookie" => cookies.push(format!("{}={}", parameter.name, parameter.values.join(","))),
                _ => {}
            }
        }
        if !cookies.is_empty() {
            let value = self.escaped(&cookies.join("; "));
            made.headers.insert("Cookie".to_owned(), value);
        }
        if let Some(body) = operation.get("requestBody")
            && !self.body(&called, body, &mut made)
        {
            return Ok(());
        }
        made.expect.status = statuses(operation.get("responses"));
        if let Some(accept) = self.accepted(operation.get("responses")) {
            made.headers.entry("Accept".to_owned()).or_insert(accept);
        }
        self.security(&called, operation);
        let origin = self.steps.origin();
        let pieces = [Piece::Literal(address)];
        let url = match origin {
            Some(origin) => {
                Url::parse(&format!("{origin}{}", texts::text(&pieces, UNKNOWN, &mut self.steps.notes)))?
            }
            None => {
                return Err(Problem::new(
                    "the document names no server",
                    "name it: --origin http://127.0.0.1:8080",
                ));
            }
        };
        self.steps.add(&title, url, made)?;
        Ok(())
    }

    /// The parameters of an operation with their values; `None` where it cannot be sent.
    fn parameters(&mut self, called: &str, own: &[Value], shared: &[Value]) -> Option<Vec<Parameter>> {
        // Those of the operation stand above those of its path.
        let mut all: BTreeMap<(String, String), Value> = BTreeMap::new();
        for given in shared.iter().chain(own) {
            let given = self.document.followed(given).clone();
            let of = |key: &str| given[key].as_str().unwrap_or_default().to_owned();
            all.insert((of("in"), of("name")), given);
        }
        let mut found = Vec::new();
        for ((place, name), given) in all {
            let is_required = place == "path" || given["required"] == true;
            match self.document.parameter(&given) {
                Some(value) => found.push(Parameter { values: listed(&value), place, name }),
                None if is_required => {
                    let why = format!("its {place} parameter {} has no example", quoted(&name));
                    self.steps.leave_out(called, &why);
                    return None;
                }
                None => self.steps.notes.count(&format!(
                    "{place} parameters that are not required and have no example left out: {} of {called}",
                    quoted(&name)
                )),
            }
        }
        Some(found)
    }

    /// Path and query with the values put in.
    fn address(&mut self, called: &str, path: &str, parameters: &[Parameter]) -> Option<String> {
        let mut path = path.to_owned();
        let mut query = form_urlencoded::Serializer::new(String::new());
        let mut has_query = false;
        for parameter in parameters {
            match parameter.place.as_str() {
                "path" => {
                    let value = parameter.values.join(",");
                    let value = utf8_percent_encode(&value, NON_ALPHANUMERIC).to_string();
                    path = path.replace(&format!("{{{}}}", parameter.name), &value);
                }
                "query" => {
                    has_query = true;
                    // `style: form, explode: true`, the default: one pair a value.
                    parameter.values.iter().for_each(|value| {
                        query.append_pair(&parameter.name, value);
                    });
                }
                _ => {}
            }
        }
        if path.contains('{') {
            self.steps.leave_out(called, "its path has a parameter that the document does not describe");
            return None;
        }
        let query = query.finish();
        Some(if has_query { format!("{path}?{query}") } else { path })
    }

    /// Puts the body in; false where a required one has no example.
    fn body(&mut self, called: &str, body: &Value, made: &mut NamedRequest) -> bool {
        let body = self.document.followed(body).clone();
        let content = body["content"].as_object().cloned().unwrap_or_default();
        let is = |wanted: &str| {
            content.iter().find(|(media_type, _)| media_type.split(';').next() == Some(wanted))
        };
        let is_json =
            |media_type: &str| media_type.split(';').next().is_some_and(|kind| kind.ends_with("+json"));
        let chosen = is("application/json")
            .or_else(|| content.iter().find(|(media_type, _)| is_json(media_type)))
            .or_else(|| is("application/x-www-form-urlencoded"))
            .or_else(|| content.iter().find(|(media_type, _)| media_type.starts_with("text/")));
        let Some((media_type, given)) = chosen else {
            let kinds = content.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
            let why = format!("its body is {}, which has no example as text", quoted(&kinds));
            self.steps.leave_out(called, &why);
            return body["required"] != true;
        };
        let Some(example) = self.document.media(given) else {
            if body["required"] == true {
                self.steps.leave_out(called, "its body has no example");
                return false;
            }
            self.steps
                .notes
                .count(&format!("bodies that are not required and have no example left out: {called}"));
            return true;
        };
        if media_type.starts_with("application/x-www-form-urlencoded") {
            let fields = example.as_object().cloned().unwrap_or_default();
            let fields =
                fields.iter().map(|(key, value)| (key.clone(), self.escaped(&listed(value).join(","))));
            made.form = Some(fields.collect());
            return true;
        }
        let text = match &example {
            Value::String(text) if media_type.starts_with("text/") => text.clone(),
            other => other.to_string(),
        };
        made.body = Some(self.escaped(&text));
        made.headers.insert("Content-Type".to_owned(), media_type.clone());
        true
    }

    /// The media type that a right answer has first.
    fn accepted(&self, responses: Option<&Value>) -> Option<String> {
        let (_, response) = responses?.as_object()?.iter().find(|(code, _)| code.starts_with('2'))?;
        let content = self.document.followed(response)["content"].as_object()?;
        content.keys().next().cloned()
    }

    fn security(&mut self, called: &str, operation: &Map<String, Value>) {
        let of_all = &self.document.root()["security"];
        let wanted = operation.get("security").unwrap_or(of_all);
        let schemes = wanted.as_array().and_then(|all| all.first()).and_then(Value::as_object);
        for scheme in schemes.into_iter().flat_map(Map::keys) {
            self.steps.notes.count(&format!(
                "credentials left out, add a header field or a token pool: {} of {called}",
                quoted(scheme)
            ));
        }
    }

    fn escaped(&mut self, text: &str) -> String {
        texts::text(&[Piece::Literal(text.to_owned())], UNKNOWN, &mut self.steps.notes)
    }
}

/// The codes of right answers; none where the document has none.
fn statuses(responses: Option<&Value>) -> Vec<StatusItem> {
    let codes = responses.and_then(Value::as_object).into_iter().flat_map(Map::keys);
    codes
        .filter(|code| code.starts_with('2') || code.starts_with('3'))
        .filter_map(|code| match code.parse() {
            Ok(number) => Some(StatusItem::Code(number)),
            Err(_) => matches!(&code.to_ascii_lowercase()[..], "2xx" | "3xx")
                .then(|| StatusItem::Range(code.to_ascii_lowercase())),
        })
        .collect()
}

/// A value as texts: a list has several.
fn listed(value: &Value) -> Vec<String> {
    match value {
        Value::Array(all) => all.iter().flat_map(listed).collect(),
        Value::String(text) => vec![text.clone()],
        other => vec![other.to_string()],
    }
}
