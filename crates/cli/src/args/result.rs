//! What `prony load` shows and writes, and when it counts as failed.

use analyze::Threshold;
use clap::ValueEnum;
use schema::design::Share;
use std::path::{Path, PathBuf};

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
    /// Write one row an interval: CSV, or JSON where FILE ends in .json or .ndjson
    #[arg(long, value_name = "FILE")]
    pub(crate) timeseries: Option<PathBuf>,
    /// Write the percentile distribution of response time, for HdrHistogram's plotter
    #[arg(long, value_name = "FILE")]
    pub(crate) hgrm: Option<PathBuf>,
    /// Write the interval log of HdrHistogram (V2), every kind of time by its tag
    #[arg(long, value_name = "FILE")]
    pub(crate) hlog: Option<PathBuf>,
    /// Write one row a request, warm-up included: .csv, .jsonl or .ndjson, also with .gz. Never slows the load: rows
    /// for which there is no room are dropped and counted
    #[arg(long, value_name = "FILE")]
    pub(crate) each: Option<PathBuf>,
    /// Share of the requests that have rows, drawn by --seed, for example 1%
    #[arg(long, value_name = "SHARE", default_value = "100%", requires = "each")]
    pub(crate) each_share: Share,
    /// End with exit code 3 when this is true, for example 'p99>50ms', 'errors>0.1%', 'service.p90>=2ms', 'rate<1k';
    /// repeatable
    #[arg(long, value_name = "LIMIT", allow_hyphen_values = true)]
    pub(crate) fail: Vec<Threshold>,
    /// Accept failed requests: the exit code ignores them. Without this, and without a --fail limit for errors,
    /// 10 % or more end with exit code 2
    #[arg(long)]
    pub(crate) errors_ok: bool,
    /// Do not draw in place: one line a second instead
    #[arg(long)]
    pub(crate) no_tui: bool,
    /// Show no progress
    #[arg(long)]
    pub(crate) quiet: bool,
}

/// What a result is printed as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ResultFormat {
    /// For the terminal
    Text,
    /// For machines; versioned, see `prony schema load`
    Json,
    /// For spreadsheets: a header and one row
    Csv,
    /// For pull requests
    Markdown,
    /// One page that works offline
    Html,
}

impl ResultArgs {
    /// What is asked for, else what the ending of the output file says, else text.
    pub(crate) fn format(&self) -> ResultFormat {
        let by_ending = || {
            let ending = self.output.as_deref().and_then(Path::extension)?.to_str()?.to_ascii_lowercase();
            Some(match ending.as_str() {
                "json" => ResultFormat::Json,
                "csv" => ResultFormat::Csv,
                "md" | "markdown" => ResultFormat::Markdown,
                "html" | "htm" => ResultFormat::Html,
                _ => return None,
            })
        };
        self.format.or_else(by_ending).unwrap_or(ResultFormat::Text)
    }
}
