//! Exit codes, and how errors reach the user.

use crate::output::OutputError;
use engine::EngineError;
use generate::GenerateError;
use generate::agents::AgentError;
use plan::PlanError;
use record::RecordError;
use runner::RunnerError;
use std::process::ExitCode;

/// All went well.
pub(crate) const DONE: u8 = 0;
/// The arguments or a file are wrong.
pub(crate) const USAGE: u8 = 1;
/// A target or the generator failed, or the numbers must not be used.
pub(crate) const FAILED: u8 = 2;
/// A claim does not hold, or a threshold is crossed.
pub(crate) const CLAIM: u8 = 3;
/// The result was there and could not be written.
pub(crate) const OUTPUT: u8 = 4;
/// Interrupted by the user.
pub(crate) const INTERRUPTED: u8 = 130;

/// Prints an error with its cause and remedy, and gives its exit code.
pub(crate) fn failed(error: &anyhow::Error) -> ExitCode {
    // What a server, a file or an argument said may be part of it: cleaned there.
    crate::output::say_text(&format!("prony: {}", told(error)));
    ExitCode::from(code_of(error))
}

/// An error with its causes. Many say their cause themselves, which is not said twice.
fn told(error: &anyhow::Error) -> String {
    let mut text = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !text.contains(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    text
}

/// Whether a result was there that could not be written.
fn is_output(error: &anyhow::Error) -> bool {
    let inner = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
    inner.is_some_and(|inner| inner.is::<OutputError>()) || error.is::<OutputError>()
}

fn code_of(error: &anyhow::Error) -> u8 {
    if is_output(error) {
        return OUTPUT;
    }
    if let Some(error) = error.downcast_ref::<RecordError>() {
        return code_of_record(error);
    }
    if let Some(error) = error.downcast_ref::<GenerateError>() {
        return code_of_load(error);
    }
    if let Some(error) = error.downcast_ref::<PlanError>() {
        return code_of_plan(error);
    }
    match error.downcast_ref::<RunnerError>() {
        Some(RunnerError::Interrupted) => INTERRUPTED,
        Some(RunnerError::Record(error)) => code_of_record(error),
        Some(RunnerError::Generate(error)) => code_of_load(error),
        Some(RunnerError::Plan(error)) => code_of_plan(error),
        Some(
            RunnerError::File(_)
            | RunnerError::IsSoak(_)
            | RunnerError::NoSoak(_)
            | RunnerError::Soak { .. }
            | RunnerError::Profile { .. },
        )
        | None => USAGE,
        Some(RunnerError::Service(error)) if is_service_mistake(error) => USAGE,
        Some(RunnerError::Target(error)) if is_mistake(error) => USAGE,
        Some(_) => FAILED,
    }
}

/// What was asked of a load cannot be, or it could not be made.
fn code_of_load(error: &GenerateError) -> u8 {
    use GenerateError::{Agents, Engine, File, Plan, Processes, Record, Request, Rows, Script, Tls, Version};
    match error {
        File(_) | Request(_) | Script(_) | Tls(_) => USAGE,
        Engine(EngineError::Pace(_) | EngineError::Plan(_)) => USAGE,
        Plan(error) => code_of_plan(error),
        Record(error) => code_of_record(error),
        Agents(AgentError::NotPortable { .. }) => USAGE,
        Engine(_) | Processes(_) | Agents(_) | Rows(_) | Version(_) => FAILED,
    }
}

/// What was asked for cannot be; only a file that cannot be found or a target's build are the system's.
fn code_of_plan(error: &PlanError) -> u8 {
    match error {
        PlanError::Target(error) if !is_mistake(error) => FAILED,
        PlanError::Io { .. } => FAILED,
        _ => USAGE,
    }
}

/// The folder that the user named is none, or no longer readable; else the system failed.
fn code_of_record(error: &RecordError) -> u8 {
    match error {
        RecordError::NoRun(_) | RecordError::Damaged { .. } => USAGE,
        RecordError::NoTrial { .. } | RecordError::Io { .. } => FAILED,
    }
}

/// Whether the user named something that does not exist or is written wrongly, so that nothing was ever run.
fn is_mistake(error: &launch::TargetError) -> bool {
    use launch::TargetError::{Manifest, Plan, Unknown};
    matches!(error, Manifest(_) | Unknown { .. } | Plan { .. })
}

/// As [`is_mistake`], for a service.
pub(crate) fn is_service_mistake(error: &launch::service::ServiceError) -> bool {
    use launch::service::ServiceError::{Manifest, Unknown};
    matches!(error, Manifest(_) | Unknown { .. })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn causes_are_told_once_and_results_that_cannot_be_written_have_their_code() {
        let full = || std::io::Error::from_raw_os_error(28);
        let file = RecordError::Io { what: "write", path: Path::new("/x").to_owned(), source: full() };
        let error = anyhow::Error::from(file);
        assert_eq!(told(&error), "cannot write /x: No space left on device (os error 28)");
        let error = anyhow::Error::from(full()).context("cannot read /x");
        assert_eq!(told(&error), "cannot read /x: No space left on device (os error 28)");
        let error = anyhow::Error::from(OutputError::Stdout(full()));
        assert_eq!(code_of(&error), OUTPUT);
        assert_eq!(code_of(&anyhow::Error::from(std::io::Error::other(OutputError::Stdout(full())))), OUTPUT);
        assert_eq!(code_of(&anyhow::anyhow!("a mistake")), USAGE);
        // The same, whichever crate it comes through.
        let none = || RecordError::NoRun(Path::new("/x").to_owned());
        assert_eq!(code_of(&none().into()), USAGE);
        assert_eq!(code_of(&RunnerError::from(none()).into()), USAGE);
    }
}
