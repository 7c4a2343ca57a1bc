//! The answers of interventions: kept in the run folder that they are about, and marked on its findings.

use crate::RecordError;
use crate::files::read_json;
use crate::folder::RunFolder;
use schema::analysis::AnalysisFile;
use schema::finding::{CellWhy, Certainty, Finding};
use schema::intervention::{InterventionFile, InterventionVerdict};
use schema::said;
use std::fs;
use std::path::Path;

/// Folder within a run folder where the answers to its findings are kept.
const ANSWERS: &str = "interventions";
/// Most answers that are read.
const ANSWERS_MAX: usize = 1_000;

/// Keeps the answer with the run that it is about.
///
/// # Errors
/// When the system refuses.
pub fn keep_answer(folder: &RunFolder, answer: &InterventionFile) -> Result<(), RecordError> {
    let into = folder.path().join(ANSWERS);
    fs::create_dir_all(&into).map_err(RecordError::io("make", &into))?;
    folder.write_json(&format!("{ANSWERS}/{}-{}.json", answer.cell, answer.cause.key()), answer)
}

/// Marks the findings that interventions have confirmed, in the cells and among the news; an answer that cannot be read
/// is passed over.
pub(crate) fn mark(folder: &Path, analysis: &mut AnalysisFile) {
    let Ok(files) = fs::read_dir(folder.join(ANSWERS)) else { return };
    let names = files
        .flatten()
        .map(|file| file.path())
        .filter(|path| path.extension().is_some_and(|ext| ext == "json"));
    for answer in names
        .take(ANSWERS_MAX)
        .filter_map(|path| read_json::<InterventionFile>(&path, "prony.intervention/3").ok())
    {
        if answer.verdict != InterventionVerdict::Holds {
            continue;
        }
        let is_meant = |finding: &&mut Finding| finding.cell == answer.cell && finding.cause == answer.cause;
        let AnalysisFile { why, findings, .. } = &mut *analysis;
        let all = why.iter_mut().flat_map(|cell| &mut cell.findings).chain(findings);
        all.filter(is_meant).for_each(|finding| finding.certainty = Certainty::Because);
        why.iter_mut().filter(|cell| cell.cell == answer.cell).for_each(say_because);
    }
}

/// The answer of a cell whose first finding is confirmed.
fn say_because(cell: &mut CellWhy) {
    if let Some(top) = cell.findings.first().filter(|top| top.certainty == Certainty::Because) {
        cell.answer =
            said!("why.because", "because of {cause}: {text}", cause = top.cause.words(), text = &top.text);
    }
}
