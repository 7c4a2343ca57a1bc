//! The one seam between a load and what makes it: threads of this process, several processes, or agents.

use crate::GenerateError;
use crate::agents::Agents;
use crate::each::{Each, wall_clock_of};
use crate::orders::engine_job;
use crate::processes::{Fleet, peak_rss_bytes};
use engine::{Generator, Job, Part, Scripts, Step, Timeline, machine_ns};
use plan::LoadJob;
use schema::agents::FleetReport;
use schema::each::EachSummary;
use schema::experiment::LoadModel;
use schema::plan::DriverChoice;
use schema::trial::AgentInterval;
use std::time::Duration;
use units::MonotonicClock;

/// Between the decision to begin and the origin, where that must be known on the wall clock.
const START_AHEAD_NS: u64 = 2_000_000;

/// What makes a load, and the file of its rows.
pub(crate) struct Source {
    /// Before the rows: its workers have ended when they are dropped.
    maker: Maker,
    each: Option<Each>,
}

/// Threads, processes or agents. Each method is that of [`Generator`].
enum Maker {
    Here(Box<Generator>),
    Processes(Box<Fleet>),
    Agents(Box<Agents>),
}

impl Source {
    /// Sets the load up, by the agents or in as many processes as its plan says, and its file of rows; scripts run in one
    /// process, which was checked. `opening` as for [`Generator::start_watched`].
    pub(crate) fn start(
        job: &LoadJob,
        scripts: Option<&Scripts>,
        timeline: Timeline,
        opening: &mut dyn FnMut(u64),
    ) -> Result<Self, GenerateError> {
        if job.load.fleet.is_some() {
            return Ok(Self { maker: Maker::Agents(Box::new(Agents::start(job, opening)?)), each: None });
        }
        if job.load.processes > 1 {
            let each = Each::of_parts(job)?;
            return Ok(Self { maker: Maker::Processes(Box::new(Fleet::start(job, opening)?)), each });
        }
        let part = Part::whole(&job.load);
        let (each, rows) = Each::of_rings(job, part)?.unzip();
        let engine_job = Job { rows, ..engine_job(job, scripts, timeline, part)? };
        Ok(Self { maker: Maker::Here(Box::new(Generator::start_watched(&engine_job, opening)?)), each })
    }

    pub(crate) fn begin(&mut self, measure_from: Option<u64>) -> MonotonicClock {
        let (clock, origin_unix_ns) = match (&mut self.maker, &self.each) {
            (Maker::Here(generator), None) => return generator.begin(measure_from),
            (Maker::Here(generator), Some(_)) => {
                let origin_ns = machine_ns() + START_AHEAD_NS;
                (generator.begin_at(origin_ns, measure_from), wall_clock_of(origin_ns))
            }
            (Maker::Processes(fleet), _) => fleet.begin(measure_from),
            (Maker::Agents(agents), _) => agents.begin(measure_from),
        };
        if let Some(each) = &mut self.each {
            each.begin(origin_unix_ns);
        }
        clock
    }

    /// Ends the file of rows once all has ended.
    ///
    /// # Errors
    /// When it could not be written.
    pub(crate) fn finish_rows(&mut self) -> Result<Option<EachSummary>, GenerateError> {
        if let (Some(_), Maker::Processes(fleet)) = (&self.each, &mut self.maker)
            && let Some(cause) = fleet.rows_error()
        {
            self.each = None;
            return Err(GenerateError::Rows(cause));
        }
        self.each.take().map(Each::finish).transpose()
    }

    pub(crate) fn measure_soon(&mut self) -> u64 {
        match &mut self.maker {
            Maker::Here(generator) => generator.measure_soon(),
            Maker::Processes(fleet) => fleet.measure_soon(),
            Maker::Agents(agents) => agents.measure_soon(),
        }
    }

    pub(crate) fn stop(&mut self) {
        match &mut self.maker {
            Maker::Here(generator) => generator.stop(),
            Maker::Processes(fleet) => fleet.stop(),
            Maker::Agents(agents) => agents.stop(),
        }
    }

    /// The next interval, and what each agent did in it; the latter is empty without agents.
    pub(crate) fn next(
        &mut self,
        timeout: Duration,
    ) -> Result<(Step<'_>, Vec<AgentInterval>), GenerateError> {
        let (step, agents) = match &mut self.maker {
            Maker::Here(generator) => (generator.next(timeout)?, Vec::new()),
            Maker::Processes(fleet) => (fleet.next(timeout)?, Vec::new()),
            Maker::Agents(agents) => agents.next(timeout)?,
        };
        if let (Step::Interval(data), Some(each)) = (&step, &mut self.each) {
            each.count(&data.counts);
        }
        Ok((step, agents))
    }

    pub(crate) const fn driver(&self) -> DriverChoice {
        match &self.maker {
            Maker::Here(generator) => generator.driver(),
            Maker::Processes(fleet) => fleet.driver(),
            Maker::Agents(agents) => agents.driver(),
        }
    }

    pub(crate) const fn connections(&self) -> (u64, u64) {
        match &self.maker {
            Maker::Here(generator) => generator.connections(),
            Maker::Processes(fleet) => fleet.connections(),
            Maker::Agents(agents) => agents.connections(),
        }
    }

    /// What each agent did; absent where there is none.
    pub(crate) fn fleet(&self, model: LoadModel) -> Option<FleetReport> {
        match &self.maker {
            Maker::Agents(agents) => Some(agents.report(model)),
            Maker::Here(_) | Maker::Processes(_) => None,
        }
    }

    /// The agent by which somebody ended the load of all; absent without one.
    pub(crate) fn stopped_by(&self) -> Option<&str> {
        match &self.maker {
            Maker::Agents(agents) => agents.stopped_by(),
            Maker::Here(_) | Maker::Processes(_) => None,
        }
    }

    /// Highest resident memory in bytes, summed over processes.
    pub(crate) fn peak_rss_bytes(&self) -> u64 {
        match &self.maker {
            Maker::Here(_) => peak_rss_bytes().unwrap_or_default(),
            Maker::Processes(fleet) => fleet.peak_rss_bytes(),
            Maker::Agents(agents) => agents.peak_rss_bytes(),
        }
    }
}
