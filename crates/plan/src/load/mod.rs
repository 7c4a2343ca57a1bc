//! How a load is made: pacing, connections, ports, processes.

pub mod arrival;
pub(crate) mod connection;
pub(crate) mod intervals;
pub mod ports;
pub mod processes;
pub mod recorded;
