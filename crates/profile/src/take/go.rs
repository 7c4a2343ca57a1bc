//! Go, through the target's own `net/http/pprof`. `seconds=N` makes the difference over the window where the kind has
//! one; heap is what is live after a collection (`gc=1`), goroutine one moment. An execution trace grows by megabytes a second,
//! so that it spans at most [`TRACE_S`]; `go tool trace` makes stacks of it.

use super::child::{Child, Tool};
use super::{No, Request, SLACK, Taken, View, unwritable};
use crate::{BYTES_MAX, pprof};
use probe::{Limits, ProbeError};
use schema::profile::{ProfileKind, ProfileUnit};
use schema::said;
use schema::said::Said;
use std::time::Duration;

/// How many goroutines block is sampled only where the target was set to.
fn set_rates() -> Said {
    said!(
        "profile.set_rates",
        "start the target with its knob profile-rates on: block and mutex profiling cost too much to be always on"
    )
}

pub(super) fn take(request: &Request, kind: ProfileKind) -> Result<Taken, No> {
    let Some(base) = request.go_pprof else {
        let remedy = said!(
            "profile.name_pprof",
            "serve net/http/pprof in the target and name its path in target.toml: [metrics] go_pprof = \"/debug/pprof\""
        );
        let why = said!("profile.no_pprof", "the target names no path of Go's net/http/pprof");
        return Err(No::new(why, remedy));
    };
    let is_trace = kind == ProfileKind::Trace;
    let seconds = request.window.as_secs().clamp(1, if is_trace { TRACE_S } else { u64::MAX });
    let path = match kind {
        ProfileKind::Cpu => format!("{base}/profile?seconds={seconds}"),
        ProfileKind::Heap => format!("{base}/heap?gc=1"),
        ProfileKind::Goroutine => format!("{base}/goroutine"),
        other => format!("{base}/{}?seconds={seconds}", other.key()),
    };
    let at = &request.at;
    let limits = Limits { timeout: Duration::from_secs(seconds) + SLACK, body_bytes: BYTES_MAX };
    let raw = probe::get_over(at.addr, at.tls.as_ref(), &at.host, &path, limits).map_err(|error| {
        let remedy = match error {
            ProbeError::Status(404) => {
                said!(
                    "profile.serve_pprof",
                    "serve net/http/pprof there; prony's own Go targets do so with PPROF=true"
                )
            }
            ProbeError::Status(500) => {
                said!(
                    "profile.one_at_a_time",
                    "end what else takes a CPU profile of the target: Go takes one at a time"
                )
            }
            _ => said!("profile.load_less", "load it less: it has to answer beside the load"),
        };
        let cause = Said::from(error.to_string());
        No::new(said!("profile.get_failed", "GET {path}: {cause}", path = &path, cause), remedy)
    })?;
    let stacks = if is_trace { &waits_of(request, &raw)? } else { &raw };
    let views = views(pprof::read(stacks)?, kind);
    let asks_rates = matches!(kind, ProfileKind::Block | ProfileKind::Mutex);
    if asks_rates && views.first().is_none_or(|view| view.folded.is_empty()) {
        let why =
            said!("profile.nothing_waited", "nothing waited in the window, or the target does not sample it");
        return Err(No::new(why, set_rates()));
    }
    Ok(Taken { kind, views, raw, raw_ending: if is_trace { "trace" } else { "pb.gz" }, notes: notes(kind) })
}

/// Longest time of an execution trace, in seconds.
const TRACE_S: u64 = 2;
const GO: Tool = Tool {
    program: "go",
    remedy: || {
        said!(
            "profile.remedy_go",
            "apt-get install golang-go, or put go on PATH: it has to be at least as new as the target's"
        )
    },
};

/// A pprof profile of how long goroutines waited for a thread.
fn waits_of(request: &Request, trace: &[u8]) -> Result<Vec<u8>, No> {
    let file = request.scratch.join("go.trace");
    std::fs::write(&file, trace).map_err(|error| unwritable(&file, &error))?;
    let arguments = ["tool", "trace", "-pprof=sched", &file.display().to_string()].map(str::to_owned);
    Child::run(request, GO, &arguments, 2 * SLACK)?.output(BYTES_MAX)
}

/// What the kind is about first: bytes before objects.
fn views(types: Vec<pprof::SampleType>, kind: ProfileKind) -> Vec<View> {
    let wanted: &[&str] = match kind {
        ProfileKind::Heap => &["inuse_space", "inuse_objects"],
        ProfileKind::Allocs => &["alloc_space", "alloc_objects"],
        ProfileKind::Cpu => &["cpu"],
        ProfileKind::Goroutine => &["goroutine", "goroutines"],
        _ => &["delay"],
    };
    let found = |name: &&str| types.iter().find(|one| one.name == **name).map(|one| one.folded.clone());
    let suffix = |unit: ProfileUnit| if unit == ProfileUnit::Objects { "-objects" } else { "" };
    wanted
        .iter()
        .filter_map(found)
        .map(|folded| View { suffix: suffix(folded.unit), folded, table: None })
        .collect()
}

fn notes(kind: ProfileKind) -> Vec<Said> {
    let note = match kind {
        ProfileKind::Heap => said!(
            "profile.note_heap",
            "live after a collection at the end of the window; sampled, one in 512 KiB"
        ),
        ProfileKind::Trace => said!(
            "profile.note_trace",
            "an execution trace of at most {seconds} s, for `go tool trace`; shown is how long goroutines that could run waited for a thread",
            seconds = TRACE_S
        ),
        ProfileKind::Allocs => said!("profile.note_allocs", "sampled, one in 512 KiB allocated"),
        ProfileKind::Goroutine => {
            said!("profile.note_goroutine", "one moment, for which the target is stopped")
        }
        _ => return Vec::new(),
    };
    vec![note]
}
