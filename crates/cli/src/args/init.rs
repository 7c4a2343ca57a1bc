//! Arguments of `prony init`.

use std::path::PathBuf;
use units::Nanos;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  prony init                                               asks three questions
  prony init http://127.0.0.1:8080/api                     where does it bend?
  prony init http://127.0.0.1:8080 http://127.0.0.1:8081   which of the two is faster?
  prony init './old --port {port}' './new --port {port}' --path /ping --time 10m
  prony init go/gin go/echo --rate 500                     how long do users wait?

A service is a URL of what already runs, a folder under targets/, or a command in quotes that prony starts afresh for
every trial. {port} in the command becomes a free port; a command without it gets the port as the variable PORT.

Exit codes: 0 done, 1 wrong arguments, or the file exists already, 4 the file could not be written.")]
pub(crate) struct InitArgs {
    /// URLs, folders under targets/, or commands in quotes; with none you are asked
    #[arg(value_name = "SERVICE")]
    pub(crate) services: Vec<String>,
    /// What is asked of them [default: the path of the URL, else /]
    #[arg(long, value_name = "PATH")]
    pub(crate) path: Option<String>,
    /// How long the experiment may take, builds aside [default: 5m]
    #[arg(long, value_name = "TIME", value_parser = super::duration)]
    pub(crate) time: Option<Nanos>,
    /// Connections of a closed load [default: 64; of one service a ladder from 1 to 128]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub(crate) connections: Option<u64>,
    /// Requests per second of an open load with Poisson arrivals, instead of a closed one
    #[arg(short = 'R', long, value_name = "N", conflicts_with = "connections", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) rate: Option<u64>,
    /// Passes through all services; five are the fewest that give an interval
    #[arg(long, value_name = "N", default_value_t = 6, value_parser = clap::value_parser!(u64).range(5..=1000))]
    pub(crate) blocks: u64,
    /// Name of the experiment [default: made from the services]
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// The file to write [default: NAME.toml, in experiments/ where there is such a folder]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Overwrite the file
    #[arg(long)]
    pub(crate) force: bool,
}
