//! What the user must know of a load, in words, before it runs and beside its result.

use crate::job::LoadJob;
use crate::load::ports::{PortFacts, forecast};
use crate::place::proxy::ProxyUse;
use schema::load::StreamSummary;
use schema::said;
use schema::said::Said;

/// What the user must know of a job before and after it runs: ports that will run out, and pipelining.
#[must_use]
pub fn notes(job: &LoadJob) -> Vec<Said> {
    let load = &job.load;
    let mut notes: Vec<Said> = forecast(load, job.to, PortFacts::read()).into_iter().collect();
    notes.extend(job.proxy.as_ref().map(ProxyUse::note));
    if !job.further.is_empty() {
        notes.push(said!(
            "note.origins",
            "requests go to {origins} origins; -c is the number of connections to each",
            origins = job.origins()
        ));
    }
    if load.connection.pipeline > 1 {
        notes.push(pipelining(job));
    }
    notes
}

/// A server that takes fewer requests on a connection than were to be sent.
#[must_use]
pub fn fewer_streams(streams: &StreamSummary) -> Option<Said> {
    let granted = streams.granted.filter(|granted| *granted < streams.asked)?;
    Some(said!(
        "note.streams.fewer",
        "{asked} streams were asked for on each connection, and the server allows {granted}: other requests waited, which \
         is in their response time",
        asked = streams.asked,
        granted = granted
    ))
}

/// What a pipeline means for this job; the engine keeps one request on a connection where it has no effect.
fn pipelining(job: &LoadJob) -> Said {
    let reasons = [
        (
            !job.further.is_empty(),
            said!(
                "note.pipelining.origins",
                "the next request may go to another origin, so a connection carries one at a time"
            ),
        ),
        (
            job.load.connection.follow.is_some(),
            said!(
                "note.pipelining.redirects",
                "where redirects are followed, a connection carries one request at a time"
            ),
        ),
        (
            job.scenario.session.is_some(),
            said!("note.pipelining.session", "each step of a session waits for the answer to the one before"),
        ),
    ];
    match reasons.into_iter().find(|(holds, _)| *holds) {
        Some((_, why)) => said!("note.pipelining.none", "pipelining has no effect here: {why}", why),
        None => said!(
            "note.pipelining",
            "pipelining of {requests} requests: response times include waiting behind others on the same connection \
             and are not comparable with those of other loads",
            requests = job.load.connection.pipeline
        ),
    }
}
