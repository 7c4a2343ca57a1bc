//! How finished intervals pass from a worker to the controller, and empty buffers back.
//!
//! Invariants: a buffer has one owner at any time, so none is seen half written; each finished interval is given
//! once, in order; a worker never waits: without a spare it takes a new buffer. Model-checked in `tests/hand_over`.
//! Absent on purpose: what is in a buffer.

use super::sync::{Receiver, Sender, channel};

/// Buffers in stock at the start: while one is filled, one may be on its way and one be merged.
const SPARES: usize = 2;

/// The worker's end.
pub(crate) struct HandOver<T> {
    finished: Box<dyn Fn(Box<T>) + Send>,
    spare: Receiver<Box<T>>,
}

/// The controller's end for one worker.
#[derive(Debug)]
pub(crate) struct Spares<T>(Sender<Box<T>>);

/// Both ends; `finished` gets each finished buffer on the worker's thread.
pub(crate) fn hand_over<T: Default>(finished: impl Fn(Box<T>) + Send + 'static) -> (HandOver<T>, Spares<T>) {
    let (sender, spare) = channel();
    let spares = Spares(sender);
    (0..SPARES).for_each(|_| spares.give_back(Box::default()));
    (HandOver { finished: Box::new(finished), spare }, spares)
}

impl<T: Default> HandOver<T> {
    /// Puts a buffer made ready by `begin` in the place of `current` and gives away what was there.
    pub(crate) fn swap(&self, current: &mut Box<T>, begin: impl FnOnce(&mut T)) {
        let mut next = self.spare.try_recv().unwrap_or_default();
        begin(&mut next);
        self.give_last(std::mem::replace(current, next));
    }

    /// Gives away the last buffer.
    pub(crate) fn give_last(&self, last: Box<T>) {
        (self.finished)(last);
    }
}

impl<T> Spares<T> {
    /// Returns a buffer to the worker; one that has ended needs none.
    pub(crate) fn give_back(&self, buffer: Box<T>) {
        let _ = self.0.send(buffer);
    }
}
