//! Why nothing was tuned.

use crate::RunnerError;
use std::io;
use std::path::PathBuf;

/// Why nothing was tuned.
#[derive(Debug, thiserror::Error)]
pub enum TuneError {
    /// There is nowhere to write down the old values.
    #[error(
        "there is no place for the old values, so nothing is tuned: set HOME, or XDG_STATE_HOME to an absolute path"
    )]
    NoPlace,
    /// The folder of the journals cannot be used.
    #[error("the old values cannot be kept in {} ({source}), so nothing is tuned\n  remedy: make the folder writable, or set XDG_STATE_HOME to one that is", path.display())]
    Folder {
        /// Which.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// Another run has tuned the host and will put it back, perhaps in the middle of this one.
    #[error("process {pid} has tuned this host until its end\n  remedy: wait for it, or leave --tune out")]
    Busy {
        /// The process.
        pid: u32,
    },
    /// This process cannot be identified, so a later one could not tell that it died.
    #[error("nothing is tuned: {0}")]
    NoOwner(String),
    /// The journal cannot be written.
    #[error("the old values cannot be written down, so nothing is tuned: {0}")]
    Journal(#[from] RunnerError),
}
