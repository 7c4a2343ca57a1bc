//! The flag of each setting: problems name keys of files, and the command line names flags.

use super::{connection, load, request};
use anyhow::anyhow;
use plan::Wrong;

/// A problem of the resolution in the words of the command line.
pub(crate) fn with_flag(wrong: Wrong) -> anyhow::Error {
    match wrong {
        Wrong::Here(problem) => {
            anyhow!("{}: {}\n  remedy: {}", flag(&problem.key.join(".")), problem.cause, problem.remedy)
        }
        Wrong::Elsewhere(error) => error.into(),
    }
}

/// The flag that stands for a key: that of the key's last part, unless an option says otherwise.
fn flag(key: &str) -> String {
    let mut others = connection::FLAGS.iter().chain(load::FLAGS).chain(request::FLAGS);
    match others.find(|(other, _)| *other == key) {
        Some((_, flag)) => (*flag).to_owned(),
        None if key.starts_with("requests.") => key.to_owned(),
        None => format!("--{}", key.rsplit('.').next().unwrap_or(key).replace('_', "-")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;
    use schema::experiment::Load;

    /// Whether `prony load` has a flag.
    fn is_there(flag: &str) -> bool {
        let command = crate::args::Args::command();
        let load = command.find_subcommand("load").expect("it is there");
        load.get_arguments().any(|argument| {
            let long = argument.get_long().map(|long| format!("--{long}"));
            let short = argument.get_short().map(|short| format!("-{short}"));
            long.as_deref() == Some(flag) || short.as_deref() == Some(flag)
        })
    }

    #[test]
    fn every_setting_of_a_load_has_its_flag() {
        let load = serde_json::to_value(Load::default()).unwrap();
        let keys = |table: &serde_json::Value, prefix: &str| -> Vec<String> {
            table.as_object().unwrap().keys().map(|key| format!("{prefix}.{key}")).collect()
        };
        let all = [keys(&load, "load"), keys(&load["connection"], "load.connection")].concat();
        assert!(all.len() > 25, "{all:?}");
        // A rate makes a load open; the table of connections is no setting.
        for key in all.iter().filter(|key| !["load.model", "load.connection"].contains(&key.as_str())) {
            assert!(is_there(&flag(key)), "{key} has no {}", flag(key));
        }
        for key in [
            "requests",
            "duration",
            "pin",
            "processes",
            "connect_to",
            "proxy",
            "load.connection.tcp_keepalive",
        ] {
            assert!(is_there(&flag(key)), "{key} has no {}", flag(key));
        }
        assert!(!is_there("--nonesuch"));
        assert_eq!(flag("requests.0.origin"), "requests.0.origin");
    }
}
