//! Turns a load into the engine's job: compiled requests, timeline, one part of the workers.

use crate::{GenerateError, tls};
use engine::{Job, Lookup, Part, Scripts, Timeline};
use plan::{LoadJob, recorded};

/// The engine's orders for one part of a load.
pub(crate) fn engine_job(
    job: &LoadJob,
    scripts: Option<&Scripts>,
    timeline: Timeline,
    part: Part,
) -> Result<Job, GenerateError> {
    Ok(Job {
        load: job.load.clone(),
        requests_max: job.arrivals_max.or(job.requests_max),
        recorded: recorded::of_load(&job.load)?,
        to: job.to,
        way: crate::way::of(job)?,
        traffic: job.traffic()?,
        scripts: scripts.cloned(),
        rows: None,
        timeline,
        tls: tls::of_job(job)?,
        lookup: job.name.clone().map(|name| {
            Lookup::new(move || name.url.resolve(&name.consent).map_err(|error| error.to_string()))
        }),
        cpus: job.cpus.clone(),
        spin: job.spin,
        part,
    })
}

/// The grid of a load. A budget without a duration has no end on the clock.
pub(crate) fn timeline(job: &LoadJob) -> Timeline {
    let phases = &job.phases;
    if phases.sample_ns == u64::MAX {
        return Timeline {
            interval_ns: 1_000_000_000,
            measured_intervals: u64::MAX,
            drain_ns: phases.drain_ns,
        };
    }
    Timeline::for_samples(phases.sample_ns, phases.samples, phases.drain_ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plan_and_the_engine_cut_a_sample_alike() {
        for sample_ns in [1, 999_999_999, 1_000_000_000, 1_000_000_001, 2_500_000_000, 86_400_000_000_007] {
            let timeline = Timeline::for_samples(sample_ns, 1, 0);
            assert_eq!(plan::intervals::interval_ns(sample_ns), timeline.interval_ns, "{sample_ns}");
        }
    }
}
