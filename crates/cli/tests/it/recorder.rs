//! `prony record`: what goes through it arrives unchanged, and what it wrote can be sent again.

use crate::command::{Server, bad, good, prony, turn};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Stdio};

/// A recording proxy as a process; ended by its pid when dropped.
struct Recorder {
    child: Child,
    said: BufReader<std::process::ChildStderr>,
    addr: String,
}

impl Recorder {
    fn start(to: &str, log: &Path, more: &[&str]) -> Self {
        let args = [&["record", to, "-o", log.to_str().unwrap()], more].concat();
        let mut child = prony(&args).stderr(Stdio::piped()).spawn().expect("prony starts");
        let mut said = BufReader::new(child.stderr.take().expect("stderr is piped"));
        let mut line = String::new();
        said.read_line(&mut line).expect("it says where it listens");
        let addr = line.strip_prefix("listening on ").and_then(|rest| rest.split_once(','));
        let addr = addr.unwrap_or_else(|| panic!("{line}")).0.to_owned();
        Self { child, said, addr }
    }

    /// Ends it as Ctrl-C does; what it said, and its exit code.
    fn interrupt(mut self) -> (String, Option<i32>) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
        let mut text = String::new();
        self.said.read_to_string(&mut text).unwrap();
        (text, self.child.wait().unwrap().code())
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_load_through_it_is_recorded_and_sent_again() {
    let _turn = turn();
    let server = Server::start(&[]);
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("today.json");
    let recorder = Recorder::start(&server.url(""), &log, &[]);
    let scenario = folder.path().join("mix.toml");
    std::fs::write(
        &scenario,
        "schema = \"prony.scenario/1\"\nname = \"mix\"\n[[requests]]\nname = \"read\"\npath = \"/r?n=${counter()}\"\n\
         [[requests]]\nname = \"write\"\nmethod = \"POST\"\npath = \"/w\"\njson = '{\"n\": \"${counter()}\"}'\n",
    )
    .unwrap();
    let url = format!("http://{}", recorder.addr);
    let load =
        ["--scenario", scenario.to_str().unwrap(), "-c", "4", "-n", "60", "-R", "100", "--format", "json"];
    let sent = good(&[&["load", &url, "--quiet"], &load[..]].concat());
    let sent: serde_json::Value = serde_json::from_str(&sent.out).unwrap();
    assert_eq!(sent["requests"]["completed"].as_u64(), Some(60), "{sent}");
    let (said, code) = recorder.interrupt();
    assert_eq!(code, Some(0), "{said}");
    assert!(
        said.contains("today.json recorded: 60 requests of 4 connections") && said.contains("prony replay"),
        "{said}"
    );
    let text = std::fs::read_to_string(&log).unwrap();
    let lines: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let writes: Vec<_> = lines.iter().filter(|line| line["request_method"] == "POST").collect();
    assert!(lines.len() == 60 && !writes.is_empty(), "{text}");
    for line in &writes {
        let body: serde_json::Value = serde_json::from_str(line["request_body"].as_str().unwrap()).unwrap();
        assert!(
            body["n"].is_string() && line["content_type"] == "application/json" && line["status"] == 200,
            "{line}"
        );
    }
    assert_eq!(rustix::fs::stat(&log).unwrap().st_mode & 0o777, 0o600, "bodies are for its owner only");
    let replay = [
        "replay",
        log.to_str().unwrap(),
        "--url",
        &server.url(""),
        "--writes",
        "--",
        "--format",
        "json",
        "--quiet",
    ];
    let again: serde_json::Value = serde_json::from_str(&good(&replay).out).unwrap();
    assert_eq!(again["requests"]["completed"].as_u64(), Some(60), "{again}");
    let posts = again["by_request"]
        .as_array()
        .unwrap()
        .iter()
        .find(|one| one["name"] == "POST application/json")
        .unwrap();
    assert_eq!(posts["requests"]["completed"].as_u64(), Some(writes.len() as u64), "{again}");
}

#[test]
fn bytes_of_another_protocol_pass_unchanged_and_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let echo = TcpListener::bind("127.0.0.1:0").unwrap();
    let to = format!("http://{}", echo.local_addr().unwrap());
    let serving = std::thread::spawn(move || {
        let (mut stream, _) = echo.accept().unwrap();
        let mut all = Vec::new();
        stream.read_to_end(&mut all).unwrap();
        stream.write_all(&all).unwrap();
    });
    let log = folder.path().join("other.json");
    let recorder = Recorder::start(&to, &log, &[]);
    let mut stream = TcpStream::connect(&recorder.addr).unwrap();
    let sent: Vec<u8> = (0..100_000_u32).map(|n| (n % 251) as u8).collect();
    stream.write_all(&sent).unwrap();
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    let mut heard = Vec::new();
    stream.read_to_end(&mut heard).unwrap();
    assert!(heard == sent, "{} of {} bytes", heard.len(), sent.len());
    serving.join().unwrap();
    let (said, code) = recorder.interrupt();
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("1 connections passed on and not read"), "{said}");
    assert_eq!(std::fs::read(&log).unwrap(), b"");
}

#[test]
fn mistakes_are_told_with_their_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log.json");
    let path = log.to_str().unwrap();
    bad(&["record", "https://127.0.0.1:1", "-o", path], 1, &["TLS", "remedy"]);
    bad(&["record", "http://192.0.2.1", "-o", path], 1, &["192.0.2.1", "--consent"]);
    bad(&["record", "http://127.0.0.1:1", "-o", path, "--listen", "0.0.0.0:0"], 1, &["--public"]);
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = taken.local_addr().unwrap().to_string();
    bad(&["record", "http://127.0.0.1:1", "-o", path, "--listen", &addr], 1, &["cannot listen on", "remedy"]);
    assert!(!log.exists(), "nothing is made before all is known to be right");
    std::fs::write(&log, "kept").unwrap();
    bad(&["record", "http://127.0.0.1:1", "-o", path], 1, &["log.json", "does not exist"]);
    assert_eq!(std::fs::read_to_string(&log).unwrap(), "kept");
}
