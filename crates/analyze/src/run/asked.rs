//! Metrics that are computed only where a claim names them ([`Metric::ASKED`]): from the trial's own file, its intervals
//! and its counters.
//!
//! | metric | from |
//! |---|---|
//! | `cpu` | CPU time of the target over window × (quota, or its CPUs where it has none) |
//! | `max` | longest response time of the window |
//! | `gc_count`, `gc_rate` | `gc_cycles` of the runtime, summed; over the seconds in which it was read |
//! | `gc_pause_p99`, `gc_pause_max` | the largest of the intervals' gauges (Go; PHP has the longest only); the longest pause of Node and the JVM is unknown |
//! | `gc_pause_share` | `gc_pause_ns` over the seconds in which it was read |
//! | `memory_slack` | 1 − used over held in the interval in which most is held: of Go `heap_bytes` over `total_bytes` − `released_bytes`, of PHP `used_bytes` over `held_bytes` |
//! | `bytes_per_request` | bytes received over all answers, wrong ones too |
//! | `connection_reuse`, `reconnects` | connections opened in the intervals of the samples, over requests written, over seconds |
//! | `connect_failures` | requests that failed for want of a connection over these and the connections opened |
//! | `time_wait_reuse` | `TWRecycled` over `ActiveOpens` of the generator, where it has a network of its own |
//! | `retransmissions` | `RetransSegs` over `OutSegs` (METHOD §9), of the target's namespace, else of the host |
//! | `rtt` | median over the intervals of `rtt_p50_ns` |
//! | `downtime`, `requests_lost` | the trial's events, added up |
//! | `sent_bytes`, `received_bytes` | bytes of the window over its length |
//! | `sent_per_cpu`, `received_per_cpu` | the same bytes over the CPU time of the target |
//! | `messages_completed` to `stream_length` | the trial's ledger of messages; absent where no request is a stream |
//!
//! Invariant: what was not read is absent, never 0; a trial without an event has neither downtime nor losses.

use super::TrialData;
use crate::stats::order::median;
use schema::load::{ErrorClass, LoadReport, MessageSummary};
use schema::metric::Metric;
use schema::plan::{CellPlan, ExperimentPlan};
use schema::trial::{IntervalLine, Phase};

/// Runtimes that count their collections, the first that is there.
const RUNTIMES: [&str; 4] = ["go.runtime", "jvm.runtime", "node.runtime", "php.runtime"];
/// A request that failed so never had a connection.
const NO_CONNECTION: [ErrorClass; 5] = [
    ErrorClass::Refused,
    ErrorClass::ConnectTimeout,
    ErrorClass::Unreachable,
    ErrorClass::AddressNotAvailable,
    ErrorClass::DescriptorLimit,
];

/// The value in one trial; `None` where it is unknown, or not a number.
pub(super) fn value(plan: &ExperimentPlan, trial: &TrialData, metric: Metric) -> Option<f64> {
    raw(plan, trial, metric).filter(|value| value.is_finite() && *value >= 0.0)
}

fn raw(plan: &ExperimentPlan, trial: &TrialData, metric: Metric) -> Option<f64> {
    let load = trial.file.load.as_ref()?;
    let window_s = load.window.duration_ns as f64 / 1e9;
    match metric {
        Metric::Cpu => {
            let cell = plan.cells.iter().find(|cell| cell.id == trial.file.cell)?;
            Some(trial.file.target.cpu_s? / window_s / allowed(plan, cell)?)
        }
        Metric::Max => load.latency_ns.response.max.map(|ns| ns as f64),
        Metric::GcCount => counted(trial, "gc_cycles").map(|(sum, _)| sum),
        Metric::GcRate => counted(trial, "gc_cycles").map(|(sum, seconds)| sum / seconds),
        Metric::GcPauseShare => counted(trial, "gc_pause_ns").map(|(sum, seconds)| sum / seconds / 1e9),
        Metric::GcPauseP99 => largest(trial, "go.runtime/gc_pause_p99_ns"),
        Metric::GcPauseMax => largest(trial, "go.runtime/gc_pause_max_ns")
            .or_else(|| largest(trial, "php.runtime/gc_pause_max_ns")),
        Metric::MemorySlack => slack(trial),
        Metric::BytesPerRequest => {
            let answers: u64 = load.status.values().sum();
            Some(load.bytes.read as f64 / answers as f64)
        }
        Metric::ConnectionReuse => {
            let (opened, requests, _) = connections(trial);
            (requests > 0.0).then(|| (1.0 - opened / requests).max(0.0))
        }
        Metric::Reconnects => {
            let (opened, _, seconds) = connections(trial);
            Some(opened / seconds)
        }
        Metric::ConnectFailures => connect_failures(trial, load),
        Metric::TimeWaitReuse => {
            // The host's counts are of all its programs.
            trial.file.target.confinement.as_ref()?.generator.as_ref()?;
            Some(sum(trial, "tcp.netstat/TWRecycled")? / sum(trial, "tcp.snmp/ActiveOpens")?)
        }
        Metric::Retransmissions => {
            let of = |source: &str| {
                Some(
                    sum(trial, &format!("{source}/RetransSegs"))? / sum(trial, &format!("{source}/OutSegs"))?,
                )
            };
            of("target.snmp").or_else(|| of("tcp.snmp"))
        }
        Metric::Rtt => median(&gauge(trial, "target.connections/rtt_p50_ns")?),
        Metric::Downtime => of_events(trial, |event| {
            // Where probes still failed at the end, the time is not known.
            (!event.still_down).then(|| event.unavailable_ns.unwrap_or(0) as f64)
        }),
        Metric::RequestsLost => of_events(trial, |event| Some(event.effect?.lost as f64)),
        Metric::SentBytes => Some(load.bytes.written as f64 / window_s),
        Metric::ReceivedBytes => Some(load.bytes.read as f64 / window_s),
        Metric::SentPerCpu => Some(load.bytes.written as f64 / trial.file.target.cpu_s?),
        Metric::ReceivedPerCpu => Some(load.bytes.read as f64 / trial.file.target.cpu_s?),
        _ => of_messages(load.messages.as_ref()?, metric),
    }
}

fn of_messages(messages: &MessageSummary, metric: Metric) -> Option<f64> {
    let ns = |ns: Option<u64>| ns.map(|ns| ns as f64);
    match metric {
        Metric::MessagesCompleted => Some(messages.completed_per_s),
        Metric::MessagesReceived => Some(messages.received_per_s),
        Metric::MessageP50 => ns(messages.response.p50),
        Metric::MessageP99 => ns(messages.response.p99),
        Metric::FirstMessageP50 => ns(messages.first_message.p50),
        Metric::FirstMessageP99 => ns(messages.first_message.p99),
        Metric::MessageGapP99 => ns(messages.gap.p99),
        Metric::StreamLength => Some(messages.per_stream?.mean),
        _ => None,
    }
}

/// CPUs that the target may use: its quota, or those that it is confined to, whichever is less. Unknown without both.
#[must_use]
pub fn allowed(plan: &ExperimentPlan, cell: &CellPlan) -> Option<f64> {
    let pinned = plan.pin.target.as_ref().map(|cpus| cpus.len() as f64);
    match (cell.limits.cpus, pinned) {
        (Some(quota), Some(cpus)) => Some(quota.min(cpus)),
        (quota, cpus) => quota.or(cpus),
    }
}

/// Sum of a runtime's counter, and the seconds of the intervals in which it was read.
fn counted(trial: &TrialData, name: &str) -> Option<(f64, f64)> {
    let signals = trial.signals.as_ref()?;
    let of = |runtime: &&str| {
        let values = signals.deltas.get(&format!("{runtime}/{name}"))?;
        let mut found = (0.0, 0.0);
        for (end, value) in signals.ends_ns.iter().zip(values) {
            let line = trial.intervals.iter().find(|line| line.end_ns == *end);
            if let (Some(line), Some(value)) = (line, value) {
                found = (found.0 + value, found.1 + seconds(line));
            }
        }
        (found.1 > 0.0).then_some(found)
    };
    RUNTIMES.iter().find_map(of)
}

fn gauge(trial: &TrialData, key: &str) -> Option<Vec<f64>> {
    let values: Vec<f64> = trial.signals.as_ref()?.gauges.get(key)?.iter().copied().flatten().collect();
    (!values.is_empty()).then_some(values)
}

fn largest(trial: &TrialData, key: &str) -> Option<f64> {
    gauge(trial, key).map(|values| values.into_iter().fold(0.0, f64::max))
}

/// Of the interval in which the runtime holds most.
fn slack(trial: &TrialData) -> Option<f64> {
    let gauges = &trial.signals.as_ref()?.gauges;
    let of = |key: &str| gauges.get(key);
    let of_go = || {
        let (total, released) = (of("go.runtime/total_bytes")?, of("go.runtime/released_bytes")?);
        let held = total.iter().zip(released).map(|(total, released)| Some((*total)? - (*released)?));
        Some((held.collect::<Vec<_>>(), of("go.runtime/heap_bytes")?.clone()))
    };
    let of_php = || Some((of("php.runtime/held_bytes")?.clone(), of("php.runtime/used_bytes")?.clone()));
    let (held, used) = of_go().or_else(of_php)?;
    let both = held.into_iter().zip(used).filter_map(|(held, used)| Some((held?, used?)));
    let (held, used) = both.max_by(|a, b| a.0.total_cmp(&b.0))?;
    Some(1.0 - used / held)
}

fn sum(trial: &TrialData, key: &str) -> Option<f64> {
    let values = trial.signals.as_ref()?.deltas.get(key)?;
    let read: Vec<f64> = values.iter().copied().flatten().collect();
    (!read.is_empty()).then(|| read.iter().sum())
}

/// Connections opened in the samples, requests that ended in them, and their length in seconds.
fn connections(trial: &TrialData) -> (f64, f64, f64) {
    let samples = trial.intervals.iter().filter(|line| line.phase == Some(Phase::Sample));
    samples.fold((0.0, 0.0, 0.0), |(opened, requests, length), line| {
        let ended = line.completed + line.failed.values().sum::<u64>();
        (opened + line.connects as f64, requests + ended as f64, length + seconds(line))
    })
}

fn connect_failures(trial: &TrialData, load: &LoadReport) -> Option<f64> {
    let failed: u64 = NO_CONNECTION.iter().filter_map(|class| load.errors.get(class)).sum();
    let (opened, ..) = connections(trial);
    // A load that keeps its connections makes no attempt within its samples: all that it asked for were tried before.
    let opened = if opened > 0.0 { opened } else { load.connections.established as f64 };
    let tried = failed as f64 + opened;
    (tried > 0.0).then(|| failed as f64 / tried)
}

fn of_events(trial: &TrialData, one: impl Fn(&schema::event::EventRecord) -> Option<f64>) -> Option<f64> {
    let events = &trial.file.events;
    if events.is_empty() || events.iter().any(|event| event.error.is_some()) {
        return None;
    }
    events.iter().map(one).sum()
}

fn seconds(line: &IntervalLine) -> f64 {
    line.end_ns.saturating_sub(line.start_ns) as f64 / 1e9
}
