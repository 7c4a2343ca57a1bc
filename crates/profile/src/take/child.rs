//! A profiler as a child process: a group of its own, with a deadline, its output in a file of bounded use.
//!
//! Invariant: when a [`Child`] is dropped, its whole group is killed and it is waited for.

use super::{No, POLL, Request, is_stopped, unreadable, unwritable};
use rustix::process::{Pid, Signal, kill_process_group};
use schema::said;
use schema::said::Said;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// Most bytes of what a profiler says for the reason of a refusal.
const SAID_MAX: usize = 2048;

/// A program that is missing and how to get it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tool {
    pub(super) program: &'static str,
    pub(super) remedy: fn() -> Said,
}

/// A running profiler.
pub(super) struct Child {
    child: std::process::Child,
    tool: Tool,
    out: PathBuf,
    err: PathBuf,
}

impl Child {
    /// Starts `tool`; its output goes to files in the folder of the request.
    pub(super) fn start(request: &Request, tool: Tool, arguments: &[impl AsRef<OsStr>]) -> Result<Self, No> {
        let file = |ending: &str| request.scratch.join(format!("{}.{ending}", tool.program));
        let (out, err) = (file("out"), file("err"));
        let create = |path: &Path| File::create(path).map_err(|error| unwritable(path, &error));
        let child = Command::new(tool.program)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(create(&out)?)
            .stderr(create(&err)?)
            .process_group(0)
            .spawn();
        match child {
            Ok(child) => Ok(Self { child, tool, out, err }),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let program = tool.program;
                let why = said!("profile.not_installed", "{program} is not installed", program);
                Err(No::new(why, (tool.remedy)()))
            }
            Err(error) => {
                let cause = Said::from(error.to_string());
                let why = said!(
                    "profile.cannot_start",
                    "cannot start {program}: {cause}",
                    program = tool.program,
                    cause
                );
                Err(No::new(why, (tool.remedy)()))
            }
        }
    }

    /// Runs `tool` to its end.
    pub(super) fn run(
        request: &Request,
        tool: Tool,
        arguments: &[impl AsRef<OsStr>],
        most: Duration,
    ) -> Result<Self, No> {
        let mut child = Self::start(request, tool, arguments)?;
        let status = child.wait(request, most)?;
        if status.success() { Ok(child) } else { Err(child.failed(status.to_string().into())) }
    }

    /// Waits for its end; past `most` it is killed, which is an error.
    pub(super) fn wait(&mut self, request: &Request, most: Duration) -> Result<ExitStatus, No> {
        let until = Instant::now() + most;
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => return Ok(status),
                Ok(None) if is_stopped(request) => return Err(No::stopped()),
                Ok(None) if Instant::now() >= until => {
                    return Err(self.failed(said!(
                        "profile.not_ended",
                        "it did not end within {seconds} s",
                        seconds = most.as_secs()
                    )));
                }
                Ok(None) => std::thread::sleep(POLL),
                Err(error) => return Err(self.failed(error.to_string().into())),
            }
        }
    }

    /// Whether it still runs.
    pub(super) fn is_running(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Sends a signal to it.
    pub(super) fn signal(&self, signal: Signal) {
        if let Some(pid) = self.group() {
            let _ = kill_process_group(pid, signal);
        }
    }

    fn group(&self) -> Option<Pid> {
        i32::try_from(self.child.id()).ok().and_then(Pid::from_raw)
    }

    /// Its output so far, at most `most` bytes.
    pub(super) fn output(&self, most: usize) -> Result<Vec<u8>, No> {
        let bytes = read(&self.out, most + 1).map_err(|error| unreadable(&self.out, &error))?;
        if bytes.len() > most {
            let program = self.tool.program;
            let why = said!("profile.too_much", "{program} wrote more than {most} bytes", program, most);
            let remedy = said!("profile.shorter", "take it over a shorter time: --seconds");
            return Err(No::new(why, remedy));
        }
        Ok(bytes)
    }

    /// The reason with what it said last.
    pub(super) fn failed(&self, reason: Said) -> No {
        let words = [&self.err, &self.out].into_iter().filter_map(|file| read(file, SAID_MAX).ok());
        let words = words.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).collect::<String>();
        let lines: Vec<String> =
            words.lines().map(crate::folded::clean).filter(|line| line != "[unnamed]").take(4).collect();
        let told = if lines.is_empty() { String::new() } else { format!(": {}", lines.join("; ")) };
        let why = said!(
            "profile.failed",
            "{program} failed ({reason}){told}",
            program = self.tool.program,
            reason,
            told
        );
        No::new(why, (self.tool.remedy)())
    }
}

fn read(path: &Path, most: usize) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(most as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

impl Drop for Child {
    fn drop(&mut self) {
        // Also where it has ended: what it started may be left. The number of a group is free only when all of it is gone.
        self.signal(Signal::KILL);
        let _ = self.child.wait();
    }
}
