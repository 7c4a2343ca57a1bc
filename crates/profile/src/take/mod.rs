//! Taking: each kind from the profiler that has it, one after the other, each in a window of its own, so that none sees
//! what another costs.
//!
//! Invariants: nothing waits longer than its window and [`SLACK`]; a child process is a group of its own and is killed
//! and waited for on every way out; the stop flag ends a wait within [`POLL`], only one exchange with the target is
//! waited for to its end. What cannot be had is a [`Refused`].

mod bpf;
mod child;
mod go;
mod jfr;
mod node;
mod perf;
mod php;
mod tree;

pub use php::ini as php_ini;

use crate::Folded;
use schema::profile::ProfileKind;
use schema::said;
use schema::said::Said;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tree::Process;

/// What a profiler may take besides its window.
const SLACK: Duration = Duration::from_secs(30);
/// How often the stop flag is looked at.
const POLL: Duration = Duration::from_millis(20);

/// Where the target is asked.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// Its address.
    pub addr: SocketAddr,
    /// Value of the Host field.
    pub host: String,
    /// Where it speaks TLS.
    pub tls: Option<probe::Tls>,
}

/// What is wanted of which target.
#[derive(Debug)]
pub struct Request<'a> {
    /// In which order.
    pub kinds: &'a [ProfileKind],
    /// Of each kind.
    pub window: Duration,
    /// The target's first process; absent where prony did not start it.
    pub pid: Option<u32>,
    /// Where it answers.
    pub at: Endpoint,
    /// Path of Go's net/http/pprof.
    pub go_pprof: Option<&'a str>,
    /// Where the files of [`php_ini`] are, if the target was started with them.
    pub php: Option<&'a Path>,
    /// A folder for files in between; the caller removes it.
    pub scratch: PathBuf,
    /// Set to end early.
    pub stop: &'a AtomicBool,
}

/// One set of stacks of a profile.
#[derive(Clone, Debug)]
pub struct View {
    /// Appended to the kind in file names; empty for the first.
    pub suffix: &'static str,
    /// The stacks.
    pub folded: Folded,
    /// Instead of the table of functions.
    pub table: Option<String>,
}

/// A profile that was taken.
#[derive(Clone, Debug)]
pub struct Taken {
    /// Kind.
    pub kind: ProfileKind,
    /// The first is what the kind is about.
    pub views: Vec<View>,
    /// What the profiler gave.
    pub raw: Vec<u8>,
    /// Ending of the raw file's name.
    pub raw_ending: &'static str,
    /// What must be known to read it.
    pub notes: Vec<Said>,
}

impl Taken {
    fn one(kind: ProfileKind, folded: Folded, raw: Vec<u8>, raw_ending: &'static str) -> Self {
        Self {
            kind,
            views: vec![View { suffix: "", folded, table: None }],
            raw,
            raw_ending,
            notes: Vec::new(),
        }
    }
}

/// What could not be taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Kind.
    pub kind: ProfileKind,
    /// Why.
    pub why: Box<Said>,
    /// What would cure it.
    pub remedy: Box<Said>,
}

/// Why a taker gave up; the kind is added by [`take`].
#[derive(Debug)]
struct No {
    why: Box<Said>,
    remedy: Box<Said>,
}

/// A file for the profiler could not be written.
fn unwritable(path: &Path, error: &std::io::Error) -> No {
    let why = said!(
        "profile.unwritable",
        "cannot write {path}: {cause}",
        path = path.display().to_string(),
        cause = Said::from(error.to_string())
    );
    No::new(why, said!("profile.make_room", "make room in the folder for temporary files"))
}

/// A file of the profiler could not be read.
fn unreadable(path: &Path, error: &std::io::Error) -> No {
    let why = said!(
        "profile.unreadable",
        "cannot read {path}: {cause}",
        path = path.display().to_string(),
        cause = Said::from(error.to_string())
    );
    No::new(why, take_again())
}

fn take_again() -> Said {
    said!("profile.take_again", "take it again")
}

impl No {
    fn new(why: impl Into<Said>, remedy: impl Into<Said>) -> Self {
        Self { why: Box::new(why.into()), remedy: Box::new(remedy.into()) }
    }

    fn stopped() -> Self {
        Self::new(said!("profile.interrupted", "interrupted"), said!("profile.take_again", "take it again"))
    }
}

impl From<crate::ProfileError> for No {
    fn from(error: crate::ProfileError) -> Self {
        Self { why: error.cause, remedy: error.remedy }
    }
}

/// Takes each kind.
#[must_use]
pub fn take(request: &Request) -> Vec<Result<Taken, Refused>> {
    let one = |kind: ProfileKind| {
        let taken = if is_stopped(request) { Err(No::stopped()) } else { take_one(request, kind) };
        let taken = taken.and_then(|taken| match taken.views.first() {
            Some(view) if !view.folded.is_empty() => Ok(taken),
            _ => Err(No::new(
                said!(
                    "profile.nothing_counted",
                    "the target did nothing in the window that this kind counts"
                ),
                said!("profile.load_harder", "load it harder, or take it over a longer time: --seconds"),
            )),
        });
        taken.map_err(|no| Refused { kind, why: no.why, remedy: no.remedy })
    };
    request.kinds.iter().map(|kind| one(*kind)).collect()
}

fn take_one(request: &Request, kind: ProfileKind) -> Result<Taken, No> {
    match kind {
        kind if kind.is_go() => go::take(request, kind),
        ProfileKind::Perf => perf::take(request),
        ProfileKind::Jfr => jfr::take(request),
        ProfileKind::Node => node::take(request),
        ProfileKind::Php => php::take(request),
        kind => bpf::take(request, kind),
    }
}

fn is_stopped(request: &Request) -> bool {
    request.stop.load(Ordering::Relaxed)
}

/// Waits for the window; an error where prony is to stop.
fn wait(request: &Request) -> Result<(), No> {
    let until = Instant::now() + request.window;
    while Instant::now() < until {
        if is_stopped(request) {
            return Err(No::stopped());
        }
        std::thread::sleep(POLL.min(until.saturating_duration_since(Instant::now())));
    }
    Ok(())
}

/// The target's processes.
fn processes(request: &Request) -> Result<Vec<Process>, No> {
    let Some(pid) = request.pid else {
        let why =
            said!("profile.not_started", "prony did not start the target, so it does not know its processes");
        return Err(No::new(
            why,
            said!("profile.name_target", "name the target by use or command instead of url"),
        ));
    };
    let found = tree::below(Path::new("/proc"), pid);
    if found.is_empty() {
        return Err(No::new(
            said!("profile.no_process", "no process of the target is left"),
            said!("profile.look_at_log", "look at its log"),
        ));
    }
    Ok(found)
}

/// The busiest process of the target that runs one of `programs`.
fn busiest(request: &Request, programs: &[&str], what: Said) -> Result<Process, No> {
    let all = processes(request)?;
    let fitting = all.into_iter().filter(|process| programs.contains(&process.program.as_str()));
    fitting.max_by_key(|process| (process.cpu_ticks, process.pid)).ok_or_else(|| {
        No::new(
            said!("profile.none_is", "none of the target's processes is {what}", what),
            said!("profile.own_language", "ask for a kind of the target's own language"),
        )
    })
}
