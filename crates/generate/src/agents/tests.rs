//! Controller and agents over real streams, with recorded loads in the place of generator processes.

use super::control::Agents;
use super::door::Listener;
use super::error::AgentError;
use super::facts::facts;
use super::link::{Ends, over_unix};
use super::maker::{Make, Maker};
use super::muster::Muster;
use super::portable::pack;
use super::protocol::{Errand, Greeting, Order, Report, VERSION, next_line, to_text};
use super::relay::Agent;
use super::sample;
use super::session::{Event, Link, Rules, Session};
use crate::GenerateError;
use crate::lines::write_line;
use crate::processes::split;
use crate::set_up::SetUp;
use engine::{Counts, IntervalData, Part, Step, machine_ns, new_histogram};
use fleet::{Allow, FileRef, Lease};
use hdrhistogram::serialization::{Serializer as _, V2Serializer};
use pace::{Schedule, Share};
use schema::agents::FleetReport;
use schema::arrival::{ArrivalPlan, RecordingEnd};
use schema::experiment::LoadModel;
use schema::fleet::{AgentLink, AgentPlan, FleetPlan};
use schema::load::Time;
use schema::plan::DriverChoice;
use schema::trial::AgentInterval;
use std::collections::{BTreeMap, BTreeSet};
use std::io::BufReader;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;
use units::{PerSecond, Seed};

const SECOND_NS: u64 = 1_000_000_000;
pub(super) const INTERVALS: u64 = 4;
pub(super) const POLL: Duration = Duration::from_millis(20);

/// What became of one request, as a log has it.
#[derive(Clone, Copy)]
struct Recorded {
    worker: u32,
    at_ns: u64,
    response_ns: u64,
    lag_ns: u64,
    is_failed: bool,
}

/// A log of twenty thousand requests of eight workers, skewed as response times are.
fn log() -> Vec<Recorded> {
    let draw = |n: u64, what: &str, below: u64| Seed(7).derive(what, n).0 % below;
    (0..20_000)
        .map(|n| Recorded {
            worker: draw(n, "worker", 8) as u32,
            at_ns: draw(n, "at", INTERVALS * SECOND_NS),
            response_ns: 10_000 + draw(n, "long", 30) * draw(n, "time", 40_000_000),
            lag_ns: draw(n, "lag", 90_000),
            is_failed: draw(n, "failed", 100) == 0,
        })
        .collect()
}

/// The intervals of a part of the workers, as a generator would have booked the log.
pub(super) fn booked(part: Part) -> Vec<IntervalData> {
    let mut all: Vec<IntervalData> = (0..INTERVALS)
        .map(|index| {
            let mut data = IntervalData::default();
            data.counts =
                Counts { index, start_ns: index * SECOND_NS, end_ns: (index + 1) * SECOND_NS, ..data.counts };
            data
        })
        .collect();
    let own = |recorded: &Recorded| (part.first..part.first + part.workers).contains(&recorded.worker);
    for recorded in log().into_iter().filter(own) {
        let data = &mut all[(recorded.at_ns / SECOND_NS) as usize];
        let account = &mut data.counts.measured;
        account.scheduled += 1;
        match recorded.is_failed {
            true => account.failed[1] += 1,
            false => account.completed += 1,
        }
        data.counts.answers += u64::from(!recorded.is_failed);
        data.counts.in_system_ns += recorded.response_ns;
        data.times[Time::Response].record(recorded.response_ns).unwrap();
        data.times[Time::PacerLag].record(recorded.lag_ns).unwrap();
        data.sent.stamps.push((recorded.at_ns, recorded.at_ns + recorded.lag_ns));
    }
    for data in &mut all {
        data.sent.stamps.sort_unstable_by_key(|(intended_ns, written_ns)| (*written_ns, *intended_ns));
    }
    all
}

/// Gives out what was booked, once the load has begun and each interval was let go.
pub(super) struct Replay {
    intervals: std::vec::IntoIter<IntervalData>,
    at: Option<IntervalData>,
    gate: Option<Receiver<()>>,
    has_begun: bool,
    set_up: SetUp,
    is_gone: Arc<AtomicBool>,
}

impl Replay {
    pub(super) fn new(part: Part, gate: Option<Receiver<()>>) -> Self {
        Self {
            intervals: booked(part).into_iter(),
            at: None,
            gate,
            has_begun: false,
            set_up: SetUp { asked: 1, established: 1, ..SetUp::new(DriverChoice::Epoll) },
            is_gone: Arc::default(),
        }
    }
}

impl Drop for Replay {
    fn drop(&mut self) {
        self.is_gone.store(true, Ordering::Release);
    }
}

impl Maker for Replay {
    fn begin_at(&mut self, origin_ns: u64, _: u64, _: Option<u64>) {
        assert!(origin_ns > machine_ns() - SECOND_NS, "the origin is on this clock");
        self.has_begun = true;
    }
    fn measure_from(&mut self, _: u64) {}
    fn stop(&mut self) {
        self.intervals = Vec::new().into_iter();
    }
    fn next(&mut self, timeout: Duration) -> Result<Step<'_>, GenerateError> {
        assert!(self.has_begun, "nothing is made before the begin");
        let may_go = self.gate.as_ref().is_none_or(|gate| gate.recv_timeout(timeout).is_ok());
        if !may_go && self.intervals.len() > 0 {
            return Ok(Step::Waiting);
        }
        self.at = self.intervals.next();
        Ok(self.at.as_ref().map_or(Step::Ended, Step::Interval))
    }
    fn set_up(&self) -> &SetUp {
        &self.set_up
    }
    fn peak_rss_bytes(&self) -> u64 {
        1
    }
}

pub(super) fn replays() -> Make {
    Arc::new(|_, part, opening| {
        opening(1);
        Ok(Box::new(Replay::new(part, None)))
    })
}

pub(super) fn agent() -> Agent {
    Agent { allow: Allow::default(), facts: facts(None), is_here: true }
}

pub(super) fn plan(name: &str, link: AgentLink) -> AgentPlan {
    AgentPlan { name: name.to_owned(), link }
}

/// Agents that are ready for a load, over streams that are open.
pub(super) fn over(all: Vec<(AgentPlan, Ends)>) -> Result<Muster, AgentError> {
    let mut muster = Muster::greet(all, &Errand::default())?;
    muster.learn_clocks()?;
    Ok(muster)
}

/// Agents at the other ends of Unix streams, each on a thread.
fn muster(agents: usize, make: &Make) -> (Muster, Vec<JoinHandle<()>>) {
    let (ends, threads): (Vec<_>, Vec<_>) = (0..agents)
        .map(|number| {
            let (here, there) = UnixStream::pair().unwrap();
            let (make, writer) = (make.clone(), there.try_clone().unwrap());
            let thread =
                std::thread::spawn(move || agent().serve_one(there, Box::new(writer), make).unwrap());
            ((plan(&format!("a{number}"), AgentLink::Here), over_unix(here)), thread)
        })
        .unzip();
    (over(ends).unwrap(), threads)
}

/// An interval in what must not differ by a bit: counts, histograms by tag, stamps.
pub(super) type Exact = (Counts, BTreeMap<String, Vec<u8>>, engine::Sent);

pub(super) fn exact(data: &IntervalData) -> Exact {
    let histogram = |(tag, histogram): (&'static str, &hdrhistogram::Histogram<u64>)| {
        // As it is written to `latency.hlog`: with the bounds of METHOD §10.
        let (mut written, mut bytes) = (new_histogram(), Vec::new());
        written.add(histogram).unwrap();
        V2Serializer::new().serialize(&written, &mut bytes).unwrap();
        (tag.to_owned(), bytes)
    };
    (data.counts, data.times.tagged().into_iter().map(histogram).collect(), data.sent.clone())
}

/// The whole load as so many agents report it.
fn by_agents(agents: usize) -> (Vec<Exact>, FleetReport) {
    let (muster, threads) = muster(agents, &replays());
    let found = merged(muster, agents);
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    found
}

/// The whole load as so many agents that were reached report it.
pub(super) fn merged(muster: Muster, agents: usize) -> (Vec<Exact>, FleetReport) {
    let job = sample::job("http://127.0.0.1:9");
    let mut opened = 0;
    let mut fleet = Agents::with(&job, pack(&job).unwrap(), muster, &mut |now| opened = now).unwrap();
    assert_eq!((opened, fleet.connections()), (agents as u64, (agents as u64, agents as u64)));
    fleet.begin(Some(0));
    let mut all = Vec::new();
    loop {
        match fleet.next(POLL).unwrap() {
            (Step::Interval(data), lines) => {
                let sum = |of: fn(&AgentInterval) -> u64| lines.iter().map(of).sum::<u64>();
                let counts = &data.counts;
                assert_eq!(lines.len(), agents);
                assert_eq!(sum(|line| line.scheduled), counts.warm.scheduled + counts.measured.scheduled);
                assert_eq!(sum(|line| line.completed), counts.answers);
                assert_eq!(
                    sum(|line| line.failed),
                    counts.warm.failed_total() + counts.measured.failed_total()
                );
                all.push(exact(data));
            }
            (Step::Waiting, _) => {}
            (Step::Ended, _) => break,
        }
    }
    let report = fleet.report(LoadModel::Open);
    drop(fleet);
    (all, report)
}

/// Whether what agents report is what one machine booked, bit for bit.
pub(super) fn check_same(what: &str, found: &[Exact]) {
    let alone: Vec<_> = booked(Part { first: 0, workers: 8 }).iter().map(exact).collect();
    assert_eq!(alone.len() as u64, INTERVALS);
    assert!(
        alone.iter().all(|(.., sent)| sent.stamps.len() > 1_000),
        "the stamps are held against each other, too"
    );
    for (mine, theirs) in alone.iter().zip(found) {
        assert_eq!(mine.0, theirs.0, "{what}");
        assert_eq!(mine.2, theirs.2, "{what}");
        for (tag, bytes) in &mine.1 {
            assert!(theirs.1[tag] == *bytes, "{what}: interval {}, {tag}", mine.0.index);
        }
    }
    assert_eq!(alone.len(), found.len(), "{what}");
}

#[test]
fn one_log_fed_to_one_machine_and_to_eight_agents_is_the_same_to_the_byte() {
    let (one, _) = by_agents(1);
    let (eight, report) = by_agents(8);
    check_same("one agent", &one);
    check_same("eight agents", &eight);
    let sum = |number: fn(&schema::agents::AgentReport) -> u64| report.agents.iter().map(number).sum::<u64>();
    assert_eq!(sum(|agent| agent.scheduled), 20_000);
    assert_eq!(sum(|agent| agent.completed + agent.failed), 20_000);
    assert_eq!(sum(|agent| agent.parcels), 8 * INTERVALS);
    assert_eq!(sum(|agent| agent.repeated + agent.reconnects), 0);
    assert_eq!(sum(|agent| agent.workers.into()), 8);
    assert!(
        report.agents.iter().all(|agent| agent.clock.bound_ns <= 1_000_000 && agent.clock.exchanges >= 32)
    );
    assert!(report.p99_spread.is_some_and(|spread| spread >= 1.0));
}

/// The laws, each with what must be the same however many agents there are.
fn laws() -> Vec<ArrivalPlan> {
    let recorded = ArrivalPlan::Recorded {
        file: String::new(),
        count: 3,
        span_ns: 2_000_000,
        speed: 1.0,
        after: RecordingEnd::Repeat,
    };
    vec![
        ArrivalPlan::Constant,
        ArrivalPlan::Uniform { width: 0.5 },
        ArrivalPlan::Poisson,
        ArrivalPlan::Weibull { shape: 0.7 },
        ArrivalPlan::Lognormal { cv: 2.0 },
        ArrivalPlan::Gamma { shape: 0.5 },
        ArrivalPlan::Mmpp { high: 5.0, low: 0.5, high_for_ns: 50_000_000, low_for_ns: 200_000_000 },
        recorded,
    ]
}

#[test]
fn the_union_over_agents_is_the_schedule_of_one_machine_for_every_law() {
    const ARRIVALS: u64 = 2_000;
    for law in laws() {
        let times: Option<Arc<[u64]>> =
            matches!(law, ArrivalPlan::Recorded { .. }).then(|| Arc::from([0, 500_000, 2_000_000]));
        let of = |share: Share| {
            let schedule =
                Schedule::new(&law, PerSecond(3_000.0), None, times.clone(), Seed(11), share).unwrap();
            let mut schedule = schedule.ending_after(ARRIVALS, share);
            std::iter::from_fn(move || {
                let at = schedule.advance();
                (at != Schedule::NEVER).then_some(at.0)
            })
        };
        // A request's number is its place in the whole schedule.
        let whole: BTreeMap<u64, u64> = (0..).zip(of(Share::WHOLE)).collect();
        assert_eq!(whole.len() as u64, ARRIVALS);
        for (workers, agents) in [(8, 8), (7, 3), (200, 8)] {
            let parts = split(Part { first: 0, workers }, agents);
            assert_eq!(parts.len() as u32, agents);
            let mut union = BTreeMap::new();
            for worker in parts.iter().flat_map(|part| part.first..part.first + part.workers) {
                let numbers = (u64::from(worker)..).step_by(workers as usize);
                for (number, at_ns) in numbers.zip(of(Share::new(worker, workers))) {
                    assert!(union.insert(number, at_ns).is_none(), "{law:?}: request {number} twice");
                }
            }
            assert!(union == whole, "{law:?}: {workers} workers of {agents} agents");
        }
    }
}

/// Passes streams on from one socket to another, until it shall cut them.
struct Relay {
    cut: Sender<()>,
    thread: Option<JoinHandle<()>>,
}

impl Relay {
    /// Listens at `from`; each word of `cut` ends the present streams, and its end ends the relay.
    fn start(from: &Path, to: &Path) -> Self {
        let (cut, cuts) = channel::<()>();
        let listener = UnixListener::bind(from).unwrap();
        let to = to.to_owned();
        let thread = std::thread::spawn(move || {
            loop {
                let (outer, _) = listener.accept().unwrap();
                let inner = UnixStream::connect(&to).unwrap();
                let copies = [(&outer, &inner), (&inner, &outer)].map(|(a, b)| {
                    let (mut a, mut b) = (a.try_clone().unwrap(), b.try_clone().unwrap());
                    std::thread::spawn(move || {
                        let _ = std::io::copy(&mut a, &mut b);
                        let _ = b.shutdown(std::net::Shutdown::Both);
                    })
                });
                let goes_on = cuts.recv().is_ok();
                for end in [&outer, &inner] {
                    let _ = end.shutdown(std::net::Shutdown::Both);
                }
                copies.into_iter().for_each(|copy| copy.join().unwrap());
                if !goes_on {
                    return;
                }
            }
        });
        Self { cut, thread: Some(thread) }
    }
}

/// Takes what one agent makes, in steps, and cuts its link after the first interval: each comes once, in order.
pub(super) fn comes_whole_though_cut(agents: &mut Agents, go: &Sender<()>, cut: &Sender<()>) {
    let mut found = Vec::new();
    go.send(()).unwrap();
    loop {
        match agents.next(POLL).unwrap().0 {
            Step::Interval(data) => {
                found.push(exact(data));
                // The next is made while nobody is linked.
                if found.len() == 1 {
                    cut.send(()).unwrap();
                }
                let _ = go.send(());
            }
            Step::Waiting => {}
            Step::Ended => break,
        }
    }
    let alone: Vec<_> = booked(Part { first: 0, workers: 8 }).iter().map(exact).collect();
    assert!(found == alone, "each interval once, in order");
}

#[test]
fn a_link_that_is_cut_in_the_middle_loses_and_repeats_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (own, outer) = (folder.path().join("agent"), folder.path().join("relay"));
    let listener = Listener::Unix(UnixListener::bind(&own).unwrap());
    let (go, gate) = channel();
    let gate = Mutex::new(Some(gate));
    let make: Make = Arc::new(move |_, part, _| Ok(Box::new(Replay::new(part, gate.lock().unwrap().take()))));
    let stop = Arc::new(AtomicBool::new(false));
    let (stops, made) = (stop.clone(), make);
    let serving = std::thread::spawn(move || agent().serve_with(&listener, &stops, made).unwrap());
    let mut relay = Relay::start(&outer, &own);
    let link = AgentLink::Unix { path: outer.display().to_string() };
    let fleet = FleetPlan { agents: vec![plan("far", link)] };
    let job = sample::job("http://127.0.0.1:9");
    let muster = Muster::call(&fleet, &[], &Errand::default()).unwrap();
    let mut agents = Agents::with(&job, pack(&job).unwrap(), muster, &mut |_| ()).unwrap();
    agents.begin(Some(0));
    comes_whole_though_cut(&mut agents, &go, &relay.cut);
    let report = &agents.report(LoadModel::Closed).agents[0];
    assert_eq!((report.reconnects, report.parcels), (1, INTERVALS));
    drop(agents);
    stop.store(true, Ordering::Relaxed);
    serving.join().unwrap();
    drop(std::mem::replace(&mut relay.cut, channel().0));
    relay.thread.take().unwrap().join().unwrap();
}

#[test]
fn an_agent_that_is_lost_ends_the_load_with_its_name() {
    let job = sample::job("http://127.0.0.1:9");
    // Nobody opens its gate, so it never ends by itself.
    let (_go, gate) = channel();
    let gate = Mutex::new(Some(gate));
    let make: Make = Arc::new(move |_, part, _| Ok(Box::new(Replay::new(part, gate.lock().unwrap().take()))));
    let (here, there) = UnixStream::pair().unwrap();
    let cut = there.try_clone().unwrap();
    let writer = there.try_clone().unwrap();
    let thread = std::thread::spawn(move || agent().serve_one(there, Box::new(writer), make).unwrap());
    let muster = over(vec![(plan("lone", AgentLink::Here), over_unix(here))]).unwrap();
    let mut agents = Agents::with(&job, pack(&job).unwrap(), muster, &mut |_| ()).unwrap();
    agents.begin(Some(0));
    cut.shutdown(std::net::Shutdown::Both).unwrap();
    let error = loop {
        match agents.next(POLL).map(|(step, _)| step) {
            Ok(Step::Waiting) => {}
            Ok(other) => panic!("{other:?}"),
            Err(error) => break error,
        }
    };
    assert!(
        matches!(&error, GenerateError::Agents(AgentError::Lost { name, .. }) if name == "lone"),
        "{error}"
    );
    assert!(error.to_string().contains("the trial is void"), "{error}");
    drop(agents);
    thread.join().unwrap();
}

#[test]
fn a_session_whose_lease_is_over_drops_what_it_makes() {
    let (events, hears) = channel();
    let lease = Arc::new(Mutex::new(Lease::new(machine_ns(), 60 * SECOND_NS)));
    let (_go, gate) = channel();
    let replay = Replay::new(Part { first: 0, workers: 8 }, Some(gate));
    let is_gone = replay.is_gone.clone();
    let replay = Mutex::new(Some(replay));
    let make: Make = Arc::new(move |_, _, _| Ok(Box::new(replay.lock().unwrap().take().unwrap())));
    let (here, there) = UnixStream::pair().unwrap();
    let rules = Rules { allow: Allow::default(), is_here: true, can_relink: true };
    let store = tempfile::tempdir().unwrap();
    let link = Link::begin(Arc::new(Mutex::new(Box::new(there)))).unwrap();
    events.send(Event::Linked(0, link)).unwrap();
    let job = Box::new(sample::job("http://127.0.0.1:9"));
    let part = Part { first: 0, workers: 8 };
    events.send(Event::Order(Order::Load { job, part, files: BTreeMap::new() })).unwrap();
    let origin_ns = machine_ns() + 60 * SECOND_NS;
    events.send(Event::Order(Order::Begin { origin_ns, origin_unix_ns: 0, measure_from: None })).unwrap();
    std::thread::scope(|scope| {
        let own = lease.clone();
        let session = scope.spawn(|| Session::new(&rules, store.path(), ("s", 0), hears, own).run(&make));
        let mut reader = BufReader::new(&here);
        assert!(matches!(report(&mut reader), Some(Report::Ready { .. })));
        // A link that ends is no reason while the lease lasts.
        events.send(Event::Cut(0)).unwrap();
        assert!(!is_gone.load(Ordering::Acquire));
        *lease.lock().unwrap() = Lease::new(0, 0);
        session.join().unwrap();
    });
    assert!(is_gone.load(Ordering::Acquire), "what makes the load is gone");
}

#[test]
fn a_controller_that_does_not_read_keeps_no_load_going() {
    let (events, hears) = channel();
    let lease = Arc::new(Mutex::new(Lease::new(machine_ns(), 60 * SECOND_NS)));
    let made = channel();
    let (sets_up, is_set_up) = (Mutex::new(made.0), made.1);
    let make: Make = Arc::new(move |_, part, _| {
        let replay = Replay::new(part, None);
        sets_up.lock().unwrap().send(replay.is_gone.clone()).unwrap();
        Ok(Box::new(replay))
    });
    let (here, there) = UnixStream::pair().unwrap();
    // Full before the first word: whoever waits for room waits until `here` is gone.
    there.set_nonblocking(true).unwrap();
    while std::io::Write::write(&mut &there, &[b' '; 4096]).is_ok() {}
    there.set_nonblocking(false).unwrap();
    let link = Link::begin(Arc::new(Mutex::new(Box::new(there)))).unwrap();
    events.send(Event::Linked(0, link)).unwrap();
    let job = Box::new(sample::job("http://127.0.0.1:9"));
    let part = Part { first: 0, workers: 8 };
    events.send(Event::Order(Order::Load { job, part, files: BTreeMap::new() })).unwrap();
    let (ends, has_ended) = channel();
    let own = lease.clone();
    let session = std::thread::spawn(move || {
        let rules = Rules { allow: Allow::default(), is_here: true, can_relink: false };
        let store = tempfile::tempdir().unwrap();
        Session::new(&rules, store.path(), ("s", 0), hears, own).run(&make);
        ends.send(()).unwrap();
    });
    let is_gone = is_set_up.recv().unwrap();
    *lease.lock().unwrap() = Lease::new(0, 0);
    let ended = has_ended.recv_timeout(Duration::from_secs(20));
    drop(here);
    session.join().unwrap();
    assert!(ended.is_ok(), "it looks at its lease though nobody reads");
    assert!(is_gone.load(Ordering::Acquire), "what makes the load is gone");
}

#[test]
fn an_agent_that_was_reached_hears_beats_while_another_is_waited_for() {
    let (heard_beat, beat) = channel();
    let (mut heard_beat, mut beat) = (Some(heard_beat), Some(beat));
    let (ends, threads): (Vec<_>, Vec<_>) = ["first", "late"]
        .map(|name| {
            let (here, there) = UnixStream::pair().unwrap();
            let (says, waits) = match name {
                "first" => (heard_beat.take(), None),
                _ => (None, beat.take()),
            };
            let thread = std::thread::spawn(move || {
                let (mut reader, mut line) = (BufReader::new(&there), Vec::new());
                next_line(&mut reader, &mut line).unwrap();
                waits.iter().for_each(|beat: &Receiver<()>| beat.recv().unwrap());
                let hello = Report::Hello { version: VERSION, facts: Box::new(facts(None)) };
                write_line(&mut &there, &hello).unwrap();
                while next_line(&mut reader, &mut line).unwrap().is_some() {
                    let Order::Clock(number) = serde_json::from_slice(&line).unwrap() else { continue };
                    let _ = says.as_ref().map(|beat| beat.send(()));
                    write_line(&mut &there, &Report::Clock { number, at_ns: machine_ns() }).unwrap();
                }
            });
            ((plan(name, AgentLink::Here), over_unix(here)), thread)
        })
        .into_iter()
        .unzip();
    drop(over(ends).unwrap());
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

/// What a session says to a load with these files, of which `bytes` come; and the names in its store.
fn session_with(files: BTreeMap<String, FileRef>, bytes: &[u8]) -> (Vec<Report>, BTreeSet<String>) {
    let (events, hears) = channel();
    let lease = Arc::new(Mutex::new(Lease::new(machine_ns(), 60 * SECOND_NS)));
    let (here, there) = UnixStream::pair().unwrap();
    events.send(Event::Linked(0, Link::begin(Arc::new(Mutex::new(Box::new(there)))).unwrap())).unwrap();
    let job = Box::new(sample::job("http://127.0.0.1:9"));
    let sha256 = files.values().next().unwrap().sha256.clone();
    events.send(Event::Order(Order::Load { job, part: Part { first: 0, workers: 8 }, files })).unwrap();
    events.send(Event::Order(Order::File { sha256, bytes: to_text(bytes), is_last: true })).unwrap();
    // The session ends once it has taken the load.
    drop(events);
    let rules = Rules { allow: Allow::default(), is_here: true, can_relink: true };
    let store = tempfile::tempdir().unwrap();
    Session::new(&rules, store.path(), ("s", 0), hears, lease).run(&replays());
    let mut reader = BufReader::new(&here);
    let said = std::iter::from_fn(|| report(&mut reader)).collect();
    let names = std::fs::read_dir(store.path()).unwrap().map(|entry| entry.unwrap().file_name());
    (said, names.map(|name| name.into_string().unwrap()).collect())
}

#[test]
fn files_with_the_same_bytes_come_once_and_have_each_ending() {
    let sha256 = fleet::hex(&fleet::digest(b"id\n"));
    let file = |ending: &str| FileRef { sha256: sha256.clone(), bytes: 3, ending: ending.to_owned() };
    let files = BTreeMap::from([("a".to_owned(), file("csv")), ("b".to_owned(), file("txt"))]);
    let (said, names) = session_with(files, b"id\n");
    assert!(
        matches!(&said[..], [Report::Wants(hashes), Report::Opening(1), Report::Ready { .. }]
        if *hashes == [sha256.clone()]),
        "{said:?}"
    );
    assert_eq!(names, BTreeSet::from([format!("{sha256}.csv"), format!("{sha256}.txt")]));
}

#[test]
fn a_load_of_too_many_files_is_refused() {
    let file = |n: u32| FileRef { sha256: format!("{n:064x}"), bytes: 0, ending: String::new() };
    let (said, names) = session_with((0..257).map(|n| (n.to_string(), file(n))).collect(), b"");
    assert!(
        matches!(&said[..], [Report::Refused(cause)] if cause.contains("more than 256 files")),
        "{said:?}"
    );
    assert!(names.is_empty());
}

#[test]
fn one_link_too_many_is_closed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("agent");
    let listener = Listener::Unix(UnixListener::bind(&path).unwrap());
    let stop = Arc::new(AtomicBool::new(false));
    let stops = stop.clone();
    let serving = std::thread::spawn(move || agent().serve_with(&listener, &stops, replays()).unwrap());
    let links: Vec<_> = (0..65).map(|_| UnixStream::connect(&path).unwrap()).collect();
    let mut last = &links[64];
    // Shorter than the silence after which any link is closed.
    last.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    assert_eq!(std::io::Read::read(&mut last, &mut [0]).unwrap(), 0);
    stop.store(true, Ordering::Relaxed);
    serving.join().unwrap();
}

#[test]
fn a_greeting_without_end_is_not_kept() {
    let (here, there) = UnixStream::pair().unwrap();
    let writer = there.try_clone().unwrap();
    let thread = std::thread::spawn(move || agent().serve_one(there, Box::new(writer), replays()).unwrap());
    // It ends long before the limit of an order, whether all of this is taken or not.
    let _ = std::io::Write::write_all(&mut &here, &[b'x'; 1 << 20]);
    here.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let ended = std::io::Read::read(&mut &here, &mut [0]);
    drop(here);
    thread.join().unwrap();
    assert!(!matches!(&ended, Err(error) if error.kind() == std::io::ErrorKind::WouldBlock), "{ended:?}");
}

fn report(reader: &mut BufReader<&UnixStream>) -> Option<Report> {
    let mut line = Vec::new();
    next_line(reader, &mut line).unwrap()?;
    Some(serde_json::from_slice(&line).unwrap())
}

#[test]
fn another_version_is_refused_by_name_on_both_ends() {
    let (here, there) = UnixStream::pair().unwrap();
    let old = std::thread::spawn(move || {
        let mut line = Vec::new();
        next_line(&mut BufReader::new(&there), &mut line).unwrap();
        let hello = Report::Hello { version: VERSION + 1, facts: Box::new(facts(None)) };
        write_line(&mut &there, &hello).unwrap();
    });
    let found = over(vec![(plan("old", AgentLink::Here), over_unix(here))]);
    let error = found.map(drop).unwrap_err();
    assert!(matches!(&error, AgentError::Version { name, .. } if name == "old"), "{error}");
    old.join().unwrap();

    let (here, there) = UnixStream::pair().unwrap();
    let writer = there.try_clone().unwrap();
    let thread = std::thread::spawn(move || agent().serve_one(there, Box::new(writer), replays()).unwrap());
    write_line(&mut &here, &serde_json::json!({ "version": VERSION + 1, "other": true })).unwrap();
    let mut reader = BufReader::new(&here);
    assert!(matches!(report(&mut reader), Some(Report::Hello { version: VERSION, .. })));
    assert!(report(&mut reader).is_none(), "and hears nothing else");
    drop(here);
    thread.join().unwrap();
}

#[test]
fn who_is_no_controller_learns_what_listens_there() {
    let (here, there) = UnixStream::pair().unwrap();
    let writer = there.try_clone().unwrap();
    let thread = std::thread::spawn(move || agent().serve_one(there, Box::new(writer), replays()).unwrap());
    use std::io::Write as _;
    (&here).write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    let mut reader = BufReader::new(&here);
    assert!(matches!(report(&mut reader), Some(Report::Refused(cause)) if cause.contains("agent of prony")));
    drop(here);
    thread.join().unwrap();
}

#[test]
fn an_agent_at_work_refuses_another_load_and_takes_it_later() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("agent");
    let listener = Listener::Unix(UnixListener::bind(&path).unwrap());
    let stop = Arc::new(AtomicBool::new(false));
    let stops = stop.clone();
    let serving = std::thread::spawn(move || agent().serve_with(&listener, &stops, replays()).unwrap());
    let fleet =
        FleetPlan { agents: vec![plan("busy", AgentLink::Unix { path: path.display().to_string() })] };
    let first = Muster::call(&fleet, &[], &Errand::default()).unwrap();
    let error = Muster::call(&fleet, &[], &Errand::default()).map(drop).unwrap_err();
    assert!(error.to_string().contains("at work for another load"), "{error}");
    drop(first);
    drop(Muster::call(&fleet, &[], &Errand::default()).unwrap());
    stop.store(true, Ordering::Relaxed);
    serving.join().unwrap();
}

#[test]
fn a_greeting_is_one_line_of_json() {
    let greeting = Greeting {
        version: VERSION,
        prony: "1".to_owned(),
        session: "s".to_owned(),
        agent: 3,
        again: false,
        errand: Errand::default(),
    };
    let mut line = Vec::new();
    write_line(&mut line, &greeting).unwrap();
    assert_eq!(line.iter().filter(|byte| **byte == b'\n').count(), 1);
    assert_eq!(serde_json::from_slice::<Greeting>(&line).unwrap(), greeting);
}
