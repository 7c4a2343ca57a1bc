//! One simulated agent: the words of a real one, and recorded results in the place of a load.

use crate::body::Body;
use engine::machine_ns;
use fleet::{Outbox, Parcel};
use schema::agents::AgentFacts;
use serde_json::{Value, json};
use std::error::Error;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Memory for the calls of one thread.
const STACK: usize = 256 << 10;

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

/// Serves as many controllers as come.
pub(crate) fn serve(listener: &UnixListener, counted: &Arc<Counted>, play: &Arc<Play>) {
    for stream in listener.incoming().map_while(Result::ok) {
        let (counted, play) = (counted.clone(), play.clone());
        let thread = std::thread::Builder::new().stack_size(STACK).spawn(move || {
            if let Err(error) = converse(&stream, &counted, &play) {
                eprintln!("an agent: {error}");
            }
        });
        if let Err(error) = thread {
            eprintln!("no thread for a further agent: {error}");
        }
    }
}

fn say(to: &Mutex<UnixStream>, message: &Value) -> io::Result<usize> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    to.lock().unwrap_or_else(PoisonError::into_inner).write_all(&line)?;
    Ok(line.len())
}

/// As an agent of this host, with the version of whoever greets.
fn converse(stream: &UnixStream, counted: &Arc<Counted>, play: &Arc<Play>) -> Result<(), Box<dyn Error>> {
    let writer = Arc::new(Mutex::new(stream.try_clone()?));
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let greeting: Value = serde_json::from_str(&line)?;
    let boot_id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id")?.trim().to_owned();
    let facts = AgentFacts { host: "simulated".to_owned(), boot_id, cpus: 1, ..AgentFacts::default() };
    say(&writer, &json!({ "Hello": { "version": greeting["version"], "facts": facts } }))?;
    let (session, number) = (greeting["session"].as_str().unwrap_or_default().to_owned(), &greeting["agent"]);
    let number = u32::try_from(number.as_u64().unwrap_or_default())?;
    let (mut ends, mut sending) = (None, None);
    loop {
        line.clear();
        if reader.read_line(&mut line)? == 0 {
            break;
        }
        let order: Value = serde_json::from_str(&line)?;
        if let Some(question) = order.get("Clock") {
            say(&writer, &json!({ "Clock": { "number": question, "at_ns": machine_ns() } }))?;
        } else if order.get("Load").is_some() {
            let set_up = json!({ "asked": 1, "established": 1, "driver": "epoll",
                "failures": engine::SetupFailures::default() });
            say(&writer, &json!({ "Ready": set_up }))?;
        } else if let Some(begin) = order.get("Begin") {
            let origin_ns = begin["origin_ns"].as_u64().unwrap_or_default();
            counted.origin_ns.fetch_max(origin_ns, Ordering::Relaxed);
            let (end, wait) = channel();
            ends = Some(end);
            let (writer, counted, play, session) =
                (writer.clone(), counted.clone(), play.clone(), session.clone());
            let send = move || send((&session, number), &writer, &counted, &play, origin_ns, &wait);
            sending = Some(std::thread::Builder::new().stack_size(STACK).spawn(send)?);
        } else if order == "Whole" {
            break;
        } else if order == "Stop" {
            ends = None;
        }
    }
    drop(ends);
    sending.map_or(Ok(()), |thread| thread.join().unwrap_or(Ok(())))?;
    Ok(())
}

/// Sends each parcel when its interval is over, and the manifest; ends early where `wait` has ended.
fn send(
    (session, agent): (&str, u32),
    writer: &Mutex<UnixStream>,
    counted: &Counted,
    play: &Play,
    origin_ns: u64,
    wait: &Receiver<()>,
) -> io::Result<()> {
    let mut outbox = Outbox::new(session, agent);
    for (interval, body) in (0_u64..).zip(&play.bodies) {
        let due_ns = origin_ns + (interval + 1) * play.interval.as_nanos() as u64;
        let left = Duration::from_nanos(due_ns.saturating_sub(machine_ns()));
        if wait
            .recv_timeout(left)
            .is_err_and(|error| error == std::sync::mpsc::RecvTimeoutError::Disconnected)
        {
            break;
        }
        outbox.put(body.digest, body.sums, ()).map_err(io::Error::other)?;
        outbox.taken_below(interval + 1);
        let parcel = Parcel {
            session: session.to_owned(),
            agent,
            interval,
            digest: body.digest,
            sums: body.sums,
            body: body.text.as_str(),
        };
        let bytes = say(writer, &json!({ "Parcel": parcel }))?;
        counted.parcels.fetch_add(1, Ordering::Relaxed);
        counted.parcel_bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }
    let manifest = outbox.close();
    say(writer, &json!({ "Closing": { "manifest": manifest, "peak_rss_bytes": 0, "steal_share": null } }))
        .map(drop)
}
