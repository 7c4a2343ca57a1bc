//! Run folders: written so that a crash leaves whole files, read back, analysed, made into pages.
//!
//! Invariants: a file of a run folder is whole or absent, `trial.json` comes last; what is damaged is an error with its
//! file, or costs a page the part that needs it; memory is bounded however long a run was. Readers of run folders
//! (index, serve, report commands) need this crate and link neither the engine nor a script interpreter, which a test
//! holds. Absent on purpose: making a load, deciding what is run (runner), statistics (analyze), what people see (report).

mod analysed;
mod answers;
mod deflate;
mod error;
mod files;
mod folder;
pub mod hgrm;
pub mod history;
pub mod hlog;
mod hlog_merge;
pub mod live;
pub mod page;
pub mod segments;
mod signals;
mod spans;
pub mod tail;
mod trials;

pub use analysed::{REST, analysed};
pub use answers::keep_answer;
pub use error::RecordError;
pub use files::{Lines, beside, read_json, write_json, write_whole};
pub use folder::{RunFolder, TrialFolder, run_name};
pub use hlog_merge::{GrowingLog, NewRows, TimedRow};
pub use spans::{SPAN_NAME_CHARS_MAX, SPANS_MAX, TargetSpans, join_spans, joined_spans, read_target_spans};
