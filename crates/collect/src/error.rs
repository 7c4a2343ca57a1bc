//! What can go wrong when a counter is read. Each message says the cause and what to do.
//!
//! Invariant: text of an input that appears in a message is cut short, because inputs are hostile.

use probe::ProbeError;
use std::net::SocketAddr;
use std::path::PathBuf;

/// A text that is not in the format its source should have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    /// Bytes that are no text.
    #[error("it is not UTF-8 text")]
    NotText,
    /// A line or field that must be there is not.
    #[error("{0} is missing")]
    Missing(&'static str),
    /// A field that must be a number in range is not.
    #[error("{field} is not a number in range: {text:?}")]
    NotNumber {
        /// Which field.
        field: &'static str,
        /// What was there, cut short.
        text: String,
    },
    /// A section with other numbers of names and values.
    #[error("section {section} has {names} names but {values} values")]
    Uneven {
        /// Which section.
        section: String,
        /// Number of names.
        names: usize,
        /// Number of values.
        values: usize,
    },
    /// A line of Prometheus' text format or of OpenMetrics.
    #[error("line {line} is neither Prometheus' text format nor OpenMetrics: {cause}")]
    Line {
        /// From 1.
        line: usize,
        /// What is wrong with it.
        cause: &'static str,
    },
    /// A series that cannot be taken for what it should be.
    #[error("`{name}`: {cause}")]
    Series {
        /// Name of the sample.
        name: String,
        /// What is wrong with it.
        cause: &'static str,
    },
    /// JSON of another shape than agreed.
    #[error("it is not the agreed JSON: {0}")]
    Json(String),
    /// A message of netlink that is none, or one that refuses.
    #[error("it is no answer of sock_diag(7): {0}")]
    Netlink(String),
    /// A histogram whose bounds and counts do not fit.
    #[error("histogram {0} needs one bound more than counts, and rising bounds")]
    Histogram(&'static str),
}

/// Why a source gave no line.
#[derive(Debug, thiserror::Error)]
pub enum CollectError {
    /// A file that cannot be read.
    #[error("cannot read {path}: {source}; check that it exists on this kernel and may be read by this user", path = path.display())]
    Read {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file beyond the limit.
    #[error("{path} has more than {limit_bytes} bytes, which no kernel writes there; check what is mounted", path = path.display())]
    TooLong {
        /// Which file.
        path: PathBuf,
        /// The limit.
        limit_bytes: u64,
    },
    /// Something that does not parse.
    #[error(
        "cannot understand {what}: {source}; it comes from another version than prony knows, please report it"
    )]
    Parse {
        /// File or address.
        what: String,
        /// Why.
        source: ParseError,
    },
    /// An endpoint that answered in another format than was expected of it.
    #[error("{what} answered {found}, not {expected}; {remedy}")]
    Format {
        /// Its address.
        what: String,
        /// What came, in words.
        found: &'static str,
        /// What was wanted, in words.
        expected: &'static str,
        /// What to name instead.
        remedy: &'static str,
    },
    /// The kernel's list of sockets could not be had.
    #[error(
        "cannot ask the kernel for its TCP sockets: {cause}; check that this user may use netlink here, and is root where the target's network is isolated"
    )]
    Sockets {
        /// Why.
        cause: String,
    },
    /// No live process is left in the tree.
    #[error("process {pid} and its children are gone; look at the target's log for why it ended")]
    Gone {
        /// Root of the tree.
        pid: u32,
    },
    /// More processes than are followed.
    #[error("the tree of process {pid} has more than {limit} processes; start the target with fewer")]
    TooManyProcesses {
        /// Root of the tree.
        pid: u32,
        /// The limit.
        limit: usize,
    },
    /// The target's own endpoint did not answer well.
    #[error("GET http://{address}{path}: {source}")]
    Get {
        /// Where.
        address: SocketAddr,
        /// Which path.
        path: String,
        /// Why.
        source: ProbeError,
    },
    /// A service did not tell its counters.
    #[error("service {service} at {addr}: {cause}; check that it runs, and the account in its `[metrics]`")]
    Service {
        /// Its name.
        service: String,
        /// Where.
        addr: SocketAddr,
        /// What its client says, without credentials.
        cause: String,
    },
    /// Nothing of the kind is there to be read.
    #[error("{what} is not there: {remedy}")]
    Absent {
        /// What was looked for.
        what: &'static str,
        /// Why it may be missing, and what to do.
        remedy: &'static str,
    },
    /// Not asked, because it failed too often in a row.
    #[error(
        "not asked at this tick after {failures} failures in a row; check that the target serves its metrics"
    )]
    BackedOff {
        /// Failures so far.
        failures: u32,
    },
}
