//! Sessions of a log by an identifier: when they begin, how many requests they have, and the pauses within them, each
//! with a fitted law (METHOD §7).
//!
//! Lines of one key belong to one session until a pause longer than the time-out; 30 minutes are the custom of web
//! analytics (Catledge & Pitkow, Computer Networks and ISDN Systems 27, 1995, found 25.5 minutes). The begins of
//! sessions are a [`Model`](crate::model::Model) of their own, with the laws of gaps, shape and verdict of any log.
//!
//! Invariants: memory has a limit (a million sessions at a time; more are an error); lines without the key are counted
//! and belong to no session; a law is fitted to at least [`FEWEST`](crate::fit::lengths::FEWEST) values or refused.
//! Absent on purpose: the order of pages within a session (steps are drawn by the mix), and who it was.

mod follow;
mod found;
mod laws;
pub mod summary;
mod write;

pub use found::{Sessions, Wishes};
pub use laws::{Laws, PauseLaws};
pub use write::files;

use crate::TrafficError;
use crate::log::{Format, ReadReport, in_order, read_by};
use follow::Follower;
use std::path::PathBuf;
use units::{Nanos, Seed};

/// Format name and version of sessions as JSON.
pub const SESSIONS_VERSION: &str = "prony.sessions/1";
/// The pause that ends a session unless another is given.
pub const TIMEOUT: Nanos = Nanos::from_secs(30 * 60);

/// Reads logs, in the order of their first requests, and follows their sessions.
///
/// # Errors
/// As of [`crate::log::read_by`]; where no line has the key, fewer than two sessions begin at different times, or more
/// than a million are open at a time.
pub fn sessions(
    paths: &[PathBuf],
    format: Option<Format>,
    wishes: &Wishes,
    seed: Seed,
) -> Result<Sessions, TrafficError> {
    let mut follower = Follower::new(wishes.timeout, seed);
    let mut files: Vec<ReadReport> = Vec::with_capacity(paths.len());
    for path in in_order(paths, format)? {
        files.push(read_by(&path, format, Some(&wishes.key), |record| follower.add(record))?);
    }
    follower.finish(files, wishes, seed)
}
