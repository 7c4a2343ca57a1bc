//! `--alarm`, `--abort-on` and `[[alarm]]`: conditions that are watched while a load, a run or a soak lasts.
//!
//! ```text
//! prony ──orders (stdin)──▶ prony alarms   reads files of the run, and what it watches of a load's target itself
//!       ◀──news (stdout)──              ──▶ webhooks, Alertmanagers
//! ```
//!
//! Invariants: the process that watches has a low priority and keeps off the CPUs of generators, so a measurement never
//! waits for it; a condition, a URL or a target that cannot be watched is an error before the load begins; who cannot be
//! reached is a note and costs no result; the process ends when its orders do, however prony ends.

mod news;
mod own;
mod receiver;
mod sender;
mod watcher;

pub(crate) use watcher::dispatch;

use crate::args::AlarmArgs;
use crate::output;
use anyhow::{Context as _, Result, anyhow, bail};
use news::{News, Orders};
use receiver::{Kind, Receiver};
use schema::alarm::{AlarmLine, AlarmPlan, AlarmState};
use std::fs::{File, OpenOptions};
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::SocketAddr;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::JoinHandle;

/// First argument of the process that watches.
const WATCHER: &str = "alarms";
/// File of a run folder.
const FILE: &str = "alarms.ndjson";

/// What is watched, and who ends it.
pub(crate) struct Subject<'a> {
    /// Where run folders are made.
    pub(crate) runs: &'a Path,
    /// Where a load goes to, of which prony reads no counters; absent for runs, which have them.
    pub(crate) load: Option<LoadTo>,
    /// Public hosts that alarms may be sent to.
    pub(crate) consent: &'a [String],
    /// Ends it.
    pub(crate) stop: Arc<AtomicBool>,
    /// Is set before that to why.
    pub(crate) aborted: Arc<OnceLock<String>>,
}

/// Where a load goes to.
#[derive(Clone, Copy)]
pub(crate) struct LoadTo {
    /// Its address; absent where a proxy stands before it.
    pub(crate) address: Option<SocketAddr>,
}

/// Alarms that are being watched.
pub(crate) struct Alarms {
    child: Child,
    reader: Option<JoinHandle<()>>,
    fired: Arc<Mutex<Vec<AlarmLine>>>,
}

/// The alarms of the flags.
///
/// # Errors
/// A condition that cannot be read.
pub(crate) fn of_flags(args: &AlarmArgs) -> Result<Vec<AlarmPlan>> {
    let read = |flag: &'static str, abort: bool| {
        move |when: &String| {
            let plan = plan::alarm(when, flag)
                .map_err(|problem| anyhow!("{flag}: {}\n  remedy: {}", problem.cause, problem.remedy))?;
            Ok(AlarmPlan { abort, ..plan })
        }
    };
    let watched = args.alarm.iter().map(read("--alarm", false));
    watched.chain(args.abort_on.iter().map(read("--abort-on", true))).collect()
}

impl Alarms {
    /// Begins to watch. `None` where there is nothing to watch.
    ///
    /// # Errors
    /// A receiver that may not be reached, an alarm that cannot be watched, or receivers and no alarm.
    pub(crate) fn begin(
        args: &AlarmArgs,
        alarms: &[AlarmPlan],
        subject: &Subject<'_>,
    ) -> Result<Option<Self>> {
        let receivers = receivers(args, subject.consent)?;
        if alarms.is_empty() {
            if !receivers.is_empty() {
                bail!(
                    "there is no alarm to send\n  remedy: say what is watched, for example --alarm 'p99 > 200ms for 2m'"
                );
            }
            return Ok(None);
        }
        let target = subject.load.map(|to| own::target(to, alarms)).transpose()?.flatten();
        let orders = Orders {
            runs: subject.runs.to_owned(),
            writer: std::process::id(),
            alarms: alarms.to_vec(),
            target,
            receivers,
        };
        let mut child = watching(subject.runs)?;
        let mut to = child.stdin.take().context("the process that watches alarms has no input")?;
        // Kept open: its end is the end of the watch.
        writeln!(to, "{}", serde_json::to_string(&orders)?)
            .context("the process that watches alarms has ended")?;
        child.stdin = Some(to);
        let from = child.stdout.take().context("the process that watches alarms has no output")?;
        let fired = Arc::new(Mutex::new(Vec::new()));
        let hears =
            Hears { stop: subject.stop.clone(), aborted: subject.aborted.clone(), fired: fired.clone() };
        let reader = std::thread::Builder::new()
            .name("alarms".to_owned())
            .spawn(move || hears.all(from))
            .context("cannot start a thread")?;
        Ok(Some(Self { child, reader: Some(reader), fired }))
    }

    /// Ends the watch: what was written until now is still looked at, and what fires is sent to have ended. Gives what
    /// fired, in order of time.
    pub(crate) fn end(mut self) -> Vec<AlarmLine> {
        drop(self.child.stdin.take());
        if let Some(reader) = self.reader.take() {
            // It ends when the process does, which has a limit for all that it still sends.
            let _ = reader.join();
        }
        std::mem::take(&mut *self.fired.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Drop for Alarms {
    fn drop(&mut self) {
        // After `end` it has ended by itself; it keeps nothing that must be put away.
        if self.reader.is_some() {
            let _ = self.child.kill();
        }
        let _ = self.child.wait();
    }
}

fn receivers(args: &AlarmArgs, consent: &[String]) -> Result<Vec<Receiver>> {
    let hooks = args.alarm_webhook.iter().map(|url| Receiver::new(Kind::Webhook, url, consent));
    let managers = args.alertmanager.iter().map(|url| Receiver::new(Kind::Alertmanager, url, consent));
    hooks.chain(managers).collect()
}

fn watching(runs: &Path) -> Result<Child> {
    // The runs may be the first ones.
    std::fs::create_dir_all(runs).with_context(|| format!("cannot make {}", runs.display()))?;
    let mut command = Command::new(std::env::current_exe().context("cannot find prony's own binary")?);
    command.arg(WATCHER).stdin(Stdio::piped()).stdout(Stdio::piped());
    // A process group of its own: Ctrl-C is for this process, which then ends the other.
    command.process_group(0);
    command.spawn().context("cannot start the process that watches alarms")
}

/// Takes the news of the process that watches.
struct Hears {
    stop: Arc<AtomicBool>,
    aborted: Arc<OnceLock<String>>,
    fired: Arc<Mutex<Vec<AlarmLine>>>,
}

impl Hears {
    fn all(&self, from: ChildStdout) {
        let mut file: Option<File> = None;
        for line in BufReader::new(from).lines().map_while(Result::ok) {
            match serde_json::from_str::<News>(&line) {
                Ok(News::Alarm { line, folder }) => {
                    if file.is_none() && folder.join("run.json").is_file() {
                        // A run that goes on where it was interrupted adds to what is there.
                        file = OpenOptions::new().create(true).append(true).open(folder.join(FILE)).ok();
                    }
                    if let (Some(file), Ok(text)) = (&mut file, serde_json::to_string(&line)) {
                        // It is said below all the same.
                        let _ = writeln!(file, "{text}");
                    }
                    self.alarm(&line);
                }
                Ok(News::Note(text)) => output::say!("note: {text}"),
                Err(error) => output::say!("note: news of alarms that cannot be read: {error}"),
            }
        }
    }

    fn alarm(&self, line: &AlarmLine) {
        output::say!("{}", words(line));
        if line.state != AlarmState::Fires {
            return;
        }
        self.fired.lock().unwrap_or_else(PoisonError::into_inner).push(line.clone());
        if line.abort {
            let _ = self.aborted.set(format!("{} ({})", line.when, line.evidence));
            self.stop.store(true, Ordering::Relaxed);
        }
    }
}

/// `alarm: p99 > 200ms for 2m fires: 312 ms (> 200 ms) (svc, trial 3)`
fn words(line: &AlarmLine) -> String {
    let state = match line.state {
        AlarmState::Fires => "fires",
        AlarmState::Ends => "ends",
    };
    let place =
        if line.cell == "load" { String::new() } else { format!(" ({}, trial {})", line.cell, line.trial) };
    format!("alarm: {} {state}: {}{place}", line.alarm, line.evidence)
}
