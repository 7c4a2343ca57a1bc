//! Follows the runs of a folder: those in progress, or else the one that was begun last.
//!
//! Invariants: a look reads only what is new; what cannot be read now is read at a later look; a trial that is begun
//! anew in its folder begins anew here; no more trials are kept than the series of a run allow.

use crate::totals::Totals;
use crate::traced::{Traced, TracedRequest};
use record::tail::Tail;
use record::{GrowingLog, RunFolder, TimedRow, TrialFolder, live};
use schema::agents::AgentRecord;
use schema::plan::PinPlan;
use schema::trial::{IntervalLine, TrialFile};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Newest trials of a run that are exported.
pub(crate) const TRIALS_MAX: usize = 7;
/// Most runs in progress that are exported; the newest count.
const RUNS_MAX: usize = 8;
/// Files of a trial that are followed.
pub const INTERVALS: &str = "intervals.ndjson";
/// See [`INTERVALS`].
pub const LOG: &str = "latency.hlog";
/// The times that are exported, by their tag in the log.
pub const TAG: &str = "response";
/// The log has whole milliseconds; half of one is less than any interval.
pub const ROUNDING_NS: u64 = 500_000;

/// The runs of a folder as far as they were read.
#[derive(Debug)]
pub struct Feed {
    runs: PathBuf,
    followed: BTreeMap<PathBuf, RunFeed>,
    /// Whether requests that stand out are kept until they are sent.
    keeps_traces: bool,
}

/// One run.
#[derive(Debug, Default)]
pub(crate) struct RunFeed {
    pub(crate) head: Head,
    pub(crate) is_live: bool,
    pub(crate) trials: BTreeMap<u32, TrialFeed>,
}

/// What is known of a run before its trials.
#[derive(Debug, Default)]
pub(crate) struct Head {
    /// Name of its folder.
    pub(crate) id: String,
    /// Name of the experiment; empty for a load.
    pub(crate) experiment: String,
    /// Version of prony that made it.
    pub(crate) version: String,
    /// The agents of its fleet, as it began.
    pub(crate) agents: Vec<AgentRecord>,
    /// CPU sets of its plan.
    pin: PinPlan,
    /// Trials in their order, with the label of the cell.
    pub(crate) planned: Vec<(TrialFolder, u32, String)>,
}

/// One trial of it.
#[derive(Debug)]
pub(crate) struct TrialFeed {
    path: PathBuf,
    /// The label of its cell.
    pub(crate) cell: String,
    intervals: Tail,
    log: GrowingLog,
    /// Rows whose interval is not known yet: the log is written first.
    waiting: Vec<TimedRow>,
    pub(crate) totals: Totals,
    pub(crate) traced: Traced,
    /// Once it ended.
    pub(crate) file: Option<TrialFile>,
}

impl Feed {
    /// Follows the runs in a folder; a folder that is a run itself is followed alone. A folder with the files of a trial
    /// and no plan, as `prony load` makes for the time of a load, is a run of one trial.
    #[must_use]
    pub fn new(folder: &Path) -> Self {
        Self { runs: folder.to_owned(), followed: BTreeMap::new(), keeps_traces: false }
    }

    /// As [`Feed::new`]; what has a trace is kept, too, until it is sent.
    #[must_use]
    pub fn with_traces(folder: &Path) -> Self {
        Self { keeps_traces: true, ..Self::new(folder) }
    }

    /// Reads what came since the last look.
    pub fn look(&mut self) {
        let shown = self.shown();
        self.followed.retain(|path, _| shown.contains(path));
        for path in shown {
            self.followed.entry(path.clone()).or_default().look(&path, self.keeps_traces);
        }
    }

    /// Names of the runs that were read.
    pub fn runs(&self) -> impl Iterator<Item = &str> {
        self.followed.values().map(|run| run.head.id.as_str())
    }

    /// CPU sets of the runs in progress.
    pub fn pins(&self) -> impl Iterator<Item = &PinPlan> {
        self.followed.values().filter(|run| run.is_live).map(|run| &run.head.pin)
    }

    /// Requests with traces that were not sent yet, at most so many; the oldest of each trial first.
    #[must_use]
    pub fn traces(&self, at_most: usize) -> Vec<TracedRequest> {
        let trials =
            self.followed.values().flat_map(|run| run.trials.iter().map(move |(id, of)| (run, *id, of)));
        let waiting = trials.flat_map(|(run, trial, of)| {
            of.traced.waiting(at_most).map(move |(origin_unix_ns, request)| TracedRequest {
                run: run.head.id.clone(),
                trial,
                cell: of.cell.clone(),
                origin_unix_ns: *origin_unix_ns,
                request: request.clone(),
            })
        });
        waiting.take(at_most).collect()
    }

    /// The first `count` of [`Feed::traces`] were sent.
    pub fn traces_sent(&mut self, count: usize) {
        let mut left = count;
        for trial in self.followed.values_mut().flat_map(|run| run.trials.values_mut()) {
            let taken = trial.traced.waiting(left).count();
            trial.traced.sent(taken);
            left -= taken;
        }
    }

    pub(crate) fn followed(&self) -> impl Iterator<Item = &RunFeed> {
        self.followed.values()
    }

    /// Runs in progress, else the newest. Names of run folders begin with their time.
    fn shown(&self) -> Vec<PathBuf> {
        if is_run(&self.runs) {
            return vec![self.runs.clone()];
        }
        let entries = std::fs::read_dir(&self.runs).into_iter().flatten();
        let mut all: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
        all.retain(|path| is_run(path));
        all.sort();
        let mut live: Vec<PathBuf> =
            all.iter().filter(|path| live::writer(path).is_some()).cloned().collect();
        if live.is_empty() {
            return all.last().cloned().into_iter().collect();
        }
        live.drain(..live.len().saturating_sub(RUNS_MAX));
        live
    }
}

fn is_run(path: &Path) -> bool {
    path.join("run.json").is_file() || path.join(INTERVALS).is_file()
}

impl Head {
    /// Of a folder; `None` while it cannot be read.
    fn of(path: &Path) -> Option<Self> {
        let Ok(folder) = RunFolder::open(path) else {
            let id = path.file_name()?.to_string_lossy().into_owned();
            let version = env!("CARGO_PKG_VERSION").to_owned();
            let trial = TrialFolder { path: path.to_owned() };
            return Some(Self {
                id,
                version,
                planned: vec![(trial, 1, "load".to_owned())],
                ..Self::default()
            });
        };
        let run = folder.read_run().ok()?;
        let label = |cell: &str| {
            let found = run.plan.cells.iter().find(|planned| planned.id == cell);
            found.map_or_else(String::new, |cell| cell.label.clone())
        };
        let planned =
            run.plan.order.iter().map(|trial| (folder.trial(trial.id), trial.id, label(&trial.cell)));
        Some(Self {
            planned: planned.collect(),
            id: run.id.clone(),
            experiment: run.plan.name.clone(),
            version: run.versions.get("prony").cloned().unwrap_or_default(),
            agents: run.agents,
            pin: run.plan.pin,
        })
    }
}

impl RunFeed {
    fn look(&mut self, path: &Path, keeps_traces: bool) {
        self.is_live = live::writer(path).is_some();
        // Blocks and trials are added to the plan while a run goes on.
        if let Some(head) = Head::of(path) {
            self.head = head;
        }
        let begun: Vec<_> = self.head.planned.iter().filter(|(folder, ..)| folder.path.is_dir()).collect();
        let begun = &begun[begun.len().saturating_sub(TRIALS_MAX)..];
        self.trials.retain(|id, _| begun.iter().any(|(_, kept, _)| kept == id));
        for (folder, id, cell) in begun {
            let new = || TrialFeed::new(folder.path.clone(), cell.clone(), keeps_traces);
            let trial = self.trials.entry(*id).or_insert_with(new);
            trial.look();
            if trial.file.is_none() && folder.has_ended() {
                trial.file = folder.file().ok();
                // What was written between the look and the end.
                trial.look();
            }
        }
    }
}

impl TrialFeed {
    fn new(path: PathBuf, cell: String, keeps_traces: bool) -> Self {
        Self {
            intervals: Tail::whole(&path.join(INTERVALS)),
            log: GrowingLog::new(&path.join(LOG)),
            path,
            cell,
            waiting: Vec::new(),
            totals: Totals::default(),
            traced: Traced::new(keeps_traces),
            file: None,
        }
    }

    fn look(&mut self) {
        // The log is read last, since it is written first: the times of every interval that is known are there.
        let mut lines = Vec::new();
        let mut begins = false;
        loop {
            let found = self.intervals.look();
            if found.begins {
                begins = true;
                lines.clear();
            }
            lines.extend(found.lines);
            if !found.more {
                break;
            }
        }
        let rows = self.log.look(TAG);
        if rows.begins {
            self.waiting.clear();
        }
        let is_new = !self.totals.phases.is_empty() && (begins || rows.begins);
        if is_new {
            // Both files from their begin: they belong together.
            *self = Self::new(self.path.clone(), self.cell.clone(), self.traced.keeps());
            return self.look();
        }
        self.waiting.extend(rows.rows);
        let intervals = lines.iter().filter_map(|line| serde_json::from_slice::<IntervalLine>(line).ok());
        intervals.for_each(|line| {
            self.traced.interval(&line);
            self.totals.interval(line);
        });
        self.settle();
    }

    /// Counts the rows whose interval is known; those of the warm-up are for nobody.
    fn settle(&mut self) {
        let Some(last) = &self.totals.last else { return };
        let known_ns = last.end_ns;
        let from_ns = self.totals.measured_from_ns.unwrap_or(u64::MAX);
        let (known, waiting): (Vec<TimedRow>, Vec<TimedRow>) =
            self.waiting.drain(..).partition(|row| row.start_ns < known_ns);
        self.waiting = waiting;
        for row in known.iter().filter(|row| row.start_ns.saturating_add(ROUNDING_NS) >= from_ns) {
            for (time_ns, count) in &row.times_ns {
                self.totals.response_ns.saturating_record_n(*time_ns, *count);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{SERIES_MAX, Value, families};
    use hdrhistogram::Histogram;
    use record::{Lines, hlog};
    use schema::load::ErrorClass;
    use schema::trial::{AgentInterval, Phase};

    struct Load {
        folder: tempfile::TempDir,
        lines: Lines,
        log: hlog::Writer,
        second: u64,
    }

    impl Load {
        fn begin() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let lines = TrialFolder { path: folder.path().to_owned() }.lines(INTERVALS).unwrap();
            let log = hlog::Writer::create(&folder.path().join(LOG)).unwrap();
            Self { folder, lines, log, second: 0 }
        }

        /// A second with so many answers of 1 ms, or of what comes before the samples.
        fn second(&mut self, phase: Phase, answers: u64) {
            let span_ns = self.second * 1_000_000_000..(self.second + 1) * 1_000_000_000;
            let mut times = Histogram::<u64>::new_with_bounds(1, 3_600_000_000_000, 3).unwrap();
            times.record_n(if phase == Phase::Warmup { 500_000_000 } else { 1_000_000 }, answers).unwrap();
            self.log.append(span_ns.clone(), &[("response", &times)], || ()).unwrap();
            let line = IntervalLine {
                start_ns: span_ns.start,
                end_ns: span_ns.end,
                phase: Some(phase),
                scheduled: answers,
                completed: answers,
                ..IntervalLine::default()
            };
            self.lines.append(&line).unwrap();
            self.second += 1;
        }
    }

    fn value(feed: &Feed, name: &str, label: (&str, &str)) -> f64 {
        let families = families(feed);
        let family = families.iter().find(|family| family.name == name).expect("it is exported");
        let of = family
            .samples
            .iter()
            .filter(|sample| sample.labels.iter().any(|own| (own.0, own.1.as_str()) == label));
        of.map(|sample| match &sample.value {
            Value::Number(number) => *number,
            Value::Times(times) => times.count as f64,
        })
        .sum()
    }

    #[test]
    fn counts_grow_and_times_of_the_warm_up_are_left_out() {
        let mut load = Load::begin();
        let mut feed = Feed::new(load.folder.path());
        load.second(Phase::Warmup, 10);
        feed.look();
        load.second(Phase::Sample, 20);
        load.second(Phase::Sample, 30);
        feed.look();
        feed.look();
        assert_eq!(value(&feed, "prony_requests_completed", ("phase", "warmup")), 10.0);
        assert_eq!(value(&feed, "prony_requests_completed", ("phase", "sample")), 50.0);
        assert_eq!(value(&feed, "prony_response_seconds", ("cell", "load")), 50.0);
        let p50 = value(&feed, "prony_response_quantile_seconds", ("quantile", "0.5"));
        assert!((p50 / 1e-3 - 1.0).abs() < 0.002, "{p50}");
        load.second(Phase::Drain, 1);
        feed.look();
        assert_eq!(value(&feed, "prony_requests_completed", ("phase", "drain")), 1.0);
        assert_eq!(value(&feed, "prony_response_seconds", ("cell", "load")), 51.0);
    }

    #[test]
    fn agents_have_the_counts_of_the_whole_trial_and_the_times_of_its_last_interval() {
        let mut load = Load::begin();
        let mut feed = Feed::new(load.folder.path());
        let agent = |name: Option<&str>, completed, p99_ns| AgentInterval {
            name: name.map(str::to_owned),
            completed,
            p99_ns,
            ..AgentInterval::default()
        };
        for (first, p99_ns) in [(3, 7_000_000), (5, 9_000_000)] {
            let agents = vec![agent(Some("a"), first, Some(p99_ns)), agent(None, 2, None)];
            load.lines.append(&IntervalLine { agents, ..IntervalLine::default() }).unwrap();
        }
        feed.look();
        let completed = |name| value(&feed, "prony_agent_requests_completed", ("agent", name));
        assert_eq!((completed("a"), completed("(others)")), (8.0, 4.0));
        assert_eq!(value(&feed, "prony_agent_response_quantile_seconds", ("agent", "a")), 9e-3);
        assert_eq!(value(&feed, "prony_agent_response_quantile_seconds", ("agent", "(others)")), 0.0);
    }

    #[test]
    fn a_trial_that_is_begun_anew_begins_anew() {
        let mut load = Load::begin();
        let mut feed = Feed::new(load.folder.path());
        load.second(Phase::Sample, 20);
        feed.look();
        let path = load.folder.path().to_owned();
        // Renamed, so that the new file is surely another.
        std::fs::rename(path.join(INTERVALS), path.join("old")).unwrap();
        std::fs::rename(path.join(LOG), path.join("old.log")).unwrap();
        load.lines = TrialFolder { path: path.clone() }.lines(INTERVALS).unwrap();
        load.log = hlog::Writer::create(&path.join(LOG)).unwrap();
        load.second = 0;
        load.second(Phase::Sample, 5);
        feed.look();
        assert_eq!(value(&feed, "prony_requests_completed", ("phase", "sample")), 5.0);
        assert_eq!(value(&feed, "prony_response_seconds", ("cell", "load")), 5.0);
    }

    #[test]
    fn a_run_has_fewer_series_than_the_limit_whatever_its_target_does() {
        let agent = |number: usize| AgentInterval {
            name: Some(format!("a{number}")),
            p50_ns: Some(1),
            p99_ns: Some(1),
            pacer_lag_p99_ns: Some(1),
            ..AgentInterval::default()
        };
        let mut totals = Totals::default();
        for phase in [Phase::Warmup, Phase::Sample, Phase::Drain] {
            totals.interval(IntervalLine {
                phase: Some(phase),
                failed: ErrorClass::ALL.into_iter().map(|class| (class, 1)).collect(),
                status: (100..1_000).map(|code| (code, 1)).collect(),
                agents: (0..IntervalLine::AGENTS_MAX).map(agent).collect(),
                ..IntervalLine::default()
            });
        }
        totals.response_ns.saturating_record(1_000_000);
        let trial = |id: u32| {
            let new = TrialFeed::new(PathBuf::new(), format!("cell {id}"), false);
            (id, TrialFeed { totals: totals.clone(), ..new })
        };
        let record = |number| AgentRecord { name: format!("a{number}"), ..AgentRecord::default() };
        let head = Head { agents: (0..1_000).map(record).collect(), ..Head::default() };
        let run = RunFeed { head, trials: (0..TRIALS_MAX as u32).map(trial).collect(), ..RunFeed::default() };
        let feed = Feed {
            runs: PathBuf::new(),
            followed: BTreeMap::from([(PathBuf::new(), run)]),
            keeps_traces: false,
        };
        let of = |sample: &crate::Sample| match &sample.value {
            Value::Number(_) => 1,
            // Count and sum beside the buckets.
            Value::Times(times) => times.cumulative().count() + 2,
        };
        let series: usize = families(&feed).iter().flat_map(|family| &family.samples).map(of).sum();
        assert!(series > SERIES_MAX / 2 && series <= SERIES_MAX, "{series}");
    }
}
