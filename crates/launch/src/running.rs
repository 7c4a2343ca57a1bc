//! A target that runs: where it listens, whether it lives, how it is started again, and its end.
//!
//! Invariant: [`RunningTarget::stop`] succeeds only after the guard saw the last process of the target go and the
//! port could be bound again. Dropped without a stop, the target is ended by its guard a moment later.

use crate::TargetError;
use crate::guard::{Change, Ending, Exit, Finish, Guard};
use crate::ready::{self, Unready};
use schema::limits::{Confinement, RelayUsage};
use schema::target::{Ready, Stop};
use std::collections::BTreeMap;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::time::{Duration, Instant};
use units::Bytes;

/// The kernel may close a listener shortly after the process that held it is gone (io_uring defers it).
const PORT_TIMEOUT: Duration = Duration::from_secs(2);
const PORT_PAUSE: Duration = Duration::from_millis(5);

/// A started target that has answered.
#[derive(Debug)]
pub struct RunningTarget {
    guard: Guard,
    addr: SocketAddr,
    ready: Ready,
    ready_ns: u64,
}

impl RunningTarget {
    pub(crate) fn new(guard: Guard, addr: SocketAddr, ready: Ready, ready_ns: u64) -> Self {
        Self { guard, addr, ready, ready_ns }
    }

    /// Where it listens: 127.0.0.1, or the address of its own network, and the port it was given.
    #[must_use]
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// What the relay on the way to it did since it was asked last; nothing where there is none.
    #[must_use]
    pub fn relayed(&self) -> Option<RelayUsage> {
        self.confinement()?.network.and_then(|_| self.guard.relayed())
    }

    /// Its first process since the last start, which is also its process group. Counters are read from it and its
    /// descendants.
    #[must_use]
    pub fn pid(&self) -> u32 {
        // It was handed out only after a start, and a start is never forgotten.
        self.guard.started().map_or(0, |(pid, _)| pid)
    }

    /// The same as [`RunningTarget::pid`], kept current over restarts for readers on other threads.
    #[must_use]
    pub fn current_pid(&self) -> Arc<AtomicU32> {
        self.guard.current_pid()
    }

    /// Nanoseconds from the execution of its program to the first good answer, seen with a step of at most 20 ms.
    #[must_use]
    pub fn ready_ns(&self) -> u64 {
        self.ready_ns
    }

    /// Whether its first process runs.
    #[must_use]
    pub fn is_alive(&self) -> bool {
        self.guard.is_alive()
    }

    /// How its first process ended, once it has.
    #[must_use]
    pub fn exit(&self) -> Option<Exit> {
        self.guard.exit()
    }

    /// What it is confined to, as read back; absent where nothing was asked for.
    #[must_use]
    pub fn confinement(&self) -> Option<Confinement> {
        self.guard.confined()
    }

    /// Whether its end came of its memory limit, and then how that is reported.
    #[must_use]
    pub fn out_of_memory(&self) -> Option<TargetError> {
        out_of_memory(&self.guard)
    }

    /// The last lines of its log, indented for an error text.
    #[must_use]
    pub fn log_tail(&self) -> String {
        self.guard.tail()
    }

    /// Ends it as `how` says (as its manifest does where that is absent) and starts it again at the same address,
    /// with `env` laid over its environment; returns nanoseconds from the execution of the program to the first good
    /// answer. May be called while a load runs.
    ///
    /// # Errors
    /// It does not start again, or gives no good answer in time; it stays down then.
    pub fn restart(&self, how: Option<&Stop>, env: BTreeMap<String, String>) -> Result<u64, TargetError> {
        self.guard.restart(how.map(Ending::from), env)?;
        ready::await_ready(&self.guard, &self.ready, self.addr).map_err(|unready| {
            let (command, tail) = (self.guard.shown(), self.guard.tail());
            match (unready, self.guard.exit()) {
                (Unready::TimedOut { timeout, last }, _) => {
                    TargetError::NotReady { timeout, addr: self.addr, last, tail }
                }
                (Unready::Ended, Some(exit)) => TargetError::EndedEarly { command, exit, tail },
                (Unready::Ended, None) => {
                    self.guard.lost("it ended while the target was starting".to_owned())
                }
            }
        })
    }

    /// Changes its CPU quota while it runs; the quota as read back, in CPUs. It holds until the target is stopped.
    ///
    /// # Errors
    /// It was started without a quota, or the system refuses.
    pub fn set_cpus(&self, cpus: f64) -> Result<f64, TargetError> {
        self.guard.change(Change::Cpus(cpus))
    }

    /// Loses this share of packets in each direction of its own network, beyond what its limits lose; 0 ends that.
    ///
    /// # Errors
    /// It has no network of its own, or the system refuses.
    pub fn set_drop(&self, share: f64) -> Result<f64, TargetError> {
        self.guard.change(Change::Drop(share))
    }

    /// Whether it answers at this moment, as its readiness asks; waits at most `timeout` for the answer.
    #[must_use]
    pub fn answers(&self, timeout: Duration) -> bool {
        ready::probe(self.addr, &self.ready, timeout).is_ok()
    }

    /// Ends it and verifies that all its processes are gone and that its port is free. Takes at most the time of
    /// its `stop.timeout` and 17 s; needing the kill is no error, the log says so.
    ///
    /// # Errors
    /// It had ended on its own before, processes survive SIGKILL, the guard was lost, or the port is still held.
    pub fn stop(mut self) -> Result<(), TargetError> {
        let ended_before = self.guard.exit();
        match self.guard.end() {
            Finish::Gone => {}
            Finish::Left(pids) => return Err(TargetError::Survivors { pids }),
            Finish::Lost(cause) => return Err(self.guard.lost(cause)),
        }
        if let Some(error) = out_of_memory(&self.guard) {
            return Err(error);
        }
        if let Some(exit) = ended_before {
            let (command, tail) = (self.guard.shown(), self.guard.tail());
            return Err(TargetError::Died { command, exit, tail });
        }
        if self.guard.confined().is_some_and(|held| held.network.is_some()) {
            // Its address went with its network.
            return Ok(());
        }
        await_free(self.addr, PORT_TIMEOUT)
            .map_err(|source| TargetError::PortHeld { addr: self.addr, source })
    }
}

/// The error of a target that ended because its processes reached their memory limit.
pub(crate) fn out_of_memory(guard: &Guard) -> Option<TargetError> {
    let (kills, exit) = (guard.oom_kills(), guard.exit()?);
    let limit = guard.confined().and_then(|held| held.memory_bytes);
    let limit = limit.map_or(String::new(), |bytes| format!(" of {}", Bytes(bytes)));
    let (command, tail) = (guard.shown(), guard.tail());
    (kills > 0).then_some(TargetError::OutOfMemory { kills, limit, command, exit, tail })
}

/// Waits until nobody listens at `addr`. The standard library binds with SO_REUSEADDR, so closed connections in
/// TIME_WAIT do not count.
fn await_free(addr: SocketAddr, timeout: Duration) -> io::Result<()> {
    let deadline = Instant::now() + timeout;
    loop {
        match TcpListener::bind(addr) {
            Ok(_) => return Ok(()),
            Err(error) if Instant::now() >= deadline => return Err(error),
            Err(_) => std::thread::sleep(PORT_PAUSE),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_held_port_is_noticed_and_a_free_one_passes() {
        let holder = TcpListener::bind("127.0.0.1:0").unwrap();
        let addr = holder.local_addr().unwrap();
        assert_eq!(await_free(addr, Duration::ZERO).unwrap_err().kind(), io::ErrorKind::AddrInUse);
        drop(holder);
        await_free(addr, PORT_TIMEOUT).unwrap();
    }
}
