//! What ends a benchmark, with the remedy.

use std::io;
use std::path::{Path, PathBuf};

/// Why the benchmark did not run to its end.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BenchError {
    /// Arguments that make no sense.
    #[error("{0}")]
    Usage(String),
    /// The peer that everything is held against is not there. The text is also what the Makefile says.
    #[error("{name} is missing: {install}")]
    NoBase {
        /// The peer.
        name: &'static str,
        /// How to get it.
        install: &'static str,
    },
    /// The prony binary could not be built.
    #[error("`cargo build --profile dist -p prony` failed ({0}); mend the build and start again")]
    Build(String),
    /// No prony where one is said to be.
    #[error("there is no program {0}; give --build, or --prony FILE")]
    NoProny(PathBuf),
    /// The server is not there.
    #[error("there is no program {0}; build all of the package: cargo build --profile dist -p bench")]
    NoServer(PathBuf),
    /// The server did not come up or did not stay.
    #[error("the server bench-server {0}")]
    Server(String),
    /// A program could not be started.
    #[error("cannot start {program}: {cause}")]
    Start {
        /// Its path.
        program: PathBuf,
        /// The system's words.
        cause: io::Error,
    },
    /// CPUs cannot be listed or chosen.
    #[error("cannot confine a process to a CPU: {0}; look at the CPU set this shell may use (taskset -p $$)")]
    Pin(io::Error),
    /// The system does not tell what a process used.
    #[error("cannot read what a process used: {0}")]
    Accounting(String),
    /// A chart cannot be drawn.
    #[error("cannot draw {file}: {cause}; the raw data are kept")]
    Chart {
        /// Its name.
        file: &'static str,
        /// The library's words.
        cause: String,
    },
    /// The results cannot be kept.
    #[error("cannot write {path}: {cause}; choose another folder with --out")]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// The system's words.
        cause: String,
    },
}

impl BenchError {
    /// A file that cannot be written.
    pub(crate) fn write(path: &Path, cause: impl ToString) -> Self {
        Self::Write { path: path.to_owned(), cause: cause.to_string() }
    }

    /// The exit code: 1 for arguments, 2 for all else.
    pub(crate) const fn exit_code(&self) -> u8 {
        match self {
            Self::Usage(_) => 1,
            _ => 2,
        }
    }
}
