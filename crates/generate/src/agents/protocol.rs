//! What a controller and an agent say to each other: one JSON object a line, over pipes, a Unix socket or a TCP stream.
//!
//! ```text
//! controller                     agent
//!   Hello ─────────────────────▶            version, session, lease; again where a link was cut
//!          ◀──────────────────── Hello      version, facts of its host
//!   Clock ─────────────────────▶ Clock      at least 32 times, then every second: also the heartbeat, both ways
//!   Load ──────────────────────▶ Wants      plan and files by hash; the hashes that it lacks
//!   File … ────────────────────▶ Opening, Ready
//!   Begin (on the agent's clock) ▶ Parcel …  each answered by HeldBelow
//!   MeasureFrom, Stop ──────────▶ Closing   answered by Whole
//!   StampsAreEnough ────────────▶           open loads: parcels without stamps from there
//! ```
//!
//! Who comes for something else than a load hears Hello, State and Clock, and Ended where the agent was asked to end.
//!
//! Invariants: a line has a limit; whoever speaks another version is refused by name before anything else is read.

use crate::set_up::SetUp;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use engine::{Counts, Part};
use fleet::{FileRef, Manifest, Parcel, Sums};
use plan::LoadJob;
use schema::agents::{AgentFacts, AgentState};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::{self, BufRead, Read as _};

/// Version of the lines below. A change that the other end would misread needs a new one.
/// 3: parcels are deflated, and stamps travel until there are enough.
pub(super) const VERSION: u32 = 3;
/// Silence of the controller after which an agent sends nothing more.
pub(super) const LEASE_NS: u64 = 10_000_000_000;
/// How often every agent is asked for its clock, which also renews its lease.
pub(super) const BEAT_NS: u64 = 1_000_000_000;
/// Longest line: a plan holds bodies.
const LINE_BYTES_MAX: u64 = 64 << 20;
/// Bytes of a file in one line.
pub(super) const PIECE_BYTES: usize = 1 << 20;

/// The first line of a controller on a link. Its version is read before the rest.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(super) struct Greeting {
    pub(super) version: u32,
    pub(super) prony: String,
    /// This attempt at a load; unique.
    pub(super) session: String,
    /// The agent's number in the fleet.
    pub(super) agent: u32,
    /// Whether the session goes on after its link was cut.
    pub(super) again: bool,
    /// What for.
    pub(super) errand: Errand,
}

/// What a controller comes for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub(super) struct Errand {
    pub(super) wish: Wish,
    /// The load and who makes it, for people who ask the agent what it does.
    pub(super) about: String,
}

/// What shall become of an agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub(super) enum Wish {
    /// Make a part of a load. All others leave a load that is made alone.
    #[default]
    Load,
    /// Say what it does.
    Look,
    /// Take no more loads, and end.
    Drain,
    /// End its load early, and end.
    Stop,
}

/// What a controller says after it.
#[derive(Debug, Deserialize, Serialize)]
pub(super) enum Order {
    /// What is your clock?
    Clock(u32),
    /// The load, its part, and the files that its paths mean.
    Load { job: Box<LoadJob>, part: Part, files: BTreeMap<String, FileRef> },
    /// The next bytes of a file that was asked for, in base64; the last where it ends.
    File { sha256: String, bytes: String, is_last: bool },
    /// The trial's origin on the agent's monotonic clock, as in [`crate::processes`].
    Begin { origin_ns: u64, origin_unix_ns: u64, measure_from: Option<u64> },
    /// The first measured interval.
    MeasureFrom(u64),
    /// The check of arrivals has all the stamps that it takes: send no more of them.
    StampsAreEnough,
    /// End the load early.
    Stop,
    /// All parcels below this interval are held.
    HeldBelow(u64),
    /// All that the manifest counts is there.
    Whole,
}

/// What an agent says.
#[derive(Debug, Deserialize, Serialize)]
pub(super) enum Report {
    /// Its first word.
    Hello { version: u32, facts: Box<AgentFacts> },
    /// What it does; its second word to those who come for no load.
    State(AgentState),
    /// Somebody wants the load of all to end early, as by Ctrl-C.
    Stopped,
    /// It ends, as it was asked to: its last word to those who asked.
    Ended,
    /// It will not: its last word.
    Refused(String),
    /// Its monotonic clock.
    Clock { number: u32, at_ns: u64 },
    /// Files that it lacks.
    Wants(Vec<String>),
    /// So many of its connections are open.
    Opening(u64),
    /// Its connections are set up.
    Ready(SetUp),
    /// An interval that all its workers have ended ([`super::parcel`]).
    Parcel(Box<Parcel<String>>),
    /// Its part is over; its last word but for what is sent again.
    Closing { manifest: Manifest, peak_rss_bytes: u64, steal_share: Option<f64> },
    /// It could not go on; its last word.
    Failed { missed_start: bool, cause: String },
}

/// The next line without its end; `None` where the stream has ended. What ends in the middle of a line has ended before
/// it.
pub(super) fn next_line(from: &mut dyn BufRead, line: &mut Vec<u8>) -> io::Result<Option<()>> {
    line.clear();
    from.take(LINE_BYTES_MAX + 1).read_until(b'\n', line)?;
    if line.len() as u64 > LINE_BYTES_MAX {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "a line is longer than 64 MiB"));
    }
    Ok((line.pop() == Some(b'\n')).then_some(()))
}

/// What an interval comes to in numbers.
pub(super) fn sums(counts: &Counts) -> Sums {
    let mut all = counts.warm;
    all.add(&counts.measured);
    Sums {
        scheduled: all.scheduled,
        completed: all.completed,
        failed: all.failed_total(),
        censored: all.censored,
    }
}

pub(super) fn to_text(bytes: &[u8]) -> String {
    STANDARD_NO_PAD.encode(bytes)
}

pub(super) fn to_bytes(text: &str) -> Result<Vec<u8>, String> {
    STANDARD_NO_PAD.decode(text).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_whole_or_not_at_all() {
        let mut from: &[u8] = b"{}\n[1]\n\n{\"cut";
        let mut line = Vec::new();
        for expected in ["{}", "[1]", ""] {
            assert!(next_line(&mut from, &mut line).unwrap().is_some());
            assert_eq!(line, expected.as_bytes());
        }
        assert!(next_line(&mut from, &mut line).unwrap().is_none(), "a line without its end never came");
        assert!(next_line(&mut from, &mut line).unwrap().is_none());
    }

    #[test]
    fn a_line_without_end_is_refused() {
        let mut endless = io::BufReader::new(io::repeat(b'x'));
        let error = next_line(&mut endless, &mut Vec::new()).unwrap_err();
        assert!(error.to_string().contains("64 MiB"), "{error}");
    }

    #[test]
    fn bytes_survive_as_text() {
        let bytes: Vec<u8> = (0..=255).collect();
        assert_eq!(to_bytes(&to_text(&bytes)).unwrap(), bytes);
        assert!(to_bytes("?").is_err());
    }
}
