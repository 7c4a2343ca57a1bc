//! What is exported of runs: names, labels and meanings, in one place.
//!
//! Labels: `run`, `trial` and `cell` of every sample, `phase` (`warmup`, `sample`, `drain`) of counts. Times are those of
//! right answers since the warm-up, from the intended moment on (METHOD). A status is exported by its hundred, because a
//! target may answer with any.

use crate::agent_families::AgentFamilies;
use crate::buckets::Times;
use crate::family::{Family, Kind};
use crate::feed::{Feed, RunFeed, TrialFeed};
use crate::totals::{PhaseTotals, phase};
use schema::trial::TrialOutcome;
use std::collections::BTreeMap;

/// Most series of a run, each bucket of a classic histogram counted as one. Seven trials of three phases with every
/// class of failure and status, and 64 agents, have fewer.
pub const SERIES_MAX: usize = 2_000;

/// Quantiles of the response time, as a label and as a share.
const QUANTILES: [(&str, f64); 5] =
    [("0.5", 0.5), ("0.9", 0.9), ("0.95", 0.95), ("0.99", 0.99), ("0.999", 0.999)];

/// The families in their order.
struct Families {
    run: Family,
    live: Family,
    planned: Family,
    scheduled: Family,
    completed: Family,
    failed: Family,
    responses: Family,
    read: Family,
    written: Family,
    connections: Family,
    cpu: Family,
    messages: [Family; 4],
    backlog: Family,
    in_flight: Family,
    in_phase: Family,
    valid: Family,
    response: Family,
    quantile: Family,
    agents: AgentFamilies,
}

impl Families {
    fn new() -> Self {
        use Kind::{Counter, Gauge, Histogram};
        Self {
            run: Family::new("prony_run_info", Gauge, "A run; the value is always 1"),
            live: Family::new("prony_run_in_progress", Gauge, "Whether the run is in progress"),
            planned: Family::new(
                "prony_run_trials_planned",
                Gauge,
                "Trials of the plan, those that ended included",
            ),
            scheduled: Family::new("prony_requests_scheduled", Counter, "Requests by their intended moment"),
            completed: Family::new("prony_requests_completed", Counter, "Right answers"),
            failed: Family::new(
                "prony_requests_failed",
                Counter,
                "Requests without a right answer, by class",
            ),
            responses: Family::new("prony_responses", Counter, "Answers by the hundred of their status"),
            read: Family::new("prony_read_bytes", Counter, "Bytes received from the target"),
            written: Family::new("prony_written_bytes", Counter, "Bytes sent to the target"),
            connections: Family::new("prony_connections_opened", Counter, "Connections opened"),
            cpu: Family::new("prony_generator_cpu_seconds", Counter, "CPU time of the generator's workers"),
            messages: [
                Family::new(
                    "prony_messages_scheduled",
                    Counter,
                    "Messages on streams by their intended moment",
                ),
                Family::new(
                    "prony_messages_completed",
                    Counter,
                    "Messages answered, or of a completed stream",
                ),
                Family::new(
                    "prony_messages_failed",
                    Counter,
                    "Messages of a failed stream, or never answered",
                ),
                Family::new("prony_messages_received", Counter, "Messages that came on streams"),
            ],
            backlog: Family::new("prony_backlog_requests", Gauge, "Requests intended and not yet written"),
            in_flight: Family::new("prony_in_flight_requests", Gauge, "Requests written and not yet done"),
            in_phase: Family::new("prony_trial_phase", Gauge, "1 for the phase that a trial is in"),
            valid: Family::new(
                "prony_trial_valid",
                Gauge,
                "Whether a trial that ended counts: 1, or 0 where it is void or failed",
            ),
            response: Family::new(
                "prony_response_seconds",
                Histogram,
                "Response times of right answers since the warm-up, from the intended moment on",
            ),
            quantile: Family::new(
                "prony_response_quantile_seconds",
                Gauge,
                "Quantiles of prony_response_seconds at prony's own resolution of 0.1 %",
            ),
            agents: AgentFamilies::new(),
        }
    }

    fn all(self) -> Vec<Family> {
        let [scheduled, completed, failed, received] = self.messages;
        let mut all = vec![
            self.run,
            self.live,
            self.planned,
            self.scheduled,
            self.completed,
            self.failed,
            self.responses,
            self.read,
            self.written,
            self.connections,
            self.cpu,
            scheduled,
            completed,
            failed,
            received,
            self.backlog,
            self.in_flight,
            self.in_phase,
            self.valid,
            self.response,
            self.quantile,
        ];
        all.extend(self.agents.all());
        all
    }

    fn run(&mut self, feed: &RunFeed) {
        let head = &feed.head;
        let run = [("run", head.id.as_str())];
        self.run.push(&[run[0], ("experiment", &head.experiment), ("version", &head.version)], 1.0);
        self.live.push(&run, f64::from(u8::from(feed.is_live)));
        self.planned.push(&run, head.planned.len() as f64);
        for (id, trial) in &feed.trials {
            let id = id.to_string();
            self.trial([run[0], ("trial", &id), ("cell", &trial.cell)], trial);
        }
        self.agents.run(feed);
    }

    fn trial(&mut self, labels: [(&'static str, &str); 3], trial: &TrialFeed) {
        let with = |name: &'static str, value| [labels[0], labels[1], labels[2], (name, value)];
        for (phase, sums) in &trial.totals.phases {
            self.phase(with("phase", phase), sums);
        }
        if let Some(last) = &trial.totals.last {
            self.backlog.push(&labels, last.backlog as f64);
            self.in_flight.push(&labels, last.in_flight as f64);
            if trial.file.is_none() {
                self.in_phase.push(&with("phase", phase(last.phase)), 1.0);
            }
        }
        if let Some(file) = &trial.file {
            let is_valid = file.outcome == TrialOutcome::Valid;
            self.valid.push(&labels, f64::from(u8::from(is_valid)));
        }
        let response_ns = &trial.totals.response_ns;
        if trial.totals.measured_from_ns.is_some() {
            self.response
                .push_times(&labels, Times::of(response_ns).with_exemplars(trial.traced.exemplars()));
        }
        for (label, at) in QUANTILES.into_iter().filter(|_| !response_ns.is_empty()) {
            self.quantile.push(&with("quantile", label), response_ns.value_at_quantile(at) as f64 / 1e9);
        }
    }

    fn phase(&mut self, labels: [(&'static str, &str); 4], sums: &PhaseTotals) {
        let with = |name, value| [labels[0], labels[1], labels[2], labels[3], (name, value)];
        self.scheduled.push(&labels, sums.scheduled as f64);
        self.completed.push(&labels, sums.completed as f64);
        for (class, count) in &sums.failed {
            self.failed.push(&with("class", class.key()), *count as f64);
        }
        let mut hundreds: BTreeMap<&str, u64> = BTreeMap::new();
        for (code, count) in &sums.status {
            *hundreds.entry(hundred(*code)).or_default() += count;
        }
        for (hundred, count) in hundreds {
            self.responses.push(&with("status", hundred), count as f64);
        }
        self.read.push(&labels, sums.read_bytes as f64);
        self.written.push(&labels, sums.written_bytes as f64);
        self.connections.push(&labels, sums.connects as f64);
        self.cpu.push(&labels, sums.generator_cpu_ns as f64 / 1e9);
        if let Some(sums) = &sums.messages {
            let counts = [sums.scheduled, sums.completed, sums.failed, sums.received];
            for (family, count) in self.messages.iter_mut().zip(counts) {
                family.push(&labels, count as f64);
            }
        }
    }
}

const fn hundred(code: u16) -> &'static str {
    match code / 100 {
        1 => "1xx",
        2 => "2xx",
        3 => "3xx",
        4 => "4xx",
        5 => "5xx",
        _ => "other",
    }
}

/// All families of the runs that are followed; one without a sample has nothing to say and is left out.
#[must_use]
pub fn families(feed: &Feed) -> Vec<Family> {
    let mut families = Families::new();
    feed.followed().for_each(|run| families.run(run));
    families.all().into_iter().filter(|family| !family.samples.is_empty()).collect()
}

/// Names of all families, of which dashboards may speak.
#[cfg(test)]
pub(crate) fn names() -> Vec<(&'static str, Kind)> {
    Families::new().all().iter().map(|family| (family.name, family.kind)).collect()
}
