//! The messages of one stream: which are due, which may be sent, what still waits for an answer, and what became of them.
//!
//! Invariants: a message is scheduled once, in the order of the stream, and settled once, at the latest with its stream; the
//! n-th message that comes answers the n-th that was sent, where both sides stream. Nothing is dropped: what is due and may
//! not be sent yet follows from the stream's schedule, so that only messages on their way take memory, which is kept.
//! Absent on purpose: bytes, sockets and protocols.

use crate::book::{Book, MessageEnd};
use request::StreamRule;
use std::collections::VecDeque;
use units::Nanos;

/// The next look at a stream that is not queued for any.
pub(super) const UNWATCHED: Nanos = Nanos(u64::MAX);

/// A message on its way: sent and unanswered, or where messages have no answers of their own, not handed over yet.
#[derive(Clone, Copy, Debug)]
struct Pending {
    intended: Nanos,
    /// When it was written into the outbox, then when it was handed to the system.
    stamp: Nanos,
    is_measured: bool,
    is_written: bool,
}

/// The messages of one stream, or memory for those of the next.
#[derive(Debug)]
pub(crate) struct Dialogue {
    /// Absent where the request of the place has one message each way.
    rule: Option<StreamRule>,
    /// The stream's intended time.
    base: Nanos,
    /// The protocol's number of the stream, and when it was opened.
    opened: Option<(u32, Nanos)>,
    /// Messages in the book.
    scheduled: u64,
    /// Messages put on the stream.
    sent: u64,
    /// Messages handed to the system in full.
    written: u64,
    /// Messages that were ever in `pending`, and those that have left it.
    begun: u64,
    gone: u64,
    pending: VecDeque<Pending>,
    /// Scheduled and not settled: of warm-up, of the samples.
    open: [u64; 2],
    received: u64,
    last_received: Option<Nanos>,
    /// When something last went on.
    progress: Nanos,
    /// When room came free last, and until when there was none.
    freed: Nanos,
    full_until: Nanos,
    /// Whether a part of the last message waits to be written.
    is_held: bool,
    /// Whether the stream is closed on this side.
    has_ended: bool,
    /// When the stream is next looked at for a message that is due.
    pub(super) watched: Nanos,
    /// Whether the core knows that there may be something to send.
    pub(super) is_listed: bool,
}

impl Default for Dialogue {
    fn default() -> Self {
        Self {
            rule: None,
            base: Nanos::ZERO,
            opened: None,
            scheduled: 0,
            sent: 0,
            written: 0,
            begun: 0,
            gone: 0,
            pending: VecDeque::new(),
            open: [0; 2],
            received: 0,
            last_received: None,
            progress: Nanos::ZERO,
            freed: Nanos::ZERO,
            full_until: Nanos::ZERO,
            is_held: false,
            has_ended: false,
            watched: UNWATCHED,
            is_listed: false,
        }
    }
}

impl Dialogue {
    /// A request begins: a stream with this rule and intended time, or none.
    pub(super) fn begin(&mut self, rule: Option<&StreamRule>, base: Nanos) {
        debug_assert_eq!(self.open, [0; 2], "messages of the stream before are not settled");
        let mut pending = std::mem::take(&mut self.pending);
        pending.clear();
        let (watched, is_listed) = (self.watched, self.is_listed);
        *self =
            Self { rule: rule.copied(), base, freed: base, pending, watched, is_listed, ..Self::default() };
    }

    /// Whether the request is a stream.
    #[inline]
    pub(super) const fn is_stream(&self) -> bool {
        self.rule.is_some()
    }

    /// Whether the request ends with its next message.
    #[inline]
    pub(super) fn ends_with_next(&self) -> bool {
        self.rule.is_none_or(|rule| self.sent + 1 >= rule.messages)
    }

    /// The number of the next message.
    pub(super) const fn next_number(&self) -> u64 {
        self.sent
    }

    /// The protocol's number of the stream, once it is open.
    pub(super) fn stream(&self) -> Option<u32> {
        self.opened.map(|(stream, _)| stream)
    }

    /// Messages that are due by `now` enter the book, with the generator's lateness where the stream was open for them.
    pub(super) fn notice_due(&mut self, book: &mut Book, now: Nanos) {
        let (first, opened) = (self.scheduled, self.opened);
        self.schedule_due(book, now);
        let (Some(rule), Some((_, opened))) = (self.rule, opened) else { return };
        for number in first..self.scheduled {
            let intended =
                rule.intended(self.base, number).filter(|intended| number > 0 && *intended >= opened);
            if let Some(intended) = intended {
                book.message_noticed(intended, now);
            }
        }
    }

    /// Messages that are due by `now` enter the book.
    pub(super) fn schedule_due(&mut self, book: &mut Book, now: Nanos) {
        let Some(rule) = self.rule else { return };
        while self.scheduled < rule.messages
            && let Some(intended) = rule.intended(self.base, self.scheduled)
            && intended <= now
            && (intended < book.end() || self.scheduled == 0)
        {
            self.schedule(book, intended, now);
        }
    }

    fn schedule(&mut self, book: &mut Book, intended: Nanos, now: Nanos) {
        let is_measured = book.message_scheduled(intended, now);
        self.open[usize::from(is_measured)] += 1;
        self.scheduled += 1;
    }

    fn has_room(&self, rule: &StreamRule) -> bool {
        !rule.is_answered() || self.sent - self.gone.min(self.sent) < rule.in_flight
    }

    /// When the next message was intended, if it may be sent at `now`.
    pub(super) fn next(&self, now: Nanos) -> Option<Nanos> {
        let rule = self.rule?;
        let (_, opened) = self.opened?;
        if self.is_held || self.has_ended || self.sent >= rule.messages || !self.has_room(&rule) {
            return None;
        }
        if let Some(intended) = rule.intended(self.base, self.sent) {
            return (self.sent < self.scheduled).then_some(intended);
        }
        let is_over = rule.lasts.is_some_and(|lasts| now >= opened + lasts);
        let intended = match rule.is_answered() {
            true if self.sent >= rule.in_flight => self.freed,
            true => self.base,
            false => now,
        };
        (!is_over || self.sent < self.scheduled).then_some(intended)
    }

    /// Whether the stream is to be closed on this side now, because its time is over.
    pub(super) fn is_over(&self, now: Nanos) -> bool {
        let lasts = self.rule.and_then(|rule| rule.lasts);
        let until = self.opened.zip(lasts).map(|((_, opened), lasts)| opened + lasts);
        !self.is_held && !self.has_ended && until.is_some_and(|until| now >= until)
    }

    /// The stream is closed on this side.
    pub(super) const fn end(&mut self, now: Nanos) {
        self.has_ended = true;
        self.progress = now;
    }

    /// When something is next due that no event announces.
    pub(super) fn next_moment(&self) -> Option<Nanos> {
        let rule = self.rule.filter(|_| !self.has_ended)?;
        let (_, opened) = self.opened?;
        let message = rule.gap_ns.filter(|_| self.scheduled < rule.messages);
        let message = message.and_then(|_| rule.intended(self.base, self.scheduled));
        message.or(rule.lasts.map(|lasts| opened + lasts))
    }

    /// The stream was opened with its first message.
    pub(super) fn opened(&mut self, book: &mut Book, stream: u32, is_held: bool, now: Nanos) {
        self.opened = Some((stream, now));
        let intended = self.rule.and_then(|rule| rule.intended(self.base, self.sent));
        self.put(book, intended.unwrap_or(self.freed), is_held, now);
    }

    /// The next message, which was intended then, was put on the stream; some of it is held where `is_held`.
    pub(super) fn put(&mut self, book: &mut Book, intended: Nanos, is_held: bool, now: Nanos) {
        if self.sent >= self.scheduled {
            self.schedule(book, intended, now);
        }
        self.has_ended = self.ends_with_next();
        // One that is sent once more, because the peer has not processed the stream, is pending or was handed over already.
        if self.sent >= self.begun {
            let is_measured = intended >= book.measure_start();
            if intended < self.full_until {
                book.message_queued(is_measured);
            }
            self.pending.push_back(Pending { intended, stamp: now, is_measured, is_written: false });
            self.begun += 1;
        }
        self.sent += 1;
        (self.is_held, self.progress) = (is_held, now);
    }

    /// Whether a part of the last message waits for a window.
    pub(super) const fn is_held(&self) -> bool {
        self.is_held
    }

    /// The rest of a message that was held is written.
    pub(super) const fn released(&mut self, now: Nanos) {
        (self.is_held, self.progress) = (false, now);
    }

    /// The next message was handed to the system in full.
    pub(super) fn handed_over(&mut self, book: &mut Book, now: Nanos) {
        let Some(place) = self.written.checked_sub(self.gone) else {
            self.written += 1;
            return;
        };
        self.written += 1;
        self.progress = now;
        let Some(pending) = self.pending.get_mut(place as usize) else { return };
        if !pending.is_written {
            book.message_written(pending.intended, now);
        }
        (pending.stamp, pending.is_written) = (now, true);
        if !self.rule.is_some_and(|rule| rule.is_answered()) {
            self.pending.pop_front();
            self.gone += 1;
        }
    }

    /// A message came. Returns whether there may be room for another.
    #[inline]
    pub(super) fn heard(&mut self, book: &mut Book, now: Nanos) -> bool {
        let Some(rule) = self.rule else { return false };
        let answered = self.pending.front().copied().filter(|_| rule.is_answered());
        let is_unasked = rule.is_answered() && answered.is_none();
        book.message_received(self.base, self.last_received, is_unasked, now);
        self.received += 1;
        (self.last_received, self.progress) = (Some(now), now);
        let Some(Pending { intended, stamp, is_measured, .. }) = answered else { return false };
        if !self.has_room(&rule) {
            self.full_until = now;
        }
        self.freed = now;
        self.pending.pop_front();
        self.gone += 1;
        self.open[usize::from(is_measured)] -= 1;
        book.message_answered(intended, stamp, is_measured, now);
        !self.has_ended
    }

    /// Since when the peer owes something: the answer to a message, or the end of the stream. Absent where nothing is due from
    /// it.
    pub(super) fn waits_since(&self) -> Option<Nanos> {
        self.pending.front().map(|pending| pending.stamp).or(self.has_ended.then_some(self.progress))
    }

    /// Whether the outbox knows of messages that are not handed over.
    pub(super) const fn has_unsent(&self) -> bool {
        self.rule.is_some() && self.written < self.sent
    }

    /// The peer has not processed the stream, which begins again with what is unanswered.
    pub(super) fn restart(&mut self) {
        self.opened = None;
        // A stream begins with a message, so the last goes out again where a peer has answered all of what it says it has not
        // processed.
        let answered = self.rule.filter(|rule| rule.is_answered());
        let begin = answered.map_or(0, |rule| self.gone.min(rule.messages - 1));
        (self.sent, self.written, self.received) = (begin, begin, 0);
        (self.is_held, self.has_ended, self.last_received) = (false, false, None);
    }

    /// The stream has ended so at `now`: settles what is left, and what was due and not sent.
    pub(super) fn settle(&mut self, book: &mut Book, end: MessageEnd, now: Nanos) {
        let Some(rule) = self.rule else { return };
        self.schedule_due(book, now);
        if end == MessageEnd::Completed {
            self.complete(book, &rule);
        }
        let end = match end {
            MessageEnd::Completed if rule.is_answered() => MessageEnd::Unanswered,
            end => end,
        };
        for (is_measured, count) in [false, true].into_iter().zip(std::mem::take(&mut self.open)) {
            if count > 0 {
                book.messages_ended(is_measured, count, end);
            }
        }
        self.rule = None;
    }

    /// The stream was completed: what was due and never sent has no part in it.
    fn complete(&mut self, book: &mut Book, rule: &StreamRule) {
        for unsent in self.sent..self.scheduled {
            let intended = rule.intended(self.base, unsent).unwrap_or(self.base);
            let is_measured = intended >= book.measure_start();
            self.open[usize::from(is_measured)] -= 1;
            book.messages_ended(is_measured, 1, MessageEnd::Unanswered);
        }
        let messages = match rule.streaming {
            schema::plan::Streaming::Client => self.sent,
            schema::plan::Streaming::Server | schema::plan::Streaming::Both => self.received,
        };
        book.stream_had(self.base, messages);
    }
}
