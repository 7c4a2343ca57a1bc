//! What came of setting up the connections of a load, added up over processes and agents.

use crate::GenerateError;
use engine::SetupFailures;
use schema::plan::DriverChoice;
use serde::{Deserialize, Serialize};

/// Of a part of a load, or of several.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct SetUp {
    /// Connections that were to be opened.
    pub(crate) asked: u64,
    /// Those that are.
    pub(crate) established: u64,
    /// Attempts that failed before the load began.
    pub(crate) failures: SetupFailures,
    /// What drives them.
    pub(crate) driver: DriverChoice,
}

impl SetUp {
    /// Of nothing yet.
    pub(crate) fn new(driver: DriverChoice) -> Self {
        Self { asked: 0, established: 0, failures: SetupFailures::default(), driver }
    }

    /// Adds a part; the driver is that of the last.
    pub(crate) fn add(&mut self, part: &Self) {
        self.asked = self.asked.saturating_add(part.asked);
        self.established = self.established.saturating_add(part.established);
        self.failures.add(&part.failures);
        self.driver = part.driver;
    }

    /// Refuses a load of which not one connection could be opened.
    pub(crate) fn check(&self) -> Result<(), GenerateError> {
        if self.established == 0 { Err(self.failures.nothing_connected(self.asked).into()) } else { Ok(()) }
    }
}
