//! The words of an audit, the same in text and Markdown.

use crate::format;
use crate::terminal::paint::Tone;
use crate::words::Word;
use schema::audit::{AuditCounts, AuditForm, AuditLoad, AuditReport, AuditSeverity, Basis};

/// How a finding is to be taken.
pub(crate) const fn severity(severity: AuditSeverity) -> Word {
    match severity {
        AuditSeverity::Note => Word::new("·", "note", Tone::Quiet),
        AuditSeverity::Suspicious => Word::new("!", "suspicious", Tone::Warn),
        AuditSeverity::Impossible => Word::new("✗", "impossible", Tone::Bad),
    }
}

pub(crate) const fn form(form: AuditForm) -> &'static str {
    match form {
        AuditForm::Csv => "CSV",
        AuditForm::Tsv => "TSV",
        AuditForm::Bars => "a table between bars",
        AuditForm::Aligned => "aligned columns",
        AuditForm::Pairs => "names and values",
        AuditForm::ToolOutput => "output of a load tool",
    }
}

pub(crate) const fn load(load: AuditLoad) -> &'static str {
    match load {
        AuditLoad::Closed => "taken for a closed load: each connection waits for its answer",
        AuditLoad::Open => "taken for an open load: requests come at a rate",
    }
}

pub(crate) const fn basis(basis: Basis) -> &'static str {
    match basis {
        Basis::Given => "you said so",
        Basis::Header => "by header",
        Basis::Assumed => "assumed",
    }
}

/// The answer, in one line.
pub(crate) fn verdict(report: &AuditReport) -> (Word, String) {
    let AuditCounts { rows, impossible_rows, impossible, suspicious, note } = report.counts;
    let counted = |n, what: &str| format!("{} {what}", format::count(n));
    let counts =
        [counted(impossible, "impossible"), counted(suspicious, "suspicious"), format::counted(note, "note")]
            .join(", ");
    let rows = format::counted(rows, "row");
    let word = match (impossible, suspicious) {
        _ if report.tables.is_empty() => Word::new("?", "no table of results is in it", Tone::Warn),
        (0, 0) => Word::new("✓", "nothing speaks against it", Tone::Good),
        (0, _) => Word::new("!", "questions are open", Tone::Warn),
        _ => Word::new("✗", "it cannot be as printed", Tone::Bad),
    };
    let of = if impossible_rows > 0 {
        format!("{rows}, {} of them with figures that cannot be: {counts}", format::count(impossible_rows))
    } else {
        format!("{rows}: {counts}")
    };
    (word, of)
}

/// What silence does not mean.
pub(crate) const CLOSING: &str = "What passes may still be wrong: these are laws that every measurement obeys, not a proof that this one was made well.";
