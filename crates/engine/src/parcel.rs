//! The form in which an interval travels from one process to another: exact, so that merging there gives the same
//! numbers as merging here.
//!
//! Histograms travel in HdrHistogram's V2 form (METHOD §10), in base64 because the rest is text.

use crate::interval::{
    Account, Counts, EntryData, IntervalData, Notables, Sent, SessionAccount, SessionData, Stalls,
};
use crate::lazy_histogram::LazyHistogram;
use crate::tally::new_histogram;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2Serializer};
use request::FailureLog;
use schema::load::{ErrorClass, Time, TokenKind};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One interval, ready to be written in any serde format that knows maps.
#[derive(Debug, Deserialize, Serialize)]
pub struct Parcel {
    counts: Counts,
    status: BTreeMap<u16, u64>,
    /// By tag, without the empty ones.
    times: BTreeMap<String, String>,
    /// Likewise of messages on streams.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    messages: BTreeMap<String, String>,
    sent: Sent,
    #[serde(default)]
    stalls: Stalls,
    #[serde(default)]
    notables: Notables,
    examples: BTreeMap<ErrorClass, Vec<String>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    entries: Vec<EntryParcel>,
    sessions: SessionAccount,
    session_time: Option<String>,
    wrong: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    tokens: Vec<(u8, TokenKind, BTreeMap<u16, u64>)>,
    failed_answers: FailureLog,
}

/// The results of one named request.
#[derive(Debug, Deserialize, Serialize)]
struct EntryParcel {
    account: Account,
    answers: u64,
    failures: u64,
    status: BTreeMap<u16, u64>,
    response: Option<String>,
    service: Option<String>,
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
            response: histogram("response", self.response)?,
            service: histogram("service", self.service)?,
        })
    }
}

/// A parcel that no engine has packed.
#[derive(Debug, thiserror::Error)]
#[error("the histogram `{tag}` cannot be read: {cause}")]
pub struct ParcelError {
    tag: String,
    cause: String,
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
            if let Some(text) = times.remove(time.key()) {
                data.times[time] = decode(time.key(), &text)?;
            }
        }
        let mut messages = self.messages;
        for (tag, place) in data.messages.tagged_mut() {
            *place = histogram(tag, messages.remove(tag))?;
        }
        data.sent = self.sent;
        data.stalls = self.stalls;
        data.notables = self.notables;
        data.examples = self.examples;
        data.entries = self.entries.into_iter().map(EntryParcel::unpack).collect::<Result<_, _>>()?;
        data.sessions =
            SessionData { account: self.sessions, time: histogram("session", self.session_time)? };
        data.tokens = self.tokens.into_iter().map(|(maker, kind, status)| ((maker, kind), status)).collect();
        data.wrong = histogram("wrong", self.wrong)?;
        data.failed_answers = self.failed_answers;
        Ok(data)
    }
}

/// A histogram that holds something.
fn full(histogram: &Histogram<u64>) -> Option<String> {
    (!histogram.is_empty()).then(|| encode(histogram))
}

/// What [`full`] made.
fn histogram(tag: &str, text: Option<String>) -> Result<LazyHistogram, ParcelError> {
    text.map_or_else(|| Ok(LazyHistogram::default()), |text| decode(tag, &text).map(LazyHistogram::from))
}

fn encode(histogram: &Histogram<u64>) -> String {
    let mut bytes = Vec::new();
    V2Serializer::new().serialize(histogram, &mut bytes).expect("a vector takes every byte");
    STANDARD_NO_PAD.encode(bytes)
}

fn decode(tag: &str, text: &str) -> Result<Histogram<u64>, ParcelError> {
    let failed = |cause: String| ParcelError { tag: tag.to_owned(), cause };
    let bytes = STANDARD_NO_PAD.decode(text).map_err(|error| failed(error.to_string()))?;
    let read: Histogram<u64> =
        Deserializer::new().deserialize(&mut bytes.as_slice()).map_err(|error| failed(error.to_string()))?;
    let mut histogram = new_histogram();
    histogram.add(read).map_err(|error| failed(error.to_string()))?;
    Ok(histogram)
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

    #[test]
    fn merging_after_the_journey_is_merging_before_it() {
        let (a, b) = (interval(11), interval(90_001));
        let merge = |first: &IntervalData, second: &IntervalData| {
            let mut sum = first.clone();
            sum.merge(second);
            sum
        };
        let here = merge(&a, &b);
        for there in [merge(&travelled(&a), &travelled(&b)), travelled(&here)] {
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
        parcel.times.insert("response".to_owned(), "AAAA".to_owned());
        let error = parcel.unpack().unwrap_err().to_string();
        assert!(error.contains("response"), "{error}");
    }
}
