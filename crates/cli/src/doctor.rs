//! `prony doctor`: the host's facts, worst first, each with its effect and remedy; tuning it and putting it back; and
//! in what the hosts of two runs differ.
//!
//! Whatever is asked, what dead runs left is removed or put back first; a dry run changes nothing at all.

use crate::args::{DoctorArgs, TextOrJson};
use crate::{exit, output, screen, tuning};
use analyze::Surroundings;
use anyhow::Result;
use record::RunFolder;
use runner::tune::Restored;
use schema::doctor::{DoctorReport, Fact, Severity};
use schema::run::RunFile;
use schema::said;
use schema::said::Said;
use schema::tuning::TunedUntil;
use std::cmp::Reverse;
use std::path::Path;
use units::format::counted;

pub(crate) fn doctor(args: &DoctorArgs) -> Result<u8> {
    if !args.diff.is_empty() {
        return diff(args);
    }
    if args.dry_run {
        return would_tune(args);
    }
    let mut done = DoctorReport::default();
    // Told on standard error: the facts on standard output keep their format.
    sweep(&mut done);
    // Restoring covers what dead runs left.
    let restored = if args.restore { restore()? } else { tuning::recover() };
    let mut code = if restored.has_failed() { exit::FAILED } else { exit::DONE };
    done.put_back = restored.settings;
    done.left.extend(restored.problems.into_iter().map(Said::from));
    if args.tune {
        code = tune(args, &mut done)?;
    }
    show(args.format, done)?;
    Ok(code)
}

/// The facts, and what was done.
fn show(format: TextOrJson, done: DoctorReport) -> Result<()> {
    let found = runner::audit();
    let report = DoctorReport { facts: found.facts, tuned: found.tuned, ..done };
    let text = match format {
        TextOrJson::Json => schema::json::pretty(&report)?,
        TextOrJson::Text => text(&report),
    };
    output::write(None, &text)
}

/// Lists each write and makes none. Fails where none would be allowed.
fn would_tune(args: &DoctorArgs) -> Result<u8> {
    let tuned = tuning::here()?.would_tune(args.turbo_off);
    tuning::tell_would_tune(&tuned);
    let is_refused = tuned.changed.is_empty() && !tuned.refused.is_empty();
    show(
        args.format,
        DoctorReport { would_tune: tuned.changed, not_tuned: tuned.refused, ..DoctorReport::default() },
    )?;
    Ok(if is_refused { exit::FAILED } else { exit::DONE })
}

/// Removes what guards that were killed left.
fn sweep(done: &mut DoctorReport) {
    let swept = launch::confine::sweep();
    for removed in &swept.removed {
        crate::output::say!("removed {removed}: its guard was killed in an earlier run");
    }
    for left in &swept.left {
        crate::output::say!("of an earlier run there is still left: {left}");
    }
    done.removed = swept.removed;
    done.left = swept.left;
}

fn restore() -> Result<Restored> {
    let restored = tuning::here()?.restore();
    tuning::tell_restored(&restored, "");
    if restored.settings.is_empty() && restored.problems.is_empty() {
        crate::output::say!("nothing to put back");
    }
    Ok(restored)
}

/// Fails where everything was refused; a part that is not allowed is said.
fn tune(args: &DoctorArgs, done: &mut DoctorReport) -> Result<u8> {
    let tuned = tuning::here()?.tune(TunedUntil::Restored, args.turbo_off)?;
    tuning::tell_tuned(&tuned);
    if !tuned.changed.is_empty() {
        crate::output::say!("this stays until `prony doctor --restore`, or a reboot");
    }
    let is_refused = tuned.changed.is_empty() && !tuned.refused.is_empty();
    done.not_tuned = tuned.refused;
    Ok(if is_refused { exit::FAILED } else { exit::DONE })
}

/// Two runs, or a run and this host.
fn diff(args: &DoctorArgs) -> Result<u8> {
    let read = |path: &Path| -> Result<RunFile> { Ok(RunFolder::open(path)?.read_run()?) };
    let runs: Vec<RunFile> = args.diff.iter().map(|path| read(path)).collect::<Result<_>>()?;
    let of_run = |run: &'_ RunFile| -> (String, DoctorReport, _) {
        (run.id.clone(), run.environment.clone(), run.versions.clone())
    };
    let now = said!("environment.this_host_now", "this host now");
    let mut sides: Vec<_> = runs.iter().map(of_run).collect();
    if sides.len() == 1 {
        sides.push((now.to_string(), runner::audit(), runner::versions::host()));
    }
    let side = |at: usize| Surroundings { name: &sides[at].0, host: &sides[at].1, versions: &sides[at].2 };
    let mut found = analyze::environment_diff(side(0), side(1));
    if runs.len() == 1 {
        found.b = now;
    }
    let text = match args.format {
        TextOrJson::Json => schema::json::pretty(&found)?,
        TextOrJson::Text => report::environment_text(&found, screen::style()),
    };
    output::write(None, &text)?;
    Ok(exit::DONE)
}

fn text(report: &DoctorReport) -> String {
    let mut facts: Vec<&Fact> = report.facts.iter().collect();
    facts.sort_by_key(|fact| Reverse(fact.severity));
    let mut text: String = facts.iter().map(|fact| lines(fact)).collect();
    for setting in &report.tuned {
        text += &format!("tuned   {}: {}, was {}\n", setting.name, setting.new, setting.old);
    }
    let count =
        |severity, noun| counted(facts.iter().filter(|fact| fact.severity == severity).count() as u64, noun);
    text + &format!(
        "\n{}: {}, {}, {}\n",
        counted(facts.len() as u64, "fact"),
        count(Severity::Problem, "problem"),
        count(Severity::Warning, "warning"),
        count(Severity::Note, "note")
    )
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
