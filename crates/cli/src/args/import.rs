//! Arguments of `prony import`.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use import::Format;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  prony import targets.txt -o scenarios/checkout.toml
  prony import shop.har --session --origin https://shop.test -o scenarios/visit.toml
  prony import targets.txt --all-origins -o scenarios/hosts.toml
  prony import shop.jmx --group Buyers -o scenarios/buyers.toml
  prony import shop.postman_collection.json -o scenarios/collection.toml
  prony import openapi.json --origin http://127.0.0.1:8080 -o scenarios/api.toml
  prony import script.js -o scenarios/script.toml
  pbpaste | prony import - --format curl

Formats: vegeta and vegeta-json (targets of vegeta), urls (lists of siege and h2load), curl (command lines,
\"Copy as cURL (bash)\" of browsers), har (HTTP archives), jmeter (test plans, .jmx),
ghz (configurations, JSON and TOML), postman (collections v2.1), openapi (documents of OpenAPI 3 as JSON),
k6 (scripts). What is left out is reported on standard error.")]
pub(crate) struct ImportArgs {
    /// The file of another tool, or - for standard input
    pub(crate) file: PathBuf,
    /// Its format [default: by its name and its begin]
    #[arg(long, value_parser = format_parser())]
    pub(crate) format: Option<Format>,
    /// Name of the scenario [default: that of the -o FILE, else of the file, without its ending]
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// Keep the order, as the session of one virtual user, with the pauses of a HAR; else a mix by counts [JMeter, k6: always kept]
    #[arg(long)]
    pub(crate) session: bool,
    /// Keep requests to this origin only, such as http://127.0.0.1:8080 [default: that of the first]
    #[arg(long, value_name = "ORIGIN")]
    pub(crate) origin: Option<String>,
    /// Keep requests to all origins, each with its own, as prony load takes them [not with --session]
    #[arg(long, conflicts_with_all = ["origin", "session"])]
    pub(crate) all_origins: bool,
    /// JMeter: name of the thread group; k6: of the scenario [default: the only one]
    #[arg(long, value_name = "NAME")]
    pub(crate) group: Option<String>,
    /// Write it to a file instead of standard output, with bodies that are no text beside it
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Overwrite files that exist
    #[arg(long)]
    pub(crate) force: bool,
}

/// The import crate does not know clap: the names are its own.
fn format_parser() -> impl TypedValueParser<Value = Format> {
    PossibleValuesParser::new(Format::ALL.map(Format::key)).try_map(|key| key.parse::<Format>())
}
