//! When the messages of a stream are due: a schedule of its own beside that of the streams.
//!
//! Invariants: the n-th message of a stream with a rate has one intended time, whatever became of those before it; how many
//! are due at a moment follows from that moment alone.

use schema::plan::{StreamPlan, Streaming};
use units::Nanos;

/// How messages follow each other on each stream of a request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StreamRule {
    /// Which sides stream.
    pub streaming: Streaming,
    /// Messages sent at most; `u64::MAX` where time alone ends them.
    pub messages: u64,
    /// Nanoseconds between two messages; absent where each goes out as soon as it may.
    pub gap_ns: Option<f64>,
    /// Messages that may wait for their answers at a time.
    pub in_flight: u64,
    /// How long messages are sent, where there is no rate.
    pub lasts: Option<Nanos>,
}

impl StreamRule {
    /// The rule of a plan.
    #[must_use]
    pub fn new(plan: &StreamPlan) -> Self {
        let gap_ns = plan.rate_per_s.map(|rate| 1e9 / rate);
        let messages = match (plan.streaming, plan.lasts_ns) {
            (Streaming::Server, _) => 1,
            (_, None) => plan.messages.unwrap_or(1),
            (_, Some(_)) => plan.messages.unwrap_or(u64::MAX),
        };
        // With a rate, time is but a number of messages.
        let within = plan.lasts_ns.zip(gap_ns).map(|(lasts, gap)| (lasts as f64 / gap).ceil() as u64);
        let in_flight = match (plan.streaming, plan.in_flight, gap_ns) {
            (Streaming::Both, Some(limit), _) => u64::from(limit),
            (Streaming::Both, None, None) => 1,
            _ => u64::MAX,
        };
        Self {
            streaming: plan.streaming,
            messages: messages.min(within.unwrap_or(u64::MAX)).max(1),
            gap_ns,
            in_flight,
            lasts: plan.lasts_ns.filter(|_| gap_ns.is_none()).map(Nanos),
        }
    }

    /// Whether each message that is sent has an answer of its own.
    #[inline]
    #[must_use]
    pub const fn is_answered(&self) -> bool {
        matches!(self.streaming, Streaming::Both)
    }

    /// When the `n`-th message, counted from 0, is intended on a stream that is intended at `base`; absent where that follows
    /// from the messages before it.
    #[inline]
    #[must_use]
    pub fn intended(&self, base: Nanos, n: u64) -> Option<Nanos> {
        match self.gap_ns {
            _ if n == 0 => Some(base),
            // A float holds every number of nanoseconds of 104 days.
            Some(gap) => Some(Nanos(base.0.saturating_add((n as f64 * gap) as u64))),
            None => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: StreamPlan = StreamPlan {
        streaming: Streaming::Both,
        messages: None,
        rate_per_s: None,
        in_flight: None,
        lasts_ns: None,
    };

    #[test]
    fn limits_follow_from_what_is_given() {
        let of = |plan: StreamPlan| {
            let rule = StreamRule::new(&plan);
            (rule.messages, rule.in_flight, rule.lasts)
        };
        let second = Some(1_000_000_000);
        assert_eq!(of(BASE), (1, 1, None));
        assert_eq!(of(StreamPlan { messages: Some(7), in_flight: Some(3), ..BASE }), (7, 3, None));
        assert_eq!(of(StreamPlan { lasts_ns: second, ..BASE }), (u64::MAX, 1, Some(Nanos::SECOND)));
        let timed = StreamPlan { lasts_ns: second, rate_per_s: Some(10.0), ..BASE };
        assert_eq!(of(timed), (10, u64::MAX, None));
        assert_eq!(of(StreamPlan { messages: Some(4), ..timed }), (4, u64::MAX, None));
        assert_eq!(of(StreamPlan { rate_per_s: Some(0.01), ..timed }), (1, u64::MAX, None));
        assert_eq!(of(StreamPlan { streaming: Streaming::Server, ..BASE }), (1, u64::MAX, None));
        let client = StreamPlan { streaming: Streaming::Client, messages: Some(9), ..BASE };
        assert_eq!(of(client), (9, u64::MAX, None));
    }

    #[test]
    fn each_message_has_its_own_moment() {
        let rule = StreamRule::new(&StreamPlan { rate_per_s: Some(3.0), messages: Some(9), ..BASE });
        let times: Vec<u64> = (0..4).filter_map(|n| rule.intended(Nanos(5), n)).map(|at| at.0).collect();
        assert_eq!(times, [5, 333_333_338, 666_666_671, 1_000_000_005]);
        let free = StreamRule::new(&BASE);
        assert_eq!((free.intended(Nanos(5), 0), free.intended(Nanos(5), 1)), (Some(Nanos(5)), None));
    }
}
