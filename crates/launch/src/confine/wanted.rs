//! What is to be confined, as it is passed to the guard.

use super::subnet::Subnets;
use schema::limits::LimitsPlan;
use schema::said::Said;
use serde::{Deserialize, Serialize};
use std::net::Ipv4Addr;
use std::path::PathBuf;

/// What is to be confined, as it is passed to the guard.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Wanted {
    pub(crate) limits: LimitsPlan,
    /// CPUs that the target may use.
    pub(crate) cpus: Option<Vec<u32>>,
    /// Addresses of the isolated network; the limits' network is the host's where absent.
    pub(crate) subnets: Option<Subnets>,
    /// Services in networks of their own that an isolated target must reach.
    pub(crate) services: Vec<ServicePlace>,
    /// What was found impossible before.
    pub(crate) weaknesses: Vec<Said>,
}

/// A service in a network of its own.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct ServicePlace {
    /// Where its namespace is entered.
    pub namespace: PathBuf,
    /// Where it listens.
    pub address: Ipv4Addr,
}
