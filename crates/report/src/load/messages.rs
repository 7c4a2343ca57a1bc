//! The ledger of messages on streams as lines of facts, and their times beside those of requests.

use crate::format;
use schema::load::{LatencySummary, MessageSummary, MessageTime};

/// Names and values; what did not occur is left out.
pub(super) fn facts(messages: &MessageSummary) -> Vec<(&'static str, String)> {
    let mut facts = vec![("messages", ledger(messages))];
    if messages.received > 0 {
        facts.push(("received", received(messages)));
    }
    facts
}

/// The times of messages by name, as they stand beside those of requests.
pub(super) const NAMES: [(MessageTime, &str); MessageTime::ALL.len()] = [
    (MessageTime::Response, "message response"),
    (MessageTime::Service, "message service"),
    (MessageTime::SendLag, "message send lag"),
    (MessageTime::FirstMessage, "first message"),
    (MessageTime::Gap, "message gap"),
    (MessageTime::PacerLag, "message pacer lag"),
];

/// The times that messages have, by name.
pub(super) fn kinds(messages: &MessageSummary) -> impl Iterator<Item = (String, &LatencySummary)> {
    let times = NAMES.into_iter().map(|(time, name)| (name.to_owned(), messages.of(time)));
    times.filter(|(_, summary)| summary.count > 0 || summary.censored > 0)
}

/// `1,000 scheduled = 990 completed + 8 failed (3 unanswered) + 2 censored, 12 queued, 99/s`.
fn ledger(messages: &MessageSummary) -> String {
    let count = format::count;
    let unanswered = match messages.unanswered {
        0 => String::new(),
        unanswered => format!(" ({} unanswered)", count(unanswered)),
    };
    let mut text = format!(
        "{} scheduled = {} completed + {} failed{unanswered} + {} censored, {}/s",
        count(messages.scheduled),
        count(messages.completed),
        count(messages.failed),
        count(messages.censored),
        format::count(messages.completed_per_s.round() as u64),
    );
    if messages.queued > 0 {
        text += &format!(", {} waited for an answer before them", count(messages.queued));
    }
    text
}

/// `7,000 messages, 700/s, 7 (5 to 9) on each stream`.
fn received(messages: &MessageSummary) -> String {
    let per_s = format::count(messages.received_per_s.round() as u64);
    let mut text = format!("{}, {per_s}/s", format::counted(messages.received, "message"));
    if let Some(length) = &messages.per_stream {
        let range = match length.min == length.max {
            true => String::new(),
            false => format!(" ({} to {})", format::count(length.min), format::count(length.max)),
        };
        text += &format!(", {:.1}{range} on each stream", length.mean);
    }
    if messages.unasked > 0 {
        text += &format!(", {} answered nothing", format::count(messages.unasked));
    }
    text
}
