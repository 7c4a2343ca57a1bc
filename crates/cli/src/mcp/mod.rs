//! `prony mcp`: runs for clients of the Model Context Protocol, over standard input and output.
//!
//! JSON-RPC 2.0, a message a line, one answered after the other. Tools are prony's own commands, run as processes whose
//! arguments are made here: what a client sends is compared with a list (names of runs and experiments), read as a number
//! within limits, or refused.
//! Invariants: no tool changes a run, and none but `load` sends anything; `load` is there only where the user said so at the
//! start, goes to loopback and to hosts named then, and keeps the limits given then; an answer has at most
//! [`ANSWER_BYTES_MAX`] bytes; a message, a tool's time and its output are bounded.
//! Absent on purpose: resources, prompts, progress, and any transport but the standard streams.

mod calls;
mod limits;
mod tools;

use crate::args::McpArgs;
use crate::exit;
use anyhow::{Result, bail};
use calls::{Caller, short};
use serde_json::{Value, json};
use std::io::{self, BufRead, Write};

/// Longest answer, with its end of line.
const ANSWER_BYTES_MAX: usize = 4096;
/// Longest identifier of a request, which its answer repeats.
const ID_BYTES_MAX: usize = 200;
/// Longest message that is read.
const MESSAGE_BYTES_MAX: u64 = 1 << 20;
/// Versions of the protocol that this speaks, the newest first.
const VERSIONS: [&str; 3] = ["2025-06-18", "2025-03-26", "2024-11-05"];
/// Numbers of errors in JSON-RPC 2.0.
const PARSE_ERROR: i64 = -32_700;
const INVALID_REQUEST: i64 = -32_600;
const METHOD_NOT_FOUND: i64 = -32_601;
const INVALID_PARAMS: i64 = -32_602;

pub(crate) fn mcp(args: &McpArgs) -> Result<u8> {
    if !args.runs.is_dir() {
        bail!(
            "there is no folder {}\n  remedy: name the folder of the runs: --runs DIR",
            args.runs.display()
        );
    }
    let caller = Caller::new(args)?;
    let (mut from, mut to) = (io::stdin().lock(), io::stdout().lock());
    loop {
        let mut line = Vec::new();
        let read = io::Read::take(&mut from, MESSAGE_BYTES_MAX + 1).read_until(b'\n', &mut line)?;
        if read == 0 {
            return Ok(exit::DONE);
        }
        let answer = if read as u64 > MESSAGE_BYTES_MAX {
            skip_line(&mut from)?;
            Some(error(&Value::Null, INVALID_REQUEST, "the message is longer than a megabyte"))
        } else {
            answered(&line, &caller)
        };
        if let Some(answer) = answer {
            // A client that is gone has ended it.
            if writeln!(to, "{answer}").and_then(|()| to.flush()).is_err() {
                return Ok(exit::DONE);
            }
        }
    }
}

/// To behind the end of a line that is too long.
fn skip_line(from: &mut impl BufRead) -> io::Result<()> {
    loop {
        let held = from.fill_buf()?;
        let (length, ends) = match held.iter().position(|byte| *byte == b'\n') {
            Some(at) => (at + 1, true),
            None => (held.len(), held.is_empty()),
        };
        from.consume(length);
        if ends {
            return Ok(());
        }
    }
}

/// The answer to a message; none to a notification and to an empty line.
fn answered(line: &[u8], caller: &Caller) -> Option<Value> {
    if line.iter().all(u8::is_ascii_whitespace) {
        return None;
    }
    let message: Value = match serde_json::from_slice(line) {
        Ok(message) => message,
        Err(cause) => return Some(error(&Value::Null, PARSE_ERROR, &format!("this is no JSON: {cause}"))),
    };
    let id = &message["id"];
    if !(id.is_null() || id.is_string() || id.is_number()) || id.to_string().len() > ID_BYTES_MAX {
        return Some(error(&Value::Null, INVALID_REQUEST, "the identifier is no number and no short text"));
    }
    let (Some(method), true) = (message["method"].as_str(), message["jsonrpc"] == "2.0") else {
        return Some(error(id, INVALID_REQUEST, "this is no request of JSON-RPC 2.0"));
    };
    // Without an identifier nobody waits for an answer.
    if id.is_null() {
        return None;
    }
    Some(match method {
        "initialize" => result(id, &hello(&message["params"])),
        "ping" => result(id, &json!({})),
        "tools/list" => result(id, &json!({ "tools": tools::list(caller.may_load()) })),
        "tools/call" => called(id, &message["params"], caller),
        other => error(id, METHOD_NOT_FOUND, &format!("there is no method {}", short(other))),
    })
}

fn hello(params: &Value) -> Value {
    let asked = params["protocolVersion"].as_str().unwrap_or_default();
    let version = VERSIONS.into_iter().find(|known| *known == asked).unwrap_or(VERSIONS[0]);
    json!({
        "protocolVersion": version,
        "capabilities": { "tools": {} },
        "serverInfo": { "name": "prony", "version": env!("CARGO_PKG_VERSION") },
        "instructions": "Measured runs of load tests. Call `runs` first; names of runs are arguments of the other tools. \
                         Numbers that a report does not give are not known; do not compute differences of runs yourself, call `compare`.",
    })
}

fn called(id: &Value, params: &Value, caller: &Caller) -> Value {
    let name = params["name"].as_str().unwrap_or_default();
    if !tools::names(caller.may_load()).any(|known| known == name) {
        return error(id, INVALID_PARAMS, &format!("there is no tool {}", short(name)));
    }
    let (text, is_error) = match caller.call(name, &params["arguments"]) {
        Ok(text) => (text, false),
        Err(cause) => (format!("{cause:#}"), true),
    };
    fitting(&text, |text| {
        let content = json!([{ "type": "text", "text": text }]);
        result(id, &json!({ "content": content, "isError": is_error }))
    })
}

/// The answer with as much of a text as fits, cut at the end of a line.
fn fitting(text: &str, answer: impl Fn(&str) -> Value) -> Value {
    let size = |answer: &Value| answer.to_string().len() + 1;
    let whole = answer(text);
    if size(&whole) <= ANSWER_BYTES_MAX {
        return whole;
    }
    const CUT: &str = "\n… cut: the whole is longer than an answer may be";
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    // Escapes make it longer than its bytes, so it is tried.
    let mut kept = lines.len();
    while kept > 0 {
        kept -= (kept / 8).max(1);
        let cut = answer(&format!("{}{CUT}", lines[..kept].concat().trim_end()));
        if size(&cut) <= ANSWER_BYTES_MAX {
            return cut;
        }
    }
    // One line alone is too long.
    let begin: String = text.chars().take(500).collect();
    answer(&format!("{begin}{CUT}"))
}

fn result(id: &Value, result: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "result": result })
}

fn error(id: &Value, code: i64, message: &str) -> Value {
    let message: String = message.chars().take(500).collect();
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_cut_at_a_line_and_stay_within_their_limit() {
        let id = json!(1);
        let make = |text: &str| result(&id, &json!({ "content": [{ "type": "text", "text": text }] }));
        for text in
            ["short\n".to_owned(), "a line\n".repeat(2_000), "\"\u{1}\n".repeat(3_000), "é".repeat(9_000)]
        {
            let answer = fitting(&text, make);
            assert!(answer.to_string().len() < ANSWER_BYTES_MAX, "{}", answer.to_string().len());
            let shown = answer["result"]["content"][0]["text"].as_str().unwrap();
            assert_eq!(shown.contains("… cut"), text.len() > 100, "{shown}");
        }
        let many = fitting(&"a line\n".repeat(2_000), make).to_string().len();
        assert!(many > ANSWER_BYTES_MAX / 2, "{many}: most of the room is used");
    }
}
