//! Where results go: full disks, places that cannot be written, terminals, and foreign text in every format.

use crate::command::{Done, Server, bad, done, is_there, prony};
use crate::load::{check_report, stats, wait_until};
use schema::json::is_unseen;
use serde_json::Value;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A small file system in memory, unmounted when dropped.
struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    /// `None`, with the reason printed, where this process may not mount.
    fn of(kib: u32) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let size = format!("size={kib}k");
        let options = ["-t", "tmpfs", "-o", &size, "prony-test"];
        match Command::new("mount").args(options).arg(folder.path()).output() {
            Ok(output) if output.status.success() => Some(Self(folder)),
            other => {
                println!("skipped: no tmpfs can be mounted here ({other:?})");
                None
            }
        }
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).display().to_string()
    }

    /// Takes all the room that is left.
    fn fill(&self) {
        let mut file = File::create(self.0.path().join("filler")).unwrap();
        while file.write_all(&[1; 4096]).is_ok() {}
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0.path()).status();
    }
}

#[test]
fn a_disk_that_fills_during_a_load_costs_its_files_and_not_its_result() {
    let Some(disk) = SmallDisk::of(512) else { return };
    let server = Server::start(&["--mean", "1ms"]);
    let (url, out, hgrm) = (server.url("/"), disk.path("x.json"), disk.path("x.hgrm"));
    let (hlog, series) = (disk.path("x.hlog"), disk.path("x.csv"));
    let args = ["load", &url, "-c", "2", "-d", "3s", "-o", &out, "--hgrm", &hgrm, "--hlog", &hlog];
    let rows = disk.path("rows.csv");
    let args = [&args[..], &["--timeseries", &series, "--each", &rows]].concat();
    let child = prony(&args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_until("requests arrive", || stats(&server) > 100);
    disk.fill();
    let done: Done = child.wait_with_output().unwrap().into();
    assert_eq!(done.code, 4, "{done:?}");
    assert!(done.out.contains("completed"), "the result is on the terminal: {done:?}");
    assert!(done.err.contains("No space left") && done.err.contains("remedy"), "{}", done.err);
    assert_eq!(done.err.matches("(os error 28)").count(), 1, "{}", done.err);
    // One of the smaller files may find the room that the log gave back; half a file is never left behind.
    assert!(disk.names().iter().all(|name| !name.ends_with(".tmp")), "{:?}", disk.names());
}

#[test]
fn a_full_disk_is_found_before_the_load() {
    let Some(disk) = SmallDisk::of(128) else { return };
    disk.fill();
    let server = Server::start(&[]);
    for option in ["-o", "--hgrm", "--hlog", "--timeseries", "--each"] {
        let done = done(&["load", &server.url("/"), "-n", "10", option, &disk.path("x.csv")]);
        assert_eq!(done.code, 1, "{option}: {done:?}");
        assert!(done.err.contains("No space left") && done.err.contains("free some space"), "{}", done.err);
    }
    assert_eq!(stats(&server), 0, "nothing was sent");
    assert_eq!(disk.names(), ["filler"]);
}

#[test]
fn a_place_that_cannot_be_written_is_found_before_the_load() {
    let server = Server::start(&[]);
    // Nobody makes files there, not even root.
    for option in ["-o", "--hgrm", "--hlog", "--timeseries", "--each"] {
        let done = done(&["load", &server.url("/"), "-n", "10", option, "/proc/prony.csv"]);
        assert_eq!(done.code, 1, "{option}: {done:?}");
        assert!(done.err.contains("cannot write /proc/prony.csv"), "{}", done.err);
    }
    assert_eq!(stats(&server), 0, "nothing was sent");
}

#[test]
fn a_standard_output_that_is_full_has_its_own_words_and_costs_no_file() {
    let server = Server::start(&[]);
    let folder = tempfile::tempdir().unwrap();
    let (url, series) = (server.url("/"), folder.path().join("x.csv"));
    let full = || Stdio::from(File::options().write(true).open("/dev/full").unwrap());
    let args = ["load", &url, "-n", "100", "-c", "1", "--timeseries", series.to_str().unwrap()];
    let done: Done = prony(&args).stdout(full()).stderr(Stdio::piped()).output().unwrap().into();
    assert_eq!(done.code, 4, "{done:?}");
    assert!(done.err.contains("standard output: No space left on device"), "{}", done.err);
    assert!(done.err.contains("100 completed"), "the result is on the terminal: {}", done.err);
    assert!(series.is_file());
    for args in [&["targets", "list"][..], &["schema", "load"], &["completions", "bash"]] {
        let done: Done = prony(args).stdout(full()).stderr(Stdio::piped()).output().unwrap().into();
        assert_eq!(done.code, 4, "{args:?}: {done:?}");
        assert!(done.err.contains("standard output"), "{args:?}: {done:?}");
    }
}

#[test]
fn a_device_that_takes_nothing_is_an_error_after_the_result() {
    let server = Server::start(&[]);
    let done = done(&["load", &server.url("/"), "-n", "100", "-c", "1", "-o", "/dev/full"]);
    assert_eq!(done.code, 4, "{done:?}");
    assert!(done.out.contains("100 completed") && done.err.contains("/dev/full"), "{done:?}");
}

#[test]
fn a_reader_that_leaves_hides_no_crossed_threshold() {
    let server = Server::start(&[]);
    let url = server.url("/");
    let args = ["load", &url, "-n", "100", "-c", "1", "--fail", "p50>0ms", "--quiet"];
    let mut child = prony(&args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(3));
}

/// Answers every request with the same bytes; ends with the process of the tests.
fn answering(answer: Vec<u8>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let answer = answer.clone();
            std::thread::spawn(move || {
                let mut request = [0; 4096];
                while matches!(stream.read(&mut request), Ok(1..)) && stream.write_all(&answer).is_ok() {}
            });
        }
    });
    addr
}

/// What a terminal would obey: an escape sequence in both spellings, a direction override, an isolate.
const HOSTILE: &str = "a\u{1b}[31mb\u{9b}31mc\u{202e}d\u{2066}e\u{85}f";

#[test]
fn nothing_that_a_server_says_acts_on_a_terminal() {
    let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{HOSTILE}", HOSTILE.len());
    let addr = answering(answer.into_bytes());
    let url = format!("http://{addr}/");
    let folder = tempfile::tempdir().unwrap();
    // An answer that fails a check of its content is kept with its body.
    let scenario = folder.path().join("hostile.toml");
    let text = "schema = \"prony.scenario/1\"\nname = \"hostile\"\n[request]\npath = \"/\"\n[expect]\ncontains = [\"needle\"]\n";
    fs::write(&scenario, text).unwrap();
    let scenario = scenario.to_str().unwrap();
    let mut shown = 0;
    for format in ["text", "json", "csv", "markdown", "html"] {
        let file = |ending: &str| folder.path().join(format!("{format}.{ending}"));
        let (out, series): (PathBuf, PathBuf) = (file("out"), file("ndjson"));
        let args = ["load", &url, "-n", "20", "-c", "2", "--scenario", scenario, "--format", format];
        let files = ["-o", out.to_str().unwrap(), "--timeseries", series.to_str().unwrap()];
        for done in [done(&args), done(&[&args[..], &files].concat())] {
            for text in [done.out, done.err] {
                check_shown(format, &text);
                shown += usize::from(text.contains("31m"));
            }
        }
        for path in [&out, &series] {
            check_shown(format, &fs::read_to_string(path).unwrap());
        }
    }
    assert!(shown > 0, "the body is shown nowhere, so nothing was tried");
    let report: Value =
        serde_json::from_str(&fs::read_to_string(folder.path().join("json.out")).unwrap()).unwrap();
    check_report(&report);
}

fn check_shown(format: &str, text: &str) {
    let bad: Vec<char> = text.chars().filter(|c| is_unseen(*c) && !matches!(c, '\n' | '\t')).collect();
    assert!(bad.is_empty(), "{format}: {bad:?} in\n{text:?}");
}

#[test]
fn a_dumb_terminal_gets_plain_text() {
    if !is_there("script") {
        println!("skipped: script is missing (apt-get install bsdutils)");
        return;
    }
    let server = Server::start(&[]);
    let line = format!("{} load {} -n 100 -c 1", env!("CARGO_BIN_EXE_prony"), server.url("/"));
    let seen = |term: &str| {
        let mut script = Command::new("script");
        script.args(["-qec", &line, "/dev/null"]).env("TERM", term).env_remove("NO_COLOR");
        let output = script.current_dir(Path::new("/")).stdin(Stdio::null()).output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    assert!(seen("xterm").contains('\u{1b}'), "colours where the terminal has them");
    let dumb = seen("dumb");
    assert!(dumb.contains("100 completed") && !dumb.contains('\u{1b}'), "{dumb:?}");
}

#[test]
fn the_places_of_other_long_commands_are_tried_before() {
    for args in [&["calibrate", "-o", "/proc/x"][..], &["run", "experiments/demo.toml", "--junit", "/proc/x"]]
    {
        bad(args, 1, &["cannot write /proc/x"]);
    }
}
