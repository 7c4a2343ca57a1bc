//! Findings: what held a target back, with the counters that show it, what was ruled out, and what would confirm it
//! (METHOD §9). Part of `analysis.json`, and the output of `prony why --format json`.
//!
//! Invariant: a finding is "consistent with" its cause until an intervention moved the numbers as predicted; only then
//! it is "because".

use crate::metric::Metric;
use crate::said;
use crate::said::Said;
use crate::spans::SpansFile;
use crate::version::WhyVersion;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `prony why --format json`: the findings of a run by cell.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct WhyFile {
    /// Format and version.
    pub schema: WhyVersion,
    /// Name of the run folder.
    pub run: String,
    /// One entry a cell, in plan order.
    pub cells: Vec<CellWhy>,
    /// Where the time of slow requests went, where the target's spans were given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spans: Option<SpansFile>,
}

/// What was found in one cell, what was looked at and ruled out, and what could not be looked at.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct CellWhy {
    /// Cell identifier.
    pub cell: String,
    /// For people.
    pub label: String,
    /// Trials that were looked at.
    pub trials: u32,
    /// Whether these are void trials, because there are no valid ones: what voided them comes first.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub void_only: bool,
    /// The answer in one sentence.
    pub answer: Said,
    /// Worst first.
    pub findings: Vec<Finding>,
    /// Causes that were looked at and are not it, with the number that says so.
    pub ruled_out: Vec<RuledOut>,
    /// Causes that could not be looked at.
    pub unread: Vec<Unread>,
}

/// A diagnosis with its evidence.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct Finding {
    /// What it is about.
    pub cause: FindingCause,
    /// Whether it is news.
    pub level: FindingLevel,
    /// How much it matters.
    #[serde(default)]
    pub severity: FindingSeverity,
    /// How sure it is.
    #[serde(default)]
    pub certainty: Certainty,
    /// Cell identifier.
    pub cell: String,
    /// What was found, with its numbers.
    pub text: Said,
    /// The numbers it rests on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Evidence>,
    /// What ties the cause to the times and rates that users see; absent where that could not be shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub association: Option<Association>,
    /// Another finding of this cell that this one is a consequence of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub follows: Option<FindingCause>,
    /// What would show whether it is so, or cure it.
    pub remedy: Option<Said>,
    /// The experiment that would confirm it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intervention: Option<Intervention>,
    /// Where the rule comes from.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub source: String,
}

/// What a finding is about (METHOD §9).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FindingCause {
    /// prony itself could not make the load.
    GeneratorSaturated,
    /// CPU time that the hypervisor gave to others.
    Steal,
    /// The speed of the host's clock changed.
    ClockDrift,
    /// Other processes on the target's CPUs.
    HostBusy,
    /// The target's CPUs were full with itself, its services and others together.
    CoreFull,
    /// The CPU quota.
    #[default]
    Throttling,
    /// The target used all the CPU it could have.
    CpuSaturated,
    /// Its threads waited for a core.
    RunQueue,
    /// Its memory limit.
    MemoryLimit,
    /// Memory moved to and from a disk.
    Swap,
    /// Pauses of garbage collection.
    GcPauses,
    /// CPU time of garbage collection.
    AllocationPressure,
    /// Goroutines or threads that only grow in number.
    ThreadGrowth,
    /// Memory that only grows.
    MemoryGrowth,
    /// Waiting for a connection of a pool.
    PoolWait,
    /// The database did as much as it could.
    DatabaseSaturated,
    /// The cache was slow or missed.
    CacheSlow,
    /// Waiting for answers of another service.
    DownstreamWait,
    /// Many questions to another service for each request.
    DownstreamCalls,
    /// Questions to another service that are asked again and again.
    RetryStorm,
    /// Threads waited for each other.
    LockContention,
    /// Threads waited for a disk.
    DiskWait,
    /// An event loop was held up by one long piece of work.
    EventLoopBlocked,
    /// All workers of a fixed number were busy.
    WorkersExhausted,
    /// The queue of connections that wait to be accepted was full.
    AcceptQueue,
    /// No local port was left.
    PortExhaustion,
    /// Connections served few requests each.
    ConnectionChurn,
    /// HTTP/2: the server left connections after few requests.
    GoawayChurn,
    /// HTTP/2: the server allowed fewer streams at a time than the load was to use.
    StreamLimit,
    /// HTTP/2: a window smaller than what is under way on the path.
    SmallWindow,
    /// HTTP/2: all streams stood still behind packets that one connection had lost.
    HeadOfLine,
    /// Lost packets.
    Retransmission,
    /// Answers in two parts, the second of which waited for an acknowledgement.
    DelayedAck,
    /// The speed of the network.
    Bandwidth,
    /// The limit of open descriptors.
    DescriptorLimit,
    /// Descriptors that are opened and never closed.
    DescriptorLeak,
    /// The target still got faster while it was measured.
    ColdCode,
    /// Some workers did much more than others.
    UnevenWorkers,
    /// Some trials ran on a slower machine than others.
    SlowReplica,
    /// Failed requests.
    Errors,
    /// Seen from outside: only so many requests were served at a time.
    ConcurrencyLimit,
    /// Seen from outside: all of the target stood still, again and again.
    Stalls,
    /// Seen from outside: requests waited while the target's CPU was idle.
    WaitsInside,
    /// The hidden control, which differs from the cell it repeats.
    Control,
}

impl FindingCause {
    /// The name used in files and on command lines.
    #[must_use]
    pub fn key(self) -> String {
        serde_json::to_value(self)
            .ok()
            .and_then(|value| value.as_str().map(str::to_owned))
            .unwrap_or_default()
    }

    /// The cause inside a sentence.
    #[must_use]
    pub fn words(self) -> Said {
        match self {
            Self::GeneratorSaturated => said!("cause.generator_saturated", "a saturated generator"),
            Self::Steal => said!("cause.steal", "stolen CPU time"),
            Self::ClockDrift => said!("cause.clock_drift", "a drifting CPU clock"),
            Self::CoreFull => said!("cause.core_full", "a full core"),
            Self::HostBusy => said!("cause.host_busy", "other processes on its CPUs"),
            Self::Throttling => said!("cause.throttling", "throttling by the CPU quota"),
            Self::CpuSaturated => said!("cause.cpu_saturated", "a saturated CPU"),
            Self::RunQueue => said!("cause.run_queue", "threads that wait for a core"),
            Self::MemoryLimit => said!("cause.memory_limit", "its memory limit"),
            Self::Swap => said!("cause.swap", "swapping"),
            Self::GcPauses => said!("cause.gc_pauses", "pauses of garbage collection"),
            Self::AllocationPressure => {
                said!("cause.allocation_pressure", "the CPU cost of garbage collection")
            }
            Self::ThreadGrowth => said!("cause.thread_growth", "threads that only grow in number"),
            Self::MemoryGrowth => said!("cause.memory_growth", "memory that only grows"),
            Self::PoolWait => said!("cause.pool_wait", "waiting for a pool"),
            Self::DatabaseSaturated => said!("cause.database_saturated", "a saturated database"),
            Self::CacheSlow => said!("cause.cache_slow", "a slow cache"),
            Self::DownstreamWait => said!("cause.downstream_wait", "waiting for another service"),
            Self::DownstreamCalls => {
                said!("cause.downstream_calls", "many calls of another service for each request")
            }
            Self::RetryStorm => said!("cause.retry_storm", "a storm of retries"),
            Self::DiskWait => said!("cause.disk_wait", "waiting for a disk"),
            Self::LockContention => said!("cause.lock_contention", "threads that wait at a lock"),
            Self::EventLoopBlocked => said!("cause.event_loop_blocked", "a blocked event loop"),
            Self::WorkersExhausted => said!("cause.workers_exhausted", "too few workers"),
            Self::AcceptQueue => said!("cause.accept_queue", "a full accept queue"),
            Self::PortExhaustion => said!("cause.port_exhaustion", "local ports that ran out"),
            Self::ConnectionChurn => said!("cause.connection_churn", "connections that are not kept"),
            Self::GoawayChurn => said!("cause.goaway_churn", "a server that leaves its connections"),
            Self::StreamLimit => said!("cause.stream_limit", "the server's limit of streams"),
            Self::SmallWindow => said!("cause.small_window", "a small window on a long path"),
            Self::HeadOfLine => {
                said!("cause.head_of_line", "streams that stand still behind a lost packet")
            }
            Self::Retransmission => said!("cause.retransmission", "lost packets"),
            Self::DelayedAck => said!("cause.delayed_ack", "delayed acknowledgements"),
            Self::Bandwidth => said!("cause.bandwidth", "the speed of the network"),
            Self::DescriptorLimit => said!("cause.descriptor_limit", "the limit of open descriptors"),
            Self::DescriptorLeak => said!("cause.descriptor_leak", "descriptors that are never closed"),
            Self::ColdCode => said!("cause.cold_code", "code that was not warm"),
            Self::UnevenWorkers => said!("cause.uneven_workers", "uneven workers"),
            Self::SlowReplica => said!("cause.slow_replica", "trials on a slower machine"),
            Self::Errors => said!("cause.errors", "failed requests"),
            Self::ConcurrencyLimit => {
                said!("cause.concurrency_limit", "a limit of how many requests are served at a time")
            }
            Self::Stalls => said!("cause.stalls", "a target that stands still again and again"),
            Self::WaitsInside => said!("cause.waits_inside", "requests that wait while its CPU is idle"),
            Self::Control => said!("cause.control", "a control that differs from itself"),
        }
    }
}

/// Whether a finding is news.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FindingLevel {
    /// The experiment asked for it.
    Fact,
    /// It may explain numbers that look like the target's own.
    #[default]
    Finding,
}

/// How much a finding matters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FindingSeverity {
    /// Its rule is met, but that it moves what users see was not shown, or it moves little.
    Low,
    /// It moves what users see, or will.
    #[default]
    Medium,
    /// It holds the target back, or voids the numbers.
    High,
}

/// How sure a finding is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Certainty {
    /// What was read agrees with it; nothing was changed to see.
    #[default]
    ConsistentWith,
    /// It was changed, and the numbers moved as predicted.
    Because,
}

/// A number that a finding rests on.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct Evidence {
    /// What it is, in words.
    pub what: Said,
    /// Its value, in words with its unit.
    pub value: Said,
    /// The value from which the rule holds, in words; absent where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<Said>,
    /// Where it was read, for example `target.process/run_delay_ns`.
    pub from: String,
}

/// What ties a cause to what users see.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Association {
    /// The cause's time for each request, over the mean response time.
    Accounts {
        /// From 0; above 1 where several waits overlap.
        share: f64,
    },
    /// The resource is used up: utilisation law, busy time over what there was (Denning & Buzen 1978).
    Bound {
        /// From 0 to 1.
        utilisation: f64,
    },
    /// The system stopped or failed the target itself, so that no statistics is needed.
    Direct {
        /// Of time, periods, requests or trials, as the evidence says; 0 to 1.
        share: f64,
    },
    /// It moves together with what users see, second by second: circular-shift permutation within trials.
    Time {
        /// Which counter.
        counter: String,
        /// What it moves with.
        with: Watched,
        /// Spearman's rank correlation, mean over trials; −1 to 1.
        rho: f64,
        /// One-sided p of no association.
        p: f64,
        /// The same after the correction of Benjamini and Hochberg over all tests of the run.
        q: f64,
    },
    /// It rises all the time, in each trial: one-sided exact Kendall tests combined by Fisher's method.
    Growth {
        /// p of no rise.
        p: f64,
    },
}

/// What users see of a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Watched {
    /// 99th percentile of response time.
    P99,
    /// Median response time.
    P50,
    /// Failed requests.
    Failures,
}

/// The experiment that would confirm a finding.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct Intervention {
    /// What is changed.
    pub change: Change,
    /// For people: what is changed, from what to what.
    pub text: Said,
    /// What is watched.
    pub metric: Metric,
    /// The predicted ratio of changed to unchanged must lie beyond this: above it where it is above 1, else below it.
    pub ratio: f64,
}

/// What an intervention changes; everything else stays.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Change {
    /// A knob of the target.
    Knob {
        /// Its name.
        name: String,
        /// The value to try.
        value: String,
    },
    /// The CPU quota; none where null.
    Cpus {
        /// In CPUs.
        value: Option<f64>,
    },
    /// The memory limit; none where null.
    Memory {
        /// In bytes.
        value: Option<u64>,
    },
    /// The share of packets lost; none where null.
    Loss {
        /// From 0 to 1.
        value: Option<f64>,
    },
    /// The speed of the isolated network; unlimited where null.
    Rate {
        /// In bits per second.
        value: Option<u64>,
    },
    /// Whether a connection serves more than one request.
    Keepalive {
        /// As the load has it.
        value: bool,
    },
    /// A key of the reference target's law, as it stands in an experiment file.
    Reference {
        /// The key.
        name: String,
        /// The value in TOML.
        value: String,
    },
    /// Something that prony cannot change by itself; `text` says what.
    ByHand,
}

/// A cause that was looked at and is not it.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct RuledOut {
    /// Which cause.
    pub cause: FindingCause,
    /// The number that says so.
    pub text: Said,
}

/// A cause that could not be looked at.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct Unread {
    /// Which cause.
    pub cause: FindingCause,
    /// What is missing.
    pub text: Said,
}
