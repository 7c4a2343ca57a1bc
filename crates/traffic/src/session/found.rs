//! What is asked of sessions, and what was found.

use super::laws::{Laws, PauseLaws};
use crate::log::SessionKey;
use crate::model::Model;
use serde::Serialize;
use units::Nanos;

/// What is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wishes {
    /// What tells sessions apart.
    pub key: SessionKey,
    /// Pause that ends a session; above 0.
    pub timeout: Nanos,
}

/// What the sessions of a log are like.
#[derive(Debug, Serialize)]
pub struct Sessions {
    /// The key, as it was asked for.
    pub key: String,
    /// Pause that ends a session.
    pub timeout_ns: u64,
    /// Requests of sessions.
    pub requests: u64,
    /// Requests without the key, which belong to none.
    pub without_key: u64,
    /// Different keys.
    pub keys: u64,
    /// Sessions.
    pub sessions: u64,
    /// Sessions that begin within the time-out after the log's begin, or were still open at its end: they may have
    /// more requests than the log shows.
    pub cut: u64,
    /// How many requests a session has.
    pub length: Laws,
    /// The pauses within sessions.
    pub pause: PauseLaws,
    /// The begins of sessions, as a log of their own.
    pub starts: Model,
    /// All requests of sessions.
    pub whole: Model,
    /// Limits and doubts, in sentences.
    pub notes: Vec<String>,
}
