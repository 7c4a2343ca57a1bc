//! Running the binary: one helper for all tests.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

/// The repository's root.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository is there")
}

/// `prony` with arguments, in the repository's root.
pub(crate) fn prony(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_prony"));
    command.args(args).current_dir(root()).env("NO_COLOR", "1").stdin(Stdio::null());
    // No calibration of the host that the tests run on.
    command.env("XDG_STATE_HOME", "/nonexistent/prony-tests");
    command
}

/// Whether programs that are started here hear hang-ups: under nohup they inherit that they do not, rightly.
pub(crate) fn hears_hang_ups() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux tells");
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).expect("and which signals");
    let ignored = u64::from_str_radix(ignored.trim(), 16).expect("as a mask");
    let hears = ignored & 1 == 0;
    if !hears {
        println!("skipped: hang-ups are ignored here (nohup), so no program hears them");
    }
    hears
}

/// What a finished command left.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl From<Output> for Done {
    fn from(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("prony writes UTF-8");
        Self { code: output.status.code().unwrap_or(-1), out: text(output.stdout), err: text(output.stderr) }
    }
}

/// Runs to the end.
pub(crate) fn done(args: &[&str]) -> Done {
    prony(args).output().expect("prony starts").into()
}

/// Runs to the end and demands success.
pub(crate) fn good(args: &[&str]) -> Done {
    let done = done(args);
    assert!(done.is_good(), "{args:?}: {}\n{}\n{}", done.code, done.out, done.err);
    done
}

/// Checks that fail, rightly, where others want the CPUs that a load is tested on.
const HOST: [&str; 10] = [
    "pacer lag",
    "competing cpu",
    "generator cpu",
    "offered achieved",
    "steal",
    "arrivals",
    "canary",
    "fleet lag",
    "fleet share",
    "fleet steal",
];

impl Done {
    /// Whether it ended well, or was a load that did but for a busy host: its numbers are void then, and what was counted
    /// holds all the same.
    pub(crate) fn is_good(&self) -> bool {
        let said = self.err.split_once("exit code 2: these numbers must not be used (");
        let gates = said.and_then(|(_, rest)| rest.split_once(')')).map(|(gates, _)| gates);
        let is_void = gates.is_some_and(|gates| gates.split(", ").all(|gate| HOST.contains(&gate)));
        self.code == 0 || (self.code == 2 && is_void)
    }
}

/// Runs an experiment to its end. On a busy host all trials may be void, rightly, and the exit code is 2 as for a
/// failure; then the answer must say so, no trial may have failed, and no gate may lay it to prony: but for where the
/// hypervisor took so much time that it is named, too, because then readings of two ends lie apart.
pub(crate) fn measured(args: &[&str]) -> Done {
    let done = done(args);
    let said = done.out.split_whitespace().collect::<Vec<_>>().join(" ");
    let is_void = done.code == 2
        && ["is void (trial", "are void (trial"].iter().any(|void| said.contains(void))
        && !said.contains("failed (trial")
        && (said.contains("stolen by its hypervisor") || !said.contains("a fault of prony"));
    assert!(done.code == 0 || is_void, "{args:?}: {}\n{}\n{}", done.code, done.out, done.err);
    done
}

/// Runs and demands this exit code and these texts on standard error.
pub(crate) fn bad(args: &[&str], code: i32, texts: &[&str]) {
    let done = done(args);
    assert_eq!(done.code, code, "{args:?}\n{}\n{}", done.out, done.err);
    for text in texts {
        assert!(done.err.contains(text), "{args:?}: no `{text}` in\n{}", done.err);
    }
}

/// `prony reference` as a process; killed by its pid when dropped.
pub(crate) struct Server {
    child: Child,
    pub(crate) addr: SocketAddr,
}

impl Server {
    pub(crate) fn start(args: &[&str]) -> Self {
        let mut all = vec!["reference", "--listen", "127.0.0.1:0"];
        all.extend(args);
        let mut child = prony(&all).stderr(Stdio::piped()).spawn().expect("prony starts");
        let mut line = String::new();
        let stderr = child.stderr.take().expect("stderr is piped");
        BufReader::new(stderr).read_line(&mut line).expect("the server says where it listens");
        let addr =
            line.trim().strip_prefix("listening on ").expect("an address").parse().expect("an address");
        Self { child, addr }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits for it to end by itself; its exit code.
    pub(crate) fn wait(&mut self) -> Option<i32> {
        self.child.wait().expect("it is our child").code()
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.addr)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Whether a program is on PATH, or where Debian keeps servers.
pub(crate) fn is_there(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders = std::env::split_paths(&path).collect::<Vec<_>>();
    folders.extend(["/usr/sbin", "/usr/local/sbin"].map(PathBuf::from));
    folders.iter().any(|folder| folder.join(program).is_file())
}

/// Held by tests that measure: they take turns, so that they do not make each other's numbers void.
pub(crate) fn turn() -> std::sync::MutexGuard<'static, ()> {
    static TURN: std::sync::Mutex<()> = std::sync::Mutex::new(());
    // A test that failed while it held the turn has nothing to protect.
    TURN.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
