//! What the reference target says of its own requests on `/metrics`: a count and a histogram of their times, in
//! Prometheus' text format.
//!
//! A time is from the reading of a request to its answer. Buckets are an eighth of a power of two wide, so that
//! recording is a shift and an addition, and no answer waits for it.

use std::fmt::Write as _;
use units::Nanos;

/// Buckets in each power of two, as a power of two.
const PARTS_LOG2: u32 = 3;
/// Times below this share the first bucket: 2^10 ns, about a microsecond.
const FIRST_LOG2: u32 = 10;
/// Times from here on share the last bucket: 2^36 ns, about 69 s.
const LAST_LOG2: u32 = 36;
const BUCKETS: usize = ((LAST_LOG2 - FIRST_LOG2) << PARTS_LOG2) as usize + 2;

/// Times of requests since the start.
#[derive(Clone, Debug)]
pub(super) struct Times {
    counts: [u64; BUCKETS],
    sum_ns: u128,
}

impl Times {
    pub(super) const fn new() -> Self {
        Self { counts: [0; BUCKETS], sum_ns: 0 }
    }

    #[inline]
    pub(super) fn record(&mut self, time: Nanos) {
        self.counts[bucket_of(time.0)] += 1;
        self.sum_ns += u128::from(time.0);
    }

    /// The text of `/metrics`.
    pub(super) fn text(&self, requests: u64) -> String {
        let mut text = format!(
            "# HELP prony_reference_requests_total Requests taken into the queue.\n\
             # TYPE prony_reference_requests_total counter\n\
             prony_reference_requests_total {requests}\n\
             # HELP prony_reference_request_seconds Time from the reading of a request to its answer.\n\
             # TYPE prony_reference_request_seconds histogram\n"
        );
        let mut sum = 0;
        for (bucket, count) in self.counts.iter().enumerate() {
            sum += count;
            let bound = bound_ns(bucket).map_or("+Inf".to_owned(), |ns| (ns as f64 / 1e9).to_string());
            let _ = writeln!(text, "prony_reference_request_seconds_bucket{{le=\"{bound}\"}} {sum}");
        }
        let seconds = self.sum_ns as f64 / 1e9;
        let _ = writeln!(text, "prony_reference_request_seconds_sum {seconds}");
        let _ = writeln!(text, "prony_reference_request_seconds_count {sum}");
        text
    }
}

/// The first bucket whose bound is not below the time.
const fn bucket_of(ns: u64) -> usize {
    // A bound belongs to the bucket below it.
    let ns = ns.saturating_sub(1);
    if ns < 1 << FIRST_LOG2 {
        return 0;
    }
    let log2 = ns.ilog2();
    if log2 >= LAST_LOG2 {
        return BUCKETS - 1;
    }
    let part = (ns >> (log2 - PARTS_LOG2)) as usize & ((1 << PARTS_LOG2) - 1);
    (((log2 - FIRST_LOG2) as usize) << PARTS_LOG2) + part + 1
}

/// Upper bound of a bucket, itself in it; none for the last.
fn bound_ns(bucket: usize) -> Option<u64> {
    if bucket == BUCKETS - 1 {
        return None;
    }
    let log2 = FIRST_LOG2 + (bucket >> PARTS_LOG2) as u32;
    let part = (bucket & ((1 << PARTS_LOG2) - 1)) as u64;
    Some((1 << log2) + (part << (log2 - PARTS_LOG2)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_time_lies_above_the_bound_before_and_up_to_its_own() {
        let times = (0..64)
            .flat_map(|log2| [(1_u64 << log2) - 1, 1 << log2, (1 << log2) + 1, 3 << (log2.max(1) - 1)]);
        for ns in times.chain([0, 1_000_000, 123_456_789, u64::MAX]) {
            let bucket = bucket_of(ns);
            assert!(bound_ns(bucket).is_none_or(|bound| ns <= bound), "{ns} in {bucket}");
            let below = bucket.checked_sub(1).and_then(bound_ns);
            assert!(below.is_none_or(|bound| ns > bound), "{ns} in {bucket}");
        }
        let bounds: Vec<u64> = (0..BUCKETS).filter_map(bound_ns).collect();
        assert!(bounds.is_sorted_by(|a, b| a < b) && bounds.len() == BUCKETS - 1);
    }

    #[test]
    fn the_text_has_every_time_once() {
        let mut times = Times::new();
        [0, 5_000_000, u64::MAX].into_iter().for_each(|ns| times.record(Nanos(ns)));
        let text = times.text(4);
        assert!(text.contains("prony_reference_requests_total 4\n"));
        assert!(text.contains("_bucket{le=\"0.000001024\"} 1\n"), "{text}");
        assert!(text.contains("_bucket{le=\"+Inf\"} 3\n") && text.ends_with("_count 3\n"), "{text}");
        assert_eq!(text.lines().filter(|line| line.contains("_bucket")).count(), BUCKETS);
    }
}
