//! Contract files: scenario files under `targets/contract/` whose requests are all fixed.

use super::{in_file, named};
use crate::error::PlanError;
use launch::contract::route;
use schema::plan::ScenarioPlan;
use schema::scenario::ScenarioFile;
use schema::text::Problem;
use std::path::Path;

/// Loads `targets/contract/NAME.toml` of the project.
///
/// # Errors
/// It is missing (with the nearest name there is) or wrong, or it is not fixed: it has a session, feeders, tokens,
/// variables, weights or templates.
pub fn load_contract(project: &Path, name: &str) -> Result<ScenarioPlan, PlanError> {
    let (file, path, text) = named(&route::folder(project), name)?;
    let located = |problem: Problem| PlanError::File(problem.locate(&path.display().to_string(), &text));
    unfixed(&file).map_or(Ok(()), |problem| Err(located(problem)))?;
    let plan = in_file(&file, &path, &text, None)?;
    match plan.requests.iter().position(|entry| entry.is_template) {
        None => Ok(plan),
        Some(at) => {
            let key = if file.request.is_some() { "request".to_owned() } else { format!("requests.{at}") };
            Err(located(refused(&key, "a template")))
        }
    }
}

/// What makes the requests of one time differ from those of another.
fn unfixed(file: &ScenarioFile) -> Option<Problem> {
    let weighted = file.requests.iter().position(|request| request.weight.is_some());
    let tables = [
        (file.session.is_some(), "session", "a session"),
        (!file.feeders.is_empty(), "feeders", "feeders"),
        (!file.tokens.is_empty(), "tokens", "tokens made for each load"),
        (!file.vars.is_empty(), "vars", "variables"),
    ];
    let table = tables.into_iter().find(|(is_there, ..)| *is_there);
    table
        .map(|(_, key, words)| refused(key, words))
        .or_else(|| weighted.map(|at| refused(&format!("requests.{at}.weight"), "weights")))
}

fn refused(key: &str, what: &str) -> Problem {
    let cause =
        format!("a contract file does not have {what}: each of its requests is asked once, as it stands");
    Problem::at(key, cause, "write the requests out, or make it a scenario under scenarios/")
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::target::Ready;

    fn root() -> std::path::PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
    }

    #[test]
    fn every_contract_file_of_the_repository_is_fixed_and_right() {
        let names = route::names(&route::folder(&root()));
        for grpc in [false, true] {
            let required = route::required(&Ready { grpc, ..Ready::default() }, false);
            assert!(required.iter().all(|name| names.contains(*name)), "{names:?}");
        }
        for name in names {
            let plan = load_contract(&root(), &name).unwrap_or_else(|error| panic!("{error}"));
            assert!(plan.name == name && !plan.requests.is_empty());
        }
    }

    #[test]
    fn what_is_not_fixed_is_refused_at_its_line() {
        let project = tempfile::tempdir().unwrap();
        let folder = route::folder(project.path());
        std::fs::create_dir_all(&folder).unwrap();
        let head = "schema = \"prony.scenario/1\"\nname = \"x\"\n";
        let request = "[[requests]]\nname = \"a\"\npath = \"/\"\n";
        for (text, line, words) in [
            (format!("{head}{request}[session]\n"), 6, "a session"),
            (format!("{head}vars = {{ id = \"1\" }}\n{request}"), 3, "variables"),
            (format!("{head}{request}weight = 2\n"), 6, "weights"),
            (format!("{head}[[requests]]\nname = \"a\"\npath = \"/${{uuid7()}}\"\n"), 3, "a template"),
        ] {
            std::fs::write(folder.join("x.toml"), &text).unwrap();
            let said = load_contract(project.path(), "x").expect_err(&text).to_string();
            assert!(said.contains(&format!("x.toml:{line}:")) && said.contains(words), "{said}");
        }
        let said = load_contract(project.path(), "y/../x").unwrap_err().to_string();
        assert!(said.contains("is no name of a file in contract/"), "{said}");
        std::fs::write(folder.join("x.toml"), format!("{head}{request}")).unwrap();
        assert!(load_contract(project.path(), "x").is_ok());
        let said = load_contract(project.path(), "xy").unwrap_err().to_string();
        assert!(said.contains("did you mean `x`?"), "{said}");
    }
}
