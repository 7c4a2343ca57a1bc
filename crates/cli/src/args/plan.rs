//! Arguments of `prony plan`.

use super::TextOrJson;
use schema::design::Share;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  prony plan experiments/go-frameworks.toml --precision 1%
  prony plan experiments/go-frameworks.toml --difference 3% --power 0.9
  prony plan experiments/go-frameworks.toml --pilot

The spread comes from earlier runs of the experiment under --runs; --pilot makes one of five blocks first.")]
pub(crate) struct PlanArgs {
    /// The experiment file
    pub(crate) file: PathBuf,
    /// The half-width wanted of the interval of each ratio [default: that of the file, else 2%]
    #[arg(long, value_name = "SHARE")]
    pub(crate) precision: Option<Share>,
    /// The difference that is to be found
    #[arg(long, value_name = "SHARE", default_value = "5%")]
    pub(crate) difference: Share,
    /// The chance to find it
    #[arg(long, value_name = "SHARE", default_value = "0.8")]
    pub(crate) power: Share,
    /// Run the five pilot blocks of the experiment first, into a run folder
    #[arg(long)]
    pub(crate) pilot: bool,
    /// Where run folders are looked for and made
    #[arg(long, value_name = "DIR", default_value = "runs")]
    pub(crate) runs: PathBuf,
    /// CPU sets: auto, off, or GENERATOR:TARGET such as 0:1-3; overrides the file
    #[arg(long, value_name = "SETS")]
    pub(crate) pin: Option<String>,
    /// With --pilot: allow load on this public host
    #[arg(long, value_name = "HOST")]
    pub(crate) consent: Vec<String>,
    /// What to print
    #[arg(long, value_enum, default_value_t = TextOrJson::Text)]
    pub(crate) format: TextOrJson,
}
