//! Servers whose truth is known: the reference target (also `prony reference`) and scripted peers for tests.
//!
//! Invariants: the reference target's service times are a function of its seed and the order of arrivals; every
//! server here binds to the address it is given, loopback by default, and ends when its handle is dropped.
//! Absent on purpose: anything that measures. A server only tells what it did.

pub mod certs;
mod channel;
pub mod fault;
pub mod http2;
pub mod manifest;
pub mod nats;
pub mod reference;
pub mod script;
pub mod tls_peer;
