//! The ledger as text, Markdown, CSV and HTML.

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
    for article in &ledger.articles {
        let title = format!("{}  {}", clean::line(&article.article), clean::line(lang.of(&article.title)));
        let _ = write!(text, "\n{}", paragraph("", &title, columns));
        for row in &article.rows {
            let [number, claim, published, measured, verdict, run, differs, note] = cells::row(row, lang);
            let word = paint(tone(row.verdict), &format!("{} {verdict}", sign(row.verdict)));
            text += &paragraph(&format!("  {number:>3} "), &format!("{claim} [{published}]"), columns);
            text += &paragraph("      ", &joined(&[word, measured, run, differs, note]), columns);
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

const fn tone(verdict: LedgerVerdict) -> Tone {
    match verdict {
        LedgerVerdict::Reproduced => Tone::Good,
        LedgerVerdict::Exceeded | LedgerVerdict::Weaker => Tone::Strong,
        LedgerVerdict::Contradicted | LedgerVerdict::Impossible => Tone::Bad,
        LedgerVerdict::Inconclusive | LedgerVerdict::Void => Tone::Warn,
        LedgerVerdict::NotRun | LedgerVerdict::CannotTest => Tone::Quiet,
    }
}

const fn sign(verdict: LedgerVerdict) -> &'static str {
    match verdict {
        LedgerVerdict::Reproduced => "✓",
        LedgerVerdict::Exceeded => "▲",
        LedgerVerdict::Weaker => "▽",
        LedgerVerdict::Contradicted | LedgerVerdict::Impossible => "✗",
        LedgerVerdict::Inconclusive => "?",
        LedgerVerdict::Void | LedgerVerdict::NotRun | LedgerVerdict::CannotTest => "–",
    }
}

/// One table an article.
#[must_use]
pub fn ledger_markdown(ledger: &LedgerFile, lang: Lang) -> String {
    let mut text = format!("# {}\n\n{}\n", lang.title(), clean::markdown(&cells::counts(ledger, lang)));
    for article in &ledger.articles {
        let title = clean::markdown(lang.of(&article.title));
        let _ = write!(text, "\n## {} {title}\n\n", clean::markdown(&article.article));
        let _ = writeln!(text, "| {} |", lang.head().join(" | "));
        let _ = writeln!(text, "|{}", "---|".repeat(lang.head().len()));
        for row in &article.rows {
            let cells = cells::row(row, lang).map(|cell| clean::markdown(&cell));
            let _ = writeln!(text, "| {} |", cells.join(" | "));
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

const STYLE: &str = "body{font:15px/1.45 system-ui,sans-serif;margin:2rem auto;max-width:90rem;padding:0 1rem;\
color:#1b1f24;background:#fff}table{border-collapse:collapse;width:100%;margin:1rem 0 2rem}th,td{text-align:left;\
vertical-align:top;padding:.35rem .6rem;border-bottom:1px solid #d6dae0}td:first-child{font-variant-numeric:\
tabular-nums}.good{color:#14733a}.strong{color:#7a4b00}.bad{color:#b3261e}.warn{color:#8a5a00}.quiet{color:#5b6470}\
td.verdict{white-space:nowrap;font-weight:600}@media(prefers-color-scheme:dark){body{color:#e6e9ee;background:#14171c}\
th,td{border-color:#343a44}.good{color:#5fce8a}.strong{color:#e6b35c}.bad{color:#ff8a80}.warn{color:#e6b35c}\
.quiet{color:#9aa4b2}}";

/// One page without scripts that loads nothing.
#[must_use]
pub fn ledger_html(ledger: &LedgerFile, lang: Lang) -> String {
    let code = lang.pick("en", "zh-CN");
    let mut page = format!(
        "<!doctype html>\n<html lang=\"{code}\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" \
         content=\"width=device-width\"><meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         style-src 'unsafe-inline'\"><title>{title}</title><style>{STYLE}</style></head>\n<body><h1>{title}</h1><p>{}</p>\n",
        escaped(&cells::counts(ledger, lang)),
        title = lang.title(),
    );
    for article in &ledger.articles {
        let title = escaped(&format!("{} {}", article.article, lang.of(&article.title)));
        let head: String = lang.head().iter().map(|name| format!("<th scope=\"col\">{name}</th>")).collect();
        let _ = write!(page, "<h2>{title}</h2>\n<table><thead><tr>{head}</tr></thead><tbody>\n");
        article.rows.iter().for_each(|row| page += &html_row(row, lang));
        page += "</tbody></table>\n";
    }
    for note in &ledger.notes {
        let _ = writeln!(page, "<p>{}</p>", escaped(&clean::line(note)));
    }
    page + "</body></html>\n"
}

fn html_row(row: &LedgerRow, lang: Lang) -> String {
    let cells = cells::row(row, lang);
    let cell = |(at, cell): (usize, &String)| match at {
        4 => format!(
            "<td class=\"verdict {}\">{} {}</td>",
            class(row.verdict),
            sign(row.verdict),
            escaped(cell)
        ),
        _ => format!("<td>{}</td>", escaped(cell)),
    };
    let cells: String = cells.iter().enumerate().map(cell).collect();
    format!("<tr id=\"c{}\">{cells}</tr>\n", row.number)
}

const fn class(verdict: LedgerVerdict) -> &'static str {
    match tone(verdict) {
        Tone::Strong => "strong",
        Tone::Good => "good",
        Tone::Warn => "warn",
        Tone::Bad => "bad",
        Tone::Quiet => "quiet",
    }
}

fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe += "&amp;",
            '<' => safe += "&lt;",
            '>' => safe += "&gt;",
            '"' => safe += "&quot;",
            '\'' => safe += "&#39;",
            other => safe.push(other),
        }
    }
    safe
}
