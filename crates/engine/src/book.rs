//! The worker's book: accounts, histograms and the trial's grid of intervals.
//!
//! Every change of a request's fate goes through here, so the accounts balance by construction and the balance is
//! asserted at the end. No allocation per request; at an interval's end the buffers are swapped.

mod ledger;
mod messages;

use crate::control::{Control, Timeline};
use crate::core::InFlight;
use crate::driver::Handshake;
use crate::failure::Failure;
use crate::fate::Fate;
use crate::hand_over::HandOver;
use crate::interval::{Account, EntryData, Notable, Page, STALL_MIN_NS, StreamCounts, Waited};
use crate::rows::{Noted, RowSink};
use crate::tally::{Store, Tally};
use ledger::Ledger;
pub(crate) use ledger::MessageEnd;
use pace::Share;
use request::FailureLog;
use rustix::time::{ClockId, clock_gettime};
use schema::load::{ErrorClass, Time};
use std::sync::Arc;
use units::{Nanos, Tracing};

/// Not yet known.
const NEVER: Nanos = Nanos(u64::MAX);

/// How a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SessionEnd {
    Completed,
    Failed,
    Censored,
}

/// One worker's record of a trial.
pub(crate) struct Book {
    current: Box<Page>,
    hand_over: HandOver<Page>,
    control: Arc<Control>,
    timeline: Timeline,
    /// End of the current interval.
    boundary: Nanos,
    measure_start: Nanos,
    /// No request is intended from here on.
    end: Nanos,
    warm: Account,
    measured: Account,
    /// Messages on streams.
    messages: Ledger,
    /// Scheduled and not ended.
    in_system: u64,
    /// Written and not ended.
    in_flight: u64,
    /// Since when requests are in flight and none has ended; of no meaning without any.
    silent_since: Nanos,
    /// Up to when the integral of `in_system` is complete.
    integrated_to: Nanos,
    cpu_at_start_ns: u64,
    spin_ns: u64,
    nice: i32,
    last_outcome: Nanos,
    missed_start: bool,
    /// Whether the stamps of what was sent are kept.
    keeps_sent: bool,
    /// Named requests that have results of their own; 0 for a scenario of one.
    entries: usize,
    /// Where one row a request goes, if somebody wants them.
    rows: Option<RowSink>,
    /// By which the worker's requests are numbered over all workers.
    share: Share,
    /// Which requests are sampled, where they have traces.
    tracing: Option<Tracing>,
}

/// The sums of a worker that has ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Closing {
    /// The samples were announced too late for this worker: its accounts mix warm-up and samples.
    pub(crate) missed_start: bool,
}

impl Book {
    pub(crate) fn new(
        hand_over: HandOver<Page>,
        control: Arc<Control>,
        timeline: Timeline,
        keeps_sent: bool,
        entries: usize,
    ) -> Self {
        let mut current: Box<Page> = Box::default();
        current.with_entries(entries);
        Self {
            keeps_sent,
            entries,
            current,
            hand_over,
            control,
            timeline,
            boundary: Nanos(timeline.interval_ns),
            measure_start: NEVER,
            end: NEVER,
            warm: Account::default(),
            measured: Account::default(),
            messages: Ledger::default(),
            in_system: 0,
            in_flight: 0,
            silent_since: Nanos::ZERO,
            integrated_to: Nanos::ZERO,
            cpu_at_start_ns: 0,
            spin_ns: 0,
            nice: 0,
            last_outcome: Nanos::ZERO,
            missed_start: false,
            rows: None,
            share: Share::WHOLE,
            tracing: None,
        }
    }

    /// As the book of one of several workers, whose requests have these traces.
    pub(crate) fn of_worker(self, share: Share, tracing: Option<Tracing>) -> Self {
        Self { share, tracing, ..self }
    }

    /// With one row for each request that ends, where `rows` is there to take it.
    pub(crate) fn with_rows(self, rows: Option<RowSink>) -> Self {
        Self { rows, ..self }
    }

    /// The trial's time begins now.
    pub(crate) fn start(&mut self) {
        if self.keeps_sent {
            self.current.sent.reserve();
        }
        self.current.stalls.reserve();
        self.current.notables.reserve();
        self.cpu_at_start_ns = thread_cpu_ns();
        self.read_plan(0);
    }

    pub(crate) const fn boundary(&self) -> Nanos {
        self.boundary
    }

    pub(crate) const fn end(&self) -> Nanos {
        self.end
    }

    /// Where the samples begin, as far as is known: a request intended earlier belongs to warm-up.
    #[inline]
    pub(crate) const fn measure_start(&self) -> Nanos {
        self.measure_start
    }

    pub(crate) const fn in_system(&self) -> u64 {
        self.in_system
    }

    pub(crate) const fn drain_end(&self) -> Nanos {
        Nanos(self.end.0.saturating_add(self.timeline.drain_ns))
    }

    /// Ends the load at `now` without a drain.
    pub(crate) fn cut(&mut self, now: Nanos) {
        // What was integrated stays: the clock may have been looked at since.
        self.end = self.end.min(now.max(self.integrated_to));
        self.timeline.drain_ns = 0;
    }

    /// Ends the load after its last outcome, where a request budget and not the clock ends it.
    pub(crate) fn end_with_budget(&mut self) {
        self.end = self.end.min(self.last_outcome);
    }

    /// A request with this intended time exists from now on.
    #[inline]
    pub(crate) fn schedule(&mut self, intended: Nanos, entry: u16, now: Nanos) {
        self.advance(now);
        // The pacer may notice an arrival late; the request was in the system since it was intended.
        self.current.counts.in_system_ns += self.integrated_to.since(intended).0;
        self.in_system += 1;
        self.enter(intended, entry, |account| account.scheduled += 1);
    }

    /// A request was handed to the system in full at `now`.
    /// `arrival` is its intended time where a schedule set that.
    #[inline]
    pub(crate) fn written(&mut self, arrival: Option<Nanos>, now: Nanos) {
        if self.in_flight == 0 {
            self.silent_since = now;
        }
        self.in_flight += 1;
        if let (true, Some(arrival)) = (self.keeps_sent, arrival) {
            self.current.sent.note(arrival.0, now.0);
        }
    }

    #[inline]
    pub(crate) fn bytes_written(&mut self, bytes: usize) {
        self.current.counts.written_bytes += bytes as u64;
    }

    #[inline]
    pub(crate) fn bytes_read(&mut self, bytes: usize) {
        self.current.counts.read_bytes += bytes as u64;
    }

    /// An answer with this status came at `now` for a request with this intended time.
    #[inline]
    pub(crate) fn status(&mut self, status: u16, request: &InFlight, now: Nanos) {
        self.advance(now);
        if self.belongs_here(request.intended) {
            self.current.count_status(status);
            if let Some(entry) = self.current.entries.get_mut(usize::from(request.which.entry)) {
                *entry.status.entry(status).or_insert(0) += 1;
            }
        }
        if let Some(token) = request.token {
            let answers = self.current.tokens.entry((token.maker, token.kind)).or_default();
            *answers.entry(status).or_insert(0) += 1;
        }
    }

    /// A redirect of a request with this intended time was followed at `now`.
    pub(crate) fn redirected(&mut self, status: u16, intended: Nanos, now: Nanos) {
        self.advance(now);
        if self.belongs_here(intended) {
            self.current.counts.redirects.count(status);
        }
    }

    /// A request that was put on a connection was not processed there and is put back; `was_written` says whether it had been
    /// handed to the system in full. It stays in the system.
    pub(crate) fn requeued(&mut self, was_written: bool, now: Nanos) {
        self.advance(now);
        self.in_flight -= u64::from(was_written);
        self.current.counts.streams.requeued += 1;
    }

    /// A connection with streams has ended.
    pub(crate) fn streams_ended(&mut self, counts: &StreamCounts) {
        self.current.counts.streams.add(counts);
    }

    pub(crate) fn connected(&mut self, took: Nanos) {
        self.current.counts.connects += 1;
        self.current.times[Time::Connect].note(took.0, 1);
    }

    /// A name was resolved in this time.
    pub(crate) fn named(&mut self, took: Nanos) {
        self.current.times[Time::Name].note(took.0, 1);
    }

    /// A TLS handshake ended well; its connection is counted by [`Book::connected`].
    pub(crate) fn secured(&mut self, handshake: Handshake) {
        let count = match handshake.resumed {
            true => &mut self.current.counts.tls_resumed,
            false => &mut self.current.counts.tls_full,
        };
        *count += 1;
        self.current.times[Time::Tls].note(handshake.took.0, 1);
    }

    /// The worker could have run for this long and others had its CPU.
    pub(crate) const fn put_off(&mut self, time: Nanos) {
        self.current.counts.put_off_ns += time.0;
    }

    /// The priority that the worker's thread has.
    pub(crate) const fn runs_at(&mut self, nice: i32) {
        self.nice = nice;
    }

    pub(crate) const fn spun(&mut self, time: Nanos) {
        self.spin_ns += time.0;
    }

    /// A right answer came at `done`.
    #[inline]
    pub(crate) fn complete(&mut self, request: &InFlight, done: Nanos) {
        self.leave(request.intended, done);
        self.in_flight -= 1;
        self.current.counts.answers += 1;
        self.enter(request.intended, request.which.entry, |account| account.completed += 1);
        let belongs_here = self.belongs_here(request.intended);
        if belongs_here {
            self.current.times.note(request, done);
            if self.current.notables.wants(done.since(request.intended), self.tracing) {
                self.note_slow(&Fate::of(request), done);
            }
        }
        if let Some(entry) = self.current.entries.get_mut(usize::from(request.which.entry)) {
            entry.answers += 1;
            if belongs_here {
                entry.response.note(done.since(request.intended).0, 1);
                entry.service.note(done.since(request.written).0, 1);
            }
        }
        self.note_row(request.intended, |rows, is_measured| rows.completed(request, done, is_measured));
    }

    /// A right answer came at `done` that may be among the slowest.
    #[cold]
    fn note_slow(&mut self, fate: &Fate, done: Nanos) {
        let notable = Notable::of(self.share.number(fate.n), fate, None, done);
        self.current.notables.completed(notable, self.tracing);
    }

    /// What a completed request that was intended then waited, by cause; of connections with streams.
    #[inline]
    pub(crate) fn waited(&mut self, intended: Nanos, waited: Waited) {
        if self.belongs_here(intended) {
            self.current.times.note_waits(waited);
        }
    }

    /// Notes the row of a request that has just ended, where rows are wanted.
    #[inline]
    fn note_row(&mut self, intended: Nanos, note: impl FnOnce(&mut RowSink, bool) -> Noted) {
        let Some(rows) = &mut self.rows else { return };
        match note(rows, intended >= self.measure_start) {
            Noted::NotDrawn => {}
            Noted::Kept => self.current.counts.rows += 1,
            Noted::Dropped => self.current.counts.rows_dropped += 1,
        }
    }

    /// A complete answer that was not right came at `done`.
    pub(crate) fn answered_wrongly(&mut self, request: &InFlight, done: Nanos) {
        self.advance(done);
        if self.belongs_here(request.intended) {
            self.current.wrong.note(done.since(request.written).0, 1);
        }
    }

    /// The results of a named request in the present interval, where it has its own and belongs there.
    #[inline]
    fn entry_of(&mut self, intended: Nanos, entry: u16) -> Option<&mut EntryData<Tally>> {
        if self.entries == 0 || !self.belongs_here(intended) {
            return None;
        }
        self.current.entries.get_mut(usize::from(entry))
    }

    /// A session began that was intended then.
    pub(crate) fn session_begun(&mut self, intended: Nanos) {
        if intended >= self.measure_start {
            self.current.sessions.account.started += 1;
        }
    }

    /// A session that was intended at `intended` ended at `now`.
    pub(crate) fn session_ended(&mut self, intended: Nanos, end: SessionEnd, now: Nanos) {
        if intended < self.measure_start {
            return;
        }
        let sessions = &mut self.current.sessions;
        match end {
            SessionEnd::Completed => {
                sessions.account.completed += 1;
                sessions.time.note(now.since(intended).0, 1);
            }
            SessionEnd::Failed => sessions.account.failed += 1,
            SessionEnd::Censored => sessions.account.censored += 1,
        }
    }

    /// Keeps an answer that failed a check while few are kept.
    pub(crate) const fn failed_answers(&mut self) -> &mut FailureLog {
        &mut self.current.failed_answers
    }

    /// A request failed at `now`; `was_written` tells whether it had been handed to the system in full.
    pub(crate) fn fail(&mut self, fate: Fate, failure: Failure, now: Nanos) {
        self.fail_with(fate, failure.class, || failure.text(), now);
    }

    /// As [`Book::fail`], with a text that is made only if it is kept.
    pub(crate) fn fail_with(
        &mut self,
        fate: Fate,
        class: ErrorClass,
        text: impl FnOnce() -> String,
        now: Nanos,
    ) {
        self.leave(fate.intended, now);
        self.in_flight -= u64::from(fate.was_written);
        self.enter(fate.intended, fate.entry, |account| account.failed[class.index()] += 1);
        if let Some(entry) = self.current.entries.get_mut(usize::from(fate.entry)) {
            entry.failures += 1;
        }
        if self.belongs_here(fate.intended) {
            let notable = Notable::of(self.share.number(fate.n), &fate, Some(class), now);
            self.current.notables.failed(notable, self.tracing);
        }
        self.current.note_text(class, text);
        self.note_row(fate.intended, |rows, is_measured| rows.failed(&fate, class, now, is_measured));
    }

    /// A request is still unsent or in flight at the end.
    pub(crate) fn censor(&mut self, fate: Fate) {
        self.in_system -= 1;
        self.in_flight -= u64::from(fate.was_written);
        self.current.counts.residence_ns += self.integrated_to.since(fate.intended).0;
        self.enter(fate.intended, fate.entry, |account| account.censored += 1);
        self.note_row(fate.intended, |rows, is_measured| rows.censored(&fate, is_measured));
    }

    /// Closes all intervals that end at or before `now`.
    pub(crate) fn roll(&mut self, now: Nanos) {
        while now >= self.boundary {
            let boundary = self.boundary;
            self.close_interval(boundary);
            let index = self.current.counts.index + 1;
            self.read_plan(index);
            let (keeps_sent, entries) = (self.keeps_sent, self.entries);
            self.hand_over.swap(&mut self.current, |next| {
                next.begin(index, boundary.0);
                next.with_entries(entries);
                next.stalls.reserve();
                next.notables.reserve();
                if keeps_sent {
                    next.sent.reserve();
                }
            });
            // The drain is one interval, however long it takes.
            self.boundary =
                if boundary >= self.end { NEVER } else { Nanos((index + 1) * self.timeline.interval_ns) };
        }
    }

    /// Closes the last interval and checks that nothing is lost.
    ///
    /// # Panics
    /// If an account does not balance: a defect of the engine, never of the target.
    pub(crate) fn finish(mut self, now: Nanos) -> Closing {
        let last = if self.boundary == NEVER { now } else { now.min(self.end) };
        self.close_interval(last.max(Nanos(self.current.counts.start_ns)));
        for (name, account) in [("warm-up", &self.warm), ("measured", &self.measured)] {
            assert!(account.balances(), "{name}: scheduled ≠ completed + failed + censored: {account:?}");
        }
        self.messages.finish();
        assert_eq!((self.in_system, self.in_flight), (0, 0), "requests left in the book");
        let closing = Closing { missed_start: self.missed_start };
        self.hand_over.give_last(self.current);
        closing
    }

    /// Whether a request with this intended time may stand in the present interval's histograms and status counts:
    /// what warm-up left behind is counted in its own account and kept out of those of the samples.
    #[inline]
    fn belongs_here(&self, intended: Nanos) -> bool {
        intended >= self.measure_start || Nanos(self.current.counts.start_ns) < self.measure_start
    }

    /// Writes into the account of a request with this intended time, in the interval and in the total.
    #[inline]
    fn enter(&mut self, intended: Nanos, entry: u16, write: impl Fn(&mut Account)) {
        if let Some(entry) = self.entry_of(intended, entry) {
            write(&mut entry.account);
        }
        let counts = &mut self.current.counts;
        let (total, interval) = if intended >= self.measure_start {
            (&mut self.measured, &mut counts.measured)
        } else {
            (&mut self.warm, &mut counts.warm)
        };
        write(total);
        write(interval);
    }

    #[inline]
    fn leave(&mut self, intended: Nanos, now: Nanos) {
        self.advance(now);
        self.in_system -= 1;
        let counts = &mut self.current.counts;
        let left = now.min(self.end);
        counts.residence_ns += left.since(intended).0;
        // One that left before another was looked at last has been integrated too far.
        counts.in_system_ns = counts.in_system_ns.saturating_sub(self.integrated_to.since(left).0);
        self.last_outcome = now;
        self.break_silence(now);
    }

    /// Something ended at `now`, or the interval does: notes the stall before it, where it was one.
    #[inline]
    fn break_silence(&mut self, now: Nanos) {
        if self.in_flight > 0 && now.since(self.silent_since).0 >= STALL_MIN_NS {
            self.current.stalls.note(self.silent_since, now, self.in_flight);
        }
        self.silent_since = now;
    }

    /// Brings the book to `now` before anything is written into it, so that nothing lands in an interval that has
    /// ended: a request intended within the samples must not be counted in warm-up.
    #[inline]
    fn advance(&mut self, now: Nanos) {
        if now >= self.boundary {
            self.roll(now);
        }
        self.integrate(now);
    }

    /// Brings the integral of `in_system` up to `now`, not beyond the end of load.
    #[inline]
    fn integrate(&mut self, now: Nanos) {
        let to = now.min(self.end);
        if to > self.integrated_to {
            self.current.counts.in_system_ns += self.in_system * (to.0 - self.integrated_to.0);
            self.integrated_to = to;
        }
    }

    fn close_interval(&mut self, at: Nanos) {
        self.integrate(at);
        self.break_silence(at);
        self.current.stalls.close();
        self.current.sent.close();
        self.current.times.settle();
        let cpu_ns = thread_cpu_ns();
        let counts = &mut self.current.counts;
        counts.end_ns = at.0;
        counts.nice = self.nice;
        counts.in_flight = self.in_flight;
        counts.backlog = self.in_system - self.in_flight;
        counts.cpu_ns = cpu_ns.saturating_sub(self.cpu_at_start_ns);
        let length_ns = at.0.saturating_sub(counts.start_ns);
        let work_ns = counts.cpu_ns.saturating_sub(self.spin_ns);
        counts.busy_share = if length_ns > 0 { (work_ns as f64 / length_ns as f64).min(1.0) } else { 0.0 };
        self.cpu_at_start_ns = cpu_ns;
        self.spin_ns = 0;
    }

    /// Learns where the samples begin, once that is decided; called as interval `index` begins.
    fn read_plan(&mut self, index: u64) {
        if self.measure_start != NEVER {
            return;
        }
        if let Some(start) = self.control.samples_seen_from(index) {
            self.missed_start = start.is_missed;
            self.measure_start = Nanos(start.from * self.timeline.interval_ns);
            let intervals = start.from.saturating_add(self.timeline.measured_intervals);
            self.end = self.end.min(Nanos(intervals.saturating_mul(self.timeline.interval_ns)));
        }
    }
}

fn thread_cpu_ns() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_nsec.cast_unsigned()
}
