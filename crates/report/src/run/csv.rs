//! `results.csv`: one row a trial, one column a metric with its unit in the header.
//!
//! Numbers are raw (nanoseconds, bytes, shares from 0 to 1) with a point and without separators; an empty field is a
//! value that was refused or could not be read. Only these rows, not intervals, belong in a spreadsheet: trials are
//! the unit of analysis (METHOD §0.1).

use crate::run::steady;
use crate::{ReportError, clean, words};
use schema::analysis::{AnalysisFile, CellSummary, TrialRow};
use schema::metric::{Metric, Unit};
use schema::run::RunFile;
use schema::said::{Joint, Said};

/// The trials of the run as CSV with a header line, by RFC 4180 with `\n` line ends.
///
/// # Errors
/// [`ReportError::Csv`] where the writer fails.
pub fn csv(run: &RunFile, analysis: &AnalysisFile) -> Result<String, ReportError> {
    let mut writer = ::csv::Writer::from_writer(Vec::new());
    writer.write_record(header())?;
    for trial in &analysis.trials {
        let cell = analysis.cells.iter().find(|cell| cell.cell == trial.cell);
        writer.write_record(record(&run.id, trial, cell))?;
    }
    let bytes = writer.into_inner().map_err(|error| ::csv::Error::from(error.into_error()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn header() -> Vec<String> {
    let before = ["run", "trial", "block", "cell", "target", "load", "outcome"];
    let after = [
        "scheduled_requests",
        "completed_requests",
        "failed_requests",
        "censored_requests",
        "steady",
        "reasons",
    ];
    let metrics = Metric::ALL.into_iter().map(|metric| format!("{}_{}", metric.key(), unit(metric.unit())));
    before.map(str::to_owned).into_iter().chain(metrics).chain(after.map(str::to_owned)).collect()
}

fn record(run: &str, trial: &TrialRow, cell: Option<&CellSummary>) -> Vec<String> {
    let mut fields = vec![
        clean::csv_field(run),
        trial.id.to_string(),
        trial.block.to_string(),
        clean::csv_field(&trial.cell),
        clean::csv_field(cell.map_or("", |cell| &cell.target)),
        clean::csv_field(cell.map_or("", |cell| &cell.load)),
        words::outcome(trial.outcome).text.to_owned(),
    ];
    fields.extend(Metric::ALL.into_iter().map(|metric| value(trial, metric)));
    fields.extend([trial.scheduled, trial.completed, trial.failed, trial.censored].map(|n| n.to_string()));
    fields.push(steady::key(trial).to_owned());
    fields.push(clean::csv_field(&Said::list(Joint::Semicolon, &trial.reasons)));
    fields
}

fn value(trial: &TrialRow, metric: Metric) -> String {
    let value = trial.values.iter().find(|value| value.metric == metric).and_then(|value| value.value);
    value.filter(|value| value.is_finite()).map_or_else(String::new, |value| value.to_string())
}

const fn unit(unit: Unit) -> &'static str {
    match unit {
        Unit::PerSecond => "per_s",
        Unit::Nanoseconds => "ns",
        Unit::Share => "share",
        Unit::Bytes => "bytes",
        Unit::Count => "count",
        Unit::BytesPerSecond => "bytes_per_s",
    }
}
