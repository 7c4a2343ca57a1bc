//! When to send: intended times of requests, made without a clock and without looking at answers.
//!
//! Invariants: a schedule is a function of (law, rate, shape, seed) alone; its split over any number of workers is
//! exact, that is, the union of the parts is the schedule of one worker; intended times never decrease; an arrival
//! costs the same however many came before it, and allocates nothing but a batch once in thousands.
//! Absent on purpose: clocks, sleeping, sockets, and the reading of recorded times (they are handed in). Waiting for an
//! intended time is the engine's work; only how much of the wait is to be spun is decided here.

mod amount;
mod batch;
mod closed;
mod course;
mod error;
mod gap;
mod grid;
mod law;
mod length;
mod margin;
mod mmpp;
mod recorded;
mod renewal;
mod scale;
mod schedule;
mod share;
mod think;
mod turns;

pub use batch::Drawing;
pub use closed::Closed;
pub use error::PaceError;
pub use length::Lengths;
pub use margin::SpinMargin;
pub use schedule::Schedule;
pub use share::Share;
pub use think::Think;
