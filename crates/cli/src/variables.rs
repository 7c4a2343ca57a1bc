//! A load by environment variables, for containers: TARGET_URL, CONCURRENCY, DURATION, and PRONY_… for every option of
//! `prony load`.
//!
//! Invariants: they count only where there is no argument at all, so that no variable ever changes a command that somebody
//! typed; what comes of them is printed as a command.

use anyhow::{Result, bail};
use clap::{ArgAction, Command};
use schema::text::nearest;

/// What is loaded; without it there is no load.
const TARGET: &str = "TARGET_URL";
/// Names without the prefix, as images of load tools have them, and their options.
const USUAL: [(&str, &str); 2] = [("CONCURRENCY", "connections"), ("DURATION", "duration")];
/// Before the name of an option: `PRONY_MAX_CONNECTIONS` is `--max-connections`.
const PREFIX: &str = "PRONY_";

/// The words of the command that the variables mean; `None` where no target is named.
///
/// # Errors
/// A variable that begins with the prefix and names no option, or a flag that is neither true nor false.
pub(crate) fn words(
    variables: impl Iterator<Item = (String, String)>,
    load: &Command,
) -> Result<Option<Vec<String>>> {
    let mut variables: Vec<(String, String)> = variables.collect();
    variables.sort();
    let Some(target) = variables.iter().find(|(name, value)| name == TARGET && !value.is_empty()) else {
        return Ok(None);
    };
    let mut words = ["prony", "load", &target.1].map(str::to_owned).to_vec();
    for (name, value) in &variables {
        let usual = USUAL.iter().find(|(usual, _)| usual == name).map(|(_, option)| (*option).to_owned());
        let prefixed = || name.strip_prefix(PREFIX).map(|rest| rest.to_lowercase().replace('_', "-"));
        if let Some(option) = usual.or_else(prefixed) {
            add(&mut words, (name, &option), value, load)?;
        }
    }
    Ok(Some(words))
}

/// A flag, an option, or an option for each line where it may be repeated. An empty value is none.
fn add(words: &mut Vec<String>, (name, option): (&str, &str), value: &str, load: &Command) -> Result<()> {
    let known = || load.get_arguments().filter_map(|argument| argument.get_long());
    let Some(argument) = load.get_arguments().find(|argument| argument.get_long() == Some(option)) else {
        let remedy = match nearest(option, known()) {
            Some(near) => format!("did you mean {PREFIX}{}?", near.to_uppercase().replace('-', "_")),
            None => "`prony load --help` lists the options".to_owned(),
        };
        bail!("{name} names no option of prony load\n  remedy: {remedy}");
    };
    match argument.get_action() {
        ArgAction::SetTrue => match value {
            "" | "0" | "false" => {}
            "1" | "true" => words.push(format!("--{option}")),
            _ => bail!("{name} is `{value}`\n  remedy: --{option} is a flag: write true or false"),
        },
        ArgAction::Append => {
            let lines = value.lines().filter(|line| !line.is_empty());
            words.extend(lines.map(|line| format!("--{option}={line}")));
        }
        _ if value.is_empty() => {}
        _ => words.push(format!("--{option}={value}")),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Args;
    use clap::CommandFactory;

    fn read(variables: &[(&str, &str)]) -> Result<Option<Vec<String>>> {
        let root = Args::command();
        let load = root.find_subcommand("load").unwrap();
        words(variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())), load)
    }

    #[test]
    fn variables_become_a_command() {
        let found = read(&[
            ("TARGET_URL", "http://127.0.0.1:1/"),
            ("CONCURRENCY", "16"),
            ("DURATION", "30"),
            ("PRONY_RATE", "500"),
            ("PRONY_HEADER", "A: b\nC: d\n"),
            ("PRONY_ERRORS_OK", "true"),
            ("PRONY_QUIET", "false"),
            ("PRONY_TIMEOUT", ""),
            ("PATH", "/usr/bin"),
        ]);
        let expected = [
            "prony",
            "load",
            "http://127.0.0.1:1/",
            "--connections=16",
            "--duration=30",
            "--errors-ok",
            "--header=A: b",
            "--header=C: d",
            "--rate=500",
        ];
        assert_eq!(found.unwrap().unwrap(), expected);
    }

    #[test]
    fn without_a_target_there_is_none() {
        assert_eq!(read(&[("CONCURRENCY", "16"), ("PRONY_NO_SUCH", "1")]).unwrap(), None);
        assert_eq!(read(&[("TARGET_URL", "")]).unwrap(), None);
    }

    #[test]
    fn what_names_nothing_is_refused_with_the_nearest() {
        let refused = |name: &str, value: &str| {
            read(&[("TARGET_URL", "http://127.0.0.1:1/"), (name, value)]).unwrap_err().to_string()
        };
        assert!(refused("PRONY_CONECTIONS", "4").contains("did you mean PRONY_CONNECTIONS?"));
        assert!(refused("PRONY_QUIET", "yes").contains("write true or false"));
    }

    /// Every option of a load can be given so: none has a name that a variable cannot spell.
    #[test]
    fn every_option_has_a_variable() {
        let root = Args::command();
        let load = root.find_subcommand("load").unwrap();
        for option in load.get_arguments().filter_map(|argument| argument.get_long()) {
            let name = format!("{PREFIX}{}", option.to_uppercase().replace('-', "_"));
            assert_eq!(name.strip_prefix(PREFIX).unwrap().to_lowercase().replace('_', "-"), option);
            let read = read(&[("TARGET_URL", "http://127.0.0.1:1/"), (&name, "true")]);
            assert_eq!(read.unwrap().unwrap().len(), 4, "{name}");
        }
    }
}
