//! The load generators that are compared, one file each.
//!
//! A peer says its name, how it tells its version, its command line for a case and what its output means. To add one:
//! write its file and put it into [`PEERS`].
//! Invariant: a reader takes the counts of the tool itself, and gives an error where it does not find them: the output
//! of another version must never pass as a count of zero.

mod ab;
mod bombardier;
mod fortio;
mod gcannon;
mod ghz;
mod h2load;
mod hey;
mod k6;
mod limit;
mod oha;
mod pingpong;
mod prony;
mod rewrk;
mod vegeta;
mod wrk;
mod wrk2;
mod zrk;

use crate::case::{Case, Job, Work};

/// The peers in the order of the tables.
pub(crate) const PEERS: [&Peer; 18] = [
    &prony::PEER,
    &prony::BEFORE,
    &limit::PEER,
    &pingpong::PEER,
    &wrk::PEER,
    &wrk2::PEER,
    &zrk::PEER,
    &gcannon::PEER,
    &h2load::PEER,
    &ghz::PEER,
    &hey::PEER,
    &ab::PEER,
    &oha::PEER,
    &rewrk::PEER,
    &fortio::PEER,
    &bombardier::PEER,
    &vegeta::PEER,
    &k6::PEER,
];
/// The generator that is under test.
pub(crate) const SELF: &str = prony::PEER.name;
/// The same generator before a change.
pub(crate) const BEFORE: &str = prony::BEFORE.name;
/// The peer that everything is held against and that must be there.
pub(crate) const BASE: &Peer = &wrk::PEER;
/// Peers that a target speaks of: they run in all cases and with all repeats.
const CORE: [&str; 7] = [SELF, BEFORE, "limit", "pingpong", BASE.name, "wrk2", "gcannon"];

/// One load generator.
#[derive(Debug)]
pub(crate) struct Peer {
    /// Name of the program, also in tables and files.
    pub(crate) name: &'static str,
    /// How to learn its version.
    pub(crate) version: VersionFrom,
    /// How to get it.
    pub(crate) install: &'static str,
    /// Arguments for a job; none where it cannot do the job.
    pub(crate) arguments: fn(&Job<'_>) -> Option<Vec<String>>,
    /// What its standard output says, or that of `report`.
    pub(crate) read: fn(&str) -> Result<Done, ReadError>,
    /// Arguments with which the program, run again and not measured, turns its standard output into words.
    pub(crate) report: Option<&'static [&'static str]>,
    /// What it reads from its standard input, if anything.
    pub(crate) stdin: Option<fn(&Job<'_>) -> String>,
    /// The exit code with which it gives a result and doubts it, where it has one.
    pub(crate) doubt: Option<i32>,
    /// Time at its beginning that it does not count.
    pub(crate) uncounted_s: f64,
    /// Whether it speaks HTTP/2 with several streams a connection.
    pub(crate) http2: bool,
}

impl Peer {
    /// What most peers are.
    const PLAIN: Self = Self {
        name: "",
        version: VersionFrom::Option("--version"),
        install: "",
        arguments: |_| None,
        read: |_| Err(ReadError::Missing("")),
        report: None,
        stdin: None,
        doubt: None,
        uncounted_s: 0.0,
        http2: false,
    };

    /// Whether a target speaks of it in this case: over HTTP/2 of all that speak it.
    pub(crate) fn is_core(&self, case: &Case) -> bool {
        CORE.contains(&self.name) || (self.http2 && case.streams.is_some())
    }

    /// Whether it can send this; what costs no more and no less than one URL is left to those that are compared.
    pub(crate) fn does(&self, work: Work) -> bool {
        match work {
            Work::Url => self.name != ghz::PEER.name,
            Work::Script => [SELF, BEFORE, BASE.name].contains(&self.name),
            Work::Call | Work::CallMix => [SELF, BEFORE, ghz::PEER.name].contains(&self.name),
            Work::Mix => [SELF, BEFORE, BASE.name, limit::PEER.name].contains(&self.name),
        }
    }

    /// Whether it is built with this program and lies beside it.
    pub(crate) fn is_own(&self) -> bool {
        self.name == limit::PEER.name || self.name == pingpong::PEER.name
    }
}

/// How to learn a version: the first line that is printed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum VersionFrom {
    /// By this option or command of the program.
    Option(&'static str),
    /// From the package of this name (`dpkg-query`), for programs that do not tell.
    Package(&'static str),
    /// It is of this repository: the commit tells.
    Commit,
}

/// What a generator says it did.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Done {
    /// Answers received.
    pub(crate) requests: u64,
    /// Answers per second, as the tool counts its own time; where it does not say, the harness divides.
    pub(crate) requests_per_s: Option<f64>,
    /// Median time from sending to the answer.
    pub(crate) service_p50_ns: Option<u64>,
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

/// Parses JSON, tolerating words before the first brace.
fn json(output: &str) -> Result<serde_json::Value, ReadError> {
    let start = output.find('{').ok_or(ReadError::Missing("{"))?;
    serde_json::from_str(&output[start..]).map_err(|error| ReadError::Format(error.to_string()))
}

/// The count at `pointer` (RFC 6901).
fn count(value: &serde_json::Value, pointer: &'static str) -> Result<u64, ReadError> {
    value.pointer(pointer).and_then(serde_json::Value::as_u64).ok_or(ReadError::Missing(pointer))
}

/// The number at `pointer` (RFC 6901).
fn float(value: &serde_json::Value, pointer: &'static str) -> Result<f64, ReadError> {
    value.pointer(pointer).and_then(serde_json::Value::as_f64).ok_or(ReadError::Missing(pointer))
}

/// The counts of the object at `pointer` that are not zero, but for those that `is_fine` names.
fn counts_but(
    value: &serde_json::Value,
    pointer: &'static str,
    is_fine: impl Fn(&str) -> bool,
) -> Result<Vec<String>, ReadError> {
    let object = value.pointer(pointer).and_then(serde_json::Value::as_object);
    let object = object.ok_or(ReadError::Missing(pointer))?;
    let bad = object.iter().filter(|(key, count)| !is_fine(key) && count.as_u64() != Some(0));
    Ok(bad.map(|(key, count)| format!("{key} {count}")).collect())
}

/// The sum of the counts of the object at `pointer` that `is_wanted` names.
fn sum(
    value: &serde_json::Value,
    pointer: &'static str,
    is_wanted: impl Fn(&str) -> bool,
) -> Result<u64, ReadError> {
    let object = value.pointer(pointer).and_then(serde_json::Value::as_object);
    let object = object.ok_or(ReadError::Missing(pointer))?;
    Ok(object.iter().filter(|(key, _)| is_wanted(key)).filter_map(|(_, count)| count.as_u64()).sum())
}

/// Checks a reader against an output: requests, requests per second and faults; or the error's text.
#[cfg(test)]
fn check(peer: &Peer, output: &str, wanted: Result<(u64, f64, &[&str]), &str>) {
    match ((peer.read)(output), wanted) {
        (Ok(done), Ok((requests, rate, faults))) => {
            assert_eq!((done.requests, done.requests_per_s.unwrap_or(0.0)), (requests, rate));
            assert_eq!(done.faults, faults);
        }
        (Err(error), Err(wanted)) => assert!(error.to_string().contains(wanted), "{error}"),
        (got, wanted) => panic!("{got:?} is not {wanted:?}"),
    }
}

/// The command lines for 4 s of each kind of case, as text; `-` where the peer cannot do it.
#[cfg(test)]
fn command_lines(peer: &Peer) -> [String; 4] {
    ["closed-64", "handshake-64", "https-64", "rate-10k"].map(|name| {
        let case = crate::case::find(name)[0];
        let scheme = if case.tls { "https" } else { "http" };
        let url = format!("{scheme}://127.0.0.1:1{}", case.path);
        (peer.arguments)(&Job { url: &url, case, seconds: 4 }).map_or("-".to_owned(), |words| words.join(" "))
    })
}
