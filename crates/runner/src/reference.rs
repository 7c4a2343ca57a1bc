//! The reference target as a target: the command line of `prony reference` for a law.

use launch::StartPlan;
use schema::experiment::Reference;
use schema::target::Ready;
use serde_json::Value;
use std::path::Path;

/// How the reference target is started; CPUs are left to the caller. `is_public` allows an address that other machines
/// could reach.
pub(crate) fn start_plan(law: &Reference, is_public: bool, log: &Path, launcher: &Path) -> StartPlan {
    let mut command = vec![launcher.display().to_string()];
    command.extend(arguments(law, is_public));
    let mut plan = StartPlan::from_command(&command, log, launcher);
    plan.ready = Ready { path: Some("/health".to_owned()), timeout: None, ..Ready::default() };
    plan
}

/// The arguments of prony for a law, with names of host and port to be filled in. Each field of the law is an option of
/// the same name, which a test of the command line holds for all of them.
#[must_use]
pub fn arguments(law: &Reference, is_public: bool) -> Vec<String> {
    let fixed = ["reference", "--listen", "{host}:{port}"].map(str::to_owned).into_iter();
    let public = is_public.then(|| "--public".to_owned());
    let law = serde_json::to_value(law).unwrap_or_default();
    let given = law.as_object().into_iter().flatten().filter(|(_, value)| !value.is_null());
    let options = given.map(|(name, value)| {
        let value = value.as_str().map_or_else(|| Value::to_string(value), str::to_owned);
        format!("--{}={value}", name.replace('_', "-"))
    });
    fixed.chain(options).chain(public).collect()
}
