//! What people read: the report of a run for the terminal, as Markdown, CSV and HTML, and the text of a single load.
//!
//! Invariants: every number shown is already in the analysis or the load report; here it is only formatted, or mapped
//! to a coordinate. Everything that came from a file, a server or a user passes `clean` and the escaping of its
//! format, so no name, reason or error message can act as markup, escape sequence or formula. The HTML page is one
//! file without scripts that loads nothing.
//! Absent on purpose: statistics, gates and refusals (the analyze crate decides, this crate repeats), and any IO.

mod across_text;
mod advice_text;
mod audit_markdown;
mod audit_text;
mod audit_words;
mod calibration_text;
mod capacity_view;
mod chart;
mod clean;
mod csv_rows;
mod effect_view;
mod environment_text;
mod event_view;
mod finding_view;
pub mod format;
mod html;
mod instrument;
mod intervention_text;
mod junit;
mod layer_view;
mod layout;
mod level_view;
mod limits_view;
mod load_csv;
mod load_html;
mod load_markdown;
mod load_parts;
mod load_text;
mod load_words;
mod markdown;
mod memory_words;
mod page;
mod page_html;
mod paint;
mod settings;
mod soak_view;
mod steady_view;
mod terminal;
mod why_text;
mod words;

pub use across_text::{compare_text, history_text};
pub use advice_text::advice_text;
pub use audit_markdown::audit_markdown;
pub use audit_text::audit_text;
pub use calibration_text::calibration_text;
pub use chart::{NamedChart, charts};
pub use clean::{clean_line, clean_lines};
pub use csv_rows::csv;
pub use environment_text::environment_text;
pub use html::html;
pub use instrument::instrument_line;
pub use intervention_text::{intervention_proposal, intervention_text};
pub use junit::junit;
pub use layout::wrapped;
pub use load_csv::{load_csv, series_csv};
pub use load_html::{LoadSeries, load_html};
pub use load_markdown::load_markdown;
pub use load_text::load_text;
pub use markdown::markdown;
pub use page_html::{clean_json, page_html, page_json};
pub use settings::command_line;
pub use soak_view::held;
pub use terminal::terminal;
pub use why_text::why_text;

/// How text for a terminal is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Whether colours may be used.
    pub color: bool,
    /// Columns of the terminal; taken as 80 to 120 whatever it says, because the tables need 80.
    pub width: u16,
}

impl Style {
    /// 80 columns without colours: what a file or a pipe gets.
    pub const PLAIN: Self = Self { color: false, width: 80 };

    /// Columns to use: wider than 120 is hard to read, narrower than 80 breaks the tables.
    pub(crate) fn columns(self) -> usize {
        usize::from(self.width.clamp(80, 120))
    }
}

/// Why a report could not be made.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The chart library refused.
    #[error("the chart `{chart}` could not be drawn ({cause}); report.md and results.csv do not need it")]
    Chart {
        /// Which chart.
        chart: &'static str,
        /// What the library said.
        cause: String,
    },
    /// The page's template failed.
    #[error("the page could not be put together ({0}); report.md and results.csv do not need it")]
    Page(#[from] askama::Error),
    /// The page of the front end has no place for its data.
    #[error(
        "the page that prony was built with has no place for its data\n  remedy: run `make ui` and build prony again, or take --format html-plain"
    )]
    Template,
    /// The data of the page could not be written.
    #[error("the data of the page could not be put together ({0}); report.md has the same numbers")]
    Json(#[from] serde_json::Error),
    /// The XML writer failed.
    #[error("the JUnit file could not be put together ({0}); report.md has the same claims")]
    Xml(#[from] std::io::Error),
    /// The CSV writer failed.
    #[error("the CSV rows could not be written ({0}); report.md has the same numbers")]
    Csv(#[from] ::csv::Error),
}
