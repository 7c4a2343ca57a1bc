//! A request that stands out, in words: one row of the tables of loads and of runs.
//!
//! Invariant: names and ids come from files and are one bounded, harmless line.

use crate::{clean, format};
use schema::traced::NotableRequest;

/// Characters of a name.
pub(crate) const NAME_CHARS: usize = 40;

/// Name, number, response, waited, ended, sampled, trace id.
pub(crate) fn values(of: &NotableRequest) -> [String; 7] {
    let time = |ns: u64| format::duration(ns as f64);
    let status = || of.status.map_or_else(|| "-".to_owned(), |status| status.to_string());
    let trace = of.trace.as_ref();
    [
        name(&of.name),
        of.request.to_string(),
        time(of.response_ns),
        of.wait_ns.map_or_else(|| "-".to_owned(), time),
        of.error.map_or_else(status, |class| class.key().to_owned()),
        trace.map_or("-", |trace| if trace.sampled { "yes" } else { "no" }).to_owned(),
        trace.map_or_else(|| "-".to_owned(), |trace| clean::cut(&clean::line(&trace.trace_id), 32)),
    ]
}

/// The name of a request or a span.
pub(crate) fn name(text: &str) -> String {
    clean::cut(&clean::line(text), NAME_CHARS)
}
