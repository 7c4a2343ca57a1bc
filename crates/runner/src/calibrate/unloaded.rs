//! What needs no load: the clock, timed waits, the histogram, and a fixed amount of work.

use super::fold::spread;
use crate::canary;
use hdrhistogram::Histogram;
use schema::calibration::{ClockLimits, FixedWork, HistogramError};
use schema::run::Instrument;
use schema::said;
use schema::said::Said;
use std::num::NonZeroU64;
use units::Nanos;

/// Bounds of the time that one round of fixed work takes.
const WORK: (Nanos, Nanos) = (Nanos::from_millis(20), Nanos::from_millis(500));
/// Values recorded for each power of two.
const PER_OCTAVE: u32 = 100;
/// The smallest; the largest is the histogram's own.
const SMALLEST_NS: u64 = 1_000;

/// Rounds so far.
#[derive(Debug, Default)]
pub(super) struct Unloaded {
    clocks: Vec<Instrument>,
    works: Vec<FixedWork>,
}

impl Unloaded {
    /// One round, on the generator's first CPU, in about `time`.
    pub(super) fn measure(&mut self, cpus: Option<&[u32]>, time: Nanos) {
        let clock = as_a_worker(cpus, engine::measure_instrument);
        self.clocks.push(clock.unwrap_or_else(engine::measure_instrument));
        self.works.extend(canary::reading(cpus, time.clamp(WORK.0, WORK.1).to_duration()));
    }

    pub(super) fn clock(&self) -> ClockLimits {
        let of =
            |read: fn(&Instrument) -> f64| spread(self.clocks.iter().map(read).collect()).unwrap_or_default();
        ClockLimits {
            step_ns: of(|round| round.clock_step_ns as f64),
            read_ns: of(|round| round.clock_read_ns),
            wake_late_p50_ns: of(|round| round.wake_late_p50_ns as f64),
            wake_late_p99_ns: of(|round| round.wake_late_p99_ns as f64),
        }
    }

    /// Medians over the rounds; runs of all together.
    pub(super) fn fixed_work(&self) -> FixedWork {
        let of = |read: fn(&FixedWork) -> f64| {
            spread(self.works.iter().map(read).collect()).map_or(0.0, |found| found.median)
        };
        FixedWork {
            runs: self.works.iter().map(|round| round.runs).sum(),
            mean_ns: of(|round| round.mean_ns),
            median_ns: of(|round| round.median_ns),
            variation: of(|round| round.variation),
            p99_over_median: of(|round| round.p99_over_median),
        }
    }
}

/// Runs on a thread as workers are: on the first CPU, with timed waits that are not rounded up to the default 50 µs.
/// `None` where the system refuses that.
fn as_a_worker<T: Send + 'static>(cpus: Option<&[u32]>, measure: fn() -> T) -> Option<T> {
    let first = cpus.and_then(<[u32]>::first).copied();
    let work = move || {
        if let Some(cpu) = first {
            launch::pin::confine_this_thread(&[cpu]).ok()?;
        }
        rustix::thread::set_current_timer_slack(NonZeroU64::new(1)).ok()?;
        Some(measure())
    };
    std::thread::spawn(work).join().ok()?
}

/// Of a fixed amount of work, one run in a hundred may take this many times the median; more means that the CPU was
/// often taken away for as long as a run lasts, by other programs or by the hypervisor.
const QUIET: f64 = 2.0;

/// Whether something else took CPU time, in words.
pub(super) fn disturbed(work: &FixedWork) -> Option<Said> {
    (work.p99_over_median > QUIET).then(|| {
        said!(
            "calibration.not_quiet",
            "the host was not quiet: 1 % of the runs of a fixed amount of work took {times} times the median or more, \
             so these limits may be too low",
            times = format!("{:.1}", work.p99_over_median)
        )
    })
}

/// Records known values from 1 µs to 1 h, evenly spaced on the logarithm, and reads each back.
pub(super) fn histogram_error() -> HistogramError {
    let mut histogram = engine::new_histogram();
    let octaves = (units::TIME_NS_MAX as f64 / SMALLEST_NS as f64).log2();
    let steps = (octaves * f64::from(PER_OCTAVE)).floor() as u32;
    let known = |step: u32| (SMALLEST_NS as f64 * (f64::from(step) / f64::from(PER_OCTAVE)).exp2()) as u64;
    let mut worst = HistogramError { values: u64::from(steps) + 1, ..HistogramError::default() };
    for value in (0..=steps).map(known) {
        let relative = error_at(&mut histogram, value);
        if relative > worst.relative_max {
            worst = HistogramError { relative_max: relative, at_ns: value, ..worst };
        }
    }
    worst
}

/// |read − known| / known, where reading is what every percentile does.
fn error_at(histogram: &mut Histogram<u64>, value: u64) -> f64 {
    histogram.reset();
    histogram.saturating_record(value);
    histogram.value_at_quantile(0.5).abs_diff(value) as f64 / value as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_histogram_keeps_three_digits_from_1_us_to_1_h() {
        let found = histogram_error();
        assert!(found.values > 3_000, "{found:?}");
        // METHOD §10: 3 significant digits.
        assert!(found.relative_max > 0.0 && found.relative_max <= 0.001, "{found:?}");
        assert!((SMALLEST_NS..=units::TIME_NS_MAX).contains(&found.at_ns));
    }

    #[test]
    fn a_coarse_histogram_is_seen() {
        let mut coarse = Histogram::new_with_bounds(1, units::TIME_NS_MAX, 1).unwrap();
        let worst = (1_000..2_000).map(|value| error_at(&mut coarse, value)).fold(0.0, f64::max);
        assert!(worst > 0.01, "{worst}");
    }

    #[test]
    fn a_cpu_that_cannot_be_used_is_no_worker() {
        assert_eq!(as_a_worker(None, || 1), Some(1));
        assert_eq!(as_a_worker(Some(&[5000]), || 1), None);
    }

    #[test]
    fn rounds_become_medians() {
        let mut unloaded = Unloaded::default();
        let work = |median_ns| FixedWork {
            runs: 10,
            mean_ns: median_ns,
            median_ns,
            variation: 0.01,
            p99_over_median: 1.1,
        };
        unloaded.works = vec![work(3.0), work(1.0), work(2.0)];
        unloaded.clocks =
            [30, 10, 20].map(|step| Instrument { clock_step_ns: step, ..Instrument::default() }).to_vec();
        assert_eq!((unloaded.fixed_work().runs, unloaded.fixed_work().median_ns), (30, 2.0));
        assert_eq!(disturbed(&unloaded.fixed_work()), None);
        assert!(disturbed(&FixedWork { p99_over_median: 2.1, ..work(1.0) }).unwrap().contains("2.1 times"));
        let step = unloaded.clock().step_ns;
        assert_eq!((step.median, step.min, step.max), (20.0, 10.0, 30.0));
    }
}
