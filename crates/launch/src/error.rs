//! What can go wrong with a target, each with its cause and its remedy.

use crate::guard::Exit;
use schema::text::FileError;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use units::Nanos;

/// Why a target could not be found, built, started or stopped.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// The manifest breaks its rules.
    #[error(transparent)]
    Manifest(#[from] Box<FileError>),
    /// No folder under `targets/` has this name.
    #[error("no target `{name}` under {}{}", root.join("targets").display(), did_you_mean(suggestion.as_deref()))]
    Unknown {
        /// The name asked for.
        name: String,
        /// The folder that holds `targets/`.
        root: PathBuf,
        /// The nearest name there is.
        suggestion: Option<String>,
    },
    /// A file could not be read or written, or a process not be made.
    #[error("cannot {what}: {source}")]
    Io {
        /// What was tried, as the object of "cannot".
        what: String,
        /// The system's reason.
        source: io::Error,
    },
    /// The plan itself cannot be carried out.
    #[error("{cause}\n  remedy: {remedy}")]
    Plan {
        /// What is wrong.
        cause: String,
        /// What to do about it.
        remedy: String,
    },
    /// A program is not there.
    #[error("`{program}` is not found or cannot be executed\n  remedy: {remedy}")]
    ProgramNotFound {
        /// As written in the command.
        program: String,
        /// How to get it.
        remedy: String,
    },
    /// The build command failed.
    #[error("the build of {name} failed: `{command}` {exit}{tail}")]
    Build {
        /// Name of the target.
        name: String,
        /// The command.
        command: String,
        /// How it ended.
        exit: Exit,
        /// The end of its output.
        tail: String,
    },
    /// A user's program beside the load failed.
    #[error(
        "{name} failed: `{command}` {how}{tail}\n  remedy: run it by hand with PRONY_URL set, and mend it"
    )]
    Errand {
        /// Before the load or after it.
        name: String,
        /// The command line.
        command: String,
        /// How it ended.
        how: String,
        /// The end of its output.
        tail: String,
    },
    /// The work was called off.
    #[error("{0} was called off")]
    Cancelled(&'static str),
    /// The guard could not start the program.
    #[error("cannot start `{command}`: {cause}{tail}")]
    Launch {
        /// The command.
        command: String,
        /// The guard's reason.
        cause: String,
        /// The end of the log.
        tail: String,
    },
    /// Its network of its own cannot be had; [`crate::start()`] starts it on the host's instead.
    #[error("the target cannot have a network of its own: {cause}")]
    NoNetwork {
        /// What is missing.
        cause: String,
    },
    /// It needs more memory than its limit.
    #[error(
        "the kernel killed {kills} of the target's processes because they reached the memory limit{limit} (OOM kill): `{command}` \
         {exit}\n  remedy: raise limits.memory, or lower what the target takes{tail}"
    )]
    OutOfMemory {
        /// Processes killed.
        kills: u64,
        /// ` of 64MiB`.
        limit: String,
        /// The command.
        command: String,
        /// How it ended.
        exit: Exit,
        /// The end of its log.
        tail: String,
    },
    /// A limit of a running target could not be changed.
    #[error("the limit cannot be changed while the target runs: {cause}")]
    Change {
        /// The guard's reason.
        cause: String,
    },
    /// The target ended before it was ready.
    #[error("the target ended before it was ready: `{command}` {exit}{tail}")]
    EndedEarly {
        /// The command.
        command: String,
        /// How it ended.
        exit: Exit,
        /// The end of its log.
        tail: String,
    },
    /// The target found its port taken, again and again.
    #[error("the target found its port taken {attempts} times in a row: `{command}`{tail}")]
    PortTaken {
        /// Starts that were tried, each with another port.
        attempts: u32,
        /// The command.
        command: String,
        /// The end of its log.
        tail: String,
    },
    /// No good answer in time.
    #[error(
        "the target was not ready within {timeout}: {last}\n  remedy: does it listen on {addr}? raise ready.timeout \
         if it only needs longer{tail}"
    )]
    NotReady {
        /// The time it had.
        timeout: Nanos,
        /// Where it should have answered.
        addr: SocketAddr,
        /// Why the last try failed.
        last: String,
        /// The end of its log.
        tail: String,
    },
    /// The target ended on its own while it was in use.
    #[error("the target ended on its own: `{command}` {exit}{tail}")]
    Died {
        /// The command.
        command: String,
        /// How it ended.
        exit: Exit,
        /// The end of its log.
        tail: String,
    },
    /// The guard itself ended without doing its work.
    #[error(
        "the guard of `{command}` was lost ({cause}); processes of the target may be left\n  remedy: look for them \
         with `ps` before the next run, and find out what killed the guard{tail}"
    )]
    GuardLost {
        /// The target's command.
        command: String,
        /// What is known.
        cause: String,
        /// The end of the log, which also takes the guard's errors.
        tail: String,
    },
    /// Processes survived SIGKILL, which only uninterruptible sleep in the kernel explains.
    #[error(
        "processes of the target survive SIGKILL: {pids:?}\n  remedy: see where they hang in /proc/PID/stack"
    )]
    Survivors {
        /// Their process identifiers.
        pids: Vec<u32>,
    },
    /// The port is still held after the stop.
    #[error(
        "port {addr} is not free after the stop: {source}\n  remedy: another process holds it; find it with `ss -ltnp`"
    )]
    PortHeld {
        /// The address.
        addr: SocketAddr,
        /// The system's reason.
        source: io::Error,
    },
    /// A server that should already run does not accept connections.
    #[error("nothing accepts connections at {addr}: {source}\n  remedy: start the server, or correct `url`")]
    Unreachable {
        /// The address.
        addr: SocketAddr,
        /// The system's reason.
        source: io::Error,
    },
}

impl TargetError {
    pub(crate) fn io(what: impl Into<String>, source: io::Error) -> Self {
        Self::Io { what: what.into(), source }
    }

    pub(crate) fn plan(cause: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::Plan { cause: cause.into(), remedy: remedy.into() }
    }
}

fn did_you_mean(suggestion: Option<&str>) -> String {
    match suggestion {
        Some(name) => format!("\n  remedy: did you mean `{name}`?"),
        None => "\n  remedy: `prony targets` lists what there is".to_owned(),
    }
}
