//! Arguments, and the settings that all runs of one folder share.

use clap::Parser;
use schema::share::Share;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::error::Error;
use std::fmt::Write as _;
use std::path::PathBuf;
use units::Nanos;

/// The experiment of every run; its seed is filled in.
const EXPERIMENT: &str = include_str!("experiment.toml");

/// Count how often `prony ci` raises a false alarm, and how often it finds a service that is slower.
#[derive(Clone, Debug, Parser)]
#[command(name = "ci-figures")]
pub(crate) struct Args {
    /// Folder of the results; runs that it has already are not made again
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// Runs of each kind
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) runs: u32,
    /// Go on until so many of each kind have an answer that is not void; the others stay in the record
    #[arg(long)]
    pub(crate) answered: bool,
    /// The prony that is judged [default: the one beside this program]
    #[arg(long, value_name = "FILE")]
    prony: Option<PathBuf>,
    /// Seed of the order of kinds, of each run's experiment and of the bursts
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Share of the time in which a process takes a CPU, in bursts; 0 for none
    #[arg(long, value_name = "SHARE", default_value = "10%", value_parser = steal)]
    steal: f64,
    /// CPU time of an answer of base
    #[arg(long, value_name = "TIME", default_value = "300us")]
    service: Nanos,
    /// How much more a planted head takes
    #[arg(long, value_name = "SHARE", default_value = "10%")]
    slower: Share,
    /// CPU sets of prony, as `prony ci --pin` takes them
    #[arg(long, value_name = "SETS", default_value = "auto")]
    pin: String,
    /// Budget of each run
    #[arg(long, value_name = "TIME", default_value = "60s")]
    budget: Nanos,
    /// Run nothing while this file exists; a run that is under way then is made again later
    #[arg(long, value_name = "FILE")]
    pub(crate) pause_while: Option<PathBuf>,
    /// Print what the folder has, and run nothing
    #[arg(long)]
    pub(crate) summary: bool,
}

/// What the runs of one folder have in common; kept beside them.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub(crate) struct Settings {
    pub(crate) prony: PathBuf,
    /// Its SHA-256: a program that was replaced is another one.
    pub(crate) prony_sha256: String,
    pub(crate) seed: u64,
    pub(crate) steal: f64,
    pub(crate) service_ns: u64,
    pub(crate) planted_ns: u64,
    pub(crate) pin: String,
    pub(crate) budget_ns: u64,
    pub(crate) experiment: String,
}

impl Args {
    /// Finds the program and works out the service times.
    ///
    /// # Errors
    /// There is no such program.
    pub(crate) fn settings(&self) -> Result<Settings, Box<dyn Error>> {
        let beside = || Ok::<_, std::io::Error>(std::env::current_exe()?.with_file_name("prony"));
        let prony = self.prony.clone().map_or_else(beside, Ok)?;
        let prony = prony.canonicalize().map_err(|error| {
            format!("there is no program {}: {error}; give --prony FILE", prony.display())
        })?;
        let mut prony_sha256 = String::new();
        for byte in Sha256::digest(std::fs::read(&prony)?) {
            write!(prony_sha256, "{byte:02x}")?;
        }
        Ok(Settings {
            prony,
            prony_sha256,
            seed: self.seed,
            steal: self.steal,
            service_ns: self.service.0,
            planted_ns: (self.service.0 as f64 * (1.0 + self.slower.0)).round() as u64,
            pin: self.pin.clone(),
            budget_ns: self.budget.0,
            experiment: EXPERIMENT.to_owned(),
        })
    }
}

fn steal(text: &str) -> Result<f64, String> {
    let Share(share) = text.parse()?;
    if (0.0..=0.9).contains(&share) { Ok(share) } else { Err("it must be 0 to 90%".to_owned()) }
}
