//! What the user must know of a load, in words, before it runs and beside its result.

use crate::job::LoadJob;
use crate::load::ports::{PortFacts, forecast};
use crate::place::proxy::ProxyUse;

/// What the user must know of a job before and after it runs: ports that will run out, and pipelining.
#[must_use]
pub fn notes(job: &LoadJob) -> Vec<String> {
    let load = &job.load;
    let mut notes: Vec<String> = forecast(load, job.to, PortFacts::read()).into_iter().collect();
    notes.extend(job.proxy.as_ref().map(ProxyUse::note));
    if !job.further.is_empty() {
        notes.push(format!(
            "requests go to {} origins; -c is the number of connections to each",
            job.origins()
        ));
    }
    if load.connection.pipeline > 1 {
        notes.push(pipelining(job));
    }
    notes
}

/// What a pipeline means for this job; the engine keeps one request on a connection where it has no effect.
fn pipelining(job: &LoadJob) -> String {
    let reasons = [
        (
            !job.further.is_empty(),
            "the next request may go to another origin, so a connection carries one at a time",
        ),
        (
            job.load.connection.follow.is_some(),
            "where redirects are followed, a connection carries one request at a time",
        ),
        (job.scenario.session.is_some(), "each step of a session waits for the answer to the one before"),
    ];
    match reasons.into_iter().find(|(holds, _)| *holds) {
        Some((_, why)) => format!("pipelining has no effect here: {why}"),
        None => format!(
            "pipelining of {} requests: response times include waiting behind others on the same connection and are \
             not comparable with those of other loads",
            job.load.connection.pipeline
        ),
    }
}
