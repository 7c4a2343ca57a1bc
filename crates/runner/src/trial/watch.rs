//! What a trial does beside its load: intervals and counters are written, and the target is read at the borders of the
//! samples.
//!
//! Invariant: what could not be read is absent; nothing here ends a trial but a file that cannot be written.
//! Absent on purpose: the load itself (measure), and how counters are read (crate collect).

use super::options::TrialOptions;
use super::ticker::Ticker;
use crate::RunnerError;
use crate::allocation::Allocations;
use crate::bring_up::Up;
use crate::competing::Competing;
use crate::confined::Watched;
use crate::events::Events;
use crate::observer::Observer;
use crate::server_counts::ServerCounts;
use crate::services::Services;
use crate::steady::{BesideLog, SteadyWindow};
use analyze::Beside;
use collect::{Collector, ProcessTree, Roots, Subjects, TreeUsage};
use engine::IntervalData;
use generate::measure::Watch;
use launch::RunningTarget;
use record::{Lines, TrialFolder};
use schema::calibration::Canary;
use schema::event::EventRecord;
use schema::limits::{GroupUsage, RelayUsage};
use schema::plan::{LoadPlan, PinPlan};
use schema::said::Said;
use schema::server_side::ServerSide;
use schema::steady::Steadiness;
use schema::target::Metrics;
use schema::trial::{IntervalLine, Phase, PhaseSpan, SampleSummary};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use units::MonotonicClock;

/// What was read beside the load.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) origin_wall: Option<String>,
    pub(super) cpu_ns: Option<u64>,
    pub(super) rss_peak_bytes: Option<u64>,
    pub(super) steal_share: Option<f64>,
    pub(super) competing_share: Option<f64>,
    pub(super) group: Option<GroupUsage>,
    pub(super) relay: Option<RelayUsage>,
    pub(super) server: Option<ServerSide>,
    pub(super) counter_gaps: BTreeMap<String, u64>,
    pub(super) counter_errors: BTreeMap<String, Said>,
    pub(super) allocations: Allocations,
    pub(super) canary: Option<Canary>,
    pub(super) events: Vec<EventRecord>,
    pub(super) steadiness: Option<Steadiness>,
}

/// Writes intervals and counters while the load runs, and reads the target at the borders of the samples.
pub(super) struct TrialWatch<'a, 'scope> {
    observer: &'a mut dyn Observer,
    running: Option<&'a RunningTarget>,
    events: Events<'scope>,
    clock: Option<MonotonicClock>,
    /// Lines of the samples, where there are events to be seen in them.
    lines: Option<Vec<IntervalLine>>,
    intervals: Lines,
    log: record::hlog::Writer,
    counters: Option<(Collector, Lines)>,
    options: &'a TrialOptions,
    ticker: Option<Ticker>,
    beside: BesideLog,
    /// None in a soak: its own judgement is on windows of bounded number, and this one grows with every second.
    window: Option<SteadyWindow>,
    tree: Option<(u32, ProcessTree)>,
    usage_at_begin: Option<TreeUsage>,
    group: Watched,
    own: Option<ServerCounts>,
    steal_at_begin: Option<Steal>,
    pin: &'a PinPlan,
    services: Vec<u32>,
    /// None where prony did not start the target, and could not tell its work from that of others.
    competing: Option<Competing>,
    seen: Seen,
}

impl<'a, 'scope> TrialWatch<'a, 'scope> {
    pub(super) fn new(
        up: &'a Up,
        metrics: &Metrics,
        (services, pin): (&Services, &'a PinPlan),
        folder: &TrialFolder,
        observer: &'a mut dyn Observer,
        events: Events<'scope>,
        options: &'a TrialOptions,
    ) -> Result<Self, RunnerError> {
        let pid = up.running.as_ref().map(RunningTarget::pid);
        let group = Watched::new(up);
        Ok(Self {
            observer,
            running: up.running.as_ref(),
            lines: events.any().then(Vec::new),
            events,
            clock: None,
            intervals: folder.lines("intervals.ndjson")?,
            log: record::hlog::Writer::create(&folder.path.join("latency.hlog"))?,
            counters: Some((
                collector(up, metrics, services, &group, options),
                folder.lines("counters.ndjson")?,
            )),
            options,
            ticker: None,
            beside: BesideLog::default(),
            window: options.floors.is_none().then(SteadyWindow::default),
            tree: pid.map(|pid| (pid, tree_of(pid))),
            usage_at_begin: None,
            group,
            own: ServerCounts::new(metrics, up.endpoint()),
            steal_at_begin: None,
            pin,
            services: services.pids().into_iter().map(|(_, pid)| pid).collect(),
            competing: None,
            seen: Seen::default(),
        })
    }

    fn read_tree(&mut self) -> Option<TreeUsage> {
        let pid = self.running?.pid();
        let (root, tree) = self.tree.as_mut()?;
        if *root != pid {
            // Started again by an event: what the old process used is lost with it.
            (*root, *tree) = (pid, tree_of(pid));
            self.usage_at_begin = None;
            self.competing = None;
        }
        let usage = tree.read().ok()?;
        let peak = self.seen.rss_peak_bytes.unwrap_or_default();
        self.seen.rss_peak_bytes = Some(peak.max(usage.rss_bytes));
        Some(usage)
    }

    pub(super) fn finish(mut self, load: &LoadPlan) -> Seen {
        if let Some(ticker) = self.ticker.take() {
            let ticked = ticker.stop();
            self.seen.counter_gaps = ticked.gaps;
            self.seen.counter_errors =
                ticked.errors.into_iter().map(|(source, error)| (source, error.into())).collect();
            self.seen.allocations = ticked.allocations;
        }
        self.seen.server = self.own.and_then(ServerCounts::finish);
        self.seen.events = self.events.finish();
        for event in &mut self.seen.events {
            event.effect = analyze::event_effect(self.lines.as_deref().unwrap_or_default(), event.began_ns);
        }
        self.beside.receive();
        let disturbed = !self.seen.events.is_empty();
        let beside = self.beside.so_far();
        self.seen.steadiness =
            self.window.as_ref().and_then(|window| window.steadiness(beside, load, disturbed));
        self.seen
    }
}

impl Watch for TrialWatch<'_, '_> {
    type Error = RunnerError;

    fn begun(&mut self, clock: MonotonicClock) -> Result<(), RunnerError> {
        self.seen.origin_wall = Some(jiff::Timestamp::now().to_string());
        self.clock = Some(clock);
        if let Some(own) = &mut self.own {
            own.begun(clock);
        }
        let beside = self.beside.sender();
        let options = self.options;
        self.ticker = self
            .counters
            .take()
            .map(|(collector, lines)| Ticker::start(collector, lines, clock, options, beside));
        Ok(())
    }

    fn beside(&mut self) -> &[Beside] {
        self.beside.receive();
        self.beside.so_far()
    }

    fn samples_begin(&mut self) {
        if self.window.is_none() {
            self.beside.close();
        }
        if let Some(own) = &self.own {
            own.read();
        }
        if let Some(clock) = self.clock {
            self.events.begin(clock);
        }
        self.group.begin();
        // What it counted before the samples is read, and so taken off.
        let _ = self.running.and_then(RunningTarget::relayed);
        self.usage_at_begin = self.read_tree();
        self.steal_at_begin = Steal::read();
        let target = self.running.map(RunningTarget::pid);
        self.competing = target.and_then(|target| Competing::of_trial(self.pin, target, &self.services));
    }

    fn samples_end(&mut self) {
        if let Some(own) = &self.own {
            own.read();
        }
        self.group.end();
        self.seen.group = self.group.usage();
        self.seen.relay = self.running.and_then(RunningTarget::relayed);
        let end = self.read_tree();
        if let (Some(begin), Some(end)) = (self.usage_at_begin, end) {
            self.seen.cpu_ns = end.cpu_ns.checked_sub(begin.cpu_ns);
        }
        if let (Some(begin), Some(end)) = (self.steal_at_begin, Steal::read()) {
            self.seen.steal_share = end.share_since(begin);
        }
        self.seen.competing_share = self.competing.take().and_then(Competing::share);
    }

    fn interval(&mut self, line: &IntervalLine, data: &IntervalData) -> Result<(), RunnerError> {
        self.intervals.append(line)?;
        engine::give_way();
        let span_ns = data.counts.start_ns..data.counts.end_ns;
        self.log.append(span_ns, &data.times.tagged(), engine::give_way)?;
        if let Some(window) = &mut self.window {
            window.add(line);
        }
        engine::give_way();
        if line.phase == Some(Phase::Sample) {
            self.read_tree();
        }
        if let Some(own) = &mut self.own {
            own.interval(line);
        }
        if let Some(lines) = &mut self.lines {
            lines.push(line.clone());
        }
        engine::give_way();
        self.observer.interval(line);
        engine::give_way();
        Ok(())
    }

    fn sample(&mut self, span: &PhaseSpan, summary: &SampleSummary) -> Result<(), RunnerError> {
        self.observer.sample(span, summary)
    }

    fn is_enough(&self) -> bool {
        self.observer.is_enough()
    }
}

/// The target's processes; reading them gives way to a worker that wants the CPU.
fn tree_of(pid: u32) -> ProcessTree {
    ProcessTree::new(&Roots::default(), pid).pausing(engine::give_way)
}

/// Everything whose counters are read beside the load.
fn collector(
    up: &Up,
    metrics: &Metrics,
    services: &Services,
    group: &Watched,
    options: &TrialOptions,
) -> Collector {
    let roots = Roots::default();
    // A server that prony did not start is known by the socket that it listens on, where that is on this host.
    let foreign = || collect::listener::process(&roots, up.addr).map(|pid| Arc::new(AtomicU32::new(pid)));
    let target = up.running.as_ref().map(RunningTarget::current_pid).or_else(foreign);
    // Each descriptor is looked at, which is for a soak's rare ticks.
    let holdings = target.clone().filter(|_| options.floors.is_some());
    let holdings = holdings.map(|root| collect::holdings::source(&roots, root));
    let own = collect::runtimes::sources(metrics, &up.endpoint(), target.as_ref(), &roots).into_iter();
    let services_own = collect::services::sources(services.metrics());
    let subjects = Subjects {
        groups: group.groups(),
        generator_pid: std::process::id(),
        generator_network: up.generator_network(),
        address: Some(up.addr),
        services: services.pids(),
        isolated: up
            .running
            .as_ref()
            .and_then(RunningTarget::confinement)
            .is_some_and(|held| held.network.is_some()),
        extra: own.chain(services_own).chain(holdings).collect(),
        target,
    };
    Collector::for_trial(&roots, subjects)
}

/// Stolen and total CPU time of the host.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Steal {
    stolen_ns: u64,
    total_ns: u64,
}

impl Steal {
    pub(crate) fn read() -> Option<Self> {
        let reading = collect::host_stat::read(&Roots::default()).ok()?;
        let names =
            ["user_ns", "nice_ns", "system_ns", "idle_ns", "iowait_ns", "irq_ns", "softirq_ns", "steal_ns"];
        Some(Self {
            stolen_ns: reading.counter("steal_ns")?,
            total_ns: names.iter().filter_map(|name| reading.counter(name)).sum(),
        })
    }

    pub(crate) fn share_since(self, begin: Self) -> Option<f64> {
        let total_ns = self.total_ns.checked_sub(begin.total_ns).filter(|total_ns| *total_ns > 0)?;
        Some(self.stolen_ns.checked_sub(begin.stolen_ns)? as f64 / total_ns as f64)
    }
}
