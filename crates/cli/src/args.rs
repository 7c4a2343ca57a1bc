//! The command line as the user types it. Nothing is resolved here; the defaults shown in help come from the runner.

mod arrival;

pub(crate) use arrival::ArrivalArgs;

use clap::{Parser, Subcommand, ValueEnum};
use schema::experiment::ServiceLaw;
use std::path::PathBuf;
use units::{Count, Nanos, PerSecond};

/// A dynamometer for network services: how much does it take, where does it bend, what holds it back, is A better
/// than B - with the evidence that the answer is right.
#[derive(Debug, Parser)]
#[command(name = "prony", version, propagate_version = true, after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXAMPLES: &str = "Examples:
  prony load http://127.0.0.1:8080/ -c 64 -d 10s        one load, one summary
  prony load 127.0.0.1:8080 -R 1000 -d 30s --latency    constant rate, every kind of time
  prony run experiments/go-frameworks.toml              compare services in a designed experiment
  prony report runs/2026-11-21T09-30-00Z-go-frameworks  make the report of a run again
  prony doctor                                          what this host does to measurements

Exit codes: 0 done, 1 wrong arguments or file, 2 the run failed, 3 a claim does not hold,
130 interrupted (results kept).";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run an experiment file: fresh targets, randomised blocks, a run folder with a report
    Run(RunArgs),
    /// Load one URL and print what it did
    Load(Box<LoadArgs>),
    /// Draw the schedule of an open load before it is run
    Shape(Box<ShapeArgs>),
    /// Make the report of a run folder again
    Report(ReportArgs),
    /// List the targets that experiments can use
    Targets(TargetsArgs),
    /// Serve the reference target: an HTTP server with a known law of service time
    Reference(ReferenceArgs),
    /// Look at this host: what weakens measurements here, and the remedy
    Doctor(DoctorArgs),
    /// Print shell completions
    Completions(CompletionsArgs),
    /// Print the JSON Schema of a file format
    Schema(SchemaArgs),
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  prony run experiments/demo.toml --dry-run
  prony run experiments/go-frameworks.toml
  prony run --resume runs/2026-11-21T09-30-00Z-go-frameworks")]
pub(crate) struct RunArgs {
    /// The experiment file
    #[arg(required_unless_present = "resume")]
    pub(crate) file: Option<PathBuf>,
    /// Print the plan and its time, run nothing
    #[arg(long, conflicts_with = "resume")]
    pub(crate) dry_run: bool,
    /// Run the missing and failed trials of this run folder
    #[arg(long, value_name = "RUN", conflicts_with = "file")]
    pub(crate) resume: Option<PathBuf>,
    /// Where run folders are made
    #[arg(long, value_name = "DIR", default_value = "runs", conflicts_with = "resume")]
    pub(crate) runs: PathBuf,
    /// CPU sets: auto, off, or GENERATOR:TARGET such as 0:1-3; overrides the file
    #[arg(long, value_name = "SETS", conflicts_with = "resume")]
    pub(crate) pin: Option<String>,
    /// Allow load on this public host; loopback and private addresses need no consent
    #[arg(long, value_name = "HOST")]
    pub(crate) consent: Vec<String>,
    /// What --dry-run prints
    #[arg(long, value_enum, default_value_t = TextOrJson::Text)]
    pub(crate) format: TextOrJson,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  prony load http://127.0.0.1:8080/ -c 64 -d 10s
  prony load http://127.0.0.1:8080/api -R 10k --arrivals poisson -c 200 -d 1m
  prony load http://127.0.0.1:8080/items -m POST -H 'Content-Type: application/json' -b '{\"a\":1}'
  prony load http://127.0.0.1:8080/ -n 100k --format json -o result.json")]
pub(crate) struct LoadArgs {
    /// Where to send requests, for example http://127.0.0.1:8080/path
    pub(crate) url: String,
    /// Connections in total [default: 64, or fewer for a smaller -n]
    #[arg(short, long, value_name = "N")]
    pub(crate) connections: Option<Count>,
    /// Generator threads [default: 1 for each --pin CPU, else for every four CPUs]
    #[arg(short, long, value_name = "N")]
    pub(crate) threads: Option<u32>,
    /// How long to measure [default: 10s, or until -n is reached]
    #[arg(short, long, value_name = "TIME")]
    pub(crate) duration: Option<Nanos>,
    /// Requests per second in total, whatever the answers do (open loop)
    #[arg(short = 'R', long, value_name = "RATE")]
    pub(crate) rate: Option<PerSecond>,
    #[command(flatten)]
    pub(crate) pacing: ArrivalArgs,
    /// End after this many requests (closed loop)
    #[arg(short = 'n', long, value_name = "N", conflicts_with = "rate")]
    pub(crate) requests: Option<Count>,
    /// Load this long before measuring; kept out of all numbers
    #[arg(long, value_name = "TIME", default_value = "0s")]
    pub(crate) warmup: Nanos,
    /// Method [default: GET, or POST with a body]
    #[arg(short, long, value_name = "METHOD")]
    pub(crate) method: Option<String>,
    /// Header field, repeatable, for example -H 'Accept: text/html'
    #[arg(short = 'H', long = "header", value_name = "NAME: VALUE")]
    pub(crate) headers: Vec<String>,
    /// Body: a text, @FILE, or @- for standard input
    #[arg(short, long, value_name = "BODY", allow_hyphen_values = true)]
    pub(crate) body: Option<String>,
    /// Status codes that are right, repeatable [default: 200 to 399]
    #[arg(long, value_name = "CODE", value_parser = clap::value_parser!(u16).range(100..=999))]
    pub(crate) expect_status: Vec<u16>,
    /// The exact body that every answer must have
    #[arg(long, value_name = "TEXT")]
    pub(crate) expect_body: Option<String>,
    /// Longest time from written to done
    #[arg(long, value_name = "TIME", default_value_t = runner::resolve::defaults::TIMEOUT)]
    pub(crate) timeout: Nanos,
    /// Longest time for a connection attempt
    #[arg(long, value_name = "TIME", default_value_t = runner::resolve::defaults::CONNECT_TIMEOUT)]
    pub(crate) connect_timeout: Nanos,
    /// Longest time from intended to done, waiting included [default: none]
    #[arg(long, value_name = "TIME")]
    pub(crate) total_timeout: Option<Nanos>,
    /// Show every kind of time with all percentiles
    #[arg(long)]
    pub(crate) latency: bool,
    /// Seed of random arrivals
    #[arg(long, default_value_t = runner::resolve::defaults::SEED)]
    pub(crate) seed: u64,
    /// CPUs for the generator's threads, for example 0 or 0-3 [default: not pinned]
    #[arg(long, value_name = "CPUS")]
    pub(crate) pin: Option<String>,
    /// Allow load on this public host; loopback and private addresses need no consent
    #[arg(long, value_name = "HOST")]
    pub(crate) consent: Vec<String>,
    /// What to print
    #[arg(long, value_enum, default_value_t = TextOrJson::Text)]
    pub(crate) format: TextOrJson,
    /// Write it to a file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Do not draw progress
    #[arg(long)]
    pub(crate) no_tui: bool,
}

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
    #[arg(short, long, value_name = "TIME", default_value = "60s")]
    pub(crate) duration: Nanos,
    /// Warm-up before it
    #[arg(long, value_name = "TIME", default_value = "0s")]
    pub(crate) warmup: Nanos,
    /// Seed of random arrivals
    #[arg(long, default_value_t = runner::resolve::defaults::SEED)]
    pub(crate) seed: u64,
    /// What to print
    #[arg(long, value_enum, default_value_t = ShapeFormat::Text)]
    pub(crate) format: ShapeFormat,
    /// Write it to a file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  prony report runs/2026-11-21T09-30-00Z-demo
  prony report runs/2026-11-21T09-30-00Z-demo --format markdown -o result.md

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
}

#[derive(Debug, clap::Args)]
pub(crate) struct TargetsArgs {
    /// What to print
    #[arg(long, value_enum, default_value_t = TextOrJson::Text)]
    pub(crate) format: TextOrJson,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  prony reference --listen 127.0.0.1:8080
  prony reference --listen 127.0.0.1:8080 --law exponential --mean 5ms --servers 2
  prony reference --listen 127.0.0.1:8080 --mean 1ms --error-rate 0.01 --freeze 10s+1s

Routes: /health answers at once, /stats tells the counts, every other path goes through the queue.")]
pub(crate) struct ReferenceArgs {
    /// Address and port; port 0 takes a free one
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:0")]
    pub(crate) listen: std::net::SocketAddr,
    /// Law of the service time
    #[arg(long, value_name = "LAW", default_value = "constant", value_parser = parse_enum::<ServiceLaw>(&["constant", "exponential", "lognormal"]))]
    pub(crate) law: ServiceLaw,
    /// Mean service time; 0s answers at once
    #[arg(long, value_name = "TIME", default_value = "0s")]
    pub(crate) mean: Nanos,
    /// Requests served at the same time; the others wait in one queue
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) servers: u32,
    /// Seed of service times and faults
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Share of requests answered with status 500, from 0 to 1
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    pub(crate) error_rate: f64,
    /// Share of requests whose connection is reset, from 0 to 1
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    pub(crate) reset_rate: f64,
    /// AT+LENGTH: stand still for LENGTH, AT after the first request
    #[arg(long, value_name = "AT+LENGTH")]
    pub(crate) freeze: Option<String>,
    /// Allow an address that other machines can reach
    #[arg(long)]
    pub(crate) public: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct DoctorArgs {
    /// What to print
    #[arg(long, value_enum, default_value_t = TextOrJson::Text)]
    pub(crate) format: TextOrJson,
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

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TextOrJson {
    /// For people
    Text,
    /// For machines; versioned, see `prony schema`
    Json,
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

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// For the terminal
    Text,
    /// For machines; versioned, see `prony schema analysis`
    Json,
    /// For spreadsheets, one row a trial
    Csv,
    /// For pull requests
    Markdown,
    /// One page that works offline
    Html,
}

/// A value parser for an enumeration of the schema crate, which does not know clap: the names are serde's.
fn parse_enum<T: serde::de::DeserializeOwned + Clone + Send + Sync + 'static>(
    names: &'static [&'static str],
) -> impl clap::builder::TypedValueParser<Value = T> {
    use clap::builder::{PossibleValuesParser, TypedValueParser};
    PossibleValuesParser::new(names).try_map(|name| serde_json::from_value(serde_json::Value::String(name)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_well_formed() {
        Args::command().debug_assert();
    }

    #[test]
    fn quantities_are_read_as_users_of_other_tools_type_them() {
        let parsed =
            Args::try_parse_from(["prony", "load", "h", "-c", "1k", "-t", "2", "-d", "2m", "-R", "10k"])
                .unwrap();
        let Command::Load(load) = parsed.command else { panic!("load") };
        assert_eq!((load.connections, load.duration), (Some(Count(1000)), Some(Nanos::from_secs(120))));
        assert_eq!(load.rate, Some(PerSecond(10_000.0)));
        let error = Args::try_parse_from(["prony", "load", "h", "-d", "30"]).unwrap_err().to_string();
        assert!(error.contains("unit is missing") && error.contains("30s"), "{error}");
    }
}
