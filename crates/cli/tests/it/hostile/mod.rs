//! A hostile server and prony's counts held against the server's own, case by case: faults × ways of sending.
//!
//! `make test` runs a selection and `make test-all` the whole suite. With `PRONY_HOSTILE_SECONDS=600` the suite goes on
//! with cases drawn from all combinations for that long; `PRONY_HOSTILE_FROM` names the first of them and
//! `PRONY_HOSTILE_ONLY` a part of the names to run. Every difference names its case.
//!
//! The server is independent of what it tests: it uses neither `wire` nor `testkit`.

mod case;
mod fault;
mod judge;
mod request;
mod server;

use crate::command::prony;
use crate::load::check_schema;
use case::{Case, drawn, selection, suite};
use serde_json::Value;
use server::{Seen, Server};
use std::process::{Output, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// Ends a run that would never end. No case comes near it.
const GUARD: Duration = Duration::from_secs(60);
/// Cases at a time: most of them wait for time-outs or for the start of a process.
const AT_A_TIME: usize = 4;

#[test]
fn counts_equal_those_of_a_hostile_server() {
    all_agree(&selection());
}

#[test]
#[ignore = "some 700 loads, minutes: make test-all"]
fn counts_equal_those_of_a_hostile_server_in_every_case() {
    let cases = suite();
    assert!(cases.len() >= 300, "only {} cases", cases.len());
    all_agree(&cases);
    if let Some(seconds) = number("PRONY_HOSTILE_SECONDS") {
        go_on_for(Duration::from_secs(seconds));
    }
}

#[test]
fn a_wrong_count_is_found() {
    let case = selection().into_iter().find(|case| case.fault.name == "closed in the body");
    let case = case.expect("the selection has one");
    let (report, seen, code) = run(&case).expect("it runs");
    assert_eq!(judge::differences(&case, &report, &seen, code), [""; 0]);
    for place in ["/requests/completed", "/requests/failed", "/requests/scheduled", "/errors/premature_close"]
    {
        for change in [-1, 1] {
            let mut wrong = report.clone();
            let count = wrong.pointer_mut(place).expect("the report has it");
            *count = (count.as_i64().expect("a count") + change).into();
            let found = judge::differences(&case, &wrong, &seen, code);
            assert!(!found.is_empty(), "{place} changed by {change}");
        }
    }
    assert!(!judge::differences(&case, &report, &seen, Some(1)).is_empty(), "another exit code");
}

/// Draws cases until the time is over.
fn go_on_for(time: Duration) {
    let begin = Instant::now();
    let first = number("PRONY_HOSTILE_FROM").unwrap_or(0);
    let next = AtomicU64::new(first);
    let draw = || {
        (begin.elapsed() < time).then(|| {
            loop {
                if let Some(case) = drawn(next.fetch_add(1, Ordering::Relaxed)) {
                    return case;
                }
            }
        })
    };
    agree(&draw);
    eprintln!("hostile: drew the cases from {first} to {}", next.into_inner());
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().map(|text| text.parse().expect("a whole number"))
}

fn all_agree(cases: &[Case]) {
    let next = AtomicU64::new(0);
    agree(&|| {
        cases.get(usize::try_from(next.fetch_add(1, Ordering::Relaxed)).expect("a small number")).copied()
    });
}

/// Runs the cases that `next` gives, and demands that none differs.
fn agree(next: &(dyn Fn() -> Option<Case> + Sync)) {
    let only = std::env::var("PRONY_HOSTILE_ONLY").unwrap_or_default();
    let (differing, run) = (Mutex::new(Vec::new()), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for _ in 0..AT_A_TIME {
            scope.spawn(|| {
                while let Some(case) = next() {
                    if !case.name().contains(&only) {
                        continue;
                    }
                    run.fetch_add(1, Ordering::Relaxed);
                    let found = differences(&case);
                    if !found.is_empty() {
                        let text = format!("{}\n    {}", case.name(), found.join("\n    "));
                        eprintln!("hostile: {text}");
                        differing.lock().unwrap().push(text);
                    }
                }
            });
        }
    });
    let (differing, run) = (differing.into_inner().unwrap(), run.into_inner());
    eprintln!("hostile: {run} cases, {} differ", differing.len());
    assert!(differing.is_empty(), "{} of {run} cases differ:\n{}", differing.len(), differing.join("\n"));
}

fn differences(case: &Case) -> Vec<String> {
    match run(case) {
        Ok((report, seen, code)) => judge::differences(case, &report, &seen, code),
        Err(what) => vec![what],
    }
}

/// Runs one case: prony's report, what the server saw, the exit code; or why there is no report.
fn run(case: &Case) -> Result<(Value, Seen, Option<i32>), String> {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let server = Server::start(case.fault, case.every);
    let mut args = vec!["load".to_owned()];
    args.extend(case.args(folder.path(), &format!("http://{}/", server.addr)));
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let ended = guarded(&args);
    let seen = server.finish();
    let Some(output) = ended else { return Err(format!("still running after {GUARD:?}; server {seen:?}")) };
    let error = String::from_utf8_lossy(&output.stderr);
    if error.contains("panicked") {
        let place = error.lines().skip_while(|line| !line.contains("panicked")).take(2);
        return Err(place.collect::<Vec<_>>().join(" "));
    }
    let report = serde_json::from_slice(&output.stdout)
        .map_err(|problem| format!("no report ({problem}), {}: {error}", output.status))?;
    check_schema("load", &report);
    Ok((report, seen, output.status.code()))
}

/// Runs prony to its end; `None` where the guard had to end it.
fn guarded(args: &[&str]) -> Option<Output> {
    let child = prony(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("prony starts");
    let pid = rustix::process::Pid::from_child(&child);
    let (done, end) = mpsc::channel();
    let waiter = std::thread::spawn(move || {
        let _ = done.send(child.wait_with_output().expect("it is our child"));
    });
    let ended = end.recv_timeout(GUARD).ok();
    if ended.is_none() {
        // It has not been waited for, so the number is still its own.
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
    }
    waiter.join().expect("the waiter does not panic");
    ended
}
