//! What prony is built of: the number of packages in the binary, crates that are in it in several versions, symbols.
//!
//! Every package costs time to build, room in the binary and trust; figures and what was tried: ADR 0017. Counted is what
//! `cargo tree -p prony -e normal` lists on this platform, prony's own crates included.

use crate::command::root;
use crate::tidy::read;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

/// It may fall; who adds a package weighs it in an ADR.
const PACKAGES_MAX: usize = 350;
/// Ours takes the first, a dependency the other; none of them can choose otherwise in the versions that are locked.
const SEVERAL_VERSIONS: [&str; 8] =
    ["base64", "cpufeatures", "fallible-iterator", "getrandom", "rand", "rand_core", "syn", "unicode-width"];

/// Name and version of every package in the binary.
fn packages() -> BTreeSet<(String, String)> {
    let arguments = ["tree", "-p", "prony", "-e", "normal", "--prefix", "none", "--locked", "--offline"];
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let listed = Command::new(cargo).args(arguments).current_dir(root()).output().expect("cargo is there");
    assert!(listed.status.success(), "{}", String::from_utf8_lossy(&listed.stderr));
    let text = String::from_utf8(listed.stdout).expect("names of packages are UTF-8");
    text.lines().filter_map(package).collect()
}

/// Of a line such as `syn v3.0.9 (*)`.
fn package(line: &str) -> Option<(String, String)> {
    let mut words = line.split(' ');
    Some((words.next()?.to_owned(), words.next()?.strip_prefix('v')?.to_owned()))
}

fn in_several_versions(packages: &BTreeSet<(String, String)>) -> Vec<&str> {
    let mut versions: BTreeMap<&str, usize> = BTreeMap::new();
    for (name, _) in packages {
        *versions.entry(name).or_default() += 1;
    }
    versions.into_iter().filter(|(_, count)| *count > 1).map(|(name, _)| name).collect()
}

#[test]
fn the_binary_is_of_no_more_packages_than_it_was() {
    let packages = packages();
    let count = packages.len();
    assert!(count > 100, "cargo listed only {count} packages");
    assert!(count <= PACKAGES_MAX, "{count} packages, {PACKAGES_MAX} were the most");
    assert_eq!(in_several_versions(&packages), SEVERAL_VERSIONS);
}

/// Cargo forgets `strip` of a profile for a package that has a table of its own in it.
#[test]
fn nothing_keeps_the_binary_from_being_stripped() {
    let manifest = read(Path::new("Cargo.toml"));
    assert!(manifest.contains("\nstrip = true\n"));
    for profile in ["release", "dist"] {
        assert!(!manifest.contains(&format!("[profile.{profile}.package.prony]")), "{profile}");
    }
}

#[test]
fn lines_of_cargo_are_read() {
    let read = ["syn v3.0.9 (*)", "syn v2.0.119", "serde v1.0.0", "serde v1.0.0 (*)", ""].map(package);
    let packages: BTreeSet<_> = read.into_iter().flatten().collect();
    assert_eq!((packages.len(), in_several_versions(&packages)), (3, vec!["syn"]));
}

/// `fuzz` is a workspace of its own, so no build of ours renews its lock file.
#[test]
fn the_lock_file_of_fuzz_knows_what_our_crates_need() {
    let lock: toml::Table = read(Path::new("fuzz/Cargo.lock")).parse().expect("a lock file");
    let locked: BTreeMap<&str, &toml::Value> = packages_of(&lock).collect();
    let mut checked = 0;
    let mut missing = Vec::new();
    for (name, package) in &locked {
        let path = root().join("crates").join(name).join("Cargo.toml");
        let Ok(text) = std::fs::read_to_string(path) else { continue };
        let manifest: toml::Table = text.parse().expect("a manifest");
        let known: BTreeSet<&str> = dependencies(package).collect();
        let wanted = manifest.get("dependencies").and_then(toml::Value::as_table).into_iter().flatten();
        let is_optional =
            |value: &toml::Value| value.get("optional").and_then(toml::Value::as_bool) == Some(true);
        for (dependency, _) in wanted.filter(|(_, value)| !is_optional(value)) {
            checked += 1;
            if !known.contains(dependency.as_str()) {
                missing.push(format!("{name} needs {dependency}"));
            }
        }
    }
    assert!(checked > 50, "only {checked} dependencies were looked at");
    assert!(missing.is_empty(), "{missing:?}: `cd fuzz && cargo check` renews the file");
}

fn packages_of(lock: &toml::Table) -> impl Iterator<Item = (&str, &toml::Value)> {
    let all = lock["package"].as_array().expect("packages").iter();
    all.filter(|package| package.get("source").is_none())
        .filter_map(|package| Some((package.get("name")?.as_str()?, package)))
}

/// Names of what a package of a lock file needs, without versions.
fn dependencies(package: &toml::Value) -> impl Iterator<Item = &str> {
    let all = package.get("dependencies").and_then(toml::Value::as_array).into_iter().flatten();
    all.filter_map(|dependency| dependency.as_str()?.split(' ').next())
}
