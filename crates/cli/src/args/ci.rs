//! Arguments of `prony ci`.

use super::{AlarmArgs, parse_enum};
use clap::ValueEnum;
use schema::design::Share;
use schema::metric::Metric;
use std::path::PathBuf;
use units::Nanos;

/// Metrics that a commit can be judged by: those that every run compares as ratios.
const JUDGED: [&str; Metric::ALL.len() - 1] = {
    let mut names = [""; Metric::ALL.len() - 1];
    let (mut from, mut to) = (0, 0);
    while from < Metric::ALL.len() {
        if !matches!(Metric::ALL[from], Metric::ErrorRate) {
            names[to] = Metric::ALL[from].key();
            to += 1;
        }
        from += 1;
    }
    names
};

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  prony ci --base origin/main
  prony ci --base v1.4 --head v1.5 bench/checkout.toml --budget 20m
  prony ci --base origin/main --metric throughput,p99 --margin 3%
  prony ci --base origin/main --comment comment.md --junit prony.xml
  prony ci --base origin/main --dry-run

The file, prony-ci.toml where none is named, is an experiment with one target that is built from the repository (`use`, or
`command` with `folder` and `build`). Both commits are checked out beside the repository, built, and run in turns on this
host, in random blocks, until every claim is decided or the budget is spent. Without claims of its own, it is claimed that
head is not worse than base by the margin or more in each metric.

Exit codes: 0 head is not worse, or it is not decided; 1 wrong arguments or file; 2 a commit could not be built or run, or
the numbers must not be used; 3 head is worse, with --strict not decided, a threshold of the file is crossed, or an alarm
ended it; 130 interrupted.")]
pub(crate) struct CiArgs {
    /// The experiment file, from the repository's root [default: prony-ci.toml]
    pub(crate) file: Option<PathBuf>,
    /// What is held against: a branch, a tag or a commit
    #[arg(long, value_name = "REF")]
    pub(crate) base: String,
    /// What is judged; what is not committed is not in it
    #[arg(long, value_name = "REF", default_value = "HEAD")]
    pub(crate) head: String,
    /// Time for all trials [default: that of the file, else 10m]
    #[arg(long, value_name = "TIME", value_parser = super::duration)]
    pub(crate) budget: Option<Nanos>,
    /// Metrics that decide [default: throughput of a closed load, p50 of an open one, and cpu_per_request]
    #[arg(long, value_name = "METRIC", value_delimiter = ',', value_parser = parse_enum::<Metric>(&JUDGED))]
    pub(crate) metric: Vec<Metric>,
    /// So much worse does not matter [default: that of the file, else 5%]
    #[arg(long, value_name = "SHARE")]
    pub(crate) margin: Option<Share>,
    /// Exit code 3 also where it is not decided
    #[arg(long)]
    pub(crate) strict: bool,
    /// CPU sets: auto, off, GENERATOR:TARGET such as 0:1-3, or GENERATOR:TARGET:SERVICES; overrides the file
    #[arg(long, value_name = "SETS")]
    pub(crate) pin: Option<String>,
    /// Where run folders are made
    #[arg(long, value_name = "DIR", default_value = "runs")]
    pub(crate) runs: PathBuf,
    /// Allow alarms to be sent to this public host; the service itself is always a local one
    #[arg(long, value_name = "HOST")]
    pub(crate) consent: Vec<String>,
    #[command(flatten)]
    pub(crate) alarms: AlarmArgs,
    /// Write the answer as Markdown to this file, for a comment: its first line is the same in every run
    #[arg(long, value_name = "FILE")]
    pub(crate) comment: Option<PathBuf>,
    /// Append the same to this file, for a summary of steps
    #[arg(long, value_name = "FILE")]
    pub(crate) summary: Option<PathBuf>,
    /// Write the claims as JUnit XML to this file, one test case each
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,
    /// Print the experiment that would be run, and run nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// What to print
    #[arg(long, value_enum, default_value_t = CiFormat::Text)]
    pub(crate) format: CiFormat,
}

/// What `prony ci` prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CiFormat {
    /// For people
    Text,
    /// For machines; versioned, see `prony schema ci`
    Json,
    /// As the comment
    Markdown,
}
