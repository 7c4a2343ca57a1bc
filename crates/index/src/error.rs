//! What can go wrong, with its remedy.

use std::io;
use std::path::{Path, PathBuf};

/// Why the index or a label cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// The folder of runs, or a file beside it.
    #[error("cannot {what} {}: {source}", path.display())]
    Io {
        /// What was tried.
        what: &'static str,
        /// On what.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// SQLite refused.
    #[error("the index {} cannot be used: {source}\n  remedy: delete it; it is rebuilt from the run folders", path.display())]
    Database {
        /// Where it is; `:memory:` where it is kept in memory.
        path: PathBuf,
        /// Its reason.
        source: rusqlite::Error,
    },
    /// The labels were damaged by somebody else; they are not thrown away.
    #[error("{} is not readable as prony.labels/1: {cause}\n  remedy: mend the file, or move it away; without it no run has tags or notes", path.display())]
    Labels {
        /// Which file.
        path: PathBuf,
        /// What is wrong.
        cause: String,
    },
    /// Tags or a note that cannot be kept.
    #[error("{cause}\n  remedy: {remedy}")]
    Label {
        /// What is wrong.
        cause: String,
        /// What to do.
        remedy: String,
    },
    /// A name that is no run under the folder.
    #[error("there is no run `{name}` under {}\n  remedy: {remedy}", runs.display())]
    NoRun {
        /// As it was given.
        name: String,
        /// Where it was looked for.
        runs: PathBuf,
        /// What to do.
        remedy: String,
    },
}

impl IndexError {
    /// For `map_err`.
    pub(crate) fn io(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { what, path, source }
    }
}
