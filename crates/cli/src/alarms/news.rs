//! What prony and the process that watches alarms say to each other: JSON lines.

use super::receiver::Receiver;
use schema::alarm::{AlarmLine, AlarmPlan};
use serde::{Deserialize, Serialize};
use std::io::Write as _;
use std::path::PathBuf;

/// The one line that the process gets.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Orders {
    /// Where run folders are made.
    pub(super) runs: PathBuf,
    /// The process whose runs are watched.
    pub(super) writer: u32,
    pub(super) alarms: Vec<AlarmPlan>,
    /// The first process of a load's target, where it must be read for the alarms.
    pub(super) target: Option<u32>,
    pub(super) receivers: Vec<Receiver>,
}

/// A line that the process gives.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum News {
    /// An alarm fires or ends.
    Alarm {
        line: Box<AlarmLine>,
        /// The run's folder.
        folder: PathBuf,
    },
    /// Something that costs no result.
    Note(String),
}

impl News {
    /// Prony may have gone; then nobody needs it.
    pub(super) fn send(&self) {
        if let Ok(text) = serde_json::to_string(self) {
            let _ = writeln!(std::io::stdout(), "{text}");
        }
    }
}
