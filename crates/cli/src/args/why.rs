//! Arguments of `prony why` and `prony intervene`.

use super::TextOrJson;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  prony why runs/2026-11-21T09-30-00Z-go-frameworks
  prony why runs/2026-11-21T09-30-00Z-go-frameworks --cell c3 --all
  prony why runs/2026-11-21T09-30-00Z-go-frameworks --spans traces.jsonl

A finding says \"consistent with\" until `prony intervene` has changed its suspect and the numbers moved as predicted.")]
pub(crate) struct WhyArgs {
    /// The run folder
    pub(crate) run: PathBuf,
    /// Only this cell
    #[arg(long, value_name = "CELL")]
    pub(crate) cell: Option<String>,
    /// Also tell the number by which each other cause was ruled out, and what could not be looked at
    #[arg(long)]
    pub(crate) all: bool,
    /// Show where the time of slow requests went, by the target's spans in this file of an OpenTelemetry collector (file
    /// exporter, JSON lines); the result is kept in the run folder
    #[arg(long, value_name = "FILE")]
    pub(crate) spans: Option<PathBuf>,
    /// What to print
    #[arg(long, value_enum, default_value_t = TextOrJson::Text)]
    pub(crate) format: TextOrJson,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  prony intervene runs/2026-11-21T09-30-00Z-go-frameworks
  prony intervene runs/2026-11-21T09-30-00Z-go-frameworks --cell c3 --cause throttling --go

Without --go only the experiment and its prediction are printed. The answer is kept in the run folder, where `prony why`
finds it. Exit code 3: the prediction does not hold.")]
pub(crate) struct InterveneArgs {
    /// The run folder
    pub(crate) run: PathBuf,
    /// The cell of the finding; the first one that has something to try where absent
    #[arg(long, value_name = "CELL")]
    pub(crate) cell: Option<String>,
    /// The cause to try, as `prony why --format json` names it; the worst one where absent
    #[arg(long, value_name = "CAUSE")]
    pub(crate) cause: Option<String>,
    /// Run the experiment
    #[arg(long)]
    pub(crate) go: bool,
    /// Blocks of the experiment; 5 are the fewest that give an interval
    #[arg(long, value_name = "COUNT", default_value_t = 5, value_parser = clap::value_parser!(u32).range(5..=1000))]
    pub(crate) blocks: u32,
    /// Where run folders are made
    #[arg(long, value_name = "DIR", default_value = "runs")]
    pub(crate) runs: PathBuf,
    /// Allow load on this public host; loopback and private addresses need no consent
    #[arg(long, value_name = "HOST")]
    pub(crate) consent: Vec<String>,
    /// What to print
    #[arg(long, value_enum, default_value_t = TextOrJson::Text)]
    pub(crate) format: TextOrJson,
}
