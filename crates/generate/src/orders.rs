//! Turns a load into the engine's job: compiled requests, timeline, one part of the workers.

use crate::{GenerateError, tls};
use engine::{Job, Lookup, Part, Scripts, Timeline};
use plan::LoadJob;
use plan::{login, origins, recorded};
use request::Traffic;
use units::Seed;

/// The engine's orders for one part of a load.
pub(crate) fn engine_job(
    job: &LoadJob,
    scripts: Option<&Scripts>,
    timeline: Timeline,
    part: Part,
) -> Result<Job, GenerateError> {
    let mut load = job.load.clone();
    plan::ports::spread(&mut load, job.to);
    Ok(Job {
        load,
        requests_max: job.arrivals_max.or(job.requests_max),
        recorded: recorded::of_load(&job.load)?,
        to: job.to,
        way: crate::way::of(job)?,
        traffic: traffic(job)?,
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

/// Compiles the requests. Every mistake in them is reported here, before a connection is opened.
///
/// # Errors
/// A request, an expression, a feeder, a token or a check that cannot be.
pub fn traffic(job: &LoadJob) -> Result<Traffic, GenerateError> {
    let mut scenario = job.scenario.clone();
    if let Some(login) = &job.login {
        login::authorize(&mut scenario, &login.basic());
    }
    origins::name_hosts(&mut scenario, &job.further);
    if !job.load.connection.keepalive {
        for entry in &mut scenario.requests {
            let headers = &mut entry.request.headers;
            if !headers.iter().any(|(have, _)| have.eq_ignore_ascii_case("connection")) {
                headers.push(("Connection".to_owned(), "close".to_owned()));
            }
        }
    }
    Ok(Traffic::new(&scenario, &job.authority, Seed(job.load.seed), &job.bodies)?)
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
