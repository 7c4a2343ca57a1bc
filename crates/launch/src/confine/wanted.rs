//! What is to be confined, as it is passed to the guard.

use super::netns::Subnet;
use schema::limits::LimitsPlan;
use schema::said::Said;
use serde::{Deserialize, Serialize};

/// What is to be confined, as it is passed to the guard.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Wanted {
    pub(crate) limits: LimitsPlan,
    /// CPUs that the target may use.
    pub(crate) cpus: Option<Vec<u32>>,
    /// Addresses of the isolated network; the limits' network is the host's where absent.
    pub(crate) subnet: Option<Subnet>,
    /// What was found impossible before.
    pub(crate) weaknesses: Vec<Said>,
}
