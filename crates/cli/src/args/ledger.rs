//! Arguments of `prony ledger`.

use super::{PageLang, duration};
use clap::{Subcommand, ValueEnum};
use std::path::PathBuf;
use units::Nanos;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  prony ledger
  prony ledger --article 003 --lang zh
  prony ledger --format csv -o ledger.csv
  prony ledger --write ledger
  prony ledger run --short --write ledger
  prony ledger run --article 003 --budget 2h

Exit codes: 0 done, 1 a study, an experiment or an argument is wrong, 2 an experiment could not be run, 4 the result
could not be written, 130 interrupted (what has ended is kept; the same command goes on). What the claims come to is in
the ledger and never in the exit code: a published number that is contradicted is a result.")]
pub(crate) struct LedgerArgs {
    #[command(subcommand)]
    pub(crate) command: Option<LedgerCommand>,
    #[command(flatten)]
    pub(crate) place: LedgerPlace,
    /// What to print
    #[arg(long, value_enum, default_value_t = LedgerFormat::Text)]
    pub(crate) format: LedgerFormat,
    /// The language of the page
    #[arg(long, value_enum, default_value_t = PageLang::En)]
    pub(crate) lang: PageLang,
    /// Write it to a file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Write ledger.html, ledger.md, ledger.csv, each also as .zh, and ledger.json into this folder
    #[arg(long, value_name = "DIR", global = true)]
    pub(crate) write: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum LedgerCommand {
    /// Run the experiments that would decide most open claims in the least time; what is finished is kept
    Run(LedgerRunArgs),
}

/// Where studies, experiments and runs are, and which article is meant.
#[derive(Debug, clap::Args)]
pub(crate) struct LedgerPlace {
    /// Only this article, such as 003
    #[arg(long, value_name = "ARTICLE", global = true)]
    pub(crate) article: Option<String>,
    /// Folder of the studies; experiments lie in `experiments` beside it
    #[arg(long, value_name = "DIR", default_value = "studies", global = true)]
    pub(crate) studies: PathBuf,
    /// Folder of the runs
    #[arg(long, value_name = "DIR", default_value = "runs", global = true)]
    pub(crate) runs: PathBuf,
}

#[derive(Debug, clap::Args)]
pub(crate) struct LedgerRunArgs {
    /// Begin no experiment that would end later than this [default: 1h with --short, else none]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(crate) budget: Option<Nanos>,
    /// Eight blocks of one sample of 1 s each after a third of the warm-up; what it leaves undecided is then run in full, as far as the budget reaches. Without it what only a short run has answered is run again
    #[arg(long)]
    pub(crate) short: bool,
    /// Print what would be run and what it would take, run nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Allow load on this public host; loopback and private addresses need no consent
    #[arg(long, value_name = "HOST")]
    pub(crate) consent: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LedgerFormat {
    /// For the terminal
    Text,
    /// For machines; versioned, see `prony schema ledger`
    Json,
    /// For pull requests
    Markdown,
    /// For spreadsheets, one row a claim
    Csv,
    /// One page that works offline
    Html,
}
