//! Findings, and what was looked at and ruled out, in words.

use crate::clean;
use crate::words::{self, Word};
use schema::analysis::AnalysisFile;
use schema::finding::{CellWhy, Finding};

/// A diagnosis.
pub(crate) struct FindingView {
    pub(crate) level: Word,
    pub(crate) text: String,
    pub(crate) remedy: Option<String>,
}

/// What does not hold the target of one cell back.
pub(crate) struct RuledOutView {
    pub(crate) cell: String,
    /// What there is to say of the cell, in one sentence.
    pub(crate) answer: String,
    /// `steal: 0 % of the host's CPU time was stolen, below 1 %`.
    pub(crate) causes: Vec<String>,
}

/// Findings in the order of the analysis.
pub(crate) fn findings(analysis: &AnalysisFile) -> Vec<FindingView> {
    let view = |finding: &Finding| FindingView {
        level: words::finding(finding),
        text: clean::line(&format!("{}: {}", finding.cause.words(), finding.text)),
        remedy: finding.remedy.as_deref().map(clean::line),
    };
    analysis.findings.iter().map(view).collect()
}

/// Cells of which something was ruled out, in plan order.
pub(crate) fn ruled_out(analysis: &AnalysisFile) -> Vec<RuledOutView> {
    let view = |cell: &CellWhy| RuledOutView {
        cell: clean::line(&cell.label),
        answer: clean::line(&cell.answer),
        causes: cell
            .ruled_out
            .iter()
            .map(|out| clean::line(&format!("{}: {}", out.cause.words(), out.text)))
            .collect(),
    };
    analysis.why.iter().filter(|cell| !cell.ruled_out.is_empty()).map(view).collect()
}
