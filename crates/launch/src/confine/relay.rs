//! The delaying relay: packets from one TUN device are given to the other after a fixed time, or are lost.
//!
//! Where the kernel has no netem. It works on packets, so that TCP at both ends sees a longer way: round-trip times,
//! timeouts and retransmissions are the kernel's own. Invariants: a direction keeps its order; a queue has at most
//! [`QUEUE`] packets, and what finds it full is dropped and counted; how late each packet left beyond its delay is
//! recorded. Absent on purpose: segments larger than the device's MTU (TUN devices are not offered any), and lateness
//! before the packet is read, which the trips over the idle way show.

use super::space::{End, ip};
use super::tun;
use hdrhistogram::Histogram;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use schema::limits::RelayUsage;
use std::collections::VecDeque;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{PipeWriter, pipe};
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use units::{Rng, Seed, TIME_NS_MAX};

/// Packets under way in one direction.
const QUEUE: usize = 65_536;
/// Packets read from one device before the other has its turn.
const BATCH: usize = 64;
/// Longer than any packet of a device with the usual MTU.
const PACKET_BYTES: usize = 4096;
/// Packets that the system keeps for the relay.
const DEVICE_QUEUE: u32 = 10_000;

/// Digits to which lateness is recorded.
const DIGITS: u8 = 2;

/// A running relay; dropped, it ends, and its devices go.
pub(super) struct Relay {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
    /// Closed to end the thread.
    stop: Option<PipeWriter>,
}

#[derive(Default)]
struct Shared {
    /// Share of packets lost, as bits of an `f64`.
    loss: AtomicU64,
    counts: Mutex<Counts>,
}

/// How late packets left, in ns, and those that did not.
struct Counts {
    late: Histogram<u64>,
    lost: u64,
    overflowed: u64,
}

impl Relay {
    /// Makes the devices of both ends and begins to pass packets on.
    pub(super) fn start(here: &End, there: &End, delay: Duration) -> Result<Self, String> {
        let open = |end: &End| {
            let file = end.within(|| {
                let file = tun::open(&end.device)?;
                ip(&format!("link set dev {} txqueuelen {DEVICE_QUEUE}", end.device))?;
                Ok(file)
            })?;
            end.take_up()?;
            Ok::<_, String>(file)
        };
        let devices = [open(here)?, open(there)?];
        let (wake, stop) = pipe().map_err(|error| format!("cannot make a pipe: {error}"))?;
        let shared = Arc::new(Shared::default());
        let queues = [VecDeque::new(), VecDeque::new()];
        let random = Seed(RandomState::new().build_hasher().finish()).rng();
        let mut pass =
            Pass { devices, queues, spare: Vec::new(), delay, shared: Arc::clone(&shared), random };
        let thread = std::thread::Builder::new()
            .name("prony-relay".to_owned())
            .spawn(move || pass.run(&wake.into()))
            .map_err(|error| format!("cannot start the relay: {error}"))?;
        Ok(Self { shared, thread: Some(thread), stop: Some(stop) })
    }

    /// Loses this share of the packets from now on.
    pub(super) fn set_loss(&self, share: f64) {
        self.shared.loss.store(share.to_bits(), Ordering::Relaxed);
    }

    /// What it did since the last call.
    pub(super) fn take(&self) -> RelayUsage {
        let mut counts = self.shared.counts.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *counts).usage()
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        drop(self.stop.take());
        // A thread that panicked has closed its devices, too.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

impl Default for Counts {
    fn default() -> Self {
        let late = Histogram::new_with_max(TIME_NS_MAX, DIGITS).expect("the bounds are right");
        Self { late, lost: 0, overflowed: 0 }
    }
}

impl Counts {
    fn add(&mut self, late: Duration) {
        self.late.saturating_record(late.as_nanos() as u64);
    }

    fn usage(&self) -> RelayUsage {
        RelayUsage {
            packets: self.late.len(),
            lost: self.lost,
            overflowed: self.overflowed,
            late_p50_ns: self.late.value_at_quantile(0.5),
            late_p99_ns: self.late.value_at_quantile(0.99),
            late_max_ns: self.late.max(),
        }
    }
}

/// What the thread works on. A queue belongs to the device that its packets came from.
struct Pass {
    devices: [OwnedFd; 2],
    queues: [VecDeque<(Instant, Vec<u8>)>; 2],
    spare: Vec<Vec<u8>>,
    delay: Duration,
    shared: Arc<Shared>,
    random: Rng,
}

impl Pass {
    fn run(&mut self, stop: &OwnedFd) {
        loop {
            let next = (0..2).filter_map(|from| self.deliver(from)).min();
            let pause = next.map(|due| due.saturating_duration_since(Instant::now()));
            let pause = pause.and_then(|pause| Timespec::try_from(pause).ok());
            let [a, b] = &self.devices;
            let mut fds = [
                PollFd::new(a, PollFlags::IN),
                PollFd::new(b, PollFlags::IN),
                PollFd::new(stop, PollFlags::IN),
            ];
            match poll(&mut fds, pause.as_ref()) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(_) => return,
            }
            let is_ready = fds.map(|fd| !fd.revents().is_empty());
            if is_ready[2] {
                return;
            }
            for from in (0..2).filter(|from| is_ready[*from]) {
                if !self.take_in(from) {
                    return;
                }
            }
        }
    }

    /// Gives on what is due, and says when the next is.
    fn deliver(&mut self, from: usize) -> Option<Instant> {
        while let Some((due, _)) = self.queues[from].front() {
            let (due, now) = (*due, Instant::now());
            if due > now {
                return Some(due);
            }
            let (_, packet) = self.queues[from].pop_front()?;
            // A device that takes no more loses it, as a full queue of a router would.
            let passed = rustix::io::write(&self.devices[1 - from], &packet).is_ok();
            self.spare.push(packet);
            let mut counts = self.shared.counts.lock().unwrap_or_else(PoisonError::into_inner);
            if passed {
                counts.add(now - due);
            } else {
                counts.overflowed += 1;
            }
        }
        None
    }

    /// Reads what has come from a device; false where the device is gone.
    fn take_in(&mut self, from: usize) -> bool {
        let loss = f64::from_bits(self.shared.loss.load(Ordering::Relaxed));
        for _ in 0..BATCH {
            let mut packet = self.spare.pop().unwrap_or_default();
            packet.resize(PACKET_BYTES, 0);
            match rustix::io::read(&self.devices[from], &mut packet[..]) {
                Ok(bytes) => packet.truncate(bytes),
                Err(Errno::INTR | Errno::AGAIN) => {
                    self.spare.push(packet);
                    return true;
                }
                Err(_) => return false,
            }
            let is_full = self.queues[from].len() >= QUEUE;
            if is_full || self.random.unit() < loss {
                self.spare.push(packet);
                let mut counts = self.shared.counts.lock().unwrap_or_else(PoisonError::into_inner);
                *(if is_full { &mut counts.overflowed } else { &mut counts.lost }) += 1;
            } else {
                self.queues[from].push_back((Instant::now() + self.delay, packet));
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lateness_is_told_to_two_digits() {
        let mut counts = Counts::default();
        assert_eq!(counts.usage(), RelayUsage::default());
        for us in [0, 1, 3, 3, 3, 900] {
            counts.add(Duration::from_micros(us));
        }
        let usage = counts.usage();
        let is_near = |found: u64, ns: u64| found.abs_diff(ns) * 100 <= ns;
        assert!(usage.packets == 6 && is_near(usage.late_p50_ns, 3_000), "{usage:?}");
        assert!(is_near(usage.late_p99_ns, 900_000) && is_near(usage.late_max_ns, 900_000), "{usage:?}");
    }
}
