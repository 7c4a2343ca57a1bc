//! The routes of the contract: which there are, and which can be asked here.
//!
//! Absent on purpose: reading the files themselves, which are scenario files and the runner's to resolve.

use schema::plan::ScenarioPlan;
use schema::target::Ready;
use schema::text::{Problem, nearest};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Routes that every target has.
const REQUIRED: [&str; 3] = ["ping", "json", "health"];
/// Those of a target of gRPC, whose health is asked by its own method.
const REQUIRED_OF_CALLS: [&str; 2] = ["rpc-ping", "rpc-records"];

/// Routes that a target has to have, by how it is ready and whether it is plain.
#[must_use]
pub const fn required(ready: &Ready, plain: bool) -> &'static [&'static str] {
    match (plain, ready.grpc) {
        (true, _) => &[],
        (false, true) => &REQUIRED_OF_CALLS,
        (false, false) => &REQUIRED,
    }
}

/// The folder of contract files of the project in `root`.
#[must_use]
pub fn folder(root: &Path) -> PathBuf {
    root.join("targets").join("contract")
}

/// Names of the contract files in `folder`, sorted; none where there is no such folder.
#[must_use]
pub fn names(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.strip_suffix(".toml").map(str::to_owned)).collect()
}

/// Services that the route needs and that are not among those that are `up`.
#[must_use]
pub fn missing_services<'a>(route: &'a ScenarioPlan, up: &BTreeSet<String>) -> Vec<&'a str> {
    route.services.iter().filter(|service| !up.contains(*service)).map(String::as_str).collect()
}

/// The first of the `provides` of the target called `name` in `target` that no contract file stands for.
pub(crate) fn unknown(provides: &[String], name: &str, target: &Path) -> Option<Problem> {
    // `name` is the end of the folder's path, so this many steps up is `targets/`.
    let targets = target.ancestors().nth(name.split('/').count())?;
    let folder = targets.join("contract");
    let known = names(&folder);
    let (at, wrong) = provides.iter().enumerate().find(|(_, name)| !known.contains(*name))?;
    let remedy = match nearest(wrong, known.iter().map(String::as_str)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("put {wrong}.toml into {}, or remove the name", folder.display()),
    };
    let cause = format!("there is no contract `{}`", crate::tail::clean(wrong, 80));
    Some(Problem::at(&format!("provides.{at}"), cause, remedy))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_target_has_to_have_nothing() {
        let ready = |grpc| Ready { grpc, ..Ready::default() };
        assert_eq!(required(&ready(false), false), ["ping", "json", "health"]);
        assert_eq!(required(&ready(true), false), ["rpc-ping", "rpc-records"]);
        assert!(required(&ready(false), true).is_empty());
    }

    #[test]
    fn routes_that_need_what_is_not_up_say_so() {
        let services = vec!["mariadb".to_owned(), "redis".to_owned()];
        let route = ScenarioPlan { services, ..ScenarioPlan::default() };
        let up = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>();
        assert_eq!(missing_services(&route, &up(&["redis"])), ["mariadb"]);
        assert!(missing_services(&route, &up(&["redis", "mariadb", "grpc"])).is_empty());
    }

    #[test]
    fn a_name_without_a_file_is_told_with_the_nearest() {
        let root = tempfile::tempdir().unwrap();
        let folder = folder(root.path());
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("json.toml"), "").unwrap();
        let target = root.path().join("targets/go/x");
        let problem = |provides: &[&str]| {
            let provides: Vec<String> = provides.iter().map(|name| (*name).to_owned()).collect();
            unknown(&provides, "go/x", &target)
        };
        assert!(problem(&["json"]).is_none() && problem(&[]).is_none());
        let wrong = problem(&["json", "jsn"]).unwrap();
        assert_eq!(
            (wrong.key.join("."), wrong.remedy.as_str()),
            ("provides.1".into(), "did you mean `json`?")
        );
        assert!(problem(&["../../x"]).is_some());
    }
}
