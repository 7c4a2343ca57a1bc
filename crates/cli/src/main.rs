//! The `prony` command: reads arguments, calls the crates that do the work, and turns their results into text and
//! exit codes. The only crate that knows clap and anyhow.
//!
//! Exit codes: 0 done, 1 the arguments or a file are wrong, 2 the run failed, 3 a claim does not hold,
//! 130 interrupted (results kept).

mod args;
mod completions;
mod doctor;
mod exit;
mod interrupt;
mod load;
mod output;
mod progress;
mod reference;
mod report_files;
mod run;
mod schemas;
mod screen;
mod targets;

use args::{Args, Command};
use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    // Before anything else, and before any thread: the guard of a target is this same binary.
    if let Some(code) = target::guard::dispatch(std::env::args_os()) {
        return code;
    }
    // So is a generator process.
    if let Some(code) = runner::processes::dispatch(std::env::args_os()) {
        return code;
    }
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => {
            // Help and version are no errors; clap prints them to standard output.
            let code = if error.use_stderr() { exit::USAGE } else { exit::DONE };
            let _ = error.print();
            return ExitCode::from(code);
        }
    };
    let result = match args.command {
        Command::Run(args) => run::run(&args),
        Command::Load(args) => load::load(&args),
        Command::Report(args) => report_files::report(&args),
        Command::Targets(args) => targets::targets(&args),
        Command::Reference(args) => reference::reference(&args),
        Command::Doctor(args) => doctor::doctor(&args),
        Command::Completions(args) => completions::completions(&args),
        Command::Schema(args) => schemas::schema(&args),
    };
    result.map_or_else(|error| exit::failed(&error), ExitCode::from)
}
