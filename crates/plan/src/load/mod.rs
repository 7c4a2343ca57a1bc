//! How a load is made: pacing, connections, ports, processes.

pub(crate) mod arrival;
pub(crate) mod connection;
pub(crate) mod counted;
pub(crate) mod http;
pub mod intervals;
pub mod ports;
pub mod processes;
pub mod recorded;
pub(crate) mod settings;
pub(crate) mod trace;
mod users;
