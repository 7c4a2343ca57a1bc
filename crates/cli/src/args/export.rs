//! Arguments of `prony export`.

use clap::ValueEnum;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  prony export runs/2026-11-21T09-30-00Z-demo --trial 1 --format hgrm -o trial.hgrm
  prony export runs/2026-11-21T09-30-00Z-demo --trial 1 --format csv
  prony export result.json --format k6 -o summary.json
  prony export rows.jsonl --format jtl -o result.jtl
  prony export runs/2026-11-21T09-30-00Z-shop --target head --format bencher -o bencher.json

Formats: hgrm (percentile distribution of a trial, for HdrHistogram's plotter), csv (a trial, one row an interval), k6 (summary
JSON of a trial, or of a load's result), jtl (JMeter's lines, of the rows that a load writes with --each rows.jsonl), bencher
(a whole run for Bencher), github-bigger and github-smaller (a whole run for github-action-benchmark, by direction).

Exit codes: 0 done, 1 wrong arguments, or a file or run that has not what the format needs, 4 the result could not be
written.")]
pub(crate) struct ExportArgs {
    /// A run folder, a result of `prony load` as JSON, or rows as JSON lines; - reads rows from standard input
    pub(crate) from: PathBuf,
    /// What to write
    #[arg(long, value_enum)]
    pub(crate) format: ExportFormat,
    /// Number of the trial of a run [default: the only one]
    #[arg(long, value_name = "N")]
    pub(crate) trial: Option<u32>,
    /// Only this target of a whole run [default: all]
    #[arg(long, value_name = "NAME")]
    pub(crate) target: Option<String>,
    /// Write it to a file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// What a result is exported as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// Percentile distribution of the response time
    Hgrm,
    /// One row an interval
    Csv,
    /// Summary JSON of k6
    K6,
    /// Result file of JMeter
    Jtl,
    /// Metric format of Bencher
    Bencher,
    /// Metrics of which more is better, for github-action-benchmark
    GithubBigger,
    /// Metrics of which less is better, for github-action-benchmark
    GithubSmaller,
}
