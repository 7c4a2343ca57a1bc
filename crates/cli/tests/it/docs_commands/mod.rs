//! Every command of the documents is read by prony's own argument parser, and, in the slow test, run where that is not too
//! expensive.
//!
//! `blocks` finds the commands, `words` decides the way of each check, `place` makes a folder to type them in, `pages`
//! keeps the pages of `docs/commands` fresh, `examples` computes the examples of the page on statistics.
//! How many were checked in which way, and why not by a run, is printed by the slow test:
//! `cargo test --workspace --test it docs_commands -- --include-ignored --nocapture`.

mod blocks;
mod examples;
mod pages;
mod place;
mod words;

use crate::command::{Done, done, root};
use blocks::Line;
use place::World;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use words::{Step, Way};

/// Documents that are read at a time: most commands wait, for a server or for their turn.
const READERS: usize = 3;

/// How lines were checked, with the reason where they were not run.
type Tally = BTreeMap<String, u32>;

#[test]
fn every_command_of_the_documents_is_understood() {
    let (empty, mut wrong, mut calls) = (tempfile::tempdir().unwrap(), Vec::new(), 0);
    for file in blocks::documents() {
        let text = std::fs::read_to_string(root().join(&file)).unwrap();
        wrong.extend(unmarked(&file, &text));
        for line in blocks::commands(&file, &text) {
            match understood(empty.path(), &line.text) {
                Ok(read) => calls += read.ways.len(),
                Err(error) => wrong.push(format!("{line}\n  {}", error.replace('\n', "\n  "))),
            }
        }
    }
    assert!(calls > 80, "only {calls} calls of prony were found");
    assert!(wrong.is_empty(), "{} commands are wrong:\n{}", wrong.len(), wrong.join("\n"));
    for (line, cause) in MISUNDERSTOOD {
        let error = understood(empty.path(), line).expect_err(line);
        assert!(error.contains(cause), "{line}: no `{cause}` in\n{error}");
    }
}

#[test]
#[ignore = "minutes: makes a load for each command that makes one; part of make test-all"]
fn every_command_of_the_documents_is_right() {
    let (world, documents) = (World::new(), blocks::documents());
    let next = AtomicUsize::new(0);
    let some = || {
        let (mut wrong, mut tally) = (Vec::new(), Tally::new());
        while let Some(file) = documents.get(next.fetch_add(1, Relaxed)) {
            check_document(&world, file, &mut wrong, &mut tally);
        }
        (wrong, tally)
    };
    let (mut wrong, mut tally) = (Vec::new(), Tally::new());
    std::thread::scope(|scope| {
        let readers: Vec<_> = (0..READERS).map(|_| scope.spawn(some)).collect();
        for reader in readers {
            let (more, counted) = reader.join().unwrap();
            wrong.extend(more);
            counted.into_iter().for_each(|(how, count)| *tally.entry(how).or_default() += count);
        }
    });
    planted_mistakes_trip(&world);
    let lines = tally.values().sum::<u32>();
    println!("docs: {lines} command lines");
    for (how, count) in &tally {
        println!("  {count:4} {how}");
    }
    assert!(lines > 80, "only {lines} command lines were found");
    assert!(wrong.is_empty(), "{} commands are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// Commands in blocks that do not say that they hold commands.
fn unmarked(file: &Path, text: &str) -> Vec<String> {
    let says = |line: &Line| format!("{line}\n  mark its block `sh`, or `console` with `$ ` before it");
    blocks::unmarked(file, text).iter().map(says).collect()
}

/// Checks the commands of one document, in a folder of its own.
fn check_document(world: &World, file: &Path, wrong: &mut Vec<String>, tally: &mut Tally) {
    let text = std::fs::read_to_string(root().join(file)).unwrap();
    wrong.extend(unmarked(file, &text));
    let lines = blocks::commands(file, &text);
    if lines.is_empty() {
        return;
    }
    let place = world.place(file, &text);
    for line in &lines {
        match check(world, &place, &line.text) {
            Ok(how) => *tally.entry(how).or_default() += 1,
            Err(error) => wrong.push(format!("{line}\n  {}", error.replace('\n', "\n  "))),
        }
    }
}

#[test]
fn every_flag_in_the_running_text_exists() {
    let mut wrong = Vec::new();
    let mut helps = BTreeMap::new();
    let mut count = 0;
    for file in blocks::documents() {
        let text = std::fs::read_to_string(root().join(&file)).unwrap();
        for line in blocks::inline(&file, &text) {
            count += 1;
            if let Err(error) = check_inline(&line, &mut helps) {
                wrong.push(format!("{line}\n  {error}"));
            }
        }
    }
    println!("docs: {count} mentions of commands in running text");
    assert!(count > 100, "only {count} were found");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Mistakes that are found without anything being run, each with what its error names.
const MISUNDERSTOOD: [(&str, &str); 11] = [
    ("prony load http://127.0.0.1:8080/ --no-such-flag", "--no-such-flag"),
    ("prony load http://127.0.0.1:8080/ -d 10x", "not one of its units"),
    ("prony laod http://127.0.0.1:8080/", "no way to check"),
    ("prony run experiments/demo.toml --tune --no-such-flag", "--no-such-flag"),
    ("prony soak experiments/demo.toml", "--for"),
    ("prony doctor --tune --restore --bogus", "--bogus"),
    ("prony reference --law uniform", "uniform"),
    ("prony calibrate --quick --for", "--for"),
    ("make no-such-rule", "no rule"),
    ("no-such-program | prony audit -", "no-such-program"),
    ("prony load 'http://127.0.0.1:8080/", "quote"),
];

/// In the world of the documents: another would make its run again.
fn planted_mistakes_trip(world: &World) {
    let place = world.place(Path::new("planted.md"), "runs/…");
    for (line, cause) in MISUNDERSTOOD.into_iter().chain([
        ("prony run experiments/no-such-file.toml", "cannot read"),
        ("prony why runs/2020-01-01T00-00-00Z-none", "runs/2020"),
    ]) {
        let error = check(world, &place, line).expect_err(line);
        assert!(error.contains(cause), "{line}: no `{cause}` in\n{error}");
    }
    let mut helps = BTreeMap::new();
    let void = |code, out: &str, err: &str| Done { code, out: out.into(), err: err.into() };
    let excused =
        |code, out, err, has_void_run| place::is_for_want_of_cpu(&void(code, out, err), has_void_run);
    assert!(excused(2, "13.1 % was stolen by its\n  hypervisor", "", false));
    assert!(!excused(1, "13.1 % was stolen by its hypervisor", "", false));
    assert!(!excused(1, "", "this run has no chart `forest`", false), "the run is not void");
    assert!(excused(1, "", "this run has no chart `forest`", true));
    let mut inline =
        |text: &str| check_inline(&Line { file: "x.md".into(), number: 1, text: text.into() }, &mut helps);
    assert!(inline("prony run FILE --no-such-flag").is_err() && inline("prony rum FILE").is_err());
    assert!(inline("prony run FILE --dry-run").is_ok() && inline("prony targets check --all").is_ok());
}

/// A line of which every word is understood.
#[derive(Debug)]
struct Understood {
    steps: Vec<Step>,
    /// How each call of prony is checked, with its arguments, which prony's parser takes.
    ways: Vec<(Way, Vec<String>)>,
    /// Why the other programs cannot be called here, where one cannot.
    elsewhere: Option<String>,
}

fn understood(empty: &Path, line: &str) -> Result<Understood, String> {
    let (steps, mut ways, mut elsewhere) = (words::steps(line)?, Vec::new(), None);
    for step in &steps {
        let Some(arguments) = words::arguments(step) else {
            elsewhere = elsewhere.or(program(step)?);
            continue;
        };
        let way = words::way(arguments)?;
        // Before anything is shortened, which would hide a bad value.
        read_only(empty, arguments)?;
        ways.push((way, arguments.to_vec()));
    }
    Ok(Understood { steps, ways, elsewhere })
}

/// Checks one line; how it was done, or what is wrong.
fn check(world: &World, place: &Path, line: &str) -> Result<String, String> {
    let Understood { mut steps, ways, elsewhere } = understood(&world.empty(), line)?;
    steps.iter_mut().for_each(|step| place::with_runs(&mut step.words));
    let read = ways.iter().find_map(|(way, _)| match way {
        Way::Read(reason) => Some(*reason),
        _ => None,
    });
    if let Some(reason) = elsewhere.or(read.map(str::to_owned)) {
        return Ok(format!("read, not run: {reason}"));
    }
    if let [(Way::Serve, arguments)] = ways.as_slice() {
        let started = served(place, arguments).map(|()| "started and ended".into());
        // It may have written an authority of its own, which the test's own server does not have.
        world.put_authority(place);
        return started;
    }
    let is_dry = ways.iter().any(|(way, _)| *way == Way::Dry);
    let done = world.sh(place, &rewritten(world, &steps));
    let allowed = words::OTHER_CODES.iter().any(|(sub, flag, code, _)| {
        *code == done.code
            && ways.iter().any(|(_, arguments)| {
                arguments.first().is_some_and(|word| word == sub)
                    && (flag.is_empty() || arguments.iter().any(|word| word == flag))
            })
    });
    if done.err.contains("apt-get install fonts-dejavu-core") {
        return Ok("skipped: no font is installed to write a picture with".into());
    }
    if !done.is_good() && !allowed && world.is_for_want_of_cpu(&done) {
        return Ok("skipped: others had this host's CPUs, so that trials are void".into());
    }
    if !done.is_good() && !allowed {
        return Err(format!("exit code {}\n{}{}", done.code, last_lines(&done.out), last_lines(&done.err)));
    }
    Ok(if is_dry { "run with --dry-run".into() } else { "run".into() })
}

/// Whether a program that is not prony can be called here: none where it can, else the reason why not.
fn program(step: &Step) -> Result<Option<String>, String> {
    let name = step.words.iter().find(|word| *word != "sudo").map(String::as_str).unwrap_or_default();
    if name == "make" {
        let makefile = std::fs::read_to_string(root().join("Makefile")).unwrap();
        let rule = step.words.iter().skip(1).find(|word| !word.contains('=')).map_or("", String::as_str);
        let is_rule = makefile.lines().any(|line| line.starts_with(&format!("{rule}:")));
        return is_rule.then(|| Some("make: the rule is there".into())).ok_or(format!("no rule `{rule}`"));
    }
    if let Some((_, reason)) = words::ELSEWHERE.iter().find(|(program, _)| *program == name) {
        return Ok(Some(format!("{name}: {reason}")));
    }
    if !words::BESIDE.contains(&name) {
        return Err(format!("`{name}`: say in docs_commands/words.rs how it is checked"));
    }
    let found = Command::new("which").arg(name).output().expect("which is there").status.success();
    Ok((!found).then(|| format!("{name} is not installed here")))
}

/// Arguments through prony's own parser, in a folder without files and without anything being begun.
fn read_only(empty: &Path, arguments: &[String]) -> Result<(), String> {
    let mut asked = arguments.to_vec();
    // What follows `--` belongs to somebody else.
    let end = asked.iter().position(|word| word == "--").unwrap_or(asked.len());
    asked.insert(end, "--help".into());
    let in_empty = |arguments: &[String]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_prony"));
        command.args(arguments).current_dir(empty).stdin(Stdio::null());
        let output = command.output().expect("prony starts");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (code, said) = in_empty(&asked);
    if code != Some(0) {
        return Err(said);
    }
    // Help is given before it is seen whether anything is missing. These name a file, which is not there, so that they
    // end at once and only the parser has had its say.
    if ["soak", "profile", "intervene", "plan"].contains(&arguments[0].as_str()) {
        let (_, said) = in_empty(arguments);
        if said.contains("try '--help'") {
            return Err(said);
        }
    }
    Ok(())
}

/// Starts a server on a free port, waits until it says where it listens, and ends it.
fn served(place: &Path, arguments: &[String]) -> Result<(), String> {
    let mut arguments: Vec<String> = arguments.iter().filter(|word| *word != "--open").cloned().collect();
    let value_of = |arguments: &[String], flag: &str| {
        arguments.iter().position(|word| word == flag).map(|at| at + 1).filter(|at| *at < arguments.len())
    };
    match value_of(&arguments, "--listen") {
        Some(at) => arguments[at] = "127.0.0.1:0".into(),
        None => arguments.extend(["--listen".into(), "127.0.0.1:0".into()]),
    }
    // As a shell would.
    for word in &mut arguments {
        *word = word.replacen("~/", "", 1);
    }
    // These say their address on standard output, the reference target on standard error.
    let is_lab = ["serve", "metrics"].contains(&arguments[0].as_str());
    let mut command = Command::new(env!("CARGO_BIN_EXE_prony"));
    command.args(&arguments).current_dir(place).stdin(Stdio::null());
    let piped = |is_read: bool| if is_read { Stdio::piped() } else { Stdio::null() };
    let mut child = command.stdout(piped(is_lab)).stderr(Stdio::piped()).spawn().expect("prony starts");
    let (stdout, mut stderr) = (child.stdout.take(), child.stderr.take().expect("stderr is piped"));
    let mut said = String::new();
    match stdout {
        Some(stdout) => address(stdout, &mut said),
        None => address(&mut stderr, &mut said),
    }
    let _ = child.kill();
    let _ = child.wait();
    if said.contains("127.0.0.1:") {
        return Ok(());
    }
    let _ = stderr.take(1 << 16).read_to_string(&mut said);
    Err(said)
}

/// Reads until an address is there or the server has ended; bounded.
fn address(from: impl std::io::Read, said: &mut String) {
    let mut lines = BufReader::new(from.take(1 << 16));
    while !said.contains("127.0.0.1:") && lines.read_line(said).unwrap_or(0) > 0 {}
}

/// The line as it is really run.
fn rewritten(world: &World, steps: &[Step]) -> String {
    let (plain, tls) = (world.plain.addr.to_string(), world.tls.addr.to_string());
    let mut line = Vec::new();
    for step in steps {
        let mut words = step.words.clone();
        if let Some(arguments) = words::arguments(step) {
            let rest =
                words.split_off(words.iter().position(|word| word.ends_with("prony")).unwrap_or(0) + 1);
            let mut short = words::shortened(arguments, &plain, &tls);
            if words::way(arguments) == Ok(Way::Dry) {
                let end = short.iter().position(|word| word == "--").unwrap_or(short.len());
                short.insert(end, "--dry-run".into());
            }
            words = vec!["prony".into()];
            words.extend(short);
            words.extend(rest.into_iter().skip(arguments.len()));
        }
        line.extend(words.iter().map(|word| quoted(word)));
        line.extend(step.then.clone());
    }
    line.join(" ")
}

/// Words as the shell must see them: patterns and redirections stay what they are.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "~/.*:=,@%+-_".contains(c);
    if word == ">" || word == "<" || (!word.is_empty() && word.chars().all(is_plain)) {
        return word.to_owned();
    }
    shlex::try_quote(word).expect("documents hold no NUL").into_owned()
}

/// A mention in running text: the command is there, and its flags are.
fn check_inline(line: &Line, helps: &mut BTreeMap<String, String>) -> Result<(), String> {
    let words: Vec<&str> = line.text.split_whitespace().skip(1).collect();
    let Some(name) = words.first().filter(|word| word.starts_with(|c: char| c.is_ascii_lowercase())) else {
        return Ok(());
    };
    // What prony calls itself, never typed by hand.
    if ["guard", "guard-exec", "generator"].contains(name) {
        return Ok(());
    }
    let mut command = (*name).to_owned();
    let help = help_of(&command, helps).ok_or(format!("there is no command `{name}`"))?;
    let sub = words.get(1).filter(|sub| help.contains(&format!("\n  {sub} ")));
    if let Some(sub) = sub {
        command = format!("{command} {sub}");
    }
    let help = help_of(&command, helps).ok_or(format!("there is no command `{command}`"))?;
    for flag in words.iter().filter(|word| word.starts_with("--") && word.len() > 2) {
        let flag = flag.split(['=', ',', ']', ')']).next().unwrap_or_default();
        let is_there =
            help.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-')).any(|word| word == flag);
        if !is_there {
            return Err(format!("`prony {command}` has no {flag}"));
        }
    }
    Ok(())
}

/// The help of a command, kept; none where there is no such command.
fn help_of(command: &str, helps: &mut BTreeMap<String, String>) -> Option<String> {
    if !helps.contains_key(command) {
        let mut arguments: Vec<&str> = command.split(' ').collect();
        arguments.push("--help");
        let done = done(&arguments);
        helps.insert(command.to_owned(), if done.code == 0 { done.out } else { String::new() });
    }
    helps.get(command).filter(|help| !help.is_empty()).cloned()
}

fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(8)..].iter().map(|line| format!("{line}\n")).collect()
}
