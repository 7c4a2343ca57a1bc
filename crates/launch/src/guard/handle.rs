//! Prony's end of the pipes: one guard process, seen through a small state that a reader thread keeps current.
//!
//! Dropping the handle closes the guard's stdin, which makes it end the target; the reader thread then reaps it.

use super::GUARD;
use super::protocol::{Change, Ending, Exit, Order, Report, Restart, Spec};
use crate::TargetError;
use crate::confine;
use crate::tail::{clean, tail};
use schema::limits::{Confinement, RelayUsage};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The guard needs milliseconds to start a program; this is for hosts in distress.
const START_TIMEOUT: Duration = Duration::from_secs(20);
/// What the guard may need after the target's own time: its kill time and some room.
const CLEAR_TIMEOUT: Duration = Duration::from_secs(15);
/// All that a guard ever says is far less.
const REPORT_BYTES: u64 = 1 << 20;

/// A guard process.
#[derive(Debug)]
pub(crate) struct Guard {
    stdin: Mutex<Option<ChildStdin>>,
    shared: Arc<Shared>,
    guard_pid: u32,
    command: String,
    log: PathBuf,
    ending: Ending,
}

/// How the guard's work ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Finish {
    /// No process of the target is left.
    Gone,
    /// These survive SIGKILL.
    Left(Vec<u32>),
    /// The guard ended without a last word.
    Lost(String),
}

#[derive(Debug, Default)]
struct Shared {
    /// Of the latest start, for readers that must not wait.
    pid: Arc<AtomicU32>,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Clone, Debug, Default)]
struct State {
    /// The latest start.
    started: Option<(u32, Instant)>,
    /// Starts so far: one, and one for each restart.
    starts: u32,
    failed: Option<String>,
    no_network: Option<String>,
    confined: Option<Confinement>,
    /// Answers to changes so far, and the latest.
    changes: u32,
    changed: Option<Result<f64, String>>,
    /// Answers about the relay so far, and the latest.
    relays: u32,
    relayed: Option<RelayUsage>,
    oom_kills: u64,
    exit: Option<Exit>,
    finish: Option<Finish>,
}

impl Guard {
    /// Starts the guard and, through it, the program; returns once the program has been executed.
    pub(crate) fn launch(launcher: &Path, spec: &Spec) -> Result<Self, TargetError> {
        let orders = serde_json::to_string(spec).map_err(|error| {
            TargetError::plan(format!("the plan cannot be sent: {error}"), "use UTF-8 paths")
        })?;
        let log = File::options()
            .append(true)
            .create(true)
            .open(&spec.log)
            .map_err(|error| TargetError::io(format!("open the log {}", spec.log.display()), error))?;
        let mut child = Command::new(launcher)
            .arg(GUARD)
            // Ctrl-C goes to the terminal's whole foreground group; prony decides what it means, not the guard.
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .map_err(|error| TargetError::io(format!("start the guard {}", launcher.display()), error))?;
        let guard_pid = child.id();
        let shared = Arc::new(Shared::default());
        let mut stdin = child.stdin.take();
        if let Some(stdout) = child.stdout.take() {
            let shared = Arc::clone(&shared);
            thread::spawn(move || follow(child, stdout, &shared));
        }
        // A guard that is already dead shows as a lost one below.
        let _ = stdin.as_mut().map(|stdin| writeln!(stdin, "{orders}"));
        let guard = Self {
            stdin: Mutex::new(stdin),
            shared,
            guard_pid,
            command: spec.command.join(" "),
            log: spec.log.clone(),
            ending: spec.ending,
        };
        guard.await_start()?;
        Ok(guard)
    }

    fn await_start(&self) -> Result<(), TargetError> {
        let state = self.wait(START_TIMEOUT, |state| {
            state.started.is_some() || state.failed.is_some() || state.finish.is_some()
        });
        if let Some(cause) = state.no_network {
            return Err(TargetError::NoNetwork { cause: clean(&cause, 400) });
        }
        match (state.started, state.failed, state.finish) {
            (Some(_), _, _) => Ok(()),
            (None, Some(cause), _) => {
                let cause = clean(&cause, 400);
                Err(TargetError::Launch { command: self.shown(), cause, tail: tail(&self.log) })
            }
            (None, None, Some(Finish::Lost(cause))) => Err(self.lost(cause)),
            (None, None, _) => Err(self.lost(format!("it said nothing within {START_TIMEOUT:?}"))),
        }
    }

    /// The target's process identifier, and when it was executed.
    pub(crate) fn started(&self) -> Option<(u32, Instant)> {
        self.lock().started
    }

    /// The target's process identifier, kept current over restarts.
    pub(crate) fn current_pid(&self) -> Arc<AtomicU32> {
        self.shared.pid.clone()
    }

    /// What the target is confined to, where anything was asked for.
    pub(crate) fn confined(&self) -> Option<Confinement> {
        self.lock().confined.clone()
    }

    /// Processes of the target that were killed for want of memory before its end.
    pub(crate) fn oom_kills(&self) -> u64 {
        self.lock().oom_kills
    }

    /// How the target ended, once it has.
    pub(crate) fn exit(&self) -> Option<Exit> {
        self.lock().exit
    }

    /// Whether the target runs and is guarded.
    pub(crate) fn is_alive(&self) -> bool {
        let state = self.lock();
        state.started.is_some() && state.failed.is_none() && state.exit.is_none() && state.finish.is_none()
    }

    /// Waits until the target or the guard has ended, at most `timeout`; says whether it has.
    pub(crate) fn wait_for_end(&self, timeout: Duration) -> bool {
        let over = |state: &State| state.exit.is_some() || state.finish.is_some();
        over(&self.wait(timeout, over))
    }

    /// Has the guard end the target and start it again, with `env` laid over its environment; returns once the
    /// program has been executed again.
    pub(crate) fn restart(
        &self,
        ending: Option<Ending>,
        env: BTreeMap<String, String>,
    ) -> Result<(), TargetError> {
        let before = self.lock().starts;
        let ending = ending.unwrap_or(self.ending);
        self.order(&Order::Restart(Restart { ending, env }))?;
        let over = |state: &State| state.starts > before || state.failed.is_some() || state.finish.is_some();
        let state = self.wait(ending.timeout() + CLEAR_TIMEOUT + START_TIMEOUT, over);
        match (state.starts > before, state.failed, state.finish) {
            (true, _, _) => Ok(()),
            (false, Some(cause), _) => {
                let cause = clean(&cause, 400);
                Err(TargetError::Launch { command: self.shown(), cause, tail: tail(&self.log) })
            }
            (false, None, Some(Finish::Lost(cause))) => Err(self.lost(cause)),
            (false, None, _) => Err(self.lost("the target could not be started again".to_owned())),
        }
    }

    /// Has the guard change a limit; the value as read back.
    pub(crate) fn change(&self, change: Change) -> Result<f64, TargetError> {
        let before = self.lock().changes;
        self.order(&Order::Change(change))?;
        let over = |state: &State| state.changes > before || state.exit.is_some() || state.finish.is_some();
        let state = self.wait(START_TIMEOUT, over);
        match state.changed.filter(|_| state.changes > before) {
            Some(Ok(value)) => Ok(value),
            Some(Err(cause)) => Err(TargetError::Change { cause: clean(&cause, 400) }),
            None => Err(TargetError::Change {
                cause: "the target had ended, or its guard does not answer".into(),
            }),
        }
    }

    /// What the relay on the way to the target did since it was asked last; nothing where there is none, or where the
    /// guard does not answer.
    pub(crate) fn relayed(&self) -> Option<RelayUsage> {
        let before = self.lock().relays;
        self.order(&Order::Relay).ok()?;
        let over = |state: &State| state.relays > before || state.exit.is_some() || state.finish.is_some();
        let state = self.wait(START_TIMEOUT, over);
        state.relayed.filter(|_| state.relays > before)
    }

    fn order(&self, order: &Order) -> Result<(), TargetError> {
        let mut stdin = self.stdin.lock().unwrap_or_else(PoisonError::into_inner);
        let pipe = stdin.as_mut().ok_or_else(|| self.lost("it was told to end".to_owned()))?;
        writeln!(pipe, "{order}").map_err(|error| self.lost(error.to_string()))
    }

    /// Has the guard end the target and itself, and waits until both are gone.
    pub(crate) fn end(&mut self) -> Finish {
        let stdin = self.stdin.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(mut stdin) = stdin.take() {
            // Should the order not arrive, the end of file that follows says the same.
            let _ = writeln!(stdin, "{}", self.ending);
        }
        let state = self.wait(self.ending.timeout() + CLEAR_TIMEOUT, |state| state.finish.is_some());
        let finish = state.finish.unwrap_or_else(|| Finish::Lost("it does not end".to_owned()));
        if matches!(finish, Finish::Lost(_)) {
            self.kill_what_is_known();
        }
        finish
    }

    /// Without its guard, what can still be done is to kill the target's process group.
    fn kill_what_is_known(&self) {
        use rustix::process::{Pid, Signal, kill_process, kill_process_group};
        let state = self.lock().clone();
        let pid = |pid: u32| Pid::from_raw(pid.cast_signed());
        if let Some(group) = state.started.and_then(|(target, _)| pid(target)) {
            let _ = kill_process_group(group, Signal::KILL);
        }
        // Not yet reaped by the reader thread, so the number is still the guard's.
        if state.finish.is_none()
            && let Some(guard) = pid(self.guard_pid)
        {
            let _ = kill_process(guard, Signal::KILL);
        }
        // What its death left is the next sweep's, where the guard is not reaped yet.
        let _ = confine::sweep();
    }

    /// The command for an error text.
    pub(crate) fn shown(&self) -> String {
        clean(&self.command, 200)
    }

    /// The end of the log for an error text.
    pub(crate) fn tail(&self) -> String {
        tail(&self.log)
    }

    /// The error for a guard that ended without doing its work.
    pub(crate) fn lost(&self, cause: String) -> TargetError {
        TargetError::GuardLost { command: self.shown(), cause, tail: self.tail() }
    }

    fn wait(&self, timeout: Duration, until: impl Fn(&State) -> bool) -> State {
        let waited = self.shared.changed.wait_timeout_while(self.lock(), timeout, |state| !until(state));
        waited.unwrap_or_else(PoisonError::into_inner).0.clone()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.shared.lock()
    }
}

impl Shared {
    /// Every change is one assignment, so a poisoned state is still a true one.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.lock());
        self.changed.notify_all();
    }
}

/// Body of the reader thread: takes the guard's reports until it closes its stdout, then reaps it.
fn follow(mut guard: Child, stdout: ChildStdout, shared: &Shared) {
    let mut last_word = None;
    let lines = BufReader::new(stdout.take(REPORT_BYTES)).lines();
    for report in lines.map_while(Result::ok).filter_map(|line| Report::parse(&line)) {
        match report {
            Report::Started(pid) => {
                shared.pid.store(pid, Ordering::Relaxed);
                shared.change(|state| {
                    state.started = Some((pid, Instant::now()));
                    state.starts += 1;
                });
            }
            Report::Failed(cause) => shared.change(|state| state.failed = Some(cause)),
            Report::NoNetwork(cause) => shared.change(|state| state.no_network = Some(cause)),
            Report::Confined(held) => shared.change(|state| state.confined = Some(*held)),
            Report::Changed(outcome) => shared.change(|state| {
                state.changed = Some(outcome);
                state.changes += 1;
            }),
            Report::Relayed(usage) => shared.change(|state| {
                state.relayed = usage;
                state.relays += 1;
            }),
            Report::OutOfMemory(count) => shared.change(|state| state.oom_kills = count),
            Report::Exited(exit) => shared.change(|state| state.exit = Some(exit)),
            Report::Gone => last_word = Some(Finish::Gone),
            Report::Left(pids) => last_word = Some(Finish::Left(pids)),
        }
    }
    let ended = guard.wait();
    let finish = last_word.unwrap_or_else(|| {
        Finish::Lost(ended.map_or_else(|error| error.to_string(), |status| format!("it ended: {status}")))
    });
    shared.change(|state| state.finish = Some(finish));
}
