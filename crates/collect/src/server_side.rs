//! What a target counts of its own requests, read before and after the samples (METHOD §9).
//!
//! | from | key of `[metrics]` | what |
//! |---|---|---|
//! | JSON | `requests` | the number at a JSON pointer |
//! | Prometheus' text format, OpenMetrics | `prometheus.counter` | the sum of the counter over its series |
//! | the same | `prometheus.histogram` | the buckets of request times; their number too, where nothing else counts |
//!
//! Invariants: what cannot be read is absent, with its reason; a count that went backwards, or buckets that changed,
//! give no difference. Each reading is one request for each endpoint on a fresh connection, which the target may count.

use crate::error::{CollectError, ParseError};
use crate::exposition::{self, Buckets};
use crate::runtimes::shape;
use probe::Limits;
use schema::said;
use schema::said::Said;
use schema::server_side::{CountAt, PrometheusAt, QuantileBucket};
use schema::target::Metrics;
use std::net::SocketAddr;
use std::time::Duration;

/// Of one whole GET. A target under full load answers late; what it has not answered then is not waited for.
const LIMITS: Limits = Limits { timeout: Duration::from_secs(2), body_bytes: 8 << 20 };
/// The quantile that is compared (METHOD §9).
const QUANTILE: f64 = 0.95;

/// Where to ask.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// Address of the target.
    pub addr: SocketAddr,
    /// Value of the Host field.
    pub host: String,
    /// Where the target speaks TLS.
    pub tls: Option<probe::Tls>,
}

/// What the target has counted since it began.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reading {
    /// Requests.
    pub requests: Option<u64>,
    /// Their times.
    pub buckets: Option<Buckets>,
}

/// What it counted between two readings.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counted {
    /// Requests.
    pub requests: Option<u64>,
    /// The bucket of the 95th percentile of their times.
    pub p95: Option<QuantileBucket>,
    /// What was read twice and is still unknown, with the reason.
    pub missing: Vec<Said>,
}

/// Requests of one reading.
#[must_use]
pub fn requests_of_a_reading(metrics: &Metrics) -> u64 {
    u64::from(metrics.requests.is_some())
        + u64::from(metrics.prometheus.as_ref().is_some_and(PrometheusAt::counts))
}

/// Reads everything that `metrics` names; the second value says what could not be read.
#[must_use]
pub fn read(at: &Endpoint, metrics: &Metrics) -> (Reading, Vec<CollectError>) {
    let mut reading = Reading::default();
    let mut errors = Vec::new();
    if let Some(prometheus) = metrics.prometheus.as_ref().filter(|prometheus| prometheus.counts()) {
        match read_prometheus(at, prometheus) {
            Ok(found) => reading = found,
            Err(error) => errors.push(error),
        }
    }
    if let Some(count) = &metrics.requests {
        match get(at, None, &count.path, |body| parse_count(body, count)) {
            Ok(requests) => reading.requests = Some(requests),
            Err(error) => errors.push(error),
        }
    }
    (reading, errors)
}

/// The difference of two readings of one target.
#[must_use]
pub fn between(first: &Reading, last: &Reading) -> Counted {
    let mut counted = Counted::default();
    if let (Some(before), Some(after)) = (first.requests, last.requests) {
        counted.requests = after.checked_sub(before);
        if counted.requests.is_none() {
            counted.missing.push(said!(
                "server_side.count_fell",
                "the target counted {before} requests first and {after} last: it was started again meanwhile, or \
                 several processes count each for themselves",
                before,
                after
            ));
        }
    }
    if let (Some(before), Some(after)) = (&first.buckets, &last.buckets) {
        match after.since(before) {
            Some(since) => counted.p95 = since.quantile(QUANTILE),
            None => counted.missing.push(said!(
                "server_side.histogram_changed",
                "the target's histogram went backwards or has other buckets than before: it was started again \
                 meanwhile, or several processes count each for themselves"
            )),
        }
    }
    counted
}

fn read_prometheus(at: &Endpoint, wanted: &PrometheusAt) -> Result<Reading, CollectError> {
    get(at, wanted.port, &wanted.path, |body| parse_prometheus(body, wanted))
}

/// The counter and the histogram that are asked for; without a counter the histogram's values are counted.
///
/// # Errors
/// The text or a series is not as it should be.
pub fn parse_prometheus(body: &[u8], wanted: &PrometheusAt) -> Result<Reading, ParseError> {
    let families: Vec<&str> =
        [&wanted.counter, &wanted.histogram].into_iter().flatten().map(String::as_str).collect();
    let found = exposition::parse(body, &families)?;
    let unit = wanted.unit.unwrap_or_default();
    let buckets =
        wanted.histogram.as_ref().map(|name| found.buckets(name, &wanted.labels, unit)).transpose()?;
    let counter = wanted.counter.as_ref().map(|name| found.total(name, &wanted.labels)).transpose()?;
    Ok(Reading { requests: counter.or_else(|| buckets.as_ref().map(Buckets::count)), buckets })
}

/// The number at the pointer.
///
/// # Errors
/// The body is no JSON, or has no count there.
pub fn parse_count(body: &[u8], wanted: &CountAt) -> Result<u64, ParseError> {
    let json: serde_json::Value =
        serde_json::from_slice(body).map_err(|error| ParseError::Json(error.to_string()))?;
    let found = json.pointer(&wanted.pointer);
    found
        .and_then(serde_json::Value::as_u64)
        .ok_or_else(|| ParseError::Json(format!("at {} is no whole number from 0 on", wanted.pointer)))
}

fn get<T>(
    at: &Endpoint,
    port: Option<u16>,
    path: &str,
    parse: impl FnOnce(&[u8]) -> Result<T, ParseError>,
) -> Result<T, CollectError> {
    get_within(at, port, path, LIMITS, parse)
}

/// One GET of the target, or of another port of its host, and its answer parsed.
pub(crate) fn get_within<T>(
    at: &Endpoint,
    port: Option<u16>,
    path: &str,
    limits: Limits,
    parse: impl FnOnce(&[u8]) -> Result<T, ParseError>,
) -> Result<T, CollectError> {
    // Another port is another server: its TLS and its name are not the target's.
    let address = port.map_or(at.addr, |port| SocketAddr::new(at.addr.ip(), port));
    let is_target = address == at.addr;
    let (tls, host) =
        if is_target { (at.tls.as_ref(), at.host.clone()) } else { (None, address.to_string()) };
    let body = probe::get_over(address, tls, &host, path, limits).map_err(|source| CollectError::Get {
        address,
        path: path.to_owned(),
        source,
    })?;
    parse(&body).map_err(|source| shape::explained(format!("http://{address}{path}"), source, &body))
}

#[cfg(test)]
mod tests;
