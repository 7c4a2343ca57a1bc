//! The target's spans of a run's slow and failed requests: joined by trace id, and kept in the run folder.

mod read;

use crate::RecordError;
use crate::files::read_json;
use crate::folder::RunFolder;
use analyze::where_time_went;
use read::read_spans;
use schema::run::RunFile;
use schema::spans::SpansFile;
use schema::traced::NotableRequest;
use std::collections::{BTreeSet, HashMap};
use std::path::Path;

/// The file of a run folder.
const FILE: &str = "spans.json";

/// Joins the spans of a file (OTLP in JSON, a request a line) with the sampled requests that stand out in the trials of a run,
/// and keeps the result in the run folder.
///
/// # Errors
/// A file that cannot be read or written.
pub fn join_spans(folder: &RunFolder, run: &RunFile, spans: &Path) -> Result<SpansFile, RecordError> {
    let wanted = wanted(folder, run)?;
    let traces: HashMap<u128, u64> = wanted.iter().map(|one| (one.trace, one.span)).collect();
    let found = read_spans(spans, |trace| traces.contains_key(&trace))?;
    let mut file = SpansFile {
        run: run.id.clone(),
        lines: found.lines,
        lines_skipped: found.lines_skipped,
        spans_left_out: found.spans_left_out,
        ..SpansFile::default()
    };
    for one in wanted {
        // What the load sent itself is the request, not a part of it.
        let of_target: Vec<_> = (found.by_trace.get(&one.trace).into_iter().flatten())
            .filter(|span| span.id != one.span)
            .cloned()
            .collect();
        if of_target.is_empty() {
            file.requests_missing += 1;
        } else {
            file.requests.push(where_time_went((one.trial, &one.cell), &one.request, &of_target));
        }
    }
    // What was joined before is not given up for a file without traces.
    if file.lines > file.lines_skipped {
        folder.write_json(FILE, &file)?;
    }
    Ok(file)
}

/// What was joined before; `None` where nothing was.
///
/// # Errors
/// The file is damaged.
pub fn joined_spans(folder: &RunFolder) -> Result<Option<SpansFile>, RecordError> {
    let path = folder.path().join(FILE);
    path.is_file().then(|| read_json(&path, "prony.spans/1")).transpose()
}

/// A request whose spans are looked for.
struct Wanted {
    trial: u32,
    cell: String,
    trace: u128,
    /// Of the request's own span.
    span: u64,
    request: NotableRequest,
}

/// The sampled requests that stand out, of all trials that ended.
fn wanted(folder: &RunFolder, run: &RunFile) -> Result<Vec<Wanted>, RecordError> {
    let mut all = Vec::new();
    for trial in folder.read_numbers(run)? {
        let Some(load) = &trial.file.load else { continue };
        let mut seen = BTreeSet::new();
        for request in load.notable.slowest_sampled.iter().chain(&load.notable.failures_sampled) {
            let Some(ids) = request.trace.as_ref().filter(|_| seen.insert(request.request)) else { continue };
            let number = u128::from_str_radix(&ids.trace_id, 16).ok();
            let Some((trace, span)) = number.zip(u64::from_str_radix(&ids.span_id, 16).ok()) else {
                continue;
            };
            let cell = trial.file.cell.clone();
            all.push(Wanted { trial: trial.file.id, cell, trace, span, request: request.clone() });
        }
    }
    Ok(all)
}
