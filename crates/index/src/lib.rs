//! A rebuildable SQLite index over run folders, for `prony serve`, `prony history` and `prony compare`.
//!
//! Invariants: run folders are only read; the index may be deleted at any time and is rebuilt with the same content;
//! what people said of runs (tags, notes) is in a file of its own, which is never thrown away; a folder that cannot be
//! read is listed with its cause; every file that is read, and the number of folders, has a limit.
//! Absent on purpose: judgement and statistics (analyze), intervals and histograms, and anything about the network.

mod error;
mod folder;
mod labels;
mod store;

pub use error::IndexError;
pub use folder::{card_of, run_folder};
pub use labels::Labels;
pub use store::{Experiment, Index, Place, Query, Refreshed};

/// Name of the index within the folder of runs.
pub const INDEX_FILE: &str = ".prony-index.sqlite";
/// Name of the file of labels within the folder of runs.
pub const LABELS_FILE: &str = ".prony-labels.json";
/// Most folders that are looked at.
pub const FOLDERS_MAX: usize = 100_000;
