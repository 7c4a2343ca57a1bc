//! Arguments, and the settings they resolve to.

use crate::case::{self, Case};
use crate::error::BenchError;
use crate::peer::PEERS;
use clap::Parser;
use serde::Serialize;
use std::path::PathBuf;

/// Measure the CPU time per request of prony's generator against wrk and other peers on PATH.
#[derive(Clone, Debug, Parser)]
#[command(name = "bench")]
pub(crate) struct Args {
    /// Repeats of every case [default: 5, with --quick 1]; below 5 there are no intervals.
    #[arg(long, value_name = "N")]
    repeats: Option<u32>,
    /// Repeats of the peers that no target speaks of [default: as --repeats, or so few that all ends in 22 minutes].
    #[arg(long, value_name = "N")]
    other_repeats: Option<u32>,
    /// Length of each run [default: 3, with --quick 1].
    #[arg(long, value_name = "S")]
    seconds: Option<u64>,
    /// Cases by name or kind, for example closed,rate-10k [default: all].
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    cases: Vec<String>,
    /// Peers by name, of those that are there; prony and wrk always take part [default: all].
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    peers: Vec<String>,
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
    /// An earlier prony, measured in turn with this one: what a change of the engine costs or saves.
    #[arg(long, value_name = "FILE")]
    pub(crate) before: Option<PathBuf>,
}

/// What is run; stored with the results.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Settings {
    pub(crate) quick: bool,
    pub(crate) repeats: u32,
    /// As asked for; the plan fills it in where it was not.
    pub(crate) other_repeats: Option<u32>,
    pub(crate) seconds: u64,
    pub(crate) cases: Vec<Case>,
    /// Names; empty for all.
    pub(crate) peers: Vec<String>,
    pub(crate) seed: u64,
}

impl Args {
    /// Checks the numbers and fills in what is not given.
    ///
    /// # Errors
    /// A number outside its range.
    pub(crate) fn settings(&self) -> Result<Settings, BenchError> {
        let repeats = self.repeats.unwrap_or(if self.quick { 1 } else { 5 });
        let seconds = self.seconds.unwrap_or(if self.quick { 1 } else { 3 });
        let usage = |text: &str| Err(BenchError::Usage(text.to_owned()));
        if !(1..=1_000).contains(&repeats) || self.other_repeats.is_some_and(|n| !(1..=1_000).contains(&n)) {
            return usage("--repeats and --other-repeats must be 1 to 1000");
        }
        if !(1..=100).contains(&seconds) {
            return usage("--seconds must be 1 to 100");
        }
        Ok(Settings {
            quick: self.quick,
            repeats,
            other_repeats: self.other_repeats,
            seconds,
            cases: self.cases()?,
            peers: self.peers()?,
            seed: self.seed,
        })
    }

    fn cases(&self) -> Result<Vec<Case>, BenchError> {
        if self.cases.is_empty() {
            return Ok(case::ALL.to_vec());
        }
        let mut wanted = Vec::new();
        for name in &self.cases {
            let found = case::find(name);
            if found.is_empty() {
                let known: Vec<&str> = case::ALL.iter().map(|case| case.name).collect();
                return Err(BenchError::Usage(format!("no case `{name}`; there are {}", known.join(", "))));
            }
            wanted.extend(found);
        }
        Ok(case::ALL.into_iter().filter(|case| wanted.contains(case)).collect())
    }

    fn peers(&self) -> Result<Vec<String>, BenchError> {
        for name in &self.peers {
            if PEERS.iter().all(|peer| peer.name != name) {
                let known: Vec<&str> = PEERS.iter().map(|peer| peer.name).collect();
                return Err(BenchError::Usage(format!("no peer `{name}`; known are {}", known.join(", "))));
            }
        }
        Ok(self.peers.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(arguments: &str, wanted: Result<(u32, u64, &[&str]), &str>) {
        let words = std::iter::once("bench").chain(arguments.split_whitespace());
        let got = Args::try_parse_from(words).unwrap().settings();
        match (got, wanted) {
            (Ok(got), Ok((repeats, seconds, cases))) => {
                assert_eq!((got.repeats, got.seconds), (repeats, seconds));
                let names: Vec<&str> = got.cases.iter().map(|case| case.name).collect();
                assert_eq!(names, cases);
            }
            (Err(error), Err(wanted)) => assert!(error.to_string().contains(wanted), "{error}"),
            (got, wanted) => panic!("{got:?} is not {wanted:?}"),
        }
    }

    #[test]
    fn settings() {
        let all: Vec<&str> = case::ALL.iter().map(|case| case.name).collect();
        check("", Ok((5, 3, &all)));
        check("--quick", Ok((1, 1, &all)));
        check("--quick --repeats 5 --seconds 2", Ok((5, 2, &all)));
        check("--cases rate-1k,closed-64,closed-64", Ok((5, 3, &["closed-64", "rate-1k"])));
        check("--cases rate --peers prony,hey", Ok((5, 3, &["rate-1k", "rate-10k", "rate-40k"])));
        check("--repeats 0", Err("--repeats"));
        check("--other-repeats 0", Err("--other-repeats"));
        check("--seconds 101", Err("--seconds"));
        check("--cases x", Err("no case `x`"));
        check("--peers wkr", Err("no peer `wkr`"));
    }
}
