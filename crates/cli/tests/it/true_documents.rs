//! ARCHITECTURE, CONTRIBUTING and TERMS name only what exists, and TERMS lists every name that a result can contain.
//!
//! Text in backticks outside code blocks is checked: a path leads to a file, a command and a flag are known, a name
//! occurs in the sources. Absent on purpose: whether a sentence about them is true.

use crate::command::root;
use crate::tidy::{files, read};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

const DOCUMENTS: [&str; 3] = ["CONTRIBUTING.md", "docs/ARCHITECTURE.md", "docs/TERMS.md"];

/// Text in backticks that names nothing in this repository: samples of a notation, words of other languages.
const SAMPLES: [&str; 7] = ["# PATH.toml", "$ ", "sh", "console", "${…}", "cargo test -p NAME", "engine: …"];

/// The row of TERMS that lists the values of an enumeration of the schemas.
const ROWS: [(&str, &str); 18] = [
    ("ErrorClass", "**failed**"),
    ("Metric", "**metric**"),
    ("TrialOutcome", "**outcome** of a trial"),
    ("CheckOutcome", "**outcome** of a check"),
    ("PutBackOutcome", "**outcome** of putting a setting back"),
    ("EachOutcome", "**row**"),
    ("BeliefLevel", "**belief**"),
    ("Verdict", "**verdict** of a comparison"),
    ("ClaimVerdict", "**verdict** of a claim"),
    ("ThresholdVerdict", "**verdict** of a threshold"),
    ("PublishedVerdict", "**verdict** of a published claim"),
    ("CiVerdict", "**verdict** of two commits"),
    ("LedgerVerdict", "**verdict** of the ledger"),
    ("InterventionVerdict", "**verdict** of an intervention"),
    ("LayerVerdict", "**verdict** of a layer"),
    ("ArrivalVerdict", "**verdict** of the check of arrivals"),
    ("SteadyClass", "**steady class**"),
    ("SoakClass", "**soak class**"),
];

/// What the documents may name.
struct Known {
    /// Every tracked file, relative to the root.
    paths: BTreeSet<String>,
    /// The text of all sources by crate; of those outside of `crates/` under "".
    sources: BTreeMap<String, String>,
    /// Generated pages of commands, by command.
    commands: BTreeMap<String, String>,
    makefile: String,
    npm_scripts: String,
}

impl Known {
    fn new() -> Self {
        let mut known = Self {
            paths: BTreeSet::new(),
            sources: BTreeMap::new(),
            commands: BTreeMap::new(),
            makefile: read(Path::new("Makefile")),
            npm_scripts: read(Path::new("ui/package.json")),
        };
        for file in files() {
            let path = file.to_str().expect("paths of this repository are UTF-8").to_owned();
            if let Some(command) =
                path.strip_prefix("docs/commands/").and_then(|name| name.strip_suffix(".md"))
            {
                known.commands.insert(command.to_owned(), read(&file));
            }
            // Not this file, which plants names that do not exist; not fixtures, which hold foreign text.
            let is_source = [".rs", ".ts", ".tsx", ".toml", ".sh", ".schema.json"]
                .iter()
                .any(|ending| path.ends_with(ending));
            if is_source && !path.ends_with("true_documents.rs") && !path.contains("fixtures") {
                let home = path.strip_prefix("crates/").and_then(|rest| rest.split('/').next());
                known.sources.entry(home.unwrap_or_default().to_owned()).or_default().push_str(&read(&file));
            }
            known.paths.insert(path);
        }
        known
    }

    fn has_path(&self, path: &str) -> bool {
        let folder = format!("{}/", path.trim_end_matches('/'));
        let next = self.paths.range(folder.clone()..).next();
        self.paths.contains(path) || next.is_some_and(|known| known.starts_with(&folder))
    }

    /// Whether a path exists: from the root, or within a crate (`engine/book.rs` is `crates/engine/src/book.rs`), or as
    /// something that the Makefile builds.
    fn leads_somewhere(&self, path: &str) -> bool {
        if let Some((before, after)) = path.split_once('*') {
            return self.paths.iter().any(|known| known.starts_with(before) && known.ends_with(after));
        }
        if let Some((before, _)) = path.split_once('<') {
            return self.has_path(before);
        }
        let in_crate = path.split_once('/').map(|(name, rest)| format!("crates/{name}/src/{rest}"));
        self.has_path(path)
            || in_crate.is_some_and(|path| self.has_path(&path))
            || self.makefile.contains(path)
    }

    /// Whether some source has this name; `a::b::C` behind the name of a crate must occur in that crate.
    fn has_name(&self, name: &str) -> bool {
        let (first, rest) = name.split_once("::").unwrap_or(("", name));
        let is_crate = self.sources.contains_key(first) && !first.is_empty();
        let parts = if is_crate { rest } else { name };
        let says = |part: &str| {
            let within = self.sources.iter().filter(|(home, _)| !is_crate || *home == first);
            within.into_iter().any(|(_, text)| has_word(text, part))
        };
        parts.split("::").all(says) || self.sources.contains_key(name)
    }

    /// Why a text in backticks names nothing, if so.
    fn against(&self, text: &str) -> Option<String> {
        let mut words = text.split(' ');
        let (first, second) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let any_command = |flag: &str| self.commands.values().any(|page| has_word(page, flag));
        let (ok, why) = match first {
            _ if SAMPLES.contains(&text) => (true, ""),
            "cargo" => (true, ""),
            "make" => (self.makefile.contains(&format!("\n{second}:")), "no target of the Makefile"),
            "npm" => {
                let script = text.rsplit(' ').next().unwrap_or_default();
                (self.npm_scripts.contains(&format!("\"{script}\":")), "no script of ui/package.json")
            }
            "prony" if !second.is_empty() => (self.commands.contains_key(second), "no command of prony"),
            _ if first.starts_with("--") => (any_command(first), "no flag of prony"),
            // A place of the system, not of the repository.
            _ if first.starts_with('/') => (true, ""),
            // A variable of the environment, and the version of a file format.
            _ if first.contains('=') || first.starts_with("prony.") => {
                let name = first.split('=').next().unwrap_or_default();
                (self.has_name(name), "no source has it")
            }
            _ if first.contains('/') => (self.leads_somewhere(first), "no such path"),
            _ => {
                let name = text.trim_end_matches("()");
                let is_file = self.paths.iter().any(|path| path.rsplit('/').next() == Some(name));
                (!name.is_empty() && (is_file || self.has_name(name)), "no source has it")
            }
        };
        (!ok).then(|| format!("`{text}`: {why}"))
    }
}

/// Whether a text contains a word that is not a part of a longer one.
fn has_word(text: &str, word: &str) -> bool {
    let is_inner = |letter: char| letter.is_alphanumeric() || letter == '_';
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        !before.is_some_and(is_inner) && !after.is_some_and(is_inner)
    })
}

/// The texts in backticks of a document, those of code blocks left out.
fn in_backticks(document: &str) -> Vec<&str> {
    let outside = document.split("```").step_by(2);
    outside.flat_map(|part| part.split('`').skip(1).step_by(2)).collect()
}

/// The row of a table whose first cell begins with `term`.
fn row<'a>(document: &'a str, term: &str) -> Option<&'a str> {
    document.lines().find(|line| line.strip_prefix("| ").is_some_and(|line| line.starts_with(term)))
}

/// Which of these names a row does not list.
fn missing(terms: &str, term: &str, names: &[String]) -> Vec<String> {
    let Some(row) = row(terms, term) else { return vec![format!("no row {term}")] };
    let listed = |name: &String| row.contains(&format!("`{name}`"));
    names.iter().filter(|name| !listed(name)).map(|name| format!("{term} lacks `{name}`")).collect()
}

/// The enumerations of the schemas whose values people read in results: metrics, classes, outcomes, verdicts.
fn enumerations() -> BTreeMap<String, Vec<String>> {
    let is_shown = |name: &str| {
        ["Verdict", "Class", "Outcome"].iter().any(|end| name.ends_with(end))
            || ["Metric", "BeliefLevel"].contains(&name)
    };
    let schemas = files().into_iter().filter(|file| file.starts_with("docs/schemas"));
    let mut found = BTreeMap::new();
    for schema in schemas {
        let schema: serde_json::Value = serde_json::from_str(&read(&schema)).expect("schemas are JSON");
        for (name, definition) in schema["$defs"].as_object().into_iter().flatten() {
            let of_variants = definition["oneOf"].as_array().into_iter().flatten().map(|one| &one["const"]);
            let of_names = definition["enum"].as_array().into_iter().flatten();
            let values: Vec<String> =
                of_variants.chain(of_names).filter_map(|value| value.as_str().map(str::to_owned)).collect();
            if is_shown(name) && !values.is_empty() {
                found.insert(name.clone(), values);
            }
        }
    }
    found
}

#[test]
fn everything_named_in_backticks_exists() {
    let known = Known::new();
    let mut wrong = Vec::new();
    for document in DOCUMENTS {
        let text = std::fs::read_to_string(root().join(document)).unwrap();
        let found = in_backticks(&text);
        assert!(found.len() > 30, "{document}: only {} names in backticks", found.len());
        wrong
            .extend(found.into_iter().filter_map(|one| Some(format!("{document}: {}", known.against(one)?))));
    }
    assert!(wrong.is_empty(), "named, but not there:\n{}", wrong.join("\n"));
}

#[test]
fn a_name_of_nothing_trips() {
    let known = Known::new();
    let planted = [
        "make tests",
        "npm run tests",
        "prony lode",
        "--flavour-of-load",
        "engine/gone.rs",
        "crates/engine/src/gone/",
        "ui/src/words/gone/*.ts",
        "gone.rs",
        "engine::Generator::measure_sooner",
        "units::Generator",
        "NoSuchType",
        "PRONY_GONE=1",
        "prony.pages/1",
        "two words",
    ];
    for text in planted {
        assert!(known.against(text).is_some(), "`{text}` passes");
    }
    let there =
        ["make test", "prony load --each x.csv", "--each", "engine/book.rs", "engine::Parcel", "ui/dist"];
    for text in there {
        assert_eq!(known.against(text), None);
    }
    assert_eq!(in_backticks("a `b` c\n```\n`d`\n```\n`e`"), ["b", "e"]);
}

/// The Rust files that are excepted from the lint against `unsafe`, but stand in no place that a text names.
fn unsafe_elsewhere(sources: &[(String, String)], section: &str) -> Vec<String> {
    let places: Vec<String> = in_backticks(section)
        .into_iter()
        .filter_map(|place| {
            let (name, rest) = place.split_once('/')?;
            Some(if name == "benches" { place.to_owned() } else { format!("crates/{name}/src/{rest}") })
        })
        .collect();
    let excepted = sources.iter().filter(|(_, text)| text.contains(concat!("unsafe", "_code")));
    let is_named = |path: &str| places.iter().any(|place| path.starts_with(place.as_str()));
    excepted.filter(|(path, _)| !is_named(path)).map(|(path, _)| path.clone()).collect()
}

#[test]
fn unsafe_blocks_stand_only_where_the_architecture_says() {
    let architecture = read(Path::new("docs/ARCHITECTURE.md"));
    let section = architecture.split("## Unsafe code").nth(1).and_then(|rest| rest.split("\n## ").next());
    let section = section.expect("ARCHITECTURE has a section about unsafe code");
    let rust = files().into_iter().filter(|file| file.extension().is_some_and(|ending| ending == "rs"));
    let sources: Vec<(String, String)> = rust
        .filter(|file| file.file_name().is_none_or(|name| name != "tidy.rs"))
        .map(|file| (file.to_str().unwrap().to_owned(), read(&file)))
        .collect();
    assert_eq!(unsafe_elsewhere(&sources, section), Vec::<String>::new());
    let planted = [("crates/wire/src/lib.rs".to_owned(), concat!("#[expect(unsafe", "_code)]").to_owned())];
    assert_eq!(unsafe_elsewhere(&planted, section).len(), 1);
}

#[test]
fn the_terms_list_every_class_metric_gate_and_verdict() {
    let terms = read(Path::new("docs/TERMS.md"));
    let gates: Vec<String> = analyze::gate_names().map(str::to_owned).collect();
    let mut wrong = missing(&terms, "**gate**", &gates);
    let enumerations = enumerations();
    assert!(enumerations.len() >= ROWS.len(), "{enumerations:?}");
    for (name, values) in &enumerations {
        match ROWS.iter().find(|(known, _)| known == name) {
            Some((_, term)) => wrong.extend(missing(&terms, term, values)),
            None => wrong.push(format!("{name} has no row: add one to TERMS, and to ROWS of this test")),
        }
    }
    assert!(wrong.is_empty(), "TERMS is not complete:\n{}", wrong.join("\n"));
}

#[test]
fn a_name_without_a_row_trips() {
    let terms = "| **gate** | `steal`, `canary` |\n";
    let names = ["steal".to_owned(), "arrivals".to_owned()];
    assert_eq!(missing(terms, "**gate**", &names), ["**gate** lacks `arrivals`"]);
    assert_eq!(missing(terms, "**metric**", &names), ["no row **metric**"]);
}
