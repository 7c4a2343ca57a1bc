//! What can stop a load, each with its cause and its remedy.

use crate::agents::AgentError;
use crate::processes::ProcessError;
use engine::EngineError;
use plan::PlanError;
use record::RecordError;
use schema::text::FileError;
use std::io;
use std::path::Path;

/// Why a load cannot be made, or not to its end.
#[derive(Debug, thiserror::Error)]
pub enum GenerateError {
    /// A file of the user is wrong.
    #[error(transparent)]
    File(#[from] FileError),
    /// The generator could not make the load.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// Several processes could not make the load together.
    #[error(transparent)]
    Processes(#[from] ProcessError),
    /// Agents could not make the load together.
    #[error(transparent)]
    Agents(#[from] AgentError),
    /// The request cannot be encoded.
    #[error(transparent)]
    Request(#[from] request::ProgramError),
    /// A script failed before or after the load.
    #[error(transparent)]
    Script(#[from] request::script::ScriptError),
    /// What was planned cannot be, or no longer.
    #[error(transparent)]
    Plan(PlanError),
    /// TLS cannot be made ready.
    #[error(transparent)]
    Tls(#[from] crate::tls::TlsSetupError),
    /// A server that is asked before the load does not answer.
    #[error(
        "the server does not say which version of HTTP it chooses: {0}\n  remedy: name the version, 1.1 or 2"
    )]
    Version(#[from] probe::ProbeError),
    /// A file could not be read or written.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// The rows of a load could not be written by one of its processes.
    #[error("{0}")]
    Rows(String),
}

/// A file keeps its own kind, whichever crate read it.
impl From<PlanError> for GenerateError {
    fn from(error: PlanError) -> Self {
        match error {
            PlanError::File(error) => Self::File(error),
            other => Self::Plan(other),
        }
    }
}

impl From<plan::net::NetError> for GenerateError {
    fn from(error: plan::net::NetError) -> Self {
        Self::Plan(error.into())
    }
}

impl GenerateError {
    /// Wraps an error of the system about a file.
    pub(crate) fn io(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let wrap = RecordError::io(what, path);
        move |source| Self::Record(wrap(source))
    }
}
