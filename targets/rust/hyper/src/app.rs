//! Routes and answers. Each answer is encoded for its request by serde_json.
//!
//! Parameters are taken as they stand in the path: none that is valid needs percent-encoding.
use std::error::Error;
use std::time::Instant;

use bytes::Bytes;
use common::contract::{Answer, Empty, Failure, Health, parse_count, records};
use common::files::{FileBody, Files};
use common::settings::Settings;
use common::token::Tokens;
use common::{log, runtime, times, upload};
use http_body_util::{Either, Full};
use hyper::body::Body;
use hyper::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Method, Request, Response, StatusCode};
use serde::Serialize;

/// What answers need; nothing is kept between requests.
pub struct App {
    files: Files,
    tokens: Tokens,
    logger: bool,
}

impl App {
    /// Opens nothing.
    pub fn new(settings: &Settings) -> Self {
        Self {
            files: Files::new(settings.files.clone()),
            tokens: Tokens::new(&settings.secret),
            logger: settings.logger,
        }
    }

    /// The answer to any request.
    pub async fn answer<B>(&self, request: Request<B>) -> Response<FileBody>
    where
        B: Body<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>>,
    {
        let (head, body) = request.into_parts();
        if !self.logger {
            return self.route(&head, body).await;
        }
        let begin = Instant::now();
        let answer = self.route(&head, body).await;
        let (method, path, status) = (&head.method, head.uri.path(), answer.status().as_u16());
        let duration = begin.elapsed();
        tracing::info!(target: log::TARGET, %method, %path, status, ?duration);
        answer
    }

    async fn route<B>(&self, head: &Parts, body: B) -> Response<FileBody>
    where
        B: Body<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>>,
    {
        match (&head.method, head.uri.path()) {
            (&Method::GET, "/ping") => told(Ok(Empty {})),
            (&Method::GET, "/health") => json(StatusCode::OK, &Health::OK),
            (&Method::GET, "/auth") => told(self.tokens.subject(&head.headers)),
            (&Method::POST, "/upload") => told(upload::sum(body).await),
            (&Method::GET, "/debug/runtime") => json(StatusCode::OK, &runtime::facts()),
            (&Method::GET, "/debug/requests") => times::text().map_or_else(no_path, plain),
            (&Method::GET, path) => self.with_parameter(path).await,
            _ => no_path(),
        }
    }

    async fn with_parameter(&self, path: &str) -> Response<FileBody> {
        match path.strip_prefix('/').and_then(|path| path.split_once('/')) {
            Some(("json", n)) if is_segment(n) => told(parse_count(n).map(records)),
            Some(("file", name)) if is_segment(name) => self.file(name).await,
            _ => no_path(),
        }
    }

    async fn file(&self, name: &str) -> Response<FileBody> {
        match self.files.body(name).await {
            Ok((body, length)) => {
                let mut answer = Response::new(body);
                let headers = answer.headers_mut();
                headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
                headers.insert(CONTENT_LENGTH, length.into());
                answer
            }
            Err(failure) => failed(failure),
        }
    }
}

fn is_segment(text: &str) -> bool {
    !text.is_empty() && !text.contains('/')
}

fn told<T: Serialize>(data: Result<T, Failure>) -> Response<FileBody> {
    match data {
        Ok(data) => json(StatusCode::OK, &Answer::ok(data)),
        Err(failure) => failed(failure),
    }
}

fn no_path() -> Response<FileBody> {
    failed(Failure::new(StatusCode::NOT_FOUND, "no such path"))
}

fn failed(failure: Failure) -> Response<FileBody> {
    json(failure.status(), &failure.into_answer())
}

fn plain(text: String) -> Response<FileBody> {
    let mut answer = Response::new(Either::Left(Full::new(text.into())));
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; version=0.0.4"));
    answer
}

fn json(status: StatusCode, value: &impl Serialize) -> Response<FileBody> {
    // Only a map with keys that are no texts fails, and no answer has a map.
    let bytes = serde_json::to_vec(value).unwrap_or_default();
    let mut answer = Response::new(Either::Left(Full::new(bytes.into())));
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    answer
}

#[cfg(test)]
mod tests {
    use common::contract_test::{Told, check, told};
    use common::settings::Reader;

    use super::*;

    fn app(variables: &[(&str, &str)]) -> App {
        let lookup =
            |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, v)| (*v).to_owned());
        let mut reader = Reader::new(&lookup);
        let settings = Settings::read(&mut reader);
        App::new(&reader.finish(settings).unwrap())
    }

    async fn ask(method: &str, path: &str, body: Vec<u8>) -> Told {
        let request = Request::builder().method(method).uri(path).body(Full::new(Bytes::from(body))).unwrap();
        told(app(&[]).answer(request).await).await
    }

    #[tokio::test]
    async fn the_contract_is_kept() {
        let app = app(&[]);
        for name in ["ping", "health", "json", "file", "auth", "upload"] {
            check(name, async |request| told(app.answer(request).await).await).await;
        }
    }

    #[tokio::test]
    async fn other_paths_and_methods_are_not_found() {
        for (method, path) in
            [("GET", "/"), ("GET", "/json/"), ("GET", "/json/1/2"), ("POST", "/ping"), ("GET", "/x/y")]
        {
            assert_eq!(
                ask(method, path, Vec::new()).await.status(),
                StatusCode::NOT_FOUND,
                "{method} {path}"
            );
        }
    }

    #[tokio::test]
    async fn a_body_that_is_too_long_is_told() {
        let answer = ask("POST", "/upload", vec![0; upload::BYTES_MAX + 1]).await;
        assert_eq!(answer.status(), StatusCode::PAYLOAD_TOO_LARGE);
        assert!(answer.body().starts_with(br#"{"code":413,"#), "{:?}", answer.body());
    }

    #[tokio::test]
    async fn the_runtime_is_told() {
        let answer = ask("GET", "/debug/runtime", Vec::new()).await;
        let facts: serde_json::Value = serde_json::from_slice(answer.body()).unwrap();
        assert!(facts["workers"].as_array().is_some_and(|workers| !workers.is_empty()), "{facts}");
    }

    #[tokio::test]
    async fn the_log_has_one_line_for_each_answer() {
        let path = std::env::temp_dir().join(format!("prony-hyper-log-{}", std::process::id()));
        let writer = log::writer(&path).unwrap();
        let guard = tracing::subscriber::set_default(writer);
        for logger in ["true", "false"] {
            let request = Request::get("/json/0").body(Full::new(Bytes::new())).unwrap();
            app(&[("LOGGER", logger)]).answer(request).await;
        }
        drop(guard);
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(text.lines().count(), 1, "{text}");
        assert!(text.contains("method=GET path=/json/0 status=400 duration="), "{text}");
    }
}
