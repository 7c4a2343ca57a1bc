//! `prony load --compat TOOL`: the command line of another tool, translated to prony's own.
//!
//! A translation is text to text: the foreign flags are read by a command of their own, and what comes out is a
//! native command line that is printed and then parsed like any other, so that there is no second way to a load.
//! Invariant: a flag that cannot be kept is an error or a note, never dropped in silence. Headers that a tool sends by
//! itself and that change an answer (`Accept`, `Accept-Encoding`, `Content-Type`) are sent; its `User-Agent` is not.
//! Absent on purpose: the other tools' output formats.

mod ab;
mod ghz;
mod h2load;
mod hey;
mod native;
mod oha;
mod translation;
mod wrk;

use anyhow::{Result, anyhow, bail};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, FromArgMatches, ValueEnum};
use native::Native;
pub(crate) use translation::Translation;

/// A tool whose flags can be translated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Tool {
    /// wrk 4: -t -c -d -H --latency --timeout
    Wrk,
    /// wrk2: as wrk, with -R
    Wrk2,
    /// hey: -n -c -q (per worker) -z -m -H -d ...
    Hey,
    /// oha: -n -c -q (total) -z -m -H -d ...
    Oha,
    /// ApacheBench: -n -c -t -k ...
    Ab,
    /// h2load: -n -c -t -m -D --rps ...
    H2load,
    /// ghz: --call --proto -d -n -c -r -z ...
    Ghz,
}

/// Takes `--compat TOOL` out of the arguments after `load` and translates the rest; `None` where it is not there.
pub(crate) fn translate(arguments: &[String]) -> Option<Result<Translation>> {
    let end = arguments.iter().position(|word| word == "--").unwrap_or(arguments.len());
    let at = arguments[..end].iter().position(|word| word == "--compat" || word.starts_with("--compat="))?;
    let mut rest = arguments.to_vec();
    let word = rest.remove(at);
    let name = match word.strip_prefix("--compat=") {
        Some(name) => name.to_owned(),
        None if at < rest.len() => rest.remove(at),
        None => String::new(),
    };
    Some(tool(&name).and_then(|tool| of_tool(tool, &rest)))
}

fn tool(name: &str) -> Result<Tool> {
    Tool::from_str(name, true).map_err(|_| {
        let names: Vec<_> = Tool::value_variants()
            .iter()
            .filter_map(Tool::to_possible_value)
            .map(|v| v.get_name().to_owned())
            .collect();
        let near = schema::text::nearest(name, names.iter().map(String::as_str));
        let near = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
        anyhow!("--compat knows {}, not `{name}`{near}", names.join(", "))
    })
}

fn of_tool(tool: Tool, arguments: &[String]) -> Result<Translation> {
    match tool {
        Tool::Wrk => wrk::translate(read("wrk", arguments)?),
        Tool::Wrk2 => wrk::translate_wrk2(read("wrk2", arguments)?),
        Tool::Hey => hey::translate(read("hey", &hey::long_with_two_dashes(arguments))?),
        Tool::Oha => oha::translate(read("oha", arguments)?),
        Tool::Ab => ab::translate(read("ab", arguments)?),
        Tool::H2load => h2load::translate(read("h2load", arguments)?),
        Tool::Ghz => ghz::translate(read("ghz", arguments)?),
    }
    .map(Native::finish)
}

/// Reads foreign flags; an unknown one is reported as such.
fn read<T: CommandFactory + FromArgMatches>(tool: &'static str, arguments: &[String]) -> Result<T> {
    let command =
        T::command().no_binary_name(true).name(tool).bin_name(format!("prony load --compat {tool}"));
    let parsed = command.try_get_matches_from(arguments).and_then(|matches| T::from_arg_matches(&matches));
    parsed.map_err(|error| match (error.kind(), error.get(ContextKind::InvalidArg)) {
        (ErrorKind::UnknownArgument, Some(ContextValue::String(flag))) => anyhow!(
            "`{flag}` cannot be translated: prony has no counterpart to it, or {tool} does not have it; \
             `prony load --compat {tool} --help` lists what can"
        ),
        _ => error.into(),
    })
}

/// Tells which native option is missing where a translation asks for one that this build does not have.
pub(crate) fn told(translation: &Translation, error: clap::Error) -> anyhow::Error {
    match (error.kind(), error.get(ContextKind::InvalidArg)) {
        (ErrorKind::UnknownArgument, Some(ContextValue::String(flag))) => anyhow!(
            "the translation needs {flag}, which this version of prony does not have\n  it is: {}",
            translation.line()
        ),
        _ => error.into(),
    }
}

/// A number of requests that workers share evenly, as wrk and hey do: what is left over is not used.
fn shared_evenly(total: u64, workers: u64, of: &str, over: &str) -> Result<u64> {
    if workers == 0 || total < workers {
        bail!("{total} {of} cannot be shared by {workers} {over}; give at least one each");
    }
    Ok(total / workers * workers)
}

#[cfg(test)]
mod tests;
