//! `prony targets`: a target of this test's own making, right and then wrong in each way that a check must see.
//!
//! The target is prony's reference or fault server behind a manifest; its contract files are in the same folder.

use crate::command::{Done, prony};
use crate::load::check_schema;
use serde_json::Value;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;

const PONG: &str = "json = '{\"code\":0,\"msg\":\"ok\",\"data\":{}}'";
const HEALTHY: &str = "json = '{\"status\":\"ok\"}'";

/// A project of one target, `fake/one`, that serves `/ping`, `/health` and everything else as `/ping`.
struct Bench {
    project: tempfile::TempDir,
}

impl Bench {
    fn new() -> Self {
        let bench = Self { project: tempfile::tempdir().unwrap() };
        bench.contract("ping", "", "/ping", PONG);
        bench.contract("json", "", "/json/1", PONG);
        bench.contract("health", "", "/health", HEALTHY);
        bench.manifest(&["ping", "json", "health"], &reference(&[]), "");
        bench
    }

    fn path(&self, name: &str) -> PathBuf {
        self.project.path().join(name)
    }

    fn contract(&self, name: &str, head: &str, path: &str, expect: &str) {
        let text = format!(
            "schema = \"prony.scenario/1\"\nname = \"{name}\"\n{head}\n[[requests]]\nname = \"first\"\npath = \"{path}\"\n\
             [requests.expect]\nstatus = [200]\n{expect}\n"
        );
        write(&self.path(&format!("targets/contract/{name}.toml")), &text);
    }

    /// `rest` goes to the end of the manifest.
    fn manifest(&self, provides: &[&str], command: &[String], rest: &str) {
        let text = format!(
            "schema = \"prony.target/1\"\nname = \"fake/one\"\ndescription = \"d\"\nlanguage = \"none\"\n\
             provides = {provides:?}\n[run]\ncommand = {command:?}\n{rest}\n"
        );
        write(&self.path("targets/fake/one/target.toml"), &text);
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut all = vec!["targets"];
        all.extend(args);
        let mut command = prony(&all);
        command.current_dir(self.project.path());
        command
    }

    fn run(&self, args: &[&str]) -> Done {
        self.command(args).output().expect("prony starts").into()
    }

    /// Checks the target, which must fail, and say so with these texts.
    fn fails(&self, texts: &[&str]) {
        let done = self.run(&["check", "fake/one", "--timeout", "300ms"]);
        assert_eq!(done.code, 2, "{}\n{}", done.out, done.err);
        for text in texts {
            assert!(done.out.contains(text), "no `{text}` in\n{}", done.out);
        }
    }
}

fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn reference(args: &[&str]) -> Vec<String> {
    let mut command = vec![env!("CARGO_BIN_EXE_prony"), "reference", "--listen", "{host}:{port}"];
    command.extend(args);
    command.into_iter().map(str::to_owned).collect()
}

#[test]
fn a_target_that_keeps_the_contract_is_ok() {
    let bench = Bench::new();
    let done = bench.run(&["check", "fake/one"]);
    assert_eq!(done.code, 0, "{}\n{}", done.out, done.err);
    assert!(done.out.contains("ok       cold start "), "{}", done.out);
    assert!(done.err.contains("fake/one: asking json"), "{}", done.err);
    let json = bench.run(&["check", "--all", "--format", "json"]);
    let checks: Value = serde_json::from_str(&json.out).unwrap();
    check_schema("targets-check", &checks);
    assert!(checks["targets"][0]["ready_ns"].as_u64().unwrap() > 0);
    assert_eq!(checks["targets"][0]["routes"].as_array().unwrap().len(), 3);
}

#[test]
fn a_folder_for_logs_stays_only_where_something_failed() {
    let bench = Bench::new();
    let folder = bench.path("temporary");
    std::fs::create_dir(&folder).unwrap();
    let left = |args: &[&str], code| {
        let status = bench.command(args).env("TMPDIR", &folder).output().expect("prony starts").status;
        assert_eq!(status.code(), Some(code), "{args:?}");
        std::fs::read_dir(&folder).unwrap().count()
    };
    assert_eq!(left(&["check", "fake/none"], 1), 0, "a mistake in the arguments has no logs");
    assert_eq!(left(&["build", "fake/none"], 1), 0);
    assert_eq!(left(&["check", "fake/one"], 0), 0);
    bench.manifest(&["ping", "health"], &reference(&[]), "");
    assert_eq!(left(&["check", "fake/one"], 2), 1, "the messages name it");
}

#[test]
fn each_wrong_answer_is_told_with_what_came() {
    let bench = Bench::new();
    bench.contract("json", "", "/json/1", "json_equals = { \"/code\" = 7 }");
    bench.fails(&[
        "json                1 failed",
        "from there, $: expected 7, got 0",
        "ping                1 ok",
    ]);
    bench.manifest(&["ping", "json", "health"], &reference(&["--error-rate", "1"]), "");
    bench.fails(&["status 500, expected 200; the body begins with \"fault\"", "health              1 ok"]);
}

#[test]
fn a_missing_required_route_fails() {
    let bench = Bench::new();
    bench.manifest(&["ping", "health"], &reference(&[]), "");
    bench.fails(&["json                0 failed", "every target has it"]);
}

#[test]
fn a_name_without_a_contract_is_an_error_with_the_nearest() {
    let bench = Bench::new();
    bench.manifest(&["ping", "jsn", "health"], &reference(&[]), "");
    bench.fails(&["target.toml:5:", "there is no contract `jsn`", "did you mean `json`?"]);
    let done = bench.run(&["check", "fake/one", "--route", "pnig"]);
    assert!(done.code == 1 && done.err.contains("did you mean `ping`?"), "{}", done.err);
    let done = bench.run(&["check", "fake/oen"]);
    assert!(done.code == 1 && done.err.contains("did you mean `fake/one`?"), "{}", done.err);
}

#[test]
fn a_route_that_hangs_is_given_up() {
    let bench = Bench::new();
    bench.manifest(&["ping", "json", "health"], &reference(&["--fault", "black-hole"]), "");
    bench.fails(&["ping                1 failed", "json                1 failed"]);
}

#[test]
fn a_target_that_dies_at_its_start_shows_its_log() {
    let bench = Bench::new();
    let command = ["sh", "-c", "echo the disk is full {port}; exit 7"].map(str::to_owned);
    bench.manifest(&["ping", "json", "health"], &command, "");
    bench.fails(&["fake/one           failed", "the disk is full", "7"]);
}

#[test]
fn a_port_that_is_not_freed_is_told() {
    let bench = Bench::new();
    for name in ["closed", "held"] {
        let made = Command::new("mkfifo").arg(bench.path(name)).status().expect("mkfifo is there");
        assert!(made.success());
    }
    let [closed, held] = ["closed", "held"].map(|name| bench.path(name).display().to_string());
    // On TERM the server goes, and this test takes its port before the target ends.
    let script = format!(
        "trap 'kill $server; wait $server; echo {{port}} >{closed}; read ok <{held}; exit 0' TERM\n\
         '{}' reference --listen {{host}}:{{port}} & server=$!\nwait $server",
        env!("CARGO_BIN_EXE_prony")
    );
    bench.manifest(&["ping", "json", "health"], &["sh".into(), "-c".into(), script], "");
    let holder = std::thread::spawn(move || {
        let mut port = String::new();
        std::fs::File::open(closed).unwrap().read_to_string(&mut port).unwrap();
        let listener = std::net::TcpListener::bind(format!("127.0.0.1:{}", port.trim())).unwrap();
        std::fs::OpenOptions::new().write(true).open(held).unwrap().write_all(b"ok\n").unwrap();
        listener
    });
    bench.fails(&["is not free after the stop"]);
    drop(holder.join().unwrap());
}

#[test]
fn what_cannot_be_checked_here_is_skipped_with_the_reason() {
    let bench = Bench::new();
    bench.contract("db", "services = [\"mariadb\"]", "/db/1", "");
    bench.manifest(&["ping", "json", "health", "db"], &reference(&[]), "");
    let done = bench.run(&["check", "fake/one"]);
    assert!(done.code == 0 && done.out.contains("needs mariadb, which is not started"), "{}", done.out);
    let done = bench.run(&["check", "fake/one", "--route", "db"]);
    assert_eq!(done.code, 2, "a route that was asked for is not checked\n{}", done.out);
    let need = "[[run.needs]]\ncheck = [\"sh\", \"-c\", \"exit 1\"]\ninstall = \"get the extension\"";
    bench.manifest(&["ping", "json", "health"], &reference(&[]), need);
    for (args, code) in [(["check", "fake/one"], 2), (["check", "--all"], 0), (["build", "fake/one"], 2)] {
        let done = bench.run(&args);
        assert_eq!(done.code, code, "{args:?}\n{}", done.out);
        assert!(done.out.contains("missing: sh -c exit 1 - get the extension"), "{}", done.out);
    }
    assert!(bench.run(&[]).out.contains("get the extension"));
}

/// The reference server counts requests at `/stats`, and connections beside them, which are not the same.
#[test]
fn a_target_that_says_where_it_counts_must_count() {
    let bench = Bench::new();
    let counted = |path: &str, pointer: &str| {
        let rest = format!("[metrics]\nrequests = {{ path = \"{path}\", pointer = \"{pointer}\" }}");
        bench.manifest(&["ping", "json", "health"], &reference(&[]), &rest);
        bench.run(&["check", "fake/one"])
    };
    let right = counted("/stats", "/requests");
    assert!(right.code == 0 && right.out.contains("count at /stats"), "{}\n{}", right.out, right.err);
    let wrong = counted("/stats", "/connections_max_that_is_not_there");
    assert!(wrong.code == 2 && wrong.out.contains("is no whole number"), "{}\n{}", wrong.out, wrong.err);
    let still = counted("/stats", "/tls_full");
    assert!(still.code == 2 && still.out.contains("counted 0 of 20"), "{}\n{}", still.out, still.err);
    let alone = bench.run(&["check", "fake/one", "--route", "ping"]);
    assert!(!alone.out.contains("count at"), "{}", alone.out);
}

/// The service is a reference server that prony starts; then one that the environment names; then one that fails.
#[test]
fn services_that_routes_need_come_up_with_the_check() {
    let bench = Bench::new();
    bench.contract("db", "services = [\"fake\"]", "/db/1", "");
    bench.manifest(&["ping", "json", "health", "db"], &reference(&[]), "");
    let service = |command: &str| {
        let text = format!(
            "schema = \"prony.service/1\"\nname = \"fake\"\ndescription = \"d\"\n[run]\ncommand = {command}\n\
             [provides.env]\nFAKE_PORT = \"{{port}}\"\n"
        );
        write(&bench.path("services/fake/service.toml"), &text);
    };
    service(&format!("{:?}", reference(&[])));
    let done = bench.run(&["check", "fake/one", "--route", "db"]);
    assert!(done.code == 0 && done.err.contains("fake: starting the service"), "{}\n{}", done.out, done.err);

    service("[\"sh\", \"-c\", \"echo no space; exit 3 # {port}\"]");
    let done = bench.run(&["check", "fake/one"]);
    assert!(done.code == 0 && done.out.contains("needs fake, which is not started"), "{}", done.out);
    assert!(
        done.err.contains("no space") && done.err.contains("routes that need fake are skipped"),
        "{}",
        done.err
    );

    let mut told = bench.command(&["check", "fake/one", "--route", "db"]);
    let done: Done = told.env("FAKE_PORT", "1").output().unwrap().into();
    assert!(done.code == 0 && !done.err.contains("starting the service"), "{}\n{}", done.out, done.err);
}

#[test]
fn a_build_that_changes_nothing_was_fresh() {
    let bench = Bench::new();
    let build = "[build]\ncommand = [\"sh\", \"-c\", \"test -e {build}/out || echo x >{build}/out\"]";
    bench.manifest(&["ping", "json", "health"], &reference(&[]), build);
    let first = bench.run(&["build", "--all"]);
    assert!(first.code == 0 && first.out.contains("built in "), "{}\n{}", first.out, first.err);
    assert!(bench.run(&["build", "--all"]).out.contains("was fresh"));
    let json: Value = serde_json::from_str(&bench.run(&["build", "--all", "--format", "json"]).out).unwrap();
    check_schema("targets-build", &json);
    let build = "[build]\ncommand = [\"sh\", \"-c\", \"echo no compiler; exit 3\"]";
    bench.manifest(&["ping", "json", "health"], &reference(&[]), build);
    let failed = bench.run(&["build", "--all"]);
    assert!(failed.code == 2 && failed.out.contains("no compiler"), "{}", failed.out);
}
