//! `prony doctor`: the host's facts, worst first, each with its effect and remedy.

use crate::args::{DoctorArgs, TextOrJson};
use crate::exit;
use anyhow::Result;
use schema::doctor::{Fact, Severity};
use std::cmp::Reverse;
use std::io::Write;

pub(crate) fn doctor(args: &DoctorArgs) -> Result<u8> {
    // Told on standard error: the facts on standard output keep their format.
    let swept = target::confine::sweep();
    for removed in &swept.removed {
        eprintln!("removed {removed}: its guard was killed in an earlier run");
    }
    for left in &swept.left {
        eprintln!("of an earlier run there is still left: {left}");
    }
    let mut found = collect::doctor(&collect::Roots::default());
    let mut out = std::io::stdout();
    if args.format == TextOrJson::Json {
        writeln!(out, "{}", serde_json::to_string_pretty(&found)?)?;
        return Ok(exit::DONE);
    }
    found.facts.sort_by_key(|fact| Reverse(fact.severity));
    for fact in &found.facts {
        write!(out, "{}", lines(fact))?;
    }
    let count = |severity| found.facts.iter().filter(|fact| fact.severity == severity).count();
    writeln!(
        out,
        "\n{} facts: {} problems, {} warnings, {} notes",
        found.facts.len(),
        count(Severity::Problem),
        count(Severity::Warning),
        count(Severity::Note)
    )?;
    Ok(exit::DONE)
}

/// One line for what is as it should be; effect and remedy for the rest.
fn lines(fact: &Fact) -> String {
    let mark = match fact.severity {
        Severity::Ok => "ok     ",
        Severity::Note => "note   ",
        Severity::Warning => "WARNING",
        Severity::Problem => "PROBLEM",
    };
    let value = fact.value.as_deref().unwrap_or("cannot be read");
    let mut text = format!("{mark} {}: {value}\n", fact.title);
    if fact.severity > Severity::Ok {
        text += &format!("          {}\n", fact.effect);
        if let Some(remedy) = &fact.remedy {
            text += &format!("          remedy: {remedy}\n");
        }
    }
    text
}
