//! Messages of streams: their ledger, beside that of the streams that carry them, of a load, an interval and a cell.
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
    /// Intended to dispatched, of messages that were due on an open stream: the generator's own lateness.
    PacerLag,
}

impl MessageTime {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Response, Self::Service, Self::SendLag, Self::FirstMessage, Self::Gap, Self::PacerLag];

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
            Self::PacerLag => "pacer_lag",
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
    /// Intended to dispatched, of messages with a rate that were due on an open stream: the generator's own lateness.
    pub pacer_lag: LatencySummary,
}

/// Messages on streams within an interval. Over all intervals of a load, warm-up and drain included,
/// `scheduled = completed + failed + censored`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct MessageInterval {
    /// Messages that came due.
    pub scheduled: u64,
    /// Messages that were answered, or whose stream was completed.
    pub completed: u64,
    /// Messages that failed.
    pub failed: u64,
    /// Messages that were left at the end of the load.
    pub censored: u64,
    /// Messages that came.
    pub received: u64,
    /// Median time to the first message of a stream, of those that came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_message_p50_ns: Option<u64>,
    /// 99th percentile of the gaps between messages that came, for charts only, as that of response time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap_p99_ns: Option<u64>,
}

/// Messages of the valid trials of a cell together. Times are the lower medians over the trials of each trial's own
/// value: percentiles are never averaged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct CellMessages {
    /// As [`MessageSummary::scheduled`], of all trials.
    pub scheduled: u64,
    /// As [`MessageSummary::completed`], of all trials.
    pub completed: u64,
    /// As [`MessageSummary::failed`], of all trials.
    pub failed: u64,
    /// As [`MessageSummary::unanswered`], of all trials.
    pub unanswered: u64,
    /// As [`MessageSummary::censored`], of all trials.
    pub censored: u64,
    /// As [`MessageSummary::received`], of all trials.
    pub received: u64,
    /// Completed messages per second of all windows together.
    pub completed_per_s: f64,
    /// Received messages per second of all windows together.
    pub received_per_s: f64,
    /// Messages on each completed stream: the mean over all streams.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_stream: Option<f64>,
    /// Median response time of messages, where both sides stream.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_p50_ns: Option<u64>,
    /// 99th percentile of the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_p99_ns: Option<u64>,
    /// Median time to a stream's first message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_message_p50_ns: Option<u64>,
    /// 99th percentile of the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_message_p99_ns: Option<u64>,
    /// 99th percentile of the gaps between messages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap_p99_ns: Option<u64>,
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
            MessageTime::PacerLag => &self.pacer_lag,
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
