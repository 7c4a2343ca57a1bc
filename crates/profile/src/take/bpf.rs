//! `bpftrace` with prony's programs: it runs until a signal ends it, and prints its maps at the end.

use super::child::{Child, Tool};
use super::{No, POLL, Request, SLACK, Taken, View, is_stopped, processes, unwritable, wait};
use crate::{BYTES_MAX, bpf};
use rustix::process::Signal;
use schema::profile::{ProfileKind, ProfileUnit};
use schema::said;
use schema::said::Said;
use std::time::Instant;

const BPFTRACE: Tool = Tool {
    program: "bpftrace",
    remedy: || {
        said!(
            "profile.remedy_bpftrace",
            "apt-get install bpftrace; run as root; mount -t tracefs nodev /sys/kernel/tracing"
        )
    },
};
/// What it prints once all probes are attached.
const ATTACHED: &[u8] = b"attached_probes";

pub(super) fn take(request: &Request, kind: ProfileKind) -> Result<Taken, No> {
    let Some(mut program) = bpf::program(kind) else {
        return Err(No::new(
            said!("profile.no_program", "there is no program for this kind"),
            said!("profile.ask_another", "ask for another"),
        ));
    };
    let pids = processes(request)?;
    // Should prony be killed, the program ends by itself.
    program += &format!("interval:s:{} {{ exit(); }}\n", (request.window + SLACK).as_secs());
    let file = request.scratch.join(format!("{}.bt", kind.key()));
    std::fs::write(&file, program).map_err(|error| unwritable(&file, &error))?;
    let mut arguments = vec!["-f".to_owned(), "json".to_owned(), file.display().to_string()];
    arguments.extend(pids.iter().take(bpf::PIDS_MAX).map(|process| process.pid.to_string()));
    let mut child = Child::start(request, BPFTRACE, &arguments)?;
    until_attached(request, &mut child)?;
    wait(request)?;
    child.signal(Signal::INT);
    child.wait(request, SLACK)?;
    let raw = child.output(BYTES_MAX)?;
    let trace = bpf::read(&raw, kind)?;
    let (unit, title, note) = words(kind);
    let mut notes = vec![note];
    if pids.len() > bpf::PIDS_MAX {
        notes.push(said!(
            "profile.first_watched",
            "the first {watched} of {processes} processes were watched",
            processes = pids.len(),
            watched = bpf::PIDS_MAX
        ));
    }
    if trace.lost > 0 {
        notes.push(said!("profile.events_lost", "{events} events were lost", events = trace.lost));
    }
    let view = View { suffix: "", folded: trace.folded(unit), table: Some(trace.table(title)) };
    Ok(Taken { kind, views: vec![view], raw, raw_ending: "ndjson", notes })
}

/// Compiling and attaching takes seconds, which do not belong to the window.
fn until_attached(request: &Request, child: &mut Child) -> Result<(), No> {
    let until = Instant::now() + SLACK;
    loop {
        let said = child.output(BYTES_MAX)?;
        if said.windows(ATTACHED.len()).any(|part| part == ATTACHED) {
            return Ok(());
        }
        if is_stopped(request) {
            return Err(No::stopped());
        }
        if !child.is_running() {
            return Err(child.failed(said!("profile.nothing_attached", "it attached nothing")));
        }
        if Instant::now() >= until {
            return Err(
                child.failed(said!("profile.nothing_attached_in_time", "it attached nothing in time"))
            );
        }
        std::thread::sleep(POLL);
    }
}

fn words(kind: ProfileKind) -> (ProfileUnit, &'static str, Said) {
    match kind {
        ProfileKind::Syscalls => (
            ProfileUnit::ElapsedNs,
            "system calls of the target",
            said!(
                "profile.note_syscalls",
                "times include waiting in the call; calls under way at either end of the window are not counted; each call costs more while it is traced"
            ),
        ),
        ProfileKind::OffCpu => (
            ProfileUnit::BlockedNs,
            "time off the CPU by thread and reason",
            said!("profile.note_off_cpu", "waits that had not ended with the window are not counted"),
        ),
        _ => (
            ProfileUnit::ElapsedNs,
            "TCP connections that the target opened",
            said!("profile.note_tcp_connect", "from SYN to established; failed ones never were"),
        ),
    }
}
