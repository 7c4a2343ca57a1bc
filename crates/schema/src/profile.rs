//! Profiles of a target under load: what can be taken, what was asked for, and `profiles.json`, the table of what was
//! taken and what was refused.
//!
//! Invariant: a profile is taken under a load of its own, never in a trial; nothing here is a sample of a run. What
//! could not be taken stands among the refused, with its reason and its remedy, so that silence is never taken for
//! "nothing was found".

use crate::said::Said;
use crate::version::ProfilesVersion;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use units::Nanos;

/// A kind of profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ProfileKind {
    /// Go: CPU time by stack.
    Cpu,
    /// Go: memory that is live at the end of the window, by where it was allocated.
    Heap,
    /// Go: memory allocated in the window.
    Allocs,
    /// Go: time that goroutines were blocked in the window, on channels, locks and conditions.
    Block,
    /// Go: time that goroutines waited for contended mutexes in the window.
    Mutex,
    /// Go: what the goroutines do at one moment.
    Goroutine,
    /// Go: how long goroutines that could run waited for a thread, by stack, from an execution trace.
    Trace,
    /// Any native program: CPU time by stack, kernel included, by `perf`.
    Perf,
    /// JVM: running Java threads by stack, by Java Flight Recorder.
    Jfr,
    /// Node.js: CPU time of JavaScript by stack, through the inspector.
    Node,
    /// PHP: time by stack, by Excimer.
    Php,
    /// Any program: how often and how long each system call, by `bpftrace`.
    Syscalls,
    /// Any program: how long its threads were off the CPU, by thread name and reason, by `bpftrace`.
    OffCpu,
    /// Any program: how long its own TCP connections took to be established, by `bpftrace`.
    Connect,
}

impl ProfileKind {
    /// Every kind, in the order in which they are taken.
    pub const ALL: [Self; 14] = [
        Self::Cpu,
        Self::Allocs,
        Self::Block,
        Self::Mutex,
        Self::Heap,
        Self::Goroutine,
        Self::Trace,
        Self::Jfr,
        Self::Node,
        Self::Php,
        Self::Perf,
        Self::Syscalls,
        Self::OffCpu,
        Self::Connect,
    ];

    /// The names, for argument parsers.
    pub const KEYS: [&'static str; 14] = [
        "cpu",
        "allocs",
        "block",
        "mutex",
        "heap",
        "goroutine",
        "trace",
        "jfr",
        "node",
        "php",
        "perf",
        "syscalls",
        "off-cpu",
        "connect",
    ];

    /// The name used in files and on screens.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Heap => "heap",
            Self::Allocs => "allocs",
            Self::Block => "block",
            Self::Mutex => "mutex",
            Self::Goroutine => "goroutine",
            Self::Trace => "trace",
            Self::Perf => "perf",
            Self::Jfr => "jfr",
            Self::Node => "node",
            Self::Php => "php",
            Self::Syscalls => "syscalls",
            Self::OffCpu => "off-cpu",
            Self::Connect => "connect",
        }
    }

    /// Whether Go's own `net/http/pprof` gives it.
    #[must_use]
    pub const fn is_go(self) -> bool {
        matches!(
            self,
            Self::Cpu | Self::Heap | Self::Allocs | Self::Block | Self::Mutex | Self::Goroutine | Self::Trace
        )
    }
}

/// What the values of a profile count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProfileUnit {
    /// Nanoseconds of CPU time, extrapolated from samples.
    CpuNs,
    /// Nanoseconds of elapsed time.
    ElapsedNs,
    /// Nanoseconds blocked or waiting.
    BlockedNs,
    /// Bytes.
    Bytes,
    /// Objects allocated.
    Objects,
    /// Samples, each one thread that was seen running.
    Samples,
    /// Goroutines.
    Goroutines,
}

impl ProfileUnit {
    /// What is counted, in words.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::CpuNs => "ns of CPU time",
            Self::ElapsedNs => "ns",
            Self::BlockedNs => "ns blocked",
            Self::Bytes => "bytes",
            Self::Objects => "objects",
            Self::Samples => "samples",
            Self::Goroutines => "goroutines",
        }
    }
}

/// `[profile]` of an experiment file: profiles taken after the last trial, outside of all samples.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProfileUse {
    /// What to take. Default: what the target's language gives, and perf where it is installed.
    #[serde(default)]
    pub kinds: Vec<ProfileKind>,
    /// Of which cells: `knee` (of a ladder the cell at the knee, else the first) or `all`. Default knee.
    pub at: Option<ProfileAt>,
    /// Length of the window of each kind, 1s to 300s. Default 10s.
    pub window: Option<Nanos>,
}

/// Of which cells profiles are taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProfileAt {
    /// The cell at the knee of a ladder; of other runs the first cell.
    #[default]
    Knee,
    /// Each cell.
    All,
}

/// `[profile]`, resolved.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct ProfilePlan {
    /// What to take; what the target gives where empty.
    pub kinds: Vec<ProfileKind>,
    /// Of which cells.
    pub at: ProfileAt,
    /// Length of the window of each kind.
    pub window_ns: u64,
}

/// `profiles.json`, also `prony profile --format json`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProfilesFile {
    /// Format and version.
    pub schema: ProfilesVersion,
    /// The run whose cells were loaded; absent where an experiment file was.
    pub run: Option<String>,
    /// What these profiles are, and are not.
    pub note: Said,
    /// One entry for each load, in the order taken; a cell that was loaded again, for other kinds, has two.
    pub cells: Vec<ProfiledCell>,
    /// Differences between two cells.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub comparisons: Vec<ProfileComparison>,
}

/// One cell that was loaded for profiles.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProfiledCell {
    /// Its identifier.
    pub cell: String,
    /// For people.
    pub label: String,
    /// Name of its target.
    pub target: String,
    /// Why it was chosen.
    pub chosen: Said,
    /// Length of the window of each kind.
    pub window_ns: u64,
    /// What the target was given besides what the run gave it, for example the knob `pprof`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, String>,
    /// Right answers per second while the profiles were taken; absent where the load did not get that far.
    pub throughput_per_s: Option<f64>,
    /// Failed and censored requests meanwhile.
    pub failed: u64,
    /// What was taken.
    pub taken: Vec<TakenProfile>,
    /// What was not.
    pub refused: Vec<RefusedProfile>,
}

/// One profile, or one view of it where a profile has several units.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TakenProfile {
    /// Kind.
    pub kind: ProfileKind,
    /// Name of its files without ending: that of the kind, with a suffix for a second view.
    pub name: String,
    /// What the values count.
    pub unit: ProfileUnit,
    /// Sum of all values.
    pub total: u64,
    /// Different stacks.
    pub stacks: u64,
    /// Files, relative to the folder of `profiles.json`.
    pub files: Vec<String>,
    /// The functions with the largest own share, at most 10.
    pub top: Vec<TopFunction>,
    /// What was cut, and what else must be known to read it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Said>,
}

/// One function of a profile.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TopFunction {
    /// Its name, cleaned of control characters.
    pub function: String,
    /// Value of the stacks that end in it.
    pub flat: u64,
    /// Share of the total, 0 to 1.
    pub flat_share: f64,
    /// Value of the stacks that it is in.
    pub cumulative: u64,
    /// Share of the total, 0 to 1.
    pub cumulative_share: f64,
}

/// What was asked for and could not be taken.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RefusedProfile {
    /// Kind.
    pub kind: ProfileKind,
    /// Why.
    pub why: Said,
    /// What would cure it.
    pub remedy: Said,
}

/// A differential flame graph between two cells.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProfileComparison {
    /// Name of the profiles that are compared.
    pub name: String,
    /// Cell that is compared with.
    pub base: String,
    /// Cell that is drawn: red grew from `base`, blue shrank, as shares.
    pub cell: String,
    /// File, relative to the folder of `profiles.json`.
    pub file: String,
    /// The functions whose own share moved most, at most 10.
    pub moved: Vec<MovedFunction>,
}

/// A function in two profiles.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MovedFunction {
    /// Its name, cleaned of control characters.
    pub function: String,
    /// Its own share in `base`, 0 to 1.
    pub base_share: f64,
    /// Its own share in `cell`, 0 to 1.
    pub share: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_keys_are_those_of_the_files() {
        for (kind, key) in ProfileKind::ALL.into_iter().zip(ProfileKind::KEYS) {
            assert_eq!(kind.key(), key);
            assert_eq!(serde_json::to_value(kind).unwrap(), key);
        }
    }
}
