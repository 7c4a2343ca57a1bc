//! One run in progress, followed by its files: what is new at each look, as events.
//!
//! Invariants: nothing is asked of the run's process; a look reads only what is new; what cannot be read now is read at
//! the next look. Absent on purpose: viewers and the network (`hub`), and statistics (`findings`).

use record::live;
use record::tail::Tail;
use schema::lab::{
    LiveCell, LiveCounter, LiveHello, LiveInterval, LivePlanned, LiveTrial, Progress, RunCard, RunState,
    TrialNow,
};
use schema::page::CounterKind;
use schema::plan::{PhasePlan, TrialPlan};
use schema::run::RunFile;
use schema::soak::WindowLine;
use schema::trial::{AgentInterval, CounterLine, IntervalLine, Phase, TrialFile};
use schema::version::LabVersion;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Most intervals of the present trial that a viewer who comes later is given.
pub(crate) const INTERVALS_MAX: usize = 900;
/// Most counters that are shown; a target can make them up.
const COUNTERS_MAX: usize = 500;
/// Largest file that is read whole.
const FILE_BYTES_MAX: u64 = 64 << 20;

/// What is new.
#[derive(Clone, Debug)]
pub(crate) enum Event {
    /// The plan has other trials than before.
    Plan(Vec<LivePlanned>),
    Interval(LiveInterval),
    Trial(LiveTrial),
    Progress(Progress),
    /// The process is gone; the run as it is now.
    End(RunCard),
}

/// The trial in progress.
struct Present {
    planned: TrialPlan,
    intervals: Tail,
    windows: Tail,
    counters: Tail,
    last: Option<LiveInterval>,
    /// The last one under load, whose numbers are shown.
    loaded: Option<LiveInterval>,
    /// The agents in that interval.
    agents: Vec<AgentInterval>,
    readings: BTreeMap<(String, String), LiveCounter>,
    read_at: BTreeMap<String, u64>,
}

/// Follows one run folder.
pub(crate) struct Watch {
    path: PathBuf,
    run: RunFile,
    run_changed: Option<SystemTime>,
    ended: BTreeSet<u32>,
    /// Wall clock of the trials' origins, by number.
    origins: BTreeMap<u32, jiff::Timestamp>,
    present: Option<Present>,
    progress: Option<Progress>,
}

impl Watch {
    /// Begins to follow a folder; `None` where its `run.json` cannot be read.
    pub(crate) fn begin(path: &Path) -> Option<Self> {
        let run = read_json(&path.join("run.json"))?;
        Some(Self {
            path: path.to_owned(),
            run,
            run_changed: changed(&path.join("run.json")),
            ended: BTreeSet::new(),
            origins: BTreeMap::new(),
            present: None,
            progress: None,
        })
    }

    pub(crate) const fn run(&self) -> &RunFile {
        &self.run
    }

    /// What a viewer is sent first, before the first look.
    pub(crate) fn hello(&self, card: RunCard) -> LiveHello {
        let cells = self.run.plan.cells.iter().map(|cell| LiveCell {
            cell: cell.id.clone(),
            label: cell.label.clone(),
            target: cell.target.clone(),
        });
        LiveHello {
            schema: LabVersion::default(),
            cells: cells.collect(),
            order: self.order(),
            trials: Vec::new(),
            intervals: Vec::new(),
            findings: Vec::new(),
            fleet: analyze::fleet(&self.run, &[]),
            progress: self.progress_now(card.state),
            card,
        }
    }

    /// What is new since the last look, in order of time.
    pub(crate) fn look(&mut self) -> Vec<Event> {
        // Before the files: what is written after this is read at the next look, or by the card at the end.
        let is_running = live::writer(&self.path).is_some();
        let mut events = Vec::new();
        events.extend(self.look_at_plan());
        events.extend(self.look_at_trials());
        self.look_at_present(&mut events);
        let state = if is_running { RunState::Running } else { self.ended_state() };
        let progress = self.progress_now(state);
        if self.progress.as_ref() != Some(&progress) {
            self.progress = Some(progress.clone());
            events.push(Event::Progress(progress));
        }
        if !is_running {
            events.push(Event::End(index::card_of(&self.path)));
        }
        events
    }

    fn look_at_plan(&mut self) -> Option<Event> {
        let path = self.path.join("run.json");
        let at = changed(&path);
        if at == self.run_changed {
            return None;
        }
        let run: RunFile = read_json(&path)?;
        self.run_changed = at;
        let is_other = run.plan.order != self.run.plan.order;
        self.run = run;
        is_other.then(|| Event::Plan(self.order()))
    }

    /// Trials that ended since the last look.
    fn look_at_trials(&mut self) -> Vec<Event> {
        let mut events = Vec::new();
        for planned in self.run.plan.order.clone() {
            let folder = self.trial_folder(planned.id);
            let has_ended = folder.join("trial.json").is_file();
            if !has_ended {
                // A failed trial that is run again.
                self.ended.remove(&planned.id);
            } else if !self.ended.contains(&planned.id)
                && let Some(file) = read_json::<TrialFile>(&folder.join("trial.json"))
            {
                self.ended.insert(planned.id);
                self.origins.extend(file.origin_wall.parse().ok().map(|at| (planned.id, at)));
                // Its last lines, before it is left.
                if self.present.as_ref().is_some_and(|present| present.planned.id == planned.id) {
                    self.look_at_lines(&mut events);
                    self.present = None;
                }
                events.push(Event::Trial(self.trial_row(&file)));
            }
        }
        events
    }

    fn look_at_present(&mut self, events: &mut Vec<Event>) {
        let now = self
            .run
            .plan
            .order
            .iter()
            .find(|planned| !self.ended.contains(&planned.id) && self.trial_folder(planned.id).is_dir());
        match (now.cloned(), &self.present) {
            (Some(planned), Some(present)) if present.planned.id == planned.id => {}
            (Some(planned), _) => {
                let folder = self.trial_folder(planned.id);
                self.present = Some(Present::new(planned, &folder));
            }
            (None, _) => self.present = None,
        }
        self.look_at_lines(events);
    }

    fn look_at_lines(&mut self, events: &mut Vec<Event>) {
        if let Some(present) = &mut self.present {
            events.extend(present.new_intervals().into_iter().map(Event::Interval));
            present.read_counters();
        }
    }

    fn trial_folder(&self, id: u32) -> PathBuf {
        self.path.join("trials").join(format!("{id:04}"))
    }

    fn order(&self) -> Vec<LivePlanned> {
        let planned =
            |trial: &TrialPlan| LivePlanned { id: trial.id, block: trial.block, cell: trial.cell.clone() };
        self.run.plan.order.iter().map(planned).collect()
    }

    fn label(&self, cell: &str) -> String {
        let found = self.run.plan.cells.iter().find(|known| known.id == cell);
        found.map_or_else(|| cell.to_owned(), |known| known.label.clone())
    }

    fn trial_row(&self, file: &TrialFile) -> LiveTrial {
        let load = file.load.as_ref();
        LiveTrial {
            id: file.id,
            block: file.block,
            cell: file.cell.clone(),
            label: self.label(&file.cell),
            outcome: file.outcome,
            reasons: file.reasons.clone(),
            throughput_per_s: load.map(|load| load.throughput_per_s),
            p50_ns: load.and_then(|load| load.latency_ns.response.p50),
            p99_ns: load.and_then(|load| load.latency_ns.response.p99),
            failed: load.map_or(0, |load| load.requests.failed),
        }
    }

    fn ended_state(&self) -> RunState {
        if self.ended.len() >= self.run.plan.order.len() { RunState::Done } else { RunState::Interrupted }
    }

    fn progress_now(&self, state: RunState) -> Progress {
        let planned = self.run.plan.order.len();
        let done = self.ended.len();
        let expected_ns = expected_ns(&self.run.plan.phases).max(1);
        let elapsed_ns = self.present.as_ref().map_or(0, Present::elapsed_ns);
        let within = (elapsed_ns as f64 / expected_ns as f64).min(1.0);
        let started = self.run.started_wall.parse::<jiff::Timestamp>().ok();
        let since = started.map(|at| jiff::Timestamp::now().as_nanosecond() - at.as_nanosecond());
        let to_come = planned.saturating_sub(done + usize::from(self.present.is_some()));
        let present_left = self.present.as_ref().map_or(0, |_| expected_ns.saturating_sub(elapsed_ns));
        let left_ns = present_left.saturating_add(self.trial_ns(expected_ns).saturating_mul(to_come as u64));
        Progress {
            state,
            trials_done: u32::try_from(done).unwrap_or(u32::MAX),
            trials_planned: u32::try_from(planned).unwrap_or(u32::MAX),
            share: ((done as f64 + within) / planned.max(1) as f64).min(1.0),
            elapsed_ns: since.and_then(|since| u64::try_from(since).ok()).map(whole_seconds),
            left_ns: (state == RunState::Running).then(|| whole_seconds(left_ns)),
            trial: self.present.as_ref().map(|present| self.trial_now(present, elapsed_ns, expected_ns)),
            interval: self.present.as_ref().and_then(|present| present.loaded.clone()),
            agents: self.present.as_ref().map_or_else(Vec::new, |present| present.agents.clone()),
            counters: self
                .present
                .as_ref()
                .map(|present| present.readings.values().cloned().collect())
                .unwrap_or_default(),
        }
    }

    fn trial_now(&self, present: &Present, elapsed_ns: u64, expected_ns: u64) -> TrialNow {
        let last = present.last.as_ref();
        TrialNow {
            id: present.planned.id,
            block: present.planned.block,
            cell: present.planned.cell.clone(),
            label: self.label(&present.planned.cell),
            phase: last.and_then(|last| last.phase),
            sample: last.and_then(|last| last.sample),
            samples: self.run.plan.phases.samples,
            elapsed_ns,
            expected_ns,
        }
    }

    /// What a trial takes with its start and stop: the median of those in a row so far, else its time under load.
    fn trial_ns(&self, expected_ns: u64) -> u64 {
        let origins: Vec<&jiff::Timestamp> = self.origins.values().collect();
        let gaps = origins.windows(2).map(|pair| pair[1].as_nanosecond() - pair[0].as_nanosecond());
        let mut gaps: Vec<u64> =
            gaps.filter_map(|gap| u64::try_from(gap).ok().filter(|gap| *gap > 0)).collect();
        gaps.sort_unstable();
        gaps.get(gaps.len().saturating_sub(1) / 2).copied().unwrap_or(expected_ns)
    }
}

impl Present {
    fn new(planned: TrialPlan, folder: &Path) -> Self {
        Self {
            planned,
            intervals: Tail::new(&folder.join("intervals.ndjson")),
            windows: Tail::new(&folder.join("windows.ndjson")),
            counters: Tail::new(&folder.join("counters.ndjson")),
            last: None,
            loaded: None,
            agents: Vec::new(),
            readings: BTreeMap::new(),
            read_at: BTreeMap::new(),
        }
    }

    fn elapsed_ns(&self) -> u64 {
        self.last.as_ref().map_or(0, |last| last.t_ns)
    }

    fn new_intervals(&mut self) -> Vec<LiveInterval> {
        let trial = self.planned.id;
        let mut intervals = parsed::<IntervalLine>(self.intervals.lines());
        let mut new: Vec<LiveInterval> = intervals.iter().map(|line| live_interval(trial, line)).collect();
        // A soak writes windows in place of intervals.
        new.extend(parsed::<WindowLine>(self.windows.lines()).iter().map(|line| live_window(trial, line)));
        if let Some(last) = new.last() {
            self.last = Some(last.clone());
        }
        // The drain has no load: its rate and times are no numbers of the target.
        if let Some(loaded) = new.iter().rfind(|interval| interval.phase != Some(Phase::Drain)) {
            self.loaded = Some(loaded.clone());
        }
        if let Some(line) = intervals.iter_mut().rfind(|line| line.phase != Some(Phase::Drain)) {
            self.agents = std::mem::take(&mut line.agents);
        }
        new.split_off(new.len().saturating_sub(INTERVALS_MAX))
    }

    fn read_counters(&mut self) {
        for line in parsed::<CounterLine>(self.counters.lines()) {
            let before = self.read_at.insert(line.source.clone(), line.t_ns);
            for (name, value) in &line.gauges {
                self.note(&line, name, *value, CounterKind::Gauge);
            }
            let Some(length_ns) = before.and_then(|before| line.t_ns.checked_sub(before)) else { continue };
            for (name, value) in line.deltas.iter().filter(|_| length_ns > 0) {
                self.note(&line, name, value * 1e9 / length_ns as f64, CounterKind::Delta);
            }
        }
    }

    fn note(&mut self, line: &CounterLine, name: &str, value: f64, kind: CounterKind) {
        let key = (line.source.clone(), name.to_owned());
        if value.is_finite() && (self.readings.len() < COUNTERS_MAX || self.readings.contains_key(&key)) {
            let (source, name) = key.clone();
            let unit = schema::counter_name::counter_unit(&name);
            self.readings.insert(key, LiveCounter { source, name, value, kind, unit, t_ns: line.t_ns });
        }
    }
}

fn live_interval(trial: u32, line: &IntervalLine) -> LiveInterval {
    let length_ns = line.end_ns.saturating_sub(line.start_ns).max(1) as f64;
    LiveInterval {
        trial,
        t_ns: line.end_ns,
        phase: line.phase,
        sample: line.sample,
        throughput_per_s: line.completed as f64 * 1e9 / length_ns,
        scheduled_per_s: line.scheduled as f64 * 1e9 / length_ns,
        p50_ns: line.p50_ns,
        p99_ns: line.p99_ns,
        failed: line.failed.values().sum(),
        backlog: line.backlog,
        in_flight: line.in_flight,
        generator_cpus: line.generator_cpu_ns as f64 / length_ns,
        by_request: line.by_request.clone(),
    }
}

/// A window does not tell what was scheduled, nor what the generator used.
fn live_window(trial: u32, line: &WindowLine) -> LiveInterval {
    LiveInterval {
        trial,
        t_ns: line.end_ns,
        phase: Some(Phase::Sample),
        sample: None,
        throughput_per_s: line.throughput_per_s,
        scheduled_per_s: line.throughput_per_s,
        p50_ns: line.p50_ns,
        p99_ns: line.p99_ns,
        failed: line.failed,
        backlog: 0,
        in_flight: 0,
        generator_cpus: 0.0,
        by_request: Vec::new(),
    }
}

/// Time under load that a trial is expected to take, of a target that is warm from the start.
fn expected_ns(phases: &PhasePlan) -> u64 {
    let samples_ns = phases.sample_ns.saturating_mul(phases.samples.into());
    analyze::warmup_expected_ns(phases).saturating_add(samples_ns)
}

/// Progress is sent when something moved, at most once a second by the clock alone.
const fn whole_seconds(ns: u64) -> u64 {
    ns - ns % 1_000_000_000
}

fn parsed<T: serde::de::DeserializeOwned>(lines: Vec<Vec<u8>>) -> Vec<T> {
    lines.iter().filter_map(|line| serde_json::from_slice(line).ok()).collect()
}

fn read_json<T: serde::de::DeserializeOwned>(path: &Path) -> Option<T> {
    let is_small = fs::metadata(path).ok()?.len() <= FILE_BYTES_MAX;
    let text = is_small.then(|| fs::read(path).ok()).flatten()?;
    serde_json::from_slice(&text).ok()
}

fn changed(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).ok()?.modified().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_drain_takes_the_place_of_no_numbers() {
        let folder = tempfile::tempdir().unwrap();
        let line = |phase: Phase, second: u64, completed: u64| IntervalLine {
            start_ns: second * 1_000_000_000,
            end_ns: (second + 1) * 1_000_000_000,
            phase: Some(phase),
            completed,
            agents: vec![AgentInterval { name: Some("a".to_owned()), completed, ..AgentInterval::default() }],
            ..IntervalLine::default()
        };
        let lines = [line(Phase::Sample, 0, 90), line(Phase::Sample, 1, 100), line(Phase::Drain, 2, 1)];
        let text: String = lines.iter().map(|line| serde_json::to_string(line).unwrap() + "\n").collect();
        fs::write(folder.path().join("intervals.ndjson"), text).unwrap();
        let mut present = Present::new(TrialPlan { id: 1, block: 1, cell: "c1".to_owned() }, folder.path());
        assert_eq!(present.new_intervals().len(), 3, "the drain is sent too, with its phase");
        assert_eq!(present.agents[0].completed, 100);
        let shown = present.loaded.unwrap();
        assert_eq!((shown.phase, shown.throughput_per_s), (Some(Phase::Sample), 100.0));
        assert_eq!(present.last.unwrap().phase, Some(Phase::Drain), "the trial is in its drain");
    }
}
