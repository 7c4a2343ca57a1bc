//! What language runtimes and the servers around them know of themselves, one file each.
//!
//! Invariants: what is not named in `[metrics]` is not asked for; each source asks for itself with its own limit of
//! time, and an endpoint that hangs, answers garbage or goes away costs gaps, more and more rarely asked for; what an
//! answer lacks is absent. Every reading is a request that the target may count.
//! Absent on purpose: services such as databases (`services`).

pub mod expvar;
pub mod fields;
pub mod fpm;
pub mod hsperfdata;
pub mod jolokia;
pub mod jvm;
pub mod nginx;
pub mod node;
pub mod opcache;
pub mod php;
pub mod pool;
pub mod prometheus;
pub(crate) mod shape;
pub mod standard;
pub mod swoole;

use crate::Roots;
use crate::backoff::Backoff;
use crate::error::ParseError;
use crate::go_runtime;
use crate::process::followed::RootPid;
use crate::server_side::{Endpoint, get_within};
use crate::source::{Comparable, Differencing, Source};
use pool::PoolSlot;
use probe::Limits;
use schema::target::Metrics;
use std::time::Duration;

/// Of one whole GET. A tick is one second; what takes longer is a gap.
const LIMITS: Limits = Limits { timeout: Duration::from_secs(1), body_bytes: 4 << 20 };

/// The sources that `[metrics]` names, in the order in which they are read; pools after the runtimes that report them.
#[must_use]
pub fn sources(
    metrics: &Metrics,
    at: &Endpoint,
    root: Option<&RootPid>,
    roots: &Roots,
) -> Vec<Box<dyn Source>> {
    let mut sources: Vec<Box<dyn Source>> = Vec::new();
    if let Some(path) = &metrics.go_runtime {
        let slot = PoolSlot::default();
        sources.push(go_runtime::source(at.addr, path.clone(), slot.clone()));
        sources.push(slot.source(pool::GO));
    }
    let expvar = metrics.go_expvar.clone();
    sources.extend(expvar.map(|path| endpoint(go_runtime::NAME, at.clone(), None, path, expvar::parse)));
    if let Some(path) = &metrics.node {
        let slot = PoolSlot::default();
        sources.push(node::source(at.clone(), path, slot.clone()));
        sources.push(slot.source(pool::NODE));
    }
    if let (Some(true), Some(root)) = (metrics.jvm, root) {
        sources.push(jvm::source(roots, root.clone()));
    }
    let jolokia = metrics.jolokia.as_ref();
    sources.extend(jolokia.map(|asked| {
        endpoint(jvm::NAME, at.clone(), asked.port, jolokia::path(&asked.path), jolokia::parse)
    }));
    let get = |name, path: &Option<String>, parse: fn(&[u8]) -> Result<_, ParseError>| {
        let path = path.clone()?;
        Some(endpoint(name, at.clone(), None, path, parse))
    };
    sources.extend(get(fpm::NAME, &metrics.php_fpm, fpm::parse));
    sources.extend(get(opcache::NAME, &metrics.php_opcache, opcache::parse));
    sources.extend(get(php::NAME, &metrics.php_runtime, php::parse));
    sources.extend(get(swoole::NAME, &metrics.swoole, swoole::parse));
    sources.extend(get(nginx::NAME, &metrics.nginx, nginx::parse));
    let prometheus = metrics.prometheus.as_ref().filter(|prometheus| !prometheus.patterns.is_empty());
    sources.extend(prometheus.map(|prometheus| prometheus::source(at.clone(), prometheus.clone())));
    sources.extend(metrics.exporters.iter().flat_map(|exporter| standard::sources(at, exporter)));
    sources
}

/// A source that is one GET and its parsing.
fn endpoint<T: Comparable + Send + 'static>(
    name: &'static str,
    at: Endpoint,
    port: Option<u16>,
    path: String,
    parse: impl Fn(&[u8]) -> Result<T, ParseError> + Send + 'static,
) -> Box<dyn Source> {
    let mut backoff = Backoff::default();
    Box::new(Differencing::new(name, move || {
        backoff.attempt(|| get_within(&at, port, &path, LIMITS, &parse))
    }))
}

#[cfg(test)]
mod tests;
