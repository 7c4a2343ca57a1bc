//! Streams of bytes over NATS, for controllers and agents that can both reach a bus and not each other.
//!
//! ```text
//! controller ─TcpStream─ carry ═ NATS subjects ═ carry ─TcpStream─ an agent's TLS port on loopback
//! ```
//!
//! The streams carry TLS from end to end (`generate::agents`), so a bus that reads, changes or invents can only cut them.
//! NATS delivers at most once: pieces are numbered, and a stream that lost one, or whose bus was away, is cut in both
//! directions. A link that was cut is made again and says what did not arrive, as over TCP.
//! Invariants: at most [`STREAMS_MAX`] streams an agent, of at most 2 MiB under way in each direction; no thread of a
//! measurement is entered: each end has one of its own, with a runtime of its own.
//! Absent on purpose: what the bytes mean, who is believed, `JetStream`: agents keep their results until they were taken.

mod carry;
mod client;
mod dial;
mod error;
mod frame;
mod join;
mod subject;
mod thread;

pub use client::Server;
pub use dial::{Dialled, dial};
pub use error::BusError;
pub use join::{Joined, STREAMS_MAX, join};
