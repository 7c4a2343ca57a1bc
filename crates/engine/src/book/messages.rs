//! What becomes of messages on streams, entered into the ledger (`ledger.rs`) and into the interval's times.

use super::Book;
use super::ledger::MessageEnd;
use crate::interval::MessageAccount;
use crate::tally::Store;
use schema::load::MessageTime;
use units::Nanos;

impl Book {
    /// Completed messages of this interval.
    #[cfg(test)]
    pub(crate) const fn messages_completed(&self) -> u64 {
        self.current.counts.messages.completed
    }

    /// A message with this intended time exists from now on. Returns whether it belongs to the samples.
    #[inline]
    pub(crate) fn message_scheduled(&mut self, intended: Nanos, now: Nanos) -> bool {
        self.advance(now);
        let is_measured = intended >= self.measure_start;
        self.enter_message(is_measured, |account| account.scheduled += 1);
        is_measured
    }

    /// A message that was due on an open stream was noticed at `now`.
    pub(crate) fn message_noticed(&mut self, intended: Nanos, now: Nanos) {
        if self.belongs_here(intended) {
            self.note_message(MessageTime::PacerLag, intended, now);
        }
    }

    /// A message that was due had to wait because as many as allowed were unanswered.
    pub(crate) fn message_queued(&mut self, is_measured: bool) {
        self.enter_message(is_measured, |account| account.queued += 1);
    }

    /// A message with this intended time was handed to the system in full at `now`.
    #[inline]
    pub(crate) fn message_written(&mut self, intended: Nanos, now: Nanos) {
        if self.belongs_here(intended) {
            self.note_message(MessageTime::SendLag, intended, now);
        }
    }

    /// A message came at `now` on a stream with this intended time, `last` after the one before it; `is_unasked` says that it
    /// answers none.
    #[inline]
    pub(crate) fn message_received(
        &mut self,
        intended: Nanos,
        last: Option<Nanos>,
        is_unasked: bool,
        now: Nanos,
    ) {
        self.advance(now);
        self.break_silence(now);
        let counts = &mut self.current.counts.messages;
        counts.received += 1;
        counts.unasked += u64::from(is_unasked);
        match last {
            Some(last) if self.belongs_here(last) => self.note_message(MessageTime::Gap, last, now),
            None if self.belongs_here(intended) => {
                self.note_message(MessageTime::FirstMessage, intended, now);
            }
            _ => {}
        }
    }

    /// A message was answered at `now`, in the interval to which [`Book::message_received`] has brought the book.
    #[inline]
    pub(crate) fn message_answered(
        &mut self,
        intended: Nanos,
        written: Nanos,
        is_measured: bool,
        now: Nanos,
    ) {
        self.messages_ended(is_measured, 1, MessageEnd::Completed);
        if self.belongs_here(intended) {
            self.note_message(MessageTime::Response, intended, now);
            self.note_message(MessageTime::Service, written, now);
        }
    }

    /// So many messages ended so.
    #[inline]
    pub(crate) fn messages_ended(&mut self, is_measured: bool, count: u64, end: MessageEnd) {
        if end == MessageEnd::Completed {
            self.current.counts.messages.completed += count;
        }
        self.enter_message(is_measured, |account| match end {
            MessageEnd::Completed => account.completed += count,
            MessageEnd::Failed => account.failed += count,
            MessageEnd::Overdue => {
                account.failed += count;
                account.overdue += count;
            }
            MessageEnd::Unanswered => {
                account.failed += count;
                account.unanswered += count;
            }
            MessageEnd::Censored => account.censored += count,
        });
    }

    /// A stream with this intended time was completed and had so many messages.
    pub(crate) fn stream_had(&mut self, intended: Nanos, messages: u64) {
        if self.belongs_here(intended) {
            self.current.messages.per_stream.note(messages, 1);
        }
    }

    #[inline]
    fn note_message(&mut self, time: MessageTime, from: Nanos, to: Nanos) {
        self.current.messages[time].note(to.since(from).0, 1);
    }

    /// Writes into the account of messages, in the interval and in the total.
    #[inline]
    fn enter_message(&mut self, is_measured: bool, write: impl Fn(&mut MessageAccount)) {
        let counts = &mut self.current.counts.messages;
        let (total, interval) = match is_measured {
            true => (&mut self.messages.measured, &mut counts.measured),
            false => (&mut self.messages.warm, &mut counts.warm),
        };
        write(total);
        write(interval);
    }
}
