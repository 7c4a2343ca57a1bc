//! The page and its files, as they are asked for; without them a plain page that says how to get them.

use crate::error::ApiError;
use crate::lab::Shared;
use axum::extract::{Path, State};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use schema::said;

const PLAIN: &str = "<!doctype html>
<html lang=\"en\"><head><meta charset=\"utf-8\"><title>prony lab</title></head>
<body><h1>prony lab</h1>
<p>This binary was built without the lab's pages. Build them with <code>make ui</code> (Node 20 or later), then
<code>make build</code>.</p>
<p>The API works: <a href=\"/api/runs\">/api/runs</a>, <a href=\"/api/experiments\">/api/experiments</a>. The plain
report of a run is its <code>report.html</code>.</p>
</body></html>
";

pub(crate) async fn index(State(lab): State<Shared>) -> Response {
    let found = lab.assets.iter().find(|(name, _)| *name == "index.html");
    let page: &'static [u8] = found.map_or(PLAIN.as_bytes(), |(_, content)| content);
    send("text/html; charset=utf-8", "no-cache", page)
}

pub(crate) async fn asset(State(lab): State<Shared>, Path(name): Path<String>) -> Result<Response, ApiError> {
    let wanted = format!("assets/{name}");
    let found = lab.assets.iter().find(|(name, _)| *name == wanted);
    let (name, content) = found.ok_or_else(|| ApiError::not_found(said!("lab.no_file", "such file")))?;
    // Their names hold a digest of their content.
    Ok(send(kind(name), "public, max-age=31536000, immutable", content))
}

fn send(kind: &'static str, keep: &'static str, content: &'static [u8]) -> Response {
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(kind)),
        (header::CACHE_CONTROL, HeaderValue::from_static(keep)),
    ];
    (headers, content).into_response()
}

fn kind(name: &str) -> &'static str {
    match name.rsplit('.').next() {
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("woff2") => "font/woff2",
        Some("png") => "image/png",
        _ => "application/octet-stream",
    }
}
