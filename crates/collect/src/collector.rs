//! All sources of one trial, read together at each tick.
//!
//! Invariants: a source that fails yields no line, is counted as a gap and stays in; sources are read in a fixed
//! order, the target's endpoint last because only it can take long.
//! Absent on purpose: threads and the choice of moments.

use crate::error::CollectError;
use crate::process::followed::{self, RootPid};
use crate::source::Source;
use crate::target_cgroup::{self, Groups};
use crate::{Roots, go_runtime, host_load, host_stat, tcp_netstat, tcp_snmp, tcp_sockstat};
use schema::trial::CounterLine;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use units::Nanos;

/// The sources of a trial with their memory.
#[derive(Default)]
pub struct Collector {
    sources: Vec<Box<dyn Source>>,
    gaps: BTreeMap<String, u64>,
    last_errors: BTreeMap<String, CollectError>,
}

impl Collector {
    /// A collector of just these sources.
    #[must_use]
    pub fn new(sources: Vec<Box<dyn Source>>) -> Self {
        Self { sources, ..Self::default() }
    }

    /// The host, TCP, the target's process tree and control groups, the generator's tree without the target's, and
    /// the Go runtime at the given address and path, each where there is one.
    #[must_use]
    pub fn for_trial(
        roots: &Roots,
        target: Option<&RootPid>,
        groups: Groups,
        generator_pid: u32,
        go_runtime: Option<(SocketAddr, String)>,
    ) -> Self {
        let mut sources = vec![
            host_stat::source(roots),
            host_load::source(roots),
            tcp_netstat::source(roots),
            tcp_snmp::source(roots),
            tcp_sockstat::source(roots),
        ];
        sources.extend(target.map(|root| followed::target(roots, root.clone())));
        if !groups.is_empty() {
            sources.push(target_cgroup::source(groups));
        }
        sources.push(followed::generator(roots, generator_pid, target.cloned()));
        sources.extend(go_runtime.map(|(address, path)| go_runtime::source(address, path)));
        Self::new(sources)
    }

    /// Adds a source; it is read before the target's endpoint, which can take long.
    #[must_use]
    pub fn with(mut self, source: Box<dyn Source>) -> Self {
        self.sources.insert(self.sources.len().saturating_sub(1), source);
        self
    }

    /// Reads every source once. `now` is the time since the trial's origin.
    pub fn tick(&mut self, now: Nanos) -> Vec<CounterLine> {
        let mut lines = Vec::with_capacity(self.sources.len());
        for source in &mut self.sources {
            match source.tick(now) {
                Ok(line) if source.may_be_silent() && line.gauges.is_empty() && line.deltas.is_empty() => {}
                Ok(line) => lines.push(line),
                Err(error) => {
                    *self.gaps.entry(source.name().to_owned()).or_default() += 1;
                    self.last_errors.insert(source.name().to_owned(), error);
                }
            }
        }
        lines
    }

    /// Ticks without a line, by source; sources without gaps are absent.
    #[must_use]
    pub fn gaps(&self) -> &BTreeMap<String, u64> {
        &self.gaps
    }

    /// Why the latest gap of each source happened, for the report.
    #[must_use]
    pub fn last_errors(&self) -> &BTreeMap<String, CollectError> {
        &self.last_errors
    }
}

#[cfg(test)]
mod tests;
