//! The command line as the user types it. Nothing is resolved here; the defaults shown in help come from the runner.
//!
//! One file a command; `prony load` is put together from groups of options, each with its heading in the help and
//! each in a file of its own.

mod alarm;
mod arrival;
mod audit;
mod ci;
mod compare;
mod connection;
mod export;
mod flags;
mod fleet;
mod import;
mod init;
mod knee;
mod ledger;
mod load;
mod manifest;
mod mcp;
mod metrics;
mod model;
mod plan;
mod profile;
mod record;
mod reference;
mod replay;
mod request;
mod result;
mod run;
mod serve;
mod services;
mod shape;
mod small;
mod soak;
mod targets;
mod tls;
mod why;

pub(crate) use alarm::AlarmArgs;
pub(crate) use arrival::ArrivalArgs;
pub(crate) use audit::{AuditArgs, AuditFormat};
pub(crate) use ci::{CiArgs, CiFormat};
pub(crate) use compare::{CompareArgs, HistoryArgs};
pub(crate) use connection::{ConnectionArgs, HttpChoice};
pub(crate) use export::{ExportArgs, ExportFormat};
pub(crate) use flags::with_flag;
pub(crate) use fleet::{AgentArgs, FleetArgs, FleetCommand, ListFormat};
pub(crate) use import::ImportArgs;
pub(crate) use init::InitArgs;
pub(crate) use knee::KneeArgs;
pub(crate) use ledger::{LedgerArgs, LedgerCommand, LedgerFormat, LedgerRunArgs};
pub(crate) use load::LoadArgs;
pub(crate) use manifest::ManifestArgs;
pub(crate) use mcp::McpArgs;
pub(crate) use metrics::{Dashboard, MetricsArgs, MonitorArgs, VerifyMonitoringArgs};
pub(crate) use model::{ModelArgs, SendAs};
pub(crate) use plan::PlanArgs;
pub(crate) use profile::ProfileArgs;
pub(crate) use record::RecordArgs;
pub(crate) use reference::ReferenceArgs;
pub(crate) use replay::ReplayArgs;
pub(crate) use request::{HookArgs, RequestArgs};
pub(crate) use result::{ResultArgs, ResultFormat};
pub(crate) use run::RunArgs;
pub(crate) use serve::ServeArgs;
pub(crate) use services::{ServicesArgs, ServicesCommand};
pub(crate) use shape::{ShapeArgs, ShapeFormat};
pub(crate) use small::{
    CalibrateArgs, ChartArgs, CompletionsArgs, DoctorArgs, PageLang, ReportArgs, SchemaArgs, SelfcheckArgs,
};
pub(crate) use soak::SoakArgs;
pub(crate) use targets::{
    TargetsArgs, TargetsBuildArgs, TargetsCheckArgs, TargetsCommand, TargetsNewArgs, WhichTargets,
};
pub(crate) use tls::TlsArgs;
pub(crate) use why::{InterveneArgs, WhyArgs};

use clap::{Parser, Subcommand, ValueEnum};
use units::{Nanos, ParseQuantityError};

/// A dynamometer for network services: how much does it take, where does it bend, what holds it back, is A better
/// than B - with the evidence that the answer is right.
#[derive(Debug, Parser)]
#[command(name = "prony", version, propagate_version = true, after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
    /// End with the process that started this one
    #[arg(long, global = true, hide = true)]
    pub(crate) with_parent: bool,
}

const EXAMPLES: &str = "Examples:
  prony load http://127.0.0.1:8080/ -c 64 -d 10s        one load, one summary
  prony load 127.0.0.1:8080 -R 1000 -d 30s --latency    constant rate, every kind of time
  prony init http://127.0.0.1:8080                      write an experiment for a service of your own
  prony run experiments/go-frameworks.toml              compare services in a designed experiment
  prony report runs/2026-11-21T09-30-00Z-go-frameworks  make the report of a run again
  prony doctor                                          what this host does to measurements
  prony calibrate                                       what prony itself can do on this host

Exit codes: 0 done, 1 wrong arguments or file, 2 the run failed or its numbers must not be used, 3 a claim
does not hold or a threshold is crossed, 4 the result could not be written, 130 interrupted (results kept).";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Write an experiment file from three answers: what is loaded, what it is compared with, how long it may take
    Init(InitArgs),
    /// Run an experiment file: fresh targets, randomised blocks, a run folder with a report
    Run(RunArgs),
    /// Tell whether one commit of a repository is worse than another: both are built and run in turns on this host
    Ci(CiArgs),
    /// Find where a service bends: a ladder of loads, or a search for the highest rate under an objective
    Knee(Box<KneeArgs>),
    /// Tell how many blocks and minutes an experiment needs, and what it can show
    Plan(PlanArgs),
    /// Load one URL and print what it did
    Load(Box<LoadArgs>),
    /// Make a part of a load for a controller on this or another host
    Agent(AgentArgs),
    /// Agents that share a load: start some on this host, or look at those of a file
    Fleet(FleetArgs),
    /// Send the requests of access logs again, at their recorded times
    Replay(ReplayArgs),
    /// Pass requests on to a server and write them to a log that can be sent again, bodies included
    Record(RecordArgs),
    /// Draw the schedule of an open load before it is run
    Shape(Box<ShapeArgs>),
    /// Load one cell for hours and tell whether the target leaks
    Soak(SoakArgs),
    /// Take profiles of a cell's target under its load: flame graphs, tables, system calls; no trial, no statistics
    Profile(ProfileArgs),
    /// Make a scenario file of another tool's input: vegeta targets, URL lists, curl command lines, HAR, JMeter plans,
    /// Postman collections, OpenAPI documents, k6 scripts
    Import(ImportArgs),
    /// Read access logs: mix, rates, sessions and gaps; write a scenario and a load that reproduce them
    Model(ModelArgs),
    /// Hold a published table of results against the laws of queues: which rows cannot be, or should not be, believed
    Audit(AuditArgs),
    /// Hold what published articles claim against the runs made here: reproduced, another size, contradicted, impossible
    Ledger(LedgerArgs),
    /// Make the report of a run folder again
    Report(ReportArgs),
    /// Tell what held a run's targets back, with the counters that show it and what was ruled out
    Why(WhyArgs),
    /// Confirm a finding: change its suspect, predict the shift, run and compare
    Intervene(InterveneArgs),
    /// Compare two runs of one experiment, cell by cell
    Compare(CompareArgs),
    /// Show the runs of an experiment over time, and since when a number is another
    History(HistoryArgs),
    /// Open the live lab: runs in progress, the library of runs, comparisons and histories in a browser
    Serve(ServeArgs),
    /// Write a result as other tools do: HdrHistogram, k6, JMeter, CSV
    Export(ExportArgs),
    /// What runs came to so far, for Prometheus, Pushgateway, OpenTelemetry and Grafana
    Metrics(MetricsArgs),
    /// Answer clients of the Model Context Protocol over standard input and output: runs, reports, comparisons
    Mcp(McpArgs),
    /// Show a Prometheus what is known and ask it back: lost scrapes, late values, wrong rates and quantiles
    VerifyMonitoring(VerifyMonitoringArgs),
    /// List, check, build and make the targets that experiments can use
    Targets(TargetsArgs),
    /// List, check and start the services that targets need
    Services(ServicesArgs),
    /// Serve the reference target: an HTTP server with a known law of service time
    Reference(ReferenceArgs),
    /// Look at this host: what weakens measurements here, and the remedy
    Doctor(DoctorArgs),
    /// Measure the instrument itself on this host: its limits, which every report then quotes
    Calibrate(CalibrateArgs),
    /// Prove the statistics on this host: made-up runs whose truth is known, and how often the answers are right
    Selfcheck(SelfcheckArgs),
    /// Print shell completions
    Completions(CompletionsArgs),
    /// Print the JSON Schema of a file format
    Schema(SchemaArgs),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TextOrJson {
    /// For people
    Text,
    /// For machines; versioned, see `prony schema`
    Json,
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
    /// The same without script, as it is where prony was built without its front end
    HtmlPlain,
    /// The data of the page; versioned, see `prony schema page`
    Page,
}

/// A value parser for an enumeration of the schema crate, which does not know clap: the names are serde's.
fn parse_enum<T: serde::de::DeserializeOwned + Clone + Send + Sync + 'static>(
    names: &'static [&'static str],
) -> impl clap::builder::TypedValueParser<Value = T> {
    use clap::builder::{PossibleValuesParser, TypedValueParser};
    PossibleValuesParser::new(names).try_map(|name| serde_json::from_value(serde_json::Value::String(name)))
}

/// A time as on other tools' command lines: a bare number is seconds.
pub(crate) fn duration(text: &str) -> Result<Nanos, ParseQuantityError> {
    let is_bare = text.ends_with(|last: char| last.is_ascii_digit() || last == '.');
    if is_bare { format!("{text}s").parse() } else { text.parse() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;
    use units::{Count, PerSecond};

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
    }

    #[test]
    fn a_bare_number_is_a_time_in_seconds() {
        for (text, time) in [
            ("30", Nanos::from_secs(30)),
            ("0", Nanos::ZERO),
            ("0.5", Nanos::from_millis(500)),
            ("30s", Nanos::from_secs(30)),
            ("5ms", Nanos::from_millis(5)),
        ] {
            assert_eq!(duration(text), Ok(time), "{text}");
        }
        for wrong in ["", "x", "-3", "3x"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
        let words =
            "prony load h -d 30 --warmup 2 --timeout 5 --deadline 1 -R 5 --connect-timeout 3".split(' ');
        let Command::Load(load) = Args::try_parse_from(words).unwrap().command else { panic!("load") };
        assert_eq!((load.duration, load.warmup), (Some(Nanos::from_secs(30)), Nanos::from_secs(2)));
        assert_eq!((load.timeout, load.connect_timeout), (Nanos::from_secs(5), Nanos::from_secs(3)));
        assert_eq!(load.connection.deadline, Some(Nanos::SECOND));
    }
}
