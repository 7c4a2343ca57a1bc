//! What makes an agent's part of a load: generator processes, or in tests a recorded load.

use crate::GenerateError;
use crate::processes::Fleet;
use crate::set_up::SetUp;
use engine::{Part, Step};
use plan::LoadJob;
use plan::processes::connections_per_process;
use std::sync::Arc;
use std::time::Duration;

/// A part of a load that is set up. Dropping it ends it at once.
pub(super) trait Maker {
    /// As [`engine::Generator::begin_at`]; the moment of the wall clock is for rows.
    fn begin_at(&mut self, origin_ns: u64, origin_unix_ns: u64, measure_from: Option<u64>);
    /// As [`engine::Generator::measure_from`].
    fn measure_from(&mut self, interval: u64);
    /// As [`engine::Generator::stop`].
    fn stop(&mut self);
    /// As [`engine::Generator::next`].
    fn next(&mut self, timeout: Duration) -> Result<Step<'_>, GenerateError>;
    /// What came of setting up its connections.
    fn set_up(&self) -> &SetUp;
    /// Highest resident memory in bytes.
    fn peak_rss_bytes(&self) -> u64;
}

impl Maker for Fleet {
    fn begin_at(&mut self, origin_ns: u64, origin_unix_ns: u64, measure_from: Option<u64>) {
        Self::begin_at(self, origin_ns, origin_unix_ns, measure_from);
    }
    fn measure_from(&mut self, interval: u64) {
        Self::measure_from(self, interval);
    }
    fn stop(&mut self) {
        Self::stop(self);
    }
    fn next(&mut self, timeout: Duration) -> Result<Step<'_>, GenerateError> {
        Self::next(self, timeout)
    }
    fn set_up(&self) -> &SetUp {
        Self::set_up(self)
    }
    fn peak_rss_bytes(&self) -> u64 {
        Self::peak_rss_bytes(self)
    }
}

/// Sets a part of a load up.
pub(super) type Make =
    Arc<dyn Fn(&LoadJob, Part, &mut dyn FnMut(u64)) -> Result<Box<dyn Maker>, GenerateError> + Send + Sync>;

/// Generator processes, as many as this host's limit of descriptors needs for a part.
pub(super) fn by_processes() -> Make {
    Arc::new(|job, part, opening| Ok(Box::new(processes(job, part, opening)?)))
}

fn processes(job: &LoadJob, part: Part, opening: &mut dyn FnMut(u64)) -> Result<Fleet, GenerateError> {
    let each = u64::from(job.load.connections.div_ceil(job.load.workers.max(1))) * job.origins() as u64;
    let needed = (each * u64::from(part.workers)).div_ceil(connections_per_process().into());
    Fleet::start_part(job, part, u32::try_from(needed).unwrap_or(u32::MAX).max(1), opening)
}
