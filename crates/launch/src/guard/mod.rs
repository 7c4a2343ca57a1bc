//! The guard: prony's own binary as a small supervisor between prony and one target.
//!
//! ```text
//! prony ──pipes──▶ prony guard ──spawn──▶ prony guard-exec ──exec──▶ the target's program
//! ```
//!
//! Invariants: the guard holds the target as child subreaper, so every process that the target ever makes stays
//! its descendant; the guard ends them all when it is told to, when the target ends, and when its stdin reaches
//! end of file, which prony's death causes however it dies; if the guard itself is killed, the kernel kills the
//! target (`PR_SET_PDEATHSIG`). The guard sits in a process group of its own, so Ctrl-C does not reach it.
//! Absent on purpose: command-line parsing. The guard takes its orders on stdin, so that they show up neither in
//! `ps` nor in the command line's help.

mod exec;
mod handle;
mod protocol;
mod run;
mod tree;

pub use protocol::Exit;

pub(crate) use handle::{Finish, Guard};
pub(crate) use protocol::{Change, Ending, Spec};

use std::ffi::OsString;
use std::process::ExitCode;

/// First argument of the supervisor process.
pub const GUARD: &str = "guard";
/// First argument of the step that becomes the target's program.
pub const GUARD_EXEC: &str = "guard-exec";

/// Serves the two hidden subcommands; `None` where the arguments (program name first) ask for neither.
///
/// To be called at the top of `main`, before any thread is started: the kernel ties the parent-death signal of the
/// target to the thread that spawns it.
pub fn dispatch(args: impl IntoIterator<Item = OsString>) -> Option<ExitCode> {
    let mut args = args.into_iter().skip(1);
    match args.next()?.to_str()? {
        GUARD => Some(run()),
        GUARD_EXEC => Some(exec(args)),
        _ => None,
    }
}

/// `prony guard`: starts one target as the first line of stdin says, and sees to its end.
#[must_use]
pub fn run() -> ExitCode {
    run::run()
}

/// `prony guard-exec [--] GUARD_PID CPUS JOIN PROGRAM ARGUMENTS…`: confines this process and becomes the program. CPUS
/// is a Linux CPU list or `-`, JOIN the JSON of groups and network to enter or `-`. Returns only where that fails.
#[must_use]
pub fn exec(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    exec::exec(args)
}
