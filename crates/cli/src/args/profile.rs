//! Arguments of `prony profile`.

use super::{TextOrJson, parse_enum};
use schema::profile::ProfileKind;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  prony profile runs/2026-11-21T09-30-00Z-go-frameworks
  prony profile runs/2026-11-21T09-30-00Z-knee --cell c4 --kind cpu,allocs,mutex --seconds 20
  prony profile experiments/go-frameworks.toml --cell go/gin --kind perf,syscalls,off-cpu
  prony profile runs/2026-11-21T09-30-00Z-knee --cell c1 --compare c6 --kind cpu

The cell's target is started as the run did and loaded with the cell's load for as long as the profiles take, each in a
window of its own after the cell's warm-up. This load is no trial: it is not part of the run's samples or statistics.
Each profile becomes a flame graph (.svg), folded stacks (.folded), a table (.top.txt) and the profiler's own file in
RUN/profiles/CELL. With --compare a flame graph shows what grew (red) and shrank (blue) from --cell to --compare.

Kinds: cpu, heap, allocs, block, mutex, goroutine (Go, by net/http/pprof), jfr (JVM), node (Node.js), php (PHP-FPM, by
Excimer), perf (any native program), syscalls, off-cpu, connect (any program, by bpftrace). What cannot be taken is
reported with its reason and remedy.

Exit codes: 0 taken, 1 wrong arguments or file, 2 nothing could be taken, 130 interrupted (profiles kept).")]
pub(crate) struct ProfileArgs {
    /// A run folder, or an experiment file
    #[arg(value_name = "RUN|EXPERIMENT")]
    pub(crate) subject: PathBuf,
    /// The cell, by identifier, label or target [default: the one at the knee of a ladder, else the first]
    #[arg(long, value_name = "CELL")]
    pub(crate) cell: Option<String>,
    /// What to take, separated by commas [default: what the target's language gives, and perf where it is installed]
    #[arg(long = "kind", value_name = "KINDS", value_delimiter = ',', value_parser = parse_enum::<ProfileKind>(&ProfileKind::KEYS))]
    pub(crate) kinds: Vec<ProfileKind>,
    /// Length of the window of each kind, 1 to 300
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) seconds: u64,
    /// Profile this cell too and draw it against the first
    #[arg(long, value_name = "CELL2")]
    pub(crate) compare: Option<String>,
    /// Where the files go [default: RUN/profiles; for an experiment profiles/TIME-NAME]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// CPU sets, for an experiment file: auto, off, or GENERATOR:TARGET such as 0:1-3; overrides the file
    #[arg(long, value_name = "SETS")]
    pub(crate) pin: Option<String>,
    /// Allow load on this public host; loopback and private addresses need no consent
    #[arg(long, value_name = "HOST")]
    pub(crate) consent: Vec<String>,
    /// What to print at the end
    #[arg(long, value_enum, default_value_t = TextOrJson::Text)]
    pub(crate) format: TextOrJson,
}
