//! All sources of one trial, read together at each tick, and what that costs.
//!
//! `prony.collector`, all deltas, of the tick before (a line is written before its own tick is over):
//!
//! | key | meaning |
//! |---|---|
//! | `cpu_ns` | CPU time of the thread that reads |
//! | `wall_ns` | time from the begin of the tick to its end, waiting for the target's endpoint included |
//! | `reads` | sources that were read |
//!
//! Invariants: a source that fails yields no line, is counted as a gap and stays in; sources are read in a fixed
//! order, the target's endpoints last because only they can take long; a source that may rest uses at most one part in
//! [`SHARE`] of the time, beyond what every tick may use.
//! Absent on purpose: threads and the choice of moments.

use crate::anchor::Anchor;
use crate::cgroup::{self, Groups, find};
use crate::error::CollectError;
use crate::process::followed::{self, RootPid};
use crate::source::{Differencing, Source};
use crate::{Roots, process};
use crate::{host_clock, host_cpus, host_disk, host_interrupts, host_load, host_memory, host_net};
use crate::{host_pressure, host_stat, target_connections, target_listen, target_network, target_outgoing};
use crate::{tcp_netstat, tcp_snmp, tcp_sockstat, tcp_states};
use rustix::time::{ClockId, clock_gettime};
use schema::trial::CounterLine;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use units::Nanos;

/// Name of the source that tells what reading costs.
pub const NAME: &str = "prony.collector";
/// A source that may rest uses one part in so many of a core.
const SHARE: u64 = 400;
/// What such a source may use at every tick without a rest.
const FREE_NS: u64 = 1_000_000;
/// The longest rest.
const REST_NS_MAX: u64 = 30_000_000_000;

/// Whose counters are read in a trial. What is absent is left out.
#[derive(Default)]
pub struct Subjects {
    /// The target's first process.
    pub target: Option<RootPid>,
    /// The control groups that the target is confined to; where there are none, those that its process is in.
    pub groups: Groups,
    /// prony's own process.
    pub generator_pid: u32,
    /// The namespace that the load comes from, where it is not prony's own: TCP is then counted there.
    pub generator_network: Option<PathBuf>,
    /// Where the target listens.
    pub address: Option<SocketAddr>,
    /// Name and first process of each service.
    pub services: Vec<(String, u32)>,
    /// Whether the target has a network of its own.
    pub isolated: bool,
    /// Read last, because they may take long: endpoints.
    pub extra: Vec<Box<dyn Source>>,
}

/// The sources of a trial with their memory.
#[derive(Default)]
pub struct Collector {
    sources: Vec<Seat>,
    tells_cost: bool,
    /// Of the tick before.
    cost: Option<Cost>,
    gaps: BTreeMap<String, u64>,
    last_errors: BTreeMap<String, CollectError>,
}

/// A source and until when it rests.
struct Seat {
    source: Box<dyn Source>,
    rests_until: Nanos,
}

#[derive(Clone, Copy, Debug)]
struct Cost {
    cpu_ns: u64,
    wall_ns: u64,
    reads: u64,
}

impl Collector {
    /// A collector of just these sources.
    #[must_use]
    pub fn new(sources: Vec<Box<dyn Source>>) -> Self {
        let seat = |source| Seat { source, rests_until: Nanos::ZERO };
        Self { sources: sources.into_iter().map(seat).collect(), ..Self::default() }
    }

    /// The host, TCP, the target's process tree, control groups and sockets, the generator's and the services', and the
    /// target's endpoints, each where there is one; with a line on the cost of it all.
    #[must_use]
    pub fn for_trial(roots: &Roots, subjects: Subjects) -> Self {
        // One that cannot be entered has no load either, which is a failure of the trial and says why.
        let anchor = subjects.generator_network.as_deref().and_then(|path| Anchor::enter(path).ok());
        let anchor = anchor.map(Arc::new);
        let mut sources = host(roots);
        sources.extend(tcp(roots, anchor.as_ref()));
        sources.extend(processes(roots, &subjects));
        sources.extend(control_groups(roots, &subjects));
        sources.extend(sockets(roots, &subjects, anchor.as_ref()));
        sources.extend(subjects.extra);
        Self { tells_cost: true, ..Self::new(sources) }
    }

    /// Reads every source once that does not rest. `now` is the time since the trial's origin.
    pub fn tick(&mut self, now: Nanos) -> Vec<CounterLine> {
        let (cpu, wall) = (thread_cpu_ns(), monotonic_ns());
        let mut lines = Vec::with_capacity(self.sources.len() + 1);
        let mut reads = 0;
        for seat in &mut self.sources {
            if now < seat.rests_until {
                continue;
            }
            reads += 1;
            match seat.read(now) {
                Ok(line)
                    if seat.source.may_be_silent() && line.gauges.is_empty() && line.deltas.is_empty() => {}
                Ok(line) => lines.push(line),
                Err(error) => {
                    let name = seat.source.name();
                    *self.gaps.entry(name.to_owned()).or_default() += 1;
                    // That it was not asked says less than why it was not.
                    if !matches!(error, CollectError::BackedOff { .. }) {
                        self.last_errors.insert(name.to_owned(), error);
                    }
                }
            }
        }
        if self.tells_cost {
            lines.extend(self.cost.map(|cost| cost.line(now)));
            self.cost = Some(Cost {
                cpu_ns: thread_cpu_ns().saturating_sub(cpu),
                wall_ns: monotonic_ns().saturating_sub(wall),
                reads,
            });
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

impl Seat {
    /// Reads; a source that used much and may rest then rests for so long that its share is kept.
    fn read(&mut self, now: Nanos) -> Result<CounterLine, CollectError> {
        if !self.source.may_rest() {
            return self.source.tick(now);
        }
        let before = thread_cpu_ns();
        let line = self.source.tick(now);
        let used = thread_cpu_ns().saturating_sub(before);
        self.rests_until = Nanos(now.0.saturating_add(rest_ns(used)));
        line
    }
}

/// How long a source rests that used so much CPU time.
fn rest_ns(used_ns: u64) -> u64 {
    used_ns.saturating_sub(FREE_NS).saturating_mul(SHARE).min(REST_NS_MAX)
}

impl Cost {
    fn line(self, now: Nanos) -> CounterLine {
        let deltas = [("cpu_ns", self.cpu_ns), ("wall_ns", self.wall_ns), ("reads", self.reads)];
        CounterLine {
            t_ns: now.0,
            source: NAME.to_owned(),
            deltas: deltas.into_iter().map(|(name, value)| (name.to_owned(), value as f64)).collect(),
            ..CounterLine::default()
        }
    }
}

fn host(roots: &Roots) -> Vec<Box<dyn Source>> {
    let always = [
        host_stat::source(roots),
        host_load::source(roots),
        host_cpus::source(roots),
        host_memory::source(roots),
        host_interrupts::source(roots),
        host_net::source(roots),
    ];
    let where_told = [host_pressure::source(roots), host_clock::source(roots), host_disk::source(roots)];
    always.into_iter().chain(where_told.into_iter().flatten()).collect()
}

/// TCP as the generator's network counts it: the host's, or its own.
fn tcp(roots: &Roots, anchor: Option<&Arc<Anchor>>) -> Vec<Box<dyn Source>> {
    let Some(anchor) = anchor else {
        return vec![tcp_netstat::source(roots), tcp_snmp::source(roots), tcp_sockstat::source(roots)];
    };
    let roots = anchor.roots(roots);
    let source = |(name, read): (&'static str, target_network::Read)| -> Box<dyn Source> {
        let (roots, anchor) = (roots.clone(), Arc::clone(anchor));
        Box::new(Differencing::new(name, move || {
            // It holds the thread whose files these are.
            let _ = &anchor;
            read(&roots)
        }))
    };
    let all: [(&'static str, target_network::Read); 3] = [
        (tcp_netstat::NAME, tcp_netstat::read),
        (tcp_snmp::NAME, tcp_snmp::read),
        (tcp_sockstat::NAME, tcp_sockstat::read),
    ];
    all.into_iter().map(source).collect()
}

fn processes(roots: &Roots, subjects: &Subjects) -> Vec<Box<dyn Source>> {
    let mut sources: Vec<Box<dyn Source>> = Vec::new();
    sources.extend(subjects.target.iter().flat_map(|root| followed::target(roots, root)));
    let services: Vec<u32> = subjects.services.iter().map(|(_, pid)| *pid).collect();
    sources.push(followed::generator(roots, subjects.generator_pid, subjects.target.clone(), services));
    let service =
        |(name, pid): &(String, u32)| process::source(roots, format!("service.{name}.process"), *pid);
    sources.extend(subjects.services.iter().map(service));
    sources
}

/// A process in the generator's own groups has none of its own: what they count is reported once, as the generator's.
fn control_groups(roots: &Roots, subjects: &Subjects) -> Vec<Box<dyn Source>> {
    let generator = find::of_process(roots, subjects.generator_pid);
    let own = |pid: u32| Some(find::of_process(roots, pid)).filter(|groups| *groups != generator);
    let target = if subjects.groups.is_empty() {
        subjects.target.as_ref().and_then(|root| own(root.load(Ordering::Relaxed))).unwrap_or_default()
    } else {
        subjects.groups.clone()
    };
    let services = subjects
        .services
        .iter()
        .map(|(name, pid)| (format!("service.{name}.cgroup"), own(*pid).unwrap_or_default()));
    let all: Vec<(String, Groups)> =
        [(cgroup::TARGET.to_owned(), target)].into_iter().chain(services).collect();
    let all = all.into_iter().chain([(cgroup::GENERATOR.to_owned(), generator.clone())]);
    all.filter(|(_, groups)| !groups.is_empty()).map(|(name, groups)| cgroup::source(name, groups)).collect()
}

fn sockets<'a>(
    roots: &'a Roots,
    subjects: &'a Subjects,
    anchor: Option<&Arc<Anchor>>,
) -> impl Iterator<Item = Box<dyn Source>> + 'a {
    let (root, address) = (&subjects.target, subjects.address);
    let states = tcp_states::source(roots, anchor, root.clone(), address);
    let connections = address.and_then(|address| target_connections::source(roots, anchor, address));
    let listen = root.clone().zip(address).and_then(|(root, at)| target_listen::source(roots, root, at));
    let outgoing = root.clone().and_then(|root| target_outgoing::source(roots, root));
    let own = root.iter().filter(|_| subjects.isolated).flat_map(|root| target_network::sources(roots, root));
    [states, connections, listen, outgoing].into_iter().flatten().chain(own)
}

fn thread_cpu_ns() -> u64 {
    nanoseconds(ClockId::ThreadCPUTime)
}

fn monotonic_ns() -> u64 {
    nanoseconds(ClockId::Monotonic)
}

fn nanoseconds(clock: ClockId) -> u64 {
    let at = clock_gettime(clock);
    at.tv_sec.unsigned_abs() * 1_000_000_000 + at.tv_nsec.unsigned_abs()
}

#[cfg(test)]
mod tests;
