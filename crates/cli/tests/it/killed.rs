//! `kill -9` of prony in each phase of a run: no process, control group, table, device, mount or temporary folder is
//! left, whatever the target is confined to, its generator's network and the relay before it included.

use crate::command::prony;
use crate::load::{pid, wait_until};
use rustix::process::{Signal, kill_process};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// In the target's environment, and so in that of all its descendants.
const MARK: &str = "PRONY_TEST_KILLED";

const MANIFEST: &str = r#"schema = "prony.target/1"
name = "sh/slow"
description = "stands still in one phase"
language = "sh"
[build]
command = ["sh", "build.sh"]
[run]
command = ["sh", "serve.sh", "{host}:{port}"]
[ready]
path = "/health"
timeout = "60s"
[stop]
timeout = "60s"
"#;

/// Waits for ever, also when it is asked to end.
const FOR_EVER: &str = "while :; do sleep 1000 & wait; done";

/// A prony that does not outlive a test that fails.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

struct Project {
    folder: tempfile::TempDir,
    _turn: std::sync::MutexGuard<'static, ()>,
}

impl Project {
    /// `phase` is where the target stands still: `preparing`, `starting`, `stopping`, or anything else for nowhere.
    /// Starting and stopping only the second time, which is in a trial.
    fn new(phase: &str) -> Self {
        let turn = crate::command::turn();
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("targets/sh/slow");
        fs::create_dir_all(&target).unwrap();
        fs::create_dir(folder.path().join("tmp")).unwrap();
        fs::write(target.join("target.toml"), MANIFEST).unwrap();
        let here = folder.path().display();
        let build = match phase {
            "preparing" => format!("echo x > {here}/preparing\nexport {MARK}={here}\n{FOR_EVER}\n"),
            _ => "exit 0\n".to_owned(),
        };
        fs::write(target.join("build.sh"), build).unwrap();
        let exe = env!("CARGO_BIN_EXE_prony");
        let serve = format!(
            "echo x >> {here}/starts\n\
             if [ {phase} = starting ] && [ -e {here}/again ]; then echo x > {here}/starting; {FOR_EVER}; fi\n\
             if [ {phase} = stopping ] && [ -e {here}/again ]; then\n\
             trap 'echo x > {here}/stopping' TERM\n\
             (trap '' TERM; exec {exe} reference --public --listen $1) &\n{FOR_EVER}\nfi\n\
             touch {here}/again\nexec {exe} reference --public --listen $1\n"
        );
        fs::write(target.join("serve.sh"), serve).unwrap();
        let experiment = format!(
            "[experiment]\nname = \"lab\"\nblocks = 1\n[limits]\ncpus = 1\nmemory = \"256MiB\"\n\
             network = \"isolated\"\nloss = 0.001\ndelay = \"1ms\"\n\
             generator = {{ network = \"isolated\" }}\n[[target]]\nuse = \"sh/slow\"\nenv = {{ {MARK} = \"{here}\" }}\n\
             [scenario]\nrequest = {{ path = \"/ping\" }}\n[load]\nmodel = \"closed\"\nconnections = 2\n[phases]\n\
             warmup = {{ at_least = \"{}\", at_most = \"{}\" }}\nsample = \"{}\"\nsamples = 1\n",
            if phase == "warmup" { "60s" } else { "100ms" },
            if phase == "warmup" { "60s" } else { "100ms" },
            if phase == "sample" { "60s" } else { "500ms" },
        );
        fs::write(folder.path().join("lab.toml"), experiment).unwrap();
        Self { folder, _turn: turn }
    }

    fn path(&self, below: &str) -> PathBuf {
        self.folder.path().join(below)
    }

    fn start(&self) -> Running {
        let (file, runs) = (self.path("lab.toml"), self.path("runs"));
        let mut command = prony(&["run", file.to_str().unwrap(), "--runs", runs.to_str().unwrap()]);
        command.env("TMPDIR", self.path("tmp")).stdout(Stdio::null()).stderr(Stdio::null());
        Running(command.spawn().unwrap())
    }

    /// Whether the run has come to its phase.
    fn is_in(&self, phase: &str) -> bool {
        let has_interval = || {
            let run = fs::read_dir(self.path("runs")).into_iter().flatten().flatten().next();
            let lines =
                run.and_then(|run| fs::read_to_string(run.path().join("trials/0001/intervals.ndjson")).ok());
            lines.is_some_and(|lines| lines.contains(&format!("\"phase\":\"{phase}\"")))
        };
        self.path(phase).exists() || has_interval()
    }

    /// Processes of the target or its build.
    fn processes(&self) -> Vec<String> {
        let mark = format!("{MARK}={}", self.folder.path().display());
        let entries = fs::read_dir("/proc").unwrap().flatten();
        let is_ours = |folder: &PathBuf| {
            fs::read(folder.join("environ")).is_ok_and(|env| String::from_utf8_lossy(&env).contains(&mark))
        };
        entries.map(|entry| entry.path()).filter(is_ours).map(|path| path.display().to_string()).collect()
    }
}

/// The guards that a prony has started.
fn guards(prony: &Child) -> Vec<u32> {
    let tasks = fs::read_dir(format!("/proc/{}/task", prony.id())).into_iter().flatten().flatten();
    let children = tasks.filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
    let pids = children.flat_map(|text| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
    pids.filter_map(|pid| pid.parse().ok()).collect()
}

/// Groups, tables, devices and mounts whose names have a guard's process identifier.
fn traces(guards: &[u32]) -> Vec<String> {
    let output = |program: &str, args: &[&str]| {
        let output = Command::new(program).args(args).output();
        output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default()
    };
    let all = output("find", &["/sys/fs/cgroup", "-name", "prony-*", "-type", "d"])
        + &output("nft", &["list", "tables"])
        + &output("ls", &["/sys/class/net"])
        + &fs::read_to_string("/proc/self/mounts").unwrap();
    let marks = guards
        .iter()
        .flat_map(|pid| [format!("prony-{pid}-"), format!("prony_{pid}_"), format!("prony{pid}")]);
    let marks: Vec<String> = marks.collect();
    all.lines().filter(|line| marks.iter().any(|mark| line.contains(mark))).map(str::to_owned).collect()
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
}

fn check(phase: &str) {
    let project = Project::new(phase);
    let mut running = project.start();
    let child = &mut running.0;
    wait_until(&format!("it is {phase}"), || project.is_in(phase) || child.try_wait().unwrap().is_some());
    assert!(child.try_wait().unwrap().is_none(), "{phase}: it ended before it could be killed");
    let guards = guards(child);
    assert!(!guards.is_empty(), "{phase}: there is a guard");
    wait_until(&format!("{phase}: there is something to leave behind"), || !project.processes().is_empty());
    let before = traces(&guards);
    if phase != "preparing" && before.is_empty() {
        println!(
            "{phase}: this host allows no control group and no network, so only processes and files are seen"
        );
    }
    kill_process(pid(child), Signal::KILL).unwrap();
    child.wait().unwrap();
    // A target that ignores its end has 60 s for it: what is asked here is that its guard goes on, not how long.
    if phase == "stopping" {
        for pid in project.processes().iter().filter_map(|path| path.rsplit('/').next()?.parse().ok()) {
            let _ = kill_process(rustix::process::Pid::from_raw(pid).unwrap(), Signal::KILL);
        }
    }
    wait_until(&format!("{phase}: no process is left"), || project.processes().is_empty());
    wait_until(&format!("{phase}: nothing else is left of {before:?}"), || traces(&guards).is_empty());
    wait_until(&format!("{phase}: no temporary folder is left"), || entries(&project.path("tmp")).is_empty());
}

#[test]
fn kill_9_while_preparing_leaves_nothing() {
    check("preparing");
}

#[test]
fn kill_9_while_starting_leaves_nothing() {
    check("starting");
}

#[test]
fn kill_9_in_warm_up_leaves_nothing() {
    check("warmup");
}

#[test]
fn kill_9_while_sampling_leaves_nothing() {
    check("sample");
}

#[test]
fn kill_9_while_stopping_leaves_nothing() {
    check("stopping");
}
