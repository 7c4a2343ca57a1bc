//! Recorded traffic: reads access logs, says what is in them, and writes what sends it again (METHOD §7).
//!
//! [`log`] reads lines, [`model`] sums them up in one pass, [`fit`] holds the laws of the gaps between arrivals,
//! [`session`] follows the sessions of a key, [`verdict`] says whether a fitted process is good enough, [`mod@write`] makes scenario and experiment files, [`replay`]
//! keeps times and paths as they were, and [`summary`] is the text for people.
//!
//! Invariants: memory does not grow with a log beyond written limits; no line makes the reader panic; every line is
//! either a record, a line without a request, or a bad line that is counted; times that a log holds to the second are
//! never given a random fraction before a test (they are treated as intervals), only when they are to be sent.
//! Absent on purpose: sockets, sending, user agents and referrers, and request bodies, which no access log holds.

pub mod error;
pub mod fit;
pub mod log;
pub mod model;
pub mod replay;
mod reservoir;
pub mod session;
pub mod summary;
mod times;
pub mod verdict;
pub mod write;

pub use error::TrafficError;
