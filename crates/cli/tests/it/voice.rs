//! How prony speaks to people: phrases that read as translated appear nowhere, and no sentence of the first minute is
//! longer than it can be read at once (STYLE, "Language").
//!
//! Looked at: the sentences of findings and gates (`docs/sentences.json`), help (`docs/commands`), the page's English
//! words, README and every document for users; for length README, getting-started and the sentences.
//! Absent on purpose: ADRs and comments, whose readers are we.

use crate::tidy::{files, read};
use std::path::Path;

const WORDS_MAX: usize = 30;

/// What may not appear, as whole words in lower case, and what to write instead.
const PHRASES: &[(&str, &str)] = &[
    ("anew", "again"),
    ("cannot be told", "name what is missing"),
    ("tell of", "report"),
    ("tells of", "reports"),
    ("told of", "reported"),
    ("dear", "expensive"),
    ("dearer", "more expensive"),
    ("may lack", "may be missing"),
    ("lays to", "adds to"),
    ("bears them", "carries them"),
    ("goes before", "takes precedence over"),
    ("stands in", "is in"),
    ("stand in", "are in"),
    ("was not shown", "has no measurable effect"),
    ("what was cut", "the discarded warm-up"),
];

/// Words in lower case with one space before and after each; punctuation but apostrophes and hyphens parts words.
fn words(text: &str) -> String {
    let plain: String = text
        .chars()
        .map(|char| if char.is_alphanumeric() || "'’-".contains(char) { char } else { ' ' })
        .collect();
    let mut words: Vec<String> = plain.split_whitespace().map(str::to_lowercase).collect();
    words.insert(0, String::new());
    words.push(String::new());
    words.join(" ")
}

fn against_phrases(text: &str) -> Vec<String> {
    let words = words(text);
    let has = |phrase: &str| words.contains(&format!(" {phrase} "));
    let found = PHRASES.iter().filter(|(phrase, _)| has(phrase));
    found.map(|(phrase, better)| format!("`{phrase}`: write `{better}`")).collect()
}

/// The sentences of a document in Markdown that are too long. Code and the targets of links are no words; a cell of a
/// table is a text of its own.
fn against_length(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut is_code = false;
    for line in text.lines() {
        is_code ^= line.trim_start().starts_with("```");
        if is_code || line.starts_with('#') {
            continue;
        }
        let plain = without(&without(line, "](", ")"), "`", "`");
        let cells = plain.split('|').filter(|cell| !cell.trim().is_empty());
        found.extend(cells.flat_map(sentences).filter(|sentence| is_long(sentence)).map(str::to_owned));
    }
    found
}

/// Everything from `begin` to the next `end` becomes one word.
fn without(text: &str, begin: &str, end: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(begin) {
        let Some((_, after)) = after.split_once(end) else { break };
        plain.push_str(before);
        plain.push_str(if begin == "`" { "X" } else { "" });
        rest = after;
    }
    plain + rest
}

/// A sentence ends with `.`, `!`, `?`, `:` or `;` before a space.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive([' '])
        .fold(vec![(0, 0)], |mut parts: Vec<(usize, usize)>, piece| {
            let last = parts.last_mut().expect("there is one from the start");
            last.1 += piece.len();
            let end = last.1;
            if piece.trim_end().ends_with(['.', '!', '?', ':', ';']) {
                parts.push((end, end));
            }
            parts
        })
        .into_iter()
        .map(|(from, to)| &text[from..to])
}

fn is_long(sentence: &str) -> bool {
    let is_word = |word: &&str| word.chars().any(char::is_alphanumeric);
    sentence.split_whitespace().filter(is_word).count() > WORDS_MAX
}

/// Documents for users, in English.
fn is_for_users(file: &Path) -> bool {
    let is_document = file.extension().is_some_and(|ending| ending == "md")
        && !file.to_string_lossy().contains("zh-CN")
        && !file.starts_with("docs/adr")
        && file.starts_with("docs");
    let words = ["ui/src/words/en.ts", "ui/src/words/lab.en.ts", "ui/src/words/charts.en.ts"];
    let others = ["README.md", "docs/sentences.json"].iter().chain(&words);
    // The law is the house's own, and its words are its author's.
    let is_law = ["docs/METHOD.md", "docs/DESIGN.md"].iter().any(|law| file == Path::new(law));
    (is_document && !is_law) || others.into_iter().any(|other| file == Path::new(other))
}

#[test]
fn nothing_for_users_reads_as_translated() {
    let looked: Vec<_> = files().into_iter().filter(|file| is_for_users(file)).collect();
    assert!(looked.len() > 40, "{looked:?}");
    let wrong: Vec<String> = looked
        .iter()
        .flat_map(|file| {
            let found = against_phrases(&read(file));
            found.into_iter().map(move |what| format!("{}: {what}", file.display()))
        })
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn sentences_of_the_first_minute_are_short() {
    let sentences: serde_json::Value = serde_json::from_str(&read(Path::new("docs/sentences.json"))).unwrap();
    let said = sentences.as_object().unwrap().values().filter_map(|said| said["english"].as_str());
    let said: String = said.flat_map(|english| [english, "\n"]).collect();
    assert!(said.lines().count() > 300);
    for (what, text) in [
        ("README.md", read(Path::new("README.md"))),
        ("docs/getting-started.md", read(Path::new("docs/getting-started.md"))),
        ("docs/sentences.json", said),
    ] {
        let long = against_length(&text);
        assert!(long.is_empty(), "{what}: {long:#?}");
    }
}

#[test]
fn the_rules_of_the_voice_trip() {
    assert_eq!(against_phrases("It is built Anew,\nand dear.").len(), 2);
    assert_eq!(against_phrases("renewal; endearing; it stands"), Vec::<String>::new());
    let long = "word ".repeat(WORDS_MAX + 1);
    assert_eq!(against_length(&format!("Short. {long}.")).len(), 1);
    let short = "word ".repeat(WORDS_MAX - 1);
    let links = format!("{short}[one](a b c d e) | {short}`a b c`: {short}");
    assert_eq!(against_length(&links), Vec::<String>::new());
    assert_eq!(against_length(&format!("```\n{long}\n```\n# {long}")), Vec::<String>::new());
}
