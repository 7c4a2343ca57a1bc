//! Bodies of requests: raw, forms, files and GraphQL.

use super::{Pair, Reader, pairs, plain};
use crate::error::quoted;
use schema::scenario::{NamedRequest, Part};
use serde_json::{Value, json};

/// Puts a body into a request.
pub(super) fn put(body: &Value, made: &mut NamedRequest, title: &str, reader: &mut Reader<'_>) {
    if body["disabled"] == json!(true) {
        return;
    }
    match body["mode"].as_str() {
        None => {}
        Some("raw") => raw(body, made, reader),
        Some("urlencoded") => form(body, made, reader),
        Some("formdata") => parts(body, made, title, reader),
        Some("file") => match body["file"]["src"].as_str() {
            Some(src) => made.body_file = Some(src.to_owned()),
            None => {
                reader.steps.leave_out(&format!("the body of {}", quoted(title)), "its file is not named");
            }
        },
        Some("graphql") => {
            let (query, variables) = (&body["graphql"]["query"], &body["graphql"]["variables"]);
            let mut whole = json!({ "query": query });
            // Variables are a text with JSON in it.
            let parsed = variables.as_str().and_then(|text| serde_json::from_str::<Value>(text).ok());
            if let Some(variables) = parsed.or_else(|| variables.is_object().then(|| variables.clone())) {
                whole["variables"] = variables;
            }
            let text = reader.text(&whole.to_string());
            made.body = Some(text);
            made.headers.entry("Content-Type".to_owned()).or_insert("application/json".to_owned());
        }
        Some(other) => {
            let what = format!("the body of {}", quoted(title));
            reader.steps.leave_out(&what, &format!("its mode {} is not known", quoted(other)));
        }
    }
}

fn raw(body: &Value, made: &mut NamedRequest, reader: &mut Reader<'_>) {
    let text = plain(&body["raw"]);
    if text.is_empty() {
        return;
    }
    let language = body["options"]["raw"]["language"].as_str().unwrap_or_default();
    let media_type = match language {
        "json" => Some("application/json"),
        "xml" => Some("application/xml"),
        "html" => Some("text/html"),
        "javascript" => Some("application/javascript"),
        _ => None,
    };
    let is_named = made.headers.keys().any(|name| name.eq_ignore_ascii_case("content-type"));
    if let Some(media_type) = media_type.filter(|_| !is_named) {
        made.headers.insert("Content-Type".to_owned(), media_type.to_owned());
    }
    made.body = Some(reader.text(&text));
}

fn form(body: &Value, made: &mut NamedRequest, reader: &mut Reader<'_>) {
    let fields: Vec<Pair> = pairs(&body["urlencoded"]);
    let fields = fields.iter().filter_map(Pair::on).map(|(key, value)| (key.to_owned(), reader.text(&value)));
    made.form = Some(fields.collect());
}

fn parts(body: &Value, made: &mut NamedRequest, title: &str, reader: &mut Reader<'_>) {
    let mut made_parts = Vec::new();
    for field in
        body["formdata"].as_array().into_iter().flatten().filter(|field| field["disabled"] != json!(true))
    {
        let name = plain(&field["key"]);
        let content_type = field["contentType"].as_str().map(str::to_owned);
        if field["type"] != "file" {
            let text = reader.text(&plain(&field["value"]));
            made_parts.push(Part { name, text: Some(text), content_type, ..Part::default() });
            continue;
        }
        let files: Vec<String> = match &field["src"] {
            Value::Array(files) => files.iter().map(plain).collect(),
            Value::Null => Vec::new(),
            one => vec![plain(one)],
        };
        if files.is_empty() {
            let what = format!("the part {} of {}", quoted(&name), quoted(title));
            reader.steps.leave_out(&what, "its file is not named");
        }
        made_parts.extend(files.into_iter().map(|file| Part {
            name: name.clone(),
            file: Some(file),
            content_type: content_type.clone(),
            ..Part::default()
        }));
    }
    made.multipart = (!made_parts.is_empty()).then_some(made_parts);
}
