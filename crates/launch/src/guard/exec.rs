//! `prony guard-exec`: the last step before the target's program, in the target's own process.
//!
//! Its stdin is a pipe to the guard that closes at the moment of a successful exec and carries the reason of a
//! failed one. Safe code cannot run between fork and exec, which is why this is a program of its own.

use crate::confine::Join;
use crate::pin;
use rustix::process::{Pid, Signal, getppid, set_parent_process_death_signal};
use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode, Stdio};

/// The shell's code for "cannot be executed".
const EXEC_FAILED: u8 = 126;

pub(super) fn exec(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let args: Vec<OsString> = args.into_iter().skip_while(|arg| arg == "--").collect();
    // Closed by the exec, so that the guard learns of it.
    let pipe = rustix::io::fcntl_dupfd_cloexec(io::stdin(), 3);
    let reason = confine_and_exec(&args);
    eprintln!("prony guard: {reason}");
    if let Ok(pipe) = pipe {
        let _ = std::fs::File::from(pipe).write_all(reason.as_bytes());
    }
    ExitCode::from(EXEC_FAILED)
}

/// Does not return where it succeeds; else gives the reason.
fn confine_and_exec(args: &[OsString]) -> String {
    let [guard, cpus, join, program, arguments @ ..] = args else {
        return "guard-exec is used by prony itself and takes GUARD_PID CPUS JOIN PROGRAM".to_owned();
    };
    // Groups first: entering a CPU set gives a process all CPUs of the set.
    if let Err(reason) = tie(guard).and_then(|()| enter(join)).and_then(|()| confine(cpus)) {
        return reason;
    }
    Command::new(program).args(arguments).stdin(Stdio::null()).exec().to_string()
}

/// Ties the life of this process to its guard's.
fn tie(guard: &OsStr) -> Result<(), String> {
    let guard = guard.to_str().and_then(|text| text.parse().ok()).and_then(Pid::from_raw);
    set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(|error| format!("cannot set the parent-death signal: {error}"))?;
    // Had the guard died before the line above, no signal would come.
    if guard.is_none() || getppid() != guard {
        return Err("the guard is gone".to_owned());
    }
    Ok(())
}

fn enter(join: &OsStr) -> Result<(), String> {
    match join.to_str() {
        Some("-") => Ok(()),
        json => {
            let join: Join = serde_json::from_str(json.unwrap_or_default())
                .map_err(|error| format!("cannot read where to go: {error}"))?;
            join.enter()
        }
    }
}

fn confine(cpus: &OsStr) -> Result<(), String> {
    match cpus.to_str() {
        Some("-") => Ok(()),
        list => {
            let list = pin::parse_list(list.unwrap_or_default()).map_err(|error| error.to_string())?;
            pin::confine_this_thread(&list).map_err(|error| error.to_string())
        }
    }
}
