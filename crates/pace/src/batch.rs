//! Arrivals of running sums, drawn once for all workers of a process and handed over in batches.
//!
//! A batch holds a stretch of the schedule, by worker, and leads to the next one. A worker reads its own times from it
//! and goes on to the next batch once in hundreds or thousands of arrivals; only there is anything shared. A thread of
//! the process draws ahead ([`Drawing::draw_ahead`]). Where it is late, the worker that comes first draws the batch
//! instead, and the others find it: nothing waits for a thread that does not run, but for one batch's drawing.
//! Invariants: the times are those that each worker would draw for itself; a batch goes away once the last worker has
//! left it.
//! Absent on purpose: schedules, which read batches, and the thread, which is the engine's.

use crate::law::Law;
use crate::turns::Turns;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::Thread;
use units::Nanos;

/// Arrivals of the whole schedule that a batch passes: some 50 µs of drawing, the longest that a worker is held up where
/// it draws a batch itself.
const PASSED: u64 = 4096;
/// Most batches that are drawn ahead: at a million arrivals a second a quarter of a second, and 2 MiB.
const AHEAD_MAX: u64 = 64;

/// The drawing of a process's arrivals, ahead of its workers.
#[derive(Debug)]
pub struct Drawing {
    shared: Arc<Shared>,
    last: Arc<Batch>,
}

/// What the workers of a process and its drawing thread share. It is looked at once a batch.
#[derive(Debug)]
struct Shared {
    /// The schedule behind the last batch.
    law: Mutex<Law>,
    workers: usize,
    /// Arrivals of each worker in a batch.
    each: usize,
    /// Number of the last batch, and of the furthest one that a worker has entered.
    drawn: AtomicU64,
    entered: AtomicU64,
    /// Whom to wake where few batches are left.
    drawer: OnceLock<Thread>,
}

#[derive(Debug)]
struct Batch {
    number: u64,
    /// Those of the first worker, then those of the second one, …
    times: Vec<Nanos>,
    next: OnceLock<Arc<Self>>,
}

/// One worker's way through the batches.
#[derive(Clone, Debug)]
pub(crate) struct Lane {
    shared: Arc<Shared>,
    batch: Arc<Batch>,
    /// Its times in a batch begin here.
    begin: usize,
    /// The next one, and where its times in the batch end.
    at: usize,
    end: usize,
}

impl Drawing {
    /// For the workers `first` to `first` + `own` of `all`, of the whole schedule `law`: a lane for each of them.
    pub(crate) fn new(law: Law, first: u64, own: u64, all: u64) -> (Vec<Lane>, Self) {
        let each = (PASSED / all).max(1) as usize;
        let shared = Arc::new(Shared {
            law: Mutex::new(law.narrowed(Turns::of_part(first, own, all))),
            workers: own as usize,
            each,
            drawn: AtomicU64::new(0),
            entered: AtomicU64::new(0),
            drawer: OnceLock::new(),
        });
        let batch = shared.draw(0);
        let lane = |begin: usize| Lane {
            shared: shared.clone(),
            batch: batch.clone(),
            begin,
            at: begin,
            end: begin + each,
        };
        let lanes = (0..own as usize).map(|worker| lane(worker * each)).collect();
        (lanes, Self { shared, last: batch })
    }

    /// From now on the calling thread is woken where few batches are left.
    pub fn serve(&self) {
        let _ = self.shared.drawer.set(std::thread::current());
    }

    /// Draws one batch; `false` where enough are drawn ahead. How many these are grows as the load goes on, so that a
    /// small load draws little in vain.
    pub fn draw_ahead(&mut self) -> bool {
        let entered = self.shared.entered.load(Ordering::Relaxed);
        let is_wanted = self.last.number < entered + ahead(entered);
        if is_wanted {
            self.last = self.last.next(&self.shared);
        }
        is_wanted
    }
}

/// Batches that are drawn ahead of the batch `entered`.
fn ahead(entered: u64) -> u64 {
    AHEAD_MAX.min(2 + entered)
}

impl Shared {
    /// Draws the batch `number`; its predecessor sees to it that this happens once and in order.
    fn draw(&self, number: u64) -> Arc<Batch> {
        let mut times = vec![Nanos::ZERO; self.workers * self.each];
        let mut law = self.law.lock().unwrap_or_else(PoisonError::into_inner);
        for row in 0..self.each {
            for time in times[row..].iter_mut().step_by(self.each) {
                *time = law.draw();
            }
        }
        drop(law);
        self.drawn.store(number, Ordering::Relaxed);
        Arc::new(Batch { number, times, next: OnceLock::new() })
    }

    /// A worker has entered a batch: more are wanted where fewer than half are left.
    fn enter(&self, number: u64) {
        self.entered.fetch_max(number, Ordering::Relaxed);
        let left = self.drawn.load(Ordering::Relaxed).saturating_sub(number);
        if left <= ahead(number) / 2
            && let Some(drawer) = self.drawer.get()
        {
            drawer.unpark();
        }
    }
}

impl Batch {
    /// The next batch, drawn here if nobody has drawn it yet.
    fn next(&self, shared: &Shared) -> Arc<Self> {
        self.next.get_or_init(|| shared.draw(self.number + 1)).clone()
    }
}

impl Drop for Batch {
    /// One after the other: as many as a worker is behind would not fit on a stack.
    fn drop(&mut self) {
        let mut next = self.next.take();
        while let Some(mut batch) = next.and_then(Arc::into_inner) {
            next = batch.next.take();
        }
    }
}

impl Lane {
    #[inline]
    pub(crate) fn draw(&mut self) -> Nanos {
        if self.at == self.end {
            self.go_on();
        }
        let taken = self.batch.times[self.at];
        self.at += 1;
        taken
    }

    #[cold]
    fn go_on(&mut self) {
        self.batch = self.batch.next(&self.shared);
        self.at = self.begin;
        self.shared.enter(self.batch.number);
    }
}

#[cfg(test)]
#[path = "batch_tests.rs"]
mod tests;
