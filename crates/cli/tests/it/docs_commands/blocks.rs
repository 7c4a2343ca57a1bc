//! What the documents ask a reader to type, found in their Markdown.
//!
//! A command stands in a block marked `sh`, or behind `$ ` in one marked `console`, which shows output too. A command
//! in any other block would escape the tests, so it is reported as a mistake. Nothing is executed here.

use crate::command::root;
use std::path::{Path, PathBuf};
use std::process::Command;

/// One command of a document, continuation lines joined.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Line {
    /// From the repository's root.
    pub(super) file: PathBuf,
    /// Counted from 1.
    pub(super) number: usize,
    pub(super) text: String,
}

impl std::fmt::Display for Line {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}: {}", self.file.display(), self.number, self.text)
    }
}

/// The documents that people read: both READMEs and everything below docs.
pub(super) fn documents() -> Vec<PathBuf> {
    let listed = Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard", "README*.md", "docs/*.md"])
        .current_dir(root())
        .output()
        .expect("git is there");
    let text = String::from_utf8(listed.stdout).expect("file names are UTF-8");
    let files: Vec<PathBuf> = text.lines().map(PathBuf::from).filter(|f| root().join(f).is_file()).collect();
    assert!(files.len() > 20, "git listed only {} documents", files.len());
    files
}

/// A line of Markdown with the block that it stands in: the word after the fence, or none outside of blocks.
struct Placed<'a> {
    number: usize,
    text: &'a str,
    block: Option<&'a str>,
}

/// Every line but the fences themselves. A block inside a list is indented; that indentation goes.
fn placed(text: &str) -> Vec<Placed<'_>> {
    let mut lines = Vec::new();
    let mut block: Option<(&str, usize)> = None;
    for (number, line) in text.lines().enumerate().map(|(at, line)| (at + 1, line)) {
        let indent = line.len() - line.trim_start().len();
        match (line.trim_start().strip_prefix("```"), block) {
            (Some(word), None) => block = Some((word.trim(), indent)),
            (Some(_), Some(_)) => block = None,
            (None, Some((word, indent))) => {
                let text = line.get(indent..).unwrap_or(line.trim_start());
                lines.push(Placed { number, text, block: Some(word) });
            }
            (None, None) => lines.push(Placed { number, text: line, block: None }),
        }
    }
    lines
}

/// All commands of a document.
pub(super) fn commands(file: &Path, text: &str) -> Vec<Line> {
    let mut found: Vec<Line> = Vec::new();
    let mut goes_on = false;
    for line in placed(text) {
        let typed = match line.block {
            Some("sh") => line.text,
            Some("console") if goes_on => line.text,
            Some("console") => line.text.strip_prefix("$ ").unwrap_or_default(),
            _ => "",
        };
        let (part, more) = match typed.strip_suffix('\\') {
            Some(part) => (part, true),
            None => (typed, false),
        };
        match found.last_mut().filter(|_| goes_on) {
            Some(last) => last.text.push_str(&format!(" {}", part.trim())),
            None if part.trim().is_empty() || part.trim_start().starts_with('#') => {}
            None => {
                found.push(Line { file: file.to_owned(), number: line.number, text: part.trim().to_owned() });
            }
        }
        goes_on = more;
    }
    found
}

/// Commands of prony in blocks that nobody checks.
pub(super) fn unmarked(file: &Path, text: &str) -> Vec<Line> {
    let is_command = |text: &str| {
        let text = text.trim_start();
        let text = text.strip_prefix("$ ").unwrap_or(text);
        let text = text.strip_prefix("sudo ").unwrap_or(text);
        let rest = text.strip_prefix("target/release/prony ").or_else(|| text.strip_prefix("prony "));
        // `prony ──orders──▶` in a drawing is none, nor is a line of usage with `<COMMAND>`.
        let is_usage = rest.is_some_and(|rest| rest.contains("<COMMAND>"));
        !is_usage && rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_lowercase()))
    };
    let is_unchecked = |line: &Placed<'_>| match line.block {
        Some("sh" | "console") => false,
        Some(_) => is_command(line.text),
        None => line.text.starts_with("    ") && is_command(line.text),
    };
    let found = placed(text).into_iter().filter(is_unchecked);
    found
        .map(|line| Line { file: file.to_owned(), number: line.number, text: line.text.trim().to_owned() })
        .collect()
}

/// What stands between backticks in running text and begins with prony's name.
pub(super) fn inline(file: &Path, text: &str) -> Vec<Line> {
    let mut found = Vec::new();
    for line in placed(text).into_iter().filter(|line| line.block.is_none()) {
        for span in line.text.split('`').skip(1).step_by(2) {
            let bare = span.strip_prefix("sudo ").unwrap_or(span);
            if bare.starts_with("prony ") || bare.starts_with("target/release/prony ") {
                found.push(Line {
                    file: file.to_owned(),
                    number: line.number,
                    text: bare.replace("\\|", "|"),
                });
            }
        }
    }
    found
}

/// Files that a document tells the reader to save: TOML blocks that begin with `# PATH.toml`.
pub(super) fn saved(text: &str) -> Vec<(PathBuf, String)> {
    let mut files: Vec<(PathBuf, String)> = Vec::new();
    let mut before = None;
    for line in placed(text) {
        let is_first = line.block == Some("toml") && before != Some(line.number - 1);
        before = line.block.map(|_| line.number);
        let named =
            line.text.strip_prefix("# ").filter(|name| name.ends_with(".toml") && !name.contains(' '));
        match named.filter(|_| is_first) {
            Some(name) => files.push((PathBuf::from(name), format!("{}\n", line.text))),
            None if is_first => files.push((PathBuf::new(), String::new())),
            None if line.block == Some("toml") => {
                if let Some((_, text)) = files.last_mut() {
                    text.push_str(line.text);
                    text.push('\n');
                }
            }
            None => {}
        }
    }
    files.retain(|(name, _)| !name.as_os_str().is_empty());
    files
}

#[test]
fn commands_are_found_where_they_stand() {
    let text = "a `prony load URL --latency` b\n\n```sh\n# why\nprony a \\\n  b    # c\n\n```\n  ```console\n  $ prony c\n  out\n  ```\n";
    let file = Path::new("x.md");
    let texts: Vec<(usize, String)> =
        commands(file, text).into_iter().map(|line| (line.number, line.text)).collect();
    assert_eq!(texts, [(5, "prony a b    # c".to_owned()), (10, "prony c".to_owned())]);
    assert_eq!(inline(file, text)[0].text, "prony load URL --latency");
    assert!(unmarked(file, text).is_empty());
}

#[test]
fn a_command_in_a_block_without_a_mark_is_a_mistake() {
    let found = |text| unmarked(Path::new("x.md"), text).len();
    assert_eq!(found("```\nprony why runs/x\n```\n"), 1);
    assert_eq!(found("```text\n$ sudo target/release/prony doctor\n```\n"), 1);
    assert_eq!(found("    prony targets\n"), 1);
    assert_eq!(found("```text\nUsage: prony targets\n       prony targets <COMMAND>\n```\n"), 0);
    assert_eq!(found("```\nprony ──orders──▶ prony generator\n```\n"), 0);
}

#[test]
fn files_to_save_are_those_with_a_name() {
    let text = "```toml\n# experiments/mine.toml\n[x]\na = 1\n```\n```toml\n[y]\n```\n";
    assert_eq!(
        saved(text),
        [("experiments/mine.toml".into(), "# experiments/mine.toml\n[x]\na = 1\n".into())]
    );
}
