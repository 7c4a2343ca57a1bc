//! The files of a soak's segment beside those of its trial, and how they are read back.
//!
//! A segment that was cut off hard has them too: its windows count, though its trial never ended.

use crate::RecordError;
use crate::files::read_json;
use crate::folder::{RunFolder, TrialFolder};
use analyze::SegmentData;
use schema::run::RunFile;
use schema::said::{Joint, Said};
use schema::soak::WindowLine;
use schema::trial::{IntervalLine, Phase, TrialFile, TrialOutcome};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

/// What was known when the target was up.
pub const SEGMENT: &str = "segment.json";
/// One line a window.
pub const WINDOWS: &str = "windows.ndjson";
/// Most windows of a soak: what the analysis holds in memory and compares pair by pair.
pub const WINDOWS_MAX: u64 = 2_000;

/// All segments of a soak that came to their target, in order.
///
/// # Errors
/// When a file cannot be read.
pub fn read(folder: &RunFolder, run: &RunFile) -> Result<Vec<SegmentData>, RecordError> {
    let trials = run.plan.order.iter().map(|planned| folder.trial(planned.id));
    trials.filter(|trial| trial.path.join(SEGMENT).is_file()).map(|trial| segment(&trial)).collect()
}

fn segment(trial: &TrialFolder) -> Result<SegmentData, RecordError> {
    let ended = if trial.has_ended() {
        let file: TrialFile = read_json(&trial.path.join("trial.json"), "prony.trial/4")?;
        let is_valid = file.outcome == TrialOutcome::Valid;
        (!is_valid && !file.reasons.is_empty()).then(|| Said::list(Joint::Semicolon, file.reasons))
    } else {
        None
    };
    Ok(SegmentData {
        file: read_json(&trial.path.join(SEGMENT), "prony.segment/2")?,
        windows: windows(&trial.path.join(WINDOWS))?,
        ended,
    })
}

/// The windows of a segment, read line by line. A last line that was cut off is no window.
fn windows(path: &Path) -> Result<Vec<WindowLine>, RecordError> {
    if !path.is_file() {
        return Ok(Vec::new());
    }
    let file = File::open(path).map_err(RecordError::io("read", path))?;
    let mut windows: Vec<WindowLine> = Vec::new();
    let mut damage = None;
    for (number, line) in BufReader::new(file).lines().enumerate() {
        if let Some(cause) = damage {
            return Err(RecordError::Damaged { path: path.to_owned(), what: "JSON lines", cause });
        }
        if windows.len() as u64 >= WINDOWS_MAX {
            break;
        }
        let line = line.map_err(RecordError::io("read", path))?;
        match serde_json::from_str(&line) {
            Ok(window) => windows.push(window),
            Err(error) => damage = Some(format!("line {}: {error}", number + 1)),
        }
    }
    Ok(windows)
}

/// The windows as lines of intervals, for what reads trials: a soak has too many intervals to hold.
pub(crate) fn as_intervals(trial: &TrialFolder) -> Result<Vec<IntervalLine>, RecordError> {
    let line = |window: WindowLine| IntervalLine {
        start_ns: window.start_ns,
        end_ns: window.end_ns,
        phase: Some(Phase::Sample),
        sample: Some(window.window),
        completed: window.answers,
        p50_ns: window.p50_ns,
        p99_ns: window.p99_ns,
        ..IntervalLine::default()
    };
    Ok(windows(&trial.path.join(WINDOWS))?.into_iter().map(line).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_off_line_is_no_window_and_damage_within_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(WINDOWS);
        let line = serde_json::to_string(&WindowLine { window: 1, ..WindowLine::default() }).unwrap();
        std::fs::write(&path, format!("{line}\n{line}\n{{\"window\":3,\"sta")).unwrap();
        assert_eq!(windows(&path).unwrap().len(), 2);
        std::fs::write(&path, format!("{line}\nnonsense\n{line}\n")).unwrap();
        let error = windows(&path).unwrap_err().to_string();
        assert!(error.contains("line 2") && error.contains(WINDOWS), "{error}");
        assert!(windows(&folder.path().join("none")).unwrap().is_empty());
    }
}
