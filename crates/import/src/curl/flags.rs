//! The flags of curl that are known here, and how a command line is taken apart into them.

use crate::error::{Problem, quoted};
use schema::text::nearest;

/// What a flag does to the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flag {
    Method,
    Header,
    Data,
    DataRaw,
    DataBinary,
    DataUrlencode,
    Json,
    Form,
    FormString,
    Get,
    User,
    Cookie,
    Agent,
    Referer,
    Url,
    Head,
    Compressed,
    MaxTime,
    Globoff,
    Next,
    /// Nothing to do: what prony does anyway.
    Nothing,
    /// About the load, not the request: reported in a note.
    Told(&'static str),
}

const OUTPUT: &str = "flags about curl's own output or retries left out (-s, -o and the like)";
const HTTP1: &str = "requests that ask for HTTP/2 or 3, sent by HTTP/1.1";

/// Letter, long name, whether a value follows, meaning.
const FLAGS: &[(&str, &str, bool, Flag)] = &[
    ("X", "request", true, Flag::Method),
    ("H", "header", true, Flag::Header),
    ("d", "data", true, Flag::Data),
    ("", "data-ascii", true, Flag::Data),
    ("", "data-raw", true, Flag::DataRaw),
    ("", "data-binary", true, Flag::DataBinary),
    ("", "data-urlencode", true, Flag::DataUrlencode),
    ("", "json", true, Flag::Json),
    ("F", "form", true, Flag::Form),
    ("", "form-string", true, Flag::FormString),
    ("G", "get", false, Flag::Get),
    ("u", "user", true, Flag::User),
    ("", "basic", false, Flag::Nothing),
    ("b", "cookie", true, Flag::Cookie),
    ("A", "user-agent", true, Flag::Agent),
    ("e", "referer", true, Flag::Referer),
    ("", "url", true, Flag::Url),
    ("I", "head", false, Flag::Head),
    ("", "compressed", false, Flag::Compressed),
    ("m", "max-time", true, Flag::MaxTime),
    ("g", "globoff", false, Flag::Globoff),
    (":", "next", false, Flag::Next),
    ("", "http1.1", false, Flag::Nothing),
    ("", "path-as-is", false, Flag::Nothing),
    (
        "k",
        "insecure",
        false,
        Flag::Told("requests that accept any certificate, a setting of the load: prony load -k"),
    ),
    (
        "L",
        "location",
        false,
        Flag::Told("requests that follow redirects, which prony does not: a status of 3xx is the answer"),
    ),
    ("", "http2", false, Flag::Told(HTTP1)),
    ("", "http2-prior-knowledge", false, Flag::Told(HTTP1)),
    ("", "http3", false, Flag::Told(HTTP1)),
    ("s", "silent", false, Flag::Told(OUTPUT)),
    ("S", "show-error", false, Flag::Told(OUTPUT)),
    ("v", "verbose", false, Flag::Told(OUTPUT)),
    ("i", "include", false, Flag::Told(OUTPUT)),
    ("", "show-headers", false, Flag::Told(OUTPUT)),
    ("f", "fail", false, Flag::Told(OUTPUT)),
    ("#", "progress-bar", false, Flag::Told(OUTPUT)),
    ("N", "no-buffer", false, Flag::Told(OUTPUT)),
    ("o", "output", true, Flag::Told(OUTPUT)),
    ("O", "remote-name", false, Flag::Told(OUTPUT)),
    ("w", "write-out", true, Flag::Told(OUTPUT)),
    ("", "retry", true, Flag::Told(OUTPUT)),
    (
        "",
        "connect-timeout",
        true,
        Flag::Told("time-outs of connecting, a setting of the load: prony load --connect-timeout"),
    ),
];

/// A flag with its value, which is empty where none belongs to it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Given {
    pub(super) flag: Flag,
    /// As it was written, for messages.
    pub(super) written: String,
    pub(super) value: String,
}

/// Takes the words after `curl` apart. A word that is no flag is a URL.
pub(super) fn parse(words: Vec<String>) -> Result<Vec<Given>, Problem> {
    let mut given = Vec::new();
    let mut words = words.into_iter();
    let mut only_urls = false;
    while let Some(word) = words.next() {
        if word == "--" && !only_urls {
            only_urls = true;
        } else if only_urls || word == "-" || !word.starts_with('-') {
            given.push(Given { flag: Flag::Url, written: "a URL".to_owned(), value: word });
        } else if let Some(name) = word.strip_prefix("--") {
            let (_, _, has_value, flag) = long(name)?;
            let value = if has_value { value(words.next(), &word)? } else { String::new() };
            given.push(Given { flag, written: word, value });
        } else {
            short(&word[1..], &mut words, &mut given)?;
        }
    }
    Ok(given)
}

/// Letters in one word: `-sSXPOST` is `-s -S -X POST`.
fn short(
    letters: &str,
    words: &mut impl Iterator<Item = String>,
    given: &mut Vec<Given>,
) -> Result<(), Problem> {
    for (at, letter) in letters.char_indices() {
        let written = format!("-{letter}");
        let known = FLAGS.iter().find(|(short, ..)| !short.is_empty() && written[1..] == **short);
        let Some((_, _, has_value, flag)) = known else { return Err(unknown(&written, None)) };
        if !has_value {
            given.push(Given { flag: *flag, written, value: String::new() });
            continue;
        }
        let rest = &letters[at + letter.len_utf8()..];
        let value = if rest.is_empty() { value(words.next(), &written)? } else { rest.to_owned() };
        given.push(Given { flag: *flag, written, value });
        return Ok(());
    }
    Ok(())
}

fn long(name: &str) -> Result<(&'static str, &'static str, bool, Flag), Problem> {
    let known = FLAGS.iter().find(|(_, long, ..)| *long == name);
    known.copied().ok_or_else(|| {
        let near = nearest(name, FLAGS.iter().map(|(_, long, ..)| *long));
        unknown(&format!("--{name}"), near)
    })
}

fn value(word: Option<String>, flag: &str) -> Result<String, Problem> {
    word.ok_or_else(|| Problem::new(format!("{flag} has no value"), "write its value after it"))
}

fn unknown(flag: &str, near: Option<&str>) -> Problem {
    let remedy = match near {
        Some(near) => {
            format!("did you mean --{near}? Else leave it out, if the request is the same without it")
        }
        None => "leave it out, if the request is the same without it".to_owned(),
    };
    Problem::new(format!("the flag {} of curl is not known here", quoted(flag)), remedy)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(words: &[&str], expected: &[(Flag, &str)]) {
        let given = parse(words.iter().map(|word| (*word).to_owned()).collect()).unwrap();
        let found: Vec<(Flag, &str)> = given.iter().map(|given| (given.flag, given.value.as_str())).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn letters_may_stand_together() {
        check(
            &["-kXPOST", "-d@f", "-d", "-x", "--url", "u", "--", "-v"],
            &[
                (long("insecure").unwrap().3, ""),
                (Flag::Method, "POST"),
                (Flag::Data, "@f"),
                (Flag::Data, "-x"),
                (Flag::Url, "u"),
                (Flag::Url, "-v"),
            ],
        );
    }

    #[test]
    fn unknown_flags_are_named() {
        for (words, cause, remedy) in [
            (vec!["--heder", "x"], "`--heder`", "--header"),
            (vec!["-sZ"], "`-Z`", "leave it out"),
            (vec!["-é"], "`-é`", "leave it out"),
            (vec!["-H"], "-H has no value", "write"),
        ] {
            let problem = parse(words.into_iter().map(str::to_owned).collect()).expect_err(cause);
            assert!(problem.cause.contains(cause) && problem.remedy.contains(remedy), "{problem:?}");
        }
    }

    #[test]
    fn no_flag_is_listed_twice() {
        for (index, (short, long, ..)) in FLAGS.iter().enumerate() {
            let again = |other: &(&str, &str, bool, Flag)| {
                other.1 == *long || (!short.is_empty() && other.0 == *short)
            };
            assert!(!FLAGS[index + 1..].iter().any(again), "{short} {long}");
        }
    }
}
