//! What prony and the guard say to each other: one JSON line with the [`Spec`], then short text lines.
//!
//! prony → guard: `stop TERM 5000`, `restart {…}` with a [`Restart`] as JSON, `change {…}` with a [`Change`], or `relay`.
//! Guard → prony: `pid 123` after each start, `changed {…}` after each change, `failed TEXT`, `no-network TEXT`,
//! `relayed {…}` as the answer to `relay`, `confined {…}`, `oom 1`, `exited code 1`, `exited signal 9`, and last `gone` or
//! `left 12 13`. An end that a restart asked for is not reported. End of file on prony's side means that the guard is to end the target.

use crate::confine::{Join, Wanted};
use schema::limits::{Confinement, RelayUsage};
use schema::target::{Stop, StopSignal};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;
use units::Nanos;

/// A target that is asked to end has this long unless its manifest says otherwise.
const STOP_TIMEOUT: Nanos = Nanos::from_secs(5);

/// All that the guard needs to know.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Spec {
    /// Program and arguments.
    pub(crate) command: Vec<String>,
    /// Added to the inherited environment.
    pub(crate) env: BTreeMap<String, String>,
    /// Working directory.
    pub(crate) folder: Option<PathBuf>,
    /// CPUs that the target may use; all that the guard may use where absent.
    pub(crate) cpus: Option<Vec<u32>>,
    /// Limits and network; nothing is confined but the CPUs where absent.
    pub(crate) confine: Option<Wanted>,
    /// Where the target's process goes before it becomes the program; the guard's own note, never sent.
    #[serde(skip)]
    pub(crate) join: Option<Join>,
    /// Takes the target's stdout and stderr, appended.
    pub(crate) log: PathBuf,
    /// How to end it when prony is gone.
    pub(crate) ending: Ending,
}

/// How a target is ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) struct Ending {
    /// Asks it to end.
    pub(crate) signal: StopSignal,
    /// Killed after this.
    pub(crate) timeout_ms: u64,
}

impl Ending {
    pub(crate) fn timeout(self) -> Duration {
        Duration::from_millis(self.timeout_ms)
    }
}

impl From<&Stop> for Ending {
    fn from(stop: &Stop) -> Self {
        let timeout = stop.timeout.unwrap_or(STOP_TIMEOUT);
        Self { signal: stop.signal.unwrap_or_default(), timeout_ms: timeout.0.div_ceil(Nanos::MILLI.0) }
    }
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "stop {} {}", signal_name(self.signal), self.timeout_ms)
    }
}

impl Ending {
    /// Reads `stop TERM 5000`.
    pub(crate) fn parse(line: &str) -> Option<Self> {
        let mut words = line.strip_prefix("stop ")?.split(' ');
        let name = words.next()?;
        let signal = [StopSignal::Term, StopSignal::Int, StopSignal::Quit, StopSignal::Kill]
            .into_iter()
            .find(|signal| signal_name(*signal) == name)?;
        let timeout_ms = words.next()?.parse().ok()?;
        words.next().is_none().then_some(Self { signal, timeout_ms })
    }
}

pub(crate) fn signal_name(signal: StopSignal) -> &'static str {
    match signal {
        StopSignal::Term => "TERM",
        StopSignal::Int => "INT",
        StopSignal::Quit => "QUIT",
        StopSignal::Kill => "KILL",
    }
}

/// The target is to be ended and started again under the same guard.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) struct Restart {
    /// How it is ended.
    pub(crate) ending: Ending,
    /// Laid over its environment from now on.
    pub(crate) env: BTreeMap<String, String>,
}

/// A limit of a running target is to be changed.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Change {
    /// The quota, in CPUs.
    Cpus(f64),
    /// Share of packets lost beyond what the limits lose; 0 ends it.
    Drop(f64),
}

/// What prony tells a guard that watches a target.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Order {
    /// End the target and yourself.
    Stop(Ending),
    /// End the target and start it again.
    Restart(Restart),
    /// Change a limit and say what came of it.
    Change(Change),
    /// Say what the relay on the way to the target did since you were asked last.
    Relay,
}

impl Order {
    /// Reads one line; `None` for what prony never says.
    pub(crate) fn parse(line: &str) -> Option<Self> {
        match line.split_once(' ') {
            Some(("restart", json)) => serde_json::from_str(json).ok().map(Self::Restart),
            Some(("change", json)) => serde_json::from_str(json).ok().map(Self::Change),
            None if line == "relay" => Some(Self::Relay),
            _ => Ending::parse(line).map(Self::Stop),
        }
    }
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stop(ending) => ending.fmt(f),
            Self::Restart(restart) => {
                write!(f, "restart {}", serde_json::to_string(restart).map_err(|_| fmt::Error)?)
            }
            Self::Relay => f.write_str("relay"),
            Self::Change(change) => {
                write!(f, "change {}", serde_json::to_string(change).map_err(|_| fmt::Error)?)
            }
        }
    }
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// It ended itself with this status.
    Code(i32),
    /// This signal ended it.
    Signal(i32),
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exited with code {code}"),
            Self::Signal(signal) => write!(f, "was ended by signal {signal}"),
        }
    }
}

/// What the guard tells prony.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Report {
    /// The program runs under this process identifier, which is also its process group.
    Started(u32),
    /// It could not be started.
    Failed(String),
    /// It was not started, because its network cannot be had.
    NoNetwork(String),
    /// What it is confined to, before each start.
    Confined(Box<Confinement>),
    /// What came of a change: the value as read back, or why it could not be made.
    Changed(Result<f64, String>),
    /// What the relay did; nothing where there is none.
    Relayed(Option<RelayUsage>),
    /// So many of its processes were killed for want of memory; before its end is reported.
    OutOfMemory(u64),
    /// It ended.
    Exited(Exit),
    /// No process of it is left.
    Gone,
    /// These processes survive SIGKILL.
    Left(Vec<u32>),
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Started(pid) => write!(f, "pid {pid}"),
            Self::Failed(text) => write!(f, "failed {}", text.replace(['\n', '\r'], " ")),
            Self::NoNetwork(text) => write!(f, "no-network {}", text.replace(['\n', '\r'], " ")),
            Self::Confined(held) => {
                write!(f, "confined {}", serde_json::to_string(held).map_err(|_| fmt::Error)?)
            }
            Self::Changed(outcome) => {
                write!(f, "changed {}", serde_json::to_string(outcome).map_err(|_| fmt::Error)?)
            }
            Self::Relayed(usage) => {
                write!(f, "relayed {}", serde_json::to_string(usage).map_err(|_| fmt::Error)?)
            }
            Self::OutOfMemory(count) => write!(f, "oom {count}"),
            Self::Exited(Exit::Code(code)) => write!(f, "exited code {code}"),
            Self::Exited(Exit::Signal(signal)) => write!(f, "exited signal {signal}"),
            Self::Gone => f.write_str("gone"),
            Self::Left(pids) => {
                f.write_str("left")?;
                pids.iter().try_for_each(|pid| write!(f, " {pid}"))
            }
        }
    }
}

impl Report {
    /// Reads one line; `None` for what no guard says.
    pub(crate) fn parse(line: &str) -> Option<Self> {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "pid" => rest.parse().ok().map(Self::Started),
            "failed" => Some(Self::Failed(rest.to_owned())),
            "no-network" => Some(Self::NoNetwork(rest.to_owned())),
            "confined" => serde_json::from_str(rest).ok().map(Self::Confined),
            "changed" => serde_json::from_str(rest).ok().map(Self::Changed),
            "relayed" => serde_json::from_str(rest).ok().map(Self::Relayed),
            "oom" => rest.parse().ok().map(Self::OutOfMemory),
            "exited" => match rest.split_once(' ')? {
                ("code", code) => code.parse().ok().map(|code| Self::Exited(Exit::Code(code))),
                ("signal", signal) => signal.parse().ok().map(|signal| Self::Exited(Exit::Signal(signal))),
                _ => None,
            },
            "gone" if rest.is_empty() => Some(Self::Gone),
            "left" => rest.split(' ').map(|pid| pid.parse().ok()).collect::<Option<_>>().map(Self::Left),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_read_back_as_it_was_written() {
        for report in [
            Report::Started(7),
            Report::Failed("no such file".into()),
            Report::NoNetwork("no ip".into()),
            Report::Confined(Box::new(Confinement {
                cpus: Some(0.5),
                weaknesses: vec!["two\nlines".into()],
                ..Confinement::default()
            })),
            Report::Changed(Ok(0.5)),
            Report::Changed(Err("two\nlines".into())),
            Report::Relayed(None),
            Report::Relayed(Some(RelayUsage { packets: 7, ..RelayUsage::default() })),
            Report::OutOfMemory(2),
            Report::Exited(Exit::Code(1)),
            Report::Exited(Exit::Signal(9)),
            Report::Gone,
            Report::Left(vec![12, 13]),
        ] {
            assert_eq!(Report::parse(&report.to_string()), Some(report));
        }
        for signal in [StopSignal::Term, StopSignal::Int, StopSignal::Quit, StopSignal::Kill] {
            let ending = Ending { signal, timeout_ms: 5000 };
            let env = BTreeMap::from([("A".to_owned(), "two\nlines".to_owned())]);
            let changes = [Order::Change(Change::Cpus(0.5)), Order::Change(Change::Drop(0.01))];
            let orders = [Order::Relay, Order::Stop(ending), Order::Restart(Restart { ending, env })];
            for order in orders.into_iter().chain(changes) {
                let line = order.to_string();
                assert!(!line.contains('\n'), "{line}");
                assert_eq!(Order::parse(&line), Some(order));
            }
        }
    }

    #[test]
    fn what_nobody_says_is_not_understood() {
        for line in ["", "pid", "pid x", "exited", "exited code", "gone away", "left", "hello"] {
            assert_eq!(Report::parse(line), None, "{line}");
        }
        for line in [
            "",
            "stop",
            "stop TERM",
            "stop HUP 1",
            "stop TERM 1 2",
            "stop TERM -1",
            "restart",
            "restart {}",
            "change {}",
        ] {
            assert_eq!(Order::parse(line), None, "{line}");
        }
        assert_eq!(Report::Failed("a\nb".into()).to_string(), "failed a b");
    }

    #[test]
    fn a_stop_without_settings_is_term_and_five_seconds() {
        assert_eq!(Ending::from(&Stop::default()).to_string(), "stop TERM 5000");
        let short = Stop { signal: Some(StopSignal::Int), timeout: Some(Nanos(1)) };
        assert_eq!(Ending::from(&short).to_string(), "stop INT 1");
    }
}
