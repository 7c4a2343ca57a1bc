//! Things that happen to a target while it is under load: as a user writes them, as they are planned, and what came
//! of them.
//!
//! Times of events count from the beginning of the first sample, because warm-up has no fixed length.

use crate::knob::KnobValue;
use crate::said::Said;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use units::Nanos;

/// `[[event]]`: a time and exactly one thing that happens.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Event {
    /// When, from the beginning of the first sample.
    pub at: Nanos,
    /// Name in the report. Default: what happens.
    pub name: Option<String>,
    /// `true`: the target is asked to end as its manifest says and is started again at the same address.
    pub restart: Option<bool>,
    /// `true`: the target is killed and started again at the same address.
    pub kill: Option<bool>,
    /// The target's first process gets this signal, for example `USR1` or `HUP`.
    pub signal: Option<EventSignal>,
    /// A command, run in the current folder; `{port}` and `{pid}` are the target's.
    pub run: Option<Vec<String>>,
    /// Cores of the target are kept busy by something else.
    pub eat_cpu: Option<EatCpu>,
    /// `true`: the target takes in changes as the `[reload]` of its manifest says.
    pub reload: Option<bool>,
    /// The target is ended as its manifest says and started again with these values of its knobs.
    pub knob: Option<BTreeMap<String, KnobValue>>,
    /// A limit of the running target is changed.
    pub limit: Option<LimitChange>,
    /// Packets are lost in the target's isolated network.
    pub drop: Option<DropPackets>,
}

/// `limit = { cpus = 0.5 }`
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LimitChange {
    /// The CPU quota from then on, in CPUs.
    pub cpus: f64,
}

/// `drop = { share = 0.01, for = "5s" }`
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DropPackets {
    /// Share of the packets in each direction, above 0 to 1, beyond what the limits lose.
    pub share: f64,
    /// For how long.
    #[serde(rename = "for")]
    pub time: Nanos,
}

/// `eat_cpu = { cores = 1, for = "5s" }`
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EatCpu {
    /// Threads that compute without a pause, on the target's CPUs, from 1 to 1024.
    pub cores: u32,
    /// For how long.
    #[serde(rename = "for")]
    pub time: Nanos,
}

/// Signals that an event may send.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum EventSignal {
    /// SIGHUP
    Hup,
    /// SIGINT
    Int,
    /// SIGQUIT
    Quit,
    /// SIGUSR1
    Usr1,
    /// SIGUSR2
    Usr2,
    /// SIGTERM
    Term,
    /// SIGWINCH
    Winch,
    /// SIGSTOP: it stands still until CONT.
    Stop,
    /// SIGCONT
    Cont,
}

/// An event of the plan.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct EventPlan {
    /// When, from the beginning of the first sample.
    pub at_ns: u64,
    /// Name in the report.
    pub name: String,
    /// What happens.
    pub action: EventAction,
}

/// What happens.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum EventAction {
    /// Ended as its manifest says and started again.
    Restart,
    /// Killed and started again.
    Kill,
    /// A signal to the first process.
    Signal {
        /// Which.
        signal: EventSignal,
    },
    /// A command.
    Run {
        /// Program and arguments.
        command: Vec<String>,
    },
    /// Cores kept busy.
    EatCpu {
        /// Threads.
        cores: u32,
        /// For how long.
        for_ns: u64,
    },
    /// As the manifest's `[reload]` says.
    Reload,
    /// Started again with other values of knobs.
    Knob {
        /// Values by knob.
        values: BTreeMap<String, String>,
    },
    /// Another CPU quota.
    Limit {
        /// In CPUs.
        cpus: f64,
    },
    /// Packets lost.
    Drop {
        /// Share in each direction.
        share: f64,
        /// For how long.
        for_ns: u64,
    },
}

/// What came of an event in one trial. Times are nanoseconds on the trial's clock.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct EventRecord {
    /// Name in the plan.
    pub name: String,
    /// When it began.
    pub began_ns: u64,
    /// When the action itself was over.
    pub ended_ns: u64,
    /// From its beginning to the first good answer after one that was missed, asked every 2 ms beside the load; absent
    /// where every probe was answered. Its own uncertainty is one probe.
    pub unavailable_ns: Option<u64>,
    /// Whether probes still failed when the watch over them ended.
    pub still_down: bool,
    /// Why it could not be carried out.
    pub error: Option<Said>,
    /// What the load saw of it; absent where no whole interval lies before it.
    pub effect: Option<EventEffect>,
}

/// What the load saw around an event. An interval is one second unless samples are shorter.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct EventEffect {
    /// Before it: up to ten intervals of the samples.
    pub before: Around,
    /// The worst interval from its beginning until recovery: lowest throughput, highest p99 and failures, each by itself.
    pub worst: Around,
    /// Requests that failed from its beginning until recovery, beyond those that failed at the rate before it.
    pub lost: u64,
    /// From its beginning to the first interval whose throughput is at least 95 % of that before and that has no
    /// more failures; absent where none came within the samples.
    pub recovered_ns: Option<u64>,
}

/// Throughput, latency and failures of some intervals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct Around {
    /// Right answers per second.
    pub throughput_per_s: f64,
    /// 99th percentile of response time by interval: the median of several.
    pub p99_ns: Option<u64>,
    /// Failed requests per second.
    pub failed_per_s: f64,
}

/// What an event did in the trials of one cell.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct EventSummary {
    /// Cell identifier.
    pub cell: String,
    /// Name of the event.
    pub name: String,
    /// Trials in which it took place and was seen by the load.
    pub trials: u32,
    /// Medians over these trials.
    pub before: Around,
    /// Medians over these trials.
    pub worst: Around,
    /// Median over these trials.
    pub lost: f64,
    /// Largest over these trials.
    pub lost_max: u64,
    /// Median time without answers; 0 where most trials had none.
    pub unavailable_ns: f64,
    /// Median time to recover over the trials that did.
    pub recovered_ns: Option<f64>,
    /// Trials that did not recover within the samples.
    pub not_recovered: u32,
    /// Why it could not be carried out, where it could not, once each.
    pub errors: Vec<Said>,
}
