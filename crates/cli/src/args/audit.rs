//! Arguments of `prony audit`.

use audit::{ColumnChoice, Given, InputForm};
use clap::ValueEnum;
use schema::audit::AuditLoad;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  prony audit results.csv
  prony audit article.md --given connections=1000 --given think=0s
  prony audit article.md --all
  prony audit results.tsv --column 'QPS=throughput:/s' --column '5=p99:us'
  wrk -t4 -c100 -d30s http://127.0.0.1:8080/ | prony audit -

Kinds of columns: connections, throughput, mean, p50 to p99.99, min, max, stddev, cpu, generator-cpu, cores, threads,
errors, error-share, success-share, requests, duration, think, offered, pipeline, time, repeat, label, ignore.

Exit codes: 0 no row is impossible, 1 no table can be read, 3 a row is impossible.")]
pub(crate) struct AuditArgs {
    /// The table, as CSV, TSV, Markdown, aligned text or the output of a load tool; - for standard input
    pub(crate) file: PathBuf,
    /// What a column is, instead of the guess: HEADER=KIND or HEADER=KIND:UNIT; its number from 1 does for the header
    #[arg(long = "column", value_name = "HEADER=KIND")]
    pub(crate) columns: Vec<ColumnChoice>,
    /// A figure of all rows that the table does not state, such as connections=1000 or think=0s
    #[arg(long, value_name = "KIND=VALUE")]
    pub(crate) given: Vec<Given>,
    /// How the load was made
    #[arg(long = "load", value_enum, default_value_t = LoadKind::Auto)]
    pub(crate) load: LoadKind,
    /// How the text is written
    #[arg(long, value_enum, default_value_t = InputFormat::Auto)]
    pub(crate) input_format: InputFormat,
    /// Print all findings, how each table was read, and what could not be checked
    #[arg(long)]
    pub(crate) all: bool,
    /// What to print
    #[arg(long, value_enum, default_value_t = AuditFormat::Text)]
    pub(crate) format: AuditFormat,
    /// Write it to a file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AuditFormat {
    /// For the terminal
    Text,
    /// For machines; versioned, see `prony schema audit`
    Json,
    /// For comments and pull requests
    Markdown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LoadKind {
    /// Open where a column or a tool says that requests came at a rate, else closed
    Auto,
    /// Each connection waits for its answer
    Closed,
    /// Requests come at a rate, whatever the answers do
    Open,
}

impl LoadKind {
    /// The load that is said; `None` where it is to be found.
    pub(crate) const fn said(self) -> Option<AuditLoad> {
        match self {
            Self::Auto => None,
            Self::Closed => Some(AuditLoad::Closed),
            Self::Open => Some(AuditLoad::Open),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum InputFormat {
    /// Found from the text
    Auto,
    /// Commas or semicolons
    Csv,
    /// Tabs
    Tsv,
    /// Bars, as in Markdown, psql and mysql
    Markdown,
    /// Columns aligned by spaces
    Aligned,
    /// A name and a value a line
    Pairs,
    /// wrk, wrk2, hey, oha, ab, bombardier, vegeta, k6, siege, h2load, JMeter's summary lines
    Tool,
}

impl InputFormat {
    /// As the audit crate, which does not know clap, calls it.
    pub(crate) const fn form(self) -> InputForm {
        match self {
            Self::Auto => InputForm::Auto,
            Self::Csv => InputForm::Csv,
            Self::Tsv => InputForm::Tsv,
            Self::Markdown => InputForm::Markdown,
            Self::Aligned => InputForm::Aligned,
            Self::Pairs => InputForm::Pairs,
            Self::Tool => InputForm::Tool,
        }
    }
}
