//! The ledger as text, Markdown and CSV.

use super::cells;
use super::lang::Lang;
use crate::ReportError;
use crate::clean;
use crate::terminal::Style;
use crate::terminal::layout::paragraph;
use crate::terminal::paint::{Tone, finish, paint};
use schema::ledger::{LedgerArticle, LedgerFile, LedgerRow, LedgerVerdict};
use std::fmt::Write as _;

/// For the terminal: a line or two a claim, counts first.
#[must_use]
pub fn ledger_text(ledger: &LedgerFile, lang: Lang, style: Style) -> String {
    let columns = style.columns();
    let mut text = paragraph("", &cells::counts(ledger, lang), columns);
    text.extend(cells::things(ledger, lang).map(|things| paragraph("", &things, columns)));
    for article in &ledger.articles {
        let title = format!("{}  {}", clean::line(&article.article), clean::line(lang.of(&article.title)));
        let _ = write!(text, "\n{}", paragraph("", &title, columns));
        for row in &article.rows {
            let [number, claim, published, measured, verdict, run, differs, note] = cells::row(row, lang);
            let word = paint(tone(row.verdict), &format!("{} {verdict}", sign(row.verdict)));
            text += &paragraph(&format!("  {number:>3} "), &format!("{claim} [{published}]"), columns);
            text += &paragraph("      ", &joined(&[word, measured, run, differs, note]), columns);
        }
        let absent = cells::absent(article, lang);
        if !absent.is_empty() {
            text += &paragraph("  ", lang.absent(), columns);
            text.extend(absent.iter().map(|line| paragraph("    – ", line, columns)));
        }
    }
    for note in &ledger.notes {
        text += &paragraph("", &clean::line(note), columns);
    }
    finish(&text, style)
}

fn joined(parts: &[String]) -> String {
    parts.iter().filter(|part| !part.is_empty()).cloned().collect::<Vec<_>>().join(" · ")
}

pub(super) const fn tone(verdict: LedgerVerdict) -> Tone {
    match verdict {
        LedgerVerdict::Reproduced => Tone::Good,
        LedgerVerdict::Exceeded | LedgerVerdict::Weaker | LedgerVerdict::WeakerOrNone => Tone::Strong,
        LedgerVerdict::Contradicted | LedgerVerdict::Impossible => Tone::Bad,
        LedgerVerdict::Inconclusive | LedgerVerdict::Void => Tone::Warn,
        LedgerVerdict::NotRun | LedgerVerdict::CannotTest => Tone::Quiet,
    }
}

pub(super) const fn sign(verdict: LedgerVerdict) -> &'static str {
    match verdict {
        LedgerVerdict::Reproduced => "✓",
        LedgerVerdict::Exceeded => "▲",
        LedgerVerdict::Weaker | LedgerVerdict::WeakerOrNone => "▽",
        LedgerVerdict::Contradicted | LedgerVerdict::Impossible => "✗",
        LedgerVerdict::Inconclusive => "?",
        LedgerVerdict::Void | LedgerVerdict::NotRun | LedgerVerdict::CannotTest => "–",
    }
}

/// One table an article.
#[must_use]
pub fn ledger_markdown(ledger: &LedgerFile, lang: Lang) -> String {
    let mut text = format!("# {}\n\n{}\n", lang.title(), clean::markdown(&cells::counts(ledger, lang)));
    if let Some(things) = cells::things(ledger, lang) {
        let _ = write!(text, "\n{}\n", clean::markdown(&things));
    }
    for article in &ledger.articles {
        let title = clean::markdown(lang.of(&article.title));
        let _ = write!(text, "\n## {} {title}\n\n", clean::markdown(&article.article));
        let _ = writeln!(text, "| {} |", lang.head().join(" | "));
        let _ = writeln!(text, "|{}", "---|".repeat(lang.head().len()));
        for row in &article.rows {
            let cells = cells::row(row, lang).map(|cell| clean::markdown(&cell));
            let _ = writeln!(text, "| {} |", cells.join(" | "));
        }
        let absent = cells::absent(article, lang);
        if !absent.is_empty() {
            let _ = write!(text, "\n{}\n\n", lang.absent());
            text.extend(absent.iter().map(|line| format!("- {}\n", clean::markdown(line))));
        }
    }
    for note in &ledger.notes {
        let _ = write!(text, "\n{}\n", clean::markdown(note));
    }
    text
}

/// One row a claim, for spreadsheets; the numbers of every part besides.
///
/// # Errors
/// The CSV writer failed.
pub fn ledger_csv(ledger: &LedgerFile, lang: Lang) -> Result<String, ReportError> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let rows =
        || ledger.articles.iter().flat_map(|article| article.rows.iter().map(move |row| (article, row)));
    let head = [&["article"][..], &lang.head()[..], &["verdict_key"]].concat();
    writer.write_record(head)?;
    for (article, row) in rows() {
        writer.write_record(csv_row(article, row, lang))?;
    }
    let bytes = writer.into_inner().map_err(|error| std::io::Error::other(error.to_string()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn csv_row(article: &LedgerArticle, row: &LedgerRow, lang: Lang) -> Vec<String> {
    let key = serde_json::to_value(row.verdict).ok();
    let key = key.as_ref().and_then(serde_json::Value::as_str).unwrap_or_default().to_owned();
    let cells = cells::row(row, lang).map(|cell| clean::csv_field(&cell));
    std::iter::once(clean::csv_field(&article.article)).chain(cells).chain([key]).collect()
}
