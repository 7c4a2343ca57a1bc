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
pub(crate) fn serve(listener: &UnixListener, counted: &Arc<Counted>, chorus: &Arc<Chorus>) {
    for stream in listener.incoming().map_while(Result::ok) {
        let (counted, chorus) = (counted.clone(), chorus.clone());
        let thread = std::thread::Builder::new().stack_size(STACK).spawn(move || {
            if let Err(error) = converse(stream, &counted, &chorus) {
                eprintln!("an agent: {error}");
            }
        });
        if let Err(error) = thread {
            eprintln!("no thread for a further agent: {error}");
        }
    }
}

fn say(to: &Mutex<Arc<UnixStream>>, message: &Value) -> io::Result<usize> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    (&**to.lock().unwrap_or_else(PoisonError::into_inner)).write_all(&line)?;
    Ok(line.len())
}

/// As an agent of this host, with the version of whoever greets.
fn converse(stream: UnixStream, counted: &Counted, chorus: &Chorus) -> Result<(), Box<dyn Error>> {
    // One descriptor an agent: there are not enough for two.
    let stream = Arc::new(stream);
    let writer = Arc::new(Mutex::new(stream.clone()));
    let mut reader = BufReader::new(&*stream);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let greeting: Value = serde_json::from_str(&line)?;
    let boot_id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id")?.trim().to_owned();
    let facts = AgentFacts { host: "simulated".to_owned(), boot_id, cpus: 1, ..AgentFacts::default() };
    say(&writer, &json!({ "Hello": { "version": greeting["version"], "facts": facts } }))?;
    let (session, number) = (greeting["session"].as_str().unwrap_or_default(), &greeting["agent"]);
    let number = u32::try_from(number.as_u64().unwrap_or_default())?;
    loop {
        line.clear();
        if reader.read_line(&mut line)? == 0 {
            return Ok(());
        }
        let order: Value = serde_json::from_str(&line)?;
        if let Some(question) = order.get("Clock") {
            say(&writer, &json!({ "Clock": { "number": question, "at_ns": machine_ns() } }))?;
        } else if order.get("Load").is_some() {
            let set_up = json!({ "asked": 1, "established": 1, "driver": "epoll",
                "failures": engine::SetupFailures::default() });
            say(&writer, &json!({ "Ready": set_up }))?;
        } else if let Some(begin) = order.get("Begin") {
            counted.origin_ns.fetch_max(begin["origin_ns"].as_u64().unwrap_or_default(), Ordering::Relaxed);
            let outbox = Outbox::new(session, number);
            let voice = Voice { session: session.to_owned(), number, writer: writer.clone(), outbox };
            chorus.voices.lock().unwrap_or_else(PoisonError::into_inner).push(voice);
        } else if order == "Whole" {
            return Ok(());
        }
    }
}

/// The agents that have begun: one thread sends for all of them, because thousands more would be this host's limit.
#[derive(Default)]
pub(crate) struct Chorus {
    voices: Mutex<Vec<Voice>>,
}

/// One agent's words to the controller.
struct Voice {
    session: String,
    number: u32,
    writer: Arc<Mutex<Arc<UnixStream>>>,
    outbox: Outbox<()>,
}

impl Chorus {
    /// Waits until all have begun, and sends each parcel of each when its interval is over, and the manifests. An agent
    /// whose link ends is not missed.
    pub(crate) fn sing(&self, agents: usize, counted: &Counted, play: &Play) -> io::Result<()> {
        let mut voices = loop {
            let mut voices = self.voices.lock().unwrap_or_else(PoisonError::into_inner);
            if voices.len() == agents {
                break std::mem::take(&mut *voices);
            }
            drop(voices);
            std::thread::sleep(LOOK);
        };
        let origin_ns = counted.origin_ns.load(Ordering::Relaxed);
        for (interval, body) in (0_u64..).zip(&play.bodies) {
            let due_ns = origin_ns + (interval + 1) * play.interval.as_nanos() as u64;
            std::thread::sleep(Duration::from_nanos(due_ns.saturating_sub(machine_ns())));
            for voice in &mut voices {
                voice.send(interval, body, counted)?;
            }
        }
        for mut voice in voices {
            let manifest = voice.outbox.close();
            say(
                &voice.writer,
                &json!({ "Closing": { "manifest": manifest, "peak_rss_bytes": 0, "steal_share": null } }),
            )?;
        }
        Ok(())
    }
}

impl Voice {
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
        let bytes = say(&self.writer, &json!({ "Parcel": parcel }))?;
        counted.parcels.fetch_add(1, Ordering::Relaxed);
        counted.parcel_bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        Ok(())
    }
}
