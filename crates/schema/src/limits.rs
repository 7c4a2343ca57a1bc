//! What a target is confined to: as a user writes it, as the plan has it, and what a trial really had.
//!
//! Invariant: [`Confinement`] holds only what was read back from the system after it was set; what was asked for and
//! could not be had is a sentence in its `weaknesses`, never a value.

use crate::experiment::OneOrMany;
use crate::said::Said;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::net::Ipv4Addr;
use std::path::PathBuf;
use units::{BitsPerSecond, Bytes, Nanos};

/// `[limits]`, and `limits = { … }` of a target, whose keys go before.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LimitsUse {
    /// CPU time per second of time, in CPUs, for example 0.5; a list makes a factor. Default: no quota.
    pub cpus: Option<OneOrMany<f64>>,
    /// Memory of all the target's processes together; beyond it the kernel kills one of them. Default: no limit.
    pub memory: Option<Bytes>,
    /// Whether its memory may be swapped out. Default: as the host does.
    pub swap: Option<bool>,
    /// Memory that each of its processes may lock (RLIMIT_MEMLOCK): a size, or `unlimited`. Default: as prony's own.
    pub memory_lock: Option<MemoryLockUse>,
    /// `host`, or `isolated`: a network namespace for each trial, reached over a pair of virtual devices. Default host.
    pub network: Option<NetworkMode>,
    /// Settings of the isolated network by name, for example `"net.ipv4.tcp_tw_reuse" = 1`.
    #[serde(default)]
    pub sysctls: BTreeMap<String, SysctlValue>,
    /// Speed of the isolated network in each direction, for example `"1gbit"`. Default: as fast as it goes.
    pub rate: Option<BitsPerSecond>,
    /// Share of packets lost in the isolated network in each direction, from 0 to 1. Default: none.
    pub loss: Option<f64>,
    /// Time that each packet is held up in each direction of the isolated network, for example `"7ms"`. Default: none.
    pub delay: Option<Nanos>,
    /// The network that the load comes from.
    pub generator: Option<GeneratorUse>,
}

/// `[limits.generator]`: where the load comes from.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GeneratorUse {
    /// `host`, or `isolated`: a network namespace of its own for each trial, joined to the target's. Default host.
    pub network: Option<NetworkMode>,
    /// Settings of its network by name, for example `"net.ipv4.tcp_tw_reuse" = 1`.
    #[serde(default)]
    pub sysctls: BTreeMap<String, SysctlValue>,
}

/// How much memory a process may lock, as a user writes it: a size such as `"64MiB"`, or `"unlimited"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(try_from = "NumberOrText", into = "String")]
#[schemars(with = "NumberOrText")]
pub struct MemoryLockUse(pub MemoryLock);

/// How much memory a process may lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MemoryLock {
    /// As much as there is.
    Unlimited,
    /// So many bytes.
    Bytes(u64),
}

/// What may stand in a file for a size with a word among its values.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
enum NumberOrText {
    Number(u64),
    Text(String),
}

impl TryFrom<NumberOrText> for MemoryLockUse {
    type Error = String;

    fn try_from(written: NumberOrText) -> Result<Self, String> {
        let text = match written {
            NumberOrText::Number(bytes) => return Ok(Self(MemoryLock::Bytes(bytes))),
            NumberOrText::Text(text) => text,
        };
        if text.trim() == "unlimited" {
            return Ok(Self(MemoryLock::Unlimited));
        }
        let bytes: Bytes = text.parse().map_err(|error| format!("{error}, or unlimited"))?;
        Ok(Self(MemoryLock::Bytes(bytes.0)))
    }
}

impl From<MemoryLockUse> for String {
    fn from(wanted: MemoryLockUse) -> Self {
        wanted.0.to_string()
    }
}

impl fmt::Display for MemoryLock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unlimited => f.write_str("unlimited"),
            Self::Bytes(bytes) => Bytes(*bytes).fmt(f),
        }
    }
}

/// Whose network a target is in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NetworkMode {
    /// The host's, on loopback.
    #[default]
    Host,
    /// Its own for each trial.
    Isolated,
}

/// The value of a setting: a whole number, or text such as `"1024 65000"`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum SysctlValue {
    /// A whole number.
    Number(i64),
    /// Anything else.
    Text(String),
}

impl fmt::Display for SysctlValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Text(text) => text.fmt(f),
        }
    }
}

/// What a target is to be confined to in one cell, resolved.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct LimitsPlan {
    /// CPU quota in CPUs; none where absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpus: Option<f64>,
    /// Limit of memory; none where absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// Whether memory may be swapped out; as the host does where absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub swap: Option<bool>,
    /// How much memory each of its processes may lock; as prony's own where absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_lock: Option<MemoryLock>,
    /// Whose network.
    pub network: NetworkMode,
    /// Settings of the isolated network.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub sysctls: BTreeMap<String, String>,
    /// Speed of the isolated network in each direction; unlimited where absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_bits_per_s: Option<u64>,
    /// Share of packets lost in each direction; none where absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss: Option<f64>,
    /// Time that each packet is held up in each direction; none where absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay_ns: Option<u64>,
    /// The generator's own network; the host's where absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generator: Option<GeneratorPlan>,
}

/// The network that the load comes from, resolved.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct GeneratorPlan {
    /// Its settings.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub sysctls: BTreeMap<String, String>,
}

impl LimitsPlan {
    /// Whether nothing is confined.
    #[must_use]
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// Whether the target has a network of its own.
    #[must_use]
    pub fn is_isolated(&self) -> bool {
        self.network == NetworkMode::Isolated
    }
}

/// In words: `0.5 CPUs, 2GiB, isolated network at 1gbit`; empty where nothing is confined.
impl fmt::Display for LimitsPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        if let Some(cpus) = self.cpus {
            parts.push(format!("{cpus} CPU{}", if cpus == 1.0 { "" } else { "s" }));
        }
        parts.extend(self.memory_bytes.map(|bytes| Bytes(bytes).to_string()));
        parts.extend(self.swap.map(|swap| if swap { "swap" } else { "no swap" }.to_owned()));
        parts.extend(self.memory_lock.map(|lock| format!("{lock} of locked memory")));
        if self.is_isolated() {
            let mut text = "isolated network".to_owned();
            if let Some(rate) = self.rate_bits_per_s {
                text += &format!(" at {}", BitsPerSecond(rate));
            }
            if let Some(loss) = self.loss {
                text += &format!(" losing {loss} of packets");
            }
            if let Some(delay_ns) = self.delay_ns {
                text += &format!(" with a delay of {}", Nanos(delay_ns));
            }
            parts.push(text);
        }
        parts.extend(self.sysctls.iter().map(|(name, value)| format!("{name} = {value}")));
        if let Some(generator) = &self.generator {
            let settings = generator.sysctls.iter().map(|(name, value)| format!("{name} = {value}"));
            let settings: Vec<String> = settings.collect();
            let with = if settings.is_empty() { "" } else { " with " };
            parts.push(format!("isolated generator{with}{}", settings.join(" and ")));
        }
        f.write_str(&parts.join(", "))
    }
}

/// What a target was really confined to, as read back.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct Confinement {
    /// Name of its control groups; it holds the process identifier and start of the guard that owns them.
    pub name: String,
    /// Folders of its control groups by controller, while the trial ran.
    pub groups: BTreeMap<String, String>,
    /// CPU quota in CPUs.
    pub cpus: Option<f64>,
    /// CPUs that its group may use.
    pub cpu_set: Option<String>,
    /// Memory nodes that its group may use.
    pub memory_nodes: Option<String>,
    /// Limit of memory; the kernel rounds to pages.
    pub memory_bytes: Option<u64>,
    /// Whether its memory may be swapped out, where that was asked for.
    pub swap: Option<bool>,
    /// How much memory its first process may lock, where that was asked for.
    pub memory_lock: Option<MemoryLock>,
    /// Its own network.
    pub network: Option<IsolatedNetwork>,
    /// The generator's own network, which its load comes from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generator: Option<IsolatedGenerator>,
    /// What was asked for and could not be had, one sentence each.
    pub weaknesses: Vec<Said>,
}

/// What the kernel counted for a target's control groups within the samples; absent where it does not tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct GroupUsage {
    /// Periods of the quota (100 ms each) in which the target wanted to run.
    pub periods: Option<u64>,
    /// Of these, periods in which it was stopped because its quota was used up.
    pub throttled_periods: Option<u64>,
    /// The second divided by the first, 0 to 1.
    pub throttled_share: Option<f64>,
    /// Time for which it was stopped, added up over its CPUs.
    pub throttled_ns: Option<u64>,
    /// The most memory since the target was started, cached file pages included.
    pub memory_peak_bytes: Option<u64>,
    /// Processes killed because the memory limit was reached.
    pub oom_kills: Option<u64>,
}

/// The network of one trial.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct IsolatedNetwork {
    /// Where the target is reached.
    pub target_address: Ipv4Addr,
    /// The host's end; what runs on the host is reached from inside at this address.
    pub host_address: Ipv4Addr,
    /// Name of the host's device.
    pub host_device: String,
    /// Settings that were asked for, as read back from inside.
    pub sysctls: BTreeMap<String, String>,
    /// Speed in each direction, as `tc` shows it.
    pub rate_bits_per_s: Option<u64>,
    /// Share of packets lost in each direction.
    pub loss: Option<f64>,
    /// Sockets in TIME_WAIT inside, before the target was started.
    pub time_wait_at_start: Option<u64>,
    /// Where services of networks of their own are reached, by address.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub services: Vec<Ipv4Addr>,
    /// How packets are held up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay: Option<PathDelay>,
}

/// The generator's network of one trial.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct IsolatedGenerator {
    /// The address that the load comes from.
    pub address: Ipv4Addr,
    /// Its neighbour: the target's end of the way between them.
    pub target_end: Ipv4Addr,
    /// Where the namespace is entered while the trial runs.
    pub namespace: PathBuf,
    /// Settings that were asked for, as read back from inside.
    pub sysctls: BTreeMap<String, String>,
}

/// How packets on the way to an isolated target are held up.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct PathDelay {
    /// Who does it.
    pub by: DelayedBy,
    /// Asked for in each direction; of `netem` as it reads back.
    pub delay_ns: u64,
    /// Round trips that were measured on the idle way before the target was started.
    pub trips: u32,
    /// Median of their times less twice the delay: what the way adds of its own, or how far it is wrong.
    pub error_p50_ns: i64,
    /// The same of the slowest.
    pub error_max_ns: i64,
}

/// Who holds packets up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DelayedBy {
    /// The kernel (tc-netem(8)).
    Netem,
    /// prony's own relay between two TUN devices.
    Relay,
}

/// What the relay between two devices did in the samples of one trial.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct RelayUsage {
    /// Packets that it passed on, both directions together.
    pub packets: u64,
    /// Of those that came, those that it dropped because loss was asked for.
    pub lost: u64,
    /// Of those that came, those that found its queue full.
    pub overflowed: u64,
    /// Time beyond the delay that half of the packets spent in it, at most, in ns, to two digits.
    pub late_p50_ns: u64,
    /// The same of 99 % of the packets.
    pub late_p99_ns: u64,
    /// The longest.
    pub late_max_ns: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_told_in_words() {
        assert_eq!(LimitsPlan::default().to_string(), "");
        let limits = LimitsPlan {
            cpus: Some(0.5),
            memory_bytes: Some(2 << 30),
            swap: Some(false),
            memory_lock: Some(MemoryLock::Bytes(64 << 20)),
            network: NetworkMode::Isolated,
            rate_bits_per_s: Some(1_000_000_000),
            loss: Some(0.01),
            delay_ns: Some(7_000_000),
            sysctls: BTreeMap::from([("net.core.somaxconn".to_owned(), "128".to_owned())]),
            generator: Some(GeneratorPlan {
                sysctls: BTreeMap::from([("net.ipv4.tcp_tw_reuse".to_owned(), "1".to_owned())]),
            }),
        };
        assert_eq!(
            limits.to_string(),
            "0.5 CPUs, 2GiB, no swap, 64MiB of locked memory, isolated network at 1gbit losing 0.01 of packets with a \
             delay of 7ms, net.core.somaxconn = 128, isolated generator with net.ipv4.tcp_tw_reuse = 1"
        );
        assert!(!limits.is_none() && LimitsPlan::default().is_none());
        assert_eq!(LimitsPlan { cpus: Some(1.0), ..LimitsPlan::default() }.to_string(), "1 CPU");
    }

    #[test]
    fn limits_are_read_as_people_write_them() {
        let text = "cpus = [0.5, 1]\nmemory = \"2GiB\"\nnetwork = \"isolated\"\nrate = \"1gbit\"\n\
                    sysctls = { \"net.ipv4.tcp_tw_reuse\" = 1, \"net.ipv4.ip_local_port_range\" = \"1024 65000\" }\n";
        let limits: LimitsUse = crate::text::parse_toml("t", text).unwrap();
        assert_eq!(limits.cpus.unwrap().levels(), [0.5, 1.0]);
        assert_eq!(limits.sysctls["net.ipv4.tcp_tw_reuse"].to_string(), "1");
        assert_eq!(limits.rate, Some(BitsPerSecond(1_000_000_000)));
        for (written, read) in [
            ("\"unlimited\"", MemoryLock::Unlimited),
            ("\"64MiB\"", MemoryLock::Bytes(64 << 20)),
            ("0", MemoryLock::Bytes(0)),
        ] {
            let limits: LimitsUse =
                crate::text::parse_toml("t", &format!("memory_lock = {written}\n")).unwrap();
            assert_eq!(limits.memory_lock, Some(MemoryLockUse(read)), "{written}");
        }
        let wrong = crate::text::parse_toml::<LimitsUse>("t", "memory_lock = \"much\"\n").unwrap_err();
        assert!(wrong.to_string().contains("or unlimited"), "{wrong}");
        let wrong = crate::text::parse_toml::<LimitsUse>("t", "cpu = 1\n").unwrap_err().to_string();
        assert!(wrong.contains("cpus"), "{wrong}");
    }
}
