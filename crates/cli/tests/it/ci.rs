//! `prony ci` in a repository of its own: a commit that is slower, one that cannot be built, and what is refused.

use crate::command::{Done, prony, turn};
use crate::load::check_schema;
use crate::run::read;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

const FILE: &str = r#"[experiment]
name = "shop"
blocks = 20

[[target]]
folder = "cmd"
build = ["sh", "-c", "cp wanted mean"]
command = ["sh", "serve.sh", "{host}:{port}"]

[scenario]
request = { path = "/ping" }

[load]
model = "closed"
connections = 4

[phases]
warmup = { at_least = "200ms", at_most = "200ms" }
sample = "400ms"
samples = 1
"#;

/// A repository whose service takes as long as a file of it says.
struct Shop {
    folder: TempDir,
}

impl Shop {
    fn new(mean: &str) -> Self {
        let shop = Self { folder: tempfile::tempdir().unwrap() };
        for name in ["repository/cmd", "tmp"] {
            std::fs::create_dir_all(shop.folder.path().join(name)).unwrap();
        }
        shop.git(&["init", "--quiet", "--initial-branch=main"]);
        let serve = "exec \"$PRONY\" reference --listen \"$1\" --mean \"$(cat mean)\"\n";
        std::fs::write(shop.repository().join("cmd/serve.sh"), serve).unwrap();
        std::fs::write(shop.repository().join("prony-ci.toml"), FILE).unwrap();
        std::fs::write(shop.repository().join(".gitignore"), "cmd/mean\n").unwrap();
        shop.commit(mean);
        shop
    }

    fn repository(&self) -> PathBuf {
        self.folder.path().join("repository")
    }

    fn git(&self, words: &[&str]) -> String {
        let nobody = ["user.name=nobody", "user.email=nobody@localhost", "commit.gpgsign=false"];
        let output = Command::new("git")
            .args(nobody.iter().flat_map(|setting| ["-c", setting]))
            .args(words)
            .current_dir(self.repository())
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .output()
            .unwrap();
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    fn commit(&self, mean: &str) {
        std::fs::write(self.repository().join("cmd/wanted"), mean).unwrap();
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--message", &format!("answers take {mean}")]);
    }

    fn at(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    fn ci(&self, more: &[&str]) -> Done {
        let runs = self.at("runs");
        let mut command = prony(&["ci", "--runs", &runs]);
        command.args(more).current_dir(self.repository());
        command.env("PRONY", env!("CARGO_BIN_EXE_prony")).env("TMPDIR", self.folder.path().join("tmp"));
        command.output().unwrap().into()
    }

    /// The answer in the one run folder that there is.
    fn answer(&self) -> serde_json::Value {
        let mut runs = std::fs::read_dir(self.at("runs")).unwrap().map(|entry| entry.unwrap().path());
        read(&runs.find(|run| run.join("ci.json").is_file()).unwrap().join("ci.json"))
    }

    /// Blocks whose trials, one of each commit, are all valid.
    fn valid_blocks(&self) -> usize {
        let mut runs = std::fs::read_dir(self.at("runs")).unwrap().map(|entry| entry.unwrap().path());
        let run = runs.find(|run| run.join("ci.json").is_file()).unwrap();
        let mut cells: BTreeMap<u64, BTreeSet<String>> = BTreeMap::new();
        for trial in read(&run.join("analysis.json"))["trials"].as_array().unwrap() {
            if trial["outcome"] == "valid" {
                let cell = trial["cell"].as_str().unwrap().to_owned();
                cells.entry(trial["block"].as_u64().unwrap()).or_default().insert(cell);
            }
        }
        cells.values().filter(|cells| cells.len() == 2).count()
    }

    fn assert_untouched(&self) {
        assert_eq!(self.git(&["status", "--porcelain"]), "", "the working tree is as it was");
        assert_eq!(self.git(&["worktree", "list"]).lines().count(), 1, "no tree is left");
        // The log of a build that failed is kept, in a folder that the error names.
        let mut left = std::fs::read_dir(self.at("tmp")).unwrap().flatten();
        assert!(
            !left.any(|entry| entry.file_name().to_string_lossy().starts_with("prony-ci-")),
            "no tree is left"
        );
    }
}

fn lines(file: &str) -> Vec<String> {
    std::fs::read_to_string(Path::new(file)).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn a_slower_commit_is_worse_and_the_repository_stays_as_it_was() {
    let _turn = turn();
    let shop = Shop::new("1ms");
    shop.commit("2ms");
    let (comment, junit, summary) = (shop.at("comment.md"), shop.at("prony.xml"), shop.at("summary.md"));
    std::fs::write(&summary, "of an earlier step\n").unwrap();
    let wishes = ["--base", "HEAD~1", "--metric", "throughput", "--comment", &comment, "--junit", &junit];
    let done = shop.ci(&[&wishes[..], &["--summary", &summary]].concat());
    let answer = shop.answer();
    check_schema("ci", &answer);
    assert_eq!(answer["base"]["subject"], "answers take 1ms");
    assert_eq!(lines(&comment)[0], "<!-- prony ci -->");
    assert_eq!(lines(&summary)[..2], ["of an earlier step", "<!-- prony ci -->"]);
    assert!(lines(&junit).concat().contains("Throughput of head is not worse"));
    shop.assert_untouched();
    // A busy host makes trials void: then, and only then, it is not known. Seven blocks decide it: the run ends with them.
    match answer["verdict"].as_str().unwrap() {
        "void" => assert_eq!(done.code, 2, "{}\n{}", done.out, done.err),
        "inconclusive" if shop.valid_blocks() < 7 => eprintln!("not known: the host was busy\n{}", done.err),
        verdict => {
            assert_eq!((verdict, done.code), ("worse", 3), "{}\n{}", done.out, done.err);
            assert!(done.out.contains("head is worse than base"), "{}", done.out);
            let change = answer["changes"].as_array().unwrap().iter();
            let throughput = change.clone().find(|change| change["metric"] == "throughput").unwrap();
            let ratio = throughput["change"].as_f64().unwrap();
            assert!((0.4..0.6).contains(&ratio), "one server of 2 ms against 1 ms: {ratio}");
        }
    }
}

#[test]
#[ignore = "slow: several runs; `make test-all`"]
fn an_equal_commit_is_never_called_worse() {
    let _turn = turn();
    let shop = Shop::new("1ms");
    for _ in 0..5 {
        let done = shop.ci(&["--base", "HEAD", "--budget", "30s", "--format", "json"]);
        let answer: serde_json::Value = serde_json::from_str(&done.out).unwrap();
        assert!(done.err.contains("whatever differs is noise"), "{}", done.err);
        assert!(
            matches!(
                (answer["verdict"].as_str(), done.code),
                (Some("no_worse" | "inconclusive"), 0) | (Some("void"), 2)
            ),
            "{answer:#}"
        );
    }
    shop.assert_untouched();
}

#[test]
fn a_commit_that_cannot_be_built_ends_it_and_names_which() {
    let _turn = turn();
    let shop = Shop::new("1ms");
    std::fs::remove_file(shop.repository().join("cmd/wanted")).unwrap();
    shop.git(&["add", "--all"]);
    shop.git(&["commit", "--quiet", "--message", "broken"]);
    let done = shop.ci(&["--base", "HEAD~1"]);
    assert_eq!(done.code, 2, "{}\n{}", done.out, done.err);
    assert!(done.err.contains("head") && done.err.contains("wanted"), "{}", done.err);
    shop.assert_untouched();
}

#[test]
fn an_alarm_ends_it_with_what_there_is() {
    let _turn = turn();
    let shop = Shop::new("1ms");
    let done = shop.ci(&["--base", "HEAD", "--abort-on", "throughput > 1"]);
    assert_eq!(done.code, 3, "{}\n{}", done.out, done.err);
    assert!(done.err.contains("ended by an alarm"), "{}", done.err);
    assert_eq!(shop.answer()["base"]["reference"], "HEAD", "the answer is written all the same");
    shop.assert_untouched();
}

#[test]
fn what_cannot_be_compared_is_refused_before_anything_runs() {
    let shop = Shop::new("1ms");
    let refused = |more: &[&str], texts: &[&str]| {
        let done = shop.ci(more);
        assert_eq!(done.code, 1, "{more:?}: {}\n{}", done.out, done.err);
        for text in texts {
            assert!(done.err.contains(text), "{more:?}: no `{text}` in\n{}", done.err);
        }
        shop.assert_untouched();
    };
    refused(&["--base", "nowhere"], &["there is no commit `nowhere`", "remedy"]);
    refused(&["--base", "--help-me"], &["--help-me"]);
    refused(&["--base", "HEAD", "other.toml"], &["there is no other.toml in HEAD", "docs/guides/ci.md"]);
    refused(&["--base", "HEAD", "--metric", "error_rate"], &["error_rate"]);
    let mut outside = prony(&["ci", "--base", "HEAD"]);
    let done: Done = outside.current_dir(shop.folder.path().join("tmp")).output().unwrap().into();
    assert_eq!(done.code, 1, "{}", done.err);
    assert!(done.err.contains("the repository that it is run in"), "{}", done.err);
    // What is only on disk is taken, and said.
    std::fs::write(
        shop.repository().join("two.toml"),
        FILE.replace("[scenario]", "[[target]]\nreference = {}\n[scenario]"),
    )
    .unwrap();
    let done = shop.ci(&["--base", "HEAD", "two.toml"]);
    assert!(done.code == 1 && done.err.contains("two.toml has 2 targets"), "{}", done.err);
    assert!(done.err.contains("two.toml is not in HEAD"), "{}", done.err);
    std::fs::remove_file(shop.repository().join("two.toml")).unwrap();
    let done = shop.ci(&["--base", "HEAD", "--dry-run"]);
    assert!(done.is_good() && done.out.contains("no_worse = \"head\""), "{}\n{}", done.out, done.err);
    shop.assert_untouched();
}

#[test]
fn trees_of_a_killed_prony_are_removed_by_the_next() {
    let shop = Shop::new("1ms");
    let left = shop.folder.path().join("tmp").join(format!("prony-ci-{}-x", u32::MAX));
    std::fs::create_dir(&left).unwrap();
    shop.git(&["worktree", "add", "--quiet", "--detach", left.join("base").to_str().unwrap()]);
    assert!(shop.ci(&["--base", "HEAD", "--dry-run"]).is_good());
    shop.assert_untouched();
}
