//! One load by several machines: a controller and agents, which drive generator processes of their own.
//!
//! ```text
//! prony load, prony run          prony agent                     prony generator …
//! control ═link═ lines ════════▶ relay ─▶ session ──▶ maker ═══▶ workers a..b
//!         ◀═ parcels ═══════════         outbox ◀──── intervals
//! ```
//!
//! Invariants: every agent makes a contiguous part of the load's workers, so arrivals, request numbers and rows of feeders
//! are split as exactly as over threads; each begins at one moment, translated to its own clock; no latency is ever
//! computed from two clocks; an interval counts once; intervals are merged as those of workers are and go the same way
//! from there. Where the controller is gone for ten seconds, an agent ends its load; where an agent is lost, the
//! controller ends the load of all.
//! Absent on purpose: how a bus carries a stream (`bus`), and placing agents on machines.

#[cfg(test)]
mod bus_tests;
mod control;
mod cpu;
mod door;
mod error;
mod facts;
#[cfg(test)]
mod hostile_tests;
mod link;
mod maker;
mod member;
mod muster;
mod on_bus;
mod outward;
mod overseer;
#[cfg(test)]
mod overseer_tests;
mod parcel;
#[cfg(test)]
mod parcel_tests;
mod portable;
mod protocol;
mod relay;
#[cfg(test)]
mod sample;
mod session;
mod tally;
#[cfg(test)]
mod tests;
mod tls;
mod trust;
#[cfg(test)]
mod trust_tests;
mod words;

pub use bus::Joined;
pub(crate) use control::Agents;
pub use door::{Listener, TlsDoor};
pub use error::AgentError;
pub use facts::facts;
pub use muster::inspect;
pub use on_bus::{JoinError, join};
pub use overseer::{Ending, Progress, end, list};
pub use relay::Agent;
pub use trust::{AgentTrust, TrustError};
