//! A load in progress, seen from outside: starts the workers, gathers their intervals, ends them.
//!
//! Runs on the caller's thread; nothing here is on the hot path.

use crate::assembly::{Assembly, Overdue};
use crate::book::{Book, Closing};
use crate::control::{Control, Timeline};
use crate::core::{Behaviour, Core, Follow, Limits, Outgoing, Pacer, Parts};
use crate::drawer::Drawer;
use crate::driver::{self, Driver, Epoll, Peer, Proxy, Route, Setup, SocketOptions, Tunnel, Uring};
use crate::error::{EngineError, SetupFailures};
use crate::hand_over::{Spares, hand_over};
use crate::instrument;
use crate::interval::{IntervalData, Page};
use crate::job::{Job, Scripts};
use crate::layer::{Layer, Plain};
use crate::names::Names;
use crate::opening::{self, Opening};
use crate::origin;
use crate::protocol::{H1, H2, Protocol};
use crate::rows::RowSinks;
use crate::standing;
use crate::tls::{Tls, TlsLayer};
use crate::worker::{Ready, Spin, Worker};
use pace::{Closed, Schedule, Share, Think};
use request::Framed;
use rustix::thread::{
    CpuSet, LinkNameSpaceType, move_into_link_name_space, sched_getaffinity, sched_setaffinity,
};
use schema::experiment::LoadModel;
use schema::plan::{ConnectionPlan, DriverChoice, HttpVersion, LoadPlan, PriorityChoice, SpinChoice};
use std::net::{IpAddr, SocketAddr};
use std::num::NonZeroU64;
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;
use units::{Clock, MonotonicClock, Nanos, Seed};
use wire::http2::{Config, Windows};
use wire::{Framing as _, Http1, Http2};

/// Between the decision to begin and the trial's origin, so that every worker sees it in time.
const START_AHEAD: Nanos = Nanos::from_millis(2);
/// How often it is looked how many connections are open while they are opened.
const OPENING_LOOK: Duration = Duration::from_millis(100);

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
    spares: Vec<Spares<Page>>,
    parts: Assembly<Box<Page>>,
    merged: IntervalData,
    asked: u64,
    established: u64,
    setup_failures: SetupFailures,
    driver: DriverChoice,
    /// Whether workers have times to keep.
    keeps_times: bool,
    /// Where arrivals are drawn once for all workers.
    drawer: Option<Drawer>,
}

#[derive(Debug)]
enum Message {
    Ready(Ready),
    Interval(usize, Box<Page>),
    Ended(usize, Result<Closing, std::io::Error>),
    Panicked(String),
}

impl Generator {
    /// Starts the workers and opens their connections; returns when each has ended its attempts, with no request
    /// sent. Call [`Generator::begin`] next.
    ///
    /// # Errors
    /// Bad rates, refused resources, or not one connection.
    pub fn start(job: &Job) -> Result<Self, EngineError> {
        Self::start_watched(job, &mut |_| ())
    }

    /// As [`Generator::start`]; meanwhile `opening` gets the number of open connections several times a second.
    ///
    /// # Errors
    /// As [`Generator::start`].
    pub fn start_watched(job: &Job, opening: &mut dyn FnMut(u64)) -> Result<Self, EngineError> {
        let generator = Self::start_part(job, opening)?;
        if generator.established == 0 {
            return Err(generator.setup_failures.nothing_connected(generator.asked));
        }
        Ok(generator)
    }

    /// As [`Generator::start_watched`], but also where not one connection could be opened: others may have some.
    ///
    /// # Errors
    /// Bad rates or refused resources.
    pub fn start_part(job: &Job, opening: &mut dyn FnMut(u64)) -> Result<Self, EngineError> {
        job.check()?;
        let driver = choose(job.load.driver)?;
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
            parts: Assembly::on(&job.timeline),
            merged: IntervalData::default(),
            asked: 0,
            established: 0,
            setup_failures: SetupFailures::default(),
            driver,
            keeps_times: false,
            drawer: None,
        };
        let mut schedules = generator.schedules(job)?;
        let speech = Speech::of(job)?;
        for index in 0..job.part.workers {
            let drawn = schedules.next();
            match &speech {
                Speech::Http1(protocol, framed) => {
                    generator.spawn(job, index, drawn, (*protocol, framed), sender.clone())?;
                }
                Speech::Http2(protocol, framed) => {
                    generator.spawn(job, index, drawn, (*protocol, framed), sender.clone())?;
                }
            }
        }
        drop(sender);
        generator.await_ready(opening::setup_time_max(&job.load, 1 + job.way.further.len()), opening)?;
        Ok(generator)
    }

    /// Sets the trial's origin a moment from now. `measure_from` is the first measured interval where that is known
    /// (0: no warm-up); else call [`Generator::measure_soon`] when warm-up may end. Returns the clock of the trial.
    pub fn begin(&mut self, measure_from: Option<u64>) -> MonotonicClock {
        let origin = self.clock.now() + START_AHEAD;
        self.begin_on(origin, measure_from)
    }

    /// As [`Generator::begin`], with the origin at a moment of [`origin::machine_ns`], so that several processes share
    /// it.
    pub fn begin_at(&mut self, moment_ns: u64, measure_from: Option<u64>) -> MonotonicClock {
        self.begin_on(origin::on_clock(&self.clock, moment_ns), measure_from)
    }

    fn begin_on(&mut self, origin: Nanos, measure_from: Option<u64>) -> MonotonicClock {
        if let Some(interval) = measure_from {
            self.control.measure_from(interval);
        }
        standing::workers_first(self.keeps_times);
        self.control.start_at(origin.0);
        self.clock = self.clock.with_origin_after(origin);
        self.clock
    }

    /// Lets the samples begin at the next interval border that every worker can still learn of in time. Returns the
    /// number of the first measured interval.
    pub fn measure_soon(&self) -> u64 {
        let from = self.timeline.next_border(self.clock.now());
        self.control.measure_from(from);
        from
    }

    /// Lets the samples begin with this interval, which another generator of the same load has chosen.
    pub fn measure_from(&self, interval: u64) {
        self.control.measure_from(interval);
    }

    /// Ends the load early: nothing more is sent, what is in flight is censored.
    pub fn stop(&self) {
        self.control.stop();
    }

    /// How sockets are driven: never [`DriverChoice::Auto`].
    #[must_use]
    pub const fn driver(&self) -> DriverChoice {
        self.driver
    }

    /// Connections asked for, and open when the load began.
    #[must_use]
    pub const fn connections(&self) -> (u64, u64) {
        (self.asked, self.established)
    }

    /// Connection attempts that failed before the load began.
    #[must_use]
    pub const fn setup_failures(&self) -> &SetupFailures {
        &self.setup_failures
    }

    /// Waits up to `timeout` for the next interval that is complete.
    ///
    /// # Errors
    /// When a worker died or missed the begin of the samples.
    pub fn next(&mut self, timeout: Duration) -> Result<Step<'_>, EngineError> {
        loop {
            if let Some((index, parts)) = self.parts.take() {
                self.merge(index, parts);
                return Ok(Step::Interval(&self.merged));
            }
            if self.parts.has_ended() {
                self.join();
                return Ok(Step::Ended);
            }
            match self.messages.recv_timeout(timeout) {
                Ok(message) => {
                    standing::give_way();
                    self.take(message)?;
                }
                Err(RecvTimeoutError::Timeout) => {
                    self.parts.waited(timeout).map_err(|overdue| self.abandon(overdue))?;
                    return Ok(Step::Waiting);
                }
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(EngineError::Worker("it ended without a word".to_owned()));
                }
            }
        }
    }

    fn take(&mut self, message: Message) -> Result<(), EngineError> {
        match message {
            Message::Interval(worker, data) => {
                self.parts.put(worker, data.counts.index, data);
                Ok(())
            }
            Message::Ended(worker, closing) => {
                self.parts.end(worker);
                let closing =
                    closing.map_err(|source| EngineError::System { what: "drive its sockets", source })?;
                if closing.missed_start { Err(EngineError::MissedStart) } else { Ok(()) }
            }
            Message::Panicked(text) => Err(EngineError::Worker(text)),
            Message::Ready(ready) => {
                self.asked += ready.asked;
                self.established += ready.established;
                for failure in &ready.failures {
                    *self.setup_failures.by_class.entry(failure.class).or_insert(0) += 1;
                    self.setup_failures.example.get_or_insert_with(|| failure.text());
                }
                Ok(())
            }
        }
    }

    fn merge(&mut self, index: u64, parts: Vec<(usize, Box<Page>)>) {
        for (position, (worker, data)) in parts.into_iter().enumerate() {
            if position == 0 {
                self.merged.begin(index, data.counts.start_ns);
            }
            self.merged.merge(&data);
            self.spares[worker].give_back(data);
        }
    }

    fn await_ready(&mut self, limit: Duration, opening: &mut dyn FnMut(u64)) -> Result<(), EngineError> {
        let (mut ready, mut waited) = (0, Duration::ZERO);
        while ready < self.workers.len() {
            match self.messages.recv_timeout(OPENING_LOOK) {
                Ok(message) => {
                    self.take(message)?;
                    (ready, waited) = (ready + 1, Duration::ZERO);
                }
                Err(_) if waited >= limit => {
                    return Err(EngineError::Worker("it did not finish its set-up in time".to_owned()));
                }
                Err(_) => {
                    waited += OPENING_LOOK;
                    opening(self.control.opened_so_far());
                }
            }
        }
        Ok(())
    }

    /// The schedules of this process's workers where arrivals are drawn once for all of them, which begins; else none.
    fn schedules(&mut self, job: &Job) -> Result<std::vec::IntoIter<Schedule>, EngineError> {
        let drawing = match job.load.model {
            LoadModel::Open => Schedule::drawn_once(&job.load, job.part.first, job.part.workers)?,
            LoadModel::Closed => None,
        };
        let Some((schedules, drawing)) = drawing else { return Ok(Vec::new().into_iter()) };
        self.drawer = Some(Drawer::start(drawing)?);
        Ok(schedules.into_iter())
    }

    fn spawn<P>(
        &mut self,
        job: &Job,
        index: u32,
        drawn: Option<Schedule>,
        (protocol, framed): (P, &Arc<Framed<P::Framing>>),
        sender: Sender<Message>,
    ) -> Result<(), EngineError>
    where
        P: Protocol + Send + 'static,
        P::State: Send,
    {
        let finished = sender.clone();
        let worker = index as usize;
        let (hand_over, spares) = hand_over(move |data| {
            let _ = finished.send(Message::Interval(worker, data));
        });
        let load = &job.load;
        let share = Share::new(job.part.first + index, load.workers);
        let limits = limits(load);
        let opening = Opening {
            connections: share.of(load.connections.into()) as usize,
            per_s: load.connection.ramp_per_s.map(|per_s| per_s / f64::from(load.workers)),
            connect_timeout: limits.connect,
            waiting_max: driver::descriptors_each(job.part.workers),
        };
        let is_open = load.model == LoadModel::Open;
        let here = opening.connections;
        let slots =
            if is_open { share.of(load.connections_max.max(load.connections).into()) as usize } else { here };
        let script = job.scripts.as_ref().map(Scripts::take).transpose()?;
        // Behind a proxy there is one address to connect to.
        let own = script.as_ref().and_then(|script| script.address());
        let address = own.filter(|_| job.way.proxy.is_none());
        let core = Core::new(Parts {
            protocol,
            book: Book::new(hand_over, self.control.clone(), job.timeline, is_open, job.traffic.results())
                .with_rows(job.rows.as_ref().and_then(RowSinks::take))
                .of_worker(share, load.trace.map(|trace| trace.tracing())),
            clock: self.clock,
            routes: all_routes(job, address.unwrap_or(job.to), share),
            origins: job.way.origin_of.clone(),
            names: names(job)?,
            users: share.of(load.users.unwrap_or(load.connections).into()),
            outgoing: Outgoing::new(job.traffic.clone(), framed, script, Seed(load.seed), share)?,
            limits,
            behaviour: Behaviour::new(&load.connection, job.way.proxy.is_some()),
            follow: follow(job),
            pacer: pacer(job, drawn, share)?,
            connections: slots.max(here),
            streams: if P::HAS_STREAMS { load.connection.streams as usize } else { 1 },
        });
        let is_raised = load.priority == PriorityChoice::Auto && core.waits_for_times();
        self.keeps_times |= is_raised;
        let thread = Thread {
            cpu: job
                .cpus
                .as_ref()
                .filter(|cpus| !cpus.is_empty())
                .map(|cpus| cpus[share.index() as usize % cpus.len()]),
            spin: load.spin,
            may_spin: job.spin && core.waits_for_times(),
            is_raised,
            shares_cpu: has_no_other_cpu(job),
            opening: Opening { connections: here * (1 + job.way.further.len()), ..opening },
            options: options(&load.connection),
            proxy: job.way.proxy.clone(),
            namespace: job.way.namespace.clone(),
            driver: self.driver,
            control: self.control.clone(),
            clock: self.clock,
            tls: job.tls.clone(),
            worker,
            sender,
        };
        let handle = std::thread::Builder::new()
            .name(format!("prony-worker-{index}"))
            .spawn(move || thread.run(core))
            .map_err(|source| EngineError::System { what: "start a worker", source })?;
        self.workers.push(handle);
        self.spares.push(spares);
        self.parts.join();
        Ok(())
    }

    /// Workers do not answer: they are not waited for when the load is dropped.
    #[cold]
    fn abandon(&mut self, overdue: Overdue) -> EngineError {
        self.control.stop();
        self.workers.clear();
        let workers = overdue.sources.into_iter().map(|worker| worker as u64).collect();
        EngineError::Silent { workers, silence: overdue.silence }
    }

    /// Waits for the threads, which have nothing left to do; each has reported how it ended.
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
        standing::workers_first(false);
    }
}

/// What the connections of a job speak, and its requests as that writes them.
enum Speech {
    Http1(H1, Arc<Framed<Http1>>),
    Http2(H2, Arc<Framed<Http2>>),
}

impl Speech {
    fn of(job: &Job) -> Result<Self, EngineError> {
        let connection = &job.load.connection;
        Ok(match connection.http {
            HttpVersion::V1_1 => Self::Http1(H1::new(connection.pipeline), job.traffic.framed().clone()),
            HttpVersion::V2 => {
                let [of_streams, of_all] = connection.windows();
                let config = Config {
                    https: job.tls.is_some(),
                    streams_max: connection.streams,
                    first_stream: job.way.first_stream.unwrap_or(1),
                    windows: Windows::of_bits(of_streams, of_all),
                    ..Config::default()
                };
                let too_much = |_| EngineError::Plan("all fixed requests exceed 4 GiB; send smaller bodies");
                Self::Http2(H2::new(config), job.traffic.framed_by().map_err(too_much)?)
            }
        })
    }
}

/// What a worker's thread needs besides its core.
struct Thread {
    cpu: Option<u32>,
    spin: SpinChoice,
    may_spin: bool,
    /// Whether it asks for a better standing than other threads have.
    is_raised: bool,
    /// Whether the controller has no other CPU than the workers'.
    shares_cpu: bool,
    opening: Opening,
    options: SocketOptions,
    proxy: Option<Proxy>,
    namespace: Option<PathBuf>,
    driver: DriverChoice,
    control: Arc<Control>,
    clock: MonotonicClock,
    tls: Option<Tls>,
    /// Its number among the generator's.
    worker: usize,
    sender: Sender<Message>,
}

impl Thread {
    fn run<P: Protocol>(self, core: Core<P>) {
        let (sender, worker) = (self.sender.clone(), self.worker);
        let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| self.work(core)));
        let message = match ended {
            Ok(result) => Message::Ended(worker, result),
            Err(panic) => {
                let text = panic.downcast_ref::<String>().cloned();
                let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
                Message::Panicked(text.unwrap_or_else(|| "it panicked".to_owned()))
            }
        };
        // The receiver is gone only when the generator was dropped; then nobody wants the word.
        let _ = sender.send(message);
    }

    fn work<P: Protocol>(self, core: Core<P>) -> std::io::Result<Closing> {
        if let Some(cpu) = self.cpu {
            let mut set = CpuSet::new();
            set.set(cpu as usize);
            sched_setaffinity(None, &set)?;
        }
        if let Some(namespace) = &self.namespace {
            let entered = std::fs::File::open(namespace).and_then(|file| {
                Ok(move_into_link_name_space(file.as_fd(), Some(LinkNameSpaceType::Network))?)
            });
            entered.map_err(|error| {
                std::io::Error::new(error.kind(), format!("cannot enter the generator's network: {error}"))
            })?;
        }
        // One nanosecond: timed waits are not rounded up to the default 50 µs.
        rustix::thread::set_current_timer_slack(NonZeroU64::new(1))?;
        let setup = Setup {
            slots: core.carriers(),
            is_pipelined: core.is_pipelined(),
            options: self.options.clone(),
            lasting: core.lasting_bytes(),
            proxy: self.proxy.clone(),
        };
        let is_tunneled = setup.proxy.is_some();
        match self.driver {
            DriverChoice::Epoll if is_tunneled => self.over(core, Tunnel::<Epoll>::new(&setup)?),
            DriverChoice::Epoll => self.over(core, Epoll::new(&setup)?),
            DriverChoice::Auto | DriverChoice::IoUring if is_tunneled => {
                self.over(core, Tunnel::<Uring>::new(&setup)?)
            }
            DriverChoice::Auto | DriverChoice::IoUring => self.over(core, Uring::new(&setup)?),
        }
    }

    fn over<D: Driver, P: Protocol>(self, core: Core<P>, driver: D) -> std::io::Result<Closing> {
        match self.tls.as_ref().map(|tls| TlsLayer::new(tls, P::Framing::ALPN.as_bytes())) {
            Some(layer) => self.drive(core, driver, layer),
            None => self.drive(core, driver, Plain),
        }
    }

    fn drive<D: Driver, P: Protocol>(
        self,
        mut core: Core<P>,
        driver: D,
        layer: impl Layer,
    ) -> std::io::Result<Closing> {
        if self.is_raised {
            core.book.runs_at(standing::raise().nice);
        }
        let spin = match self.spin {
            SpinChoice::Full => Spin::Full,
            SpinChoice::Auto if self.may_spin => Spin::Margin(instrument::spin_margin()),
            SpinChoice::Off | SpinChoice::Auto => Spin::Off,
        };
        let mut worker = Worker {
            core,
            driver,
            layer,
            control: &self.control,
            clock: self.clock,
            spin,
            origin: Nanos::ZERO,
            opening: self.opening,
            shares_cpu: self.shares_cpu,
        };
        let ready = worker.set_up()?;
        let _ = self.sender.send(Message::Ready(ready));
        worker.run()
    }
}

/// Whether the workers leave no CPU to the controller, whose thread makes the generator.
fn has_no_other_cpu(job: &Job) -> bool {
    let allowed = sched_getaffinity(None).map_or(usize::MAX, |set| set.count() as usize);
    allowed <= job.part.workers as usize
}

/// The driver that a choice means on this kernel.
fn choose(choice: DriverChoice) -> Result<DriverChoice, EngineError> {
    match (choice, driver::try_uring()) {
        (DriverChoice::Epoll, _) => Ok(DriverChoice::Epoll),
        (_, Ok(())) => Ok(DriverChoice::IoUring),
        (DriverChoice::Auto, Err(_)) => Ok(DriverChoice::Epoll),
        (DriverChoice::IoUring, Err(error)) => Err(EngineError::NoUring(error.to_string())),
    }
}

/// The drivers that work on this kernel, the preferred one first.
#[must_use]
pub fn drivers() -> Vec<DriverChoice> {
    let uring = driver::try_uring().is_ok().then_some(DriverChoice::IoUring);
    uring.into_iter().chain([DriverChoice::Epoll]).collect()
}

fn names(job: &Job) -> Result<Option<Names>, EngineError> {
    let failed = |source| EngineError::System { what: "start the thread that resolves names", source };
    job.lookup.clone().map(Names::start).transpose().map_err(failed)
}

fn limits(load: &LoadPlan) -> Limits {
    Limits {
        connect: Nanos(load.connect_timeout_ns),
        response: Nanos(load.timeout_ns),
        total: load.total_timeout_ns.map(Nanos),
        deadline: load.deadline_ns.map(Nanos),
    }
}

fn options(plan: &ConnectionPlan) -> SocketOptions {
    SocketOptions {
        nodelay: plan.nodelay,
        keepalive_s: plan.tcp_keepalive_ns.map(|time| time.div_ceil(1_000_000_000)),
        congestion: plan.congestion.clone(),
        dscp: plan.dscp,
        device: plan.device.clone(),
    }
}

/// The ways to the target and to each further origin.
fn all_routes(job: &Job, to: SocketAddr, share: Share) -> Vec<Vec<Route>> {
    let all = std::iter::once(to).chain(job.way.further.iter().copied());
    all.enumerate().map(|(server, to)| routes(job, to, share, server as u16)).collect()
}

/// The ways to an origin; workers begin at different ones, so that few connections still use all sources.
fn routes(job: &Job, to: SocketAddr, share: Share, server: u16) -> Vec<Route> {
    let plan = &job.load.connection;
    if let Some(path) = &plan.unix_socket {
        return vec![Route { peer: Peer::Unix(Arc::new(path.into())), source: None, server }];
    }
    let peer = Peer::Inet(to);
    let fits = |source: &&IpAddr| source.is_ipv4() == to.is_ipv4();
    let mut routes: Vec<Route> = (plan.sources.iter().filter(fits))
        .map(|source| Route { peer: peer.clone(), source: Some(*source), server })
        .collect();
    if routes.is_empty() {
        routes.push(Route { peer, source: None, server });
    }
    let first = share.index() as usize % routes.len();
    routes.rotate_left(first);
    routes
}

/// Which redirects are followed; [`Job::check`] has seen to it that there is an origin.
fn follow(job: &Job) -> Option<Follow> {
    let (hops_max, origin) = (job.load.connection.follow?, job.way.origin.clone()?);
    Some(Follow { hops_max, origin })
}

/// `drawn` is this worker's schedule where arrivals are drawn for all workers.
fn pacer(job: &Job, drawn: Option<Schedule>, share: Share) -> Result<Pacer, EngineError> {
    Ok(match job.load.model {
        LoadModel::Closed => {
            let think =
                job.load.think.map(|plan| Think::new(&plan, Seed(job.load.seed), share)).transpose()?;
            Pacer::Closed(Closed::new(job.requests_max, share).with_think(think))
        }
        LoadModel::Open => {
            let schedule = match drawn {
                Some(schedule) => schedule,
                None => Schedule::of_load(&job.load, job.recorded.clone(), share)?,
            };
            Pacer::Open(match job.requests_max {
                Some(arrivals) => schedule.ending_after(arrivals, share),
                None => schedule,
            })
        }
    })
}
