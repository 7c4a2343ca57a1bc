//! What a script does for one worker, as the engine sees it.
//!
//! Invariants: the engine knows no scripting language; a script's fault is a value, given again each time it
//! happens, and never ends a worker. Absent on purpose: any interpreter (crate `script`), sockets, clocks.

use std::fmt;
use std::net::SocketAddr;
use units::Nanos;

/// One worker's script. Moved into the worker's thread; no two workers share one.
pub trait Script: Send {
    /// Appends the bytes that are sent next to `out`, which is empty: usually one request, with pipelining several
    /// ([`requests_in`](Self::requests_in)).
    ///
    /// # Errors
    /// What the script threw, or that it returned no text. `out` is then empty.
    fn request(&mut self, out: &mut Vec<u8>) -> Result<(), ScriptError>;

    /// The pause before the next request of a connection, in whole milliseconds. `None` without `delay`.
    ///
    /// # Errors
    /// What the script threw.
    fn delay(&mut self) -> Result<Option<Nanos>, ScriptError>;

    /// Whether [`delay`](Self::delay) is to be asked before each request. Lasting.
    fn has_delay(&self) -> bool;

    /// Whether answers are wanted: header fields and bodies need to be kept only then. Lasting.
    fn wants_response(&self) -> bool;

    /// Shows one complete answer: its final status, its fields in order with the names as sent, and its body.
    ///
    /// # Errors
    /// What the script threw.
    fn response(&mut self, status: u16, headers: &[(String, String)], body: &[u8])
    -> Result<(), ScriptError>;

    /// Whether the script asked for the end of this worker's load.
    fn is_stopped(&self) -> bool;

    /// Where this worker connects to, if the script's set-up says so. It may change while the load runs; what is
    /// connected stays.
    fn address(&self) -> Option<SocketAddr>;

    /// The bytes of every request, where all are the same: rendered once. [`request`](Self::request) would give the
    /// same.
    fn constant(&self) -> Option<&[u8]>;

    /// How many requests `bytes` are, which is how many answers they bring. 0 where they are not whole requests.
    fn requests_in(&self, bytes: &[u8]) -> usize;
}

/// Where a script went wrong, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptError {
    /// The script's file as the user named it, or the file of a module that it loaded.
    pub file: String,
    /// Line from 1, where there is one.
    pub line: Option<u32>,
    /// Cause, without the place.
    pub message: String,
}

impl fmt::Display for ScriptError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(out, "{}:{line}: {}", self.file, self.message),
            None => write!(out, "{}: {}", self.file, self.message),
        }
    }
}

impl std::error::Error for ScriptError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_names_its_place() {
        let mut error = ScriptError { file: "a.lua".into(), line: Some(3), message: "boom".into() };
        assert_eq!(error.to_string(), "a.lua:3: boom");
        error.line = None;
        assert_eq!(error.to_string(), "a.lua: boom");
    }
}
