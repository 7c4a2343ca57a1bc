//! No circle between the files of a crate (DESIGN, "The second house"), from their `use` lines.
//!
//! A file points to the file in which a name that it uses stands; `pub use` in a parent only passes it on and points
//! nowhere. Tests at the end of a file, and files of tests, may use whatever they try.
//! Absent on purpose: paths within expressions, and circles between crates, which cargo refuses.

use crate::command::root;
use crate::tidy::{files, read};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// A module by its path within the crate; the root is empty.
type Module = Vec<String>;

/// One `use`: what it names, from the root of the crate, and whether it only passes the name on.
struct Use {
    path: Module,
    is_passed_on: bool,
}

/// The files of one crate and what each uses.
struct Crate {
    uses: BTreeMap<Module, Vec<Use>>,
}

impl Crate {
    /// Of files by their path below `src`.
    fn new(sources: &[(String, String)]) -> Self {
        let modules: BTreeSet<Module> = sources.iter().map(|(path, _)| module(path)).collect();
        let mut uses = BTreeMap::new();
        for (path, text) in sources {
            let at = module(path);
            let found = statements(text).into_iter().flat_map(|(is_public, tree)| {
                let named = branches(&tree);
                let absolute = named.into_iter().filter_map(|name| absolute(&at, &name, &modules));
                absolute.map(move |path| Use { path, is_passed_on: is_public }).collect::<Vec<_>>()
            });
            uses.insert(at.clone(), found.collect());
        }
        Self { uses }
    }

    /// The file in which a name stands, through whatever passes it on.
    fn home(&self, path: &[String], steps: usize) -> Option<Module> {
        let depth = (0..=path.len()).rev().find(|depth| self.uses.contains_key(&path[..*depth]))?;
        let (at, rest) = path.split_at(depth);
        let passed = rest.first().and_then(|name| {
            let mut passing = self.uses[at].iter().filter(|one| one.is_passed_on);
            passing.find(|one| one.path.last() == Some(name))
        });
        match passed {
            Some(on) if steps > 0 => {
                let further: Module = on.path.iter().chain(&rest[1..]).cloned().collect();
                self.home(&further, steps - 1)
            }
            _ => Some(at.to_vec()),
        }
    }

    fn arrows(&self) -> BTreeMap<Module, BTreeSet<Module>> {
        let of = |(at, uses): (&Module, &Vec<Use>)| {
            let plain = uses.iter().filter(|one| !one.is_passed_on);
            let to = plain.filter_map(|one| self.home(&one.path, 8)).filter(|to| to != at);
            (at.clone(), to.collect())
        };
        self.uses.iter().map(of).collect()
    }

    /// The files from which arrows lead back to themselves.
    fn in_circles(&self) -> Vec<String> {
        let arrows = self.arrows();
        let returns = |from: &Module| {
            let mut seen = BTreeSet::new();
            let mut open: Vec<&Module> = arrows[from].iter().collect();
            while let Some(next) = open.pop() {
                if seen.insert(next) {
                    open.extend(&arrows[next]);
                }
            }
            seen.contains(from)
        };
        arrows.keys().filter(|from| returns(from)).map(|module| module.join("::")).collect()
    }
}

/// `a/b.rs` and `a/b/mod.rs` are `a::b`; `lib.rs` and `main.rs` are the root.
fn module(path: &str) -> Module {
    let path = path.trim_end_matches(".rs");
    let mut parts: Module = path.split('/').map(str::to_owned).collect();
    if parts.last().is_some_and(|last| ["mod", "lib", "main"].contains(&last.as_str())) {
        parts.pop();
    }
    parts
}

/// The `use` statements of a file outside its tests: whether public, and the tree behind the word.
fn statements(text: &str) -> Vec<(bool, String)> {
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let code: Vec<&str> = text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect();
    let mut found = Vec::new();
    for statement in code.join("\n").split(';') {
        // What stands before the last `use` at the beginning of a line belongs to what is not asked for.
        let Some(start) = statement.rfind("use ").filter(|start| is_first_word(&statement[..*start])) else {
            continue;
        };
        let before = statement[..start].lines().last().unwrap_or_default();
        found.push((before.trim_start().starts_with("pub"), statement[start + 4..].trim().to_owned()));
    }
    found
}

fn is_first_word(before: &str) -> bool {
    let line = before.rsplit('\n').next().unwrap_or_default().trim();
    line.is_empty() || (line.starts_with("pub") && !line.contains(' '))
}

/// `a::{b, c::{d, e}}` as `a::b`, `a::c::d`, `a::c::e`; another name (`as`) is left out.
fn branches(tree: &str) -> Vec<String> {
    let tree = tree.trim();
    let Some((stem, rest)) = tree.split_once('{') else {
        return vec![tree.split(" as ").next().unwrap_or_default().trim().to_owned()];
    };
    let body = &rest[..rest.rfind('}').unwrap_or(rest.len())];
    let mut parts = vec![String::new()];
    let mut depth = 0;
    for letter in body.chars() {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(String::new());
                continue;
            }
            _ => {}
        }
        parts.last_mut().expect("it begins with one").push(letter);
    }
    let parts = parts.iter().filter(|part| !part.trim().is_empty());
    parts.flat_map(|part| branches(part)).map(|part| format!("{stem}{part}")).collect()
}

/// What a path means from the root of the crate; `None` where it leads out of it.
fn absolute(at: &[String], path: &str, modules: &BTreeSet<Module>) -> Option<Module> {
    let mut names: Vec<&str> = path.split("::").map(str::trim).filter(|name| *name != "self").collect();
    let mut from: Module = at.to_vec();
    match names.first()? {
        &"crate" => {
            from.clear();
            names.remove(0);
        }
        &"super" => {
            while names.first() == Some(&"super") {
                from.pop();
                names.remove(0);
            }
        }
        first => {
            let child: Module = at.iter().cloned().chain([(*first).to_owned()]).collect();
            if !modules.contains(&child) {
                return None;
            }
        }
    }
    Some(from.into_iter().chain(names.into_iter().map(str::to_owned)).collect())
}

/// The sources of a crate below `src`, without files of tests.
fn sources(name: &str) -> Vec<(String, String)> {
    let folder = format!("crates/{name}/src/");
    let is_test = |path: &str| {
        let stem = path.trim_end_matches(".rs").rsplit('/').next().unwrap_or_default();
        stem == "tests" || stem.ends_with("_tests") || stem == "oracle"
    };
    let below = files().into_iter().filter_map(|file| {
        let path = file.to_str()?.strip_prefix(&folder)?.to_owned();
        (path.ends_with(".rs") && !is_test(&path)).then(|| (path, read(&file)))
    });
    below.collect()
}

#[test]
fn no_new_circle_between_the_files_of_a_crate() {
    let mut wrong = Vec::new();
    for entry in std::fs::read_dir(root().join("crates")).unwrap() {
        let name = entry.unwrap().file_name().to_str().unwrap().to_owned();
        if !root().join("crates").join(&name).join(Path::new("src")).is_dir() {
            continue;
        }
        let circles = Crate::new(&sources(&name)).in_circles();
        if !circles.is_empty() {
            wrong.push(format!("{name}: {} files in circles: {}", circles.len(), circles.join(", ")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_circle_is_found_through_what_passes_a_name_on() {
    let of = |sources: &[(&str, &str)]| {
        let owned: Vec<(String, String)> =
            sources.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
        Crate::new(&owned).in_circles()
    };
    let straight =
        [("lib.rs", "mod a;\nmod b;\npub use a::A;\n"), ("a.rs", "use crate::b::B;\n"), ("b.rs", "")];
    assert!(of(&straight).is_empty());
    let passed = [
        ("lib.rs", "mod a;\nmod b;\npub use a::A;\n"),
        ("a.rs", "use crate::b::B;\n"),
        ("b.rs", "use crate::A;\n"),
    ];
    assert_eq!(of(&passed), ["a", "b"]);
    let nested = [
        ("lib.rs", "mod c;\n"),
        ("c/mod.rs", "mod d;\nuse d::{X, deep::{Y, Z}};\n"),
        ("c/d.rs", "use super::super::c::Thing;\n"),
    ];
    assert_eq!(of(&nested), ["c", "c::d"]);
    let of_tests = [
        ("a.rs", "use crate::b::B;\n"),
        ("b.rs", "// use crate::a::A;\n#[cfg(test)]\nmod tests {\n    use crate::a::A;\n}\n"),
    ];
    assert!(of(&of_tests).is_empty());
    assert_eq!(branches("a::{b, c::{d, e as f}}"), ["a::b", "a::c::d", "a::c::e"]);
}
