//! Files of a run folder that can be downloaded: a fixed list of names.
//!
//! Invariants: a file is opened beneath the folder of runs by the kernel's own check, without links on the way; it is
//! sent as an attachment, never shown by the browser as part of the lab; a reader who stops is let go.

use crate::blocking::blocking;
use crate::error::ApiError;
use crate::lab::Shared;
use crate::live::Received;
use axum::body::{Body, Bytes};
use axum::extract::{Path, State};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use rustix::fs::{Mode, OFlags, ResolveFlags};
use schema::lab::FileEntry;
use schema::said;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path as FilePath;
use tokio::sync::mpsc;

/// Files of a run.
const OF_RUN: [&str; 9] = [
    "run.json",
    "analysis.json",
    "report.html",
    "report.md",
    "results.csv",
    "profiles.json",
    "segments.json",
    "spans.json",
    "live.json",
];
/// Files of a trial.
const OF_TRIAL: [&str; 9] = [
    "trial.json",
    "intervals.ndjson",
    "counters.ndjson",
    "windows.ndjson",
    "latency.hlog",
    "signals.json",
    "segment.json",
    "target.log",
    "build.log",
];
/// The experiment file as it was read: it stands in `run.json`.
const EXPERIMENT: &str = "experiment.toml";
/// Length of a piece.
const PIECE_BYTES: usize = 64 * 1024;
/// Pieces that wait for a slow reader.
const QUEUE: usize = 4;

/// The files that a run has now.
pub(crate) fn list(runs: &FilePath, id: &str) -> Vec<FileEntry> {
    let size = |name: &str| Some(open(runs, &format!("{id}/{name}")).ok()?.1);
    let entry = |name: &&str| Some(FileEntry { name: (*name).to_owned(), size_bytes: size(name)? });
    OF_RUN.iter().filter_map(entry).collect()
}

pub(crate) async fn of_run(
    State(lab): State<Shared>,
    Path((id, name)): Path<(String, String)>,
) -> Result<Response, ApiError> {
    if name == EXPERIMENT {
        let file_name = format!("{id}-{EXPERIMENT}");
        let asked = lab.clone();
        let text = blocking(move || Ok(asked.folder(&id)?.read_run()?.experiment_text));
        return Ok((attachment(&file_name), text.await?).into_response());
    }
    let known = OF_RUN.iter().find(|known| **known == name);
    let known = known.ok_or_else(no_such_file)?;
    send(lab, id, (*known).to_owned()).await
}

pub(crate) async fn of_trial(
    State(lab): State<Shared>,
    Path((id, trial, name)): Path<(String, u32, String)>,
) -> Result<Response, ApiError> {
    let known = OF_TRIAL.iter().find(|known| **known == name);
    let known = known.ok_or_else(no_such_file)?;
    send(lab, id, format!("trials/{trial:04}/{known}")).await
}

fn no_such_file() -> ApiError {
    ApiError::not_found(said!("lab.no_download", "such file among those that can be downloaded"))
}

async fn send(lab: Shared, id: String, name: String) -> Result<Response, ApiError> {
    let file_name = format!("{id}-{}", name.replace('/', "-"));
    let opened = blocking(move || {
        index::run_folder(&lab.runs, &id)?;
        let path = format!("{id}/{name}");
        open(&lab.runs, &path).map_err(|error| ApiError::io(FilePath::new(&path), &error))
    });
    let (file, length) = opened.await?;
    Ok((attachment(&file_name), [(header::CONTENT_LENGTH, length)], pieces(file, length)).into_response())
}

/// The file of a start's log.
pub(crate) async fn log(path: std::path::PathBuf, name: &str) -> Result<Response, ApiError> {
    let opened = blocking(move || {
        let file = File::open(&path).map_err(|error| ApiError::io(&path, &error))?;
        let length = file.metadata().map_err(|error| ApiError::io(&path, &error))?.len();
        Ok((file, length))
    });
    let (file, length) = opened.await?;
    Ok((attachment(name), [(header::CONTENT_LENGTH, length)], pieces(file, length)).into_response())
}

/// Opens an ordinary file beneath a folder, without links anywhere on the way, with its length.
fn open(runs: &FilePath, path: &str) -> io::Result<(File, u64)> {
    let folder = File::open(runs)?;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let file = File::from(rustix::fs::openat2(folder, path, flags, Mode::empty(), resolve)?);
    let found = file.metadata()?;
    if found.is_file() { Ok((file, found.len())) } else { Err(io::ErrorKind::NotFound.into()) }
}

fn attachment(name: &str) -> [(header::HeaderName, HeaderValue); 3] {
    // A run folder may have any name: what could end the quotes or leave a folder is replaced.
    let is_plain = |c: &char| c.is_ascii_alphanumeric() || "-_.".contains(*c);
    let plain: String = name.chars().map(|c| if is_plain(&c) { c } else { '_' }).collect();
    let disposition = HeaderValue::from_str(&format!("attachment; filename=\"{plain}\""));
    [
        (header::CONTENT_TYPE, HeaderValue::from_static("application/octet-stream")),
        (header::CONTENT_DISPOSITION, disposition.unwrap_or(HeaderValue::from_static("attachment"))),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ]
}

/// The file piece by piece, no more than its length now: it may grow.
fn pieces(file: File, length: u64) -> Body {
    let (send, receive) = mpsc::channel::<io::Result<Bytes>>(QUEUE);
    tokio::spawn(async move {
        let mut file = file.take(length);
        loop {
            let read = tokio::task::spawn_blocking(move || {
                let mut piece = vec![0; PIECE_BYTES];
                let read = file.read(&mut piece);
                (file, read.map(|length| piece[..length].to_vec()))
            });
            let Ok((back, read)) = read.await else { return };
            file = back;
            let is_last = !matches!(&read, Ok(piece) if !piece.is_empty());
            if is_last && read.is_ok() {
                return;
            }
            let sent =
                tokio::time::timeout(std::time::Duration::from_secs(60), send.send(read.map(Bytes::from)));
            if is_last || !matches!(sent.await, Ok(Ok(()))) {
                return;
            }
        }
    });
    Body::from_stream(Received(receive))
}
