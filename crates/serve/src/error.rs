//! Errors: of the server as it starts, and of one request. Each has its cause and its remedy.

use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use index::IndexError;
use record::RecordError;
use schema::lab::LabError;
use schema::said;
use schema::said::Said;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

/// Why the lab cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The folder of runs.
    #[error("there is no folder {}\n  remedy: name the folder of the runs, as in `prony serve runs`, or make it", .0.display())]
    NoRuns(PathBuf),
    /// The folder of experiments that was named.
    #[error("there is no folder {}\n  remedy: name the folder of the experiment files with --experiments, or leave it out", .0.display())]
    NoExperiments(PathBuf),
    /// The address.
    #[error("cannot listen on {addr}: {source}\n  remedy: {}", listen_remedy(source))]
    Listen {
        /// Which.
        addr: SocketAddr,
        /// The system's reason.
        source: io::Error,
    },
    /// An address that others can reach, without a token.
    #[error(
        "{0} can be reached from other hosts, and no token is set\n  remedy: listen on 127.0.0.1, or name a file with a token by --token-file"
    )]
    NeedsToken(SocketAddr),
    /// The file with the token.
    #[error("the token in {} cannot be used: {cause}\n  remedy: {remedy}", path.display())]
    Token {
        /// Which file.
        path: PathBuf,
        /// What is wrong.
        cause: String,
        /// What to do.
        remedy: String,
    },
    /// The index.
    #[error(transparent)]
    Index(#[from] IndexError),
    /// The system refused a thread, a clock or randomness.
    #[error("cannot {what}: {source}")]
    System {
        /// What was tried.
        what: &'static str,
        /// The reason.
        source: io::Error,
    },
}

fn listen_remedy(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::AddrInUse => {
            "choose another port with --listen 127.0.0.1:PORT, or port 0 for a free one"
        }
        io::ErrorKind::PermissionDenied => "choose a port from 1024 on with --listen 127.0.0.1:PORT",
        _ => "name an address of this host with --listen ADDR:PORT",
    }
}

/// Why a request is refused.
#[derive(Debug)]
pub(crate) struct ApiError {
    pub(crate) status: StatusCode,
    /// Boxed: a result is as large as its larger half.
    pub(crate) error: Box<LabError>,
}

impl ApiError {
    pub(crate) fn new(status: StatusCode, cause: impl Into<Said>, remedy: impl Into<Said>) -> Self {
        Self { status, error: Box::new(LabError { cause: cause.into(), remedy: remedy.into() }) }
    }

    pub(crate) fn not_found(what: Said) -> Self {
        Self::new(
            StatusCode::NOT_FOUND,
            said!("lab.not_found", "there is no {what}", what),
            said!("lab.see_guide_to_runs", "see GET /api/runs and the guide to prony serve"),
        )
    }

    /// Splits a text of cause and remedy as prony's errors print it.
    pub(crate) fn told(status: StatusCode, text: impl Into<Said>) -> Self {
        let text = text.into();
        let see_log = || said!("lab.see_log", "see the log of prony serve");
        match text.split_once("\n  remedy: ") {
            Some((cause, remedy)) => Self::new(status, cause, remedy),
            None => Self::new(status, text, see_log()),
        }
    }

    pub(crate) fn io(path: &Path, source: &io::Error) -> Self {
        let status = match source.kind() {
            io::ErrorKind::NotFound => StatusCode::NOT_FOUND,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Self::new(
            status,
            said!("lab.cannot_read", "cannot read {name}: {why}", name, why = Said::from(source.to_string())),
            said!("lab.see_run_folder", "see whether the run folder has this file"),
        )
    }
}

impl From<IndexError> for ApiError {
    fn from(error: IndexError) -> Self {
        let status = match error {
            IndexError::NoRun { .. } => StatusCode::NOT_FOUND,
            IndexError::Label { .. } => StatusCode::UNPROCESSABLE_ENTITY,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Self::told(status, error.to_string())
    }
}

impl From<RecordError> for ApiError {
    fn from(error: RecordError) -> Self {
        let status = match error {
            RecordError::NoRun(_) => StatusCode::NOT_FOUND,
            _ => StatusCode::UNPROCESSABLE_ENTITY,
        };
        Self::told(status, error.to_string())
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut response = json(&self.error);
        *response.status_mut() = self.status;
        if self.status == StatusCode::UNAUTHORIZED {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

/// Never kept by a browser: runs change.
const NO_STORE: (HeaderName, HeaderValue) = (header::CACHE_CONTROL, HeaderValue::from_static("no-store"));

/// An answer in JSON.
pub(crate) fn json(value: &impl serde::Serialize) -> Response {
    match schema::json::line(value) {
        Ok(text) => json_text(text),
        Err(error) => {
            let error = LabError {
                cause: said!(
                    "lab.answer_unwritable",
                    "an answer cannot be written: {why}",
                    why = Said::from(error.to_string())
                ),
                remedy: said!("lab.report_it", "report it"),
            };
            let text = serde_json::to_vec(&error).unwrap_or_default();
            (StatusCode::INTERNAL_SERVER_ERROR, json_text(text)).into_response()
        }
    }
}

/// An answer that is JSON already.
pub(crate) fn json_text(text: impl Into<axum::body::Body>) -> Response {
    let kind = (header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    ([kind, NO_STORE], text.into()).into_response()
}
