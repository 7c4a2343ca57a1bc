//! The resolved totals of a load in words, before anything is sent.

use runner::measure::LoadJob;
use units::Nanos;

/// `GET http://host/: closed loop, 64 connections, 1 worker, 10s`.
pub(super) fn plan_line(job: &LoadJob) -> String {
    format!("{}: {}", job.scenario.words(&job.url), model(job))
}

/// Model, rate or count, connections, workers and time, all in total.
fn model(job: &LoadJob) -> String {
    let load = &job.load;
    let shape = load.shape.as_ref().map_or(String::new(), |shape| format!(" with the shape {}", shape.kind));
    let think = load.think.map_or(String::new(), |think| format!(", think time {think}"));
    let what = match (load.rate_per_s, &load.arrivals, job.requests_max) {
        (Some(rate), Some(law), _) => {
            format!("open loop, {rate} requests/s in total{shape} ({} arrivals)", law.name())
        }
        (_, _, Some(requests)) => format!("closed loop, {requests} requests in total{think}"),
        _ => format!("closed loop{think}"),
    };
    let plural = |n: u32| if n == 1 { "" } else { "s" };
    let time = match job.phases.sample_ns {
        u64::MAX => String::new(),
        sample_ns => format!(", {}", Nanos(sample_ns)),
    };
    let processes = match load.processes {
        0 | 1 => String::new(),
        several => format!(" in {several} processes"),
    };
    let (c, w) = (load.connections, load.workers);
    format!("{what}, {c} connection{}, {w} worker{}{processes}{time}", plural(c), plural(w))
}
