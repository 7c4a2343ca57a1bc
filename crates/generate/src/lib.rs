//! One load, from its plan to its report: phases, intervals, sums, generator processes, agents, rows.
//!
//! Invariants: every mistake in what is sent is found before a connection is opened; intervals of threads, of processes
//! and of agents go the same way; the generator never judges what it measured. Absent on purpose: defaults and checks
//! of settings (plan), experiments, targets and their start (runner), run folders (record), statistics (analyze).

pub mod agents;
pub mod each;
mod error;
mod fold;
mod lines;
pub mod measure;
mod measured;
pub mod orders;
mod phases;
pub mod processes;
pub mod reflection;
pub mod script;
mod sent_windows;
mod set_up;
mod source;
pub mod tls;
mod way;

pub use error::GenerateError;
