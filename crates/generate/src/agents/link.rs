//! A controller's end of the link to one agent: opened, read by a thread of its own, ended by dropping it.
//!
//! Invariants: the controller never waits for an agent that does not read; every line that comes is stamped before it is
//! understood, because the answers of clocks are among them. Absent on purpose: what the lines mean (`control`).

use super::on_bus;
use super::outward::Outward;
use super::protocol::{Report, next_line};
use super::tls::{HANDSHAKE_MAX, shake};
use super::trust::ControllerTrust;
use super::words::Words;
use crate::lines::write_line;
use bus::Dialled;
use engine::machine_ns;
use rustls::ClientConnection;
use schema::fleet::{AgentLink, AgentPlan};
use serde::Serialize;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream, ToSocketAddrs as _};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Time for a TCP connection to one address.
const CONNECT_MAX: Duration = Duration::from_secs(5);
/// Time in which a program ends by itself once its standard input has ended.
const END_MAX: Duration = Duration::from_secs(2);
const END_POLL: Duration = Duration::from_millis(10);
/// How the words of an agent begin that wants TLS and hears none (RFC 8446 §5.1, §6).
const TLS_ALERT: &[u8] = &[21, 3];
const WANTS_TLS: &str = "it speaks TLS\n  remedy: give `tls` with the controller's keys in its entry";

/// What is heard of an agent.
#[derive(Debug)]
pub(super) enum Heard {
    /// A report, and when its line came on the monotonic clock.
    Report(u64, Box<Report>),
    /// A line that is no report.
    Garbled(String),
    /// A link ended, by its number; with what was seen, unless it just ended.
    Closed(u64, Option<String>),
    /// A link that was cut was made again, or not in time.
    Reopened(Result<Ends, String>),
}

/// Both ends of the streams to an agent.
pub(super) struct Ends {
    reader: Box<dyn Read + Send>,
    writer: Box<dyn Write + Send>,
    end: End,
}

impl std::fmt::Debug for Ends {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Ends")
    }
}

/// How a link ends.
enum End {
    Program(Child, Arc<Words>),
    Unix(Arc<UnixStream>),
    Tcp(TcpStream),
    Bus(Dialled),
}

/// One direction of a Unix stream.
struct Half(Arc<UnixStream>);

impl Read for Half {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        (&*self.0).read(bytes)
    }
}

impl Write for Half {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        (&*self.0).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for End {
    /// A program that was started and never became a link must not stay, either.
    fn drop(&mut self) {
        if let Self::Program(child, _) = self {
            // Changes nothing for one that has ended and was waited for.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// The link to an agent.
pub(super) struct Link {
    out: Arc<Outward>,
    end: End,
    read: Option<JoinHandle<()>>,
}

type Halves = (Box<dyn Read + Send>, Box<dyn Write + Send>);

/// Opens the streams to an agent; one on this host may load `allow`.
pub(super) fn open(plan: &AgentPlan, allow: &[String]) -> Result<Ends, String> {
    let text = |error: io::Error| error.to_string();
    match &plan.link {
        AgentLink::Here => {
            // Not by path: the file may have been replaced by a new build since prony started.
            let mut command = Command::new("/proc/self/exe");
            command.arg0("prony").args(["agent", "--stdio", "--here"]);
            command.args(allow.iter().flat_map(|host| ["--allow", host.as_str()]));
            program(command)
        }
        AgentLink::Command { command } => {
            let (first, rest) = command.split_first().ok_or("its command is empty")?;
            let mut program_of = Command::new(first);
            program_of.args(rest);
            program(program_of).map_err(|cause| format!("{first}: {cause}"))
        }
        AgentLink::Unix { path } => {
            let stream = UnixStream::connect(path).map_err(|error| format!("{path}: {error}"))?;
            Ok(over_unix(stream))
        }
        AgentLink::Tcp { address } => {
            let to: SocketAddr = address.parse().map_err(|_| format!("{address} is no address"))?;
            let stream = connect(&[to], address)?;
            let (reader, writer) = (stream.try_clone().map_err(text)?, stream.try_clone().map_err(text)?);
            Ok(Ends { reader: Box::new(reader), writer: Box::new(writer), end: End::Tcp(stream) })
        }
        AgentLink::Tls { address, keys } => over_tls(&plan.name, address, Path::new(keys)),
        AgentLink::Nats { server, keys } => over_nats(&plan.name, server, Path::new(keys)),
    }
}

/// The ends of a stream to the agent of this name, which has shown that it is the one.
fn over_tls(name: &str, address: &str, keys: &Path) -> Result<Ends, String> {
    let trust = ControllerTrust::read(keys, name).map_err(|error| error.to_string())?;
    // Looked up for every link: an agent may be started again at another address under its name.
    let resolved = address.to_socket_addrs().map_err(|error| format!("{address}: {error}"))?;
    let stream = connect(&resolved.collect::<Vec<_>>(), address)?;
    let (reader, writer) = greet(trust, &stream).map_err(|cause| format!("{address}: {cause}"))?;
    Ok(Ends { reader, writer, end: End::Tcp(stream) })
}

/// The same through a bus.
fn over_nats(name: &str, server: &str, keys: &Path) -> Result<Ends, String> {
    let trust = ControllerTrust::read(keys, name).map_err(|error| error.to_string())?;
    let dialled = on_bus::dial(server, name, keys).map_err(|error| error.to_string())?;
    let (reader, writer) =
        greet(trust, dialled.stream()).map_err(|cause| format!("{name} on {server}: {cause}"))?;
    Ok(Ends { reader, writer, end: End::Bus(dialled) })
}

/// Both halves of a stream whose other end has shown that it is the agent.
fn greet(trust: ControllerTrust, stream: &TcpStream) -> Result<Halves, String> {
    let connection = ClientConnection::new(trust.config, trust.agent).map_err(|error| error.to_string())?;
    let (reading, writing) = shake(connection.into(), stream, HANDSHAKE_MAX)?;
    let unlimited = stream.set_read_timeout(None).and_then(|()| stream.set_write_timeout(None));
    unlimited.map_err(|error| error.to_string())?;
    Ok((Box::new(reading), Box::new(writing)))
}

/// Connects to the first address that answers.
fn connect(to: &[SocketAddr], named: &str) -> Result<TcpStream, String> {
    let mut cause = "it has no address".to_owned();
    for address in to {
        let stream = TcpStream::connect_timeout(address, CONNECT_MAX);
        match stream.and_then(|stream| stream.set_nodelay(true).map(|()| stream)) {
            Ok(stream) => return Ok(stream),
            Err(error) => cause = error.to_string(),
        }
    }
    Err(format!("{named}: {cause}"))
}

/// The ends of a Unix stream.
pub(super) fn over_unix(stream: UnixStream) -> Ends {
    // One descriptor for all three: with thousands of agents there are not enough for more.
    let stream = Arc::new(stream);
    let half = || Half(stream.clone());
    Ends { reader: Box::new(half()), writer: Box::new(half()), end: End::Unix(stream) }
}

fn program(mut command: Command) -> Result<Ends, String> {
    // Ctrl-C goes to the terminal's whole foreground group; prony decides what it means.
    command.process_group(0).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| format!("cannot be started ({error})"))?;
    match (child.stdin.take(), child.stdout.take(), child.stderr.take()) {
        (Some(writer), Some(reader), Some(words)) => {
            let end = End::Program(child, Arc::new(Words::follow(words)));
            Ok(Ends { reader: Box::new(reader), writer: Box::new(writer), end })
        }
        _ => Err("has no pipes".to_owned()),
    }
}

/// What helps where an agent's first link ends before the agent said who it is.
pub(super) fn remedy(plan: &AgentPlan) -> Option<String> {
    let AgentLink::Command { command } = &plan.link else { return None };
    let is_ssh = command.first().is_some_and(|program| Path::new(program).ends_with("ssh"));
    let remedy = if is_ssh {
        "its ssh must work by hand without a question: the host's key in known_hosts, your key accepted there, prony on \
         that host's PATH"
    } else {
        "its `command` must lead to `prony agent --stdio`, without a question; try it by hand"
    };
    Some(remedy.to_owned())
}

/// Whether a link that was cut can be made again: a program's ends with the program.
pub(super) const fn can_reopen(plan: &AgentPlan) -> bool {
    matches!(
        plan.link,
        AgentLink::Unix { .. } | AgentLink::Tcp { .. } | AgentLink::Tls { .. } | AgentLink::Nats { .. }
    )
}

impl Link {
    /// Begins to read and to write; what comes is passed on with the link's number, until nobody listens.
    ///
    /// # Errors
    /// The system starts no thread.
    pub(super) fn begin(
        ends: Ends,
        number: u64,
        mut pass: impl FnMut(Heard) -> bool + Send + 'static,
    ) -> io::Result<Self> {
        let Ends { reader, writer, end } = ends;
        let words = match &end {
            End::Program(_, words) => Some(words.clone()),
            End::Unix(_) | End::Tcp(_) | End::Bus(_) => None,
        };
        let read = move || {
            let cause = follow(&mut BufReader::new(reader), &mut pass);
            let cause = cause.or_else(|| words?.last());
            pass(Heard::Closed(number, cause));
        };
        let read = std::thread::Builder::new().name("prony-read".to_owned()).spawn(read)?;
        Ok(Self { out: Outward::new(writer), end, read: Some(read) })
    }

    /// Says something, without waiting.
    pub(super) fn say(&self, message: &impl Serialize) {
        let mut line = Vec::new();
        if write_line(&mut line, message).is_ok() {
            self.out.line(line);
        }
    }

    /// Sends a file that was asked for.
    pub(super) fn send_file(&self, sha256: &str, path: PathBuf) {
        self.out.file(sha256, path);
    }

    /// Nothing more will be said. What was said is still written.
    pub(super) fn hang_up(&self) {
        self.out.finish();
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.hang_up();
        let since = Instant::now();
        let may_wait = || since.elapsed() < END_MAX;
        // The last words are still to be written; an agent that does not read gets no more than a moment.
        self.out.wait_until(since + END_MAX);
        match &mut self.end {
            End::Program(child, _) => {
                // Its standard input has ended, and so does it.
                while may_wait() && matches!(child.try_wait(), Ok(None)) {
                    std::thread::sleep(END_POLL);
                }
                // Changes nothing for one that has ended.
                let _ = child.kill();
                let _ = child.wait();
            }
            End::Unix(stream) => drop(stream.shutdown(Shutdown::Both)),
            End::Tcp(stream) => drop(stream.shutdown(Shutdown::Both)),
            End::Bus(dialled) => dialled.shut_down(),
        }
        // A thread that still writes has nobody who reads, and ends as well.
        let _ = self.read.take().map(JoinHandle::join);
    }
}

/// Passes on what comes until the stream ends; what was seen at its end.
fn follow(from: &mut dyn BufRead, pass: &mut impl FnMut(Heard) -> bool) -> Option<String> {
    let mut line = Vec::new();
    loop {
        let heard = match next_line(from, &mut line) {
            Ok(Some(())) => {
                let at_ns = machine_ns();
                match serde_json::from_slice(&line) {
                    Ok(report) => Heard::Report(at_ns, Box::new(report)),
                    Err(error) => Heard::Garbled(garbled(&line, &error)),
                }
            }
            Ok(None) if line.starts_with(TLS_ALERT) => return Some(WANTS_TLS.to_owned()),
            Ok(None) => return None,
            Err(error) if error.kind() == io::ErrorKind::InvalidData => Heard::Garbled(error.to_string()),
            // A stream that breaks has ended.
            Err(error) => return Some(error.to_string()),
        };
        let is_last = matches!(heard, Heard::Garbled(_));
        if !pass(heard) || is_last {
            return None;
        }
    }
}

/// What came instead of a report: often the words of ssh or of a shell.
fn garbled(line: &[u8], error: &serde_json::Error) -> String {
    let shown: String = String::from_utf8_lossy(line).chars().take(80).filter(|c| !c.is_control()).collect();
    format!("`{shown}` is no report ({error})")
}

#[cfg(test)]
mod tests {
    use super::super::protocol::{Order, PIECE_BYTES};
    use super::*;

    #[test]
    fn a_beat_does_not_wait_for_the_end_of_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("long");
        std::fs::write(&path, vec![b'x'; 4 * PIECE_BYTES + 1]).unwrap();
        let (here, there) = UnixStream::pair().unwrap();
        let link = Link::begin(over_unix(here), 1, |_| true).unwrap();
        link.send_file("long", path.clone());
        link.send_file("again", path);
        // Nobody reads yet, so the first file is still under way.
        link.say(&Order::Clock(1));
        link.hang_up();
        let (mut reader, mut line, mut said) = (BufReader::new(there), Vec::new(), Vec::new());
        while said.len() < 11 && next_line(&mut reader, &mut line).unwrap().is_some() {
            said.push(match serde_json::from_slice(&line).unwrap() {
                Order::File { sha256, is_last, .. } => format!("{sha256} {is_last}"),
                other => format!("{other:?}"),
            });
        }
        let beat = said.iter().position(|said| said == "Clock(1)").unwrap();
        assert!(beat < said.iter().position(|said| said == "long true").unwrap(), "{said:?}");
        let count = |name: &str| said.iter().filter(|said| said.starts_with(name)).count();
        assert_eq!((count("long"), count("again")), (5, 5), "{said:?}");
    }
}
