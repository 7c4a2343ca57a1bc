//! The load generators that are compared, one file each.
//!
//! A peer says its name, how it tells its version, its command line for a case and what its output means. To add one:
//! write its file and put it into [`PEERS`].
//! Invariant: a reader takes the counts of the tool itself, and gives an error where it does not find them: the output
//! of another version must never pass as a count of zero.

mod h2load;
mod hey;
mod prony;
mod wrk;

use crate::case::Job;

/// The peers in the order of the tables.
pub(crate) const PEERS: [&Peer; 4] = [&prony::PEER, &wrk::PEER, &h2load::PEER, &hey::PEER];
/// The generator that is under test.
pub(crate) const SELF: &str = prony::PEER.name;
/// The peer that everything is held against and that must be there.
pub(crate) const BASE: &Peer = &wrk::PEER;

/// One load generator.
#[derive(Debug)]
pub(crate) struct Peer {
    /// Name of the program, also in tables and files.
    pub(crate) name: &'static str,
    /// How to learn its version.
    pub(crate) version: VersionFrom,
    /// How to get it.
    pub(crate) install: &'static str,
    /// Arguments for a job.
    pub(crate) arguments: fn(&Job<'_>) -> Vec<String>,
    /// What its standard output says.
    pub(crate) read: fn(&str) -> Result<Done, ReadError>,
}

/// How to learn a version: the first line that is printed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum VersionFrom {
    /// By this option of the program.
    Option(&'static str),
    /// From the package of this name (`dpkg-query`), for programs that do not tell.
    Package(&'static str),
}

/// What a generator says it did.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Done {
    /// Answers received.
    pub(crate) requests: u64,
    /// Answers per second, as the tool counts its own time.
    pub(crate) requests_per_s: f64,
    /// Everything that makes the run void: errors and answers other than 2xx, in words.
    pub(crate) faults: Vec<String>,
}

/// Why an output has no meaning.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ReadError {
    /// A line that this version should print.
    #[error(
        "its output has no `{0}`: compare its version with the one that benches/src/peer was written for"
    )]
    Missing(&'static str),
    /// Not the format.
    #[error("its output is not the format expected: {0}")]
    Format(String),
}

/// The text between `before` and the next `after` on the same line.
fn between<'a>(text: &'a str, before: &'static str, after: &str) -> Result<&'a str, ReadError> {
    let rest = text.lines().find_map(|line| line.split_once(before)).map(|(_, rest)| rest);
    let rest = rest.ok_or(ReadError::Missing(before))?;
    Ok(rest.split_once(after).map_or(rest, |(found, _)| found).trim())
}

/// Parses a number that the tool prints as `what`.
fn number<T: std::str::FromStr>(what: &'static str, text: &str) -> Result<T, ReadError> {
    text.parse().map_err(|_| ReadError::Format(format!("`{what}` is no number: {text:.40}")))
}

/// Checks a reader against an output: requests, requests per second and faults; or the error's text.
#[cfg(test)]
fn check(peer: &Peer, output: &str, wanted: Result<(u64, f64, &[&str]), &str>) {
    match ((peer.read)(output), wanted) {
        (Ok(done), Ok((requests, rate, faults))) => {
            assert_eq!((done.requests, done.requests_per_s), (requests, rate));
            assert_eq!(done.faults, faults);
        }
        (Err(error), Err(wanted)) => assert!(error.to_string().contains(wanted), "{error}"),
        (got, wanted) => panic!("{got:?} is not {wanted:?}"),
    }
}

/// The command line for 64 connections and 4 s, as one text.
#[cfg(test)]
fn command_line(peer: &Peer) -> String {
    let case = crate::case::Case { connections: 64 };
    (peer.arguments)(&Job { url: "http://127.0.0.1:1/ping", case, seconds: 4 }).join(" ")
}
