//! Scripts of requests, line by line: checks of the status, of texts and of values, and values taken for later.
//!
//! A script is a program, and this is no interpreter: a line is known by its form, or it is named and left out.

use super::variables::Variables;
use crate::error::quoted;
use crate::steps::Steps;
use regex::Regex;
use schema::scenario::{Capture, NamedRequest, StatusItem};
use serde::Deserialize;
use serde_json::Value;
use std::sync::LazyLock;

/// An event of the collection with its script.
#[derive(Deserialize)]
pub(super) struct Script {
    #[serde(default)]
    pub(super) listen: String,
    #[serde(default)]
    script: Value,
}

fn known(pattern: &str) -> Regex {
    Regex::new(pattern).expect("the pattern is right")
}

/// The last number of a check of the status.
static STATUS: LazyLock<Regex> = LazyLock::new(|| {
    known(
        r#"(?:pm\.response\.to\.have\.status|pm\.expect\(\s*(?:pm\.response\.code|responseCode\.code)\s*\)\.to\.(?:eql|equal|equals|be\.equal|be\.eql)|pm\.expect\(\s*pm\.response\.code\s*\)\.to\.be\.oneOf)\(\s*\[?([0-9,\s]+)\]?\s*\)"#,
    )
});
static CONTAINS: LazyLock<Regex> = LazyLock::new(|| {
    known(
        r#"pm\.expect\(\s*pm\.response\.text\(\)\s*\)\.to\.(?:include|contain)\(\s*("(?:[^"\\]|\\.)*"|'[^']*')\s*\)"#,
    )
});
/// `pm.expect(json.a.b).to.eql(VALUE)`
static EQUALS: LazyLock<Regex> = LazyLock::new(|| {
    known(
        r#"pm\.expect\(\s*(pm\.response\.json\(\)|[A-Za-z_$][\w$]*)((?:\.[A-Za-z_$][\w$]*|\[\d+\]|\["[^"]+"\]|\['[^']+'\])+)\s*\)\.to\.(?:eql|equal|equals|be\.equal|be\.eql)\(\s*("(?:[^"\\]|\\.)*"|'[^']*'|-?[0-9.]+|true|false|null)\s*\)"#,
    )
});
/// `pm.environment.set("token", json.a.b)`
static SET: LazyLock<Regex> = LazyLock::new(|| {
    known(
        r#"(?:pm\.(?:environment|collectionVariables|globals|variables)\.set|postman\.set(?:Environment|Global)Variable)\(\s*["']([^"']+)["']\s*,\s*(?:(pm\.response\.json\(\)|[A-Za-z_$][\w$]*)((?:\.[A-Za-z_$][\w$]*|\[\d+\]|\["[^"]+"\]|\['[^']+'\])+)|pm\.response\.headers\.get\(\s*["']([^"']+)["']\s*\))\s*\)"#,
    )
});
/// A name for the answer.
static NAMED: LazyLock<Regex> = LazyLock::new(|| {
    known(
        r#"^(?:const|let|var)\s+([A-Za-z_$][\w$]*)\s*=\s*(?:pm\.response\.json\(\)|JSON\.parse\(\s*responseBody\s*\))\s*;?$"#,
    )
});
/// What frames a check and checks nothing itself.
static FRAME: LazyLock<Regex> = LazyLock::new(|| {
    known(
        r#"^(?:pm\.test\(.*(?:\{|=>)|\}?\s*\)?\s*;?|\}\s*\)?\s*;?|//.*|/\*.*\*/|console\.\w+\(.*\);?|["']use strict["'];?)$"#,
    )
});

/// What makes the lines below it depend on something.
static CONDITION: LazyLock<Regex> =
    LazyLock::new(|| known(r"^(?:\}\s*)?(?:if|else|for|while|do|switch|try|catch|finally)\b"));

impl Script {
    fn lines(&self) -> Vec<String> {
        match &self.script["exec"] {
            Value::Array(lines) => lines.iter().map(super::plain).flat_map(|line| split(&line)).collect(),
            Value::String(text) => split(text),
            _ => Vec::new(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lines().iter().all(|line| FRAME.is_match(line.trim()))
    }

    /// Reads the script of a request; says whether it captures a value.
    pub(super) fn read(
        &self,
        title: &str,
        made: &mut NamedRequest,
        variables: &mut Variables,
        steps: &mut Steps<'_>,
    ) -> bool {
        if self.listen != "test" {
            if !self.is_empty() {
                let what = format!("the {} script of {}", self.listen, quoted(title));
                steps.leave_out(&what, "a request has no program before it");
            }
            return false;
        }
        let (mut names, mut captures) = (vec!["jsonData".to_owned()], false);
        // Brackets that are open below a condition.
        let mut below = 0_i64;
        for (number, line) in (1..).zip(self.lines()) {
            let line = line.trim();
            let is_condition = CONDITION.is_match(line);
            if is_condition || below > 0 {
                below = (below + opened(line)).max(0);
                if is_condition {
                    let what = format!("line {number} of the test script of {}", quoted(title));
                    steps.leave_out(&what, &format!("a condition, with all below it: {}", quoted(line)));
                }
                continue;
            }
            if let Some(found) = NAMED.captures(line) {
                names.push(found[1].to_owned());
                continue;
            }
            let is_answer = |of: &str| of == "pm.response.json()" || names.iter().any(|name| name == of);
            // One line may hold a whole test.
            let mut is_known = false;
            for found in STATUS.captures_iter(line) {
                let codes = found[1].split(',').filter_map(|code| code.trim().parse().ok());
                made.expect.status = codes.map(StatusItem::Code).collect();
                is_known = true;
            }
            for found in CONTAINS.captures_iter(line) {
                made.expect.contains.push(unquoted(&found[1]));
                is_known = true;
            }
            for found in EQUALS.captures_iter(line).filter(|found| is_answer(&found[1])) {
                made.expect.json_equals.insert(pointer(&found[2]), value(&found[3]));
                is_known = true;
            }
            for found in SET.captures_iter(line) {
                let capture = match (found.get(2), found.get(3), found.get(4)) {
                    (Some(of), Some(path), _) if is_answer(of.as_str()) => {
                        Capture { json: Some(pointer(path.as_str())), ..Capture::default() }
                    }
                    (_, _, Some(header)) => {
                        Capture { header: Some(header.as_str().to_owned()), ..Capture::default() }
                    }
                    _ => continue,
                };
                made.capture.insert(variables.capture(&found[1]), capture);
                (is_known, captures) = (true, true);
            }
            if !is_known && !line.is_empty() && !FRAME.is_match(line) {
                let what = format!("line {number} of the test script of {}", quoted(title));
                steps.leave_out(&what, &format!("prony has no such check: {}", quoted(line)));
            }
        }
        captures
    }
}

/// Brackets that a line opens beyond those that it closes.
fn opened(line: &str) -> i64 {
    line.bytes().fold(0, |open, byte| open + i64::from(byte == b'{') - i64::from(byte == b'}'))
}

/// A line of the export may hold several.
fn split(text: &str) -> Vec<String> {
    text.lines().map(str::to_owned).collect()
}

/// `.a[0]["b"]` as a JSON pointer.
fn pointer(path: &str) -> String {
    let mut pointer = String::new();
    for part in path.split(['.', '[']).map(|part| part.trim_end_matches(']')).filter(|part| !part.is_empty())
    {
        let part = part.trim_matches(['"', '\'']);
        pointer.push('/');
        pointer.push_str(&part.replace('~', "~0").replace('/', "~1"));
    }
    pointer
}

fn value(text: &str) -> Value {
    match text.strip_prefix('\'') {
        Some(_) => Value::String(unquoted(text)),
        None => serde_json::from_str(text).unwrap_or_else(|_| Value::String(unquoted(text))),
    }
}

fn unquoted(text: &str) -> String {
    serde_json::from_str(text).unwrap_or_else(|_| text.trim_matches(['"', '\'']).to_owned())
}
