//! Arguments of `prony compare` and `prony history`.

use super::TextOrJson;
use schema::design::Share;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  prony compare runs/2026-11-14T09-30-00Z-go-frameworks runs/2026-11-21T09-30-00Z-go-frameworks
  prony compare 2026-11-14 2026-11-21    parts of their names, if only one has them

The trials of two runs are not paired. Where the hosts differ in what moves every number there are numbers and no
verdicts, unless --across-hosts is given; `prony doctor --diff RUN_A RUN_B` shows all differences.")]
pub(crate) struct CompareArgs {
    /// The run that is compared with
    #[arg(value_name = "RUN_A")]
    pub(crate) a: PathBuf,
    /// The run that is compared
    #[arg(value_name = "RUN_B")]
    pub(crate) b: PathBuf,
    /// Where run folders are that are named without a path
    #[arg(long, value_name = "DIR", default_value = "runs")]
    pub(crate) runs: PathBuf,
    /// Give verdicts although the hosts differ
    #[arg(long)]
    pub(crate) across_hosts: bool,
    /// What to print
    #[arg(long, value_enum, default_value_t = TextOrJson::Text)]
    pub(crate) format: TextOrJson,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  prony history
  prony history go-frameworks
  prony history go-frameworks --significance 0.01 --permutations 9999 --format json")]
pub(crate) struct HistoryArgs {
    /// Name of the experiment; without it the experiments are listed
    pub(crate) experiment: Option<String>,
    /// Where run folders are
    #[arg(long, value_name = "DIR", default_value = "runs")]
    pub(crate) runs: PathBuf,
    /// p up to which a change stands
    #[arg(long, value_name = "P", default_value = "0.05")]
    pub(crate) significance: Share,
    /// Permutations for each p
    #[arg(long, value_name = "COUNT", default_value_t = 999, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) permutations: u32,
    /// Seed of the permutations
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// What to print
    #[arg(long, value_enum, default_value_t = TextOrJson::Text)]
    pub(crate) format: TextOrJson,
}
