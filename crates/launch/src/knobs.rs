//! What values of knobs do: variables of the run, variables of the build, and a folder for each build that differs.
//!
//! Invariants: the same values give the same folder, different values of build knobs give different folders, and a
//! folder's name is one plain path component. Values are those of the plan, so a default that changes later changes
//! no run that was planned before.

use schema::knob::Knob;
use schema::target::TargetManifest;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Values by knob; a knob without a value is not set at all.
pub type Values = BTreeMap<String, String>;

/// Longest name of a variant's folder that keeps its words; file systems allow 255 bytes.
const NAME_BYTES_MAX: usize = 200;

/// Every knob that has a default, with it.
#[must_use]
pub fn defaults(manifest: &TargetManifest) -> Values {
    let default = |knob: &Knob| Some((knob.name.clone(), knob.default.clone()?));
    manifest.knob.iter().filter_map(default).collect()
}

/// Variables that the values put into the environment of the run.
#[must_use]
pub fn run_env(manifest: &TargetManifest, values: &Values) -> BTreeMap<String, String> {
    env(manifest, values, |knob| knob.env.as_ref())
}

/// Variables that the values put into the environment of the build.
#[must_use]
pub fn build_env(manifest: &TargetManifest, values: &Values) -> BTreeMap<String, String> {
    env(manifest, values, |knob| knob.build_env.as_ref())
}

fn env(
    manifest: &TargetManifest,
    values: &Values,
    variable: impl Fn(&Knob) -> Option<&String>,
) -> BTreeMap<String, String> {
    let set = |knob: &Knob| Some((variable(knob)?.clone(), values.get(&knob.name)?.clone()));
    manifest.knob.iter().filter_map(set).collect()
}

/// `{build}`, absolute: `.build` in the target's folder; `.build/<knob>=<value>,…` where values of build knobs differ
/// from their defaults.
#[must_use]
pub fn build_folder(folder: &Path, manifest: &TargetManifest, values: &Values) -> PathBuf {
    let base = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned()).join(".build");
    let differs = |knob: &&Knob| knob.build_env.is_some() && values.get(&knob.name) != knob.default.as_ref();
    let mut parts: Vec<String> = manifest
        .knob
        .iter()
        .filter(differs)
        .map(|knob| {
            let value = values.get(&knob.name).map_or_else(String::new, |value| plain(value));
            format!("{}={value}", knob.name)
        })
        .collect();
    if parts.is_empty() {
        return base;
    }
    parts.sort_unstable();
    base.join(bounded(parts.join(",")))
}

/// Letters, digits and `-_.` as they are, other bytes as `%` and two digits.
fn plain(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.".contains(&byte) {
            out.push(byte.into());
        } else {
            let _ = write!(out, "%{byte:02x}");
        }
    }
    out
}

/// A name that is too long becomes its beginning and a digest of the whole.
fn bounded(name: String) -> String {
    if name.len() <= NAME_BYTES_MAX {
        return name;
    }
    // FNV-1a with 64 bits: tells variants of one target apart, nobody attacks it but the owner of the folder.
    let digest = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{}~{digest:016x}", &name[..NAME_BYTES_MAX])
}

/// Whether an entry of `.build` is a variant's folder; a default build's own files have no `=` in their names.
pub(crate) fn is_variant(name: &str) -> bool {
    name.contains('=')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest(knobs: &str) -> TargetManifest {
        let text = format!(
            "schema = \"prony.target/1\"\nname = \"x\"\ndescription = \"d\"\nlanguage = \"l\"\n[build]\n\
             command = [\"make\"]\n[run]\ncommand = [\"{{build}}/s\", \"{{port}}\"]\n{knobs}"
        );
        schema::text::parse_toml("t", &text).unwrap()
    }

    const KNOBS: &str = "[[knob]]\nname = \"tags\"\nabout = \"a\"\ntype = \"text\"\nbuild_env = \"TAGS\"\n\
                         [[knob]]\nname = \"json\"\nabout = \"a\"\ntype = \"choice\"\nchoices = [\"std\", \"sonic\"]\n\
                         default = \"std\"\nbuild_env = \"JSON\"\n\
                         [[knob]]\nname = \"gogc\"\nabout = \"a\"\ntype = \"integer\"\ndefault = \"100\"\nenv = \"GOGC\"\n";

    fn values(pairs: &[(&str, &str)]) -> Values {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn values_go_to_the_run_or_to_the_build() {
        let manifest = manifest(KNOBS);
        let defaults = defaults(&manifest);
        assert_eq!(defaults, values(&[("gogc", "100"), ("json", "std")]));
        assert_eq!(run_env(&manifest, &defaults), values(&[("GOGC", "100")]));
        assert_eq!(build_env(&manifest, &defaults), values(&[("JSON", "std")]), "tags is not set at all");
    }

    #[test]
    fn builds_that_differ_have_folders_of_their_own() {
        let manifest = manifest(KNOBS);
        let folder = |pairs: &[(&str, &str)]| {
            let mut all = defaults(&manifest);
            all.extend(values(pairs));
            build_folder(Path::new("/t"), &manifest, &all).display().to_string()
        };
        for (pairs, expected) in [
            (&[][..], "/t/.build"),
            (&[("gogc", "50")], "/t/.build"),
            (&[("json", "sonic")], "/t/.build/json=sonic"),
            (&[("json", "sonic"), ("tags", "a/../b c")], "/t/.build/json=sonic,tags=a%2f..%2fb%20c"),
            (&[("tags", "")], "/t/.build/tags="),
        ] {
            assert_eq!(folder(pairs), expected);
        }
        let long = |end: &str| folder(&[("tags", &("x".repeat(300) + end))]);
        assert!(long("a") != long("b") && long("a").len() < 250);
    }
}
