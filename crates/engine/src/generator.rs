//! A load in progress, seen from outside: starts the workers, gathers their intervals, ends them.
//!
//! Runs on the caller's thread; nothing here is on the hot path.

use crate::book::{Book, Closing, HandOver};
use crate::control::{Control, Timeline};
use crate::core::{Core, Limits, Pacer};
use crate::driver::{Driver, Epoll};
use crate::instrument;
use crate::interval::IntervalData;
use crate::worker::{Ready, Worker};
use pace::{Closed, PaceError, Schedule, Share, Think};
use request::Prepared;
use rustix::thread::{CpuSet, sched_setaffinity};
use schema::experiment::LoadModel;
use schema::load::ErrorClass;
use schema::plan::LoadPlan;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;
use units::{Clock, MonotonicClock, Nanos, Seed};

/// Between the decision to begin and the trial's origin, so that every worker sees it in time.
const START_AHEAD: Nanos = Nanos::from_millis(2);
/// How long a worker may be silent beyond an interval before it counts as stuck.
const SETUP_GRACE: Nanos = Nanos::from_secs(5);

/// One load, ready to be made.
#[derive(Clone, Debug)]
pub struct Job {
    /// How load is made.
    pub load: LoadPlan,
    /// Closed model: end after this many requests in total.
    pub requests_max: Option<u64>,
    /// Recorded arrivals: their times in nanoseconds, in order.
    pub recorded: Option<Arc<[u64]>>,
    /// Where to.
    pub to: SocketAddr,
    /// What is sent.
    pub prepared: Arc<Prepared>,
    /// The grid of phases.
    pub timeline: Timeline,
    /// CPUs for the workers, one each in turn; `None` leaves them to the system.
    pub cpus: Option<Vec<u32>>,
    /// Whether workers spin before an intended time; off where they share a CPU with the target.
    pub spin: bool,
}

/// Why a load cannot begin or go on.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// A rate, law, shape or think time that cannot be.
    #[error(transparent)]
    Pace(#[from] PaceError),
    /// A plan that contradicts itself.
    #[error("{0}")]
    Plan(&'static str),
    /// The operating system refused something the generator needs.
    #[error("the generator cannot {what}: {source}")]
    System {
        /// What was tried.
        what: &'static str,
        /// The system's answer.
        source: std::io::Error,
    },
    /// Not one connection could be opened; nothing was sent.
    #[error("no connection could be opened: {example} ({asked} tried); check that the target listens there")]
    NothingConnected {
        /// Connections asked for.
        asked: u64,
        /// Failed attempts by class; the sum is `asked`.
        failures: BTreeMap<ErrorClass, u64>,
        /// Text of the first failure.
        example: String,
    },
    /// A worker panicked or went silent: a defect of prony.
    #[error("a worker died: {0}; please report this")]
    Worker(String),
    /// A worker learned of the samples too late; the trial cannot be used.
    #[error("a worker was too late for the begin of the samples; the machine stalled: run the trial again")]
    MissedStart,
}

/// What [`Generator::next`] found.
#[derive(Debug)]
pub enum Step<'a> {
    /// An interval that all workers have ended, merged.
    Interval(&'a IntervalData),
    /// Nothing yet.
    Waiting,
    /// All workers have ended; no interval is left.
    Ended,
}

/// Workers at work.
#[derive(Debug)]
pub struct Generator {
    control: Arc<Control>,
    clock: MonotonicClock,
    timeline: Timeline,
    workers: Vec<JoinHandle<()>>,
    messages: Receiver<Message>,
    spares: Vec<Sender<Box<IntervalData>>>,
    /// Parts of intervals that some worker has not ended.
    parts: BTreeMap<u64, Vec<(usize, Box<IntervalData>)>>,
    merged: IntervalData,
    running: usize,
    asked: u64,
    established: u64,
}

#[derive(Debug)]
enum Message {
    Ready(Ready),
    Interval(usize, Box<IntervalData>),
    Ended(Result<Closing, std::io::Error>),
    Panicked(String),
}

impl Generator {
    /// Starts the workers and opens their connections; returns when each has ended its attempts, with no request
    /// sent. Call [`Generator::begin`] next.
    ///
    /// # Errors
    /// Bad rates, refused resources, or not one connection.
    pub fn start(job: &Job) -> Result<Self, EngineError> {
        check(job)?;
        let control = Arc::new(Control::new());
        let clock = MonotonicClock::starting_now();
        let (sender, messages) = channel();
        let mut generator = Self {
            control,
            clock,
            timeline: job.timeline,
            workers: Vec::new(),
            messages,
            spares: Vec::new(),
            parts: BTreeMap::new(),
            merged: IntervalData::default(),
            running: 0,
            asked: 0,
            established: 0,
        };
        for index in 0..job.load.workers {
            generator.spawn(job, index, sender.clone())?;
        }
        drop(sender);
        generator.await_ready(Nanos(job.load.connect_timeout_ns) + SETUP_GRACE)?;
        Ok(generator)
    }

    /// Sets the trial's origin a moment from now. `measure_from` is the first measured interval where that is known
    /// (0: no warm-up); else call [`Generator::measure_soon`] when warm-up may end. Returns the clock of the trial.
    pub fn begin(&mut self, measure_from: Option<u64>) -> MonotonicClock {
        if let Some(interval) = measure_from {
            self.control.measure_from(interval);
        }
        let origin = self.clock.now() + START_AHEAD;
        self.control.start_at(origin.0);
        self.clock = self.clock.with_origin_after(origin);
        self.clock
    }

    /// Lets the samples begin at the next interval border that every worker can still learn of in time. Returns the
    /// number of the first measured interval.
    pub fn measure_soon(&self) -> u64 {
        let (now_ns, interval_ns) = (self.clock.now().0, self.timeline.interval_ns);
        // Late in an interval a worker might already be on its way past the next border.
        let is_early = now_ns % interval_ns < interval_ns / 2;
        let from = now_ns / interval_ns + if is_early { 1 } else { 2 };
        self.control.measure_from(from);
        from
    }

    /// Ends the load early: nothing more is sent, what is in flight is censored.
    pub fn stop(&self) {
        self.control.stop();
    }

    /// Connections asked for, and open when the load began.
    #[must_use]
    pub const fn connections(&self) -> (u64, u64) {
        (self.asked, self.established)
    }

    /// Waits up to `timeout` for the next interval that is complete.
    ///
    /// # Errors
    /// When a worker died or missed the begin of the samples.
    pub fn next(&mut self, timeout: Duration) -> Result<Step<'_>, EngineError> {
        loop {
            if let Some(index) = self.complete_interval() {
                self.merge(index);
                return Ok(Step::Interval(&self.merged));
            }
            if self.running == 0 {
                self.join();
                return Ok(Step::Ended);
            }
            match self.messages.recv_timeout(timeout) {
                Ok(message) => self.take(message)?,
                Err(RecvTimeoutError::Timeout) => return Ok(Step::Waiting),
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(EngineError::Worker("it ended without a word".to_owned()));
                }
            }
        }
    }

    fn take(&mut self, message: Message) -> Result<(), EngineError> {
        match message {
            Message::Interval(worker, data) => {
                self.parts.entry(data.counts.index).or_default().push((worker, data));
                Ok(())
            }
            Message::Ended(closing) => {
                self.running -= 1;
                let closing =
                    closing.map_err(|source| EngineError::System { what: "drive its sockets", source })?;
                if closing.missed_start { Err(EngineError::MissedStart) } else { Ok(()) }
            }
            Message::Panicked(text) => Err(EngineError::Worker(text)),
            Message::Ready(ready) => {
                self.asked += ready.asked;
                self.established += ready.established;
                Ok(())
            }
        }
    }

    /// The earliest interval with a part from every worker; once all have ended, any that is left.
    fn complete_interval(&self) -> Option<u64> {
        let (index, parts) = self.parts.first_key_value()?;
        (parts.len() == self.workers.len() || self.running == 0).then_some(*index)
    }

    fn merge(&mut self, index: u64) {
        for (position, (worker, data)) in
            self.parts.remove(&index).unwrap_or_default().into_iter().enumerate()
        {
            if position == 0 {
                self.merged.begin(index, data.counts.start_ns);
            }
            self.merged.merge(&data);
            // A worker that has ended needs no spare.
            let _ = self.spares[worker].send(data);
        }
    }

    fn await_ready(&mut self, limit: Nanos) -> Result<(), EngineError> {
        let mut failures = BTreeMap::new();
        let mut example = None;
        for _ in 0..self.workers.len() {
            match self.messages.recv_timeout(limit.to_duration()) {
                Ok(Message::Ready(ready)) => {
                    for failure in &ready.failures {
                        *failures.entry(failure.class).or_insert(0) += 1;
                        example.get_or_insert_with(|| failure.text());
                    }
                    self.take(Message::Ready(ready))?;
                }
                Ok(other) => self.take(other)?,
                Err(_) => return Err(EngineError::Worker("it did not finish its set-up in time".to_owned())),
            }
        }
        if self.established == 0 {
            let example = example.unwrap_or_else(|| "stopped before any was tried".to_owned());
            return Err(EngineError::NothingConnected { asked: self.asked, failures, example });
        }
        Ok(())
    }

    fn spawn(&mut self, job: &Job, index: u32, sender: Sender<Message>) -> Result<(), EngineError> {
        let (spare_sender, spare) = channel();
        for _ in 0..2 {
            // A fresh channel with its receiver in hand cannot be closed.
            let _ = spare_sender.send(Box::default());
        }
        let finished = sender.clone();
        let worker = index as usize;
        let hand_over = HandOver {
            finished: Box::new(move |data| {
                let _ = finished.send(Message::Interval(worker, data));
            }),
            spare,
        };
        let share = Share::new(index, job.load.workers);
        let pacer = pacer(job, share)?;
        let limits = Limits {
            connect: Nanos(job.load.connect_timeout_ns),
            response: Nanos(job.load.timeout_ns),
            total: job.load.total_timeout_ns.map(Nanos),
        };
        let book = Book::new(hand_over, self.control.clone(), job.timeline);
        let connections = share.of(job.load.connections.into()) as u32;
        let core = Core::new(book, self.clock, job.to, job.prepared.clone(), limits, pacer, connections);
        let thread = Thread {
            cpu: job.cpus.as_ref().filter(|cpus| !cpus.is_empty()).map(|cpus| cpus[worker % cpus.len()]),
            spin: job.spin && job.load.model == LoadModel::Open,
            shortest_timeout: limits
                .total
                .unwrap_or(limits.response)
                .min(limits.response)
                .min(limits.connect),
            control: self.control.clone(),
            clock: self.clock,
            sender,
        };
        let handle = std::thread::Builder::new()
            .name(format!("prony-worker-{index}"))
            .spawn(move || thread.run(core))
            .map_err(|source| EngineError::System { what: "start a worker", source })?;
        self.workers.push(handle);
        self.spares.push(spare_sender);
        self.running += 1;
        Ok(())
    }

    /// Waits for the threads, which have nothing left to do; each has told how it ended.
    fn join(&mut self) {
        for worker in self.workers.drain(..) {
            let _ = worker.join();
        }
    }
}

impl Drop for Generator {
    fn drop(&mut self) {
        self.control.stop();
        self.join();
    }
}

/// What a worker's thread needs besides its core.
struct Thread {
    cpu: Option<u32>,
    spin: bool,
    shortest_timeout: Nanos,
    control: Arc<Control>,
    clock: MonotonicClock,
    sender: Sender<Message>,
}

impl Thread {
    fn run(self, core: Core) {
        let sender = self.sender.clone();
        let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| self.work(core)));
        let message = match ended {
            Ok(result) => Message::Ended(result),
            Err(panic) => {
                let text = panic.downcast_ref::<String>().cloned();
                let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
                Message::Panicked(text.unwrap_or_else(|| "it panicked".to_owned()))
            }
        };
        // The receiver is gone only when the generator was dropped; then nobody wants the word.
        let _ = sender.send(message);
    }

    fn work(self, core: Core) -> std::io::Result<Closing> {
        if let Some(cpu) = self.cpu {
            let mut set = CpuSet::new();
            set.set(cpu as usize);
            sched_setaffinity(None, &set)?;
        }
        // One nanosecond: timed waits are not rounded up to the default 50 µs.
        rustix::thread::set_current_timer_slack(NonZeroU64::new(1))?;
        let spin_margin = self.spin.then(instrument::spin_margin);
        let driver = Epoll::new(core.connections())?;
        let mut worker = Worker {
            core,
            driver,
            control: &self.control,
            clock: self.clock,
            spin_margin,
            shortest_timeout: self.shortest_timeout,
        };
        let ready = worker.set_up()?;
        let _ = self.sender.send(Message::Ready(ready));
        worker.run()
    }
}

fn check(job: &Job) -> Result<(), EngineError> {
    let load = &job.load;
    if load.workers == 0 || load.connections < load.workers {
        return Err(EngineError::Plan(
            "each worker needs at least one connection: give more connections or fewer workers",
        ));
    }
    if job.timeline.interval_ns == 0 {
        return Err(EngineError::Plan("a sample must last longer than zero"));
    }
    if load.model == LoadModel::Open && load.rate_per_s.is_none() {
        return Err(EngineError::Plan("an open load needs a rate"));
    }
    Ok(())
}

fn pacer(job: &Job, share: Share) -> Result<Pacer, EngineError> {
    Ok(match job.load.model {
        LoadModel::Closed => {
            let think =
                job.load.think.map(|plan| Think::new(&plan, Seed(job.load.seed), share)).transpose()?;
            Pacer::Closed(Closed::new(job.requests_max, share).with_think(think))
        }
        LoadModel::Open => Pacer::Open(Schedule::of_load(&job.load, job.recorded.clone(), share)?),
    })
}
