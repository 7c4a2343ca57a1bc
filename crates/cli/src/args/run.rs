//! Arguments of `prony run`.

use super::TextOrJson;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  prony run experiments/demo.toml --dry-run
  prony run experiments/go-frameworks.toml
  prony run experiments/go-frameworks.toml --junit claims.xml
  sudo prony run experiments/go-frameworks.toml --tune
  prony run --resume runs/2026-11-21T09-30-00Z-go-frameworks

Exit codes: 0 done, 1 wrong arguments or file, 2 a trial failed or the numbers must not be used (most trials are bad,
or 10 % of a cell's requests or more failed), 3 a claim does not hold, 130 interrupted (results kept).")]
pub(crate) struct RunArgs {
    /// The experiment file
    #[arg(required_unless_present = "resume")]
    pub(crate) file: Option<PathBuf>,
    /// Print the plan and its time, run nothing
    #[arg(long, conflicts_with = "resume")]
    pub(crate) dry_run: bool,
    /// Run the missing and failed trials of this run folder
    #[arg(long, value_name = "RUN", conflicts_with = "file")]
    pub(crate) resume: Option<PathBuf>,
    /// Where run folders are made
    #[arg(long, value_name = "DIR", default_value = "runs", conflicts_with = "resume")]
    pub(crate) runs: PathBuf,
    /// CPU sets: auto, off, GENERATOR:TARGET such as 0:1-3, or GENERATOR:TARGET:SERVICES; overrides the file
    #[arg(long, value_name = "SETS", conflicts_with = "resume")]
    pub(crate) pin: Option<String>,
    /// Tune the host for the time of the run, see `prony doctor --help`; it is put back at the end
    #[arg(long, conflicts_with = "dry_run")]
    pub(crate) tune: bool,
    /// With --tune: switch turbo off too
    #[arg(long, requires = "tune")]
    pub(crate) turbo_off: bool,
    /// Allow load on this public host; loopback and private addresses need no consent
    #[arg(long, value_name = "HOST")]
    pub(crate) consent: Vec<String>,
    /// Write the claims as JUnit XML to this file, one test case a claim
    #[arg(long, value_name = "FILE", conflicts_with = "dry_run")]
    pub(crate) junit: Option<PathBuf>,
    /// What --dry-run prints
    #[arg(long, value_enum, default_value_t = TextOrJson::Text)]
    pub(crate) format: TextOrJson,
}
