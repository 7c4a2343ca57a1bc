//! The target's spans of a run's slow and failed requests: joined by trace id, and kept in the run folder.
//!
//! Invariants: a name, the spans of a request and the requests of a cell are bounded in what a report is given, whatever
//! `spans.json` has.

mod read;

use crate::RecordError;
use crate::files::read_json;
use crate::folder::RunFolder;
use analyze::where_time_went;
pub use read::{NAME_CHARS_MAX as SPAN_NAME_CHARS_MAX, SPANS_MAX, TargetSpans, read_target_spans};
use read::{NAME_CHARS_MAX, read_file};
use schema::analysis::{AnalysisFile, CellSummary};
use schema::run::RunFile;
use schema::spans::{RequestSpans, SPANS_SHOWN, SpanTime, SpansFile};
use schema::traced::{NotableRequest, TrialRequest};
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
    let found = read_file(spans, |trace| traces.contains_key(&trace))?;
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

/// Shows the spans that were joined before beside the requests that the cells list; a file that cannot be read is passed over:
/// [`joined_spans`] says what is wrong with it.
pub(crate) fn show(folder: &RunFolder, analysis: &mut AnalysisFile) {
    if let Ok(Some(file)) = joined_spans(folder) {
        show_in(&mut analysis.cells, &file);
    }
}

fn show_in(cells: &mut [CellSummary], file: &SpansFile) {
    for cell in cells {
        let of_cell = file.requests.iter().filter(|one| one.cell == cell.cell);
        let found: HashMap<(u32, u64), &RequestSpans> =
            of_cell.map(|one| ((one.trial, one.request.request), one)).collect();
        let listed = cell.notable.all();
        cell.spans = listed
            .filter_map(|one| Some(shown(one, found.get(&(one.trial, one.request.request))?)))
            .collect();
    }
}

/// As much of the spans of a listed request as a report shows.
fn shown(of: &TrialRequest, found: &RequestSpans) -> RequestSpans {
    let text = |text: &str| text.chars().take(NAME_CHARS_MAX).collect();
    let span =
        |span: &SpanTime| SpanTime { name: text(&span.name), service: text(&span.service), ..span.clone() };
    RequestSpans {
        trial: of.trial,
        cell: found.cell.clone(),
        request: of.request.clone(),
        outside_ns: found.outside_ns,
        spans: found.spans.iter().take(SPANS_SHOWN).map(span).collect(),
        spans_left_out: found.spans.len().saturating_sub(SPANS_SHOWN) as u64,
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn cell() -> CellSummary {
        let text = r#"{"cell":"c1","label":"","target":"","load":"","trials_valid":1,"trials_void":0,"trials_failed":0,
            "metrics":[],"curve":[]}"#;
        let mut cell: CellSummary = serde_json::from_str(text).expect("optional parts may be missing");
        let request = NotableRequest { request: 7, response_ns: 900, ..NotableRequest::default() };
        cell.notable.slowest = vec![TrialRequest { trial: 2, request }];
        cell
    }

    fn planted(cell: &str, trial: u32, spans: usize) -> RequestSpans {
        let request =
            NotableRequest { request: 7, name: "not the load's".to_owned(), ..NotableRequest::default() };
        let name = "\u{1b}<b>".repeat(1_000);
        let span = SpanTime { service: name.clone(), name, ..SpanTime::default() };
        let spans = vec![span; spans];
        RequestSpans { trial, cell: cell.to_owned(), request, spans, ..RequestSpans::default() }
    }

    #[test]
    fn a_report_is_given_bounded_spans_of_listed_requests_alone() {
        let requests = vec![planted("c2", 2, 1), planted("c1", 3, 1), planted("c1", 2, 300)];
        let file = SpansFile { requests, ..SpansFile::default() };
        let mut cells = [cell()];
        show_in(&mut cells, &file);
        let [found] = &*cells[0].spans else { panic!("{:?}", cells[0].spans) };
        assert_eq!((found.request.response_ns, found.request.name.as_str()), (900, ""), "as the load saw it");
        assert_eq!((found.spans.len(), found.spans_left_out), (SPANS_SHOWN, 300 - SPANS_SHOWN as u64));
        assert_eq!(found.spans[0].name.chars().count(), NAME_CHARS_MAX);
        assert_eq!(found.spans[0].service.chars().count(), NAME_CHARS_MAX);
    }
}
