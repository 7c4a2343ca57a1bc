//! Several processes of the reference target on one address, among which the system deals connections out.
//!
//! The first process holds the address, starts the others with its own arguments and a hidden `--member`, and serves
//! once all listen. It ends when one of them does. They end when their standard input does, which its death causes
//! however it dies.

use super::bound::{Bound, busy};
use crate::exit;
use anyhow::{Context as _, Result, bail};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::SocketAddr;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use testkit::reference::{Law, Place, serve};

/// What a member says once it listens.
const READY: &str = "ready";

/// The place of one process: number, count and address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Member {
    number: u32,
    of: u32,
    address: SocketAddr,
}

impl FromStr for Member {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not NUMBER/COUNT@ADDRESS; prony gives this option to itself");
        let (place, address) = text.split_once('@').ok_or_else(wrong)?;
        let (number, of) = place.split_once('/').ok_or_else(wrong)?;
        let number = number.parse().map_err(|_| wrong())?;
        Ok(Self {
            number,
            of: of.parse().ok().filter(|of| number < *of).ok_or_else(wrong)?,
            address: address.parse().map_err(|_| wrong())?,
        })
    }
}

impl std::fmt::Display for Member {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}@{}", self.number, self.of, self.address)
    }
}

impl Member {
    /// Body of a process that is not the first.
    pub(super) fn serve(self, law: Law, stop: &AtomicBool) -> Result<u8> {
        let listener = Bound::new(self.address, true).with_context(|| busy(self.address))?.listen()?;
        println!("{READY}");
        std::thread::spawn(|| {
            // Nothing is ever sent; the end of it is the end of the first process.
            let _ = std::io::stdin().read_to_end(&mut Vec::new());
            std::process::exit(exit::DONE.into());
        });
        serve(
            &listener,
            law_of(law, self.number),
            None,
            Place { process: self.number, processes: self.of },
            stop,
        )?;
        Ok(exit::DONE)
    }
}

/// The law of one process of several: its faults are its own.
fn law_of(law: Law, member: u32) -> Law {
    Law { seed: law.seed.derive("process", member.into()), ..law }
}

/// The processes beside the first, and the address they share.
pub(super) struct Family {
    bound: Bound,
    address: SocketAddr,
    others: Vec<Other>,
}

struct Other {
    child: Child,
    /// Held open: its end ends the process.
    _stdin: Option<ChildStdin>,
    stdout: Option<BufReader<ChildStdout>>,
}

impl Family {
    /// Starts the others; returns once all listen.
    pub(super) fn start(listen: SocketAddr, processes: u32) -> Result<Self> {
        // Alone at first: sharing would also succeed beside a stranger's sockets of the same kind.
        let address = Bound::new(listen, false).with_context(|| busy(listen))?.address()?;
        let bound = Bound::new(address, true).with_context(|| busy(address))?;
        let mut family = Self { bound, address, others: Vec::new() };
        for number in 1..processes {
            family.others.push(Other::spawn(Member { number, of: processes, address })?);
        }
        for other in &mut family.others {
            other.await_ready()?;
        }
        Ok(family)
    }

    /// Serves as the first process until `stop` is set or another one ends.
    pub(super) fn serve(mut self, law: Law, stop: &Arc<AtomicBool>) -> Result<u8> {
        let lost = Arc::new(AtomicBool::new(false));
        for stdout in self.others.iter_mut().filter_map(|other| other.stdout.take()) {
            let (stop, lost) = (stop.clone(), lost.clone());
            std::thread::spawn(move || watch(stdout, &stop, &lost));
        }
        let processes = self.others.len() as u32 + 1;
        let Self { bound, address, others } = self;
        let listener = bound.listen()?;
        crate::output::say!("listening on {address}");
        // Whoever waited for the first line may have stopped reading.
        let _ = writeln!(
            std::io::stderr(),
            "{processes} processes share the address; /stats tells the counts of the one that answers"
        );
        serve(&listener, law, None, Place { process: 0, processes }, stop)?;
        drop(others);
        if lost.load(Ordering::Relaxed) {
            let _ = writeln!(
                std::io::stderr(),
                "prony: one of {processes} processes ended by itself, so the others were ended"
            );
            return Ok(exit::FAILED);
        }
        Ok(exit::DONE)
    }
}

/// Notices the end of another process. Where nobody wanted it, all end.
fn watch(mut stdout: BufReader<ChildStdout>, stop: &AtomicBool, lost: &AtomicBool) {
    let _ = stdout.read_to_end(&mut Vec::new());
    if !stop.swap(true, Ordering::Relaxed) {
        lost.store(true, Ordering::Relaxed);
    }
}

impl Other {
    fn spawn(member: Member) -> Result<Self> {
        // Not by path: the file may have been replaced by a new build since prony started.
        let mut child = Command::new("/proc/self/exe")
            .arg0("prony")
            .args(std::env::args_os().skip(1))
            .arg(format!("--member={member}"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot start another process of the reference target")?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take().map(BufReader::new));
        Ok(Self { child, _stdin: stdin, stdout })
    }

    fn await_ready(&mut self) -> Result<()> {
        let mut line = String::new();
        if let Some(stdout) = &mut self.stdout {
            stdout.read_line(&mut line)?;
        }
        if line.trim_end() != READY {
            bail!("a process of the reference target did not start; it has printed why above");
        }
        Ok(())
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_is_read_as_it_is_written() {
        for text in ["1/3@127.0.0.1:80", "2/3@[::1]:8080"] {
            assert_eq!(text.parse::<Member>().unwrap().to_string(), text);
        }
        for wrong in ["", "1/3", "3/3@127.0.0.1:80", "x/3@127.0.0.1:80", "1/3@host"] {
            assert!(wrong.parse::<Member>().is_err(), "{wrong}");
        }
    }
}
