//! Programs around a load: when they run, what they see, and what their failure does.

use crate::command::{Done, Server, bad, done, good, prony};
use crate::load::{pid, stats, wait_until};
use crate::run::{Lab, read};
use std::path::Path;
use std::process::Stdio;

const ONE: &str = "[[target]]\nreference = { mean = \"1ms\" }";

/// A command line that leaves a file.
fn touch(file: &Path) -> String {
    format!("touch '{}'", file.display())
}

#[test]
fn they_run_around_a_load_and_know_its_url() {
    let (server, folder) = (Server::start(&[]), tempfile::tempdir().unwrap());
    let (seen, gone) = (folder.path().join("seen"), folder.path().join("gone"));
    let setup = format!("echo \"$PRONY_URL\" > '{}'; echo seeded", seen.display());
    let url = server.url("/a?b=1");
    let done = good(&["load", &url, "-n", "10", "-c", "1", "--setup", &setup, "--teardown", &touch(&gone)]);
    assert_eq!(std::fs::read_to_string(seen).unwrap().trim(), url);
    assert!(gone.is_file() && done.err.contains("seeded\n"), "{done:?}");
    assert!(done.out.contains("10 completed"), "{}", done.out);
}

#[test]
fn a_failure_before_the_load_is_told_and_nothing_is_sent() {
    let (server, folder) = (Server::start(&[]), tempfile::tempdir().unwrap());
    let (url, gone) = (server.url("/"), folder.path().join("gone"));
    let load = |more: &[&str]| -> Done {
        let _ = std::fs::remove_file(&gone);
        let teardown = touch(&gone);
        let done = done(&[&["load", &url, "-n", "10", "-c", "1", "--teardown", &teardown], more].concat());
        assert!(gone.is_file(), "what was begun is cleaned up: {done:?}");
        assert_eq!(done.code, 2, "{done:?}");
        done
    };
    let failed = load(&["--setup", "echo no database >&2; exit 7"]);
    for text in ["setup failed", "exit 7", "no database", "remedy"] {
        assert!(failed.err.contains(text), "no `{text}` in {}", failed.err);
    }
    let late = load(&["--setup", "sleep 600", "--hook-timeout", "200ms"]);
    assert!(late.err.contains("took longer than 200ms"), "{}", late.err);
    assert_eq!(stats(&server), 0, "nothing was sent");
}

#[test]
fn a_failure_after_the_load_is_told_beside_the_result() {
    let server = Server::start(&[]);
    let done = done(&["load", &server.url("/"), "-n", "10", "-c", "1", "--teardown", "echo stuck; false"]);
    assert_eq!(done.code, 2, "{done:?}");
    assert!(done.out.contains("10 completed"), "{}", done.out);
    assert!(done.err.contains("teardown failed") && done.err.contains("stuck"), "{}", done.err);
}

#[test]
fn an_interrupt_cleans_up() {
    let (server, folder) = (Server::start(&["--mean", "1ms"]), tempfile::tempdir().unwrap());
    let gone = folder.path().join("gone");
    let args = ["load", &server.url("/"), "-c", "2", "-d", "60s", "--teardown", &touch(&gone)];
    let child = prony(&args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_until("requests arrive", || stats(&server) > 100);
    rustix::process::kill_process(pid(&child), rustix::process::Signal::INT).unwrap();
    let done: Done = child.wait_with_output().unwrap().into();
    assert_eq!(done.code, 130, "{done:?}");
    assert!(gone.is_file(), "{done:?}");
}

#[test]
fn they_run_around_each_trial_and_their_output_is_kept() {
    let hooks = "[hooks]\nsetup = 'echo \"url $PRONY_URL\"'\nteardown = 'echo cleaned'\n";
    let lab = Lab::new(ONE, hooks, "blocks = 2");
    let done = done(&lab.args());
    assert!([0, 2].contains(&done.code), "a busy host may void trials: {done:?}");
    for trial in ["0001", "0002"] {
        let kept =
            |name: &str| std::fs::read_to_string(lab.run().join("trials").join(trial).join(name)).unwrap();
        assert!(kept("setup.log").starts_with("url http://127.0.0.1:"), "{}", kept("setup.log"));
        assert_eq!(kept("teardown.log"), "cleaned\n");
    }
}

#[test]
fn a_trial_that_cannot_be_set_up_ends_the_run() {
    let lab = Lab::new(ONE, "[hooks]\nsetup = 'echo no database; exit 7'\n", "blocks = 2");
    bad(&lab.args(), 2, &["setup failed", "exit 7", "no database"]);
    let trial = read(&lab.run().join("trials/0001/trial.json"));
    assert_eq!(trial["outcome"], "failed");
    assert!(trial["reasons"][0]["text"].as_str().unwrap().contains("no database"), "{}", trial["reasons"]);
    assert!(!lab.run().join("trials/0002").exists());
    // A lab has its turn alone.
    drop(lab);
    let lab = Lab::new(ONE, "[hooks]\nsetup = ' '\n", "blocks = 2");
    bad(&lab.args(), 1, &["hooks", "the command of setup is empty"]);
}
