//! The slowest requests and the first failures of a load whose requests have traces: where to look in a tracing system.
//!
//! Absent on purpose: the same without traces. A number alone leads people nowhere; files have it for programs.

use super::part::{Column, Part, number, words};
use crate::notable;
use schema::load::LoadReport;
use schema::traced::NotableRequest;

/// The tables; without traces there are none.
pub(super) fn tables(report: &LoadReport) -> Vec<Part> {
    if report.plan.load.trace.is_none() {
        return Vec::new();
    }
    let of = &report.notable;
    // Where every request is sampled, or the slowest are, the same rows would come twice.
    let sampled = of.slowest_sampled.iter().filter(|one| !of.slowest.contains(one));
    let failures = of.failures_sampled.iter().filter(|one| !of.failures.contains(one));
    vec![
        table("slowest requests", of.slowest.iter()),
        table("slowest sampled requests", sampled),
        table("first failures", of.failures.iter()),
        table("first sampled failures", failures),
    ]
}

fn table<'a>(title: &'static str, requests: impl Iterator<Item = &'a NotableRequest>) -> Part {
    Part { title, columns: columns(title), rows: requests.map(|one| notable::values(one).to_vec()).collect() }
}

/// The terminal prints no titles, so the first column says what the table is.
fn columns(title: &'static str) -> Vec<Column> {
    vec![
        words(title),
        number("number"),
        number("response"),
        number("waited"),
        words("ended"),
        words("sampled"),
        words("trace id"),
    ]
}
