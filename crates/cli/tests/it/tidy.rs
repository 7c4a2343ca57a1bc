//! The repository's rules that no other tool executes: headers, lengths, fresh schemas, true documents.

use crate::command::{good, root};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

const LINES_MAX: usize = 1000;
const SOURCE: [&str; 8] = ["rs", "go", "php", "java", "js", "ts", "py", "sh"];

/// Files that git tracks or would track; build output and run folders are not among them.
pub(crate) fn files() -> Vec<PathBuf> {
    let listed = Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard"])
        .current_dir(root())
        .output()
        .expect("git is there: the tidy test reads its list of files");
    let text = String::from_utf8(listed.stdout).expect("file names are UTF-8");
    let files: Vec<PathBuf> =
        text.lines().map(PathBuf::from).filter(|file| root().join(file).is_file()).collect();
    assert!(files.len() > 50, "git listed only {} files", files.len());
    files
}

fn is_source(file: &Path) -> bool {
    file.extension().is_some_and(|ending| SOURCE.iter().any(|source| ending == *source))
}

pub(crate) fn read(file: &Path) -> String {
    std::fs::read_to_string(root().join(file)).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

/// What a rule says against a file, if anything.
fn against_header(file: &Path, text: &str) -> Option<String> {
    let first =
        text.lines().find(|line| !line.starts_with("#!") && !line.trim().is_empty()).unwrap_or_default();
    // Java's header is the Javadoc of its class, below the imports.
    if file.extension()? == "java" && text.contains("\n/**") {
        return None;
    }
    let wanted: &[&str] = match file.extension()?.to_str()? {
        "rs" => &["//!"],
        "go" | "java" | "js" | "ts" => &["//", "/*"],
        "php" => &["<?php"],
        _ => &["#", "\"\"\""],
    };
    let has_header = wanted.iter().any(|mark| first.starts_with(mark));
    (!has_header).then(|| format!("{}: no header that says what the file is for", file.display()))
}

fn against_length(file: &Path, text: &str) -> Option<String> {
    let lines = text.lines().count();
    (lines > LINES_MAX)
        .then(|| format!("{}: {lines} lines; split it, {LINES_MAX} is the most", file.display()))
}

fn against_left_overs(file: &Path, text: &str) -> Option<String> {
    // In pieces, so that this file does not contain what it looks for.
    let words = [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("X", "XX:")];
    let word = words.into_iter().find(|word| text.contains(word))?;
    Some(format!("{}: `{word}`; do it, or file an issue", file.display()))
}

#[test]
fn source_files_have_headers_and_bounded_lengths_and_no_left_overs() {
    let wrong: Vec<String> = files()
        .iter()
        .filter(|file| is_source(file))
        .flat_map(|file| {
            let text = read(file);
            [against_header(file, &text), against_length(file, &text), against_left_overs(file, &text)]
        })
        .flatten()
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_rules_themselves_trip() {
    let file = Path::new("x.rs");
    assert!(against_header(file, "use std;\n").is_some() && against_header(file, "//! Good.\n").is_none());
    assert!(against_header(Path::new("x.go"), "package main\n").is_some());
    assert!(against_header(Path::new("X.java"), "package x;\nclass X {\n  /** Y. */\n").is_some());
    assert!(against_header(Path::new("X.java"), "package x;\n/** X. */\nclass X {\n").is_none());
    assert!(against_length(file, &"a\n".repeat(1001)).is_some() && against_length(file, "a\n").is_none());
    assert!(against_left_overs(file, concat!("// TO", "DO: later")).is_some());
}

#[test]
fn unsafe_code_is_denied_everywhere() {
    for file in files().iter().filter(|file| file.ends_with("Cargo.toml") && file.components().count() > 1) {
        assert!(
            read(file).contains("[lints]\nworkspace = true"),
            "{} does not take the workspace lints",
            file.display()
        );
    }
    assert!(read(Path::new("Cargo.toml")).contains("unsafe_code = \"deny\""));
}

/// Every crate of the workspace that one links, by what the manifests say, itself left out.
fn linked(name: &str, direct: &dyn Fn(&str) -> Vec<String>) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut open = direct(name);
    while let Some(next) = open.pop() {
        if found.insert(next.clone()) {
            open.extend(direct(&next));
        }
    }
    found
}

/// What a manifest names under `[dependencies]`: for others than the workspace's own crates, nothing follows from it.
fn direct(name: &str) -> Vec<String> {
    let path = PathBuf::from("crates").join(name).join("Cargo.toml");
    if !root().join(&path).is_file() {
        return Vec::new();
    }
    let manifest: toml::Table = toml::from_str(&read(&path)).expect("cargo has read it");
    manifest["dependencies"].as_table().into_iter().flat_map(|table| table.keys().cloned()).collect()
}

/// Whoever only plans, or reads run folders, must not carry the load generator along (DESIGN, "The second house").
#[test]
fn planners_and_readers_of_run_folders_link_neither_engine_nor_scripts() {
    for reader in ["plan", "record", "index", "serve", "report"] {
        let all = linked(reader, &direct);
        assert!(all.contains("schema"), "{reader}: {all:?}");
        let heavy: Vec<&String> = all
            .iter()
            .filter(|name| ["engine", "script", "mlua", "runner"].contains(&name.as_str()))
            .collect();
        assert!(heavy.is_empty(), "{reader} links {heavy:?}");
    }
    // As the rule would see it if it were broken.
    assert!(linked("runner", &direct).contains("engine"));
    let planted = |name: &str| match name {
        "index" => vec!["record".to_owned()],
        "record" => vec!["engine".to_owned()],
        _ => Vec::new(),
    };
    assert!(linked("index", &planted).contains("engine"));
}

#[test]
fn generated_schemas_are_fresh() {
    let folder = tempfile::tempdir().unwrap();
    good(&["schema", "--write", folder.path().to_str().unwrap()]);
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder.path()).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let stored = std::fs::read_to_string(root().join("docs/schemas").join(&name)).unwrap_or_default();
        assert!(
            stored == std::fs::read_to_string(&path).unwrap(),
            "docs/schemas/{name} is stale: run `make schemas`"
        );
        names.push(name);
    }
    let stored = std::fs::read_dir(root().join("docs/schemas")).unwrap().count();
    assert_eq!(stored, names.len(), "docs/schemas holds a schema that no type generates");
}

#[test]
fn every_relative_link_in_the_documents_leads_somewhere() {
    let mut wrong = Vec::new();
    for file in files().iter().filter(|file| file.extension().is_some_and(|ending| ending == "md")) {
        let text = read(file);
        let folder = root().join(file).parent().unwrap().to_owned();
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let path = link.split('#').next().unwrap_or_default();
            let is_outside = path.is_empty() || path.contains("://") || path.starts_with("mailto:");
            if !is_outside && !folder.join(path).exists() {
                wrong.push(format!("{}: {link}", file.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "links that lead nowhere:\n{}", wrong.join("\n"));
}

#[test]
fn every_experiment_and_scenario_in_the_repository_resolves() {
    for file in files().iter().filter(|file| file.starts_with("experiments")) {
        good(&["run", file.to_str().unwrap(), "--dry-run"]);
    }
}
