//! The scripts of the Action for GitHub (`deploy/ci/github`), each as a step would run it: `gh` is a recorder on PATH, the
//! remote a repository on disk.

use crate::command::root;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// A job's folder: a clone of a remote, with a program folder before all others on PATH.
struct Job {
    folder: TempDir,
}

impl Job {
    fn new() -> Self {
        let job = Self { folder: tempfile::tempdir().unwrap() };
        std::fs::create_dir(job.at("bin")).unwrap();
        job.git(".", &["init", "--quiet", "--bare", "--initial-branch=main", "remote.git"]);
        job.git(".", &["clone", "--quiet", "remote.git", "work"]);
        std::fs::write(job.at("work/file"), "x").unwrap();
        job.git("work", &["add", "--all"]);
        job.git("work", &["commit", "--quiet", "--message", "first"]);
        job.git("work", &["push", "--quiet", "origin", "HEAD:main"]);
        job
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn git(&self, folder: &str, words: &[&str]) -> String {
        let mut command = Command::new("git");
        command.args(["-c", "user.name=nobody", "-c", "user.email=nobody@localhost"]).args(words);
        let output = self.quiet(&mut command).current_dir(self.at(folder)).output().unwrap();
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    /// Without the settings of whoever runs the tests.
    fn quiet<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null")
    }

    fn step(&self, script: &str, variables: &[(&str, &str)]) -> Output {
        let mut command = Command::new(root().join("deploy/ci/github").join(script));
        let path = format!("{}:{}", self.at("bin").display(), std::env::var("PATH").unwrap());
        command.current_dir(self.at("work")).env("PATH", path).env("GITHUB_OUTPUT", self.at("output"));
        command.env("GITHUB_STEP_SUMMARY", self.at("summary.md")).envs(variables.iter().copied());
        self.quiet(&mut command).output().unwrap()
    }

    fn program(&self, name: &str, script: &str) {
        let file = self.at("bin").join(name);
        std::fs::write(&file, script).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn answer(&self, text: &str) {
        std::fs::create_dir_all(self.at("work/prony-ci/runs/one")).unwrap();
        std::fs::write(self.at("work/prony-ci/runs/one/ci.json"), text).unwrap();
        std::fs::write(self.at("work/prony-ci/comment.md"), "<!-- prony ci -->\nanswer\n").unwrap();
    }
}

fn said(output: &Output) -> String {
    format!("{}\n{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn read(file: &Path) -> String {
    std::fs::read_to_string(file).unwrap_or_default()
}

#[test]
fn the_answer_is_an_output_and_its_code_that_of_the_step() {
    let job = Job::new();
    job.program(
        "prony",
        "#!/bin/sh\necho \"$@\" > ../arguments\nprintf '{\\n  \"verdict\": \"worse\",\\n}\\n'\nexit 3\n",
    );
    let variables = [
        ("PRONY_BASE", "origin/main"),
        ("PRONY_FILE", "prony-ci.toml"),
        ("PRONY_BUDGET", "5m"),
        ("PRONY_ARGUMENTS", "--margin 3% --metric throughput $(touch ../planted)"),
    ];
    let output = job.step("run.sh", &variables);
    assert_eq!(output.status.code(), Some(3), "{}", said(&output));
    assert_eq!(read(&job.at("output")), "verdict=worse\n");
    let arguments = read(&job.at("arguments"));
    assert!(arguments.starts_with("ci --base origin/main prony-ci.toml --budget 5m"), "{arguments}");
    assert!(arguments.contains("--margin 3% --metric throughput $(touch"), "{arguments}");
    assert!(!job.at("planted").exists(), "an argument was run");
}

#[test]
fn one_comment_is_made_and_then_replaced() {
    let job = Job::new();
    let variables = [("REPOSITORY", "us/shop"), ("PULL_REQUEST", "7"), ("GH_TOKEN", "x")];
    let output = job.step("comment.sh", &variables);
    assert!(output.status.success() && said(&output).contains("no answer"), "{}", said(&output));
    job.answer("{}");
    // Lists what `known` holds, and records every other call.
    job.program(
        "gh",
        "#!/bin/sh\ncase \"$*\" in *--paginate*) cat ../known ;; *) echo \"$@\" >> ../calls ;; esac\n",
    );
    for (known, call) in [
        ("", "api --method POST repos/us/shop/issues/7/comments --field body=@prony-ci/comment.md"),
        ("41\n42\n", "api --method PATCH repos/us/shop/issues/comments/41 --field body=@prony-ci/comment.md"),
    ] {
        std::fs::write(job.at("known"), known).unwrap();
        let _ = std::fs::remove_file(job.at("calls"));
        let output = job.step("comment.sh", &variables);
        assert!(output.status.success(), "{}", said(&output));
        assert_eq!(read(&job.at("calls")).trim(), call);
    }
}

#[test]
fn baselines_are_kept_on_a_branch_of_their_own() {
    let job = Job::new();
    job.answer("{\"run\": 1}");
    let variables = [("BRANCH", "prony-baselines")];
    let kept = || job.git("remote.git", &["ls-tree", "-r", "--name-only", "prony-baselines"]);
    let first = job.git("work", &["rev-parse", "HEAD"]);
    let output = job.step("baseline.sh", &variables);
    assert!(output.status.success(), "{}", said(&output));
    assert_eq!(kept(), format!("commits/{first}.json"), "nothing of the code is on it");
    // The same answer again adds nothing; that of another commit is added beside it.
    assert!(job.step("baseline.sh", &variables).status.success());
    assert_eq!(job.git("remote.git", &["rev-list", "--count", "prony-baselines"]), "1");
    job.git("work", &["commit", "--quiet", "--allow-empty", "--message", "second"]);
    let output = job.step("baseline.sh", &variables);
    assert!(output.status.success(), "{}", said(&output));
    assert_eq!(kept().lines().count(), 2);
    assert_eq!(job.git("work", &["worktree", "list"]).lines().count(), 1, "no tree is left");
}

#[test]
#[ignore = "slow: actionlint is built from the Go module proxy; `make test-all`"]
fn the_guides_workflow_is_right() {
    if !crate::command::is_there("go") {
        println!("skipped: go is not on PATH (apt-get install golang-go)");
        return;
    }
    let guide = read(&root().join("docs/guides/ci.md"));
    let workflow =
        guide.split("```yaml\n").nth(1).and_then(|rest| rest.split("```").next()).expect("it has one");
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(folder.path().join(".github/workflows")).unwrap();
    std::fs::create_dir_all(folder.path().join("deploy/ci/github")).unwrap();
    for name in ["action.yml", "run.sh", "comment.sh", "baseline.sh"] {
        let from = root().join("deploy/ci/github").join(name);
        std::fs::copy(from, folder.path().join("deploy/ci/github").join(name)).unwrap();
    }
    std::fs::write(folder.path().join(".github/workflows/prony.yml"), format!("name: prony\n{workflow}"))
        .unwrap();
    Command::new("git").args(["init", "--quiet"]).current_dir(folder.path()).status().unwrap();
    let lint = || {
        let mut command = Command::new("go");
        command
            .args(["run", "github.com/rhysd/actionlint/cmd/actionlint@v1.7.12"])
            .current_dir(folder.path());
        command.output().unwrap()
    };
    let output = lint();
    if said(&output).contains("dial tcp") || said(&output).contains("no such host") {
        println!("skipped: the Go module proxy is out of reach");
        return;
    }
    assert!(output.status.success(), "{}", said(&output));
    // A planted mistake: an input that the Action has not.
    let wrong = workflow.replace("budget: 10m", "bugdet: 10m");
    std::fs::write(folder.path().join(".github/workflows/prony.yml"), format!("name: prony\n{wrong}"))
        .unwrap();
    assert!(said(&lint()).contains("bugdet"), "an unknown input is not seen");
}
