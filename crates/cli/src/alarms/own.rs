//! The target of `prony load`, of which prony reads no counters: found by the socket that it listens on, and read for
//! the alarms that need it.

use super::LoadTo;
use anyhow::{Result, bail};
use collect::{Collector, Roots, Subjects};
use schema::alarm::AlarmPlan;
use schema::counter_metric::ClaimMetric;
use schema::metric::Metric;
use schema::trial::CounterLine;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::time::Instant;
use units::Nanos;

/// Sources that a target must be asked for, which a load knows nothing of.
const ASKED: [&str; 7] = ["go", "jvm", "node", "php", "swoole", "nginx", "service"];

/// What an alarm needs beside the load's own intervals.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Needs {
    Nothing,
    /// The counters of the host and of the target's process.
    Process,
    /// An endpoint of the target.
    Runtime,
}

fn needs(metric: &ClaimMetric) -> Needs {
    match metric {
        ClaimMetric::Named(Metric::GcPauseShare | Metric::GcPauseMax) => Needs::Runtime,
        ClaimMetric::Named(Metric::Cpu | Metric::CpuPerRequest | Metric::Memory) => Needs::Process,
        ClaimMetric::Named(_) => Needs::Nothing,
        ClaimMetric::Counter(counter) => {
            let is_asked = |counter: &&str| {
                let group = counter.split(['.', '/']).next().unwrap_or_default();
                ASKED.contains(&group) || counter.starts_with("target.prometheus/")
            };
            if counter.counters().iter().any(is_asked) { Needs::Runtime } else { Needs::Process }
        }
    }
}

/// The process to read; none where no alarm needs one.
///
/// # Errors
/// An alarm needs what a load cannot read.
pub(super) fn target(to: LoadTo, alarms: &[AlarmPlan]) -> Result<Option<u32>> {
    let needing = |wanted: Needs| alarms.iter().find(|alarm| needs(&alarm.metric) == wanted);
    if let Some(alarm) = needing(Needs::Runtime) {
        bail!(
            "the alarm `{}` needs figures of the target's runtime, which a load does not read\n  remedy: write it as \
             [[alarm]] of an experiment, whose target names where its runtime reports",
            alarm.when
        );
    }
    let Some(alarm) = needing(Needs::Process) else { return Ok(None) };
    let found = to.address.and_then(|address| collect::listener::process(&Roots::default(), address));
    if found.is_none() {
        bail!(
            "the alarm `{}` needs the target's process, and none that listens there can be seen from here\n  remedy: \
             load a server of this host by its loopback address, as its user or root, or leave the alarm out",
            alarm.when
        );
    }
    Ok(found)
}

/// Reads a process once a second.
pub(super) struct Own {
    collector: Collector,
    began: Instant,
    /// When it is read next, in whole seconds.
    due_s: u64,
}

impl Own {
    pub(super) fn begin(target: u32, generator: u32) -> Self {
        let subjects = Subjects {
            target: Some(Arc::new(AtomicU32::new(target))),
            groups: Default::default(),
            generator_pid: generator,
            generator_network: None,
            address: None,
            services: Vec::new(),
            isolated: false,
            extra: Vec::new(),
        };
        Self { collector: Collector::for_trial(&Roots::default(), subjects), began: Instant::now(), due_s: 0 }
    }

    /// Readings where they are due.
    pub(super) fn look(&mut self) -> Vec<CounterLine> {
        let now = self.began.elapsed();
        if now.as_secs() < self.due_s {
            return Vec::new();
        }
        self.due_s = now.as_secs() + 1;
        self.collector.tick(Nanos(u64::try_from(now.as_nanos()).unwrap_or(u64::MAX)))
    }
}
