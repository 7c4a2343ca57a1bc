//! `docs/sentences.json`: every sentence that the sources say by `said!`, with its English text and the names
//! of its places. The page imports it, so a sentence without a translation does not compile there.
//!
//! Fresh: the test fails where the list is not what the sources say; with `INSTA_UPDATE=always` it writes it.
//! Absent on purpose: a parser of Rust. A call of `said!` is two string literals and a list of names, and is read so.

use crate::command::root;
use crate::tidy::{files, read};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

const LIST: &str = "docs/sentences.json";

/// One call of `said!`.
#[derive(Debug, PartialEq, Eq)]
struct Call {
    id: String,
    english: String,
    args: BTreeSet<String>,
}

/// All calls in a source, but those in its tests, which stand at its end.
fn calls(source: &str) -> Vec<Call> {
    let code = source.find("\n#[cfg(test)]\nmod tests {").map_or(source, |end| &source[..end]);
    // A sentence may stand among the arguments of another: each is read from its own place on.
    code.match_indices("said!(").filter_map(|(at, opening)| call(&code[at + opening.len()..])).collect()
}

/// What follows `said!(`; nothing where that is no call, as in the macro's own definition.
fn call(text: &str) -> Option<Call> {
    let (id, rest) = literal(text)?;
    let (english, rest) = literal(rest.trim_start().strip_prefix(',')?)?;
    Some(Call { id, english, args: names(rest) })
}

/// A string literal at the beginning, without its escapes, and what follows it.
fn literal(text: &str) -> Option<(String, &str)> {
    let text = text.trim_start().strip_prefix('"')?;
    let mut content = String::new();
    let mut rest = text.char_indices().peekable();
    while let Some((at, char)) = rest.next() {
        match char {
            '"' => return Some((content, &text[at + 1..])),
            '\\' => match rest.next()?.1 {
                '\n' => while rest.next_if(|(_, char)| char.is_whitespace()).is_some() {},
                'n' => content.push('\n'),
                other => content.push(other),
            },
            other => content.push(other),
        }
    }
    None
}

/// The names of `, name = value, name` up to the closing bracket. Values are passed over, whatever they hold.
fn names(text: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let (mut depth, mut rest) = (0, text);
    while let Some(char) = rest.chars().next() {
        if char == '"' {
            rest = literal(rest).map_or("", |(_, after)| after);
            continue;
        }
        match char {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' if depth == 0 => break,
            ')' | ']' | '}' => depth -= 1,
            ',' if depth == 0 => {
                let name = rest[1..].trim_start();
                let end = name.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(name.len());
                names.extend(Some(name[..end].to_owned()).filter(|name| !name.is_empty()));
            }
            _ => {}
        }
        rest = &rest[char.len_utf8()..];
    }
    names
}

/// The names in braces.
fn places(english: &str) -> BTreeSet<String> {
    english.split('{').skip(1).filter_map(|rest| Some(rest.split_once('}')?.0.to_owned())).collect()
}

fn all_calls() -> Vec<(String, Call)> {
    let is_source = |file: &Path| {
        file.starts_with("crates")
            && file.extension().is_some_and(|ending| ending == "rs")
            && file.components().nth(2).is_some_and(|folder| folder.as_os_str() == "src")
    };
    let sources = files().into_iter().filter(|file| is_source(file));
    let of = |file: std::path::PathBuf| {
        let name = file.display().to_string();
        calls(&read(&file)).into_iter().map(move |call| (name.clone(), call)).collect::<Vec<_>>()
    };
    sources.flat_map(of).collect()
}

#[test]
fn every_sentence_has_its_places_and_one_meaning() {
    let mut known: BTreeMap<&str, &Call> = BTreeMap::new();
    let mut wrong = Vec::new();
    let all = all_calls();
    assert!(all.len() > 400, "only {} sentences were found", all.len());
    for (file, call) in &all {
        if call.args != places(&call.english) {
            wrong.push(format!(
                "{file}: {} has places {:?} and names {:?}",
                call.id,
                places(&call.english),
                call.args
            ));
        }
        let other = known.insert(&call.id, call);
        if other.is_some_and(|other| other != call) {
            wrong.push(format!("{file}: {} stands twice, with different texts", call.id));
        }
        let is_key = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "._".contains(c);
        if !call.id.contains('.') || !call.id.chars().all(is_key) {
            wrong.push(format!("{file}: {} is no id: small letters with a point", call.id));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_list_of_sentences_is_fresh() {
    let list: BTreeMap<String, serde_json::Value> = all_calls()
        .into_iter()
        .map(|(_, Call { id, english, args })| (id, serde_json::json!({ "english": english, "args": args })))
        .collect();
    let text = serde_json::to_string_pretty(&list).unwrap() + "\n";
    if std::env::var("INSTA_UPDATE").is_ok_and(|update| update == "always") {
        std::fs::write(root().join(LIST), &text).unwrap();
    }
    assert!(
        std::fs::read_to_string(root().join(LIST)).is_ok_and(|written| written == text),
        "{LIST} is not what the sources say: run this test with INSTA_UPDATE=always, then give new sentences their \
         Chinese in ui/src/words/said"
    );
}

#[test]
fn a_call_is_read_as_it_is_written() {
    let source = r#"
        said!("a.b", "no place");
        let x = said!(
            "a.c",
            "{n} of {trials}: \"so\" \
             on",
            n = ids.len(),
            trials = count(all, Noun::Trial),
        );
        said!("a.d", "{x}{y}{w}", x, y = if a { said!("a.e", "e, {z}", z = f("),", 1)) } else { b }, w)
        said!(@value $name $value)
    "#;
    let of = |id: &str, english: &str, args: &[&str]| Call {
        id: id.to_owned(),
        english: english.to_owned(),
        args: args.iter().map(|name| (*name).to_owned()).collect(),
    };
    let found = calls(source);
    assert_eq!(
        found,
        [
            of("a.b", "no place", &[]),
            of("a.c", "{n} of {trials}: \"so\" on", &["n", "trials"]),
            of("a.d", "{x}{y}{w}", &["w", "x", "y"]),
            of("a.e", "e, {z}", &["z"]),
        ]
    );
    // Not of a test, and not a place without a name.
    assert_eq!(calls("\n#[cfg(test)]\nmod tests { said!(\"a.b\", \"x\") }"), []);
    assert_eq!(places("{a} and {b}"), ["a", "b"].map(str::to_owned).into());
}
