//! Rules of the parts of a manifest that come in lists: needs, variables, knobs and the reload.

use schema::knob::{Knob, KnobType};
use schema::target::{Need, Reload, TargetManifest};
use schema::text::Problem;
use std::collections::BTreeSet;

/// The first rule that one of these parts breaks.
pub(crate) fn problem(manifest: &TargetManifest) -> Option<Problem> {
    let build_needs = manifest.build.iter().flat_map(|build| &build.needs);
    needs_problem("build.needs", build_needs)
        .or_else(|| needs_problem("run.needs", manifest.run.needs.iter()))
        .or_else(|| variables_problem("run.env", manifest.run.env.keys()))
        .or_else(|| variables_problem("build.env", manifest.build.iter().flat_map(|build| build.env.keys())))
        .or_else(|| knobs_problem(manifest))
        .or_else(|| manifest.reload.as_ref().and_then(reload_problem))
}

fn needs_problem<'a>(key: &str, mut needs: impl Iterator<Item = &'a Need>) -> Option<Problem> {
    let at = needs.position(|need| {
        let is_check = need.check.first().is_some_and(|program| !program.is_empty());
        need.program.is_empty() != is_check || need.check.is_empty() == is_check
    })?;
    Some(Problem::at(
        &format!("{key}.{at}"),
        "a need has either a program or a check",
        "give program = \"…\" as it is called on PATH, or check = [\"…\"], a command that exits with 0",
    ))
}

fn is_variable(name: &str) -> bool {
    !name.is_empty() && !name.contains(['=', '\0'])
}

fn variables_problem<'a>(key: &str, mut names: impl Iterator<Item = &'a String>) -> Option<Problem> {
    let name = names.find(|name| !is_variable(name))?;
    Some(not_a_variable(key, name))
}

fn not_a_variable(key: &str, name: &str) -> Problem {
    let cause = format!("`{}` cannot name an environment variable", name.escape_debug());
    Problem::at(key, cause, "use letters, digits and underscores")
}

fn knobs_problem(manifest: &TargetManifest) -> Option<Problem> {
    let mut names = BTreeSet::new();
    let mut variables = BTreeSet::new();
    manifest.knob.iter().enumerate().find_map(|(at, knob)| {
        let key = format!("knob.{at}");
        if !names.insert(&knob.name) {
            let cause = format!("two knobs are called `{}`", knob.name);
            return Some(Problem::at(&format!("{key}.name"), cause, "give each a name of its own"));
        }
        name_problem(&key, knob)
            .or_else(|| variable_problem(&key, knob, manifest))
            .or_else(|| {
                let variable = (knob.env.is_some(), knob.env.as_ref().or(knob.build_env.as_ref())?);
                let (cause, remedy) = ("another knob sets the same variable", "give each knob its own");
                (!variables.insert(variable)).then(|| Problem::at(&key, cause, remedy))
            })
            .or_else(|| values_problem(&key, knob))
    })
}

fn name_problem(key: &str, knob: &Knob) -> Option<Problem> {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let good = !knob.name.is_empty() && knob.name.len() <= 40 && knob.name.chars().all(is_plain);
    (!good).then(|| {
        let cause = format!("`{}` cannot name a knob", knob.name.escape_debug());
        let remedy = "use lower-case letters, digits and `-`, at most 40 of them";
        Problem::at(&format!("{key}.name"), cause, remedy)
    })
}

/// Where a knob's value goes: one variable, which nothing else sets.
fn variable_problem(key: &str, knob: &Knob, manifest: &TargetManifest) -> Option<Problem> {
    let name = &knob.name;
    let (field, variable, others) = match (&knob.env, &knob.build_env) {
        (Some(variable), None) => ("env", variable, Some(&manifest.run.env)),
        (None, Some(_)) if manifest.build.is_none() => {
            let cause = format!("the knob `{name}` changes the build, but nothing is built");
            let remedy = "add a [build] table, or use env";
            return Some(Problem::at(&format!("{key}.build_env"), cause, remedy));
        }
        (None, Some(variable)) => ("build_env", variable, manifest.build.as_ref().map(|build| &build.env)),
        (env, _) => {
            let how = if env.is_some() { "both env and build_env" } else { "neither env nor build_env" };
            let remedy = "give one: env for a variable of the run, build_env for one of the build";
            return Some(Problem::at(key, format!("the knob `{name}` has {how}"), remedy));
        }
    };
    if !is_variable(variable) {
        return Some(not_a_variable(&format!("{key}.{field}"), variable));
    }
    others.is_some_and(|others| others.contains_key(variable)).then(|| {
        let table = if field == "env" { "run.env" } else { "build.env" };
        let cause = format!("{table} sets {variable}, and so does the knob `{name}`");
        Problem::at(&format!("{key}.{field}"), cause, format!("remove it from {table}"))
    })
}

fn values_problem(key: &str, knob: &Knob) -> Option<Problem> {
    let name = &knob.name;
    let is_choice = knob.kind == KnobType::Choice;
    if is_choice && knob.choices.is_empty() {
        let cause = format!("the knob `{name}` has no choices");
        return Some(Problem::at(key, cause, "add choices = [\"…\", \"…\"]"));
    }
    if !is_choice && !knob.choices.is_empty() {
        let cause = format!("the knob `{name}` has choices, but another type");
        return Some(Problem::at(
            &format!("{key}.choices"),
            cause,
            "write type = \"choice\", or remove them",
        ));
    }
    let is_number = matches!(knob.kind, KnobType::Integer | KnobType::Number);
    if !is_number && (knob.at_least.is_some() || knob.at_most.is_some()) {
        let cause = format!("the knob `{name}` has a range, but is no number");
        return Some(Problem::at(key, cause, "remove at_least and at_most"));
    }
    if knob.at_least.zip(knob.at_most).is_some_and(|(least, most)| least > most) {
        let cause = format!("at_least of the knob `{name}` is above its at_most");
        return Some(Problem::at(&format!("{key}.at_least"), cause, "exchange them"));
    }
    let refused = knob.accept_text(knob.default.as_deref()?).err()?;
    Some(Problem::at(&format!("{key}.default"), refused.cause, refused.remedy))
}

fn reload_problem(reload: &Reload) -> Option<Problem> {
    let has_command = reload.command.first().is_some_and(|program| !program.is_empty());
    let one = reload.signal.is_some() != has_command && reload.command.is_empty() != has_command;
    (!one).then(|| {
        let remedy = "give exactly one of signal = \"HUP\" and command = [\"…\"]";
        Problem::at("reload", "a reload is a signal or a command", remedy)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::text::parse_toml;

    const HEAD: &str = "schema = \"prony.target/1\"\nname = \"x\"\ndescription = \"d\"\nlanguage = \"l\"\n[run]\n\
                        command = [\"s\", \"{port}\"]\nenv = { MODE = \"a\" }\n";
    const KNOB: &str = "[[knob]]\nname = \"gogc\"\nabout = \"a\"\ntype = \"integer\"\ndefault = \"100\"\n\
                        at_least = 1\nenv = \"GOGC\"\n";

    fn said(rest: &str) -> Option<String> {
        let text = format!("{HEAD}{rest}");
        let manifest: TargetManifest = parse_toml("t", &text).unwrap_or_else(|error| panic!("{error}"));
        problem(&manifest).map(|problem| problem.locate("t", &text).to_string())
    }

    #[test]
    fn good_parts_pass() {
        let needs = "[[run.needs]]\nprogram = \"php\"\ninstall = \"i\"\n[[run.needs]]\n\
                     check = [\"php\", \"-r\", \"exit(0);\"]\ninstall = \"i\"\n";
        let reload = "[reload]\nsignal = \"USR2\"\npicks_up = \"code\"\n";
        let build = "[build]\ncommand = [\"make\"]\nenv = { A = \"b\" }\n[[knob]]\nname = \"tags\"\nabout = \"a\"\n\
                     type = \"choice\"\nchoices = [\"x\", \"y\"]\nbuild_env = \"TAGS\"\n";
        assert_eq!(said(&format!("{needs}{reload}{build}{KNOB}")), None);
    }

    #[test]
    fn faults_come_with_line_key_cause_and_remedy() {
        let knob = |from: &str, to: &str| KNOB.replace(from, to);
        for (rest, line, expected) in [
            (KNOB.repeat(2), 16, "two knobs are called `gogc` (key `knob.1.name`)"),
            (knob("\"gogc\"", "\"GoGC\""), 9, "`GoGC` cannot name a knob (key `knob.0.name`)"),
            (knob("env = \"GOGC\"\n", ""), 8, "has neither env nor build_env (key `knob.0`)"),
            (KNOB.to_owned() + "build_env = \"B\"\n", 8, "has both env and build_env (key `knob.0`)"),
            (
                knob("env =", "build_env ="),
                14,
                "changes the build, but nothing is built (key `knob.0.build_env`)",
            ),
            (knob("\"GOGC\"", "\"A=B\""), 14, "`A=B` cannot name an environment variable"),
            (knob("\"GOGC\"", "\"MODE\""), 14, "run.env sets MODE, and so does the knob `gogc`"),
            (
                KNOB.to_owned() + &knob("\"gogc\"", "\"other\""),
                15,
                "another knob sets the same variable (key `knob.1`)",
            ),
            (knob("\"100\"", "\"off\""), 12, "`off` is no value of the knob `gogc` (key `knob.0.default`)"),
            (knob("\"100\"", "\"0\""), 12, "remedy: write a whole number from 1"),
            (KNOB.to_owned() + "choices = [\"1\"]\n", 15, "has choices, but another type"),
            (knob("integer", "choice"), 8, "has no choices (key `knob.0`)"),
            (knob("\"integer\"", "\"text\""), 8, "has a range, but is no number"),
            (KNOB.to_owned() + "at_most = 0\n", 13, "is above its at_most (key `knob.0.at_least`)"),
            ("[reload]\npicks_up = \"code\"\n".to_owned(), 8, "a reload is a signal or a command"),
            (
                "[reload]\npicks_up = \"code\"\nsignal = \"HUP\"\ncommand = [\"x\"]\n".to_owned(),
                8,
                "a reload is a signal or a command",
            ),
            (
                "[[run.needs]]\ninstall = \"i\"\n".to_owned(),
                8,
                "either a program or a check (key `run.needs.0`)",
            ),
            (
                "[[run.needs]]\nprogram = \"a\"\ncheck = [\"b\"]\ninstall = \"i\"\n".to_owned(),
                8,
                "either a program or a check",
            ),
        ] {
            let text = said(&rest).unwrap_or_else(|| panic!("no fault found in\n{rest}"));
            assert!(text.contains(expected) && text.contains("remedy"), "{expected}:\n{text}");
            assert!(text.starts_with(&format!("t:{line}:")), "line {line}:\n{text}");
        }
    }
}
