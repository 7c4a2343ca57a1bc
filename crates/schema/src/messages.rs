//! Messages of streams: their ledger, beside that of the streams that carry them.
//!
//! Invariant: `scheduled = completed + failed + censored`, of messages as of requests. A message belongs to the measured
//! window by its own intended time, whenever its stream began.

use crate::times::LatencySummary;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Kinds of times that messages have. The order is that of [`MessageTime::ALL`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MessageTime {
    /// Intended to the end of the answer's message, where both sides stream.
    Response,
    /// Handed over to the end of the answer's message, where both sides stream.
    Service,
    /// Intended to handed over.
    SendLag,
    /// A stream's intended time to the end of the first message that came on it.
    FirstMessage,
    /// From the end of one message that came to the end of the next.
    Gap,
}

impl MessageTime {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Response, Self::Service, Self::SendLag, Self::FirstMessage, Self::Gap];

    /// Its position in [`MessageTime::ALL`].
    #[inline]
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// Its name in files.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            Self::Response => "response",
            Self::Service => "service",
            Self::SendLag => "send_lag",
            Self::FirstMessage => "first_message",
            Self::Gap => "gap",
        }
    }
}

/// Messages of the measured window: `scheduled = completed + failed + censored`, always.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct MessageSummary {
    /// Intended to be sent within the window.
    pub scheduled: u64,
    /// Answered, where both sides stream; else sent on a stream that was completed.
    pub completed: u64,
    /// Sent or due on a stream that failed, or never answered.
    pub failed: u64,
    /// Of the failed ones: their stream was completed without an answer to them.
    pub unanswered: u64,
    /// Unsent or without their outcome at the end.
    pub censored: u64,
    /// Of the scheduled ones: had to wait because as many as allowed were waiting for their answers.
    pub queued: u64,
    /// Messages that came within the window, whenever they were asked for.
    pub received: u64,
    /// The same per second.
    pub received_per_s: f64,
    /// Of the received ones: answers to no message, where both sides stream.
    pub unasked: u64,
    /// Completed messages per second of the window, by when that was known.
    pub completed_per_s: f64,
    /// Messages on each completed stream: those that came, or those that were sent where only the client streams.
    pub per_stream: Option<StreamLength>,
    /// Intended to the end of the answer's message; empty unless both sides stream.
    pub response: LatencySummary,
    /// Handed over to the end of the answer's message; empty unless both sides stream.
    pub service: LatencySummary,
    /// Intended to handed over.
    pub send_lag: LatencySummary,
    /// A stream's intended time to the end of the first message that came on it.
    pub first_message: LatencySummary,
    /// From the end of one message that came to the end of the next on its stream.
    pub gap: LatencySummary,
}

/// How many messages streams had.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct StreamLength {
    /// Streams.
    pub streams: u64,
    /// Arithmetic mean.
    pub mean: f64,
    /// Fewest.
    pub min: u64,
    /// Median.
    pub p50: u64,
    /// Most.
    pub max: u64,
}

impl MessageSummary {
    /// The quantiles of one time.
    #[must_use]
    pub const fn of(&self, time: MessageTime) -> &LatencySummary {
        match time {
            MessageTime::Response => &self.response,
            MessageTime::Service => &self.service,
            MessageTime::SendLag => &self.send_lag,
            MessageTime::FirstMessage => &self.first_message,
            MessageTime::Gap => &self.gap,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_is_the_serde_name_and_the_index_the_position() {
        let written = serde_json::to_value(MessageSummary::default()).unwrap();
        for (position, time) in MessageTime::ALL.into_iter().enumerate() {
            assert_eq!(time.index(), position);
            assert!(written[time.key()].is_object(), "{}", time.key());
        }
    }
}
