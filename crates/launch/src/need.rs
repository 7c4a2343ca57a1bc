//! What a target needs of the host: programs on PATH, and what only a command of its own can tell.

use crate::{TargetError, program};
use schema::target::{Need, TargetManifest};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Something that a target needs, and whether it is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NeedState {
    /// The program's name as looked up on PATH, or the command that checks.
    pub program: String,
    /// Whether it is there.
    pub present: bool,
    /// Where a program was found.
    pub found: Option<PathBuf>,
    /// What to do where it is missing.
    pub install: String,
}

/// The needs of build and run, in the order of the manifest, each once.
pub(crate) fn of(manifest: &TargetManifest) -> impl Iterator<Item = &Need> {
    let build = || manifest.build.iter().flat_map(|build| &build.needs);
    let is_new = move |need: &&Need| build().all(|known| known.label() != need.label());
    manifest.build.iter().flat_map(|build| &build.needs).chain(manifest.run.needs.iter().filter(is_new))
}

/// What the target in `folder` needs, and whether it is there.
#[must_use]
pub fn needs(manifest: &TargetManifest, folder: &Path) -> Vec<NeedState> {
    of(manifest).map(|need| state(need, folder)).collect()
}

/// Looks for one need of the target in `folder`.
fn state(need: &Need, folder: &Path) -> NeedState {
    let found = if need.check.is_empty() { program::find(&need.program, None, None) } else { None };
    let present = found.is_some() || !need.check.is_empty() && program::succeeds(&need.check, folder);
    NeedState { program: need.label(), present, found, install: need.install.clone() }
}

/// # Errors
/// The first need that is missing, with the manifest's advice.
pub(crate) fn require<'a>(needs: impl Iterator<Item = &'a Need>, folder: &Path) -> Result<(), TargetError> {
    let mut states = needs.map(|need| (need, state(need, folder)));
    match states.find(|(_, state)| !state.present) {
        Some((need, state)) if need.check.is_empty() => {
            Err(TargetError::ProgramNotFound { program: state.program, remedy: state.install })
        }
        Some((need, state)) => Err(TargetError::plan(missing(need, &state), state.install)),
        None => Ok(()),
    }
}

/// What a check did not find.
fn missing(need: &Need, state: &NeedState) -> String {
    match need.name.as_str() {
        "" => format!("`{}` does not exit with 0", state.program),
        name => format!("{name} is missing"),
    }
}

/// Looks for what several targets or services need, each by the name of who needs it.
///
/// # Errors
/// Names everything that is missing, once, with the commands that install it.
pub fn require_all(wanted: &[(String, Vec<NeedState>)]) -> Result<(), TargetError> {
    let mut missing: Vec<(&NeedState, Vec<&str>)> = Vec::new();
    for (who, needs) in wanted {
        for need in needs.iter().filter(|need| !need.present) {
            match missing.iter_mut().find(|(known, _)| known.program == need.program) {
                Some((_, by)) => by.push(who),
                None => missing.push((need, vec![who])),
            }
        }
    }
    if missing.is_empty() {
        return Ok(());
    }
    let cause = |(need, by): &(&NeedState, Vec<&str>)| format!("{} (for {})", need.program, by.join(", "));
    let causes: Vec<String> = missing.iter().map(cause).collect();
    let mut remedies: Vec<&str> = Vec::new();
    for (need, _) in &missing {
        if !remedies.contains(&need.install.as_str()) {
            remedies.push(&need.install);
        }
    }
    Err(TargetError::plan(format!("missing: {}", causes.join("; ")), remedies.join("; ")))
}

/// Need → first line of its version, for those that have a version command and answer.
pub(crate) fn versions<'a>(needs: impl Iterator<Item = &'a Need>, folder: &Path) -> BTreeMap<String, String> {
    needs.filter_map(|need| Some((need.label(), program::version(&need.version, folder)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn need(program: &str, check: &str) -> Need {
        let words = |script: &str| vec!["sh".into(), "-c".into(), script.into()];
        Need {
            program: program.to_owned(),
            check: if check.is_empty() { Vec::new() } else { words(check) },
            name: String::new(),
            version: words("echo 1.0"),
            install: format!("apt-get install {program}"),
        }
    }

    #[test]
    fn what_is_missing_comes_with_the_advice_of_the_manifest() {
        let outcome =
            |needs: &[Need]| require(needs.iter(), Path::new("/")).map_err(|error| error.to_string());
        assert_eq!(outcome(&[need("sh", ""), need("", "exit 0")]), Ok(()));
        assert_eq!(
            outcome(&[need("sh", ""), need("no-such-program", "")]),
            Err("`no-such-program` is not found or cannot be executed\n  remedy: apt-get install no-such-program"
                .into())
        );
        assert_eq!(
            outcome(&[need("", "exit 3")]),
            Err("`sh -c exit 3` does not exit with 0\n  remedy: apt-get install ".into())
        );
        let named = Need { name: "PHP extension x".into(), ..need("", "exit 3") };
        assert_eq!(outcome(&[named]), Err("PHP extension x is missing\n  remedy: apt-get install ".into()));
        let versions = versions([need("sh", "")].iter(), Path::new("/"));
        assert_eq!(versions, BTreeMap::from([("sh".into(), "1.0".into())]));
    }

    #[test]
    fn everything_that_is_missing_is_named_once_before_anything_begins() {
        let state = |program: &str, present| NeedState {
            program: program.to_owned(),
            present,
            found: None,
            install: format!("apt-get install {program}"),
        };
        let of = |who: &str, needs: Vec<NeedState>| (who.to_owned(), needs);
        assert!(require_all(&[of("a", vec![state("sh", true)])]).is_ok());
        let wanted = [
            of("php/fpm", vec![state("nginx", false), state("sh", true)]),
            of("static", vec![state("nginx", false)]),
            of("redis", vec![state("redis-server", false)]),
        ];
        assert_eq!(
            require_all(&wanted).unwrap_err().to_string(),
            "missing: nginx (for php/fpm, static); redis-server (for redis)\n  remedy: apt-get install nginx; apt-get \
             install redis-server"
        );
    }
}
