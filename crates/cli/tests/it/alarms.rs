//! Alarms of a load, a run and a soak: planted faults of the reference target, a webhook that listens, and a real
//! Alertmanager where the host has one.

use crate::command::{Done, Server, bad, done, good, is_there, prony, turn};
use crate::load::{check_report, check_schema, stats, wait_until};
use crate::program::Program;
use crate::run::read;
use serde_json::Value;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

/// A webhook that takes all it is sent; it ends with the process of the tests.
struct Hook {
    url: String,
    taken: Arc<Mutex<Vec<Value>>>,
}

impl Hook {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/hook?room=1", listener.local_addr().unwrap());
        let taken = Arc::new(Mutex::new(Vec::new()));
        let all = taken.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (head, body) = request(&stream);
                assert!(head.starts_with("POST /hook?room=1 HTTP/1.1\r\n"), "{head}");
                assert!(head.contains("Content-Type: application/json\r\n"), "{head}");
                all.lock().unwrap().push(serde_json::from_slice(&body).expect("JSON"));
                let _ = (&stream).write_all(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n");
            }
        });
        Self { url, taken }
    }

    /// State and condition of each alarm that came, and each is held against its schema.
    fn taken(&self) -> Vec<(String, String)> {
        let taken = self.taken.lock().unwrap();
        taken.iter().for_each(|line| check_schema("alarm", line));
        let text = |line: &Value, key: &str| line[key].as_str().unwrap().to_owned();
        taken.iter().map(|line| (text(line, "state"), text(line, "when"))).collect()
    }
}

fn request(stream: &TcpStream) -> (String, Vec<u8>) {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while reader.read_line(&mut head).is_ok_and(|read| read > 0) && !head.ends_with("\r\n\r\n") {}
    let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: ")?.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body).unwrap();
    (head, body)
}

fn pair(state: &str, when: &str) -> (String, String) {
    (state.to_owned(), when.to_owned())
}

/// A load that would go on for ten minutes, with its report.
fn load(url: &str, more: &[&str]) -> (Done, Value) {
    let args = ["load", url, "-c", "4", "-R", "100", "-d", "10m", "--quiet", "--format", "json"];
    let ended = done(&[&args[..], more].concat());
    let report = serde_json::from_str(&ended.out).unwrap_or_else(|error| panic!("{error}: {ended:?}"));
    check_report(&report);
    (ended, report)
}

#[test]
fn a_slow_target_ends_the_load_whose_results_are_kept() {
    let _turn = turn();
    let server = Server::start(&["--mean", "20ms", "--servers", "8"]);
    let hook = Hook::start();
    let when = "p50 > 5ms for 1s";
    let (ended, report) = load(
        &server.url("/ping"),
        &["--abort-on", when, "--alarm", "p50 > 1h", "--alarm-webhook", &hook.url],
    );
    assert_eq!(ended.code, 3, "{}", ended.err);
    assert!(ended.err.contains("alarm: p50 > 5ms for 1s fires: "), "{}", ended.err);
    assert!(report["requests"]["completed"].as_u64().unwrap() > 50, "{report:#}");
    let notes = report["notes"].to_string();
    assert!(notes.contains("fired and ended the load") && !notes.contains("1h"), "{notes}");
    assert_eq!(hook.taken(), [pair("fires", when), pair("ends", when)]);
    let first = &hook.taken.lock().unwrap()[0];
    assert_eq!(
        (&first["cell"], &first["abort"], &first["bound"]),
        (&"load".into(), &true.into(), &5e6.into())
    );
    assert!(first["value"].as_f64().unwrap() > 1.9e7, "{first:#}");
}

#[test]
fn planted_faults_are_noticed_and_a_healthy_target_is_not() {
    let _turn = turn();
    let hook = Hook::start();
    let half = Server::start(&["--fault", "status-500@every:2"]);
    let (ended, _) =
        load(&half.url("/ping"), &["--abort-on", "errors > 10% for 1s", "--alarm-webhook", &hook.url]);
    assert_eq!(ended.code, 3, "{}", ended.err);
    assert_eq!(hook.taken().len(), 2);
    // It stands still for good: no answer says so.
    let frozen = Server::start(&["--freeze", "1s+1h"]);
    let (ended, _) = load(&frozen.url("/ping"), &["--timeout", "5m", "--abort-on", "p99 > 1s"]);
    assert_eq!(ended.code, 3, "{}", ended.err);
    let leaking = Server::start(&["--leak-memory", "1MiB"]);
    let (ended, _) = load(&leaking.url("/ping"), &["--abort-on", "memory > 200MiB"]);
    assert_eq!(ended.code, 3, "{}", ended.err);
    let healthy = Server::start(&[]);
    let url = healthy.url("/ping");
    let flags = [
        "--abort-on",
        "errors > 1%",
        "--alarm",
        "p50 > 10s",
        "--alarm",
        "memory > 64GiB",
        "--alarm",
        "cpu > 100%",
    ];
    let calm = good(&[&["load", &url, "-c", "2", "-R", "200", "-d", "3s", "--quiet"][..], &flags].concat());
    assert!(!calm.err.contains("alarm"), "{}", calm.err);
}

#[test]
fn an_alarm_that_was_never_judged_and_a_receiver_that_is_not_there_are_notes() {
    let _turn = turn();
    let server = Server::start(&[]);
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let hook = format!("http://{closed}/");
    let url = server.url("/ping");
    let flags = ["--alarm", "p99.9 > 1s", "--alarm", "throughput > 1", "--alarm-webhook", &hook];
    let ended = good(&[&["load", &url, "-c", "2", "-R", "50", "-d", "2s", "--quiet"][..], &flags].concat());
    assert!(ended.err.contains("the alarm `p99.9 > 1s` was never judged"), "{}", ended.err);
    assert!(
        ended.err.contains(&format!("the webhook at http://{closed} did not take an alarm")),
        "{}",
        ended.err
    );
    assert!(ended.err.contains("alarm: throughput > 1 fires: "), "{}", ended.err);
}

#[test]
fn what_cannot_be_watched_is_an_error_before_the_load() {
    let server = Server::start(&[]);
    let url = server.url("/ping");
    let before = stats(&server);
    for (flags, cause) in [
        (vec!["--alarm", "p98 > 1ms"], "`p98` cannot be watched"),
        (vec!["--abort-on", "p99 > 5"], "--abort-on: p99 is a time"),
        (vec!["--alarm-webhook", "http://127.0.0.1:1/"], "there is no alarm to send"),
        (vec!["--alarm", "p99 > 1s", "--alarm-webhook", "http://192.0.2.1/"], "--consent 192.0.2.1"),
        (vec!["--alarm", "p99 > 1s", "--alertmanager", "http://192.0.2.1/"], "--consent 192.0.2.1"),
        (vec!["--alarm", "gc_pause_share > 10%"], "write it as [[alarm]] of an experiment"),
        (vec!["--alarm", "go.runtime/goroutines > 5"], "write it as [[alarm]] of an experiment"),
    ] {
        bad(&[&["load", &url, "-n", "10"][..], &flags].concat(), 1, &[cause, "remedy"]);
    }
    assert_eq!(stats(&server), before, "no request was sent");
    // Whose memory? Nobody here listens there.
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let url = format!("http://{closed}/");
    bad(&["load", &url, "-n", "10", "--alarm", "memory > 1GiB"], 1, &["needs the target's process"]);
}

/// An experiment whose one target takes 20 ms, with alarms, and a folder for its runs.
fn experiment(folder: &Path, alarms: &str) -> String {
    let text = format!(
        "[experiment]\nname = \"slow\"\nblocks = 5\n[[target]]\nname = \"svc\"\n\
         reference = {{ mean = \"20ms\", servers = 8 }}\n[scenario]\nrequest = {{ path = \"/ping\" }}\n\
         [load]\nmodel = \"open\"\nrate = 100\nconnections = 4\n\
         [phases]\nwarmup = {{ at_least = \"500ms\", at_most = \"500ms\" }}\nsample = \"60s\"\nsamples = 1\n{alarms}"
    );
    let file = folder.join("slow.toml");
    std::fs::write(&file, text).unwrap();
    file.display().to_string()
}

/// The one run in a folder.
fn run_in(folder: &Path) -> std::path::PathBuf {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.into_iter().find(|path| path.join("run.json").is_file()).expect("there is a run folder")
}

fn alarms_of(run: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(run.join("alarms.ndjson")).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    lines.iter().for_each(|line| check_schema("alarm", line));
    lines
}

#[test]
fn an_alarm_of_an_experiment_ends_the_run_and_keeps_its_trial() {
    let _turn = turn();
    let folder = tempfile::tempdir().unwrap();
    let file = experiment(
        folder.path(),
        "[[alarm]]\nwhen = \"p50 > 5ms for 2s\"\ntext = \"It is slow\"\nof = \"svc\"\nabort = true\n\
         [[alarm]]\nwhen = \"target.process/threads >= 1\"\n",
    );
    let runs = folder.path().to_str().unwrap();
    let ended = done(&["run", &file, "--runs", runs]);
    assert_eq!(ended.code, 3, "{}\n{}", ended.out, ended.err);
    assert!(
        ended.err.contains("alarm: It is slow fires: ") && ended.err.contains("ended by an alarm"),
        "{}",
        ended.err
    );
    let run = run_in(folder.path());
    let lines = alarms_of(&run);
    let of =
        |state: &str, when: &str| lines.iter().any(|line| line["state"] == state && line["when"] == when);
    assert!(of("fires", "p50 > 5ms for 2s") && of("ends", "p50 > 5ms for 2s"), "{lines:#?}");
    assert!(of("fires", "target.process/threads >= 1"), "{lines:#?}");
    let trial = read(&run.join("trials/0001/trial.json"));
    check_schema("trial", &trial);
    assert_eq!(trial["outcome"], "void");
    assert_eq!(trial["reasons"][0]["id"], "trial.alarm");
    assert!(trial["load"]["requests"]["completed"].as_u64().unwrap() > 100, "what was measured is kept");
    assert!(!run.join("trials/0002").is_dir() && run.join("report.html").is_file());
    check_schema("run", &read(&run.join("run.json")));
}

#[test]
fn an_alarm_ends_a_soak_with_its_windows() {
    let _turn = turn();
    let folder = tempfile::tempdir().unwrap();
    let file = experiment(folder.path(), "");
    let runs = folder.path().to_str().unwrap();
    let ended = done(&[
        "soak",
        &file,
        "--for",
        "30m",
        "--window",
        "1s",
        "--runs",
        runs,
        "--abort-on",
        "p50 > 5ms for 3s",
    ]);
    assert_eq!(ended.code, 3, "{}\n{}", ended.out, ended.err);
    let run = run_in(folder.path());
    assert_eq!(alarms_of(&run)[0]["state"], "fires");
    let windows = std::fs::read_to_string(run.join("trials/0001/windows.ndjson")).unwrap();
    assert!(windows.lines().count() >= 2, "{windows}");
}

#[test]
fn a_webhook_over_tls_is_held_against_the_certificates_of_the_system() {
    let _turn = turn();
    let folder = tempfile::tempdir().unwrap();
    let ca = folder.path().join("ca.pem");
    let hook = Server::start(&["--tls", "--tls-ca-out", ca.to_str().unwrap()]);
    let server = Server::start(&[]);
    let (url, to) = (server.url("/ping"), format!("https://{}/hook", hook.addr));
    let args = [
        "load",
        &url,
        "-c",
        "2",
        "-R",
        "50",
        "-d",
        "2s",
        "--quiet",
        "--alarm",
        "throughput > 1",
        "--alarm-webhook",
        &to,
    ];
    let trusted: Done = prony(&args).env("SSL_CERT_FILE", &ca).output().unwrap().into();
    assert!(trusted.is_good() && !trusted.err.contains("note:"), "{}", trusted.err);
    let unknown = good(&args);
    assert!(unknown.err.contains("did not take an alarm"), "{}", unknown.err);
}

/// A real Alertmanager; it ends with the test.
struct Alertmanager(Program);

impl Alertmanager {
    fn start(folder: &Path) -> Self {
        let config = folder.join("alertmanager.yml");
        std::fs::write(&config, "route: { receiver: none }\nreceivers: [{ name: none }]\n").unwrap();
        let program = Program::start(Stdio::null(), |addr| {
            let mut command = Command::new("prometheus-alertmanager");
            command
                .arg(format!("--config.file={}", config.display()))
                .arg(format!("--storage.path={}", folder.join("data").display()))
                .arg(format!("--web.listen-address={addr}"))
                .arg("--cluster.listen-address=");
            command
        });
        wait_until("the Alertmanager is ready", || program.get("/-/ready").starts_with("HTTP/1.0 200"));
        Self(program)
    }

    /// Alarms that it holds for firing, by their condition.
    fn active(&self) -> Vec<String> {
        let alerts: Value = serde_json::from_str(&self.0.body("/api/v2/alerts")).unwrap_or_default();
        let of = |alert: &Value| {
            assert_eq!(alert["labels"]["alertname"], "prony", "{alert:#}");
            alert["labels"]["alarm"].as_str().unwrap().to_owned()
        };
        alerts.as_array().into_iter().flatten().map(of).collect()
    }
}

#[test]
fn a_real_alertmanager_holds_what_fires_and_lets_go_what_has_ended() {
    if !is_there("prometheus-alertmanager") {
        println!("skipped: no Alertmanager here (apt-get install prometheus-alertmanager)");
        return;
    }
    let _turn = turn();
    let folder = tempfile::tempdir().unwrap();
    let manager = Alertmanager::start(folder.path());
    let server = Server::start(&["--mean", "20ms", "--servers", "8"]);
    let (url, to) = (server.url("/ping"), format!("http://{}", manager.0.addr));
    let mut load =
        prony(&["load", &url, "-c", "4", "-R", "100", "-d", "10m", "--quiet", "--alarm", "p50 > 5ms"])
            .args(["--alertmanager", &to])
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
    wait_until("the alarm is there", || manager.active() == ["p50 > 5ms"]);
    rustix::process::kill_process(crate::load::pid(&load), rustix::process::Signal::INT).unwrap();
    let mut said = String::new();
    load.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(load.wait().unwrap().code(), Some(130), "{said}");
    assert!(!said.contains("note:"), "{said}");
    wait_until("the alarm is gone", || manager.active().is_empty());
}
