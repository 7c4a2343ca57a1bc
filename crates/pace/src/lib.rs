//! When to send: intended times of requests, made without a clock and without looking at answers.
//!
//! Invariants: a schedule is a function of (law, rate, seed) alone; its split over any number of workers is exact,
//! that is, the union of the parts is the schedule of one worker; intended times never decrease.
//! Absent on purpose: clocks, sleeping, sockets. Waiting for an intended time is the engine's work; only how much of
//! the wait is to be spun is decided here.

mod closed;
mod margin;
mod schedule;
mod share;

pub use closed::Closed;
pub use margin::SpinMargin;
pub use schedule::{PaceError, Schedule};
pub use share::Share;
