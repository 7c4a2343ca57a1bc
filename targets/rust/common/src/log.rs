//! The access log: one line for each answer, to one file, through `tracing`.
//!
//! What libraries trace is left out. A line that cannot be written is lost; requests do not fail for it.
use std::fs::{File, OpenOptions};
use std::path::Path;
use std::sync::Arc;

use tracing::level_filters::LevelFilter;
use tracing::subscriber::Subscriber;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::{Registry, fmt};

/// The target of events and spans that belong to the log.
pub const TARGET: &str = "access";

/// What writes the log to `path`.
///
/// # Errors
/// The file cannot be opened for writing.
pub fn writer(path: &Path) -> std::io::Result<impl Subscriber + Send + Sync + use<>> {
    let file: Arc<File> = OpenOptions::new().append(true).create(true).open(path)?.into();
    let lines = fmt::layer().with_ansi(false).with_target(false).with_writer(file);
    Ok(Registry::default().with(lines).with(Targets::new().with_target(TARGET, LevelFilter::INFO)))
}
