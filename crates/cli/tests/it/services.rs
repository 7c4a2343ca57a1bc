//! `prony services`, and services in a run: seeded once, checked, gone with prony however it ends.

use crate::command::{Done, good, prony, turn};
use crate::load::{check_schema, pid, wait_until};
use crate::run::read;
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A service that is prony's own reference target; `mark` tells its processes from those of other tests.
fn manifest(mark: &str, more: &str) -> String {
    let prony = env!("CARGO_BIN_EXE_prony");
    format!(
        "schema = \"prony.service/1\"\nname = \"fake\"\ndescription = \"d\"\n[run]\n\
         command = [\"{prony}\", \"reference\", \"--listen\", \"{{host}}:{{port}}\", \"--seed={mark}\"]\n\
         [provides.env]\nFAKE_PORT = \"{{port}}\"\n{more}"
    )
}

/// Data that is made once: `made` counts how often.
const DATA: &str = "[prepare]\ncommand = [\"sh\", \"-c\", \"echo x >> {folder}/made; echo 41 > {data}/value\"]\n\
                    [seed]\ncommand = [\"sh\", \"-c\", \"echo 42 > {data}/value\"]\n";

fn check_of(value: &str) -> String {
    format!("[[check]]\nname = \"value\"\ncommand = [\"cat\", \"{{data}}/value\"]\nexpect = \"{value}\"\n")
}

/// A project with one service.
struct Project {
    folder: tempfile::TempDir,
}

impl Project {
    fn new(manifest: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("services/fake")).unwrap();
        std::fs::create_dir_all(folder.path().join("targets")).unwrap();
        let project = Self { folder };
        std::fs::write(project.service("service.toml"), manifest).unwrap();
        project
    }

    fn service(&self, file: &str) -> PathBuf {
        self.folder.path().join("services/fake").join(file)
    }

    fn prony(&self, args: &[&str]) -> Command {
        let mut command = prony(args);
        command.current_dir(self.folder.path()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// An experiment of so many blocks whose target refuses to start without the service's address.
    fn experiment(&self, blocks: u32) -> PathBuf {
        let file = self.folder.path().join("lab.toml");
        let text = format!(
            "[experiment]\nname = \"lab\"\nblocks = {blocks}\n[[target]]\nname = \"one\"\n\
             command = [\"sh\", \"-c\", \"test -n \\\"$FAKE_PORT\\\" && exec {} reference --listen {{host}}:{{port}}\"]\n\
             [scenario]\nservices = [\"fake\"]\nrequest = {{ path = \"/ping\" }}\n\
             [load]\nmodel = \"closed\"\nconnections = 2\n\
             [phases]\nwarmup = {{ at_least = \"200ms\", at_most = \"200ms\" }}\nsample = \"1s\"\nsamples = 1\n",
            env!("CARGO_BIN_EXE_prony")
        );
        std::fs::write(&file, text).unwrap();
        file
    }

    fn check(&self) -> Done {
        self.prony(&["services", "check", "fake"]).output().unwrap().into()
    }

    /// Copies of data that are there now.
    fn copies(&self) -> usize {
        // There is no such folder where nothing got that far.
        let entries = std::fs::read_dir(self.service(".build")).into_iter().flatten();
        let is_copy = |name: &std::ffi::OsString| name.to_string_lossy().starts_with("copy-");
        entries.map(|entry| entry.unwrap().file_name()).filter(is_copy).count()
    }
}

/// Process identifiers whose command line has the mark.
fn processes(mark: &str) -> Vec<i32> {
    let has_mark = |path: &Path| {
        let line = std::fs::read(path.join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).split('\0').any(|word| word == format!("--seed={mark}"))
    };
    let entries = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let numbered = entries.filter(|entry| has_mark(&entry.path()));
    numbered.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

#[test]
fn the_services_of_the_repository_are_listed_and_those_that_are_installed_hold_their_checks() {
    let list: serde_json::Value = serde_json::from_str(&good(&["services", "--format", "json"]).out).unwrap();
    check_schema("services", &list);
    for service in list["services"].as_array().unwrap() {
        let name = service["name"].as_str().unwrap();
        assert!(service["error"].is_null(), "{service}");
        // The gRPC backend is compiled, and has tests of its own.
        if name == "grpc" {
            continue;
        }
        let missing = service["needs"].as_array().unwrap().iter().find(|need| need["found"].is_null());
        if let Some(need) = missing {
            println!("skipped {name}: {} is missing; {}", need["program"], need["install"]);
            continue;
        }
        assert!(good(&["services", "check", name]).out.contains(" ok "), "{name}");
    }
}

#[test]
fn data_is_made_once_also_by_two_at_a_time() {
    let project = Project::new(&manifest("816001", &(DATA.to_owned() + &check_of("42"))));
    let start = || project.prony(&["services", "check", "fake"]).spawn().unwrap();
    for child in [start(), start()] {
        let done: Done = child.wait_with_output().unwrap().into();
        assert_eq!(done.code, 0, "{done:?}");
    }
    assert_eq!(project.check().code, 0);
    assert_eq!(std::fs::read_to_string(project.service("made")).unwrap(), "x\n");
    assert_eq!(project.copies(), 0);
    assert!(processes("816001").is_empty());
    // Another seed makes other data.
    let changed = manifest("816001", &(DATA.replace("42", "43") + &check_of("43")));
    std::fs::write(project.service("service.toml"), changed).unwrap();
    assert_eq!(project.check().code, 0);
    assert_eq!(std::fs::read_to_string(project.service("made")).unwrap(), "x\nx\n");
}

#[test]
fn a_wrong_check_trips_and_keeps_no_template() {
    let project = Project::new(&manifest("816002", &(DATA.to_owned() + &check_of("43"))));
    for _ in 0..2 {
        let done = project.check();
        assert_eq!(done.code, 2, "{done:?}");
        let expected = "service fake: the check `value` gave `42`, not `43`\n  remedy: ";
        assert!(done.err.contains(expected), "{}", done.err);
    }
    assert!(processes("816002").is_empty());
}

#[test]
fn what_does_not_work_is_named_with_its_log() {
    let broken = "schema = \"prony.service/1\"\nname = \"fake\"\ndescription = \"d\"\n[run]\n\
                  command = [\"sh\", \"-c\", \"echo no such luck {port}; exit 3\"]\n";
    let needy =
        format!("{broken}needs = [{{ program = \"no-such-program\", install = \"apt-get install it\" }}]\n");
    let seedless = manifest("816003", "[seed]\ncommand = [\"sh\", \"-c\", \"echo bad seed; exit 1\"]\n");
    let unready = manifest("816003", "[ready]\ncommand = [\"false\"]\ntimeout = \"200ms\"\n");
    for (manifest, texts) in [
        (broken, &["service fake: it ended before it was ready", "exited with code 3", "| no such luck"][..]),
        (&needy, &["`no-such-program` is not found", "remedy: apt-get install it"]),
        (&seedless, &["service fake: seed failed", "exited with code 1", "| bad seed"]),
        (&unready, &["service fake: `false` did not succeed within 200ms", "service.log"]),
    ] {
        let project = Project::new(manifest);
        let done = project.check();
        assert_eq!(done.code, 2, "{done:?}");
        for text in texts {
            assert!(done.err.contains(text), "no `{text}` in\n{}", done.err);
        }
        wait_until("its copy is gone", || project.copies() == 0);
    }
    assert!(processes("816003").is_empty());
    let done: Done = Project::new(broken).prony(&["services", "up", "fakt"]).output().unwrap().into();
    assert!(done.code == 1 && done.err.contains("did you mean `fake`?"), "{done:?}");
}

#[test]
fn a_killed_prony_leaves_no_process_and_the_next_start_removes_its_copy() {
    let mark = "816004";
    let project = Project::new(&manifest(mark, &(DATA.to_owned() + &check_of("42"))));
    let mut child = project.prony(&["services", "up", "fake"]).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.starts_with("export FAKE_PORT="), "{line}");
    assert_eq!(processes(mark).len(), 1);
    kill_process(pid(&child), Signal::KILL).unwrap();
    child.wait().unwrap();
    wait_until("the service is gone", || processes(mark).is_empty());
    assert_eq!(project.copies(), 2, "a folder and its lock");
    assert_eq!(project.check().code, 0);
    assert_eq!(project.copies(), 0);
}

#[test]
fn ctrl_c_ends_what_is_up() {
    let mark = "816005";
    let project = Project::new(&manifest(mark, ""));
    let mut child = project.prony(&["services", "up", "fake"]).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    kill_process(pid(&child), Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(processes(mark).is_empty());
    assert_eq!(project.copies(), 0);
}

#[test]
fn a_run_tells_its_targets_and_a_service_that_ends_fails_its_trial_only() {
    let _turn = turn();
    let mark = "816006";
    let project = Project::new(&manifest(mark, ""));
    let file = project.experiment(3);
    let runs = project.folder.path().join("runs");
    // A set of one CPU, so that the one read back can only be the one asked for.
    let cpus = launch::pin::usable_cpus().unwrap();
    let (first, last) = (cpus[0], cpus[cpus.len() - 1]);
    let pin = format!("{last}:{last}:{first}");
    let args = ["run", file.to_str().unwrap(), "--runs", runs.to_str().unwrap(), "--pin", &pin];
    let child = project.prony(&args).spawn().unwrap();
    let run = || Some(std::fs::read_dir(&runs).ok()?.next()?.unwrap().path());
    wait_until("the second trial has intervals", || {
        run().is_some_and(|run| run.join("trials/0002/intervals.ndjson").is_file())
    });
    kill_process(Pid::from_raw(processes(mark)[0]).unwrap(), Signal::KILL).unwrap();
    let done: Done = child.wait_with_output().unwrap().into();
    assert_eq!(done.code, 2, "{done:?}");
    let run = run().unwrap();
    let trial = |id: u32| read(&run.join(format!("trials/000{id}/trial.json")));
    assert_ne!(trial(1)["outcome"], "failed", "{}", trial(1)["reasons"]);
    assert_eq!(trial(2)["outcome"], "failed");
    let reasons = trial(2)["reasons"].to_string();
    assert!(reasons.contains("service fake: it ended on its own: was ended by signal 9"), "{reasons}");
    assert_ne!(trial(3)["outcome"], "failed", "{}", trial(3)["reasons"]);
    let file = read(&run.join("run.json"));
    check_schema("run", &file);
    let kept = serde_json::json!([
        {"name": "fake", "versions": {}, "cpus": first.to_string(), "env": ["FAKE_PORT"]}
    ]);
    assert_eq!(file["services"], kept);
    assert_eq!(file["plan"]["pin"]["services"], serde_json::json!([first]));
    assert!(run.join("services/fake.log").is_file());
    assert!(processes(mark).is_empty());
    assert_eq!(project.copies(), 0);
}

/// Every file below a folder, with its bytes.
fn files_below(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let below = |path: PathBuf| match path.is_dir() {
        true => files_below(&path),
        false => vec![(path.clone(), std::fs::read(&path).unwrap_or_default())],
    };
    entries.flat_map(below).collect()
}

#[test]
fn the_password_of_a_service_appears_in_no_output() {
    const PASSWORD: &str = "pl4nted-s3cret-0816";
    let _turn = turn();
    // It answers Redis with HTTP, so that the reading fails and the error is reported.
    let metrics = "[metrics]\nkind = \"redis\"\nuser = \"prony\"\npassword_env = \"PLANTED_PASSWORD\"\n";
    let project = Project::new(&manifest("816007", metrics));
    let file = project.experiment(1);
    let runs = project.folder.path().join("runs");
    let args = ["run", file.to_str().unwrap(), "--runs", runs.to_str().unwrap()];
    let done: Done = project.prony(&args).env("PLANTED_PASSWORD", PASSWORD).output().unwrap().into();
    assert!([0, 2].contains(&done.code), "{done:?}");
    let run = std::fs::read_dir(&runs).unwrap().next().unwrap().unwrap().path();
    let gaps = read(&run.join("trials/0001/trial.json"))["counter_gaps"].clone();
    assert!(gaps["service.fake.redis"].as_u64().is_some_and(|gaps| gaps > 0), "it was used: {gaps}");
    let why: Done = project.prony(&["why", run.to_str().unwrap(), "--all"]).output().unwrap().into();
    let told = [&done.out, &done.err, &why.out, &why.err].map(|text| text.contains(PASSWORD));
    assert_eq!(told, [false; 4]);
    let holds = |(_, bytes): &(PathBuf, Vec<u8>)| {
        bytes.windows(PASSWORD.len()).any(|part| part == PASSWORD.as_bytes())
    };
    let found: Vec<PathBuf> = files_below(&run).into_iter().filter(holds).map(|(path, _)| path).collect();
    assert!(found.is_empty(), "{found:?}");
}
