//! One row for each request that ended, from the worker to whoever writes it down.
//!
//! Invariants: a worker copies a row into a ring of its own, which has one writer and one reader and is wait-free: no
//! lock, no allocation, no system call. A full ring drops the row and counts it, so that a slow reader never slows the
//! load. Which requests have a row is a function of the seed and the request's number, so that no period of the load can
//! meet a period of the sample. Absent on purpose: formats and files (the runner).

use crate::core::InFlight;
use crate::fate::{Fate, NO_SLOT};
use crate::part::Part;
use pace::Share;
use rtrb::{Consumer, Producer, RingBuffer};
use schema::load::ErrorClass;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use units::{Draw, Nanos, Seed};

/// Rows that all rings of a process hold together, at 72 bytes each.
const ROWS_ALL: usize = 1 << 19;
/// Bounds of the rows that one ring holds.
const ROWS: (usize, usize) = (1 << 14, 1 << 18);
/// Rows that are taken out of a ring at a time.
const CHUNK: usize = 1024;

/// The label of the sample.
const DRAWN: &str = "each";

/// A moment that did not come.
const NEVER: Nanos = Nanos(u64::MAX);
/// How a request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Answered rightly.
    Completed,
    /// With an error.
    Failed(ErrorClass),
    /// Unsent or in flight at the end.
    Censored,
}

/// What became of one request. Times are in nanoseconds from the trial's origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// Number of the request over all workers; the requests of one text of a script share one.
    pub request: u64,
    /// When it should have been sent.
    pub intended_ns: u64,
    dispatched: Nanos,
    written: Nanos,
    first_byte: Nanos,
    done: Nanos,
    body_bytes: u64,
    connection: u32,
    /// Place in the scenario.
    pub entry: u16,
    status: u16,
    /// How it ended.
    pub outcome: Outcome,
    /// Whether it was intended within the samples, not before them.
    pub is_measured: bool,
}

impl Row {
    /// Dispatched − intended.
    #[must_use]
    pub fn pacer_lag_ns(&self) -> Option<u64> {
        between(Nanos(self.intended_ns), self.dispatched)
    }

    /// Written − dispatched; absent for what was never written in full.
    #[must_use]
    pub fn connection_wait_ns(&self) -> Option<u64> {
        between(self.dispatched, self.written)
    }

    /// Done − written; of a failed request, the moment it failed counts as done. Absent for a censored one.
    #[must_use]
    pub fn service_ns(&self) -> Option<u64> {
        between(self.written, self.done)
    }

    /// Done − intended, as [`Row::service_ns`].
    #[must_use]
    pub fn response_ns(&self) -> Option<u64> {
        between(Nanos(self.intended_ns), self.done)
    }

    /// First byte of the answer − written; absent where none came.
    #[must_use]
    pub fn first_byte_ns(&self) -> Option<u64> {
        between(self.written, self.first_byte)
    }

    /// Status code of the answer; absent where no whole header section came.
    #[must_use]
    pub fn status(&self) -> Option<u16> {
        (self.status != 0).then_some(self.status)
    }

    /// Bytes of the body as far as it came; absent as [`Row::status`].
    #[must_use]
    pub fn body_bytes(&self) -> Option<u64> {
        self.status().map(|_| self.body_bytes)
    }

    /// Number of the connection's slot within its worker; absent where the request never had one.
    #[must_use]
    pub fn connection(&self) -> Option<u32> {
        (self.connection != NO_SLOT).then_some(self.connection)
    }
}

fn between(from: Nanos, to: Nanos) -> Option<u64> {
    (from != NEVER && to != NEVER).then(|| to.since(from).0)
}

/// Whether a failure of this class is the judgement of a complete answer.
const fn is_of_an_answer(class: ErrorClass) -> bool {
    use ErrorClass::{Check, Script, UnexpectedStatus, WrongBody};
    matches!(class, Check | Script | UnexpectedStatus | WrongBody)
}

/// What became of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Noted {
    /// The request is not in the sample.
    NotDrawn,
    Kept,
    /// The ring is full.
    Dropped,
}

/// A worker's end of its ring.
pub(crate) struct RowSink {
    ring: Producer<Row>,
    draw: Draw,
    share: Share,
}

impl RowSink {
    /// Notes that a request ended at `done`; `NEVER` for one that did not.
    #[inline(never)]
    fn note(&mut self, fate: &Fate, outcome: Outcome, done: Nanos, is_measured: bool) -> Noted {
        let request = self.share.number(fate.n);
        if !self.draw.takes(request) {
            return Noted::NotDrawn;
        }
        let is_answered = match outcome {
            Outcome::Completed => true,
            Outcome::Failed(class) => fate.was_written && is_of_an_answer(class),
            Outcome::Censored => false,
        };
        // An answer in one piece has its first byte with its last.
        let first_byte = fate.first_byte.unwrap_or(if is_answered { done } else { NEVER });
        let row = Row {
            request,
            intended_ns: fate.intended.0,
            dispatched: fate.dispatched,
            written: if fate.was_written { fate.written } else { NEVER },
            first_byte,
            done,
            body_bytes: fate.body_bytes,
            connection: fate.slot,
            entry: fate.entry,
            status: fate.status,
            outcome,
            is_measured,
        };
        if self.ring.push(row).is_ok() { Noted::Kept } else { Noted::Dropped }
    }

    /// A right answer came at `done`.
    #[inline]
    pub(crate) fn completed(&mut self, request: &InFlight, done: Nanos, is_measured: bool) -> Noted {
        self.note(&Fate::of(request), Outcome::Completed, done, is_measured)
    }

    pub(crate) fn failed(&mut self, fate: &Fate, class: ErrorClass, now: Nanos, is_measured: bool) -> Noted {
        self.note(fate, Outcome::Failed(class), now, is_measured)
    }

    pub(crate) fn censored(&mut self, fate: &Fate, is_measured: bool) -> Noted {
        self.note(fate, Outcome::Censored, NEVER, is_measured)
    }
}

/// The rings' ends for the workers of one generator, handed out in turn.
#[derive(Clone)]
pub struct RowSinks(Arc<Mutex<Vec<RowSink>>>);

impl RowSinks {
    pub(crate) fn take(&self) -> Option<RowSink> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }
}

impl fmt::Debug for RowSinks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RowSinks")
    }
}

/// The reader's end of one worker's ring.
#[derive(Debug)]
pub struct RowSource {
    /// The worker's number in the load.
    pub worker: u32,
    ring: Consumer<Row>,
}

impl RowSource {
    /// Takes the rows that are there, up to a thousand; returns how many.
    pub fn take(&mut self, mut each: impl FnMut(&Row)) -> usize {
        let count = self.ring.slots().min(CHUNK);
        let Ok(chunk) = self.ring.read_chunk(count) else { return 0 };
        let (first, second) = chunk.as_slices();
        first.iter().chain(second).for_each(&mut each);
        chunk.commit_all();
        count
    }

    /// Whether the worker has ended. Rows may still be there.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.ring.is_abandoned()
    }
}

/// Rings for the workers of `part`, one each, of a load of `workers` workers. `share` of the requests, above 0 to 1,
/// have rows.
#[must_use]
pub fn rows(part: Part, workers: u32, seed: u64, share: f64) -> (RowSinks, Vec<RowSource>) {
    let capacity = (ROWS_ALL / part.workers.max(1) as usize).clamp(ROWS.0, ROWS.1);
    rings(part, workers, Draw::new(Seed(seed), DRAWN, share), capacity)
}

fn rings(part: Part, workers: u32, draw: Draw, capacity: usize) -> (RowSinks, Vec<RowSource>) {
    let ring = |index: u32| {
        let (mut producer, mut consumer) = RingBuffer::new(capacity);
        touch(&mut producer, &mut consumer);
        let worker = part.first + index;
        let sink = RowSink { ring: producer, draw, share: Share::new(worker, workers) };
        (sink, RowSource { worker, ring: consumer })
    };
    let (mut sinks, sources): (Vec<_>, Vec<_>) = (0..part.workers).map(ring).unzip();
    sinks.reverse();
    (RowSinks(Arc::new(Mutex::new(sinks))), sources)
}

/// A ring of one worker for tests.
#[cfg(test)]
pub(crate) fn rings_of(capacity: usize) -> (RowSinks, Vec<RowSource>) {
    rings(Part { first: 0, workers: 1 }, 1, Draw::new(Seed(1), DRAWN, 1.0), capacity)
}

/// Fills and empties a ring, so that the system gives its memory before the load and not to a request.
fn touch(producer: &mut Producer<Row>, consumer: &mut Consumer<Row>) {
    let row = Row {
        request: 0,
        intended_ns: 0,
        dispatched: NEVER,
        written: NEVER,
        first_byte: NEVER,
        done: NEVER,
        body_bytes: 0,
        connection: NO_SLOT,
        entry: 0,
        status: 0,
        outcome: Outcome::Censored,
        is_measured: false,
    };
    while producer.push(row).is_ok() {}
    if let Ok(chunk) = consumer.read_chunk(consumer.slots()) {
        chunk.commit_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PART: Part = Part { first: 3, workers: 2 };

    fn fate(n: u64) -> Fate {
        Fate {
            intended: Nanos(100),
            entry: 1,
            was_written: true,
            n,
            slot: 7,
            dispatched: Nanos(110),
            written: Nanos(130),
            first_byte: None,
            status: 503,
            body_bytes: 12,
        }
    }

    fn taken(source: &mut RowSource) -> Vec<Row> {
        let mut rows = Vec::new();
        while source.take(|row| rows.push(*row)) > 0 {}
        rows
    }

    #[test]
    fn a_row_says_what_the_stamps_say() {
        let (sinks, mut sources) = rings(PART, 5, Draw::new(Seed(1), DRAWN, 1.0), 8);
        let mut sink = sinks.take().unwrap();
        let class = ErrorClass::UnexpectedStatus;
        assert_eq!(sink.failed(&fate(2), class, Nanos(200), true), Noted::Kept);
        let unwritten = Fate { was_written: false, status: 0, slot: NO_SLOT, ..fate(3) };
        sink.failed(&unwritten, ErrorClass::Deadline, Nanos(300), false);
        let begun = Fate { first_byte: Some(Nanos(150)), ..fate(4) };
        sink.censored(&begun, true);
        let [answered, unsent, censored] = taken(&mut sources[0])[..] else { panic!("three rows") };
        assert_eq!((sources[0].worker, answered.request), (3, 2 * 5 + 3), "numbered over all workers");
        let times = |row: &Row| {
            [
                row.pacer_lag_ns(),
                row.connection_wait_ns(),
                row.service_ns(),
                row.response_ns(),
                row.first_byte_ns(),
            ]
        };
        assert_eq!(times(&answered), [Some(10), Some(20), Some(70), Some(100), Some(70)]);
        assert_eq!(
            (answered.status(), answered.body_bytes(), answered.connection()),
            (Some(503), Some(12), Some(7))
        );
        assert_eq!(times(&unsent), [Some(10), None, None, Some(200), None]);
        assert_eq!((unsent.status(), unsent.body_bytes(), unsent.connection()), (None, None, None));
        assert_eq!(times(&censored), [Some(10), Some(20), None, None, Some(20)]);
        assert_eq!((unsent.is_measured, censored.is_measured), (false, true));
    }

    #[test]
    fn a_full_ring_drops_and_goes_on_once_there_is_room() {
        let (sinks, mut sources) = rings(PART, 5, Draw::new(Seed(1), DRAWN, 1.0), 3);
        let mut sink = sinks.take().unwrap();
        let noted: Vec<_> = (0..5).map(|n| sink.censored(&fate(n), true)).collect();
        assert_eq!(noted, [Noted::Kept, Noted::Kept, Noted::Kept, Noted::Dropped, Noted::Dropped]);
        assert_eq!(taken(&mut sources[0]).len(), 3);
        assert_eq!(sink.censored(&fate(9), true), Noted::Kept);
        assert!(!sources[0].has_ended() && sinks.take().is_some());
        drop(sink);
        assert!(sources[0].has_ended() && taken(&mut sources[0]).len() == 1, "rows outlive their worker");
    }

    #[test]
    fn a_row_stays_small() {
        assert!(size_of::<Row>() <= 72, "{} bytes", size_of::<Row>());
    }
}
