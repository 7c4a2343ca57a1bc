//! The fault server: an HTTP server that is right except where it is set to be wrong, in one named way.
//!
//! Invariants: which requests meet the fault depends on their number and nothing else, so counts are exact whatever
//! the timing; all others get the right answer; each fault is named, described and given its outcome in one
//! catalogue, from which the list of the command line and the guide are made.
//! Absent on purpose: faults by chance (the reference target has those), and speed: one thread a connection.

mod catalogue;
mod guide;
mod http2;
mod request;
mod right;
mod scripts;
mod server;
mod spec;
mod tls;

pub use catalogue::{After, Ask, Entry, Fault, Unit};
pub use guide::guide_table;
pub use scripts::RIGHT_BODY;
pub use server::{CONNECTIONS_MAX, Counts, FaultServer, StartError};
pub use spec::{Pattern, Spec, SpecError};
pub use tls::TlsServer;
