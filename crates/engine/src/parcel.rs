//! The form in which an interval travels from one process to another: exact, so that merging there gives the same
//! numbers as merging here.
//!
//! Histograms travel in HdrHistogram's V2 form (METHOD §10). Between processes of a host a parcel is text, with the
//! histograms in base64; between hosts it is bytes ([`Parcel::to_bytes`]), because those can be deflated well.
//! Invariant: nothing is taken from a parcel that is larger than its bytes allow: lengths are held against what is there,
//! and there are no more named requests than the load has.

use crate::interval::{
    Account, Counts, EntryData, IntervalData, Notables, Sent, SessionAccount, SessionData, Stalls,
};
use crate::lazy_histogram::LazyHistogram;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer as _, V2Serializer};
use request::FailureLog;
use schema::load::{ErrorClass, Time, TokenKind};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use units::{TIME_DIGITS, TIME_NS_MAX};
use wire::varint;

/// First bytes of a histogram in V2 form, before the length of its counts.
const V2_COOKIE: [u8; 4] = 0x1c84_9313_u32.to_be_bytes();
/// Bytes before the counts.
const V2_HEADER: usize = 40;

/// One interval, ready to be written in any serde format that knows maps.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Parcel {
    counts: Counts,
    status: BTreeMap<u16, u64>,
    /// By tag, without the empty ones.
    times: BTreeMap<String, Packed>,
    /// Likewise of messages on streams.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    messages: BTreeMap<String, Packed>,
    sent: Sent,
    #[serde(default)]
    stalls: Stalls,
    #[serde(default)]
    notables: Notables,
    examples: BTreeMap<ErrorClass, Vec<String>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    entries: Vec<EntryParcel>,
    sessions: SessionAccount,
    session_time: Option<Packed>,
    wrong: Option<Packed>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    tokens: Vec<(u8, TokenKind, BTreeMap<u16, u64>)>,
    failed_answers: FailureLog,
}

/// A histogram in V2 form; in texts it is base64.
#[derive(Clone, Debug, Default)]
struct Packed(Vec<u8>);

impl Serialize for Packed {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&STANDARD_NO_PAD.encode(&self.0))
    }
}

impl<'de> Deserialize<'de> for Packed {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        STANDARD_NO_PAD.decode(text).map(Self).map_err(serde::de::Error::custom)
    }
}

/// The results of one named request.
#[derive(Clone, Debug, Deserialize, Serialize)]
struct EntryParcel {
    account: Account,
    answers: u64,
    failures: u64,
    status: BTreeMap<u16, u64>,
    response: Option<Packed>,
    service: Option<Packed>,
}

impl EntryParcel {
    fn pack(data: &EntryData) -> Self {
        Self {
            account: data.account,
            answers: data.answers,
            failures: data.failures,
            status: data.status.clone(),
            response: full(&data.response),
            service: full(&data.service),
        }
    }

    fn unpack(self) -> Result<EntryData, ParcelError> {
        Ok(EntryData {
            account: self.account,
            answers: self.answers,
            failures: self.failures,
            status: self.status,
            response: histogram("response", self.response.as_ref())?,
            service: histogram("service", self.service.as_ref())?,
        })
    }
}

/// A parcel that no engine has packed.
#[derive(Debug, thiserror::Error)]
pub enum ParcelError {
    /// A histogram is damaged or has other bounds than METHOD §10.
    #[error("the histogram `{tag}` cannot be read: {cause}")]
    Histogram {
        /// Which.
        tag: String,
        /// What is wrong.
        cause: String,
    },
    /// The bytes are no parcel.
    #[error("an interval cannot be understood: {0}")]
    Garbled(String),
    /// It would take memory for results that cannot be.
    #[error("an interval has {found} {what}, and the load has {most} at most")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// In the parcel.
        found: u64,
        /// In the load.
        most: usize,
    },
}

/// How much a parcel of a load may have.
#[derive(Clone, Copy, Debug)]
pub struct Most {
    /// Named requests.
    pub entries: usize,
    /// Stamps of what was sent.
    pub stamps: usize,
}

impl ParcelError {
    fn garbled(cause: impl ToString) -> Self {
        Self::Garbled(cause.to_string())
    }
}

impl Parcel {
    /// Packs an interval.
    #[must_use]
    pub fn pack(data: &IntervalData) -> Self {
        let times = data.times.tagged().into_iter();
        let messages = data.messages.tagged();
        Self {
            counts: data.counts,
            status: data.status_counts(),
            times: times.filter_map(|(tag, histogram)| Some((tag.to_owned(), full(histogram)?))).collect(),
            messages: messages.filter_map(|(tag, times)| Some((tag.to_owned(), full(times)?))).collect(),
            sent: data.sent.clone(),
            stalls: data.stalls.clone(),
            notables: data.notables.clone(),
            examples: data.examples.clone(),
            entries: data.entries.iter().map(EntryParcel::pack).collect(),
            sessions: data.sessions.account,
            session_time: full(&data.sessions.time),
            wrong: full(&data.wrong),
            tokens: data
                .tokens
                .iter()
                .map(|((maker, kind), status)| (*maker, *kind, status.clone()))
                .collect(),
            failed_answers: data.failed_answers.clone(),
        }
    }

    /// Its plain counters.
    #[must_use]
    pub const fn counts(&self) -> &Counts {
        &self.counts
    }

    /// Keeps no more than the first `most` stamps of what was sent.
    pub fn cut_stamps(&mut self, most: usize) {
        self.sent.cut(most);
    }

    /// Its bytes: what is neither a histogram nor a stamp as JSON, then the histograms in order, then the stamps.
    #[must_use]
    pub fn to_bytes(mut self) -> Vec<u8> {
        let packed: Vec<Packed> = self.packed_mut().map(std::mem::take).collect();
        let stamps = std::mem::take(&mut self.sent.stamps);
        let rest = serde_json::to_vec(&self).expect("counters and texts are JSON");
        let mut bytes = Vec::new();
        for part in std::iter::once(&rest).chain(packed.iter().map(|packed| &packed.0)) {
            varint::put(&mut bytes, part.len() as u64);
            bytes.extend_from_slice(part);
        }
        put_stamps(&mut bytes, &stamps);
        bytes
    }

    /// What [`Parcel::to_bytes`] made, of a load with no more than `most`.
    ///
    /// # Errors
    /// Bytes that are no parcel, or are one with more.
    pub fn from_bytes(mut bytes: &[u8], most: Most) -> Result<Self, ParcelError> {
        let rest = part(&mut bytes)?;
        let mut parcel: Self = serde_json::from_slice(rest).map_err(ParcelError::garbled)?;
        refuse_more("named requests", parcel.entries.len() as u64, most.entries)?;
        for packed in parcel.packed_mut() {
            packed.0 = part(&mut bytes)?.to_vec();
        }
        parcel.sent.stamps = take_stamps(&mut bytes, most.stamps)?;
        if bytes.is_empty() { Ok(parcel) } else { Err(ParcelError::garbled("more bytes than it needs")) }
    }

    /// Its histograms, in the order in which they travel.
    fn packed_mut(&mut self) -> impl Iterator<Item = &mut Packed> {
        let entries = self.entries.iter_mut();
        let of_entries = entries.flat_map(|entry| entry.response.iter_mut().chain(&mut entry.service));
        let times = self.times.values_mut().chain(self.messages.values_mut());
        times.chain(of_entries).chain(&mut self.session_time).chain(&mut self.wrong)
    }

    /// Unpacks it.
    ///
    /// # Errors
    /// When a histogram is damaged or has other bounds than METHOD §10.
    pub fn unpack(self) -> Result<IntervalData, ParcelError> {
        let mut data = IntervalData { counts: self.counts, ..IntervalData::default() };
        for (status, count) in self.status {
            if let Some(place) = data.status.get_mut(usize::from(status)) {
                *place = count;
            }
        }
        let mut times = self.times;
        for time in Time::ALL {
            if let Some(packed) = times.remove(time.key()) {
                data.times[time] = decode(time.key(), &packed)?;
            }
        }
        let mut messages = self.messages;
        for (tag, place) in data.messages.tagged_mut() {
            *place = histogram(tag, messages.remove(tag).as_ref())?;
        }
        data.sent = self.sent;
        data.stalls = self.stalls;
        data.notables = self.notables;
        data.examples = self.examples;
        data.entries = self.entries.into_iter().map(EntryParcel::unpack).collect::<Result<_, _>>()?;
        data.sessions =
            SessionData { account: self.sessions, time: histogram("session", self.session_time.as_ref())? };
        data.tokens = self.tokens.into_iter().map(|(maker, kind, status)| ((maker, kind), status)).collect();
        data.wrong = histogram("wrong", self.wrong.as_ref())?;
        data.failed_answers = self.failed_answers;
        Ok(data)
    }
}

/// The next part, which its length is before.
fn part<'a>(bytes: &mut &'a [u8]) -> Result<&'a [u8], ParcelError> {
    let cut = || ParcelError::garbled("it is cut");
    let length = varint::take(bytes).and_then(|length| usize::try_from(length).ok()).ok_or_else(cut)?;
    bytes.split_off(..length).ok_or_else(cut)
}

fn refuse_more(what: &'static str, found: u64, most: usize) -> Result<(), ParcelError> {
    if found > most as u64 { Err(ParcelError::TooMany { what, found, most }) } else { Ok(()) }
}

/// In order of writing: how long after the one before each was written, then how long after its intended time.
fn put_stamps(bytes: &mut Vec<u8>, stamps: &[(u64, u64)]) {
    varint::put(bytes, stamps.len() as u64);
    let mut before = 0;
    for (_, written_ns) in stamps {
        varint::put(bytes, varint::zigzag(written_ns.wrapping_sub(before)));
        before = *written_ns;
    }
    for (intended_ns, written_ns) in stamps {
        varint::put(bytes, varint::zigzag(written_ns.wrapping_sub(*intended_ns)));
    }
}

fn take_stamps(bytes: &mut &[u8], most: usize) -> Result<Vec<(u64, u64)>, ParcelError> {
    let mut next = || varint::take(bytes).ok_or_else(|| ParcelError::garbled("its stamps are cut"));
    let count = next()?;
    refuse_more("stamps", count, most)?;
    let mut written_ns = 0_u64;
    let mut stamps = Vec::new();
    for _ in 0..count {
        written_ns = written_ns.wrapping_add(varint::unzigzag(next()?));
        stamps.push((0, written_ns));
    }
    for (intended_ns, written_ns) in &mut stamps {
        *intended_ns = written_ns.wrapping_sub(varint::unzigzag(next()?));
    }
    Ok(stamps)
}

/// A histogram that holds something.
fn full(histogram: &Histogram<u64>) -> Option<Packed> {
    (!histogram.is_empty()).then(|| encode(histogram))
}

/// What [`full`] made.
fn histogram(tag: &str, packed: Option<&Packed>) -> Result<LazyHistogram, ParcelError> {
    packed.map_or_else(|| Ok(LazyHistogram::default()), |packed| decode(tag, packed).map(LazyHistogram::from))
}

fn encode(histogram: &Histogram<u64>) -> Packed {
    let mut bytes = Vec::new();
    V2Serializer::new().serialize(histogram, &mut bytes).expect("a vector takes every byte");
    Packed(bytes)
}

/// As large as its times need, which is less than METHOD §10 allows; it grows with what is added.
fn decode(tag: &str, packed: &Packed) -> Result<Histogram<u64>, ParcelError> {
    let failed = |cause: &str| ParcelError::Histogram { tag: tag.to_owned(), cause: cause.to_owned() };
    let bytes = packed.0.as_slice();
    // The library takes as much memory for the counts as the header says.
    let counts = bytes.get(4..8).and_then(|length| length.try_into().ok()).map(u32::from_be_bytes);
    let is_whole = counts.is_some_and(|counts| bytes.len().checked_sub(V2_HEADER) == Some(counts as usize));
    if !bytes.starts_with(&V2_COOKIE) || !is_whole {
        return Err(failed("it is not in V2 form, or is cut"));
    }
    let read = Deserializer::new().deserialize(&mut &*bytes);
    let mut read: Histogram<u64> = read.map_err(|error| failed(&error.to_string()))?;
    if read.sigfig() != TIME_DIGITS || read.low() != 1 || read.max() > read.highest_equivalent(TIME_NS_MAX) {
        return Err(failed("its bounds are not those of METHOD §10"));
    }
    read.auto(true);
    Ok(read)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interval::Notable;
    use schema::load::MessageTime;

    fn interval(seed: u64) -> IntervalData {
        let mut data = IntervalData::default();
        data.counts = Counts { index: 3, start_ns: 3_000, end_ns: 4_000, answers: seed, ..data.counts };
        data.counts.measured.scheduled = seed + 2;
        data.counts.measured.failed[1] = 2;
        data.counts.busy_share = 0.1 + seed as f64 / 3e5;
        data.count_status(200);
        data.count_status(599);
        for value in (0..500).map(|step| seed + step * step * 7919) {
            data.times[Time::Response].record(value).unwrap();
            data.times[Time::FirstByte].record(value / 3 + 1).unwrap();
        }
        data.counts.messages.measured.scheduled = seed;
        data.messages[MessageTime::Gap].record(seed).unwrap();
        data.messages.per_stream.record(seed % 100).unwrap();
        data.sent.note(seed, seed + 9);
        data.sent.close();
        data.stalls.note(units::Nanos(seed), units::Nanos(100_000 + seed), 3);
        data.stalls.close();
        let notable = Notable {
            request: seed,
            entry: 0,
            intended_ns: 1,
            written_ns: Some(2),
            done_ns: seed + 3,
            status: 200,
            class: None,
        };
        data.notables.completed(notable, None);
        data.note_text(ErrorClass::Timeout, || "timeout".to_owned());
        data.with_entries(2);
        data.entries[1].account.scheduled = seed;
        (data.entries[1].answers, data.entries[1].failures) = (seed + 1, seed + 2);
        data.entries[1].status.insert(200, seed);
        data.entries[1].service.record(seed).unwrap();
        data.sessions.account.started = seed;
        data.sessions.time.record(seed * 3).unwrap();
        data.wrong.record(seed * 5).unwrap();
        data.tokens.entry((1, TokenKind::Expired)).or_default().insert(401, seed);
        data
    }

    fn travelled(data: &IntervalData) -> IntervalData {
        let text = serde_json::to_string(&Parcel::pack(data)).unwrap();
        serde_json::from_str::<Parcel>(&text).unwrap().unpack().unwrap()
    }

    fn flown(data: &IntervalData) -> IntervalData {
        let bytes = Parcel::pack(data).to_bytes();
        Parcel::from_bytes(&bytes, Most { entries: data.entries.len(), stamps: 2 }).unwrap().unpack().unwrap()
    }

    #[test]
    fn merging_after_the_journey_is_merging_before_it() {
        let (a, b) = (interval(11), interval(90_001));
        let merge = |first: &IntervalData, second: &IntervalData| {
            let mut sum = first.clone();
            sum.merge(second);
            sum
        };
        let here = merge(&a, &b);
        let all = [merge(&travelled(&a), &travelled(&b)), travelled(&here), flown(&here)];
        for there in all.into_iter().chain([merge(&flown(&a), &flown(&b))]) {
            assert_eq!(there.counts, here.counts);
            assert_eq!(there.status_counts(), here.status_counts());
            assert_eq!(there.sent, here.sent);
            assert_eq!(there.messages[MessageTime::Gap], here.messages[MessageTime::Gap]);
            assert_eq!(there.messages.per_stream, here.messages.per_stream);
            assert_eq!((&there.stalls, here.stalls.as_slice().len()), (&here.stalls, 1));
            assert_eq!(there.notables, here.notables);
            assert_eq!(there.examples, here.examples);
            assert_eq!(there.entries[1].account, here.entries[1].account);
            let ended = |data: &IntervalData| (data.entries[1].answers, data.entries[1].failures);
            assert_eq!((ended(&there), ended(&here)), ((90_014, 90_016), (90_014, 90_016)));
            assert_eq!(there.entries[1].service, here.entries[1].service);
            assert_eq!(there.entries[1].status, here.entries[1].status);
            assert_eq!(there.sessions.account, here.sessions.account);
            assert_eq!(there.sessions.time, here.sessions.time);
            assert_eq!(there.wrong, here.wrong);
            assert_eq!(there.tokens, here.tokens);
            for ((tag, mine), (_, other)) in here.times.tagged().into_iter().zip(there.times.tagged()) {
                assert_eq!(mine, other, "{tag}");
                assert_eq!((mine.min(), mine.max(), mine.len()), (other.min(), other.max(), other.len()));
            }
        }
    }

    #[test]
    fn a_damaged_histogram_is_an_error() {
        let mut parcel = Parcel::pack(&interval(1));
        let whole = parcel.times["response"].0.clone();
        let with = |at: usize, bytes: &[u8]| {
            let mut all = whole.clone();
            all[at..at + bytes.len()].copy_from_slice(bytes);
            all
        };
        let deflated = 0x1c84_9314_u32.to_be_bytes();
        // Lengths of 4 GiB, deflated counts, five digits, a smallest time of 2 ns, a time of more than an hour.
        let long = encode(&{
            let mut histogram = Histogram::<u64>::new(TIME_DIGITS).unwrap();
            histogram.record(2 * TIME_NS_MAX).unwrap();
            histogram
        });
        let damaged = [
            vec![0; 3],
            Vec::new(),
            with(4, &[0xff; 4]),
            with(0, &deflated),
            with(12, &5_u32.to_be_bytes()),
            with(16, &2_u64.to_be_bytes()),
            whole[..whole.len() - 1].to_vec(),
            long.0,
        ];
        assert!(parcel.clone().unpack().is_ok(), "before it is damaged");
        for bytes in damaged {
            parcel.times.insert("response".to_owned(), Packed(bytes));
            let error = parcel.clone().unpack().unwrap_err().to_string();
            assert!(error.contains("response"), "{error}");
        }
    }

    #[test]
    fn bytes_that_are_no_parcel_are_refused_before_they_take_memory() {
        let whole = Parcel::pack(&interval(5)).to_bytes();
        let most = Most { entries: 2, stamps: 1 };
        assert!(Parcel::from_bytes(&whole, most).is_ok());
        for length in 0..whole.len() {
            assert!(Parcel::from_bytes(&whole[..length], most).is_err(), "cut after {length}");
        }
        let longer = [whole.as_slice(), b"x"].concat();
        assert!(matches!(Parcel::from_bytes(&longer, most), Err(ParcelError::Garbled(_))));
        for (few, words) in
            [(Most { entries: 1, ..most }, "2 named requests"), (Most { stamps: 0, ..most }, "1 stamps")]
        {
            let error = Parcel::from_bytes(&whole, few).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
        let mut endless = Vec::new();
        varint::put(&mut endless, u64::MAX);
        assert!(Parcel::from_bytes(&endless, most).is_err());
        assert!(take_stamps(&mut endless.as_slice(), usize::MAX).is_err());
    }

    #[test]
    fn stamps_of_any_order_survive() {
        let stamps = vec![(5, 3), (u64::MAX, 0), (0, u64::MAX), (1_000, 2_000), (7, 7)];
        let mut bytes = Vec::new();
        put_stamps(&mut bytes, &stamps);
        assert_eq!(take_stamps(&mut bytes.as_slice(), 5).unwrap(), stamps);
    }
}
