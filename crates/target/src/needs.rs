//! What a build or a run needs: programs on PATH, and checks of what is no program.

use crate::{TargetError, program};
use schema::target::{Need, TargetManifest};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// All needs of a target, those of the build first.
pub(crate) fn all(manifest: &TargetManifest) -> impl Iterator<Item = &Need> {
    manifest.build.iter().flat_map(|build| &build.needs).chain(&manifest.run.needs)
}

/// Where the program, or that of the check, is; `None` where it is missing or the check fails.
pub(crate) fn found(need: &Need, folder: &Path) -> Option<PathBuf> {
    match need.check.first() {
        None => program::find(&need.program, None, None),
        Some(checker) => {
            program::find(checker, Some(folder), None).filter(|_| program::succeeds(&need.check, folder))
        }
    }
}

/// Refuses the first need that is missing, with the manifest's advice.
pub(crate) fn require(manifest: &TargetManifest, folder: &Path) -> Result<(), TargetError> {
    match all(manifest).find(|need| found(need, folder).is_none()) {
        None => Ok(()),
        Some(need) if need.check.is_empty() => {
            Err(TargetError::ProgramNotFound { program: need.program.clone(), remedy: need.install.clone() })
        }
        Some(need) => Err(TargetError::plan(
            format!("{} needs what `{}` does not find", manifest.name, need.label()),
            need.install.clone(),
        )),
    }
}

/// Need → first line of its version, for those that have a version command and answer.
pub(crate) fn versions(manifest: &TargetManifest, folder: &Path) -> BTreeMap<String, String> {
    all(manifest).filter_map(|need| Some((need.label(), program::version(&need.version, folder)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest(needs: &str) -> TargetManifest {
        let text = format!(
            "schema = \"prony.target/1\"\nname = \"x\"\ndescription = \"d\"\nlanguage = \"l\"\n[run]\n\
             command = [\"s\", \"{{port}}\"]\n{needs}"
        );
        schema::text::parse_toml("t", &text).unwrap()
    }

    fn need(what: &str) -> String {
        format!(
            "[[run.needs]]\n{what}\nversion = [\"sh\", \"-c\", \"echo 1.0\"]\ninstall = \"apt-get install it\"\n"
        )
    }

    #[test]
    fn what_is_missing_comes_with_the_advice_of_the_manifest() {
        let check = |script: &str| need(&format!("check = [\"sh\", \"-c\", \"{script}\"]"));
        let there = manifest(&(need("program = \"sh\"") + &check("exit 0")));
        assert!(require(&there, Path::new("/")).is_ok());
        let versions = versions(&there, Path::new("/"));
        assert_eq!(versions.keys().collect::<Vec<_>>(), ["sh", "sh -c exit 0"]);
        for (needs, expected) in [
            (
                need("program = \"no-such-program\""),
                "`no-such-program` is not found or cannot be executed\n  remedy: apt-get install it",
            ),
            (check("exit 1"), "x needs what `sh -c exit 1` does not find\n  remedy: apt-get install it"),
        ] {
            assert_eq!(require(&manifest(&needs), Path::new("/")).unwrap_err().to_string(), expected);
        }
    }
}
