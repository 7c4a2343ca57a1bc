//! A ledger of published claims: studies (`studies/*.toml`) against run folders and audits.
//!
//! `studies` and `answers` read files; `rows` puts them together, with
//! the `versions` that were published and those here; `todo` says which experiments would decide most claims
//! in the least time.
//! Invariants: a verdict is that of the analysis or of the audit and never made here; of several runs of one experiment a
//! whole one comes before a broken-off one, a full one before a short one, and else the newest counts, whatever it says.
//! Absent on purpose: statistics (`analyze`), layout (`report`), running experiments (`cli`).

mod answers;
mod rows;
mod studies;
mod todo;
mod versions;

pub use answers::{Answered, answered};
pub use rows::ledger;
pub use studies::{StudiesError, studies};
pub use todo::{Todo, todo};
