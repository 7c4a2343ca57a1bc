//! Arguments of `prony soak`.

use super::{AlarmArgs, MonitorArgs, TextOrJson, parse_enum};
use schema::soak::StopWhen;
use std::path::PathBuf;
use units::Nanos;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  prony soak experiments/demo.toml --for 8h
  prony soak experiments/go-frameworks.toml --for 3d --cell go/gin --horizon 30d
  prony soak experiments/demo.toml --for 8h --stop-when never --format json
  prony soak experiments/demo.toml --for 8h --fleet 2
  prony soak experiments/demo.toml --for 8h --dry-run
  prony soak --resume runs/2026-11-21T09-30-00Z-demo

One cell of the experiment is loaded for hours; memory, descriptors, threads, goroutines, heap and connections of the
target are followed from window to window. Each is said to leak, to fill up, to be steady, or not to be judged yet.
The [[threshold]]s of the file are held against every window.

Exit codes: 0 no leak, 1 wrong arguments or file, 2 the target failed or the numbers must not be used, 3 a leak, a
threshold that was crossed or never read, or an alarm that ended it, 130 interrupted (results kept).")]
pub(crate) struct SoakArgs {
    /// The experiment file; its first cell is taken unless --cell names another
    #[arg(required_unless_present = "resume", requires = "time")]
    pub(crate) file: Option<PathBuf>,
    /// How long the load lasts after warm-up, for example 8h
    #[arg(long = "for", value_name = "TIME", value_parser = super::duration)]
    pub(crate) time: Option<Nanos>,
    /// The cell, by identifier, label or target
    #[arg(long, value_name = "NAME", conflicts_with = "resume")]
    pub(crate) cell: Option<String>,
    /// Length of a window; from 30 to 2000 must fit [default: a sixtieth of the time, at most 1m unless that makes more
    /// than 1000]
    #[arg(long, value_name = "TIME", conflicts_with = "resume", value_parser = super::duration)]
    pub(crate) window: Option<Nanos>,
    /// What is not exhausted within this time is no leak [default: 10 times --for]
    #[arg(long, value_name = "TIME", conflicts_with = "resume", value_parser = super::duration)]
    pub(crate) horizon: Option<Nanos>,
    /// When to end before the time is over: leak (once one is certain) or never
    #[arg(long, value_name = "WHEN", default_value = "leak", conflicts_with = "resume", value_parser = parse_enum::<StopWhen>(&["leak", "never"]))]
    pub(crate) stop_when: StopWhen,
    /// Print the plan and its time, run nothing
    #[arg(long, conflicts_with = "resume")]
    pub(crate) dry_run: bool,
    /// Go on with a soak that was interrupted, in a new segment: the target is restarted
    #[arg(long, value_name = "RUN", conflicts_with_all = ["file", "time"])]
    pub(crate) resume: Option<PathBuf>,
    /// Where run folders are made
    #[arg(long, value_name = "DIR", default_value = "runs", conflicts_with = "resume")]
    pub(crate) runs: PathBuf,
    /// CPU sets: auto, off, or GENERATOR:TARGET such as 0:1-3; overrides the file
    #[arg(long, value_name = "SETS", conflicts_with = "resume")]
    pub(crate) pin: Option<String>,
    /// Share the load among agents: how many on this host, or a file that names them (see `prony fleet --help`)
    #[arg(long, value_name = "N|FILE", conflicts_with = "resume")]
    pub(crate) fleet: Option<String>,
    /// Allow load on this public host; loopback and private addresses need no consent
    #[arg(long, value_name = "HOST")]
    pub(crate) consent: Vec<String>,
    #[command(flatten)]
    pub(crate) monitor: MonitorArgs,
    #[command(flatten)]
    pub(crate) alarms: AlarmArgs,
    /// What to print at the end
    #[arg(long, value_enum, default_value_t = TextOrJson::Text)]
    pub(crate) format: TextOrJson,
}
