//! A folder in which the commands of one document can be typed: the files and runs that documents name are there.
//!
//! Everything is recreated for each document, so no document lives on what another one left. What would be written to
//! (experiments, scenarios, runs) is a copy; what is only read is a link into the repository. The servers are prony's
//! own reference target on ports of the system's choice.

use crate::command::{Done, Server, root, turn};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// Seconds until a command is ended that hangs.
const COMMAND_SECONDS: &str = "120";
/// A run that documents call `runs/…`, and a second one where they name two.
const RUN: [&str; 2] = ["2026-11-22T09-30-00Z-demo", "2026-11-23T09-30-00Z-demo"];

/// Where shells look for completions, below the home folder.
const COMPLETIONS: [&str; 3] =
    [".local/share/bash-completion/completions", ".zfunc", ".config/fish/completions"];

const EXPERIMENT: &str = r#"
[experiment]
name = "demo"
blocks = 5
seed = 1
[[target]]
name = "a"
reference = { mean = "1ms" }
[[target]]
name = "b"
reference = { mean = "1200us" }
[scenario]
request = { path = "/ping" }
[load]
model = "closed"
connections = [1, 2]
[phases]
warmup = { at_least = "100ms", at_most = "100ms" }
sample = "300ms"
samples = 1
"#;

/// Whether a line makes a load. Only that takes a turn: nothing else measures, or disturbs those who do.
fn makes_load(line: &str) -> bool {
    ["load", "replay", "run", "knee"].iter().any(|sub| line.contains(&format!("prony {sub} ")))
}

/// What all documents share: the servers, one run, the binary under its name.
pub(super) struct World {
    folder: tempfile::TempDir,
    pub(super) plain: Server,
    pub(super) tls: Server,
    /// Made when one is asked for.
    run: OnceLock<SharedRun>,
}

/// The run that all runs of documents are copies of.
struct SharedRun {
    folder: PathBuf,
    /// Whether its trials are void, however often it was made.
    is_void: bool,
}

impl World {
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let authority = folder.path().join("ca.pem");
        let tls = Server::start(&["--tls", "--tls-ca-out", authority.to_str().unwrap()]);
        let plain = Server::start(&[]);
        let world = Self { folder, plain, tls, run: OnceLock::new() };
        fs::create_dir_all(world.at("bin")).unwrap();
        fs::create_dir_all(world.at("empty")).unwrap();
        link(Path::new(env!("CARGO_BIN_EXE_prony")), &world.at("bin/prony"));
        world
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A folder without any file, in which nothing that needs one can begin.
    pub(super) fn empty(&self) -> PathBuf {
        self.at("empty")
    }

    fn run(&self) -> &Path {
        let run = self.run.get_or_init(|| {
            let made = self.at("made");
            fs::write(self.at("made.toml"), EXPERIMENT).unwrap();
            let is_void = self.make_run(&made);
            let mut folders: Vec<PathBuf> =
                fs::read_dir(&made).unwrap().map(|entry| entry.unwrap().path()).collect();
            assert_eq!(folders.len(), 1, "one run was made");
            SharedRun { folder: folders.swap_remove(0), is_void }
        });
        &run.folder
    }

    /// Makes the run. Where others have the CPUs its trials are void and there is little to show, so it is made again.
    /// Returns whether they are void in the end.
    fn make_run(&self, made: &Path) -> bool {
        const ATTEMPTS: u32 = 3;
        for attempt in 1..=ATTEMPTS {
            let done = self.sh(self.folder.path(), "prony run made.toml --runs made");
            assert!(done.code == 0 || done.code == 2, "{}\n{}", done.out, done.err);
            if done.code == 0 || attempt == ATTEMPTS {
                return done.code == 2;
            }
            fs::remove_dir_all(made).unwrap();
        }
        unreachable!("the last attempt returns")
    }

    /// Whether a command failed only because other processes had the CPUs.
    pub(super) fn is_for_want_of_cpu(&self, done: &Done) -> bool {
        is_for_want_of_cpu(done, self.run.get().is_some_and(|run| run.is_void))
    }

    /// One line of a shell in a folder, bounded.
    pub(super) fn sh(&self, folder: &Path, line: &str) -> Done {
        let _turn = makes_load(line).then(turn);
        let path = format!("{}:{}", self.at("bin").display(), std::env::var("PATH").unwrap_or_default());
        let mut command = Command::new("timeout");
        command.args(["-k", "5", COMMAND_SECONDS, "bash", "-o", "pipefail", "-c", line]);
        command
            .current_dir(folder)
            .env("PATH", path)
            .env("HOME", folder)
            .env("NO_COLOR", "1")
            .stdin(Stdio::null());
        command.env("XDG_STATE_HOME", "/nonexistent/prony-tests");
        command.output().expect("coreutils and bash are there").into()
    }

    /// The folder for one document.
    pub(super) fn place(&self, document: &Path, text: &str) -> PathBuf {
        let place = self.at("places").join(document.to_str().expect("UTF-8").replace('/', "_"));
        fs::create_dir_all(place.join("target/release")).unwrap();
        fs::create_dir_all(place.join("runs")).unwrap();
        link(&self.at("bin/prony"), &place.join("target/release/prony"));
        for name in ["experiments", "scenarios", "studies"] {
            copy(&root().join(name), &place.join(name));
        }
        for name in ["targets", "services", "docs", "crates", "Makefile", "Cargo.toml"] {
            link(&root().join(name), &place.join(name));
        }
        self.samples(&place);
        for (name, content) in super::blocks::saved(text) {
            fs::create_dir_all(place.join(&name).parent().unwrap()).unwrap();
            fs::write(place.join(&name), content).unwrap();
        }
        for name in runs_named(text) {
            self.copy_run(&place, &name);
        }
        place
    }

    /// A run of the name's experiment: what follows the time in it.
    fn copy_run(&self, place: &Path, name: &str) {
        let to = place.join("runs").join(name);
        copy(self.run(), &to);
        let experiment = name.split_once("Z-").map_or("demo", |(_, name)| name);
        let file = to.join("run.json");
        let text = fs::read_to_string(&file).unwrap();
        let renamed = text.replacen("\"name\": \"demo\"", &format!("\"name\": \"{experiment}\""), 1);
        assert!(experiment == "demo" || text != renamed, "the name of the experiment stands in run.json");
        fs::write(file, renamed).unwrap();
    }

    /// The authority of the test's own server, under the name that documents give theirs.
    pub(super) fn put_authority(&self, place: &Path) {
        fs::copy(self.at("ca.pem"), place.join("ca.pem")).unwrap();
    }

    /// The files that documents take for granted.
    fn samples(&self, place: &Path) {
        let fixtures = root().join("crates/import/tests/fixtures");
        for (name, called) in [
            ("shop.har", "shop.har"),
            ("shop.jmx", "shop.jmx"),
            ("shop.k6.js", "script.js"),
            ("shop.postman.json", "shop.postman_collection.json"),
            ("shop.openapi.json", "openapi.json"),
        ] {
            fs::copy(fixtures.join(name), place.join(called)).unwrap();
        }
        fs::write(place.join("visits.json"), visits(|at, user| {
            format!("{{\"msec\":\"{at}\",\"request\":\"GET /a HTTP/1.1\",\"status\":200,\"http_cookie\":\"sid={user}\"}}\n")
        }))
        .unwrap();
        let events = visits(|at, user| format!("{at},{user},/a\n"));
        fs::write(place.join("events.csv"), format!("time,user_id,page\n{events}")).unwrap();
        fs::copy(fixtures.join("targets.vegeta"), place.join("targets.txt")).unwrap();
        fs::copy(root().join("crates/script/tests/wrk/post.lua"), place.join("post.lua")).unwrap();
        self.put_authority(place);
        let plain = self.plain.addr;
        fs::write(place.join("urls.txt"), format!("http://{plain}/a\nhttp://{plain}/b\n")).unwrap();
        for (name, content) in
            [("access.log", access_log(4)), ("access.log.1", access_log(2)), ("access.log.2", access_log(0))]
        {
            fs::write(place.join(name), content).unwrap();
        }
        for name in ["today.json", "bodies.json"] {
            fs::write(place.join(name), log_with_bodies()).unwrap();
        }
        let token = place.join(".prony-token");
        fs::write(&token, "0123456789abcdef0123456789abcdef\n").unwrap();
        fs::set_permissions(&token, fs::Permissions::from_mode(0o600)).unwrap();
        for folder in COMPLETIONS {
            fs::create_dir_all(place.join(folder)).unwrap();
        }
        for bodies in ["scenarios/bodies", "bodies"] {
            fs::create_dir_all(place.join(bodies)).unwrap();
            fs::write(place.join(bodies).join("order.json"), "{}\n").unwrap();
        }
        fs::write(place.join("results.tsv"), "name\tQPS\tc\tmean ms\tp\na\t1000\t8\t8\t9000\n").unwrap();
        let table = "name,4,Threads,rps,mean ms,p99 ms,Δ\na,1.5,8,1000,8,9,0\n";
        for name in ["results.csv", "t.csv"] {
            fs::write(place.join(name), table).unwrap();
        }
        fs::write(place.join("t.txt"), "name  rps   mean_ms\na     1000  8\nb     900   9\n").unwrap();
        let table =
            "| name | Connections | Requests/sec | Avg (ms) |\n|--|--|--|--|\n| a | 8 | 1,000 | 8 |\n";
        fs::write(place.join("article.md"), table).unwrap();
        let zipped = self.sh(place, "gzip -k access.log.1 && gzip access.log.2");
        assert_eq!(zipped.code, 0, "{}", zipped.err);
    }
}

/// Run folders that a document names, and those behind `runs/…`.
fn runs_named(text: &str) -> Vec<String> {
    let mut names: Vec<String> = text
        .split("runs/")
        .skip(1)
        .map(|rest| {
            let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || "-_.".contains(c)));
            rest[..end.unwrap_or(rest.len())].trim_end_matches('.').to_owned()
        })
        .filter(|name| name.contains('Z') || ["A", "B", "OTHER"].contains(&name.as_str()))
        .collect();
    if text.contains("runs/…") {
        names.extend(RUN.map(str::to_owned));
    }
    // A history has the runs of its name only.
    for (at, rest) in text.split("prony history ").skip(1).enumerate() {
        let name = rest.split_whitespace().next().unwrap_or_default();
        if name.starts_with(|c: char| c.is_ascii_lowercase()) {
            names.push(format!("2026-11-2{at}T09-30-00Z-{name}"));
        }
    }
    names.sort();
    names.dedup();
    names
}

/// `runs/…` as a folder that is there; the second one of a line is another run.
pub(super) fn with_runs(words: &mut [String]) {
    for (seen, word) in words.iter_mut().filter(|word| word.contains("runs/…")).enumerate() {
        *word = word.replace("runs/…", &format!("runs/{}", RUN[seen.min(1)]));
    }
}

/// Two seconds of a log, this many seconds after a full minute.
fn access_log(from: u32) -> String {
    let line = |n: u32| {
        format!(
            "10.0.0.{} - - [21/Nov/2026:09:00:{:02} +0000] \"GET /items/{n} HTTP/1.1\" 200 512 \"-\" \"x\"\n",
            n % 5,
            from + n / 20
        )
    };
    (0..40).map(line).collect()
}

/// A quarter of an hour of sessions of one to five requests; `line` makes a line of seconds since 1970 and a user.
fn visits(line: impl Fn(u32, u32) -> String) -> String {
    let mut requests: Vec<(u32, u32)> = Vec::new();
    for user in 0..120_u32 {
        let steps = 1 + user * 7 % 5;
        // Pauses of 3 to 40 s, of a fixed disorder.
        let pause = |step: u32| 3 + (user * 13 + step * 29) % 38;
        let begin = 1_795_251_600 + user * 7 + user % 3;
        requests.extend((0..steps).map(|step| (begin + (1..=step).map(pause).sum::<u32>(), user)));
    }
    requests.sort_unstable();
    requests.into_iter().map(|(at, user)| line(at, user)).collect()
}

/// A second of a log as `prony record` writes it.
fn log_with_bodies() -> String {
    let line = |n: u32| {
        let (method, body) = if n.is_multiple_of(4) { ("POST", "{}") } else { ("GET", "") };
        format!(
            "{{\"msec\":\"1795251600.{:03}\",\"request_method\":\"{method}\",\"request_uri\":\"/{n}\",\"status\":200,\
             \"content_type\":\"application/json\",\"request_body\":\"{body}\"}}\n",
            n * 25
        )
    };
    (0..40).map(line).collect()
}

fn link(from: &Path, to: &Path) {
    std::os::unix::fs::symlink(from, to).unwrap_or_else(|error| panic!("{}: {error}", to.display()));
}

/// A folder with all in it, without build output.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap_or_else(|error| panic!("{}: {error}", from.display())) {
        let entry = entry.unwrap();
        let (path, to) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy(&path, &to);
        } else {
            fs::copy(&path, &to).unwrap();
        }
    }
}

/// Whether a command failed because others had this host's CPUs while it ran, or while the run that it reads was made:
/// no fault of the document.
pub(super) fn is_for_want_of_cpu(done: &Done, has_void_run: bool) -> bool {
    // Lines are broken where the terminal ends.
    let is_void = |text: &str| {
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        ["stolen by its hypervisor", "stolen from this host", "other processes used"]
            .iter()
            .any(|cause| words.contains(cause))
    };
    let now = done.code == 2 && (is_void(&done.out) || is_void(&done.err));
    let needs_a_valid_run = ["this run has no chart", "has no valid trial"];
    now || has_void_run && needs_a_valid_run.iter().any(|cause| done.err.contains(cause))
}
