//! Follows the one trial that is in progress, line by line, for who must know at once what it does.
//!
//! Invariants: each interval is given once, with its response times, in order; a file that cannot be read now is read at
//! a later look; a trial that has ended is read to its end before the next one.
//! The log of a trial is written a moment after its intervals, so an interval is given at the look after the one that
//! found it, or when its trial has ended.

use crate::feed::{INTERVALS, LOG, ROUNDING_NS, TAG};
use record::tail::Tail;
use record::{GrowingLog, RunFolder, TimedRow, TrialFolder, live};
use schema::run::RunFile;
use schema::trial::{CounterLine, IntervalLine};
use std::path::{Path, PathBuf};

/// Counters beside the intervals of a trial.
const COUNTERS: &str = "counters.ndjson";

/// The trial in progress of a run that one process writes.
#[derive(Debug)]
pub struct Follow {
    runs: PathBuf,
    /// The process whose runs are followed.
    writer: u32,
    trial: Option<Followed>,
    /// The last one that was followed.
    done: Option<PathBuf>,
}

/// What happened since the last look, in order.
#[derive(Debug)]
pub enum Event {
    /// Another trial begins.
    Begins(Box<Begun>),
    /// An interval with its response times, each with how often it came.
    Interval(Box<IntervalLine>, Vec<(u64, u64)>),
    /// A reading of counters.
    Counters(CounterLine),
    /// The trial has ended.
    Ends,
}

/// A trial that is followed from now on.
#[derive(Debug)]
pub struct Begun {
    /// The run's folder.
    pub folder: PathBuf,
    /// Its plan; absent for `prony load`, which has none.
    pub run: Option<RunFile>,
    /// Number of the trial.
    pub id: u32,
}

#[derive(Debug)]
struct Followed {
    folder: TrialFolder,
    intervals: Tail,
    counters: Tail,
    log: GrowingLog,
    /// Intervals whose times may be missing yet.
    found: Vec<IntervalLine>,
    rows: Vec<TimedRow>,
}

impl Follow {
    /// Follows the runs that a process writes in a folder.
    #[must_use]
    pub fn new(runs: &Path, writer: u32) -> Self {
        Self { runs: runs.to_owned(), writer, trial: None, done: None }
    }

    /// What came since the last look. `is_last`: nothing will come any more.
    pub fn look(&mut self, is_last: bool) -> Vec<Event> {
        let mut events = Vec::new();
        if self.trial.is_none()
            && let Some((begun, folder)) = self.next()
        {
            events.push(Event::Begins(Box::new(begun)));
            self.trial = Some(Followed::new(folder));
        }
        if let Some(trial) = &mut self.trial {
            // Asked first: what was written before the end is read then.
            let has_ended = is_last || trial.folder.has_ended() || !trial.folder.path.is_dir();
            trial.look(has_ended, &mut events);
            if has_ended {
                events.push(Event::Ends);
                self.done = self.trial.take().map(|trial| trial.folder.path);
            }
        }
        events
    }

    /// The newest trial that has begun, which was not followed yet.
    fn next(&self) -> Option<(Begun, TrialFolder)> {
        let entries = std::fs::read_dir(&self.runs).ok()?;
        let is_ours = |path: &PathBuf| live::writer(path).is_some_and(|file| file.pid == self.writer);
        let folder = entries.filter_map(|entry| Some(entry.ok()?.path())).filter(is_ours).max()?;
        let (run, id, trial) = match RunFolder::open(&folder) {
            Ok(opened) => {
                let run = opened.read_run().ok()?;
                let is_open = |id: &u32| {
                    let trial = opened.trial(*id);
                    trial.path.join(INTERVALS).is_file() && !trial.has_ended()
                };
                let id = run.plan.order.iter().map(|trial| trial.id).filter(is_open).max()?;
                let trial = opened.trial(id);
                (Some(run), id, trial)
            }
            Err(_) => (None, 1, TrialFolder { path: folder.clone() }),
        };
        let is_new = trial.path.join(INTERVALS).is_file()
            && !trial.has_ended()
            && self.done.as_ref() != Some(&trial.path);
        is_new.then_some((Begun { folder, run, id }, trial))
    }
}

impl Followed {
    fn new(folder: TrialFolder) -> Self {
        Self {
            intervals: Tail::whole(&folder.path.join(INTERVALS)),
            counters: Tail::whole(&folder.path.join(COUNTERS)),
            log: GrowingLog::new(&folder.path.join(LOG)),
            folder,
            found: Vec::new(),
            rows: Vec::new(),
        }
    }

    fn look(&mut self, has_ended: bool, events: &mut Vec<Event>) {
        let mut known = std::mem::take(&mut self.found);
        self.found = lines(&mut self.intervals, |line| serde_json::from_slice(line).ok());
        self.rows.extend(self.log.look(TAG).rows);
        if has_ended {
            known.append(&mut self.found);
        }
        for line in known {
            let times_ns = self.times_of(&line);
            events.push(Event::Interval(Box::new(line), times_ns));
        }
        let counters = lines(&mut self.counters, |line| serde_json::from_slice(line).ok());
        events.extend(counters.into_iter().map(Event::Counters));
    }

    /// The row of an interval; one without answers has none.
    fn times_of(&mut self, line: &IntervalLine) -> Vec<(u64, u64)> {
        self.rows.retain(|row| row.start_ns.saturating_add(ROUNDING_NS) >= line.start_ns);
        let is_of = |row: &TimedRow| row.start_ns.abs_diff(line.start_ns) <= ROUNDING_NS;
        match self.rows.iter().position(is_of) {
            Some(at) => self.rows.swap_remove(at).times_ns,
            None => Vec::new(),
        }
    }
}

/// New whole lines; one that cannot be read is passed over.
fn lines<T>(tail: &mut Tail, read: impl Fn(&[u8]) -> Option<T>) -> Vec<T> {
    let mut found = Vec::new();
    loop {
        let look = tail.look();
        found.extend(look.lines.iter().filter_map(|line| read(line)));
        if !look.more {
            return found;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hdrhistogram::Histogram;
    use record::{Lines, hlog};
    use schema::trial::Phase;

    struct Load {
        folder: PathBuf,
        lines: Lines,
        counters: Lines,
        log: hlog::Writer,
        _live: Option<live::Live>,
    }

    impl Load {
        fn begin(runs: &Path, name: &str) -> Self {
            let folder = runs.join(name);
            std::fs::create_dir(&folder).unwrap();
            let trial = TrialFolder { path: folder.clone() };
            Self {
                lines: trial.lines(INTERVALS).unwrap(),
                counters: trial.lines(COUNTERS).unwrap(),
                log: hlog::Writer::create(&folder.join(LOG)).unwrap(),
                _live: live::Live::begin(&folder),
                folder,
            }
        }

        fn interval(&mut self, second: u64) {
            let (start_ns, end_ns) = (second * 1_000_000_000, (second + 1) * 1_000_000_000);
            let phase = Some(Phase::Sample);
            self.lines.append(&IntervalLine { start_ns, end_ns, phase, ..IntervalLine::default() }).unwrap();
        }

        fn times(&mut self, second: u64, time_ns: u64) {
            let mut times = Histogram::<u64>::new_with_bounds(1, 3_600_000_000_000, 3).unwrap();
            times.record_n(time_ns, 7).unwrap();
            let span_ns = second * 1_000_000_000..(second + 1) * 1_000_000_000;
            self.log.append(span_ns, &[(TAG, &times)], || ()).unwrap();
        }
    }

    /// Events in short: what they are, the second, and how many times came with it.
    fn seen(events: &[Event]) -> Vec<String> {
        let short = |event: &Event| match event {
            Event::Begins(begun) => format!("begins {}", begun.id),
            Event::Interval(line, times_ns) => {
                let count: u64 = times_ns.iter().map(|(_, count)| count).sum();
                format!("second {} with {count}", line.start_ns / 1_000_000_000)
            }
            Event::Counters(line) => line.source.clone(),
            Event::Ends => "ends".to_owned(),
        };
        events.iter().map(short).collect()
    }

    #[test]
    fn intervals_come_once_with_their_times_which_are_written_later() {
        let runs = tempfile::tempdir().unwrap();
        let mut follow = Follow::new(runs.path(), std::process::id());
        assert_eq!(seen(&follow.look(false)), [""; 0]);
        let mut load = Load::begin(runs.path(), "2026-11-25T00-00-00Z-load");
        load.interval(0);
        assert_eq!(seen(&follow.look(false)), ["begins 1"]);
        load.times(0, 1_000_000);
        load.interval(1);
        load.counters.append(&CounterLine { source: "a".to_owned(), ..CounterLine::default() }).unwrap();
        assert_eq!(seen(&follow.look(false)), ["second 0 with 7", "a"]);
        load.interval(2);
        load.times(2, 1_000_000);
        assert_eq!(seen(&follow.look(false)), ["second 1 with 0"], "no request ended in it");
        assert_eq!(seen(&follow.look(true)), ["second 2 with 7", "ends"]);
        assert_eq!(seen(&follow.look(true)), [""; 0], "a trial is followed once");
        assert!(load.folder.is_dir());
    }

    #[test]
    fn runs_of_other_processes_are_not_followed() {
        let runs = tempfile::tempdir().unwrap();
        let mut load = Load::begin(runs.path(), "2026-11-25T00-00-00Z-load");
        load.interval(0);
        assert_eq!(seen(&Follow::new(runs.path(), 1).look(false)), [""; 0]);
    }
}
