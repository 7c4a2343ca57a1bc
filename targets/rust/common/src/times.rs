//! How long requests took by the target's own clock, as a histogram in Prometheus' text format, so that prony can
//! hold its 95th percentile against the target's.
//!
//! The clock begins when Hyper has read a head: under many connections the wait before that is not seen. So it is
//! off unless `REQUEST_TIMES` turns it on.
use std::fmt::Write;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Two bounds an octave, from 10 us to more than 10 s; the last bucket has none.
const BOUNDS: usize = 41;
const NAME: &str = "http_request_duration_seconds";

/// Of this process, once it is turned on.
static TIMES: OnceLock<Times> = OnceLock::new();

struct Times {
    buckets: [AtomicU64; BOUNDS + 1],
    sum_ns: AtomicU64,
}

impl Times {
    const fn new() -> Self {
        Self { buckets: [const { AtomicU64::new(0) }; BOUNDS + 1], sum_ns: AtomicU64::new(0) }
    }

    fn observe(&self, took: Duration) {
        let at = (0..BOUNDS).take_while(|k| bound(*k) < took.as_secs_f64()).count();
        self.buckets[at].fetch_add(1, Ordering::Relaxed);
        self.sum_ns.fetch_add(took.as_nanos().try_into().unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    fn text(&self) -> String {
        let mut text = format!("# TYPE {NAME} histogram\n");
        let mut below = 0;
        for (k, bucket) in self.buckets.iter().enumerate() {
            below += bucket.load(Ordering::Relaxed);
            let edge = if k < BOUNDS { bound(k).to_string() } else { "+Inf".to_owned() };
            // A text takes everything.
            let _ = writeln!(text, "{NAME}_bucket{{le=\"{edge}\"}} {below}");
        }
        let sum_s = self.sum_ns.load(Ordering::Relaxed) as f64 / 1e9;
        let _ = writeln!(text, "{NAME}_sum {sum_s}\n{NAME}_count {below}");
        text
    }
}

fn bound(k: usize) -> f64 {
    1e-5 * 2f64.powf(k as f64 / 2.0)
}

/// Turns it on, for as long as the process lives.
pub fn turn_on() {
    TIMES.get_or_init(Times::new);
}

/// When a request to `path` began; none where it is not to be timed.
pub fn begin(path: &str) -> Option<Instant> {
    (TIMES.get().is_some() && !path.starts_with("/debug/")).then(Instant::now)
}

/// The request that [`begin`] has seen was answered.
pub fn end(began: Option<Instant>) {
    if let (Some(times), Some(began)) = (TIMES.get(), began) {
        times.observe(began.elapsed());
    }
}

/// What `/debug/requests` answers; none where it is off.
pub fn text() -> Option<String> {
    TIMES.get().map(Times::text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_fall_into_their_buckets() {
        let times = Times::new();
        for ns in [0, 10_000, 11_000, 3_600_000_000_000] {
            times.observe(Duration::from_nanos(ns));
        }
        let text = times.text();
        for line in
            ["_bucket{le=\"0.00001\"} 2", "_bucket{le=\"0.00002\"} 3", "_bucket{le=\"+Inf\"} 4", "_count 4"]
        {
            assert!(text.contains(&format!("{NAME}{line}\n")), "{line} in\n{text}");
        }
    }

    #[test]
    fn only_requests_of_the_load_are_timed_once_it_is_on() {
        assert_eq!((begin("/ping"), text()), (None, None));
        turn_on();
        assert!(begin("/debug/requests").is_none());
        end(begin("/ping"));
        assert!(text().is_some_and(|text| text.ends_with("_count 1\n")));
    }
}
