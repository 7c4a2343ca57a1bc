//! `ui/test/texts.json`: the plain English texts of the crates whose errors, facts and refusals may reach the page
//! without an id, by file. The page knows them by templates, and its tests hold those against this list.
//!
//! Fresh: the test fails where the list is not what the sources say; with `INSTA_UPDATE=always` it writes it. A place
//! (`{name}`) is written `{}`.
//! Absent on purpose: sentences of `said!` (`sentences.rs`), tests, and literature that a rule cites.

use crate::command::root;
use crate::tidy::{files, read};
use std::collections::BTreeMap;

const LIST: &str = "ui/test/texts.json";

/// The crates whose texts may reach the page.
const CRATES: [&str; 13] = [
    "analyze", "collect", "engine", "generate", "index", "launch", "plan", "probe", "profile", "record",
    "runner", "schema", "serve",
];

/// The string literals of a source that read like a text: words, with a space between them.
fn texts(source: &str) -> Vec<String> {
    let mut found = Vec::new();
    let code = without_tests(source);
    let mut rest = code;
    while let Some(at) = rest.find(['/', '\'', '"', 'r']) {
        let here = &rest[at..];
        if let Some(line) = here.strip_prefix("//") {
            rest = line.find('\n').map_or("", |end| &line[end..]);
        } else if let Some((content, after)) = string(here) {
            if !is_left_out(&code[..code.len() - here.len()]) {
                found.extend(Some(with_holes(&content)).filter(|text| reads(text)));
            }
            rest = after;
        } else {
            rest = character(here).unwrap_or(&here[1..]);
        }
    }
    found
}

/// Up to a module of tests that is written out; one in a file of its own is only named.
fn without_tests(source: &str) -> &str {
    let is_written_out = |at: &usize| {
        let end = source[at + 1..].find(['{', ';']).map(|end| at + 1 + end);
        end.is_some_and(|end| source[end..].starts_with('{'))
    };
    let marks = source.match_indices("\n#[cfg(test)]").chain(source.match_indices("\n#[cfg(all(test"));
    marks.map(|(at, _)| at).filter(is_written_out).min().map_or(source, |end| &source[..end])
}

/// Whether the literal after this is one of `said!`, or cites literature.
fn is_left_out(context: &str) -> bool {
    let context = context.trim_end();
    let is_english = || {
        let id = context.strip_suffix(',').and_then(|id| id.strip_suffix('"'));
        id.and_then(|id| id.rsplit_once('"')).is_some_and(|(call, _)| call.trim_end().ends_with("said!("))
    };
    context.ends_with("said!(") || context.ends_with("source:") || is_english()
}

/// A string literal, raw or not, without its escapes, and what follows it.
fn string(text: &str) -> Option<(String, &str)> {
    if let Some(raw) = text.strip_prefix('r') {
        let marks = raw.len() - raw.trim_start_matches('#').len();
        let end = format!("\"{}", &raw[..marks]);
        let (content, after) = raw[marks..].strip_prefix('"')?.split_once(&end)?;
        return Some((content.to_owned(), after));
    }
    let mut content = String::new();
    let mut rest = text.strip_prefix('"')?.char_indices().peekable();
    while let Some((at, char)) = rest.next() {
        match char {
            '"' => return Some((content, &text[at + 2..])),
            '\\' => match rest.next()?.1 {
                '\n' => while rest.next_if(|(_, char)| char.is_whitespace()).is_some() {},
                'n' => content.push('\n'),
                't' => content.push('\t'),
                other => content.push(other),
            },
            other => content.push(other),
        }
    }
    None
}

/// What follows a character literal; a lifetime is none.
fn character(text: &str) -> Option<&str> {
    let inner = text.strip_prefix('\'')?;
    let end = match inner.strip_prefix('\\') {
        Some(escaped) => 1 + escaped.char_indices().skip(1).find(|(_, char)| *char == '\'')?.0,
        None => inner.chars().next()?.len_utf8(),
    };
    inner.get(end..)?.strip_prefix('\'')
}

fn with_holes(text: &str) -> String {
    let text = text.replace("{{", "\u{1}").replace("}}", "\u{2}");
    let mut out = String::new();
    let mut rest = text.as_str();
    while let Some((before, after)) = rest.split_once('{') {
        out += before;
        out += "{}";
        rest = after.split_once('}').map_or("", |(_, after)| after);
    }
    (out + rest).replace('\u{1}', "{").replace('\u{2}', "}")
}

fn reads(text: &str) -> bool {
    let is_word = |word: &str| word.bytes().filter(u8::is_ascii_lowercase).count() >= 2;
    text.trim().contains(' ') && text.replace("{}", " ").split_whitespace().any(is_word)
}

#[test]
fn the_list_of_texts_is_fresh() {
    let mut list: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for file in files() {
        let name = file.display().to_string();
        let Some(path) = name.strip_prefix("crates/").filter(|path| path.ends_with(".rs")) else { continue };
        let is_source = !path.ends_with("tests.rs") && !path.contains("/tests/") && path.contains("/src/");
        if is_source && path.split('/').next().is_some_and(|name| CRATES.contains(&name)) {
            list.entry(path.to_owned()).or_default().extend(texts(&read(&file)));
        }
    }
    list.retain(|_, texts| !texts.is_empty());
    let text = serde_json::to_string_pretty(&list).unwrap() + "\n";
    if std::env::var("INSTA_UPDATE").is_ok_and(|update| update == "always") {
        std::fs::write(root().join(LIST), &text).unwrap();
    }
    assert!(
        std::fs::read_to_string(root().join(LIST)).is_ok_and(|written| written == text),
        "{LIST} is not what the sources say: run this test with INSTA_UPDATE=always, then give new texts their Chinese \
         in ui/src/words/told"
    );
}

#[test]
fn texts_are_read_as_they_are_written() {
    let source = r##"
        // "not this one"
        let a = "cannot write {path}: \
                 {error}";
        let b: &'static str = 'x'.to_string() + "one" + '"' + r#"a "raw" text"#;
        said!("a.b", "by its id", n = "inside {{of}} it");
        Rule { source: "a book of rules", other: "{} of {}" }
        #[error("the {0} is gone")]
        #[cfg(test)]
        mod tests { "never this one" }
    "##;
    assert_eq!(
        texts(&source.replace("\n        #[cfg(test)]", "\n#[cfg(test)]")),
        ["cannot write {}: {}", "a \"raw\" text", "inside {of} it", "{} of {}", "the {} is gone"]
    );
}
