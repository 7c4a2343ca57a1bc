//! What a worker writes down: counters and histograms of one interval, handed over whole.
//!
//! Every request belongs to one account, by its intended time: `measured` if that lies in the samples, else `warm`.
//! Each account balances on its own at the end, so what warm-up left behind can never leak into a result.

use crate::redirects::Redirects;
use crate::slot::InFlight;
use crate::tally::{AddTo, Store, Tally};
use hdrhistogram::Histogram;
use request::FailureLog;
use schema::load::{ErrorClass, TokenKind};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use units::{Nanos, TIME_DIGITS, TIME_NS_MAX};

/// Status codes are counted below this; the parser lets no more than three digits through.
const STATUS_MAX: usize = 1000;
/// Distinct texts kept for each error class.
const EXAMPLES_MAX: usize = 3;

/// Where requests of one account ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct Account {
    /// Intended.
    pub scheduled: u64,
    /// Answered rightly.
    pub completed: u64,
    /// Failed, by [`ErrorClass::index`].
    pub failed: [u64; ErrorClass::ALL.len()],
    /// Unsent or in flight at the end.
    pub censored: u64,
}

impl Account {
    /// All failures.
    #[must_use]
    pub fn failed_total(&self) -> u64 {
        self.failed.iter().sum()
    }

    /// Whether every scheduled request has ended in exactly one way.
    #[must_use]
    pub fn balances(&self) -> bool {
        self.scheduled == self.completed + self.failed_total() + self.censored
    }

    /// Failures by class, without the zeros.
    #[must_use]
    pub fn failed_by_class(&self) -> BTreeMap<ErrorClass, u64> {
        ErrorClass::ALL
            .into_iter()
            .map(|class| (class, self.failed[class.index()]))
            .filter(|(_, n)| *n > 0)
            .collect()
    }

    /// Adds another account.
    pub fn add(&mut self, other: &Self) {
        self.scheduled += other.scheduled;
        self.completed += other.completed;
        self.censored += other.censored;
        self.failed.iter_mut().zip(&other.failed).for_each(|(sum, n)| *sum += n);
    }
}

/// The times of METHOD §1, in nanoseconds: histograms, or the tallies of a worker.
#[derive(Clone, Debug)]
pub struct Times<H = Histogram<u64>> {
    /// Done − intended.
    pub response: H,
    /// Done − written.
    pub service: H,
    /// Written − intended.
    pub send_lag: H,
    /// Dispatched − intended.
    pub pacer_lag: H,
    /// Name asked to answered, where names are resolved for each connection.
    pub name: H,
    /// Connection attempt to established.
    pub connect: H,
    /// Established to secured.
    pub tls: H,
    /// Connection ready to written.
    pub write: H,
    /// Written to first byte.
    pub first_byte: H,
    /// First byte to done.
    pub transfer: H,
    /// Response times of requests that were written when they were intended and answered in one piece: their service
    /// time and time to the first byte are the same, all lags are zero. Noted once on the hot path and added to
    /// the others by [`Times::settle`].
    plain: H,
}

impl Default for Times {
    fn default() -> Self {
        Self::from_fn(new_histogram)
    }
}

impl Default for Times<Tally> {
    fn default() -> Self {
        Self::from_fn(Tally::default)
    }
}

impl Times {
    /// The tags in `latency.hlog`, in the order of [`Times::tagged`].
    pub const TAGS: [&'static str; 10] = [
        "response",
        "service",
        "send_lag",
        "pacer_lag",
        "name",
        "connect",
        "tls",
        "write",
        "first_byte",
        "transfer",
    ];

    /// Each histogram with the tag it has in `latency.hlog`.
    #[must_use]
    pub fn tagged(&self) -> [(&'static str, &Histogram<u64>); 10] {
        let all = self.all();
        std::array::from_fn(|place| (Self::TAGS[place], all[place]))
    }
}

impl<H> Times<H> {
    fn from_fn(new: impl Fn() -> H) -> Self {
        Self {
            response: new(),
            service: new(),
            send_lag: new(),
            pacer_lag: new(),
            name: new(),
            connect: new(),
            tls: new(),
            write: new(),
            first_byte: new(),
            transfer: new(),
            plain: new(),
        }
    }

    /// All of them in the order of [`Times::TAGS`].
    fn all(&self) -> [&H; 10] {
        [
            &self.response,
            &self.service,
            &self.send_lag,
            &self.pacer_lag,
            &self.name,
            &self.connect,
            &self.tls,
            &self.write,
            &self.first_byte,
            &self.transfer,
        ]
    }

    /// The same in the same order.
    pub(crate) fn all_mut(&mut self) -> [&mut H; 10] {
        [
            &mut self.response,
            &mut self.service,
            &mut self.send_lag,
            &mut self.pacer_lag,
            &mut self.name,
            &mut self.connect,
            &mut self.tls,
            &mut self.write,
            &mut self.first_byte,
            &mut self.transfer,
        ]
    }
}

impl<H: Store> Times<H> {
    fn clear(&mut self) {
        self.all_mut().into_iter().for_each(Store::clear);
    }

    /// Adds the counts of `other`; the order of additions does not matter (METHOD §10).
    fn add<P: AddTo<H>>(&mut self, other: &Times<P>) {
        self.all_mut().into_iter().zip(other.all()).for_each(|(sum, part)| part.add_to(sum));
    }
}

impl Times<Tally> {
    /// The times of a request that was answered rightly at `done`. They are complete after [`Times::settle`].
    #[inline]
    pub(crate) fn note(&mut self, request: &InFlight, done: Nanos) {
        let InFlight { intended, dispatched, ready, written, first_byte, .. } = *request;
        let response = done.since(intended).0;
        if first_byte.is_none() && [dispatched, ready, written] == [intended; 3] {
            return self.plain.note(response, 1);
        }
        self.response.note(response, 1);
        self.service.note(done.since(written).0, 1);
        self.send_lag.note(written.since(intended).0, 1);
        self.pacer_lag.note(dispatched.since(intended).0, 1);
        self.write.note(written.since(ready).0, 1);
        let first_byte = first_byte.unwrap_or(done);
        self.first_byte.note(first_byte.since(written).0, 1);
        self.transfer.note(done.since(first_byte).0, 1);
    }

    /// Adds plain requests to every tally they belong to; once at the end of an interval.
    pub(crate) fn settle(&mut self) {
        let count = u32::try_from(self.plain.count()).unwrap_or(u32::MAX);
        if count == 0 {
            return;
        }
        for times in [&mut self.response, &mut self.service, &mut self.first_byte] {
            self.plain.add_to(times);
        }
        for lags in [&mut self.send_lag, &mut self.pacer_lag, &mut self.write, &mut self.transfer] {
            lags.note(0, count);
        }
        self.plain.clear();
    }
}

/// Stamps of what was really sent in an interval, for the goodness-of-fit gate: complete from its begin up to a point.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct Sent {
    /// (intended, written) in nanoseconds from the trial's origin, in order of writing; for several workers merged.
    pub stamps: Vec<(u64, u64)>,
    /// Requests written after this moment may lack.
    pub complete_to_ns: u64,
}

/// Stamps of one worker and interval.
const SENT_MAX: usize = 4096;

impl Sent {
    /// Notes a request unless there is no room; `now` is when it was written.
    #[inline]
    pub(crate) fn note(&mut self, intended_ns: u64, written_ns: u64) {
        if self.stamps.len() < SENT_MAX {
            self.stamps.push((intended_ns, written_ns));
        }
    }

    /// Memory for a whole interval.
    pub(crate) fn reserve(&mut self) {
        self.stamps.reserve_exact(SENT_MAX);
    }

    /// The interval has ended at `end_ns`.
    pub(crate) fn close(&mut self, end_ns: u64) {
        let is_full = self.stamps.len() == SENT_MAX;
        self.complete_to_ns = if is_full { self.stamps.last().map_or(end_ns, |last| last.1) } else { end_ns };
    }

    /// Adds another worker's stamps of the same interval; only what both have in full stays.
    fn merge(&mut self, other: &Self) {
        self.complete_to_ns = self.complete_to_ns.min(other.complete_to_ns);
        self.stamps.extend_from_slice(&other.stamps);
        self.stamps.retain(|(_, written_ns)| *written_ns <= self.complete_to_ns);
        self.stamps.sort_unstable_by_key(|(intended_ns, written_ns)| (*written_ns, *intended_ns));
    }

    fn clear(&mut self) {
        self.stamps.clear();
        self.complete_to_ns = u64::MAX;
    }
}

/// An empty histogram of METHOD §10: 3 significant digits, 1 ns to 1 h.
#[must_use]
pub fn new_histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, TIME_NS_MAX, TIME_DIGITS).expect("the bounds are valid")
}

/// What became of one named request of a scenario: requests intended within the samples.
#[derive(Clone, Debug)]
pub struct EntryData<H = Histogram<u64>> {
    /// Where they ended.
    pub account: Account,
    /// Answers by status code.
    pub status: BTreeMap<u16, u64>,
    /// Done − intended.
    pub response: H,
    /// Done − written.
    pub service: H,
}

impl Default for EntryData {
    fn default() -> Self {
        Self::from_fn(new_histogram)
    }
}

impl Default for EntryData<Tally> {
    fn default() -> Self {
        Self::from_fn(Tally::default)
    }
}

impl<H> EntryData<H> {
    fn from_fn(new: impl Fn() -> H) -> Self {
        Self { account: Account::default(), status: BTreeMap::new(), response: new(), service: new() }
    }
}

impl<H: Store> EntryData<H> {
    fn clear(&mut self) {
        self.account = Account::default();
        self.status.values_mut().for_each(|count| *count = 0);
        [&mut self.response, &mut self.service].into_iter().for_each(Store::clear);
    }

    fn merge<P: AddTo<H>>(&mut self, other: &EntryData<P>) {
        self.account.add(&other.account);
        for (status, count) in other.status.iter().filter(|(_, count)| **count > 0) {
            *self.status.entry(*status).or_insert(0) += count;
        }
        other.response.add_to(&mut self.response);
        other.service.add_to(&mut self.service);
    }
}

/// Sessions of virtual users that began within the samples.
#[derive(Clone, Debug)]
pub struct SessionData<H = Histogram<u64>> {
    /// Where they ended.
    pub account: SessionAccount,
    /// Intended begin to the end of the last step.
    pub time: H,
}

/// `started = completed + failed + censored`, once all have ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct SessionAccount {
    /// Begun.
    pub started: u64,
    /// All steps answered rightly.
    pub completed: u64,
    /// With a failed request.
    pub failed: u64,
    /// Under way at the end.
    pub censored: u64,
}

impl SessionAccount {
    /// Adds another account.
    pub fn add(&mut self, other: &Self) {
        self.started += other.started;
        self.completed += other.completed;
        self.failed += other.failed;
        self.censored += other.censored;
    }
}

impl Default for SessionData {
    fn default() -> Self {
        Self { account: SessionAccount::default(), time: new_histogram() }
    }
}

impl Default for SessionData<Tally> {
    fn default() -> Self {
        Self { account: SessionAccount::default(), time: Tally::default() }
    }
}

/// Answers by name of a token's maker and kind, then by status code.
pub type TokenAnswers = BTreeMap<(u8, TokenKind), BTreeMap<u16, u64>>;

/// One interval of all workers.
pub type IntervalData = Interval<Histogram<u64>>;

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
    /// What was really sent; open loop only.
    pub sent: Sent,
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

/// The plain counters of an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct Counts {
    /// Number on the trial's grid; the last one holds the drain.
    pub index: u64,
    /// Begin, from the trial's origin.
    pub start_ns: u64,
    /// End, from the trial's origin.
    pub end_ns: u64,
    /// Requests intended before the samples.
    pub warm: Account,
    /// Requests intended within the samples.
    pub measured: Account,
    /// Right answers that arrived in this interval, of either account.
    pub answers: u64,
    /// Redirects followed, of the interval's own account.
    #[serde(default)]
    pub redirects: Redirects,
    /// Bytes received.
    pub read_bytes: u64,
    /// Bytes sent.
    pub written_bytes: u64,
    /// Connections opened.
    pub connects: u64,
    /// TLS handshakes done in full.
    pub tls_full: u64,
    /// TLS handshakes that resumed an earlier session.
    pub tls_resumed: u64,
    /// Intended but not written at the end.
    pub backlog: u64,
    /// Written but not done at the end.
    pub in_flight: u64,
    /// Integral over the interval of the requests waiting or in flight, in request-nanoseconds.
    pub in_system_ns: u64,
    /// Time since their intended one of the requests that left in the interval, up to the end of load: summed from their
    /// own stamps, so that it can be held against the integral (METHOD §9).
    pub residence_ns: u64,
    /// CPU time of the workers.
    pub cpu_ns: u64,
    /// Time in which workers could have run and others had their CPU.
    pub put_off_ns: u64,
    /// Priority of the workers, from -20 to 19; the least favoured one's.
    pub nice: i32,
    /// The highest worker's share of the interval that was work, not waiting or spinning; 0 to 1.
    pub busy_share: f64,
    /// Rows of requests that were handed over, where somebody wants them.
    pub rows: u64,
    /// Those for which there was no room.
    pub rows_dropped: u64,
}

impl<H> Default for Interval<H>
where
    Times<H>: Default,
    SessionData<H>: Default,
{
    fn default() -> Self {
        let SessionData { time: wrong, .. } = SessionData::default();
        Self {
            counts: Counts::default(),
            status: Box::new([0; STATUS_MAX]),
            times: Times::default(),
            sent: Sent { complete_to_ns: u64::MAX, ..Sent::default() },
            examples: BTreeMap::new(),
            entries: Vec::new(),
            wrong,
            sessions: SessionData::default(),
            tokens: TokenAnswers::new(),
            failed_answers: FailureLog::default(),
        }
    }
}

impl<H: Store> Interval<H>
where
    EntryData<H>: Default,
{
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
        self.sent.clear();
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
        self.counts.merge(&other.counts);
        self.status.iter_mut().zip(other.status.iter()).for_each(|(sum, n)| *sum += n);
        self.times.add(&other.times);
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

impl Counts {
    fn merge(&mut self, other: &Self) {
        // A sum without a part has no priority of its own yet.
        self.nice = if self.end_ns == 0 { other.nice } else { self.nice.max(other.nice) };
        self.end_ns = self.end_ns.max(other.end_ns);
        self.warm.add(&other.warm);
        self.measured.add(&other.measured);
        self.answers += other.answers;
        self.redirects.add(&other.redirects);
        self.read_bytes += other.read_bytes;
        self.written_bytes += other.written_bytes;
        self.connects += other.connects;
        self.tls_full += other.tls_full;
        self.tls_resumed += other.tls_resumed;
        self.backlog += other.backlog;
        self.in_flight += other.in_flight;
        self.in_system_ns += other.in_system_ns;
        self.residence_ns += other.residence_ns;
        self.cpu_ns += other.cpu_ns;
        self.put_off_ns += other.put_off_ns;
        self.busy_share = self.busy_share.max(other.busy_share);
        self.rows += other.rows;
        self.rows_dropped += other.rows_dropped;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::slot::Which;

    #[test]
    fn merging_adds_counts_and_histograms_in_any_order() {
        let part = |value: u64, class: ErrorClass| {
            let mut data = IntervalData::default();
            data.counts.measured = Account { scheduled: 2, completed: 1, ..Account::default() };
            data.counts.measured.failed[class.index()] += 1;
            data.times.response.record(value).unwrap();
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
        assert_eq!(ab.times.response, ba.times.response);
        assert!(ab.counts.measured.balances());
        assert_eq!(ab.counts.measured.failed_total(), 2);
        assert_eq!(ab.status_counts(), BTreeMap::from([(200, 2)]));
        assert_eq!(ab.examples.len(), 2);
    }

    /// Stamps in the order intended, dispatched, ready, written, first byte.
    fn request(stamps: [u64; 4], first_byte: Option<u64>) -> InFlight {
        InFlight {
            which: Which { n: 0, entry: 0 },
            bytes: request::Bytes::Rendered,
            token: None,
            is_head: false,
            hops: 0,
            is_arrival: false,
            intended: Nanos(stamps[0]),
            dispatched: Nanos(stamps[1]),
            ready: Nanos(stamps[2]),
            written: Nanos(stamps[3]),
            first_byte: first_byte.map(Nanos),
            answer: request::Answer::default(),
            slot: 0,
        }
    }

    #[test]
    fn plain_requests_are_in_all_their_histograms_once_settled() {
        let cases = [
            (request([10; 4], None), 5_010),
            (request([10; 4], None), 900_010),
            (request([10; 4], Some(40)), 60),
            (request([10, 11, 11, 11], None), 70),
            (request([10, 10, 12, 12], None), 80),
            (request([10, 10, 10, 13], None), 90),
        ];
        let mut found = Times::<Tally>::default();
        cases.iter().for_each(|(request, done)| found.note(request, Nanos(*done)));
        found.settle();
        let mut wanted: Times = Times::default();
        for (request, done) in cases {
            let first_byte = request.first_byte.unwrap_or(Nanos(done));
            for (histogram, from, to) in [
                (&mut wanted.response, request.intended, Nanos(done)),
                (&mut wanted.service, request.written, Nanos(done)),
                (&mut wanted.send_lag, request.intended, request.written),
                (&mut wanted.pacer_lag, request.intended, request.dispatched),
                (&mut wanted.write, request.ready, request.written),
                (&mut wanted.first_byte, request.written, first_byte),
                (&mut wanted.transfer, first_byte, Nanos(done)),
            ] {
                histogram.record(to.0 - from.0).unwrap();
            }
        }
        assert_eq!(found.plain.count(), 0, "a second settling would count twice");
        let mut sum = Times::default();
        sum.add(&found);
        for ((tag, found), (_, wanted)) in sum.tagged().into_iter().zip(wanted.tagged()) {
            assert_eq!(found, wanted, "{tag}");
        }
    }

    #[test]
    fn an_interval_used_again_is_empty() {
        let mut data = IntervalData::default();
        data.counts.answers = 3;
        data.count_status(404);
        data.times.connect.record(7).unwrap();
        data.note_text(ErrorClass::Io, || "io".to_owned());
        data.begin(4, 99);
        assert_eq!(data.counts, Counts { index: 4, start_ns: 99, ..Counts::default() });
        assert!(data.status_counts().is_empty() && data.times.connect.is_empty() && data.examples.is_empty());
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
