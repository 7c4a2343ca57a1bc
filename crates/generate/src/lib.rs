//! One load, from its plan to its report: destination and consent, phases, intervals, sums, generator processes, rows.
//!
//! Invariants: every mistake in what is sent is found before a connection is opened; intervals of threads and of
//! processes go the same way; the generator never judges what it measured. Absent on purpose: experiments, targets and
//! their start (runner), run folders (record), statistics (analyze).

pub mod each;
mod error;
mod fold;
pub mod job;
pub mod login;
pub mod measure;
mod measured;
pub mod net;
pub mod orders;
pub mod origins;
mod phases;
pub mod ports;
pub mod processes;
pub mod proxy;
pub mod recorded;
pub mod script;
mod sent_windows;
pub mod tls;
mod way;

pub use error::GenerateError;
