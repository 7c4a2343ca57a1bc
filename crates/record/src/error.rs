//! What can be wrong with a run folder, each with its cause and its remedy.

use std::io;
use std::path::{Path, PathBuf};

/// Why a run folder cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// A file or folder of the run could not be read or written.
    #[error("cannot {what} {}: {source}", path.display())]
    Io {
        /// What was tried.
        what: &'static str,
        /// On which file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// A file of a run folder is not what it should be.
    #[error("{} is not readable as {what}: {cause}\n  remedy: it was written by another version of prony, or damaged; run the experiment again", path.display())]
    Damaged {
        /// Which file.
        path: PathBuf,
        /// The format it should have.
        what: &'static str,
        /// What is wrong.
        cause: String,
    },
    /// A folder that is no run folder.
    #[error("{} is no run folder: it has no run.json\n  remedy: name a folder under runs/", .0.display())]
    NoRun(PathBuf),
    /// A trial that is not there to be shown.
    #[error("run {run} has no trial {trial} that ended\n  remedy: analysis.json lists those that did")]
    NoTrial {
        /// Name of the run.
        run: String,
        /// Number that was asked for.
        trial: u32,
    },
}

impl RecordError {
    /// Wraps an error of the system about a file.
    pub fn io(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { what, path, source }
    }
}
