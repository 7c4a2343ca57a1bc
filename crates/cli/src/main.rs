//! The `prony` command: reads arguments, calls the crates that do the work, and turns their results into text and
//! exit codes. The only crate that knows clap and anyhow.
//!
//! Exit codes: 0 done, 1 the arguments or a file are wrong, 2 the run failed, 3 a claim does not hold or
//! a threshold is crossed, 4 the result could not be written, 130 interrupted (results kept).

mod across;
mod agent;
mod alarms;
mod args;
mod audit;
mod calibrate;
mod chart;
mod ci;
mod completions;
mod doctor;
mod environment;
mod exit;
mod export;
mod fault;
mod fleet;
mod import;
mod init;
mod interrupt;
mod knee;
mod ledger;
mod load;
#[cfg(test)]
mod man;
mod mcp;
mod metrics;
mod model;
mod monitor;
mod output;
mod plan;
mod profile;
mod progress;
mod push;
mod recorder;
mod reference;
mod reference_tls;
mod replay;
mod report_files;
mod run;
mod schemas;
mod screen;
mod selfcheck;
mod serve;
mod services;
mod shape;
mod soak;
mod soak_progress;
mod targets;
mod tuning;
mod variables;
mod verify_monitoring;
mod view;
mod why;

use args::{Args, Command};
use clap::{CommandFactory, Parser};
use std::ffi::OsString;
use std::process::ExitCode;

fn main() -> ExitCode {
    // Before anything else, and before any thread: the guard of a target is this same binary.
    if let Some(code) = launch::guard::dispatch(std::env::args_os()) {
        return code;
    }
    // So is a generator process.
    if let Some(code) = generate::processes::dispatch(std::env::args_os()) {
        return code;
    }
    // And the one that watches alarms.
    if let Some(code) = alarms::dispatch(std::env::args_os()) {
        return code;
    }
    let args = match parse() {
        Ok(args) => args,
        Err(error) => return refused(&error),
    };
    if args.with_parent
        && let Err(error) = interrupt::go_with_parent()
    {
        return exit::failed(&error.into());
    }
    let result = match args.command {
        Command::Init(args) => init::init(&args),
        Command::Run(args) => run::run(&args),
        Command::Ci(args) => ci::ci(&args),
        Command::Knee(args) => knee::knee(&args),
        Command::Plan(args) => plan::plan(&args),
        Command::Load(args) => load::load(&args),
        Command::Agent(args) => agent::agent(&args),
        Command::Fleet(args) => fleet::fleet(&args),
        Command::Replay(args) => replay::replay(&args),
        Command::Record(args) => recorder::record(&args),
        Command::Shape(args) => shape::shape(&args),
        Command::Soak(args) => soak::soak(&args),
        Command::Profile(args) => profile::profile(&args),
        Command::Import(args) => import::import(&args),
        Command::Model(args) => model::model(&args),
        Command::Audit(args) => audit::audit(&args),
        Command::Ledger(args) => ledger::ledger(&args),
        Command::Report(args) => report_files::report(&args),
        Command::Why(args) => why::why(&args),
        Command::Intervene(args) => why::intervene(&args),
        Command::Services(args) => services::services(&args),
        Command::Compare(args) => across::compare(&args),
        Command::History(args) => across::history(&args),
        Command::Serve(args) => serve::serve(&args),
        Command::Export(args) => export::export(&args),
        Command::Metrics(args) => metrics::metrics(&args),
        Command::Mcp(args) => mcp::mcp(&args),
        Command::VerifyMonitoring(args) => verify_monitoring::verify(&args),
        Command::Targets(args) => targets::targets(&args),
        Command::Reference(args) => reference::reference(&args),
        Command::Doctor(args) => doctor::doctor(&args),
        Command::Calibrate(args) => calibrate::calibrate(&args),
        Command::Selfcheck(args) => selfcheck::selfcheck(&args),
        Command::Completions(args) => completions::completions(&args),
        Command::Schema(args) => schemas::schema(&args),
    };
    result.map_or_else(|error| exit::failed(&error), ExitCode::from)
}

/// The arguments; those of another tool are translated, and the translation is printed.
fn parse() -> anyhow::Result<Args> {
    let mut words: Vec<_> = std::env::args_os().collect();
    if words.len() < 2
        && let Some(meant) = by_variables()?
    {
        output::say!("{}", report::command_line(&meant));
        words = meant.into_iter().map(OsString::from).collect();
    }
    // Only text can be another tool's; clap has words for the rest.
    let text: Option<Vec<String>> = words.iter().map(|word| word.to_str().map(str::to_owned)).collect();
    let foreign = match text.as_deref() {
        Some([_, command, rest @ ..]) if command == "load" => load::compat::translate(rest),
        _ => None,
    };
    let Some(translation) = foreign.transpose()? else {
        return Ok(Args::try_parse_from(words)?);
    };
    let native =
        ["prony", "load"].map(str::to_owned).into_iter().chain(translation.arguments.iter().cloned());
    let args = Args::try_parse_from(native).map_err(|error| load::compat::told(&translation, error))?;
    let notes: String = translation.notes.iter().map(|note| format!("note: {note}\n")).collect();
    output::say!("{}\n{notes}", translation.line());
    Ok(args)
}

/// The command that environment variables mean, in a container.
fn by_variables() -> anyhow::Result<Option<Vec<String>>> {
    let text =
        |(name, value): (OsString, OsString)| Some((name.into_string().ok()?, value.into_string().ok()?));
    let root = Args::command();
    let load = root.find_subcommand("load").expect("there is such a command");
    variables::words(std::env::vars_os().filter_map(text), load)
}

/// Help and version are no errors; clap prints them to standard output.
fn refused(error: &anyhow::Error) -> ExitCode {
    match error.downcast_ref::<clap::Error>() {
        Some(error) => {
            let code = if error.use_stderr() { exit::USAGE } else { exit::DONE };
            let _ = error.print();
            ExitCode::from(code)
        }
        None => exit::failed(error),
    }
}
