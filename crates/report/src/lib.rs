//! What people read: the report of a run for the terminal, as Markdown, CSV and HTML, and the text of a single load.
//!
//! Invariants: every number shown is already in the analysis or the load report; here it is only formatted, or mapped
//! to a coordinate. Everything that came from a file, a server or a user passes `clean` and the escaping of its
//! format, so no name, reason or error message can act as markup, escape sequence or formula. The HTML page is one
//! file without scripts that loads nothing.
//! Absent on purpose: statistics, gates and refusals (the analyze crate decides, this crate repeats), and any IO.

mod audit;
mod chart;
mod clean;
pub mod format;
mod host;
mod ledger;
mod load;
mod notable;
mod run;
mod terminal;
mod words;

pub use audit::markdown::audit_markdown;
pub use audit::text::audit_text;
pub use chart::{NamedChart, charts};
pub use clean::{clean_line, clean_lines};
pub use host::calibration::calibration_text;
pub use host::environment::environment_text;
pub use host::instrument::instrument_line;
pub use ledger::{Lang, ledger_csv, ledger_html, ledger_markdown, ledger_text};
pub use load::csv::{load_csv, series_csv};
pub use load::html::{LoadSeries, load_html};
pub use load::markdown::load_markdown;
pub use load::text::load_text;
pub use run::across::{compare_text, history_text};
pub use run::advice::advice_text;
pub use run::ci::{ci_markdown, ci_text};
pub use run::csv::csv;
pub use run::front_end::{clean_json, page_html, page_json};
pub use run::html::html;
pub use run::intervention::{intervention_proposal, intervention_text};
pub use run::junit::junit;
pub use run::markdown::markdown;
pub use run::plan::{ClockTime, PlanTime, plan_text};
pub use run::settings::command_line;
pub use run::soak::held;
pub use run::text::{explained, terminal};
pub use run::why::why_text;
pub use terminal::Style;
pub use terminal::layout::wrapped;

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
