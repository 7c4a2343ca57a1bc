//! wrk's Lua scripts, unmodified, on LuaJIT: wrk's SCRIPTING page and wrk 4.1 itself are the reference.
//!
//! One state for set-up and `done`, and one for each worker, as in wrk. Invariants: everything that can be wrong
//! with a script before the load is found by [`Wrk::load`], with file and line; what it throws later is a value,
//! never a panic; a script that never returns is stopped while it loads or reports, but not in `request`,
//! `response` and `delay`, where watching costs too much. The order of header fields is always the same, which wrk
//! does not promise.
//! Absent on purpose: sockets other than `wrk.connect`'s, the load itself, and what mlua calls unsafe libraries
//! (`ffi`, `debug` but for its traceback, modules in C), which need `unsafe` code here.

mod addr;
mod copy;
mod framing;
mod place;
mod state;
mod stats;
mod thread;
mod wrk;

pub use stats::{Errors, Summary};
pub use wrk::Wrk;

use std::path::PathBuf;
use units::Nanos;

/// How long a script may take to load, in `setup`, in `init` and in `done`, each time, unless the user says otherwise.
pub const LIMIT: Nanos = Nanos::from_secs(10);

/// What is loaded, for what.
#[derive(Clone, Debug)]
pub struct Job<'a> {
    /// The file as the user named it; for messages.
    pub file: &'a str,
    /// Its text.
    pub text: &'a str,
    /// What stands after `--` on the command line.
    pub args: &'a [String],
    /// What is loaded.
    pub url: &'a ScriptUrl,
    /// How many workers, at least 1; each gets a state of its own.
    pub threads: usize,
    /// Header fields from the command line; the script may change them.
    pub headers: &'a [(String, String)],
    /// Where the script prints to.
    pub output: Output,
    /// How long each phase outside the load may take; usually [`LIMIT`].
    pub limit: Nanos,
}

/// A URL in the parts that a script sees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptUrl {
    /// As the user wrote it: `args[0]` of `init`.
    pub text: String,
    /// `http` or `https`.
    pub scheme: String,
    /// Name or address, without brackets.
    pub host: String,
    /// The port where the URL has one, even the scheme's own: then the Host field has it too.
    pub port: Option<u16>,
    /// Path and query; `/` where there is none.
    pub path: String,
}

/// Where a script's `print` and `io.write` go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// Standard output, as with wrk.
    Stdout,
    /// Standard error, for when standard output is for machines.
    Stderr,
    /// The end of a file.
    File(PathBuf),
}
