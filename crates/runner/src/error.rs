//! What can stop a run, each with its cause and its remedy.

use engine::EngineError;
use generate::GenerateError;
use launch::TargetError;
use plan::PlanError;
use record::RecordError;
use schema::text::FileError;
use std::io;
use std::path::{Path, PathBuf};

/// Why a run or a load cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum RunnerError {
    /// A file of the user is wrong.
    #[error(transparent)]
    File(#[from] FileError),
    /// The plan cannot be made.
    #[error(transparent)]
    Plan(PlanError),
    /// The load could not be made.
    #[error(transparent)]
    Generate(GenerateError),
    /// A file or folder of the run could not be read or written.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// A target could not be built, started or stopped.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// A service could not be made, started or kept up.
    #[error(transparent)]
    Service(Box<launch::service::ServiceError>),
    /// A target did not answer as its contract says.
    #[error("{target}: {source}\n  remedy: mend the target, or the expectation in the scenario file")]
    Contract {
        /// Name of the target.
        target: String,
        /// What came instead.
        source: Box<launch::contract::ContractError>,
    },
    /// A soak that was to be resumed as an experiment, which would throw its windows away.
    #[error("{} is a soak\n  remedy: resume it with `prony soak --resume {}`", .0.display(), .0.display())]
    IsSoak(PathBuf),
    /// More blocks of a run whose length follows from a rule.
    #[error(
        "{} decides by itself how many blocks it runs\n  remedy: resume it without --blocks, or run the experiment \
         again with other `blocks`, `precision` or `budget`",
        .0.display()
    )]
    BlocksAreDecided(PathBuf),
    /// An experiment that was to be resumed as a soak.
    #[error("{} is no soak\n  remedy: resume it with `prony run --resume {}`", .0.display(), .0.display())]
    NoSoak(PathBuf),
    /// What was asked of a soak cannot be.
    #[error("{cause}\n  remedy: {remedy}")]
    Soak {
        /// What is wrong.
        cause: String,
        /// What would do.
        remedy: String,
    },
    /// What was asked of profiles cannot be.
    #[error("{cause}\n  remedy: {remedy}")]
    Profile {
        /// What is wrong.
        cause: String,
        /// What would do.
        remedy: String,
    },
    /// The user interrupted before anything was measured.
    #[error("interrupted")]
    Interrupted,
}

impl From<launch::service::ServiceError> for RunnerError {
    fn from(error: launch::service::ServiceError) -> Self {
        Self::Service(Box::new(error))
    }
}

/// Files keep their own kind, whichever crate read them.
impl From<GenerateError> for RunnerError {
    fn from(error: GenerateError) -> Self {
        match error {
            GenerateError::File(error) => Self::File(error),
            GenerateError::Record(error) => Self::Record(error),
            GenerateError::Plan(error) => error.into(),
            other => Self::Generate(other),
        }
    }
}

/// Files and targets keep their own kind.
impl From<PlanError> for RunnerError {
    fn from(error: PlanError) -> Self {
        match error {
            PlanError::File(error) => Self::File(error),
            PlanError::Target(error) => Self::Target(error),
            other => Self::Plan(other),
        }
    }
}

impl From<plan::net::NetError> for RunnerError {
    fn from(error: plan::net::NetError) -> Self {
        Self::Plan(error.into())
    }
}

/// What a load fails by, without a step between.
macro_rules! by_generate {
    ($($error:ty),+) => {$(
        impl From<$error> for RunnerError {
            fn from(error: $error) -> Self {
                GenerateError::from(error).into()
            }
        }
    )+};
}

by_generate!(EngineError, request::ProgramError, generate::tls::TlsSetupError);

impl RunnerError {
    /// Wraps an error of the system about a file.
    pub(crate) fn io(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let wrap = RecordError::io(what, path);
        move |source| Self::Record(wrap(source))
    }
}
