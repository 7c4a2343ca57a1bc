//! `prony guard`: one thread, one poll over stdin and the arrival of SIGCHLD.
//!
//! Signals that would end it are caught and dropped, not ignored: an ignored signal would stay ignored in the
//! target, a handler does not survive exec.

use super::protocol::{Change, Ending, Exit, Order, Report, Spec, signal_name};
use super::{GUARD_EXEC, tree};
use crate::confine::{Boundary, NoNetwork};
use crate::{pin, scratch};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, getpid};
use schema::target::StopSignal;
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// Processes that survive SIGKILL for this long are reported and left.
const KILL_TIMEOUT: Duration = Duration::from_secs(5);
/// SIGKILL is repeated this often: a process made between two walks must not escape.
const KILL_REPEAT: Duration = Duration::from_millis(20);
/// More than this without a newline is no order of prony's.
const LINE_BYTES: usize = 1 << 20;
/// Bytes read of the reason why a program could not be started.
const REASON_BYTES: u64 = 4096;

pub(super) fn run() -> ExitCode {
    match supervise() {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            say(&Report::Failed(reason));
            ExitCode::FAILURE
        }
    }
}

fn supervise() -> Result<(), String> {
    let mut events = Events::new().map_err(|error| format!("the guard cannot catch signals: {error}"))?;
    rustix::process::set_child_subreaper(Some(getpid()))
        .map_err(|error| format!("the guard cannot become child subreaper: {error}"))?;
    let mut spec = read_spec(&mut events)?;
    let boundary = match spec.confine.as_ref().map(Boundary::set).transpose() {
        Ok(boundary) => boundary,
        Err(NoNetwork(cause)) => {
            say(&Report::NoNetwork(cause));
            return Ok(());
        }
    };
    spec.join = boundary.as_ref().map(Boundary::join);
    let log = spec.log.clone();
    let last_word = look_after(&mut events, spec, boundary.as_ref());
    // Before the last word: who hears it finds nothing left.
    for left in boundary.map(Boundary::remove).unwrap_or_default() {
        eprintln!("prony guard: cannot remove {left}; `prony doctor` tries again");
    }
    if events.closed {
        // Who asked for the end lives, and waits for the last word.
        let patience = if events.is_abandoned { scratch::DEATH_TIMEOUT } else { Duration::ZERO };
        scratch::remove_with_its_owner(&log, patience);
    }
    say(&last_word?);
    Ok(())
}

/// Starts the target, and again as often as prony asks, until its end; returns what is to be said of that.
fn look_after(events: &mut Events, mut spec: Spec, boundary: Option<&Boundary>) -> Result<Report, String> {
    let mut family = start(&spec, boundary)?;
    loop {
        let restart = match watch(events, &mut family, spec.ending) {
            None | Some(Order::Change(_) | Order::Relay) => None,
            Some(Order::Stop(ending)) => {
                ask_to_end(events, &mut family, ending);
                None
            }
            Some(Order::Restart(restart)) => {
                family.is_awaited = true;
                ask_to_end(events, &mut family, restart.ending);
                Some(restart)
            }
        };
        let left = clear(Some(&mut family));
        match restart {
            Some(restart) if left.is_empty() => {
                spec.env.extend(restart.env);
                family = start(&spec, boundary)?;
            }
            _ => return Ok(if left.is_empty() { Report::Gone } else { Report::Left(left) }),
        }
    }
}

/// Starts the target and tells prony.
fn start<'a>(spec: &Spec, boundary: Option<&'a Boundary>) -> Result<Family<'a>, String> {
    match spawn(spec) {
        Ok(target) => {
            let pid = target.as_raw_nonzero().get().cast_unsigned();
            if let Some(boundary) = boundary {
                say(&Report::Confined(Box::new(boundary.check(pid))));
            }
            say(&Report::Started(pid));
            Ok(Family { target, exit: None, is_awaited: false, boundary })
        }
        Err(reason) => {
            clear(None);
            Err(reason)
        }
    }
}

/// Tells prony. Prony may be dead; the guard's work is the same then.
fn say(report: &Report) {
    let mut stdout = io::stdout().lock();
    let _ = writeln!(stdout, "{report}").and_then(|()| stdout.flush());
}

fn read_spec(events: &mut Events) -> Result<Spec, String> {
    loop {
        if let Some(line) = events.line() {
            return serde_json::from_str(&line).map_err(|error| {
                format!("the guard does not understand its orders ({error}); it is used by prony itself")
            });
        }
        if events.closed {
            return Err("prony ended before it gave orders".to_owned());
        }
        events.wait(None);
    }
}

/// Starts the program in a process group of its own and returns once it has been executed.
fn spawn(spec: &Spec) -> Result<Pid, String> {
    let log = File::options()
        .append(true)
        .create(true)
        .open(&spec.log)
        .map_err(|error| format!("cannot open the log {}: {error}", spec.log.display()))?;
    let log_too = log.try_clone().map_err(|error| format!("cannot use the log twice: {error}"))?;
    let (mut reasons, pipe) = io::pipe().map_err(|error| format!("cannot make a pipe: {error}"))?;
    // Not by path: the file may have been replaced by a new build since prony started.
    let join = match &spec.join {
        None => "-".to_owned(),
        Some(join) => serde_json::to_string(join).map_err(|error| format!("a path is no text: {error}"))?,
    };
    let mut command = Command::new("/proc/self/exe");
    command
        .arg0("prony")
        .args([GUARD_EXEC, "--"])
        .arg(getpid().to_string())
        .arg(spec.cpus.as_deref().map_or_else(|| "-".to_owned(), pin::list))
        .arg(join)
        .args(&spec.command)
        .envs(&spec.env)
        .process_group(0)
        .stdin(pipe)
        .stdout(log)
        .stderr(log_too);
    if let Some(folder) = &spec.folder {
        command.current_dir(folder);
    }
    let child = command.spawn().map_err(|error| format!("cannot start guard-exec: {error}"))?;
    // The command holds a copy of the pipe's writing end.
    drop(command);
    let mut reason = Vec::new();
    (&mut reasons)
        .take(REASON_BYTES)
        .read_to_end(&mut reason)
        .map_err(|error| format!("cannot hear from guard-exec: {error}"))?;
    if !reason.is_empty() {
        return Err(String::from_utf8_lossy(&reason).into_owned());
    }
    Pid::from_raw(child.id().cast_signed()).ok_or_else(|| "the target has no process identifier".to_owned())
}

/// Waits until the target ends (`None`) or is to be ended, and changes its limits meanwhile.
fn watch(events: &mut Events, family: &mut Family<'_>, by_default: Ending) -> Option<Order> {
    loop {
        family.reap();
        if family.exit.is_some() {
            return None;
        }
        while let Some(line) = events.line() {
            match Order::parse(&line) {
                Some(Order::Change(change)) => say(&Report::Changed(family.change(change))),
                Some(Order::Relay) => {
                    say(&Report::Relayed(family.boundary.and_then(Boundary::relayed)));
                }
                Some(order) => return Some(order),
                None => {}
            }
        }
        if events.closed {
            events.is_abandoned = true;
            return Some(Order::Stop(by_default));
        }
        events.wait(None);
    }
}

/// Signals the target's group and waits until it is empty, or the time is over.
fn ask_to_end(events: &mut Events, family: &mut Family<'_>, ending: Ending) {
    family.signal_group(signal(ending.signal));
    let deadline = Instant::now() + ending.timeout();
    loop {
        family.reap();
        if family.group_is_empty() {
            return;
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            eprintln!(
                "prony guard: killed, did not end within {} ms of {}",
                ending.timeout_ms,
                signal_name(ending.signal)
            );
            return;
        }
        events.wait(Some(left));
    }
}

/// Kills all that is left and reaps it; what survives is returned.
fn clear(mut family: Option<&mut Family<'_>>) -> Vec<u32> {
    let me = getpid().as_raw_nonzero().get().cast_unsigned();
    let deadline = Instant::now() + KILL_TIMEOUT;
    loop {
        let any_left = match &mut family {
            Some(family) => family.reap(),
            None => reap(|_, _| ()),
        };
        if !any_left {
            return Vec::new();
        }
        let below = tree::descendants(Path::new("/proc"), me);
        if Instant::now() >= deadline {
            return below;
        }
        for pid in below.into_iter().filter_map(|pid| Pid::from_raw(pid.cast_signed())) {
            // It may be gone by now; that is what is wanted.
            let _ = rustix::process::kill_process(pid, Signal::KILL);
        }
        std::thread::sleep(KILL_REPEAT);
    }
}

fn signal(signal: StopSignal) -> Signal {
    match signal {
        StopSignal::Term => Signal::TERM,
        StopSignal::Int => Signal::INT,
        StopSignal::Quit => Signal::QUIT,
        StopSignal::Kill => Signal::KILL,
    }
}

/// The target, and how it ended.
struct Family<'a> {
    target: Pid,
    boundary: Option<&'a Boundary>,
    exit: Option<Exit>,
    /// Its end was asked for by a restart, so it is no news.
    is_awaited: bool,
}

impl Family<'_> {
    /// Reaps every ended child, the target and adopted orphans; false where no child is left at all.
    fn reap(&mut self) -> bool {
        reap(|pid, status| {
            if pid == self.target
                && let Some(exit) = exit_of(status)
            {
                self.exit = Some(exit);
                if !self.is_awaited {
                    let kills = self.boundary.map_or(0, Boundary::oom_kills);
                    if kills > 0 {
                        say(&Report::OutOfMemory(kills));
                    }
                    say(&Report::Exited(exit));
                }
            }
        })
    }

    fn change(&self, change: Change) -> Result<f64, String> {
        let boundary = self.boundary.ok_or("the target has no limits that could be changed")?;
        boundary.change(change)
    }

    fn signal_group(&self, signal: Signal) {
        // No such group: it ended by itself.
        let _ = rustix::process::kill_process_group(self.target, signal);
    }

    /// Its number cannot have gone to others while a member lives, ended and not yet reaped ones included.
    fn group_is_empty(&self) -> bool {
        rustix::process::test_kill_process_group(self.target) == Err(Errno::SRCH)
    }
}

fn reap(mut ended: impl FnMut(Pid, WaitStatus)) -> bool {
    loop {
        match rustix::process::wait(WaitOptions::NOHANG) {
            Ok(Some((pid, status))) => ended(pid, status),
            Ok(None) => return true,
            Err(Errno::INTR) => {}
            Err(_) => return false,
        }
    }
}

fn exit_of(status: WaitStatus) -> Option<Exit> {
    status.exit_status().map(Exit::Code).or_else(|| status.terminating_signal().map(Exit::Signal))
}

/// Lines from prony and the news that a child ended.
struct Events {
    buffer: Vec<u8>,
    closed: bool,
    /// It was closed before anything was ordered: prony is dead, or let go of the target.
    is_abandoned: bool,
    child_ended: UnixStream,
}

impl Events {
    fn new() -> io::Result<Self> {
        let (read, write) = UnixStream::pair()?;
        read.set_nonblocking(true)?;
        signal_hook::low_level::pipe::register(SIGCHLD, write)?;
        for signal in [SIGHUP, SIGINT, SIGQUIT, SIGTERM] {
            signal_hook::flag::register(signal, Arc::new(AtomicBool::new(false)))?;
        }
        Ok(Self { buffer: Vec::new(), closed: false, is_abandoned: false, child_ended: read })
    }

    /// The next whole line that has come.
    fn line(&mut self) -> Option<String> {
        let end = self.buffer.iter().position(|byte| *byte == b'\n')?;
        let line: Vec<u8> = self.buffer.drain(..=end).take(end).collect();
        Some(String::from_utf8_lossy(&line).into_owned())
    }

    /// Sleeps until a line or the end of prony may have come, a child may have ended, or the time is over.
    fn wait(&mut self, timeout: Option<Duration>) {
        let timeout = timeout.and_then(|timeout| Timespec::try_from(timeout).ok());
        let stdin = io::stdin();
        let mut fds = [PollFd::new(&self.child_ended, PollFlags::IN), PollFd::new(&stdin, PollFlags::IN)];
        // Once closed, stdin would be ready for ever.
        let watched = if self.closed { 1 } else { 2 };
        if poll(&mut fds[..watched], timeout.as_ref()).is_err() {
            // Interrupted by a signal; callers look at everything again anyway.
            return;
        }
        let stdin_ready = watched == 2 && !fds[1].revents().is_empty();
        let mut sink = [0; 64];
        while matches!((&self.child_ended).read(&mut sink), Ok(1..)) {}
        if stdin_ready {
            self.read_stdin();
        }
    }

    fn read_stdin(&mut self) {
        let mut bytes = [0; 8192];
        match rustix::io::read(io::stdin(), &mut bytes) {
            Ok(0) => self.closed = true,
            Ok(count) => self.buffer.extend_from_slice(&bytes[..count]),
            Err(Errno::INTR | Errno::AGAIN) => {}
            Err(_) => self.closed = true,
        }
        self.closed |= self.buffer.len() > LINE_BYTES;
    }
}
