//! The pages of `docs/commands`, made from what `prony COMMAND --help` prints, and the table of contents of the site.
//!
//! `make docs-commands` writes the pages (by the environment variable below); without it the test compares. What the
//! help says stands on the page word by word; only its examples become a block marked `sh`, so that they are tested as
//! all other commands of the documents are.

use super::blocks::documents;
use crate::command::{prony, root};
use std::fmt::Write as _;
use std::path::Path;

/// Set by `make docs-commands`.
const WRITE: &str = "PRONY_WRITE_DOCS";
const SUMMARY: &str = "docs/SUMMARY.md";
/// What the generated part of the table of contents stands between.
const MARKS: [&str; 2] = ["<!-- commands begin -->\n", "<!-- commands end -->\n"];

/// Where more than the help is said about a command. A command without a guide is absent.
const GUIDES: [(&str, &str); 26] = [
    ("run", "guides/experiment-file.md"),
    ("knee", "guides/capacity.md"),
    ("plan", "guides/design.md"),
    ("load", "guides/from-other-tools.md"),
    ("replay", "guides/from-access-log.md"),
    ("shape", "guides/load-models.md"),
    ("soak", "guides/soak.md"),
    ("profile", "guides/profiles.md"),
    ("import", "guides/from-other-tools.md"),
    ("model", "guides/from-access-log.md"),
    ("audit", "guides/audit.md"),
    ("report", "guides/report.md"),
    ("serve", "guides/lab.md"),
    ("metrics", "guides/monitoring.md"),
    ("why", "guides/why.md"),
    ("intervene", "guides/why.md"),
    ("compare", "guides/history.md"),
    ("history", "guides/history.md"),
    ("index", "guides/lab.md"),
    ("lab", "guides/lab.md"),
    ("targets", "guides/targets.md"),
    ("services", "guides/targets.md"),
    ("reference", "guides/fault-server.md"),
    ("doctor", "guides/doctor.md"),
    ("calibrate", "guides/calibration.md"),
    ("schema", "formats.md"),
];

/// A command's name and the sentence that its parent's help says of it.
struct Entry {
    name: String,
    about: String,
}

fn help(arguments: &[&str]) -> String {
    let mut all = arguments.to_vec();
    all.push("--help");
    // The width must not depend on who asks.
    let output = prony(&all).env_remove("COLUMNS").output().expect("prony starts");
    assert!(output.status.success(), "{all:?}");
    let text = String::from_utf8(output.stdout).expect("help is UTF-8");
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    lines.join("\n")
}

/// The list under "Commands:"; `help` itself is left out.
fn entries(help: &str) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    for line in lines.take_while(|line| !line.is_empty()) {
        let text = line.trim_start();
        match (line.len() - text.len(), text.split_once("  ")) {
            (2, Some((name, about))) => {
                entries.push(Entry { name: name.into(), about: about.trim().into() });
            }
            (_, _) => {
                let last = entries.last_mut().expect("a continuation follows an entry");
                write!(last.about, " {text}").unwrap();
            }
        }
    }
    entries.retain(|entry| entry.name != "help");
    entries
}

/// The help without its examples, and the examples as commands with their remarks.
fn parted(help: &str) -> (String, Vec<String>) {
    let Some((before, rest)) = help.split_once("\nExamples:\n") else {
        return (help.trim_end().to_owned(), Vec::new());
    };
    let end = rest.find("\n\n").map_or(rest.len(), |at| at + 1);
    let (examples, after) = rest.split_at(end);
    let parts = examples.lines().map(str::trim).filter(|line| !line.is_empty());
    let parts: Vec<(&str, Option<&str>)> = parts
        .map(|line| {
            line.split_once("  ").map_or((line, None), |(command, remark)| (command, Some(remark.trim())))
        })
        .collect();
    let width = parts.iter().map(|(command, _)| command.chars().count()).max().unwrap_or(0);
    let lines = parts
        .into_iter()
        .map(|(command, remark)| match remark {
            Some(remark) => format!("{command:width$}  # {remark}"),
            None => command.to_owned(),
        })
        .collect();
    (format!("{}\n{after}", before.trim_end()).trim_end().to_owned(), lines)
}

/// One command, or one command of a command, as Markdown.
fn section(level: &str, words: &[&str], entry: &Entry) -> String {
    let help = help(words);
    let (text, examples) = parted(&help);
    let mut out = format!("{level} prony {}\n\n{}.\n\n", words.join(" "), entry.about.trim_end_matches('.'));
    let guide = GUIDES.iter().find(|(name, _)| [*name] == *words).map(|(_, guide)| guide);
    if let Some(guide) = guide.filter(|guide| root().join("docs").join(guide).is_file()) {
        writeln!(out, "More: [{guide}](../{guide}).\n").unwrap();
    }
    if !examples.is_empty() {
        writeln!(out, "```sh\n{}\n```\n", examples.join("\n")).unwrap();
    }
    writeln!(out, "```text\n{text}\n```").unwrap();
    for sub in entries(&help) {
        let words: Vec<&str> = words.iter().copied().chain([sub.name.as_str()]).collect();
        write!(out, "\n{}", section(&format!("{level}#"), &words, &sub)).unwrap();
    }
    out
}

/// All files that are made: their names from the root, and their text.
fn made() -> Vec<(String, String)> {
    let help = help(&[]);
    let commands = entries(&help);
    assert!(commands.len() > 20, "prony lists {} commands", commands.len());
    let mut index = String::from(
        "<!-- Made from `prony --help` by `make docs-commands`; a test holds it fresh. -->\n\n# Commands\n\n\
         | command | what it does |\n|---|---|\n",
    );
    let mut contents = String::new();
    let mut files = Vec::new();
    for command in &commands {
        let name = &command.name;
        let about = command.about.replace('|', "\\|");
        writeln!(index, "| [prony {name}]({name}.md) | {about} |").unwrap();
        writeln!(contents, "  - [prony {name}](commands/{name}.md)").unwrap();
        let note = format!(
            "<!-- Made from `prony {name} --help` by `make docs-commands`; a test holds it fresh. -->\n\n"
        );
        files.push((format!("docs/commands/{name}.md"), note + &section("#", &[name], command)));
    }
    let codes = help.split_once("Exit codes:").map_or("", |(_, codes)| codes);
    writeln!(index, "\nExit codes: {}", codes.split_whitespace().collect::<Vec<_>>().join(" ")).unwrap();
    files.push(("docs/commands/index.md".into(), index));
    let summary = std::fs::read_to_string(root().join(SUMMARY)).unwrap();
    let (before, rest) = summary.split_once(MARKS[0]).expect("the mark is there");
    let (_, after) = rest.split_once(MARKS[1]).expect("the mark is there");
    files.push((SUMMARY.into(), format!("{before}{}{contents}{}{after}", MARKS[0], MARKS[1])));
    files
}

#[test]
fn the_pages_of_commands_are_fresh() {
    let made = made();
    let write = std::env::var_os(WRITE).is_some();
    let mut stale = Vec::new();
    for (name, text) in &made {
        let path = root().join(name);
        if write {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, text).unwrap();
        } else if std::fs::read_to_string(&path).unwrap_or_default() != *text {
            stale.push(name.as_str());
        }
    }
    for entry in std::fs::read_dir(root().join("docs/commands")).expect("run `make docs-commands`") {
        let name = format!("docs/commands/{}", entry.unwrap().file_name().to_string_lossy());
        if made.iter().all(|(made, _)| *made != name) {
            stale.push(Box::leak(name.into_boxed_str()));
        }
    }
    assert!(stale.is_empty(), "stale, run `make docs-commands`: {}", stale.join(", "));
}

#[test]
fn the_site_has_every_document_and_the_formats_every_schema() {
    let summary = std::fs::read_to_string(root().join(SUMMARY)).unwrap();
    let pages = documents().into_iter().filter(|file| file.starts_with("docs") && file != Path::new(SUMMARY));
    let missing: Vec<String> = pages
        .map(|file| file.strip_prefix("docs").unwrap().display().to_string())
        .filter(|page| !summary.contains(&format!("]({page})")))
        .collect();
    assert!(missing.is_empty(), "not in {SUMMARY}: {}", missing.join(", "));
    let formats = std::fs::read_to_string(root().join("docs/formats.md")).unwrap();
    for entry in std::fs::read_dir(root().join("docs/schemas")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(formats.contains(&format!("(schemas/{name})")), "docs/formats.md does not name {name}");
    }
}

/// The paths below `/api` that the lab answers, with the placeholders as the guide writes them.
fn lab_paths(source: &str) -> Vec<String> {
    let routes = source.split(".route(\"").skip(1).filter_map(|rest| rest.split('"').next());
    let named = |path: &str| path.replace("{id}", "ID").replace("{trial}", "N").replace("{name}", "NAME");
    routes.filter(|path| path.starts_with("/api/")).map(named).collect()
}

#[test]
fn the_guide_to_the_lab_names_every_path_and_no_other() {
    let source = std::fs::read_to_string(root().join("crates/serve/src/connections.rs")).unwrap();
    let guide = std::fs::read_to_string(root().join("docs/guides/lab.md")).unwrap();
    let paths = lab_paths(&source);
    assert!(paths.len() > 10, "the lab has {} paths", paths.len());
    let told: Vec<&str> = guide
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split(['`', '?']).next()?.split_once(' '))
        .map(|(_, path)| path)
        .filter(|path| path.starts_with("/api/"))
        .collect();
    for path in &paths {
        assert!(told.contains(&path.as_str()), "docs/guides/lab.md does not describe {path}");
    }
    for path in told {
        assert!(
            paths.iter().any(|known| known == path),
            "docs/guides/lab.md describes {path}, which is not there"
        );
    }
}

#[test]
fn help_is_parted_into_text_and_examples() {
    let (text, examples) = parted("A\n\nUsage: x\n\nExamples:\n  prony a   why\n  prony b\n\nLast.");
    assert_eq!(text, "A\n\nUsage: x\n\nLast.");
    assert_eq!(examples, ["prony a  # why", "prony b"]);
    let found = entries("x\n\nCommands:\n  run   Run it\n        all\n  help  Print\n\nOptions:");
    assert_eq!((found.len(), found[0].about.as_str()), (1, "Run it all"));
}
