//! Exit codes, and how errors reach the user.

use engine::EngineError;
use runner::RunnerError;
use std::io::Write;
use std::process::ExitCode;

/// All went well.
pub(crate) const DONE: u8 = 0;
/// The arguments or a file are wrong.
pub(crate) const USAGE: u8 = 1;
/// A target or the generator failed, or the numbers must not be used.
pub(crate) const FAILED: u8 = 2;
/// A claim does not hold, or a threshold is crossed.
pub(crate) const CLAIM: u8 = 3;
/// Interrupted by the user.
pub(crate) const INTERRUPTED: u8 = 130;

/// Prints an error with its cause and remedy, and gives its exit code.
pub(crate) fn failed(error: &anyhow::Error) -> ExitCode {
    if error
        .downcast_ref::<std::io::Error>()
        .is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
    {
        // The reader has seen enough, as in `prony report | head`.
        return ExitCode::from(DONE);
    }
    let _ = writeln!(std::io::stderr(), "prony: {error:#}");
    ExitCode::from(code_of(error))
}

fn code_of(error: &anyhow::Error) -> u8 {
    match error.downcast_ref::<RunnerError>() {
        Some(RunnerError::Interrupted) => INTERRUPTED,
        Some(
            RunnerError::File(_)
            | RunnerError::Net(_)
            | RunnerError::Request(_)
            | RunnerError::Script(_)
            | RunnerError::Tls(_)
            | RunnerError::NoRun(_)
            | RunnerError::IsSoak(_)
            | RunnerError::NoSoak(_)
            | RunnerError::Soak { .. }
            | RunnerError::Profile { .. }
            | RunnerError::Damaged { .. },
        )
        | None => USAGE,
        Some(RunnerError::Engine(EngineError::Pace(_) | EngineError::Plan(_))) => USAGE,
        Some(RunnerError::Service(error)) if is_service_mistake(error) => USAGE,
        Some(RunnerError::Target(error)) if is_mistake(error) => USAGE,
        Some(_) => FAILED,
    }
}

/// Whether the user named something that does not exist or is written wrongly, so that nothing was ever run.
fn is_mistake(error: &target::TargetError) -> bool {
    use target::TargetError::{Manifest, Plan, Unknown};
    matches!(error, Manifest(_) | Unknown { .. } | Plan { .. })
}

/// As [`is_mistake`], for a service.
pub(crate) fn is_service_mistake(error: &target::service::ServiceError) -> bool {
    use target::service::ServiceError::{Manifest, Unknown};
    matches!(error, Manifest(_) | Unknown { .. })
}
