//! `prony agent`: listens to a controller and makes its part of a load by generator processes of its own.
//!
//! ```text
//! controller ═link═▶ reading thread ──orders──▶ session ──▶ prony generator …
//!            ◀════════ clock answers, reports ══╯
//! ```
//!
//! Invariants: one session at a time; a question about the clock is answered by the thread that reads it, so that no work
//! of the session delays it; whoever does not speak this version learns this one's and hears nothing else; links, lines,
//! waiting orders and silence have limits. Absent on purpose: who may come in at all (`door`).

use super::door::{Listener, Visitor};
use super::facts::as_of_now;
use super::maker::{Make, by_processes};
use super::protocol::{Greeting, LEASE_NS, Order, Report, VERSION, Wish, next_line};
use super::session::{Event, Link, Rules, Session, Writer, say};
use engine::machine_ns;
use fleet::{Allow, Lease};
use schema::agents::{AgentFacts, AgentLoad, AgentState};
use serde::Deserialize;
use std::io::{self, BufRead, BufReader, Read as _};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use tempfile::TempDir;

/// Longest greeting: whoever has not greeted may be anybody.
const GREETING_BYTES_MAX: u64 = 64 << 10;
/// Longest description of a load that is kept.
const ABOUT_CHARS_MAX: usize = 200;
/// Links at once.
const LINKS_MAX: usize = 64;
/// Orders that wait for a session, pieces of files among them: a disk may be slower than the link.
const ORDERS_MAX: usize = 16;
/// How often an agent that listens looks whether it shall end.
const STOP_POLL: Duration = Duration::from_millis(50);

/// How often and how many times it is looked whether another session has ended: a second in all.
const BUSY_POLL: Duration = Duration::from_millis(10);
const BUSY_LOOKS: u32 = 100;

/// What an agent is.
#[derive(Clone, Debug)]
pub struct Agent {
    /// What it may load besides loopback.
    pub allow: Allow,
    /// What it says of itself.
    pub facts: AgentFacts,
    /// Whether prony started it on its own host, as its own user.
    pub is_here: bool,
}

/// What all links of an agent share.
struct Desk {
    facts: AgentFacts,
    rules: Rules,
    /// Files of loads, by their hash; gone with the agent.
    store: TempDir,
    make: Make,
    active: Mutex<Option<Active>>,
    /// Links so far, each of which has a number.
    links: AtomicU64,
    /// Links at present.
    seats: AtomicUsize,
    /// Whether it was asked to end: it takes no more loads.
    is_ending: AtomicBool,
    /// Who asked, and hears when it ends.
    asked: Mutex<Vec<Writer>>,
}

/// A link's share in the limit of links.
struct Seat(Arc<Desk>);

impl Drop for Seat {
    fn drop(&mut self) {
        self.0.seats.fetch_sub(1, Ordering::AcqRel);
    }
}

/// The session at work.
struct Active {
    session: String,
    about: String,
    since_ns: u64,
    number: u32,
    events: SyncSender<Event>,
    lease: Arc<Mutex<Lease>>,
    thread: JoinHandle<()>,
}

/// The version of a greeting, whatever else it has.
#[derive(Deserialize)]
struct Version {
    version: u32,
}

impl Agent {
    /// Serves one controller on standard input and output; returns when its load is over or its standard input ends.
    ///
    /// # Errors
    /// There is no place for the files of a load.
    pub fn serve_stdio(self) -> io::Result<()> {
        self.serve_one(io::stdin(), Box::new(io::stdout()), by_processes())
    }

    /// As [`Self::serve_stdio`], on other streams and with another maker.
    pub(super) fn serve_one(
        self,
        from: impl io::Read,
        to: Box<dyn io::Write + Send>,
        make: Make,
    ) -> io::Result<()> {
        let desk = Arc::new(Desk::new(self, false, make)?);
        desk.converse(&mut BufReader::new(from), Arc::new(Mutex::new(to)));
        desk.join();
        Ok(())
    }

    /// Serves controllers one after the other until `stop` is set.
    ///
    /// # Errors
    /// There is no place for the files of loads, or the system does not let it listen any more.
    pub fn serve(self, listener: &Listener, stop: &AtomicBool) -> io::Result<()> {
        self.serve_with(listener, stop, by_processes())
    }

    /// As [`Self::serve`], with another maker.
    pub(super) fn serve_with(self, listener: &Listener, stop: &AtomicBool, make: Make) -> io::Result<()> {
        let desk = Arc::new(Desk::new(self, true, make)?);
        listener.set_nonblocking()?;
        while !stop.load(Ordering::Relaxed) && !desk.is_over() {
            match listener.accept() {
                Ok(visitor) => desk.clone().receive(visitor),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => std::thread::sleep(STOP_POLL),
                Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
                Err(error) => return Err(error),
            }
        }
        desk.say_ended();
        Ok(())
    }
}

impl Desk {
    fn new(agent: Agent, can_relink: bool, make: Make) -> io::Result<Self> {
        let Agent { allow, facts, is_here } = agent;
        let rules = Rules { allow, is_here, can_relink };
        let store = tempfile::Builder::new().prefix("prony-agent-").tempdir()?;
        Ok(Self {
            facts,
            rules,
            store,
            make,
            active: Mutex::new(None),
            links: AtomicU64::new(0),
            seats: AtomicUsize::new(0),
            is_ending: AtomicBool::new(false),
            asked: Mutex::default(),
        })
    }

    fn active(&self) -> MutexGuard<'_, Option<Active>> {
        self.active.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets a visitor in, unless there are too many.
    fn receive(self: Arc<Self>, visitor: Visitor) {
        // One whose place says who it is comes in at once: the last of too many goes.
        let mut seat = if visitor.is_known() { self.seat() } else { None };
        if seat.is_none() && visitor.is_known() {
            return;
        }
        // Where the system starts no thread, the visitor goes.
        let _ = std::thread::Builder::new().spawn(move || {
            let Some((reader, writer)) = visitor.enter() else { return };
            seat = seat.or_else(|| self.seat());
            if seat.is_some() {
                self.converse(&mut BufReader::new(reader), writer);
            }
        });
    }

    fn seat(self: &Arc<Self>) -> Option<Seat> {
        let taken = self.seats.fetch_add(1, Ordering::AcqRel);
        let seat = Seat(self.clone());
        (taken < LINKS_MAX).then_some(seat)
    }

    /// One link from its greeting to its end.
    fn converse(self: &Arc<Self>, from: &mut dyn BufRead, writer: Writer) {
        let mut line = Vec::new();
        let Ok(Some(())) = next_line(&mut (&mut *from).take(GREETING_BYTES_MAX), &mut line) else { return };
        let version = serde_json::from_slice::<Version>(&line).ok().map(|found| found.version);
        let hello = Report::Hello { version: VERSION, facts: Box::new(as_of_now(&self.facts)) };
        let greeting = match version {
            Some(VERSION) => serde_json::from_slice::<Greeting>(&line).ok(),
            // It sees by the version in the answer that the two do not go together.
            Some(_) => return say(&writer, &hello),
            None => None,
        };
        let Some(greeting) = greeting else {
            return say(
                &writer,
                &Report::Refused("this is an agent of prony, for `prony load --fleet`".to_owned()),
            );
        };
        let number = self.links.fetch_add(1, Ordering::Relaxed);
        // Before the session can say anything.
        say(&writer, &hello);
        if greeting.errand.wish != Wish::Load {
            return self.attend(greeting.errand.wish, from, &writer);
        }
        let (events, lease) = match self.enter(&greeting, number, &writer) {
            Ok(entered) => entered,
            Err(cause) => return say(&writer, &Report::Refused(cause)),
        };
        while let Ok(Some(())) = next_line(from, &mut line) {
            lease.lock().unwrap_or_else(PoisonError::into_inner).renew(machine_ns());
            match serde_json::from_slice(&line) {
                Ok(Order::Clock(number)) => say(&writer, &Report::Clock { number, at_ns: machine_ns() }),
                Ok(order) => {
                    if events.send(Event::Order(order)).is_err() {
                        break;
                    }
                }
                Err(error) => {
                    say(&writer, &Report::Refused(format!("an order is not understood: {error}")));
                    break;
                }
            }
        }
        // A session that has ended does not mind.
        let _ = events.send(Event::Cut(number));
    }

    /// Serves somebody who comes for no load: leaves one that is made alone, but for a wish to stop it.
    fn attend(&self, wish: Wish, from: &mut dyn BufRead, writer: &Writer) {
        if matches!(wish, Wish::Drain | Wish::Stop) {
            // First, so that nobody who asked is forgotten where it ends at once.
            let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
            // Somebody who asks again and again fills no memory.
            asked.truncate(LINKS_MAX);
            asked.insert(0, writer.clone());
            drop(asked);
            // Under the desk's lock: no load begins after the state that is reported.
            let active = self.active();
            self.is_ending.store(true, Ordering::Release);
            drop(active);
        }
        say(writer, &Report::State(self.state()));
        let at_work = self.active().as_ref().map(|own| own.events.clone());
        if let (Wish::Stop, Some(events)) = (wish, at_work) {
            // A session that has ended does not mind.
            let _ = events.send(Event::Stop);
        }
        let mut line = Vec::new();
        while let Ok(Some(())) = next_line(&mut (&mut *from).take(GREETING_BYTES_MAX), &mut line) {
            let Ok(Order::Clock(number)) = serde_json::from_slice(&line) else {
                return say(writer, &Report::Refused("an order came that is no question".to_owned()));
            };
            say(writer, &Report::Clock { number, at_ns: machine_ns() });
        }
    }

    /// What it does.
    fn state(&self) -> AgentState {
        let active = self.active();
        let at_work = active.as_ref().filter(|own| !own.thread.is_finished());
        let load = at_work.map(|own| AgentLoad {
            about: own.about.clone(),
            age_ns: machine_ns().saturating_sub(own.since_ns),
        });
        AgentState { is_ending: self.is_ending.load(Ordering::Acquire), load }
    }

    /// Whether it was asked to end, and no load is left.
    fn is_over(&self) -> bool {
        self.is_ending.load(Ordering::Acquire) && self.state().load.is_none()
    }

    fn say_ended(&self) {
        let asked = std::mem::take(&mut *self.asked.lock().unwrap_or_else(PoisonError::into_inner));
        asked.iter().for_each(|writer| say(writer, &Report::Ended));
    }

    /// Begins a session, or goes on with the one whose link was cut.
    fn enter(
        self: &Arc<Self>,
        greeting: &Greeting,
        number: u64,
        writer: &Writer,
    ) -> Result<(SyncSender<Event>, Arc<Mutex<Lease>>), String> {
        let mut active = self.free_for(greeting)?;
        let link =
            Link::begin(writer.clone()).map_err(|error| format!("it cannot start a thread: {error}"))?;
        let linked = Event::Linked(number, link);
        if let Some(own) = active.as_ref().filter(|own| !own.thread.is_finished()) {
            own.events.send(linked).map_err(|_| "the load is over".to_owned())?;
            return Ok((own.events.clone(), own.lease.clone()));
        }
        if greeting.again {
            return Err(
                "it knows nothing of this load: it was started anew, or its lease was over".to_owned()
            );
        }
        if self.is_ending.load(Ordering::Acquire) {
            return Err("it was asked to end, and takes no more loads".to_owned());
        }
        let (events, hears) = sync_channel(ORDERS_MAX);
        let lease = Arc::new(Mutex::new(Lease::new(machine_ns(), LEASE_NS)));
        let _ = events.send(linked);
        let (desk, session, agent, own) =
            (self.clone(), greeting.session.clone(), greeting.agent, lease.clone());
        let thread = std::thread::Builder::new().name("prony-session".to_owned()).spawn(move || {
            let id = (session.as_str(), agent);
            Session::new(&desk.rules, desk.store.path(), id, hears, own).run(&desk.make);
        });
        let thread = thread.map_err(|error| format!("it cannot start a thread: {error}"))?;
        *active = Some(Active {
            session: greeting.session.clone(),
            about: shown(&greeting.errand.about),
            since_ns: machine_ns(),
            number: greeting.agent,
            events: events.clone(),
            lease: lease.clone(),
            thread,
        });
        Ok((events, lease))
    }

    /// The desk once no other session is at work. One that has just ended gets a moment to be gone.
    fn free_for(&self, greeting: &Greeting) -> Result<MutexGuard<'_, Option<Active>>, String> {
        for _ in 0..BUSY_LOOKS {
            let active = self.active();
            let is_other = active.as_ref().is_some_and(|own| {
                let is_same = own.session == greeting.session && own.number == greeting.agent;
                !is_same && !own.thread.is_finished()
            });
            if !is_other {
                return Ok(active);
            }
            drop(active);
            std::thread::sleep(BUSY_POLL);
        }
        Err("it is at work for another load; wait, or use another agent".to_owned())
    }

    /// Waits for the session at work, if there is one.
    fn join(&self) {
        let thread = self.active().take().map(|active| {
            // Its channel must end before it does.
            drop(active.events);
            active.thread
        });
        let _ = thread.map(JoinHandle::join);
    }
}

/// A controller's words about its load, as far as they fit in a line.
fn shown(about: &str) -> String {
    about.chars().filter(|c| !c.is_control()).take(ABOUT_CHARS_MAX).collect()
}
