//! One cell as the rules see it: its trials, its counters over the samples, its times.
//!
//! Invariants: what was not read is `None`, never 0; every number is finite; times come from merged histograms, never
//! from averaged percentiles. Where no trial is valid the void ones are looked at, because what voided them is asked
//! for too.

use super::super::TrialData;
use super::super::data::RunData;
use super::super::machine::Slow;
use crate::trial::histogram::merged;
use hdrhistogram::Histogram;
use schema::experiment::LoadModel;
use schema::finding::Watched;
use schema::load::{ErrorClass, Latencies, LatencySummary, LoadReport};
use schema::metric::Metric;
use schema::plan::{CellPlan, ExperimentPlan, LoadPlan, TargetPlan, TargetSource};
use schema::said;
use schema::said::Said;
use schema::signals::Signals;
use schema::trial::{IntervalLine, Phase, StallSpan};
use std::collections::{BTreeMap, BTreeSet};

/// Sources that are asked of the target itself.
const ENDPOINTS: &[&str] = &[
    "go.runtime",
    "jvm.runtime",
    "node.runtime",
    "php.fpm",
    "php.opcache",
    "php.runtime",
    "swoole.server",
    "nginx.status",
    "target.prometheus",
    "target.exporter",
];

/// Counters of `target.outgoing` without the peer.
const WAITING: &str = "target.outgoing/waiting@";
const ACTIVE: &str = "target.outgoing/active@";
const SENT: &str = "target.outgoing/sent@";

pub(super) struct Scene<'a> {
    pub(super) plan: &'a ExperimentPlan,
    pub(super) cell: &'a CellPlan,
    /// Valid trials, or void ones where there are none.
    pub(super) trials: Vec<&'a TrialData>,
    pub(super) void_only: bool,
    /// Numbers of the trials that ran on a slower machine, and their throughput over that of the others.
    pub(super) slow: Option<(Vec<u32>, Option<f64>)>,
    times: Option<Histogram<u64>>,
    levels: Vec<Level>,
}

/// A closed load with this many connections, everything else being the same.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Level {
    pub(super) connections: u32,
    /// Right answers per second.
    pub(super) throughput: f64,
    /// Mean over right answers.
    pub(super) response_ns: f64,
    /// Questions that the target asked each of its peers, for each request that ended.
    pub(super) asked: BTreeMap<String, f64>,
    /// Whether it is the scene's own cell.
    pub(super) is_own: bool,
}

/// Another service as the target's connections to it show it (`target.outgoing`), on average over the samples.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Peer {
    pub(super) address: String,
    /// Connections whose peer owed an answer.
    pub(super) waiting: f64,
    /// Connections in use: those that wait, and those with data under way just now.
    pub(super) active: f64,
    /// Questions for each request that ended.
    pub(super) asked: f64,
}

/// Segments with data that went to each peer, for each request that ended, right or wrong.
fn asked<'a>(trials: impl Iterator<Item = &'a TrialData>) -> BTreeMap<String, f64> {
    let mut sent: BTreeMap<String, f64> = BTreeMap::new();
    let mut ended = 0.0;
    for (load, signals) in
        trials.filter_map(|trial| Some((trial.file.load.as_ref()?, trial.signals.as_ref()?)))
    {
        ended += load.requests.completed.saturating_add(load.requests.failed) as f64;
        for (key, series) in &signals.deltas {
            if let Some(peer) = key.strip_prefix(SENT) {
                *sent.entry(peer.to_owned()).or_default() += series.iter().flatten().sum::<f64>();
            }
        }
    }
    sent.into_iter().map(|(peer, sent)| (peer, sent / ended)).filter(|(_, asked)| asked.is_finite()).collect()
}

/// What requests on connections with streams waited for (HTTP/2), on average.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct StreamWaits {
    /// Streams that each connection was to carry, and the fewest that one was granted.
    pub(super) asked: u32,
    pub(super) granted: u32,
    pub(super) connection_ns: f64,
    pub(super) stream_ns: f64,
    pub(super) window_ns: f64,
    /// Of the same requests.
    pub(super) response_ns: f64,
}

impl Level {
    fn of(data: &RunData<'_>, cell: &CellPlan, is_own: bool) -> Option<Self> {
        let loads: Vec<&LoadReport> =
            data.valid(&cell.id).filter_map(|trial| trial.file.load.as_ref()).collect();
        let mean = |of: fn(&LoadReport) -> Option<f64>| {
            let values: Vec<f64> = loads.iter().filter_map(|load| of(load)).collect();
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            (mean.is_finite() && mean > 0.0).then_some(mean)
        };
        Some(Self {
            connections: cell.load.connections,
            throughput: mean(|load| Some(load.throughput_per_s))?,
            response_ns: mean(|load| load.latency_ns.response.mean)?,
            asked: asked(data.valid(&cell.id)),
            is_own,
        })
    }
}

/// The closed levels that differ from a cell in their connections only, it among them, fewest connections first.
fn levels(data: &RunData<'_>, own: &CellPlan) -> Vec<Level> {
    // Connections, and what follows from their number.
    let besides = |load: &LoadPlan| LoadPlan {
        connections: 0,
        connections_max: 0,
        workers: 0,
        processes: 0,
        seed: 0,
        ..load.clone()
    };
    let is_same = |cell: &&CellPlan| {
        cell.target == own.target
            && cell.scenario == own.scenario
            && cell.limits == own.limits
            && besides(&cell.load) == besides(&own.load)
    };
    if own.load.model != LoadModel::Closed {
        return Vec::new();
    }
    let mut levels: Vec<Level> = data
        .plan
        .cells
        .iter()
        .filter(is_same)
        .filter_map(|cell| Level::of(data, cell, cell.id == own.id))
        .collect();
    levels.sort_by_key(|level| level.connections);
    levels
}

/// Shares of the CPUs that the target runs on, 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Cores {
    pub(super) busy: f64,
    /// Used by the target itself.
    pub(super) own: f64,
    /// Used by its services, where they share CPUs with it.
    pub(super) services: f64,
    /// Used by prony's generator, where it shares CPUs with it.
    pub(super) generator: f64,
    /// Taken away by the hypervisor, on average over the host's CPUs; it counts as busy.
    pub(super) stolen: f64,
    /// Used by whoever else.
    pub(super) others: f64,
}

impl<'a> Scene<'a> {
    /// `slow` are the trials of the whole run that the canary sets apart.
    pub(super) fn new(data: &RunData<'a>, cell: &'a CellPlan, slow: Option<&Slow>) -> Self {
        let valid: Vec<&TrialData> = data.valid(&cell.id).collect();
        let void_only = valid.is_empty();
        let trials = if void_only {
            data.trials_of(&cell.id).filter(|trial| trial.file.load.is_some()).collect()
        } else {
            valid
        };
        let times = trials.iter().filter_map(|trial| trial.response.as_ref());
        let slow = slow.and_then(|slow| {
            let ids: Vec<u32> = data
                .trials_of(&cell.id)
                .map(|trial| trial.file.id)
                .filter(|id| slow.ids.contains(id))
                .collect();
            (!ids.is_empty()).then_some((ids, slow.throughput))
        });
        Self {
            plan: data.plan,
            cell,
            levels: levels(data, cell),
            times: merged(times).filter(|times| !times.is_empty()),
            trials,
            void_only,
            slow,
        }
    }

    /// Closed levels that differ from this one in their connections only, it among them, fewest connections first; none
    /// of an open load.
    pub(super) fn levels(&self) -> &[Level] {
        &self.levels
    }

    /// Requests in flight on average, by Little's law.
    pub(super) fn in_flight(&self) -> Option<f64> {
        Some(self.throughput()? * self.mean_response()? / 1e9).filter(|inside| *inside > 0.0)
    }

    /// The services that the target asked, the one that it waited for most first.
    pub(super) fn peers(&self) -> Vec<Peer> {
        let asked = asked(self.trials.iter().copied());
        let addresses: BTreeSet<&str> = self
            .signals()
            .flat_map(|(_, signals)| signals.gauges.keys().filter_map(|key| key.strip_prefix(WAITING)))
            .collect();
        let mut peers: Vec<Peer> = addresses
            .into_iter()
            .filter_map(|address| {
                Some(Peer {
                    address: address.to_owned(),
                    waiting: self.mean(&format!("{WAITING}{address}"))?,
                    active: self.mean(&format!("{ACTIVE}{address}"))?,
                    asked: asked.get(address).copied().unwrap_or_default(),
                })
            })
            .collect();
        peers.sort_by(|a, b| b.waiting.total_cmp(&a.waiting));
        peers
    }

    /// Stalls of each trial within its samples, in order; those that an interval's end has cut are whole again.
    pub(super) fn stalls(&self) -> Vec<Vec<StallSpan>> {
        self.trials
            .iter()
            .map(|trial| joined(measured(trial).flat_map(|line| line.stalls.iter().copied())))
            .collect()
    }

    /// Length of all samples.
    pub(super) fn sampled_seconds(&self) -> f64 {
        let length = |line: &IntervalLine| line.end_ns.saturating_sub(line.start_ns) as f64 / 1e9;
        self.trials.iter().flat_map(|trial| measured(trial)).map(length).sum()
    }

    pub(super) fn loads(&self) -> impl Iterator<Item = &'a LoadReport> + '_ {
        self.trials.iter().filter_map(|trial| trial.file.load.as_ref())
    }

    /// What requests waited for, where connections carry streams and requests were answered.
    pub(super) fn stream_waits(&self) -> Option<StreamWaits> {
        let streams = || self.loads().filter_map(|load| load.streams);
        let granted = streams().map(|streams| streams.granted.unwrap_or(streams.asked)).min()?;
        let asked = streams().map(|streams| streams.asked).max()?;
        let mean = |of: fn(&Latencies) -> &LatencySummary| {
            let values: Vec<f64> = self.loads().filter_map(|load| of(&load.latency_ns).mean).collect();
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            mean.is_finite().then_some(mean)
        };
        Some(StreamWaits {
            asked,
            granted,
            connection_ns: mean(|times| &times.wait_connection)?,
            stream_ns: mean(|times| &times.wait_stream)?,
            window_ns: mean(|times| &times.wait_window)?,
            response_ns: mean(|times| &times.response).filter(|ns| *ns > 0.0)?,
        })
    }

    fn signals(&self) -> impl Iterator<Item = (&'a TrialData, &'a Signals)> + '_ {
        self.trials.iter().filter_map(|trial| Some((*trial, trial.signals.as_ref()?)))
    }

    /// Increase per second of a counter over all samples.
    pub(super) fn rate(&self, key: &str) -> Option<f64> {
        let (mut sum, mut seconds) = (0.0, 0.0);
        for (trial, signals) in self.signals() {
            let Some(series) = signals.deltas.get(key) else { continue };
            for (value, line) in series.iter().zip(measured(trial)) {
                if let Some(value) = value {
                    sum += value;
                    seconds += (line.end_ns.saturating_sub(line.start_ns)) as f64 / 1e9;
                }
            }
        }
        (seconds > 0.0).then(|| sum / seconds).filter(|rate| rate.is_finite())
    }

    /// Length of all samples of the trials that have counters.
    pub(super) fn seconds(&self) -> Option<f64> {
        let length = |line: &IntervalLine| line.end_ns.saturating_sub(line.start_ns) as f64 / 1e9;
        let seconds: f64 = self.signals().flat_map(|(trial, _)| measured(trial)).map(length).sum();
        (seconds > 0.0).then_some(seconds)
    }

    /// Increase of a counter for each right answer.
    pub(super) fn per_request(&self, key: &str) -> Option<f64> {
        let throughput = self.throughput()?;
        (throughput > 0.0).then(|| self.rate(key)).flatten().map(|rate| rate / throughput)
    }

    /// Increase of a counter over all samples of all trials.
    pub(super) fn sum(&self, key: &str) -> Option<f64> {
        let values = self.signals().filter_map(|(_, signals)| signals.deltas.get(key));
        values.flatten().flatten().copied().reduce(|a, b| a + b).filter(|sum| sum.is_finite())
    }

    pub(super) fn mean(&self, key: &str) -> Option<f64> {
        let values: Vec<f64> = self.gauge(key).collect();
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        mean.is_finite().then_some(mean)
    }

    pub(super) fn max(&self, key: &str) -> Option<f64> {
        self.gauge(key).reduce(f64::max)
    }

    fn gauge<'b>(&'b self, key: &'b str) -> impl Iterator<Item = f64> + 'b {
        self.signals().filter_map(move |(_, signals)| signals.gauges.get(key)).flatten().flatten().copied()
    }

    /// Why an endpoint of the target that was named gave nothing; none where all of them answered well.
    pub(super) fn endpoint_error(&self) -> Option<&'a Said> {
        let mut errors = self.trials.iter().flat_map(|trial| &trial.file.counter_errors);
        let of_endpoints = |source: &str| ENDPOINTS.contains(&source) && !self.has(source);
        errors.find(|(source, _)| of_endpoints(source)).map(|(_, error)| error)
    }

    /// Whether anything was read from a source.
    pub(super) fn has(&self, source: &str) -> bool {
        let is_of = |key: &String| key.strip_prefix(source).is_some_and(|rest| rest.starts_with('/'));
        self.signals().any(|(_, signals)| signals.gauges.keys().chain(signals.deltas.keys()).any(is_of))
    }

    /// Sources of the form `head….tail`, such as those of services: their names, sorted.
    pub(super) fn sources(&self, head: &str, tail: &str) -> Vec<String> {
        let mut names: Vec<String> = self
            .signals()
            .flat_map(|(_, signals)| signals.gauges.keys().chain(signals.deltas.keys()))
            .filter_map(|key| key.split_once('/').map(|(source, _)| source))
            .filter(|source| source.starts_with(head) && source.ends_with(tail))
            .map(str::to_owned)
            .collect();
        names.sort();
        names.dedup();
        names
    }

    /// One series a trial: a gauge, or else the increases of a counter; missing values left out.
    pub(super) fn series(&self, key: &str) -> Vec<Vec<f64>> {
        let of = |signals: &'a Signals| signals.gauges.get(key).or_else(|| signals.deltas.get(key));
        self.signals()
            .filter_map(|(_, signals)| of(signals))
            .map(|s| s.iter().flatten().copied().collect())
            .collect()
    }

    /// Pairs of a counter and what users see, one pair of series a trial, for seconds that have both.
    pub(super) fn beside(&self, key: &str, with: Watched) -> Vec<(Vec<f64>, Vec<f64>)> {
        let mut pairs = Vec::new();
        for (trial, signals) in self.signals() {
            let Some(series) = signals.gauges.get(key).or_else(|| signals.deltas.get(key)) else { continue };
            let both = series
                .iter()
                .zip(measured(trial))
                .filter_map(|(x, line)| Some(((*x)?, watched(line, with)?)));
            pairs.push(both.unzip());
        }
        pairs
    }

    /// Right answers per second: the mean over trials.
    pub(super) fn throughput(&self) -> Option<f64> {
        let values: Vec<f64> = self.loads().map(|load| load.throughput_per_s).collect();
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        mean.is_finite().then_some(mean)
    }

    pub(super) fn answers(&self) -> u64 {
        self.loads().fold(0, |sum, load| sum.saturating_add(load.requests.completed))
    }

    pub(super) fn mean_response(&self) -> Option<f64> {
        self.times.as_ref().map(Histogram::mean).filter(|mean| mean.is_finite() && *mean > 0.0)
    }

    pub(super) fn quantile(&self, q: f64) -> Option<f64> {
        self.times.as_ref().map(|times| times.value_at_quantile(q) as f64).filter(|ns| *ns > 0.0)
    }

    /// Share of the right answers whose response time lies between two times.
    pub(super) fn share_between(&self, low_ns: u64, high_ns: u64) -> Option<f64> {
        let times = self.times.as_ref()?;
        Some(times.count_between(low_ns, high_ns) as f64 / times.len() as f64)
    }

    /// Failed requests of some classes, and all scheduled ones.
    pub(super) fn failed(&self, wanted: impl Fn(ErrorClass) -> bool) -> (u64, u64) {
        self.loads().fold((0, 0), |(failed, scheduled), load| {
            let of = load.errors.iter().filter(|(class, _)| wanted(**class)).map(|(_, count)| *count);
            (of.fold(failed, u64::saturating_add), scheduled.saturating_add(load.requests.scheduled))
        })
    }

    pub(super) fn failed_share(&self, wanted: impl Fn(ErrorClass) -> bool) -> f64 {
        let (failed, scheduled) = self.failed(wanted);
        failed as f64 / scheduled.max(1) as f64
    }

    /// The CPUs that the target is confined to; a server that prony did not start runs where it likes.
    pub(super) fn pinned(&self) -> Option<&'a [u32]> {
        let is_started =
            self.target().is_none_or(|target| !matches!(target.source, TargetSource::Url { .. }));
        self.plan.pin.target.as_deref().filter(|_| is_started)
    }

    /// CPUs that the target can have, and what sets them.
    pub(super) fn cpus(&self) -> Option<(f64, Said)> {
        let pinned = self.pinned().map(|cpus| cpus.len() as f64);
        let all = pinned
            .map(|cpus| (cpus, said!("why.scene.cpu_set", "its CPU set")))
            .or_else(|| Some((self.max("host.stat/cpus")?, said!("why.scene.host_cpus", "the host's CPUs"))));
        let quota = self.cell.limits.cpus.or_else(|| self.max("target.cgroup/cpus_limit"));
        let quota = quota
            .filter(|quota| *quota > 0.0)
            .map(|quota| (quota, said!("why.scene.cpu_quota", "its CPU quota")));
        match (all, quota) {
            (Some(all), Some(quota)) => Some(if quota.0 < all.0 { quota } else { all }),
            (all, quota) => quota.or(all),
        }
    }

    /// Busy share of the CPUs that the target can have.
    pub(super) fn utilisation(&self) -> Option<f64> {
        let (cpus, _) = self.cpus()?;
        Some(self.rate("target.process/cpu_ns")? / 1e9 / cpus)
    }

    /// How the CPUs that the target runs on were used; `None` where a CPU of them was not read.
    pub(super) fn cores(&self) -> Option<Cores> {
        let cpus: Vec<u32> = match self.pinned().filter(|cpus| !cpus.is_empty()) {
            Some(cpus) => cpus.to_vec(),
            None => (0..self.max("host.stat/cpus")? as u32).collect(),
        };
        let each: Vec<f64> =
            cpus.iter().filter_map(|cpu| self.mean(&format!("host.cpus/cpu{cpu}_busy_percent"))).collect();
        if cpus.is_empty() || each.len() < cpus.len() {
            return None;
        }
        let count = cpus.len() as f64;
        let share = |ns_per_s: f64| ns_per_s / 1e9 / count;
        // A process on CPUs that are not shared with the target took nothing from it.
        let is_shared =
            |own: &Option<Vec<u32>>| own.as_ref().is_none_or(|own| own.iter().any(|cpu| cpus.contains(cpu)));
        let services = self
            .sources("service.", ".process")
            .iter()
            .filter_map(|source| self.rate(&format!("{source}/cpu_ns")))
            .sum();
        let services = if is_shared(&self.plan.pin.services) { share(services) } else { 0.0 };
        let generator = self.rate("generator.process/cpu_ns").map_or(0.0, share);
        let generator = if is_shared(&self.plan.pin.generator) { generator } else { 0.0 };
        // Interrupts of the target's own packets run on its CPUs and are in nobody's account.
        let packets = self.rate("host.stat/softirq_ns").unwrap_or_default()
            + self.rate("host.stat/irq_ns").unwrap_or_default();
        let of_all = self.max("host.stat/cpus").map_or(1.0, |all| (count / all).min(1.0));
        let busy = each.iter().sum::<f64>() / 100.0 / count;
        let own = share(self.rate("target.process/cpu_ns")?);
        let packets = share(packets * of_all);
        let stolen = share(self.rate("host.stat/steal_ns").unwrap_or_default() * of_all);
        let others = (busy - own - services - generator - packets - stolen).max(0.0);
        Some(Cores { busy, own, services, generator, stolen, others })
    }

    /// Share of the time for which the target's threads wanted a core and had to wait for one: run delay over CPU time
    /// and run delay. Unlike its share of the response time it does not shrink where a closed load makes requests queue
    /// inside the target.
    pub(super) fn core_wait(&self) -> Option<f64> {
        let delay = self.rate("target.process/run_delay_ns")?;
        let wanted = self.rate("target.process/cpu_ns")? + delay;
        Some(if wanted > 0.0 { delay / wanted } else { 0.0 }).filter(|share| share.is_finite())
    }

    /// CPUs that the target's threads ran on or waited for, over those that it can have; above 1 where they queue. Where
    /// it is small, full CPUs are not what holds the target back, however long the little that it wants is put off.
    pub(super) fn demand(&self) -> Option<f64> {
        let wanted = self.rate("target.process/cpu_ns")? + self.rate("target.process/run_delay_ns")?;
        Some(wanted / 1e9 / self.cpus()?.0).filter(|share| share.is_finite())
    }

    pub(super) fn target(&self) -> Option<&'a TargetPlan> {
        self.plan.targets.iter().find(|target| target.name == self.cell.target)
    }

    /// The reference target's law, where that is the target.
    pub(super) fn reference(&self) -> Option<&'a schema::experiment::Reference> {
        match &self.target()?.source {
            TargetSource::Reference { law } => Some(law),
            _ => None,
        }
    }

    /// The present value of a knob of the target.
    pub(super) fn knob(&self, name: &str) -> Option<&'a str> {
        self.target()?.knobs.get(name).map(String::as_str)
    }

    pub(super) fn is_closed(&self) -> bool {
        self.cell.load.model == LoadModel::Closed
    }

    /// What gets better when a limit is lifted, and how the ratio is written: throughput of a closed load rises, the
    /// tail of an open one falls.
    pub(super) fn better(&self, times: f64) -> (Metric, f64) {
        if self.is_closed() { (Metric::Throughput, times) } else { (Metric::P99, 1.0 / times) }
    }
}

/// Spans of which those that touch are one.
fn joined(spans: impl Iterator<Item = StallSpan>) -> Vec<StallSpan> {
    let mut whole: Vec<StallSpan> = Vec::new();
    for span in spans {
        match whole.last_mut().filter(|last| last.end_ns == span.start_ns) {
            Some(last) => {
                last.end_ns = span.end_ns;
                last.in_flight = last.in_flight.max(span.in_flight);
            }
            None => whole.push(span),
        }
    }
    whole
}

fn measured(trial: &TrialData) -> impl Iterator<Item = &IntervalLine> {
    trial.intervals.iter().filter(|line| line.phase == Some(Phase::Sample) && line.end_ns > line.start_ns)
}

fn watched(line: &IntervalLine, with: Watched) -> Option<f64> {
    match with {
        Watched::P99 => line.p99_ns.map(|ns| ns as f64),
        Watched::P50 => line.p50_ns.map(|ns| ns as f64),
        Watched::Failures => Some(line.failed.values().map(|count| *count as f64).sum()),
    }
}
