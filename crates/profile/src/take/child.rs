//! A profiler as a child process: a group of its own, with a deadline, its output in a file of bounded use.
//!
//! Invariant: when a [`Child`] is dropped, its whole group is killed and it is waited for.

use super::{No, POLL, Request, is_stopped};
use rustix::process::{Pid, Signal, kill_process_group};
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
    pub(super) remedy: &'static str,
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
        let create = |path: &Path| {
            File::create(path).map_err(|error| {
                No::new(
                    format!("cannot write {}: {error}", path.display()),
                    "make room in the folder for temporary files",
                )
            })
        };
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
                Err(No::new(format!("{} is not installed", tool.program), tool.remedy))
            }
            Err(error) => Err(No::new(format!("cannot start {}: {error}", tool.program), tool.remedy)),
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
        if status.success() { Ok(child) } else { Err(child.failed(&status.to_string())) }
    }

    /// Waits for its end; past `most` it is killed, which is an error.
    pub(super) fn wait(&mut self, request: &Request, most: Duration) -> Result<ExitStatus, No> {
        let until = Instant::now() + most;
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => return Ok(status),
                Ok(None) if is_stopped(request) => return Err(No::stopped()),
                Ok(None) if Instant::now() >= until => {
                    return Err(self.failed(&format!("it did not end within {} s", most.as_secs())));
                }
                Ok(None) => std::thread::sleep(POLL),
                Err(error) => return Err(self.failed(&error.to_string())),
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
        let bytes = read(&self.out, most + 1).map_err(|error| {
            No::new(format!("cannot read {}: {error}", self.out.display()), "take it again")
        })?;
        if bytes.len() > most {
            let why = format!("{} wrote more than {most} bytes", self.tool.program);
            return Err(No::new(why, "take it over a shorter time: --seconds"));
        }
        Ok(bytes)
    }

    /// The reason with what it said last.
    pub(super) fn failed(&self, reason: &str) -> No {
        let said = [&self.err, &self.out].into_iter().filter_map(|file| read(file, SAID_MAX).ok());
        let said = said.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).collect::<String>();
        let lines: Vec<String> =
            said.lines().map(crate::folded::clean).filter(|line| line != "[unnamed]").take(4).collect();
        let told = if lines.is_empty() { String::new() } else { format!(": {}", lines.join("; ")) };
        No::new(format!("{} failed ({reason}){told}", self.tool.program), self.tool.remedy)
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
