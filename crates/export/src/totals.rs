//! What a trial came to so far: sums of its intervals, and its times within the samples.

use hdrhistogram::Histogram;
use record::hlog::new_histogram;
use schema::load::ErrorClass;
use schema::trial::{IntervalLine, Phase};
use std::collections::BTreeMap;

/// Sums of one phase.
#[derive(Clone, Debug, Default)]
pub(crate) struct PhaseTotals {
    pub(crate) scheduled: u64,
    pub(crate) completed: u64,
    pub(crate) failed: BTreeMap<ErrorClass, u64>,
    pub(crate) status: BTreeMap<u16, u64>,
    pub(crate) read_bytes: u64,
    pub(crate) written_bytes: u64,
    pub(crate) connects: u64,
    pub(crate) generator_cpu_ns: u64,
    /// Messages on streams, where requests have some.
    pub(crate) messages: Option<MessageTotals>,
}

/// Messages of one phase.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MessageTotals {
    pub(crate) scheduled: u64,
    pub(crate) completed: u64,
    pub(crate) failed: u64,
    pub(crate) received: u64,
}

/// One agent of a fleet so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AgentTotals {
    pub(crate) scheduled: u64,
    pub(crate) completed: u64,
    pub(crate) failed: u64,
}

/// One trial so far.
#[derive(Clone, Debug)]
pub(crate) struct Totals {
    /// By phase, in the order of a trial.
    pub(crate) phases: BTreeMap<&'static str, PhaseTotals>,
    /// By agent, in all phases; `None` is all agents that have no line of their own, together.
    pub(crate) agents: BTreeMap<Option<String>, AgentTotals>,
    /// The interval that ended last.
    pub(crate) last: Option<IntervalLine>,
    /// Begin of the first interval after the warm-up.
    pub(crate) measured_from_ns: Option<u64>,
    /// Response times since then.
    pub(crate) response_ns: Histogram<u64>,
}

impl Default for Totals {
    fn default() -> Self {
        Self {
            phases: BTreeMap::new(),
            agents: BTreeMap::new(),
            last: None,
            measured_from_ns: None,
            response_ns: new_histogram(),
        }
    }
}

impl Totals {
    pub(crate) fn interval(&mut self, line: IntervalLine) {
        if line.phase != Some(Phase::Warmup) && self.measured_from_ns.is_none() {
            self.measured_from_ns = Some(line.start_ns);
        }
        let sums = self.phases.entry(phase(line.phase)).or_default();
        sums.scheduled += line.scheduled;
        sums.completed += line.completed;
        line.failed.iter().for_each(|(class, count)| *sums.failed.entry(*class).or_default() += count);
        line.status.iter().for_each(|(code, count)| *sums.status.entry(*code).or_default() += count);
        sums.read_bytes += line.read_bytes;
        sums.written_bytes += line.written_bytes;
        sums.connects += line.connects;
        sums.generator_cpu_ns += line.generator_cpu_ns;
        if let Some(interval) = &line.messages {
            let messages = sums.messages.get_or_insert_default();
            messages.scheduled += interval.scheduled;
            messages.completed += interval.completed;
            messages.failed += interval.failed;
            messages.received += interval.received;
        }
        for agent in &line.agents {
            let sums = self.agents.entry(agent.name.clone()).or_default();
            sums.scheduled += agent.scheduled;
            sums.completed += agent.completed;
            sums.failed += agent.failed;
        }
        self.last = Some(line);
    }
}

/// The name of a phase, for a label; a load without phases is one long sample.
pub(crate) const fn phase(phase: Option<Phase>) -> &'static str {
    match phase {
        Some(Phase::Warmup) => "warmup",
        Some(Phase::Drain) => "drain",
        Some(Phase::Sample) | None => "sample",
    }
}
