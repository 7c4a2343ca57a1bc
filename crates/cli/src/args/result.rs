//! What `prony load` shows and writes, and when it counts as failed.

use clap::ValueEnum;
use std::path::PathBuf;

/// Options of the result.
#[derive(Debug, clap::Args)]
pub(crate) struct ResultArgs {
    /// Show every kind of time with all percentiles
    #[arg(long)]
    pub(crate) latency: bool,
    /// What to print [default: by the ending of -o, else text]
    #[arg(long, value_enum)]
    pub(crate) format: Option<ResultFormat>,
    /// Write it to a file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Do not draw in place; one line a second instead
    #[arg(long)]
    pub(crate) no_tui: bool,
}

/// What a result is printed as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ResultFormat {
    /// For the terminal
    Text,
    /// For machines; versioned, see `prony schema load`
    Json,
}
