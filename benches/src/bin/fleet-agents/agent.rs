//! Simulated agents: the words of real ones, and recorded results in the place of a load.

use crate::body::Body;
use engine::machine_ns;
use fleet::{Outbox, Parcel};
use schema::agents::AgentFacts;
use serde_json::{Value, json};
use std::error::Error;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Memory for the calls of one thread.
const STACK: usize = 256 << 10;
/// Between two looks whether all have begun.
const LOOK: Duration = Duration::from_millis(20);

/// What every agent does.
pub(crate) struct Play {
    pub(crate) bodies: Vec<Body>,
    pub(crate) interval: Duration,
}

/// What all agents together did.
#[derive(Default)]
pub(crate) struct Counted {
    pub(crate) parcels: AtomicU64,
    pub(crate) parcel_bytes: AtomicU64,
    /// The latest origin of which an agent heard.
    pub(crate) origin_ns: AtomicU64,
}

/// Serves as many links as come.
pub(crate) fn serve(listener: &UnixListener, counted: &Arc<Counted>, begun: &Arc<Begun>) {
    for stream in listener.incoming().map_while(Result::ok) {
        let (counted, begun) = (counted.clone(), begun.clone());
        let thread = std::thread::Builder::new().stack_size(STACK).spawn(move || {
            if let Err(error) = converse(stream, &counted, &begun) {
                eprintln!("an agent: {error}");
            }
        });
        if let Err(error) = thread {
            eprintln!("no thread for a further agent: {error}");
        }
    }
}

/// A link, on which two threads write. One descriptor for all: there are not enough for two an agent.
struct Link {
    stream: UnixStream,
    turn: Mutex<()>,
}

impl Link {
    /// Says something; its bytes.
    fn say(&self, message: &Value) -> io::Result<usize> {
        let mut line = serde_json::to_vec(message)?;
        line.push(b'\n');
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        (&self.stream).write_all(&line)?;
        Ok(line.len())
    }
}

/// As an agent of this host, with the version of whoever greets.
fn converse(stream: UnixStream, counted: &Counted, begun: &Begun) -> Result<(), Box<dyn Error>> {
    let link = Arc::new(Link { stream, turn: Mutex::default() });
    let mut reader = BufReader::new(&link.stream);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let greeting: Value = serde_json::from_str(&line)?;
    let boot_id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id")?.trim().to_owned();
    let facts = AgentFacts { host: "simulated".to_owned(), boot_id, cpus: 1, ..AgentFacts::default() };
    link.say(&json!({ "Hello": { "version": greeting["version"], "facts": facts } }))?;
    let (session, number) = (greeting["session"].as_str().unwrap_or_default(), &greeting["agent"]);
    let number = u32::try_from(number.as_u64().unwrap_or_default())?;
    loop {
        line.clear();
        if reader.read_line(&mut line)? == 0 {
            return Ok(());
        }
        let order: Value = serde_json::from_str(&line)?;
        if let Some(question) = order.get("Clock") {
            link.say(&json!({ "Clock": { "number": question, "at_ns": machine_ns() } }))?;
        } else if order.get("Load").is_some() {
            let set_up = json!({ "asked": 1, "established": 1, "driver": "epoll",
                "failures": engine::SetupFailures::default() });
            link.say(&json!({ "Ready": set_up }))?;
        } else if let Some(begin) = order.get("Begin") {
            counted.origin_ns.fetch_max(begin["origin_ns"].as_u64().unwrap_or_default(), Ordering::Relaxed);
            let outbox = Outbox::new(session, number);
            let agent = Agent { session: session.to_owned(), number, link: link.clone(), outbox };
            begun.agents.lock().unwrap_or_else(PoisonError::into_inner).push(agent);
        } else if order == "Whole" {
            return Ok(());
        }
    }
}

/// The agents that have begun: one thread sends for all of them, because thousands more would be this host's limit.
#[derive(Default)]
pub(crate) struct Begun {
    agents: Mutex<Vec<Agent>>,
}

/// One agent that sends results.
struct Agent {
    session: String,
    number: u32,
    link: Arc<Link>,
    outbox: Outbox<()>,
}

impl Begun {
    /// Waits until all have begun, and sends each parcel of each when its interval is over, and the manifests.
    ///
    /// # Errors
    /// A link has ended: so has the load.
    pub(crate) fn send_all(&self, count: usize, counted: &Counted, play: &Play) -> io::Result<()> {
        let mut agents = loop {
            let mut agents = self.agents.lock().unwrap_or_else(PoisonError::into_inner);
            if agents.len() == count {
                break std::mem::take(&mut *agents);
            }
            drop(agents);
            std::thread::sleep(LOOK);
        };
        let origin_ns = counted.origin_ns.load(Ordering::Relaxed);
        for (interval, body) in (0_u64..).zip(&play.bodies) {
            let due_ns = origin_ns + (interval + 1) * play.interval.as_nanos() as u64;
            std::thread::sleep(Duration::from_nanos(due_ns.saturating_sub(machine_ns())));
            for agent in &mut agents {
                agent.send(interval, body, counted)?;
            }
        }
        for mut agent in agents {
            let manifest = agent.outbox.close();
            let closing = json!({ "manifest": manifest, "peak_rss_bytes": 0, "steal_share": null });
            agent.link.say(&json!({ "Closing": closing }))?;
        }
        Ok(())
    }
}

impl Agent {
    fn send(&mut self, interval: u64, body: &Body, counted: &Counted) -> io::Result<()> {
        self.outbox.put(body.digest, body.sums, ()).map_err(io::Error::other)?;
        self.outbox.taken_below(interval + 1);
        let parcel = Parcel {
            session: self.session.clone(),
            agent: self.number,
            interval,
            digest: body.digest,
            sums: body.sums,
            body: body.text.as_str(),
        };
        let bytes = self.link.say(&json!({ "Parcel": parcel }))?;
        counted.parcels.fetch_add(1, Ordering::Relaxed);
        counted.parcel_bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        Ok(())
    }
}
