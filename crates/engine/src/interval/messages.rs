//! What became of the messages of streams in an interval: a ledger beside that of the streams.
//!
//! A message belongs to an account by its own intended time, as a request does. What came is counted by the clock, as
//! answers are.

use crate::lazy_histogram::LazyHistogram;
use crate::tally::{AddTo, Store};
use schema::load::MessageTime;
use serde::{Deserialize, Serialize};
use std::ops::{Index, IndexMut};

/// Where messages of one account ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct MessageAccount {
    /// Intended.
    pub scheduled: u64,
    /// Answered, or sent on a stream that was completed.
    pub completed: u64,
    /// On a stream that failed, or never answered.
    pub failed: u64,
    /// Of the failed ones: their stream was completed without an answer to them.
    pub unanswered: u64,
    /// Of the failed ones: their stream took longer than allowed, so that their time lies above every finite one.
    pub overdue: u64,
    /// Unsent or without their outcome at the end.
    pub censored: u64,
    /// Of the scheduled ones: had to wait because as many as allowed were unanswered.
    pub queued: u64,
}

impl MessageAccount {
    /// Whether every scheduled message has ended in exactly one way.
    #[must_use]
    pub const fn balances(&self) -> bool {
        self.scheduled == self.completed + self.failed + self.censored
            && self.unanswered + self.overdue <= self.failed
    }

    /// Messages whose time is known only to lie above every finite one (METHOD §1).
    #[must_use]
    pub const fn beyond(&self) -> u64 {
        self.censored + self.overdue
    }

    /// Adds another account.
    pub const fn add(&mut self, other: &Self) {
        self.scheduled += other.scheduled;
        self.completed += other.completed;
        self.failed += other.failed;
        self.unanswered += other.unanswered;
        self.overdue += other.overdue;
        self.censored += other.censored;
        self.queued += other.queued;
    }
}

/// The plain counters of messages in an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct MessageCounts {
    /// Messages intended before the samples.
    pub warm: MessageAccount,
    /// Messages intended within the samples.
    pub measured: MessageAccount,
    /// Messages that were completed in this interval, of either account.
    pub completed: u64,
    /// Messages that came in this interval.
    pub received: u64,
    /// Of these, answers to no message.
    pub unasked: u64,
}

impl MessageCounts {
    /// Adds others.
    pub const fn add(&mut self, other: &Self) {
        self.warm.add(&other.warm);
        self.measured.add(&other.measured);
        self.completed += other.completed;
        self.received += other.received;
        self.unasked += other.unasked;
    }
}

/// The times of messages that ended in an interval, indexed by [`MessageTime`], and how many messages streams had.
#[derive(Clone, Debug)]
pub struct MessageTimes<H = LazyHistogram> {
    by: [H; MessageTime::ALL.len()],
    /// Messages on each completed stream; counts in place of nanoseconds.
    pub per_stream: H,
}

impl<H: Store> Default for MessageTimes<H> {
    fn default() -> Self {
        Self { by: std::array::from_fn(|_| H::empty()), per_stream: H::empty() }
    }
}

impl<H> Index<MessageTime> for MessageTimes<H> {
    type Output = H;

    #[inline]
    fn index(&self, time: MessageTime) -> &H {
        &self.by[time.index()]
    }
}

impl<H> IndexMut<MessageTime> for MessageTimes<H> {
    #[inline]
    fn index_mut(&mut self, time: MessageTime) -> &mut H {
        &mut self.by[time.index()]
    }
}

impl<H: Store> MessageTimes<H> {
    pub(super) fn clear(&mut self) {
        self.by.iter_mut().for_each(Store::clear);
        self.per_stream.clear();
    }

    pub(super) fn add<P: AddTo<H>>(&mut self, other: &MessageTimes<P>) {
        self.by.iter_mut().zip(&other.by).for_each(|(sum, part)| part.add_to(sum));
        other.per_stream.add_to(&mut self.per_stream);
    }
}

/// The tag of [`MessageTimes::per_stream`] where histograms travel.
const PER_STREAM: &str = "per_stream";

impl MessageTimes {
    /// Each histogram with its tag.
    pub(crate) fn tagged(&self) -> impl Iterator<Item = (&'static str, &LazyHistogram)> {
        let times = MessageTime::ALL.into_iter().map(|time| (time.key(), &self[time]));
        times.chain([(PER_STREAM, &self.per_stream)])
    }

    /// The same, to be written.
    pub(crate) fn tagged_mut(&mut self) -> impl Iterator<Item = (&'static str, &mut LazyHistogram)> {
        let times = MessageTime::ALL.into_iter().map(MessageTime::key).zip(&mut self.by);
        times.chain([(PER_STREAM, &mut self.per_stream)])
    }
}
