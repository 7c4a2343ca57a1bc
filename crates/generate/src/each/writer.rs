//! The thread that takes rows out of the rings, formats and writes them.
//!
//! Invariants: it has the lowest priority and keeps off the CPUs that workers are pinned to, where there are others; it
//! writes whole rows only; where it cannot write it ends, and from then on the workers count what they drop.

use super::file::RowFile;
use super::lines::{Head, Lines};
use crate::GenerateError;
use engine::RowSource;
use plan::{EachPlan, LoadJob};
use rustix::thread::{sched_getaffinity, sched_setaffinity};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// How long the thread rests when the rings are nearly empty. At a million rows a second a ring fills in a quarter of a
/// second.
const REST: Duration = Duration::from_millis(20);
/// Rows of all rings in one round below which the thread rests: far less than a round takes of one full ring.
const FEW: usize = 512;
/// Bytes that are written at a time.
const BUFFER: usize = 256 * 1024;

/// The writer of one process's rings.
pub(super) struct Writer {
    head: Sender<Head>,
    /// Set where nobody wants the file any more.
    is_given_up: Arc<AtomicBool>,
    thread: Option<JoinHandle<io::Result<u64>>>,
}

impl Writer {
    /// Starts the thread; it waits for [`Writer::begin`].
    pub(super) fn start(
        plan: &EachPlan,
        sources: Vec<RowSource>,
        lines: Lines,
        file: RowFile,
        job: &LoadJob,
    ) -> Result<Self, GenerateError> {
        let (head, begun) = channel();
        let is_given_up = Arc::new(AtomicBool::new(false));
        let work = Work { sources, lines, file, is_given_up: is_given_up.clone(), is_part: plan.is_part };
        let workers = job.cpus.clone().unwrap_or_default();
        let thread = std::thread::Builder::new()
            .name("prony-rows".to_owned())
            .spawn(move || {
                stand_back(&workers);
                work.run(&begun)
            })
            .map_err(GenerateError::io("start the thread that writes", &plan.file))?;
        Ok(Self { head, is_given_up, thread: Some(thread) })
    }

    /// The trial's time begins.
    pub(super) fn begin(&self, head: Head) {
        // A thread that is gone has an error to tell at the end.
        let _ = self.head.send(head);
    }

    /// Waits until all rows are written, once all workers have ended; returns how many.
    pub(super) fn finish(mut self) -> io::Result<Option<u64>> {
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(written)) => written.map(Some),
            Some(Err(panic)) => std::panic::resume_unwind(panic),
            None => Ok(None),
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        if let Some(thread) = self.thread.take() {
            self.is_given_up.store(true, Ordering::Relaxed);
            thread.thread().unpark();
            // A load that never began sends no head.
            let (nobody, _) = channel();
            drop(std::mem::replace(&mut self.head, nobody));
            let _ = thread.join();
        }
    }
}

/// Makes the calling thread give way to everything else, above all to the workers on their CPUs.
fn stand_back(workers: &[u32]) {
    // Refused nowhere: everybody may be less favoured. On Linux it is the calling thread's priority.
    let _ = rustix::process::setpriority_process(None, 19);
    if let Ok(mut others) = sched_getaffinity(None) {
        workers.iter().for_each(|cpu| others.unset(*cpu as usize));
        if others.count() > 0 {
            let _ = sched_setaffinity(None, &others);
        }
    }
}

/// What the thread works on.
struct Work {
    sources: Vec<RowSource>,
    lines: Lines,
    file: RowFile,
    is_given_up: Arc<AtomicBool>,
    is_part: bool,
}

impl Work {
    /// Writes rows until all workers have ended and their rings are empty; returns how many.
    fn run(mut self, begun: &Receiver<Head>) -> io::Result<u64> {
        let Ok(head) = begun.recv() else { return Ok(0) };
        let mut buffer = Vec::with_capacity(2 * BUFFER);
        self.lines.begin(head.origin_unix_ns);
        if !self.is_part {
            self.lines.head(head, &mut buffer);
        }
        let mut written = 0;
        loop {
            if self.is_given_up.load(Ordering::Relaxed) {
                return Ok(written);
            }
            // Looked at before the rings: what comes before a worker's end is there afterwards.
            let has_ended = self.sources.iter().all(RowSource::has_ended);
            let taken = self.round(&mut buffer)?;
            written += taken as u64;
            if taken == 0 && has_ended {
                break;
            }
            if taken < FEW && !has_ended {
                std::thread::park_timeout(REST);
            }
        }
        self.file.write(&buffer)?;
        self.file.finish()?;
        Ok(written)
    }

    /// Takes some rows of each worker in turn; returns how many.
    fn round(&mut self, buffer: &mut Vec<u8>) -> io::Result<usize> {
        let mut all = 0;
        for source in &mut self.sources {
            let (worker, lines) = (source.worker, &mut self.lines);
            all += source.take(|row| lines.row(worker, row, buffer));
            if buffer.len() >= BUFFER {
                self.file.write(buffer)?;
                buffer.clear();
            }
        }
        Ok(all)
    }
}
