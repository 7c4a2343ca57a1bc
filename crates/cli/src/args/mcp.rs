//! Arguments of `prony mcp`.

use super::duration;
use std::path::PathBuf;
use units::{Nanos, PerSecond};

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  prony mcp
  prony mcp --runs /srv/runs --experiments /srv/experiments
  prony mcp --allow-load --rate-max 500 --duration-max 10s
  prony mcp --allow-load --consent staging.example.test

A client starts it and speaks to it over standard input and output. Its tools read: runs, report, why, compare, plan. With
--allow-load there is a sixth, load, which sends to the loopback addresses of this host and to those that --consent names,
within the limits given here.

Exit codes: 0 the client has ended, 1 wrong arguments, or a folder that is not there.")]
pub(crate) struct McpArgs {
    /// Folder of the runs
    #[arg(long, value_name = "DIR", default_value = "runs")]
    pub(crate) runs: PathBuf,
    /// Folder of the experiments that `plan` may be asked for
    #[arg(long, value_name = "DIR", default_value = "experiments")]
    pub(crate) experiments: PathBuf,
    /// Offer the tool `load`
    #[arg(long)]
    pub(crate) allow_load: bool,
    /// With --allow-load: a host that may be loaded beside the loopback addresses; repeatable
    #[arg(long, value_name = "HOST", requires = "allow_load")]
    pub(crate) consent: Vec<String>,
    /// With --allow-load: the most requests per second; a load without a rate takes it
    #[arg(long, value_name = "RATE", default_value = "1000", requires = "allow_load")]
    pub(crate) rate_max: PerSecond,
    /// With --allow-load: the longest load
    #[arg(long, value_name = "TIME", default_value = "30s", requires = "allow_load", value_parser = duration)]
    pub(crate) duration_max: Nanos,
    /// With --allow-load: the most connections
    #[arg(long, value_name = "N", default_value_t = 64, requires = "allow_load", value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pub(crate) connections_max: u64,
}
