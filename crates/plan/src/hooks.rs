//! `[hooks]` and `--setup`, `--teardown`: the user's programs before and after a load.

use schema::hooks::HooksPlan;
use schema::text::Problem;
use units::Nanos;

/// The programs as a plan has them; `at` is the key of the time limit.
///
/// # Errors
/// An empty command line, or no time at all.
pub fn resolve(
    (setup, teardown): (Option<&str>, Option<&str>),
    timeout: Option<Nanos>,
    at: &str,
) -> Result<HooksPlan, Problem> {
    for (name, command) in [("setup", setup), ("teardown", teardown)] {
        if command.is_some_and(|command| command.trim().is_empty()) {
            let cause = format!("the command of {name} is empty");
            return Err(Problem::at(at, cause, "give a command line, or leave it out"));
        }
    }
    match timeout {
        Some(Nanos::ZERO) => Err(Problem::at(at, "no program ends in no time", "give a time such as 60s")),
        timeout => Ok(HooksPlan {
            setup: setup.map(str::to_owned),
            teardown: teardown.map(str::to_owned),
            timeout_ns: timeout.unwrap_or(HooksPlan::TIMEOUT).0,
        }),
    }
}
