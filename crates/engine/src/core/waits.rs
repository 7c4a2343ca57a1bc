//! How long each request waited to be written, by cause: no connection, no stream, no window (METHOD §1). Only where
//! connections carry streams; without them nothing here takes memory or time.
//!
//! Every connection and every queue of arrivals has a [`Meter`], whose time runs for one cause at a time. A request that
//! begins to wait keeps what the meter shows, and one that goes on takes the difference. So a change of cause costs the
//! same however many requests wait, and no request is asked twice.
//!
//! Invariant: the causes of a request together are never longer than its connection wait (written − dispatched).

use super::place::PlaceId;
use crate::driver::SlotId;
use crate::interval::{Lack, Waited};
use std::collections::VecDeque;
use units::Nanos;

/// Time by cause so far. It runs for one cause at a time, or for none.
#[derive(Clone, Copy, Debug)]
struct Meter {
    cause: Option<Lack>,
    since: Nanos,
    sum: Waited,
}

impl Default for Meter {
    fn default() -> Self {
        Self { cause: Some(Lack::Connection), since: Nanos::ZERO, sum: Waited::default() }
    }
}

impl Meter {
    fn shows(&self, now: Nanos) -> Waited {
        let mut sum = self.sum;
        if let Some(cause) = self.cause {
            sum[cause] += now.since(self.since).0;
        }
        sum
    }

    #[inline]
    fn turn(&mut self, cause: Option<Lack>, now: Nanos) {
        if cause != self.cause {
            *self = Self { cause, since: now, sum: self.shows(now) };
        }
    }
}

/// The queue of a lane.
#[derive(Debug, Default)]
struct Queue {
    meter: Meter,
    /// Connections of the lane without a cause, and by cause.
    carriers: [u32; 4],
    /// What the meter showed when each waiting arrival came; in the order of the backlog.
    marks: VecDeque<Waited>,
}

impl Queue {
    /// An arrival takes any connection: it waits for a stream where one is established and open to more than its windows
    /// allow, and for a connection where there is none.
    fn cause(&self) -> Lack {
        match self.carriers {
            [0, _, 0, 0] => Lack::Connection,
            [0, _, 0, _] => Lack::Window,
            _ => Lack::Stream,
        }
    }
}

/// What a place's request waited.
#[derive(Clone, Copy, Debug, Default)]
struct Wait {
    /// What its connection's meter showed when it began to wait.
    mark: Waited,
    sum: Waited,
    /// Since when its body waits for a window.
    held: Option<Nanos>,
    /// The whole sum, where a redirect is followed: what hops wait for is no wait of the request.
    settled: Option<Waited>,
}

/// The waits of a worker's requests.
#[derive(Debug, Default)]
pub(super) struct Waits {
    carriers: Vec<Meter>,
    lanes: Vec<Queue>,
    places: Vec<Wait>,
    /// What the arrival waited that was taken from a queue last, until its request begins.
    queued: Waited,
}

const fn of(cause: Option<Lack>) -> usize {
    match cause {
        None => 0,
        Some(cause) => 1 + cause as usize,
    }
}

impl Waits {
    /// For connections by the lane of each, and so many places.
    pub(super) fn new(lanes: usize, carriers: impl Iterator<Item = usize>, places: usize) -> Self {
        let mut waits = Self { places: vec![Wait::default(); places], ..Self::default() };
        waits.lanes.resize_with(lanes, Queue::default);
        for lane in carriers {
            waits.carriers.push(Meter::default());
            waits.lanes[lane].carriers[of(Some(Lack::Connection))] += 1;
        }
        waits
    }

    /// The load begins, and the clock with it.
    pub(super) fn start(&mut self) {
        self.carriers.iter_mut().for_each(|meter| *meter = Meter { cause: meter.cause, ..Meter::default() });
        self.lanes
            .iter_mut()
            .for_each(|lane| lane.meter = Meter { cause: lane.meter.cause, ..Meter::default() });
    }

    /// Why a connection takes no request at `now`, if it takes none.
    #[inline]
    pub(super) fn turn(&mut self, id: SlotId, lane: usize, cause: Option<Lack>, now: Nanos) {
        let meter = &mut self.carriers[id as usize];
        let before = meter.cause;
        if before != cause {
            meter.turn(cause, now);
            let queue = &mut self.lanes[lane];
            queue.carriers[of(before)] -= 1;
            queue.carriers[of(cause)] += 1;
            queue.meter.turn(Some(queue.cause()), now);
        }
    }

    /// Why a connection takes no request, as far as was noticed.
    pub(super) fn cause(&self, id: SlotId) -> Option<Lack> {
        self.carriers[id as usize].cause
    }

    /// An arrival joins the queue of a lane.
    #[inline]
    pub(super) fn queue(&mut self, lane: usize, now: Nanos) {
        let queue = &mut self.lanes[lane];
        queue.marks.push_back(queue.meter.shows(now));
    }

    /// The first arrival of a lane's queue leaves it.
    #[inline]
    pub(super) fn leave_queue(&mut self, lane: usize, now: Nanos) {
        let queue = &mut self.lanes[lane];
        if let Some(mark) = queue.marks.pop_front() {
            self.queued = queue.meter.shows(now).less(&mark);
        }
    }

    /// A place has a new request.
    #[inline]
    pub(super) fn begin(&mut self, at: PlaceId) {
        let sum = std::mem::take(&mut self.queued);
        if at as usize >= self.places.len() {
            self.places.resize(at as usize + 1, Wait::default());
        }
        self.places[at as usize] = Wait { sum, ..Wait::default() };
    }

    /// The request of a place begins to wait for its connection.
    #[inline]
    pub(super) fn wait(&mut self, at: PlaceId, id: SlotId, now: Nanos) {
        self.places[at as usize].mark = self.carriers[id as usize].shows(now);
    }

    /// It need not wait for that connection any longer.
    #[inline]
    pub(super) fn go(&mut self, at: PlaceId, id: SlotId, now: Nanos) {
        let wait = &mut self.places[at as usize];
        wait.sum.add(&self.carriers[id as usize].shows(now).less(&wait.mark));
    }

    /// Its body waits for a window.
    pub(super) fn hold(&mut self, at: PlaceId, now: Nanos) {
        self.places[at as usize].held = Some(now);
    }

    /// Its body goes on.
    pub(super) fn release(&mut self, at: PlaceId, now: Nanos) {
        let wait = &mut self.places[at as usize];
        if let Some(since) = wait.held.take() {
            wait.sum[Lack::Window] += now.since(since).0;
        }
    }

    /// A redirect of it is followed, so it was written: what it has waited is what counts.
    pub(super) fn settle(&mut self, at: PlaceId) {
        let wait = &mut self.places[at as usize];
        wait.held = None;
        wait.settled.get_or_insert(wait.sum);
    }

    /// A peer that leaves has given back the request, which was dispatched then: its time on that connection was lost.
    pub(super) fn give_back(&mut self, at: PlaceId, dispatched: Nanos, now: Nanos) {
        let wait = &mut self.places[at as usize];
        wait.held = None;
        let known = wait.sum.total();
        wait.sum[Lack::Connection] += now.since(dispatched).0.saturating_sub(known);
    }

    pub(super) fn is_held(&self, at: PlaceId) -> bool {
        self.places[at as usize].held.is_some()
    }

    /// What the request of a place has waited.
    #[inline]
    pub(super) fn of(&self, at: PlaceId) -> Waited {
        let wait = &self.places[at as usize];
        wait.settled.unwrap_or(wait.sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: Option<Lack> = None;

    fn ns(waited: Waited) -> [u64; 3] {
        [Lack::Connection, Lack::Stream, Lack::Window].map(|cause| waited[cause])
    }

    #[test]
    fn a_wait_is_split_where_its_cause_changes() {
        let mut waits = Waits::new(1, std::iter::once(0), 2);
        waits.begin(0);
        waits.wait(0, 0, Nanos(10));
        waits.turn(0, 0, Some(Lack::Stream), Nanos(15));
        waits.begin(1);
        waits.wait(1, 0, Nanos(20));
        waits.turn(0, 0, Some(Lack::Window), Nanos(30));
        waits.turn(0, 0, Some(Lack::Window), Nanos(35));
        waits.turn(0, 0, NONE, Nanos(40));
        (0..2).for_each(|at| waits.go(at, 0, Nanos(41)));
        assert_eq!((ns(waits.of(0)), ns(waits.of(1))), ([5, 15, 10], [0, 10, 10]));
        waits.hold(1, Nanos(50));
        assert!(waits.is_held(1) && !waits.is_held(0));
        waits.release(1, Nanos(57));
        waits.release(1, Nanos(99));
        assert_eq!(ns(waits.of(1)), [0, 10, 17]);
        waits.give_back(1, Nanos(20), Nanos(63));
        assert_eq!(ns(waits.of(1)), [16, 10, 17], "what was not known by its cause");
        waits.settle(1);
        waits.wait(1, 0, Nanos(63));
        waits.hold(1, Nanos(63));
        waits.turn(0, 0, Some(Lack::Stream), Nanos(63));
        waits.go(1, 0, Nanos(70));
        waits.release(1, Nanos(70));
        waits.settle(1);
        waits.give_back(1, Nanos(20), Nanos(90));
        assert_eq!(ns(waits.of(1)), [16, 10, 17], "hops add nothing");
        waits.begin(1);
        waits.wait(1, 0, Nanos(90));
        waits.go(1, 0, Nanos(91));
        assert_eq!(ns(waits.of(1)), [0, 1, 0], "the next request begins without");
    }

    #[test]
    fn an_arrival_waits_for_the_connection_that_would_take_it_first() {
        let mut waits = Waits::new(1, [0, 0].into_iter(), 1);
        waits.queue(0, Nanos(0));
        waits.queue(0, Nanos(4));
        waits.turn(0, 0, Some(Lack::Window), Nanos(10));
        waits.turn(1, 0, Some(Lack::Stream), Nanos(12));
        waits.turn(1, 0, Some(Lack::Window), Nanos(20));
        waits.turn(0, 0, Some(Lack::Connection), Nanos(21));
        waits.turn(1, 0, Some(Lack::Connection), Nanos(25));
        waits.leave_queue(0, Nanos(30));
        waits.begin(0);
        assert_eq!(ns(waits.of(0)), [15, 8, 7]);
        waits.leave_queue(0, Nanos(30));
        waits.begin(0);
        assert_eq!(ns(waits.of(0)), [11, 8, 7]);
        // All seats of a connection that takes more are in use.
        waits.turn(0, 0, NONE, Nanos(40));
        waits.queue(0, Nanos(40));
        waits.leave_queue(0, Nanos(43));
        waits.begin(0);
        assert_eq!(ns(waits.of(0)), [0, 3, 0]);
    }
}
