//! The ledger of published claims for the terminal, as Markdown, CSV and HTML, in English and Chinese.
//!
//! Invariant: every format shows the same cells, made in `cells`; numbers are formatted and never computed.

mod cells;
mod formats;
mod html;
mod lang;

pub use formats::{ledger_csv, ledger_markdown, ledger_text};
pub use html::ledger_html;
pub use lang::Lang;
