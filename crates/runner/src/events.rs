//! Events of a trial: a thread that lets each happen at its time and watches whether the target goes on answering.
//!
//! Invariants: the thread ends with the trial, also in the middle of an event; every planned event has a record, one
//! that could not be carried out says why; probes use connections of their own and never those of the load.
//! Absent on purpose: what the load saw of an event (crate analyze).

use launch::RunningTarget;
use rustix::process::{Pid, Signal, kill_process};
use schema::event::{EventAction, EventPlan, EventRecord, EventSignal};
use schema::said;
use schema::said::Said;
use schema::target::{ReloadSignal, Stop, StopSignal, TargetManifest};
use std::collections::BTreeMap;
use std::io::Read;
use std::net::SocketAddr;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{Scope, ScopedJoinHandle};
use std::time::Duration;
use units::{Clock, MonotonicClock, Nanos};

/// Between two probes.
const PROBE_PAUSE: Duration = Duration::from_millis(2);
/// A probe without an answer by then has failed.
const PROBE_TIMEOUT: Duration = Duration::from_millis(200);
/// The watch ends when the target has answered for this long after the action.
const PROBE_QUIET: Nanos = Nanos::SECOND;
/// The watch ends here at the latest, counted from the end of the action.
const PROBE_MOST: Nanos = Nanos::from_secs(30);
/// A command has to end within this time.
const COMMAND_TIMEOUT: Nanos = Nanos::from_secs(30);
/// How often a running command is looked at.
const COMMAND_POLL: Duration = Duration::from_millis(5);
/// Bytes kept of what a failing command said.
const COMMAND_BYTES: u64 = 400;

/// What events act upon.
#[derive(Clone, Copy)]
pub(crate) struct Stage<'a> {
    /// Absent for a server that prony did not start.
    pub(crate) running: Option<&'a RunningTarget>,
    pub(crate) addr: SocketAddr,
    /// CPUs of the target, where it has its own.
    pub(crate) cpus: Option<&'a [u32]>,
    /// What a target with a manifest can do besides.
    pub(crate) manifest: Option<&'a Manifest>,
}

/// What a manifest says that events need.
#[derive(Clone, Debug)]
pub(crate) struct Manifest {
    pub(crate) manifest: TargetManifest,
    pub(crate) folder: PathBuf,
    /// `{build}`.
    pub(crate) build: PathBuf,
}

/// The events of one trial. They wait until [`Events::begin`].
pub(crate) struct Events<'scope> {
    begin: Option<Sender<MonotonicClock>>,
    over: &'scope AtomicBool,
    thread: Option<ScopedJoinHandle<'scope, Vec<EventRecord>>>,
}

impl<'scope> Events<'scope> {
    /// Starts the thread; none where there are no events. `over` is set when the trial ends.
    pub(crate) fn prepare<'env>(
        scope: &'scope Scope<'scope, 'env>,
        plans: &'scope [EventPlan],
        stage: Stage<'scope>,
        over: &'scope AtomicBool,
    ) -> Self {
        if plans.is_empty() {
            return Self { begin: None, over, thread: None };
        }
        let (begin, begun) = channel();
        let thread = scope.spawn(move || play(plans, stage, &begun, over));
        Self { begin: Some(begin), over, thread: Some(thread) }
    }

    /// Whether there are any.
    pub(crate) fn any(&self) -> bool {
        self.thread.is_some()
    }

    /// The samples begin now; `clock` is the trial's.
    pub(crate) fn begin(&mut self, clock: MonotonicClock) {
        if let Some(begin) = self.begin.take() {
            // A thread that is gone shows as missing records.
            let _ = begin.send(clock);
        }
    }

    /// Ends all events, waits for what cannot be cut short, and returns what came of them.
    pub(crate) fn finish(mut self) -> Vec<EventRecord> {
        self.over.store(true, Ordering::Relaxed);
        drop(self.begin.take());
        self.thread.take().map_or_else(Vec::new, |thread| thread.join().unwrap_or_default())
    }
}

fn play(
    plans: &[EventPlan],
    stage: Stage<'_>,
    begun: &Receiver<MonotonicClock>,
    over: &AtomicBool,
) -> Vec<EventRecord> {
    // Dropped without a message: the load never came to its samples.
    let Ok(clock) = begun.recv() else { return Vec::new() };
    let start = clock.now();
    let mut records = Vec::with_capacity(plans.len());
    for plan in plans {
        let at = Nanos(start.0 + plan.at_ns);
        if !sleep_until(&clock, at, over) {
            break;
        }
        records.push(happen(plan, stage, clock, over));
    }
    records
}

/// Sleeps in short steps; false where the trial ended first.
fn sleep_until(clock: &MonotonicClock, at: Nanos, over: &AtomicBool) -> bool {
    loop {
        let left = at.since(clock.now());
        if over.load(Ordering::Relaxed) {
            return false;
        }
        if left.0 == 0 {
            return true;
        }
        std::thread::sleep(left.to_duration().min(Duration::from_millis(10)));
    }
}

fn happen(plan: &EventPlan, stage: Stage<'_>, clock: MonotonicClock, over: &AtomicBool) -> EventRecord {
    let acted = AtomicBool::new(false);
    let began = clock.now();
    std::thread::scope(|scope| {
        let watch = scope.spawn(|| watch(stage, clock, began, &acted, over));
        let result = act(&plan.action, stage, &clock, over);
        let ended = clock.now();
        acted.store(true, Ordering::Relaxed);
        let (unavailable_ns, still_down) = watch.join().unwrap_or((None, false));
        EventRecord {
            name: plan.name.clone(),
            began_ns: began.0,
            ended_ns: ended.0,
            unavailable_ns,
            still_down,
            error: result.err(),
            effect: None,
        }
    })
}

/// Probes until the target has answered for a while after the action: when it answered again after the last miss,
/// counted from `began`, and whether it was still missing at the end.
fn watch(
    stage: Stage<'_>,
    clock: MonotonicClock,
    began: Nanos,
    acted: &AtomicBool,
    over: &AtomicBool,
) -> (Option<u64>, bool) {
    let mut back = None;
    let mut is_down = false;
    let mut quiet_since = None;
    let mut action_over = None;
    loop {
        let answered = answers(stage);
        let now = clock.now();
        if answered {
            if is_down {
                back = Some(now.since(began).0);
            }
            quiet_since = quiet_since.or(Some(now));
        } else {
            quiet_since = None;
        }
        is_down = !answered;
        if acted.load(Ordering::Relaxed) {
            let since = *action_over.get_or_insert(now);
            let quiet = quiet_since.is_some_and(|from: Nanos| now.since(from.max(since)) >= PROBE_QUIET);
            if quiet || now.since(since) >= PROBE_MOST {
                return (back, is_down);
            }
        }
        if over.load(Ordering::Relaxed) {
            return (back, is_down);
        }
        std::thread::sleep(PROBE_PAUSE);
    }
}

fn answers(stage: Stage<'_>) -> bool {
    match stage.running {
        Some(running) => running.answers(PROBE_TIMEOUT),
        None => launch::reachable(stage.addr, PROBE_TIMEOUT).is_ok(),
    }
}

fn act(
    action: &EventAction,
    stage: Stage<'_>,
    clock: &MonotonicClock,
    over: &AtomicBool,
) -> Result<(), Said> {
    let started =
        || stage.running.ok_or_else(|| said!("event.not_started", "prony did not start this target"));
    match action {
        EventAction::Restart => restart(started()?, None),
        EventAction::Kill => {
            let kill = Stop { signal: Some(StopSignal::Kill), timeout: None };
            restart(started()?, Some(&kill))
        }
        EventAction::Signal { signal } => send(*signal, started()?),
        EventAction::Run { command } => run(command, None, stage, clock, over),
        EventAction::Reload => reload(started()?, stage, clock, over),
        EventAction::Knob { values } => {
            let manifest = stage.manifest.ok_or_else(|| said!("event.no_knobs", "it has no knobs"))?;
            let env = launch::knobs::run_env(&manifest.manifest, values);
            started()?.restart(None, env).map(drop).map_err(|error| Said::from(error.to_string()))
        }
        EventAction::Limit { cpus } => {
            started()?.set_cpus(*cpus).map(drop).map_err(|error| Said::from(error.to_string()))
        }
        EventAction::Drop { share, for_ns } => {
            let until = Nanos(clock.now().0 + for_ns);
            drop_packets(started()?, *share, clock, until, over)
        }
        EventAction::EatCpu { cores, for_ns } => {
            let until = Nanos(clock.now().0 + for_ns);
            eat_cpu(*cores, stage.cpus, clock, until, over);
            Ok(())
        }
    }
}

fn restart(running: &RunningTarget, how: Option<&Stop>) -> Result<(), Said> {
    running.restart(how, BTreeMap::new()).map(drop).map_err(|error| Said::from(error.to_string()))
}

fn send(signal: EventSignal, running: &RunningTarget) -> Result<(), Said> {
    signal_first(
        running,
        match signal {
            EventSignal::Hup => Signal::HUP,
            EventSignal::Int => Signal::INT,
            EventSignal::Quit => Signal::QUIT,
            EventSignal::Usr1 => Signal::USR1,
            EventSignal::Usr2 => Signal::USR2,
            EventSignal::Term => Signal::TERM,
            EventSignal::Winch => Signal::WINCH,
            EventSignal::Stop => Signal::STOP,
            EventSignal::Cont => Signal::CONT,
        },
    )
}

fn signal_first(running: &RunningTarget, signal: Signal) -> Result<(), Said> {
    if !running.is_alive() {
        return Err(said!("event.ended_before", "the target had ended before"));
    }
    let pid = Pid::from_raw(running.pid().cast_signed())
        .ok_or_else(|| said!("event.no_process", "the target has no process"))?;
    kill_process(pid, signal).map_err(|error| {
        let cause = Said::from(error.to_string());
        said!("event.signal", "the signal cannot be sent: {cause}", cause)
    })
}

/// Has the target take in changes as its manifest says.
fn reload(
    running: &RunningTarget,
    stage: Stage<'_>,
    clock: &MonotonicClock,
    over: &AtomicBool,
) -> Result<(), Said> {
    let manifest = stage.manifest.ok_or_else(|| said!("event.no_manifest", "it has no manifest"))?;
    let reload = manifest
        .manifest
        .reload
        .as_ref()
        .ok_or_else(|| said!("event.no_reload", "its manifest has no [reload]"))?;
    match reload.signal {
        Some(ReloadSignal::Hup) => signal_first(running, Signal::HUP),
        Some(ReloadSignal::Usr1) => signal_first(running, Signal::USR1),
        Some(ReloadSignal::Usr2) => signal_first(running, Signal::USR2),
        Some(ReloadSignal::Winch) => signal_first(running, Signal::WINCH),
        None => run(&reload.command, Some(manifest), stage, clock, over),
    }
}

/// Loses packets until then; the loss is ended also where the trial ends first.
fn drop_packets(
    running: &RunningTarget,
    share: f64,
    clock: &MonotonicClock,
    until: Nanos,
    over: &AtomicBool,
) -> Result<(), Said> {
    running.set_drop(share).map_err(|error| Said::from(error.to_string()))?;
    sleep_until(clock, until, over);
    running.set_drop(0.0).map(drop).map_err(|error| Said::from(error.to_string()))
}

/// Runs a command of the experiment, or one of a manifest in its folder, to its end, in a group of its own that is
/// killed when time is up.
fn run(
    command: &[String],
    manifest: Option<&Manifest>,
    stage: Stage<'_>,
    clock: &MonotonicClock,
    over: &AtomicBool,
) -> Result<(), Said> {
    let pid = stage.running.map(|running| running.pid().to_string()).unwrap_or_default();
    let port = stage.addr.port().to_string();
    let fill = |text: &String| {
        let text = text.replace("{port}", &port).replace("{pid}", &pid);
        let Some(Manifest { folder, build, .. }) = manifest else { return text };
        let text = text.replace("{host}", &stage.addr.ip().to_string());
        text.replace("{folder}", &folder.to_string_lossy()).replace("{build}", &build.to_string_lossy())
    };
    let filled: Vec<String> = command.iter().map(fill).collect();
    let (program, arguments) =
        filled.split_first().ok_or_else(|| said!("event.empty_command", "the command is empty"))?;
    let mut child = Command::new(program)
        .args(arguments)
        .current_dir(manifest.map_or(Path::new("."), |manifest| &manifest.folder))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
        .map_err(|error| {
            let cause = Said::from(error.to_string());
            said!("event.cannot_start", "`{program}` cannot be started: {cause}", program, cause)
        })?;
    let give_up = Nanos(clock.now().0 + COMMAND_TIMEOUT.0);
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if clock.now() < give_up && !over.load(Ordering::Relaxed) => {
                std::thread::sleep(COMMAND_POLL);
            }
            _ => {
                if let Some(group) = Pid::from_raw(child.id().cast_signed()) {
                    let _ = rustix::process::kill_process_group(group, Signal::KILL);
                }
                let _ = child.wait();
                return Err(said!(
                    "event.killed",
                    "`{program}` did not end within {time} or the trial, and was killed",
                    program,
                    time = COMMAND_TIMEOUT.to_string()
                ));
            }
        }
    };
    if status.success() {
        return Ok(());
    }
    let mut output = Vec::new();
    if let Some(stderr) = child.stderr.take() {
        let _ = stderr.take(COMMAND_BYTES).read_to_end(&mut output);
    }
    Err(said!(
        "event.failed",
        "`{program}` failed ({status}): {output}",
        program,
        status = status.to_string(),
        output = String::from_utf8_lossy(&output).trim()
    ))
}

/// Keeps `cores` threads busy on the target's CPUs until then.
fn eat_cpu(cores: u32, cpus: Option<&[u32]>, clock: &MonotonicClock, until: Nanos, over: &AtomicBool) {
    std::thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(|| {
                if let Some(cpus) = cpus {
                    // Where it cannot be confined it disturbs the host all the same.
                    let _ = launch::pin::confine_this_thread(cpus);
                }
                while clock.now() < until && !over.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
    });
}
