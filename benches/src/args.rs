//! Arguments, and the settings they resolve to.

use crate::error::BenchError;
use clap::Parser;
use serde::Serialize;
use std::path::PathBuf;

/// Measure the CPU time per request of prony's generator against wrk and other peers on PATH.
#[derive(Clone, Debug, Parser)]
#[command(name = "bench")]
pub(crate) struct Args {
    /// Repeats of every case [default: 7, with --quick 3]; below 5 there are no intervals.
    #[arg(long, value_name = "N")]
    repeats: Option<u32>,
    /// Length of each run [default: 4, with --quick 1].
    #[arg(long, value_name = "S")]
    seconds: Option<u64>,
    /// Cases: numbers of connections.
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "16,64,512")]
    connections: Vec<u32>,
    /// Seed of the order of peers.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// A short trial of the harness; marked as not evidence.
    #[arg(long)]
    quick: bool,
    /// Folder for the results [default: benches/results/DATE-MACHINE].
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Build prony first, also where there is one.
    #[arg(long, conflicts_with = "prony")]
    pub(crate) build: bool,
    /// The prony to measure [default: the one beside this program].
    #[arg(long, value_name = "FILE")]
    pub(crate) prony: Option<PathBuf>,
}

/// What is run; stored with the results.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Settings {
    pub(crate) quick: bool,
    pub(crate) repeats: u32,
    pub(crate) seconds: u64,
    pub(crate) connections: Vec<u32>,
    pub(crate) seed: u64,
}

impl Args {
    /// Checks the numbers and fills in what is not given.
    ///
    /// # Errors
    /// A number outside its range.
    pub(crate) fn settings(&self) -> Result<Settings, BenchError> {
        let repeats = self.repeats.unwrap_or(if self.quick { 3 } else { 7 });
        let seconds = self.seconds.unwrap_or(if self.quick { 1 } else { 4 });
        let usage = |text: &str| Err(BenchError::Usage(text.to_owned()));
        if !(1..=1_000).contains(&repeats) {
            return usage("--repeats must be 1 to 1000");
        }
        if !(1..=3_600).contains(&seconds) {
            return usage("--seconds must be 1 to 3600");
        }
        let mut connections = self.connections.clone();
        connections.sort_unstable();
        connections.dedup();
        if connections.is_empty() || connections.iter().any(|number| !(1..=50_000).contains(number)) {
            return usage("--connections must be numbers from 1 to 50000, for example 16,64,512");
        }
        Ok(Settings { quick: self.quick, repeats, seconds, connections, seed: self.seed })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(arguments: &str, wanted: Result<(u32, u64, &[u32]), &str>) {
        let words = std::iter::once("bench").chain(arguments.split_whitespace());
        let got = Args::try_parse_from(words).unwrap().settings();
        match (got, wanted) {
            (Ok(got), Ok((repeats, seconds, connections))) => {
                assert_eq!((got.repeats, got.seconds), (repeats, seconds));
                assert_eq!(got.connections, connections);
            }
            (Err(error), Err(wanted)) => assert!(error.to_string().contains(wanted), "{error}"),
            (got, wanted) => panic!("{got:?} is not {wanted:?}"),
        }
    }

    #[test]
    fn settings() {
        check("", Ok((7, 4, &[16, 64, 512])));
        check("--quick", Ok((3, 1, &[16, 64, 512])));
        check("--quick --repeats 5 --seconds 2", Ok((5, 2, &[16, 64, 512])));
        check("--connections 64,1,64", Ok((7, 4, &[1, 64])));
        check("--repeats 0", Err("--repeats"));
        check("--seconds 4000", Err("--seconds"));
        check("--connections 0", Err("--connections"));
    }
}
