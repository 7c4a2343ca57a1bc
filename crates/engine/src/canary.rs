//! A fixed amount of integer work, timed: how steady this CPU is (METHOD §9, fixed-work canary).
//!
//! The work is one chain of dependent multiplications: it needs no memory, and a neighbour on the same core can hardly
//! slow it, so what moves its time is the clock of the core or time taken by others. The median of many short runs
//! does not see a few interruptions; the mean and the 99th percentile do.
//! Absent on purpose: what a drift means (the analyze crate's gate), and pinning (the caller chooses the CPU).

use schema::calibration::FixedWork;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// Steps of one run: about 100 µs on a CPU of 3 GHz.
const STEPS: u32 = 50_000;
/// Time spent before the first timed run, so that a core that slept has reached its clock.
const WAKE: Duration = Duration::from_millis(4);
/// Fewest timed runs, however slow the CPU is.
const RUNS_MIN: usize = 5;

/// Does the work over and over for about `budget` on the calling thread, at least five times.
#[must_use]
pub fn fixed_work(budget: Duration) -> FixedWork {
    let asleep = Instant::now();
    while asleep.elapsed() < WAKE.min(budget / 4) {
        black_box(work(black_box(1)));
    }
    // From here on: a CPU quota that ran out while the core woke must not eat the budget, or it is never seen.
    let begin = Instant::now();
    let mut times_ns = Vec::with_capacity(1024);
    while times_ns.len() < RUNS_MIN || (begin.elapsed() < budget && times_ns.len() < times_ns.capacity()) {
        let start = Instant::now();
        black_box(work(black_box(1)));
        times_ns.push(start.elapsed().as_nanos() as f64);
    }
    summary(&mut times_ns)
}

/// SplitMix64's finaliser, fed with its own result.
fn work(seed: u64) -> u64 {
    (0..STEPS).fold(seed, |x, _| {
        let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb)
    })
}

/// `times_ns` must not be empty; it is sorted.
fn summary(times_ns: &mut [f64]) -> FixedWork {
    times_ns.sort_unstable_by(f64::total_cmp);
    let count = times_ns.len() as f64;
    let at = |quantile: f64| times_ns[((count * quantile) as usize).min(times_ns.len() - 1)];
    let mean = times_ns.iter().sum::<f64>() / count;
    let variance = times_ns.iter().map(|time| (time - mean).powi(2)).sum::<f64>() / (count - 1.0).max(1.0);
    let median_ns = at(0.5);
    FixedWork {
        runs: times_ns.len() as u32,
        mean_ns: mean,
        median_ns,
        variation: variance.sqrt() / mean.max(1.0),
        p99_over_median: at(0.99) / median_ns.max(1.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_of_known_times() {
        let mut times: Vec<f64> = (1..=100).map(f64::from).collect();
        times.reverse();
        let found = summary(&mut times);
        assert_eq!((found.runs, found.mean_ns, found.median_ns), (100, 50.5, 51.0));
        // The standard deviation of 1 … 100 is √(100 · 101 / 12).
        assert!((found.variation - (100.0_f64 * 101.0 / 12.0).sqrt() / 50.5).abs() < 1e-12, "{found:?}");
        assert_eq!(found.p99_over_median, 100.0 / 51.0);
        assert_eq!(summary(&mut [7.0; 5]).variation, 0.0);
    }

    #[test]
    fn the_work_is_the_same_every_time_and_is_done_even_without_a_budget() {
        assert_eq!(work(1), work(1));
        assert_ne!(work(1), work(2));
        let found = fixed_work(Duration::ZERO);
        assert_eq!(found.runs, RUNS_MIN as u32);
        assert!(found.median_ns > 0.0 && found.p99_over_median >= 1.0);
    }
}
