//! Arguments of the commands that have few: `report`, `doctor`, `selfcheck`, `completions`, `schema`.

use super::{ReportFormat, TextOrJson};
use std::path::PathBuf;
use units::Nanos;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  prony report runs/2026-11-21T09-30-00Z-demo
  prony report runs/2026-11-21T09-30-00Z-demo --format markdown -o result.md
  prony report runs/2026-11-21T09-30-00Z-demo --chart                        list its charts
  prony report runs/2026-11-21T09-30-00Z-demo --chart forest --png forest.png

Without --format the run folder's report.html, report.md, results.csv and analysis.json are made again.")]
pub(crate) struct ReportArgs {
    /// The run folder
    pub(crate) run: PathBuf,
    /// Print one format instead of renewing the files of the folder
    #[arg(long, value_enum)]
    pub(crate) format: Option<ReportFormat>,
    /// Write it to a file instead of standard output
    #[arg(short, long, value_name = "FILE", requires = "format")]
    pub(crate) output: Option<PathBuf>,
    /// Write claims and thresholds as JUnit XML to this file, one test case each
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,
    /// Print the reservations whole, with what would cure them
    #[arg(long)]
    pub(crate) explain: bool,
    /// In which language the page opens; it can be switched there
    #[arg(long, value_enum, default_value_t = PageLang::En)]
    pub(crate) lang: PageLang,
    /// Show on the page in what the environment differs from that of another run
    #[arg(long, value_name = "RUN")]
    pub(crate) against: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) chart: ChartArgs,
}

/// A chart as a file.
#[derive(Debug, clap::Args)]
pub(crate) struct ChartArgs {
    /// Write one chart to a file; without a name, list those that the run has
    #[arg(long, value_name = "NAME", num_args = 0..=1, default_missing_value = "", conflicts_with_all = ["format", "junit"])]
    pub(crate) chart: Option<String>,
    /// As SVG
    #[arg(long, value_name = "FILE", requires = "chart")]
    pub(crate) svg: Option<PathBuf>,
    /// As PNG, with a font of this system
    #[arg(long, value_name = "FILE", requires = "chart")]
    pub(crate) png: Option<PathBuf>,
    /// Width of the PNG in pixels
    #[arg(long, value_name = "PIXELS", requires = "png")]
    pub(crate) width: Option<u32>,
}

/// A language of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum PageLang {
    /// English
    En,
    /// Chinese
    Zh,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  prony doctor
  sudo prony doctor --tune --dry-run   each file that would be written, with old and new value
  sudo prony doctor --tune          until prony doctor --restore, or a reboot
  prony doctor --diff runs/A runs/B
  prony doctor --diff runs/A        against this host as it is now

What --tune changes is written down first, in $XDG_STATE_HOME/prony/tuning (~/.local/state/prony/tuning).")]
pub(crate) struct DoctorArgs {
    /// Set what is safe: governor, accept queues, local ports, slow start after idle, swappiness, huge pages
    #[arg(long, conflicts_with_all = ["restore", "diff"])]
    pub(crate) tune: bool,
    /// With --tune: switch turbo off too
    #[arg(long, requires = "tune")]
    pub(crate) turbo_off: bool,
    /// With --tune: list each write, and write nothing
    #[arg(long, requires = "tune")]
    pub(crate) dry_run: bool,
    /// Put back what --tune has changed
    #[arg(long, conflicts_with = "diff")]
    pub(crate) restore: bool,
    /// Say in what the hosts of two runs differ, or that of one run and this host now
    #[arg(long, value_name = "RUN", num_args = 1..=2)]
    pub(crate) diff: Vec<PathBuf>,
    /// What to print
    #[arg(long, value_enum, default_value_t = TextOrJson::Text)]
    pub(crate) format: TextOrJson,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  prony selfcheck
  prony selfcheck --for 30s                 fewer runs, wider limits of chance
  prony selfcheck --runs 20 --format json

Runs are made up from a seed, so the truth is known, and go through the same analysis as real ones: equal targets, targets
that differ, a busy queue, ladders with and without a knee, steady windows. No load is made. It fails where a share is
not right; what the generator can do is measured by `prony calibrate`.")]
pub(crate) struct SelfcheckArgs {
    /// Stop after this time, with the runs that there are
    #[arg(long = "for", value_name = "TIME", default_value = "4m", value_parser = super::duration)]
    pub(crate) duration: Nanos,
    /// Made-up runs of each kind, at most
    #[arg(long, value_name = "COUNT", default_value_t = analyze::RUNS_MAX, value_parser = clap::value_parser!(u64).range(1..=analyze::RUNS_MAX))]
    pub(crate) runs: u64,
    /// Seed of the runs
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// What to print
    #[arg(long, value_enum, default_value_t = TextOrJson::Text)]
    pub(crate) format: TextOrJson,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  prony calibrate
  prony calibrate --quick --pin 0:1
  prony calibrate --show --format json

The result is kept in $XDG_STATE_HOME/prony/calibration (~/.local/state/prony/calibration), one file a host.
Measure on a quiet machine: what disturbs the calibration becomes the instrument's limit.")]
pub(crate) struct CalibrateArgs {
    /// Fewer points, in 10s
    #[arg(long)]
    pub(crate) quick: bool,
    /// Time of the whole [default: 60s, or 10s with --quick]
    #[arg(long = "for", value_name = "TIME", value_parser = super::duration)]
    pub(crate) time: Option<Nanos>,
    /// Show the calibration that is kept, measure nothing
    #[arg(long, conflicts_with_all = ["quick", "time", "pin", "seed"])]
    pub(crate) show: bool,
    /// CPU sets: auto, off, or GENERATOR:TARGET such as 0:1-3
    #[arg(long, value_name = "SETS", default_value = "auto")]
    pub(crate) pin: String,
    /// Seed of the order in which points are measured
    #[arg(long, default_value_t = plan::defaults::SEED)]
    pub(crate) seed: u64,
    /// What to print
    #[arg(long, value_enum, default_value_t = TextOrJson::Text)]
    pub(crate) format: TextOrJson,
    /// Write it to a file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  prony completions bash > ~/.local/share/bash-completion/completions/prony
  prony completions zsh > ~/.zfunc/_prony
  prony completions fish > ~/.config/fish/completions/prony.fish")]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, clap::Args)]
pub(crate) struct SchemaArgs {
    /// Name of the format; without it, the names are listed
    pub(crate) name: Option<String>,
    /// Write all schemas as NAME.schema.json into this folder
    #[arg(long, value_name = "DIR", conflicts_with = "name")]
    pub(crate) write: Option<PathBuf>,
}
