//! Which requests belong to one session, in one pass.
//!
//! Invariants: at most [`OPEN_MAX`] sessions are followed at a time; sessions that are over are forgotten; a line that is
//! a little late belongs to the moment of the one before it of its key; nothing depends on the order in which sessions
//! are forgotten.

use super::laws::{self, Pauses};
use super::{Sessions, Wishes};
use crate::TrafficError;
use crate::fit::lengths::Seen;
use crate::log::{ReadReport, Record};
use crate::model::Builder;
use std::collections::{HashMap, HashSet};
use units::{Nanos, Seed};

/// Sessions followed at the same time: 32 MB.
const OPEN_MAX: usize = 1_000_000;
/// Keys that are counted singly; of more, sessions are.
const KEYS_MAX: usize = 2_000_000;

#[derive(Clone, Copy, Debug)]
struct Open {
    begin_ns: u64,
    last_ns: u64,
    requests: u64,
}

/// Follows sessions.
pub(super) struct Follower {
    timeout_ns: u64,
    open: HashMap<u64, Open>,
    keys: HashSet<u64>,
    starts: Builder,
    whole: Builder,
    lengths: Seen,
    pauses: Pauses,
    first_ns: Option<u64>,
    now_ns: u64,
    sweep_at: usize,
    requests: u64,
    without_key: u64,
    sessions: u64,
    cut: u64,
    has_time_taken: bool,
    is_too_many: bool,
}

impl Follower {
    pub(super) fn new(timeout: Nanos, seed: Seed) -> Self {
        Self {
            timeout_ns: timeout.0.max(1),
            open: HashMap::new(),
            keys: HashSet::new(),
            starts: Builder::new(seed.derive("starts", 0)),
            whole: Builder::new(seed),
            lengths: Seen::new(),
            pauses: Pauses::new(seed.derive("pauses", 0)),
            first_ns: None,
            now_ns: 0,
            sweep_at: 1 << 12,
            requests: 0,
            without_key: 0,
            sessions: 0,
            cut: 0,
            has_time_taken: false,
            is_too_many: false,
        }
    }

    pub(super) fn add(&mut self, record: &Record<'_>) {
        self.now_ns = self.now_ns.max(record.time_ns);
        let first_ns = *self.first_ns.get_or_insert(record.time_ns);
        if record.key == 0 {
            self.without_key += 1;
            return;
        }
        if self.is_too_many {
            return;
        }
        self.requests += 1;
        self.has_time_taken |= record.request_ns.is_some();
        self.whole.add(record);
        let Some(open) = self.open.get_mut(&record.key) else {
            self.begin(record);
            return;
        };
        let time_ns = record.time_ns.max(open.last_ns);
        let gap_ns = time_ns - open.last_ns;
        if gap_ns <= self.timeout_ns {
            open.requests += 1;
            open.last_ns = time_ns;
            // nginx and Caddy write a line when its request ends: the user paused until it began.
            self.pauses.add(gap_ns.saturating_sub(record.request_ns.unwrap_or_default()));
            return;
        }
        let over = std::mem::replace(open, Open { begin_ns: time_ns, last_ns: time_ns, requests: 1 });
        self.sessions += 1;
        self.starts.add(record);
        end(over, first_ns, self.timeout_ns, &mut self.lengths, &mut self.cut);
    }

    fn begin(&mut self, record: &Record<'_>) {
        if self.open.len() >= self.sweep_at {
            self.sweep();
            if self.open.len() >= OPEN_MAX {
                self.is_too_many = true;
                return;
            }
        }
        if self.keys.len() < KEYS_MAX {
            self.keys.insert(record.key);
        }
        self.sessions += 1;
        self.starts.add(record);
        let open = Open { begin_ns: record.time_ns, last_ns: record.time_ns, requests: 1 };
        self.open.insert(record.key, open);
    }

    /// Forgets sessions that are over.
    fn sweep(&mut self) {
        let over_ns = self.now_ns.saturating_sub(self.timeout_ns);
        let first_ns = self.first_ns.unwrap_or_default();
        let (lengths, cut, timeout_ns) = (&mut self.lengths, &mut self.cut, self.timeout_ns);
        self.open.retain(|_, open| {
            let is_open = open.last_ns >= over_ns;
            if !is_open {
                end(*open, first_ns, timeout_ns, lengths, cut);
            }
            is_open
        });
        self.sweep_at = (2 * self.open.len()).clamp(1 << 12, OPEN_MAX);
    }

    pub(super) fn finish(
        mut self,
        files: Vec<ReadReport>,
        wishes: &Wishes,
        seed: Seed,
    ) -> Result<Sessions, TrafficError> {
        let all = self.requests + self.without_key;
        if self.is_too_many {
            return Err(TrafficError::TooMuch {
                cause: format!("more than {OPEN_MAX} sessions are open at a time"),
                remedy: "give a shorter time-out, or a part of the log",
            });
        }
        if self.requests == 0 {
            return Err(TrafficError::TooLittle {
                cause: format!("none of {all} requests has the key {}", wishes.key),
                remedy: "look at its name in the log; `prony model` without a key needs none",
            });
        }
        self.sweep();
        for open in std::mem::take(&mut self.open).into_values() {
            // Cut by the log's end, however it began.
            *self.lengths.entry(open.requests).or_default() += 1;
            self.cut += 1;
        }
        let notes = self.notes();
        let sessions = self.sessions;
        let whole = self.whole.finish(files)?;
        let starts = self.starts.finish(Vec::new()).map_err(|_| TrafficError::TooLittle {
            cause: format!("{sessions} sessions begin in the log, all in one moment"),
            remedy: "give a log of at least some minutes, or another key",
        })?;
        Ok(Sessions {
            key: wishes.key.to_string(),
            timeout_ns: self.timeout_ns,
            requests: self.requests,
            without_key: self.without_key,
            keys: self.keys.len() as u64,
            sessions,
            cut: self.cut,
            length: laws::of_lengths(&self.lengths, seed),
            pause: laws::of_pauses(&self.pauses, whole.resolution_ns, self.timeout_ns, seed),
            starts,
            whole,
            notes,
        })
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.without_key > 0 {
            let all = self.requests + self.without_key;
            let share = self.without_key as f64 / all as f64 * 100.0;
            notes.push(format!(
                "{} of {all} requests ({share:.1} %) have no such key and belong to no session",
                self.without_key
            ));
        }
        if self.keys.len() >= KEYS_MAX {
            notes.push(format!(
                "there are more than {KEYS_MAX} different keys; their number is the lowest it can be"
            ));
        }
        if self.cut * 10 > self.sessions {
            notes.push(format!(
                "{} of {} sessions begin or end within the time-out of the log's begin or end: they may be longer than \
                 the log shows",
                self.cut, self.sessions
            ));
        }
        if self.has_time_taken {
            notes.push(
                "pauses are without the time taken by the request after them, as nginx and Caddy log its end"
                    .to_owned(),
            );
        } else {
            notes.push("the log has no time taken: pauses have the server's own time in them".to_owned());
        }
        notes
    }
}

/// A session that is over.
fn end(open: Open, first_ns: u64, timeout_ns: u64, lengths: &mut Seen, cut: &mut u64) {
    *lengths.entry(open.requests).or_default() += 1;
    *cut += u64::from(open.begin_ns < first_ns.saturating_add(timeout_ns));
}
