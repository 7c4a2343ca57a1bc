//! Arguments of `prony knee`.

use super::{MonitorArgs, TextOrJson};
use analyze::Objective;
use clap::ValueEnum;
use schema::capacity::LadderOrder;
use std::path::PathBuf;
use units::{Count, Nanos, PerSecond};

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  prony knee http://127.0.0.1:8080/ --dry-run
  prony knee http://127.0.0.1:8080/ --ladder 1,2,4,8,16,32,64,128
  prony knee http://127.0.0.1:8080/ --rates 1k,2k,4k,8k --order up-down
  prony knee http://127.0.0.1:8080/ --objective 'p99 < 50ms and errors < 0.1%' --budget 30m
  prony knee experiments/knee.toml
  prony knee http://127.0.0.1:8080/ --ladder 2,4,8,16 --fleet 2

A knee run is an ordinary run folder: prony report makes its report again, prony run --resume finishes it.

Exit codes: as prony run; 3 also where no rate is verified under --objective.")]
pub(crate) struct KneeArgs {
    /// An experiment file, whose levels of connections or rates are the ladder; or a URL
    #[arg(value_name = "FILE|URL")]
    pub(crate) subject: String,
    /// Levels of connections [default for a URL: doubling from 100 to 50,000, as far as local ports allow]
    #[arg(long, value_name = "LIST", value_delimiter = ',', conflicts_with_all = ["rates", "objective"])]
    pub(crate) ladder: Vec<Count>,
    /// Levels of requests per second; with --objective, where the search begins
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) rates: Vec<PerSecond>,
    /// Search the highest rate at which all of this holds, for example 'p99 < 50ms and errors < 0.1%'
    #[arg(long, value_name = "CONDITIONS", conflicts_with_all = ["order", "blocks"])]
    pub(crate) objective: Option<Objective>,
    /// Highest rate of a search [default: what prony calibrate found for the generator, else 1m]
    #[arg(long, value_name = "RATE", requires = "objective")]
    pub(crate) max_rate: Option<PerSecond>,
    /// Order of the levels: random in every pass, or rising and falling in turn
    #[arg(long, value_enum, default_value_t = OrderArg::Random)]
    pub(crate) order: OrderArg,
    /// Passes through the ladder [default: 5; 10 for up-down]
    #[arg(long, value_name = "N")]
    pub(crate) blocks: Option<u64>,
    /// Length of the one sample of each trial [default for a URL: 10s; for a file, as it says]
    #[arg(short, long, value_name = "TIME", value_parser = super::duration)]
    pub(crate) duration: Option<Nanos>,
    /// Warm-up of this length [default for a URL: 2s to 10s, until level; for a file, as it says]
    #[arg(long, value_name = "TIME", value_parser = super::duration)]
    pub(crate) warmup: Option<Nanos>,
    /// Connections of an open load to a URL [default: 64, growing as needed]
    #[arg(short, long, value_name = "N", conflicts_with = "ladder")]
    pub(crate) connections: Option<Count>,
    /// Longest time of the whole; a ladder then has fewer passes
    #[arg(long, value_name = "TIME", value_parser = super::duration)]
    pub(crate) budget: Option<Nanos>,
    /// Seed of every random decision, over that of the file
    #[arg(long)]
    pub(crate) seed: Option<u64>,
    /// Print the plan and its time, run nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Where run folders are made
    #[arg(long, value_name = "DIR", default_value = "runs")]
    pub(crate) runs: PathBuf,
    /// CPU sets: auto, off, or GENERATOR:TARGET such as 0:1-3; overrides the file
    #[arg(long, value_name = "SETS")]
    pub(crate) pin: Option<String>,
    /// Share every load among agents: how many on this host, or a file that names them (see `prony fleet --help`)
    #[arg(long, value_name = "N|FILE")]
    pub(crate) fleet: Option<String>,
    /// Allow load on this public host; loopback and private addresses need no consent
    #[arg(long, value_name = "HOST")]
    pub(crate) consent: Vec<String>,
    #[command(flatten)]
    pub(crate) monitor: MonitorArgs,
    /// What to print: the report, or the analysis (with --dry-run the plan)
    #[arg(long, value_enum, default_value_t = TextOrJson::Text)]
    pub(crate) format: TextOrJson,
}

/// The order of the levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OrderArg {
    /// Every pass in an order of its own
    Random,
    /// Rising and falling in turn, which shows hysteresis
    UpDown,
}

impl From<OrderArg> for LadderOrder {
    fn from(order: OrderArg) -> Self {
        match order {
            OrderArg::Random => Self::Random,
            OrderArg::UpDown => Self::UpDown,
        }
    }
}
