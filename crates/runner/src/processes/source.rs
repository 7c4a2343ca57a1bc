//! The one seam between a load and what makes it: threads of this process, or several processes.

use super::fleet::Fleet;
use super::peak_rss_bytes;
use crate::RunnerError;
use crate::measure::{LoadJob, engine_job};
use engine::{Generator, Part, Step, Timeline};
use schema::plan::DriverChoice;
use std::time::Duration;
use units::MonotonicClock;

/// What makes a load. Each method is that of [`Generator`].
pub(crate) enum Source {
    Here(Box<Generator>),
    Processes(Box<Fleet>),
}

impl Source {
    /// Sets the load up, in as many processes as its plan says.
    pub(crate) fn start(job: &LoadJob, timeline: Timeline) -> Result<Self, RunnerError> {
        if job.load.processes > 1 {
            return Ok(Self::Processes(Box::new(Fleet::start(job)?)));
        }
        let generator = Generator::start(&engine_job(job, timeline, Part::whole(&job.load))?)?;
        Ok(Self::Here(Box::new(generator)))
    }

    pub(crate) fn begin(&mut self, measure_from: Option<u64>) -> MonotonicClock {
        match self {
            Self::Here(generator) => generator.begin(measure_from),
            Self::Processes(fleet) => fleet.begin(measure_from),
        }
    }

    pub(crate) fn measure_soon(&mut self) -> u64 {
        match self {
            Self::Here(generator) => generator.measure_soon(),
            Self::Processes(fleet) => fleet.measure_soon(),
        }
    }

    pub(crate) fn stop(&mut self) {
        match self {
            Self::Here(generator) => generator.stop(),
            Self::Processes(fleet) => fleet.stop(),
        }
    }

    pub(crate) fn next(&mut self, timeout: Duration) -> Result<Step<'_>, RunnerError> {
        match self {
            Self::Here(generator) => Ok(generator.next(timeout)?),
            Self::Processes(fleet) => fleet.next(timeout),
        }
    }

    pub(crate) const fn driver(&self) -> DriverChoice {
        match self {
            Self::Here(generator) => generator.driver(),
            Self::Processes(fleet) => fleet.driver(),
        }
    }

    pub(crate) const fn connections(&self) -> (u64, u64) {
        match self {
            Self::Here(generator) => generator.connections(),
            Self::Processes(fleet) => fleet.connections(),
        }
    }

    /// Highest resident memory in bytes, summed over processes.
    pub(crate) fn peak_rss_bytes(&self) -> u64 {
        match self {
            Self::Here(_) => peak_rss_bytes().unwrap_or_default(),
            Self::Processes(fleet) => fleet.peak_rss_bytes(),
        }
    }
}
