//! `signals.json`: a trial's counters on the intervals of its samples, made once when the trial ends, because reading
//! all lines of all trials again would take most of the time of an analysis.
//!
//! Invariants: it holds nothing that `counters.ndjson` and `intervals.ndjson` do not, so it is made again where it is
//! missing, damaged or of another version; counters are only ever extra, so nothing here fails a trial or a report. A
//! soak has none: its trials last for hours, and its own windows hold its counters.

use crate::files;
use analyze::SignalsMaker;
use schema::signals::Signals;
use schema::trial::{CounterLine, IntervalLine};
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

/// Name within the trial's folder.
const NAME: &str = "signals.json";
/// What it is made from, there too.
pub(crate) const COUNTERS: &str = "counters.ndjson";
/// Longest line of counters: no source writes one that is near it.
const LINE_BYTES_MAX: u64 = 4 << 20;
/// Longest file of counters that is read at once when it is made: some hours of seconds.
const FILE_BYTES_MAX: u64 = 256 << 20;

/// Makes it of the other files of the trial, where they are there.
pub(crate) fn write(trial: &Path) {
    let Ok(intervals) = files::read_lines::<IntervalLine>(&trial.join("intervals.ndjson")) else { return };
    if let Some(signals) = make(trial, &intervals)
        && let Ok(text) = serde_json::to_vec(&signals)
    {
        // A full disk shows when the trial's own file is written.
        let _ = files::write_whole(&trial.join(NAME), &text);
    }
}

/// As it is written, or else recomputed.
pub(crate) fn read(trial: &Path, intervals: &[IntervalLine]) -> Option<Signals> {
    let stored = files::read_json::<Signals>(&trial.join(NAME), "prony.signals/1").ok();
    stored.or_else(|| make(trial, intervals))
}

fn make(trial: &Path, intervals: &[IntervalLine]) -> Option<Signals> {
    let mut maker = SignalsMaker::new(intervals);
    each_line(&trial.join(COUNTERS), |line| maker.add(line))?;
    Some(maker.finish())
}

/// Calls `take` for each whole line of counters; `None` where there are none, or far too many.
pub(crate) fn each_line(path: &Path, mut take: impl FnMut(&CounterLine)) -> Option<()> {
    let file = File::open(path).ok()?;
    if file.metadata().ok()?.len() > FILE_BYTES_MAX {
        return None;
    }
    let mut reader = BufReader::new(file);
    let mut line = Vec::new();
    loop {
        line.clear();
        match (&mut reader).take(LINE_BYTES_MAX).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return Some(()),
            // A line that is cut off by a crash is left out.
            Ok(_) => {
                if let Ok(line) = serde_json::from_slice::<CounterLine>(&line) {
                    take(&line);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::trial::Phase;
    use std::fs;

    #[test]
    fn what_is_stored_is_what_would_be_made_and_damage_costs_nothing() {
        let trial = tempfile::tempdir().unwrap();
        let interval = |second: u64| IntervalLine {
            start_ns: second * 1_000_000_000,
            end_ns: (second + 1) * 1_000_000_000,
            phase: Some(Phase::Sample),
            ..IntervalLine::default()
        };
        let intervals = [interval(0), interval(1)];
        assert_eq!(read(trial.path(), &intervals), None, "nothing was counted");
        let lines =
            intervals.iter().map(|line| serde_json::to_string(line).unwrap() + "\n").collect::<String>();
        fs::write(trial.path().join("intervals.ndjson"), lines).unwrap();
        let counters = "{\"t_ns\":1000000000,\"source\":\"s\",\"gauges\":{\"g\":1.5}}\ngarbage\n\
                        {\"t_ns\":2000000000,\"source\":\"s\",\"gauges\":{\"g\":2.5},\"deltas\":{\"d\":7}}\n{\"t_ns\":3";
        fs::write(trial.path().join("counters.ndjson"), counters).unwrap();
        let made = read(trial.path(), &intervals).unwrap();
        assert_eq!(made.gauges["s/g"], [Some(1.5), Some(2.5)]);
        assert_eq!(made.deltas["s/d"], [None, Some(7.0)]);
        write(trial.path());
        assert!(trial.path().join(NAME).is_file());
        assert_eq!(read(trial.path(), &intervals).unwrap(), made);
        fs::write(trial.path().join(NAME), "{").unwrap();
        assert_eq!(read(trial.path(), &intervals).unwrap(), made);
    }
}
