//! `--metrics-listen`, `--metrics-otlp`, `--metrics-remote-write` and `--metrics-push`: a load or a run as monitoring sees
//! it, while it lasts and when it ends.
//!
//! Invariants: an address that cannot be used is an error before the load begins; scrapes are answered, and values
//! sent, by child processes, which read files and die with this one; a failed push changes no result and no exit code.

use crate::args::MonitorArgs;
use crate::output;
use crate::push::Receiver;
use anyhow::{Context as _, Result, anyhow, bail};
use engine::IntervalData;
use record::{Lines, TrialFolder, hlog, live};
use rustix::process::{Pid, Signal, kill_process};
use schema::trial::IntervalLine;
use std::io::{BufRead as _, BufReader};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// How long a process that sends may take for its last values and spans. One that has no answer ends after some 6 s: what is
/// left are receivers that answer slowly.
const FINISH_MAX: Duration = Duration::from_secs(25);
/// Between two looks whether it has ended.
const FINISH_LOOK: Duration = Duration::from_millis(5);

/// What watches a run.
pub(crate) struct Monitor {
    _answering: Option<Side>,
    pushgateway: Option<Receiver>,
    /// Where values and spans go, and the process that sends them until the end.
    streams: Vec<(Receiver, Side)>,
}

impl Monitor {
    /// Begins to answer for the runs of a folder.
    ///
    /// # Errors
    /// The address cannot be had, or the Pushgateway's cannot be found.
    pub(crate) fn begin(args: &MonitorArgs, consent: &[String], runs: &Path) -> Result<Self> {
        let pushgateway = args.metrics_push.as_deref().map(|url| Receiver::pushgateway(url, consent));
        let pushgateway = pushgateway.transpose()?;
        // That a URL is one is said before anything is started.
        let mut wanted = Vec::new();
        if let Some(url) = &args.metrics_otlp {
            wanted.push((["--otlp", url], Receiver::collector(url, consent)?));
        }
        if let Some(url) = &args.metrics_remote_write {
            wanted.push((["--remote-write", url], Receiver::store(url, consent)?));
        }
        let answering = args.metrics_listen.map(|_| Side::answering(args, runs)).transpose()?;
        let sending = |(to, receiver)| Ok((receiver, Side::sending(to, consent, runs)?));
        let streams = wanted.into_iter().map(sending).collect::<Result<_>>()?;
        Ok(Self { _answering: answering, pushgateway, streams })
    }

    /// Pushes the final values of a run. A push that fails is a note: the numbers are in the run's files.
    pub(crate) fn end(&mut self, run: &Path) {
        let pushed = self.pushgateway.iter().map(|receiver| receiver.push(run));
        // The process knows which spans it has sent. One that was gone before it could send has sent none.
        let left = self.streams.iter_mut().map(|(receiver, side)| match side.finish() {
            Finish::InOrder => Ok(()),
            Finish::Gone => receiver.push(run),
            Finish::TooSlow => {
                Err(anyhow!("{} was too slow to take all of the last values", receiver.name()))
            }
        });
        for error in pushed.chain(left).filter_map(Result::err) {
            output::say!("note: {error:#}");
        }
    }
}

/// How a process that sends ended.
enum Finish {
    /// Once it had sent what was left, or said why not.
    InOrder,
    /// Before it was asked to, or with a failure.
    Gone,
    /// Not within [`FINISH_MAX`].
    TooSlow,
}

/// A process that answers or sends.
struct Side(Child);

impl Side {
    /// Sends every ten seconds. What keeps it from that is a note of its own.
    fn sending(to: [&str; 2], consent: &[String], runs: &Path) -> Result<Self> {
        let mut command = metrics_of(runs)?;
        command.args(to).args(["--every", "10s"]).stdout(Stdio::null());
        for host in consent {
            command.args(["--consent", host]);
        }
        command.spawn().map(Self).context("cannot start the process that sends values")
    }

    /// Has it send what is left and waits until it did. What it could not send is a note of its own.
    fn finish(&mut self) -> Finish {
        let Some(pid) = Pid::from_raw(self.0.id().cast_signed()) else { return Finish::Gone };
        let end = Instant::now() + FINISH_MAX;
        if kill_process(pid, Signal::TERM).is_err() {
            return Finish::Gone;
        }
        while Instant::now() < end {
            match self.0.try_wait() {
                Ok(Some(status)) if status.success() => return Finish::InOrder,
                Ok(None) => std::thread::sleep(FINISH_LOOK),
                Ok(Some(_)) | Err(_) => return Finish::Gone,
            }
        }
        Finish::TooSlow
    }

    fn answering(args: &MonitorArgs, runs: &Path) -> Result<Self> {
        let mut command = metrics_of(runs)?;
        if let Some(listen) = args.metrics_listen {
            command.arg("--listen").arg(listen.to_string());
        }
        if let Some(file) = &args.metrics_token_file {
            command.arg("--token-file").arg(file);
        }
        command.stdout(Stdio::piped());
        let mut child = command.spawn().context("cannot start the process that answers monitoring")?;
        let mut said = String::new();
        let read = child.stdout.take().map_or(Ok(0), |out| BufReader::new(out).read_line(&mut said));
        let side = Self(child);
        if read.is_err() || said.is_empty() {
            bail!(
                "monitoring cannot be answered, for the reason above\n  remedy: choose another address for --metrics-listen"
            );
        }
        output::say_text(&said);
        Ok(side)
    }
}

/// `prony metrics` for a folder, which ends with this process.
fn metrics_of(runs: &Path) -> Result<Command> {
    // The runs may be the first ones.
    std::fs::create_dir_all(runs).with_context(|| format!("cannot make {}", runs.display()))?;
    let mut command = Command::new(std::env::current_exe().context("cannot find prony's own binary")?);
    command.arg("metrics").arg(runs).arg("--with-parent");
    // A process group of its own: Ctrl-C is for this process, which then ends the other.
    command.stdin(Stdio::null()).process_group(0);
    Ok(command)
}

impl Drop for Side {
    fn drop(&mut self) {
        // It keeps nothing that must be put away.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The files of a load that monitoring reads, in a folder that goes with the load.
pub(crate) struct LoadFiles {
    folder: TempDir,
    run: PathBuf,
    lines: Lines,
    log: hlog::Writer,
    _live: Option<live::Live>,
    /// Whether they could be written so far.
    is_whole: bool,
}

impl LoadFiles {
    /// Makes the folder, where monitoring or alarms are asked for.
    ///
    /// # Errors
    /// It cannot be made.
    pub(crate) fn begin(args: &MonitorArgs, has_alarms: bool) -> Result<Option<Self>> {
        if !args.is_asked() && !has_alarms {
            return Ok(None);
        }
        let folder = tempfile::tempdir().context("cannot make a temporary folder for what is watched")?;
        let run = folder.path().join(record::run_name(jiff::Timestamp::now(), "load"));
        std::fs::create_dir(&run).with_context(|| format!("cannot make {}", run.display()))?;
        let trial = TrialFolder { path: run.clone() };
        let lines = trial.lines(export::INTERVALS)?;
        let log = hlog::Writer::create(&run.join(export::LOG))?;
        let live = live::Live::begin(&run);
        Ok(Some(Self { folder, run, lines, log, _live: live, is_whole: true }))
    }

    /// Where the process that answers looks.
    pub(crate) fn runs(&self) -> &Path {
        self.folder.path()
    }

    /// The load itself.
    pub(crate) fn run(&self) -> &Path {
        &self.run
    }

    /// An interval that ended.
    pub(crate) fn interval(&mut self, line: &IntervalLine, data: &IntervalData) {
        if !self.is_whole {
            return;
        }
        let span_ns = data.counts.start_ns..data.counts.end_ns;
        let logged = self.log.append(span_ns, &data.times.tagged(), engine::give_way);
        if let Err(error) = logged.and_then(|()| self.lines.append(line)) {
            // The load goes on: what it measures is worth more than what monitoring sees.
            self.is_whole = false;
            output::say!("note: monitoring and alarms see no more of this load: {error}");
        }
    }
}
