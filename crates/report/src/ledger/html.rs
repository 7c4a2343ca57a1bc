//! The ledger as one page without scripts that loads nothing.
//!
//! Invariant: askama escapes every value in the template; only the style sheet, which is part of the program, is put in
//! unescaped.

use super::cells;
use super::formats::{sign, tone};
use super::lang::Lang;
use crate::terminal::paint::Tone;
use crate::{ReportError, clean};
use askama::Template;
use schema::ledger::{LedgerFile, LedgerRow};

#[derive(Template)]
#[template(path = "ledger.html")]
struct Html {
    lang: &'static str,
    title: &'static str,
    style: &'static str,
    counts: String,
    things: Option<String>,
    absent: &'static str,
    head: [&'static str; 8],
    articles: Vec<ArticleView>,
    notes: Vec<String>,
}

struct ArticleView {
    title: String,
    rows: Vec<RowView>,
    absent: Vec<String>,
}

struct RowView {
    number: u32,
    before: Vec<String>,
    class: &'static str,
    verdict: String,
    after: Vec<String>,
}

/// Cells before that of the verdict.
const BEFORE: usize = 4;

/// The page in one language.
///
/// # Errors
/// The template could not be filled in.
pub fn ledger_html(ledger: &LedgerFile, lang: Lang) -> Result<String, ReportError> {
    let articles = ledger.articles.iter().map(|article| ArticleView {
        title: format!("{} {}", clean::line(&article.article), clean::line(lang.of(&article.title))),
        rows: article.rows.iter().map(|row| view(row, lang)).collect(),
        absent: cells::absent(article, lang),
    });
    let page = Html {
        lang: lang.pick("en", "zh-CN"),
        title: lang.title(),
        style: include_str!("../../templates/ledger.css"),
        counts: cells::counts(ledger, lang),
        things: cells::things(ledger, lang),
        absent: lang.absent(),
        head: lang.head(),
        articles: articles.collect(),
        notes: ledger.notes.iter().map(|note| clean::line(note)).collect(),
    };
    Ok(page.render()?)
}

fn view(row: &LedgerRow, lang: Lang) -> RowView {
    let cells = cells::row(row, lang);
    RowView {
        number: row.number,
        before: cells[..BEFORE].to_vec(),
        class: match tone(row.verdict) {
            Tone::Strong => "strong",
            Tone::Good => "good",
            Tone::Warn => "warn",
            Tone::Bad => "bad",
            Tone::Quiet => "quiet",
        },
        verdict: format!("{} {}", sign(row.verdict), cells[BEFORE]),
        after: cells[BEFORE + 1..].to_vec(),
    }
}
