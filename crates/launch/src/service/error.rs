//! What can go wrong with a service, each with its cause and its remedy.

use crate::TargetError;
use crate::guard::Exit;
use schema::text::FileError;
use std::io;
use std::path::PathBuf;
use units::Nanos;

/// Why a service could not be found, made, started, checked or stopped.
#[derive(Debug, thiserror::Error)]
pub enum ServiceError {
    /// The manifest breaks its rules.
    #[error(transparent)]
    Manifest(#[from] Box<FileError>),
    /// No folder under `services/` has this name.
    #[error("no service `{name}` under {}\n  remedy: {remedy}", root.join("services").display())]
    Unknown {
        /// The name asked for.
        name: String,
        /// The folder that holds `services/`.
        root: PathBuf,
        /// The nearest name there is, or how to list them.
        remedy: String,
    },
    /// A file could not be read or written.
    #[error("service {service}: cannot {what}: {source}")]
    Io {
        /// Name of the service.
        service: String,
        /// What was tried, as the object of "cannot".
        what: String,
        /// The system's reason.
        source: io::Error,
    },
    /// A program is not there.
    #[error("service {service}: `{program}` is not found or cannot be executed\n  remedy: {remedy}")]
    ProgramNotFound {
        /// Name of the service.
        service: String,
        /// As written in the manifest.
        program: String,
        /// How to get it.
        remedy: String,
    },
    /// The user that it should run as cannot be used.
    #[error("service {service}: {cause}\n  remedy: {remedy}")]
    User {
        /// Name of the service.
        service: String,
        /// What is wrong.
        cause: String,
        /// What to do about it.
        remedy: String,
    },
    /// A command of the manifest failed.
    #[error("service {service}: {step} failed: `{command}` {end}")]
    Step {
        /// Name of the service.
        service: String,
        /// The table of the manifest.
        step: String,
        /// The command.
        command: String,
        /// How it ended, with the end of its output.
        end: String,
    },
    /// The service could not be started or stopped.
    #[error("service {service}: {}", as_it(source))]
    Process {
        /// Name of the service.
        service: String,
        /// What happened.
        source: TargetError,
    },
    /// It runs, but its `ready.command` does not succeed.
    #[error(
        "service {service}: `{command}` did not succeed within {timeout}\n  remedy: raise ready.timeout if it only \
         needs longer{tail}"
    )]
    NotReady {
        /// Name of the service.
        service: String,
        /// The command.
        command: String,
        /// The time it had.
        timeout: Nanos,
        /// The end of the service's log.
        tail: String,
    },
    /// It ended on its own.
    #[error("service {service}: it ended on its own: {exit}{tail}")]
    Died {
        /// Name of the service.
        service: String,
        /// How it ended.
        exit: Exit,
        /// The end of its log.
        tail: String,
    },
    /// A check gave something else.
    #[error(
        "service {service}: the check `{check}` gave `{got}`, not `{expected}`\n  remedy: correct the seed or the \
         check in service.toml; the data is then made again"
    )]
    Check {
        /// Name of the service.
        service: String,
        /// Name of the check.
        check: String,
        /// First line that should have come.
        expected: String,
        /// First line that came.
        got: String,
    },
    /// Another prony holds the service's lock.
    #[error(
        "service {service}: another prony has been preparing it for {waited}\n  remedy: see which process holds {}",
        lock.display()
    )]
    Locked {
        /// Name of the service.
        service: String,
        /// How long it was waited for.
        waited: Nanos,
        /// The lock's file.
        lock: PathBuf,
    },
    /// The work was called off.
    #[error("service {0}: called off")]
    Cancelled(String),
}

impl ServiceError {
    pub(crate) fn io(service: &str, what: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let (service, what) = (service.to_owned(), what.into());
        move |source| Self::Io { service, what, source }
    }

    pub(crate) fn process(service: &str) -> impl FnOnce(TargetError) -> Self {
        let service = service.to_owned();
        move |source| Self::Process { service, source }
    }
}

/// The shared machinery speaks of a target; here the subject is named before.
fn as_it(error: &TargetError) -> String {
    let text = error.to_string();
    text.strip_prefix("the target").map_or(text.clone(), |rest| format!("it{rest}"))
}
