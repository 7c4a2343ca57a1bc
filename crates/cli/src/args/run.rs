//! Arguments of `prony run`.

use super::{AlarmArgs, MonitorArgs, TextOrJson};
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  prony run experiments/demo.toml --dry-run
  prony run experiments/go-frameworks.toml
  prony run experiments/go-frameworks.toml --junit claims.xml
  sudo prony run experiments/go-frameworks.toml --tune
  prony run experiments/demo.toml --fleet 2
  prony run --resume runs/2026-11-21T09-30-00Z-go-frameworks
  prony run --resume runs/2026-11-21T09-30-00Z-go-frameworks --blocks +1

Exit codes: 0 done, 1 wrong arguments or file, 2 a trial failed or the numbers must not be used (most trials are bad,
or 10 % of a cell's requests or more failed), 3 a claim does not hold, a threshold is crossed or was never read, or an
alarm ended it, 130 interrupted (results kept).")]
pub(crate) struct RunArgs {
    /// The experiment file
    #[arg(required_unless_present = "resume")]
    pub(crate) file: Option<PathBuf>,
    /// Print the plan and its time, run nothing
    #[arg(long, conflicts_with = "resume")]
    pub(crate) dry_run: bool,
    /// Eight blocks of one sample of 1 s after a third of the warm-up: a first look, marked as short wherever it is shown
    #[arg(long, conflicts_with = "resume")]
    pub(crate) short: bool,
    /// Run the missing, failed and void trials of this run folder
    #[arg(long, value_name = "RUN", conflicts_with = "file")]
    pub(crate) resume: Option<PathBuf>,
    /// Add so many blocks to the resumed run, for example +1
    #[arg(long, value_name = "+N", requires = "resume", value_parser = more_blocks, default_value = "+0", hide_default_value = true)]
    pub(crate) blocks: u32,
    /// Where run folders are made
    #[arg(long, value_name = "DIR", default_value = "runs", conflicts_with = "resume")]
    pub(crate) runs: PathBuf,
    /// CPU sets: auto, off, GENERATOR:TARGET such as 0:1-3, or GENERATOR:TARGET:SERVICES; overrides the file
    #[arg(long, value_name = "SETS", conflicts_with = "resume")]
    pub(crate) pin: Option<String>,
    /// Share every load among agents: how many on this host, or a file that names them (see `prony fleet --help`)
    #[arg(long, value_name = "N|FILE", conflicts_with = "resume")]
    pub(crate) fleet: Option<String>,
    /// Tune the host for the time of the run, see `prony doctor --help`; it is put back at the end
    #[arg(long, conflicts_with = "dry_run")]
    pub(crate) tune: bool,
    /// With --tune: switch turbo off too
    #[arg(long, requires = "tune")]
    pub(crate) turbo_off: bool,
    /// Allow load on this public host; loopback and private addresses need no consent
    #[arg(long, value_name = "HOST")]
    pub(crate) consent: Vec<String>,
    #[command(flatten)]
    pub(crate) monitor: MonitorArgs,
    #[command(flatten)]
    pub(crate) alarms: AlarmArgs,
    /// Write claims and thresholds as JUnit XML to this file, one test case each
    #[arg(long, value_name = "FILE", conflicts_with = "dry_run")]
    pub(crate) junit: Option<PathBuf>,
    /// What --dry-run prints
    #[arg(long, value_enum, default_value_t = TextOrJson::Text)]
    pub(crate) format: TextOrJson,
}

/// `+1` to `+1000`; the sign says that blocks are added, not set.
fn more_blocks(text: &str) -> Result<u32, String> {
    let number = text.strip_prefix('+').and_then(|number| number.parse::<u32>().ok());
    number
        .filter(|number| *number <= 1_000)
        .ok_or_else(|| "blocks are added to a resumed run: write +1 for one more, at most +1000".to_owned())
}
