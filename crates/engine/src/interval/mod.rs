//! What a worker writes down: counters and histograms of one interval, handed over whole.
//!
//! Every request belongs to one account, by its intended time: `measured` if that lies in the samples, else `warm`.
//! Each account balances on its own at the end, so what warm-up left behind can never leak into a result.

mod account;
mod counts;
mod messages;
mod notable;
mod sent;
mod stalls;
mod streams;
mod times;
mod waited;

use crate::lazy_histogram::LazyHistogram;
use crate::tally::{AddTo, Store, Tally};
pub(crate) use account::SessionAccount;
pub use account::{Account, ByClass};
pub use counts::Counts;
pub use messages::{MessageAccount, MessageCounts, MessageTimes};
pub use notable::{Notable, Notables};
use request::FailureLog;
use schema::load::{ErrorClass, TokenKind};
pub use sent::Sent;
pub(crate) use stalls::STALL_MIN_NS;
pub use stalls::{Stall, Stalls};
use std::collections::BTreeMap;
pub use streams::StreamCounts;
pub use times::Times;
pub(crate) use waited::{Lack, Waited};

/// Status codes are counted below this; the parser lets no more than three digits through.
const STATUS_MAX: usize = 1000;
/// Distinct texts kept for each error class.
const EXAMPLES_MAX: usize = 3;

/// What became of one named request of a scenario, of the interval's own account as the histograms of [`Times`]: in an
/// interval of the samples, requests intended within them.
#[derive(Clone, Debug)]
pub struct EntryData<H = LazyHistogram> {
    /// Where they ended.
    pub account: Account,
    /// Right answers that arrived, of either account: the sum over all entries is [`Counts::answers`].
    pub answers: u64,
    /// Failures, likewise of either account.
    pub failures: u64,
    /// Answers by status code.
    pub status: BTreeMap<u16, u64>,
    /// Done − intended.
    pub response: H,
    /// Done − written.
    pub service: H,
}

impl<H: Store> Default for EntryData<H> {
    fn default() -> Self {
        Self {
            account: Account::default(),
            answers: 0,
            failures: 0,
            status: BTreeMap::new(),
            response: H::empty(),
            service: H::empty(),
        }
    }
}

impl<H: Store> EntryData<H> {
    fn clear(&mut self) {
        self.account = Account::default();
        (self.answers, self.failures) = (0, 0);
        self.status.values_mut().for_each(|count| *count = 0);
        [&mut self.response, &mut self.service].into_iter().for_each(Store::clear);
    }

    fn merge<P: AddTo<H>>(&mut self, other: &EntryData<P>) {
        self.account.add(&other.account);
        self.answers += other.answers;
        self.failures += other.failures;
        for (status, count) in other.status.iter().filter(|(_, count)| **count > 0) {
            *self.status.entry(*status).or_insert(0) += count;
        }
        other.response.add_to(&mut self.response);
        other.service.add_to(&mut self.service);
    }
}

/// Sessions of virtual users that began within the samples.
#[derive(Clone, Debug)]
pub struct SessionData<H = LazyHistogram> {
    /// Where they ended.
    pub account: SessionAccount,
    /// Intended begin to the end of the last step.
    pub time: H,
}

impl<H: Store> Default for SessionData<H> {
    fn default() -> Self {
        Self { account: SessionAccount::default(), time: H::empty() }
    }
}

/// Answers by name of a token's maker and kind, then by status code.
pub type TokenAnswers = BTreeMap<(u8, TokenKind), BTreeMap<u16, u64>>;

/// One interval of all workers.
pub type IntervalData = Interval<LazyHistogram>;

/// One interval as one worker writes it.
pub(crate) type Page = Interval<Tally>;

/// One interval of a load.
#[derive(Clone, Debug)]
pub struct Interval<H> {
    /// Plain counters.
    pub counts: Counts,
    /// Answers by status code, of the interval's own account.
    pub(crate) status: Box<[u64; STATUS_MAX]>,
    /// Times of the requests that ended in this interval.
    pub times: Times<H>,
    /// Times of messages on streams.
    pub messages: MessageTimes<H>,
    /// What was really sent; open loop only.
    pub sent: Sent,
    /// When nothing ended though requests were in flight.
    pub stalls: Stalls,
    /// The slowest requests and the first failures, by their numbers.
    pub notables: Notables,
    /// Texts of failures, a few for each class.
    pub examples: BTreeMap<ErrorClass, Vec<String>>,
    /// By named request, in the scenario's order; empty for a scenario of one.
    pub entries: Vec<EntryData<H>>,
    /// Done − written of complete answers that were not right, whose times are in no other place.
    pub wrong: H,
    /// Sessions; only counted where the scenario has them.
    pub sessions: SessionData<H>,
    /// Answers to tokens.
    pub tokens: TokenAnswers,
    /// The first answers that failed a check.
    pub failed_answers: FailureLog,
}

impl<H: Store> Default for Interval<H> {
    fn default() -> Self {
        Self {
            counts: Counts::default(),
            status: Box::new([0; STATUS_MAX]),
            times: Times::default(),
            messages: MessageTimes::default(),
            sent: Sent { complete_to_ns: u64::MAX, ..Sent::default() },
            stalls: Stalls::default(),
            notables: Notables::default(),
            examples: BTreeMap::new(),
            entries: Vec::new(),
            wrong: H::empty(),
            sessions: SessionData::default(),
            tokens: TokenAnswers::new(),
            failed_answers: FailureLog::default(),
        }
    }
}

impl<H: Store> Interval<H> {
    /// Answers by status code, without the zeros.
    #[must_use]
    pub fn status_counts(&self) -> BTreeMap<u16, u64> {
        (0_u16..).zip(self.status.iter()).filter(|(_, n)| **n > 0).map(|(code, n)| (code, *n)).collect()
    }

    /// Empties it for the interval `index` that begins at `start_ns`, keeping its memory.
    pub(crate) fn begin(&mut self, index: u64, start_ns: u64) {
        self.counts = Counts { index, start_ns, ..Counts::default() };
        self.status.fill(0);
        self.times.clear();
        self.messages.clear();
        self.sent.clear();
        self.stalls.clear();
        self.notables.clear();
        self.examples.clear();
        self.entries.iter_mut().for_each(EntryData::clear);
        self.sessions.account = SessionAccount::default();
        self.sessions.time.clear();
        self.wrong.clear();
        self.tokens.clear();
        self.failed_answers = FailureLog::default();
    }

    /// Room for the results of this many named requests.
    pub(crate) fn with_entries(&mut self, count: usize) {
        self.entries.resize_with(count, EntryData::<H>::default);
    }

    #[inline]
    pub(crate) fn count_status(&mut self, status: u16) {
        if let Some(count) = self.status.get_mut(usize::from(status)) {
            *count += 1;
        }
    }

    /// Keeps a text of a failure of this class while it has few.
    pub(crate) fn note_text(&mut self, class: ErrorClass, text: impl FnOnce() -> String) {
        let texts = self.examples.entry(class).or_default();
        if texts.len() < EXAMPLES_MAX {
            let text = text();
            if !texts.contains(&text) {
                texts.push(text);
            }
        }
    }

    /// Adds another worker's part of the same interval, or another interval to a sum.
    pub fn merge<P: AddTo<H>>(&mut self, other: &Interval<P>) {
        self.sent.merge(&other.sent);
        self.stalls.merge(&other.stalls);
        self.notables.merge(&other.notables);
        self.counts.merge(&other.counts);
        self.status.iter_mut().zip(other.status.iter()).for_each(|(sum, n)| *sum += n);
        self.times.add(&other.times);
        self.messages.add(&other.messages);
        for (class, texts) in &other.examples {
            let mine = self.examples.entry(*class).or_default();
            let room = EXAMPLES_MAX.saturating_sub(mine.len());
            let new: Vec<_> = texts.iter().filter(|text| !mine.contains(text)).take(room).cloned().collect();
            mine.extend(new);
        }
        if self.entries.len() < other.entries.len() {
            self.with_entries(other.entries.len());
        }
        for (mine, part) in self.entries.iter_mut().zip(&other.entries) {
            mine.merge(part);
        }
        self.sessions.account.add(&other.sessions.account);
        other.sessions.time.add_to(&mut self.sessions.time);
        other.wrong.add_to(&mut self.wrong);
        for (kind, status) in &other.tokens {
            let mine = self.tokens.entry(*kind).or_default();
            status.iter().for_each(|(status, count)| *mine.entry(*status).or_insert(0) += count);
        }
        self.failed_answers.merge(other.failed_answers.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::load::Time;

    #[test]
    fn merging_adds_counts_and_histograms_in_any_order() {
        let part = |value: u64, class: ErrorClass| {
            let mut data = IntervalData::default();
            data.counts.measured = Account { scheduled: 2, completed: 1, ..Account::default() };
            data.counts.measured.failed[class.index()] += 1;
            data.times[Time::Response].record(value).unwrap();
            data.count_status(200);
            data.note_text(class, || class.key().to_owned());
            data
        };
        let (a, b) = (part(5, ErrorClass::Reset), part(9_000_000, ErrorClass::Timeout));
        let merge = |parts: [&IntervalData; 2]| {
            let mut sum = IntervalData::default();
            parts.into_iter().for_each(|part| sum.merge(part));
            sum
        };
        let (ab, ba) = (merge([&a, &b]), merge([&b, &a]));
        assert_eq!(ab.counts, ba.counts);
        assert_eq!(ab.times[Time::Response], ba.times[Time::Response]);
        assert!(ab.counts.measured.balances());
        assert_eq!(ab.counts.measured.failed_total(), 2);
        assert_eq!(ab.status_counts(), BTreeMap::from([(200, 2)]));
        assert_eq!(ab.examples.len(), 2);
    }

    #[test]
    fn an_interval_used_again_is_empty() {
        let mut data = IntervalData::default();
        data.counts.answers = 3;
        data.count_status(404);
        data.times[Time::Connect].record(7).unwrap();
        data.note_text(ErrorClass::Io, || "io".to_owned());
        data.begin(4, 99);
        assert_eq!(data.counts, Counts { index: 4, start_ns: 99, ..Counts::default() });
        assert!(
            data.status_counts().is_empty()
                && data.times[Time::Connect].is_empty()
                && data.examples.is_empty()
        );
    }

    #[test]
    fn few_distinct_texts_are_kept() {
        let mut data = IntervalData::default();
        for status in [500, 500, 501, 502, 503] {
            data.note_text(ErrorClass::UnexpectedStatus, || format!("status {status}"));
        }
        assert_eq!(data.examples[&ErrorClass::UnexpectedStatus], ["status 500", "status 501", "status 502"]);
    }
}
