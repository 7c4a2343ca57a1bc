//! Prony's end: starts the generator processes, passes orders on, and merges what they report.
//!
//! Dropping it ends and reaps every process.

use super::protocol::{Order, Report, Spec, VERSION, report};
use super::{GENERATOR, ProcessError, peak_rss_bytes};
use crate::GenerateError;
use crate::each::wall_clock_of;
use crate::lines::write_line;
use crate::orders::timeline;
use crate::set_up::SetUp;
use engine::{
    Assembly, EngineError, IntervalData, Overdue, Part, Step, Timeline, machine_ns, on_clock, setup_time_max,
};
use pace::Share;
use plan::LoadJob;
use schema::plan::DriverChoice;
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;
use units::{Clock, MonotonicClock};

/// Between the decision to begin and the trial's origin: orders must reach every process before it.
const START_AHEAD_NS: u64 = 50_000_000;
/// How much longer than its workers a process may take to be ready: it starts, and reads its orders.
const SETUP_GRACE: Duration = Duration::from_secs(5);

/// Generator processes at work.
pub(crate) struct Fleet {
    members: Vec<Member>,
    news: Receiver<(usize, News)>,
    timeline: Timeline,
    clock: MonotonicClock,
    parts: Assembly<IntervalData>,
    merged: IntervalData,
    set_up: SetUp,
    peak_rss_bytes: u64,
    /// Why a process could not write its rows.
    rows_error: Option<String>,
}

/// One process.
struct Member {
    child: Child,
    stdin: Option<ChildStdin>,
    reader: Option<JoinHandle<()>>,
    ended: bool,
}

/// What a reader thread passes on.
enum News {
    Opening(u64),
    Ready(SetUp),
    Interval(Box<IntervalData>),
    Ended {
        peak_rss_bytes: u64,
        rows_error: Option<String>,
    },
    Failed {
        missed_start: bool,
        cause: String,
    },
    Garbled(ProcessError),
    /// Nothing more will come.
    Closed,
}

impl Fleet {
    /// Starts the processes of `job`; returns once each has set up its connections, with no request sent.
    /// Meanwhile `opening` gets the number of open connections.
    pub(crate) fn start(job: &LoadJob, opening: &mut dyn FnMut(u64)) -> Result<Self, GenerateError> {
        let fleet = Self::start_part(job, Part::whole(&job.load), job.load.processes, opening)?;
        fleet.set_up.check()?;
        Ok(fleet)
    }

    /// As [`Self::start`], for `processes` that make one part of the load, also where not one connection could be opened:
    /// others may have some.
    pub(crate) fn start_part(
        job: &LoadJob,
        part: Part,
        processes: u32,
        opening: &mut dyn FnMut(u64),
    ) -> Result<Self, GenerateError> {
        let (sender, news) = channel();
        let mut fleet = Self {
            members: Vec::new(),
            news,
            timeline: timeline(job),
            clock: MonotonicClock::starting_now(),
            parts: Assembly::on(&timeline(job)),
            merged: IntervalData::default(),
            set_up: SetUp::new(job.load.driver),
            peak_rss_bytes: 0,
            rows_error: None,
        };
        for (number, part) in split(part, processes).into_iter().enumerate() {
            fleet.members.push(Member::spawn(number, sender.clone())?);
            fleet.parts.join();
            // A process that is already dead shows as a closed pipe below.
            let mut job = job.clone();
            job.each = job.each.map(|each| each.part(number as u32));
            let spec = Spec { version: VERSION, job, part };
            let _ = fleet.members[number].stdin.as_mut().map(|stdin| write_line(stdin, &spec));
        }
        drop(sender);
        fleet.await_ready(setup_time_max(&job.load, job.origins()) + SETUP_GRACE, opening)?;
        Ok(fleet)
    }

    /// Waits until each process is ready, none of them silent for longer than `limit`.
    fn await_ready(&mut self, limit: Duration, opening: &mut dyn FnMut(u64)) -> Result<(), GenerateError> {
        let mut opened = vec![0; self.members.len()];
        let mut waiting_for: BTreeSet<usize> = (0..self.members.len()).collect();
        while !waiting_for.is_empty() {
            match self.news.recv_timeout(limit) {
                Ok((number, News::Opening(count))) => {
                    opened[number] = count;
                    opening(opened.iter().sum());
                }
                Ok((number, news)) => {
                    self.take(number, news)?;
                    waiting_for.remove(&number);
                }
                Err(RecvTimeoutError::Timeout) => {
                    let sources = waiting_for.into_iter().collect();
                    return Err(self.silent(Overdue { sources, silence: limit }));
                }
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        Ok(())
    }

    /// As [`engine::Generator::begin`], for all processes.
    /// Returns the moment of the wall clock, too.
    pub(crate) fn begin(&mut self, measure_from: Option<u64>) -> (MonotonicClock, u64) {
        let origin_ns = machine_ns() + START_AHEAD_NS;
        let origin_unix_ns = wall_clock_of(origin_ns);
        self.begin_at(origin_ns, origin_unix_ns, measure_from);
        (self.clock, origin_unix_ns)
    }

    /// As [`Self::begin`], at an origin that somebody else has chosen.
    pub(crate) fn begin_at(&mut self, origin_ns: u64, origin_unix_ns: u64, measure_from: Option<u64>) {
        self.order(Order::Begin { origin_ns, origin_unix_ns, measure_from });
        self.clock = self.clock.with_origin_after(on_clock(&self.clock, origin_ns));
    }

    /// As [`engine::Generator::measure_soon`], for all processes.
    pub(crate) fn measure_soon(&mut self) -> u64 {
        let from = self.timeline.next_border(self.clock.now());
        self.measure_from(from);
        from
    }

    /// As [`engine::Generator::measure_from`], for all processes.
    pub(crate) fn measure_from(&mut self, interval: u64) {
        self.order(Order::MeasureFrom(interval));
    }

    pub(crate) fn stop(&mut self) {
        self.order(Order::Stop);
    }

    pub(crate) const fn driver(&self) -> DriverChoice {
        self.set_up.driver
    }

    pub(crate) const fn connections(&self) -> (u64, u64) {
        (self.set_up.asked, self.set_up.established)
    }

    /// What came of setting up the connections of all processes.
    pub(crate) const fn set_up(&self) -> &SetUp {
        &self.set_up
    }

    /// Why a process could not write its rows, if one could not.
    pub(crate) const fn rows_error(&mut self) -> Option<String> {
        self.rows_error.take()
    }

    /// Of all processes, this one included; theirs are known once they have ended.
    pub(crate) fn peak_rss_bytes(&self) -> u64 {
        self.peak_rss_bytes + peak_rss_bytes().unwrap_or_default()
    }

    /// Waits up to `timeout` for the next interval that all processes have ended.
    pub(crate) fn next(&mut self, timeout: Duration) -> Result<Step<'_>, GenerateError> {
        loop {
            if let Some((_, parts)) = self.parts.take() {
                self.merge(parts);
                return Ok(Step::Interval(&self.merged));
            }
            if self.parts.has_ended() {
                return Ok(Step::Ended);
            }
            match self.news.recv_timeout(timeout) {
                Ok((number, news)) => self.take(number, news)?,
                Err(RecvTimeoutError::Timeout) => {
                    self.parts.waited(timeout).map_err(|overdue| self.silent(overdue))?;
                    return Ok(Step::Waiting);
                }
                Err(RecvTimeoutError::Disconnected) => {
                    let cause = "every generator process is gone".to_owned();
                    return Err(EngineError::Worker(cause).into());
                }
            }
        }
    }

    fn take(&mut self, number: usize, news: News) -> Result<(), GenerateError> {
        let pid = self.members[number].child.id();
        match news {
            News::Ready(part) => self.set_up.add(&part),
            // The last word of a process about it; its connections are all set up.
            News::Opening(_) => {}
            News::Interval(data) => self.parts.put(number, data.counts.index, *data),
            News::Ended { peak_rss_bytes, rows_error } => {
                self.members[number].ended = true;
                self.parts.end(number);
                self.rows_error = self.rows_error.take().or(rows_error);
                self.peak_rss_bytes += peak_rss_bytes;
            }
            News::Failed { missed_start: true, .. } => return Err(EngineError::MissedStart.into()),
            News::Failed { cause, .. } => return Err(ProcessError::Failed { pid, cause }.into()),
            News::Garbled(error) => return Err(error.into()),
            News::Closed if self.members[number].ended => {}
            News::Closed => return Err(self.members[number].how_it_died().into()),
        }
        Ok(())
    }

    fn merge(&mut self, parts: Vec<(usize, IntervalData)>) {
        let sum = parts.into_iter().map(|(_, part)| part).reduce(|mut sum, part| {
            sum.merge(&part);
            sum
        });
        self.merged = sum.unwrap_or_default();
    }

    #[cold]
    fn silent(&self, overdue: Overdue) -> GenerateError {
        let pids = overdue.sources.into_iter().map(|number| self.members[number].child.id()).collect();
        ProcessError::Silent { pids, silence: overdue.silence }.into()
    }

    fn order(&mut self, order: Order) {
        for stdin in self.members.iter_mut().filter_map(|member| member.stdin.as_mut()) {
            // A process that is dead shows as a closed pipe.
            let _ = write_line(stdin, &order);
        }
    }
}

impl Drop for Fleet {
    fn drop(&mut self) {
        self.members.iter_mut().for_each(Member::end);
    }
}

impl Member {
    fn spawn(number: usize, sender: Sender<(usize, News)>) -> Result<Self, ProcessError> {
        // Not by path: the file may have been replaced by a new build since prony started.
        let mut child = Command::new("/proc/self/exe")
            .arg0("prony")
            .arg(GENERATOR)
            // Ctrl-C goes to the terminal's whole foreground group; prony decides what it means.
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(ProcessError::Spawn)?;
        let (stdin, pid) = (child.stdin.take(), child.id());
        let reader = child.stdout.take().map(|stdout| {
            std::thread::spawn(move || follow(pid, stdout, |news| sender.send((number, news)).is_ok()))
        });
        Ok(Self { child, stdin, reader, ended: false })
    }

    /// Its pipe is closed, so it is dead or as good as dead.
    fn how_it_died(&mut self) -> ProcessError {
        let pid = self.child.id();
        // Changes nothing for one that is already on its way out.
        let _ = self.child.kill();
        match self.child.wait() {
            Ok(status) => ProcessError::Died { pid, status },
            Err(source) => ProcessError::Wait { pid, source },
        }
    }

    /// Ends it; one that has ended has nothing left to do.
    fn end(&mut self) {
        self.stdin = None;
        let _ = self.child.kill();
        let _ = self.child.wait();
        if let Some(reader) = self.reader.take() {
            let _ = reader.join();
        }
    }
}

/// Body of a reader thread: passes reports on until the process closes its stdout or nobody listens.
fn follow(pid: u32, stdout: ChildStdout, mut pass: impl FnMut(News) -> bool) {
    for line in BufReader::new(stdout).lines().map_while(Result::ok) {
        let news = report(pid, &line).and_then(|report| unpack(pid, report)).unwrap_or_else(News::Garbled);
        if !pass(news) {
            return;
        }
    }
    pass(News::Closed);
}

fn unpack(pid: u32, report: Report) -> Result<News, ProcessError> {
    Ok(match report {
        Report::Ready(part) => News::Ready(part),
        Report::Opening { opened } => News::Opening(opened),
        Report::Interval(parcel) => {
            let data = parcel.unpack();
            let garbled =
                |cause: engine::ParcelError| ProcessError::Garbled { pid, cause: cause.to_string() };
            News::Interval(Box::new(data.map_err(garbled)?))
        }
        Report::Ended { peak_rss_bytes, rows_error } => News::Ended { peak_rss_bytes, rows_error },
        Report::Failed { missed_start, cause } => News::Failed { missed_start, cause },
    })
}

/// The workers of each process, or of each agent: contiguous, and as many as possible alike.
pub(crate) fn split(part: Part, among: u32) -> Vec<Part> {
    let among = among.clamp(1, part.workers.max(1));
    let mut first = part.first;
    (0..among)
        .map(|number| {
            let workers = Share::new(number, among).of(part.workers.into()) as u32;
            let part = Part { first, workers };
            first += workers;
            part
        })
        .collect()
}
