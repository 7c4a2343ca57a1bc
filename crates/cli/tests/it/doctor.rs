//! `prony doctor` and `prony run --tune`: the host is put back whatever happens, and two hosts are distinguished.
//!
//! The tuning runs in a network namespace of its own, with the other settings read-only, so that this host keeps its
//! own; where that cannot be had, the test says so and is skipped.

use crate::command::{bad, done, good, root};
use crate::load::wait_until;
use crate::run::Lab;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use tempfile::TempDir;

/// What is set before, and what `--tune` makes of it.
const RANGE: &str = "/proc/sys/net/ipv4/ip_local_port_range";
const FEW: &str = "40000 41000";
const MANY: &str = "16384 65535";

/// A shell in a network namespace of its own, which runs one line after the other and tells the exit code of each.
struct Namespace {
    shell: Child,
    stdin: Option<ChildStdin>,
    codes: BufReader<ChildStdout>,
    folder: TempDir,
}

impl Namespace {
    fn new() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let spawned = Command::new("unshare")
            .args(["--net", "--mount", "sh"])
            .current_dir(root())
            .env("XDG_STATE_HOME", folder.path().join("state"))
            .env("NO_COLOR", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let mut shell = match spawned {
            Ok(shell) => shell,
            Err(error) => {
                eprintln!("skipped: unshare cannot be run ({error})");
                return None;
            }
        };
        let stdin = shell.stdin.take();
        let codes = BufReader::new(shell.stdout.take().unwrap());
        let mut namespace = Self { shell, stdin, codes, folder };
        let lines = [
            "mount --bind /sys /sys && mount -o remount,ro,bind /sys",
            "mount --bind /proc/sys/vm /proc/sys/vm && mount -o remount,ro,bind /proc/sys/vm",
            "ip link set lo up && ! [ -w /proc/sys/vm/swappiness ] && ! [ -w /sys/kernel/mm ]",
            &format!("echo {FEW} > {RANGE}"),
        ];
        if lines.iter().all(|line| namespace.line(line) == Some(0)) {
            return Some(namespace);
        }
        eprintln!("skipped: no network and mount namespace with read-only settings can be had here");
        None
    }

    /// Runs a line to its end; its exit code, nothing where the shell is gone.
    fn line(&mut self, line: &str) -> Option<i32> {
        self.stdin.as_mut()?.write_all(format!("( {line} ) > /dev/null; echo $?\n").as_bytes()).ok()?;
        let mut code = String::new();
        self.codes.read_line(&mut code).ok()?;
        code.trim().parse().ok()
    }

    /// Runs prony; exit code and standard error.
    fn prony(&mut self, args: &str) -> (i32, String) {
        let err = self.path("err");
        let line = format!(
            "{} {args} > {} 2> {}",
            env!("CARGO_BIN_EXE_prony"),
            self.path("out").display(),
            err.display()
        );
        let code = self.line(&line).expect("the shell lives");
        (code, fs::read_to_string(err).unwrap())
    }

    fn range(&mut self) -> String {
        let file = self.path("range");
        assert_eq!(self.line(&format!("cat {RANGE} > {}", file.display())), Some(0));
        fs::read_to_string(file).unwrap().split_ascii_whitespace().collect::<Vec<_>>().join(" ")
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn journals(&self) -> usize {
        let entries = fs::read_dir(self.path("state/prony/tuning")).into_iter().flatten().flatten();
        entries.filter(|entry| entry.path().extension().is_some_and(|ending| ending == "json")).count()
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        // End of input ends the shell.
        self.stdin.take();
        let _ = self.shell.wait();
    }
}

#[test]
fn tuning_stays_until_it_is_restored_and_what_somebody_else_set_is_left_alone() {
    let Some(mut host) = Namespace::new() else { return };
    let (code, err) = host.prony("doctor --tune --dry-run --format json");
    assert_eq!((code, host.range(), host.journals()), (0, FEW.to_owned(), 0), "nothing is written: {err}");
    let write = "would write /proc/sys/net/ipv4/ip_local_port_range: 40000 41000 → 16384 65535";
    assert!(err.contains(write), "{err}");
    let told: serde_json::Value = serde_json::from_slice(&fs::read(host.path("out")).unwrap()).unwrap();
    crate::load::check_schema("doctor", &told);
    assert!(told["would_tune"].as_array().unwrap().iter().any(|one| one["old"] == FEW), "{told}");
    let (code, err) = host.prony("doctor --tune --format json");
    assert_eq!(code, 0, "{err}");
    assert!(err.contains("tuned net.ipv4.ip_local_port_range: 40000 41000 → 16384 65535"), "{err}");
    assert_eq!(host.range(), MANY);
    let told: serde_json::Value = serde_json::from_slice(&fs::read(host.path("out")).unwrap()).unwrap();
    crate::load::check_schema("doctor", &told);
    assert!(told["tuned"].as_array().unwrap().iter().any(|one| one["old"] == FEW), "{told}");
    assert!(!host.prony("doctor").1.contains("put back"), "it is to stay");
    let (code, err) = host.prony("doctor --restore");
    assert_eq!((code, host.range()), (0, FEW.to_owned()), "{err}");
    assert!(err.contains("put back net.ipv4.ip_local_port_range: 16384 65535 → 40000 41000"), "{err}");
    assert_eq!(host.journals(), 0);
    assert!(host.prony("doctor --restore").1.contains("nothing to put back"));

    host.prony("doctor --tune");
    assert_eq!(host.line(&format!("echo 30000 50000 > {RANGE}")), Some(0));
    let (_, err) = host.prony("doctor --restore");
    assert!(
        err.contains("left alone net.ipv4.ip_local_port_range: somebody else has set 30000 50000"),
        "{err}"
    );
    assert_eq!(host.range(), "30000 50000");
}

#[test]
fn a_run_puts_back_what_it_tuned_and_a_killed_run_is_put_back_by_the_next() {
    let Some(mut host) = Namespace::new() else { return };
    let target = "[[target]]\nname = \"one\"\nreference = { mean = \"1ms\", seed = 715009 }";
    let lab = Lab::new(target, "", "blocks = 3");
    let run = format!("run --tune {}", lab.args()[1..].join(" "));
    let (code, err) = host.prony(&run);
    assert!(err.contains("put back net.ipv4.ip_local_port_range: 16384 65535 → 40000 41000"), "{code} {err}");
    assert_eq!((host.range(), host.journals()), (FEW.to_owned(), 0));
    let stored = crate::run::read(&lab.run().join("run.json"));
    assert!(stored["environment"]["tuned"].as_array().unwrap().iter().any(|one| one["new"] == MANY));
    let facts = stored["environment"]["facts"].as_array().unwrap();
    for id in ["cpu.speed", "cpu.mitigations", "host.busiest", "net.port_range"] {
        assert!(facts.iter().any(|fact| fact["id"] == id), "{id} is not stored");
    }

    let pid = begin(&mut host, &run);
    let kill = format!("kill -9 $(cat {})", pid.display());
    assert_eq!(host.line(&kill), Some(0));
    assert_eq!((host.range(), host.journals()), (MANY.to_owned(), 1));
    wait_until("the killed run is gone", || !is_alive(&pid));
    let (code, err) = host.prony("doctor");
    assert_eq!(code, 0, "{err}");
    assert!(err.contains("16384 65535, which a prony that died had set → 40000 41000"), "{err}");
    assert_eq!((host.range(), host.journals()), (FEW.to_owned(), 0));
}

#[test]
fn an_interrupted_run_and_one_that_fails_put_the_host_back() {
    let Some(mut host) = Namespace::new() else { return };
    let lab = Lab::new("[[target]]\nname = \"one\"\nreference = { mean = \"1ms\" }", "", "blocks = 9");
    let pid = begin(&mut host, &format!("run --tune {}", lab.args()[1..].join(" ")));
    assert_eq!(host.line(&format!("kill -INT $(cat {})", pid.display())), Some(0));
    wait_until("the interrupted run is gone", || !is_alive(&pid));
    assert!(
        fs::read_to_string(host.path("begun.err")).unwrap().contains("put back net.ipv4.ip_local_port_range")
    );
    assert_eq!((host.range(), host.journals()), (FEW.to_owned(), 0));
    drop(lab);

    // Nothing listens there.
    let lab = Lab::new("[[target]]\nname = \"gone\"\nurl = \"http://127.0.0.1:1\"", "", "blocks = 1");
    let (code, err) = host.prony(&format!("run --tune {}", lab.args()[1..].join(" ")));
    assert_ne!(code, 0, "{err}");
    assert!(err.contains("tuned net.") && err.contains("put back net."), "{err}");
    assert_eq!((host.range(), host.journals()), (FEW.to_owned(), 0));
}

/// Begins a run and waits until it has tuned; the file with its process number.
fn begin(host: &mut Namespace, run: &str) -> PathBuf {
    let (err, pid) = (host.path("begun.err"), host.path("pid"));
    let prony = env!("CARGO_BIN_EXE_prony");
    let line = format!("{prony} {run} > /dev/null 2> {} & echo $! > {}", err.display(), pid.display());
    assert_eq!(host.line(&line), Some(0));
    wait_until("the run has tuned", || {
        fs::read_to_string(&err).is_ok_and(|err| err.contains("tuned net.ipv4.tcp_slow_start"))
    });
    pid
}

/// A process that waits to be reaped is not.
fn is_alive(pid_file: &Path) -> bool {
    let pid = fs::read_to_string(pid_file).unwrap();
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with('Z'))
}

#[test]
fn two_runs_are_told_apart_by_their_hosts() {
    let folder = tempfile::tempdir().unwrap();
    let lab = Lab::new("[[target]]\nname = \"one\"\nreference = { mean = \"1ms\" }", "", "blocks = 1");
    // A busy machine may void the trial; the audit is stored all the same.
    done(&lab.args());
    let a = lab.run();
    let b = folder.path().join("b");
    fs::create_dir(&b).unwrap();
    let text = fs::read_to_string(a.join("run.json")).unwrap();
    let mut run: serde_json::Value = serde_json::from_str(&text).unwrap();
    run["id"] = "b".into();
    let facts = run["environment"]["facts"].as_array_mut().unwrap();
    let plant = |facts: &mut Vec<serde_json::Value>, id: &str, value: &str| {
        let fact = facts.iter_mut().find(|fact| fact["id"] == id).unwrap();
        fact["value"] = value.into();
    };
    plant(facts, "net.port_range", "another range");
    plant(facts, "cpu.model", "another CPU");
    facts.iter_mut().find(|fact| fact["id"] == "cpu.speed").unwrap()["amount"]["value"] = 1.0.into();
    fs::write(b.join("run.json"), run.to_string()).unwrap();

    let (a, b) = (a.to_str().unwrap(), b.to_str().unwrap());
    let diff: serde_json::Value =
        serde_json::from_str(&good(&["doctor", "--diff", a, b, "--format", "json"]).out).unwrap();
    crate::load::check_schema("environment-diff", &diff);
    let weight = |id: &str| {
        let found = diff["differences"].as_array().unwrap().iter().find(|found| found["id"] == id).unwrap();
        found["weight"].as_str().unwrap().to_owned()
    };
    assert_eq!(weight("cpu.model"), "decisive");
    assert_eq!(weight("cpu.speed"), "decisive");
    assert_eq!(weight("net.port_range"), "possible");
    assert_eq!(diff["differences"].as_array().unwrap().len(), 3, "{diff}");
    let text = good(&["doctor", "--diff", a, b]).out;
    assert!(text.contains("These move the numbers") && text.contains("→ another CPU"), "{text}");
    let now = good(&["doctor", "--diff", b]).out;
    assert!(now.contains("b: this host now") && now.contains("another CPU → "), "{now}");
    bad(&["doctor", "--diff", "/tmp"], 1, &["no run folder"]);
    bad(&["doctor", "--diff", a, "--tune"], 1, &["cannot be used with"]);
    bad(&["doctor", "--turbo-off"], 1, &["--tune"]);
    bad(&["doctor", "--dry-run"], 1, &["--tune"]);
}
