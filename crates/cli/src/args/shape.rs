//! Arguments of `prony shape`.

use super::ArrivalArgs;
use clap::ValueEnum;
use std::path::PathBuf;
use units::{Nanos, PerSecond};

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  prony shape experiments/spike.toml
  prony shape -R 100 --arrivals poisson --shape ramp:to=x10,over=30s -d 60s
  prony shape -R 1k --arrivals weibull:shape=0.7 --format csv")]
pub(crate) struct ShapeArgs {
    /// An experiment file; without one, the load of the flags is drawn
    #[arg(required_unless_present_any = ["rate", "arrivals"], conflicts_with_all = ["rate", "arrivals", "shape", "think", "duration", "warmup", "seed"])]
    pub(crate) file: Option<PathBuf>,
    /// Requests per second in total
    #[arg(short = 'R', long, value_name = "RATE")]
    pub(crate) rate: Option<PerSecond>,
    #[command(flatten)]
    pub(crate) pacing: ArrivalArgs,
    /// How long the measured window is
    #[arg(short, long, value_name = "TIME", default_value = "60s", value_parser = super::duration)]
    pub(crate) duration: Nanos,
    /// Warm-up before it
    #[arg(long, value_name = "TIME", default_value = "0s", value_parser = super::duration)]
    pub(crate) warmup: Nanos,
    /// Seed of random arrivals
    #[arg(long, default_value_t = plan::defaults::SEED)]
    pub(crate) seed: u64,
    /// What to print
    #[arg(long, value_enum, default_value_t = ShapeFormat::Text)]
    pub(crate) format: ShapeFormat,
    /// Write it to a file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ShapeFormat {
    /// A picture for the terminal
    Text,
    /// For machines; versioned, see `prony schema shape`
    Json,
    /// For spreadsheets, one row a column of the picture
    Csv,
}
