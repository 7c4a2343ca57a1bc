//! What the generator can learn of itself in a few milliseconds: the clock's step and how late waits wake.

use pace::SpinMargin;
use rustix::event::{Timespec, epoll};
use schema::run::Instrument;
use units::{Clock, MonotonicClock, Nanos};

const READINGS: u64 = 2_000;
const WAITS: usize = 40;
const WAIT_NS: u64 = 100_000;
/// Waits and longest time for the margin that a worker begins with: the margin learns while the load runs, and the
/// first request must not wait for it.
const MARGIN_WAITS: usize = 8;
const MARGIN_TIME: Nanos = Nanos::from_millis(2);

/// Measures the clock and the lateness of timed waits, in about 6 ms, on the calling thread.
#[must_use]
pub fn measure() -> Instrument {
    let clock = MonotonicClock::starting_now();
    let (clock_step_ns, clock_read_ns) = read_clock(&clock);
    let mut late = wait_lateness(&clock, WAITS, Nanos::SECOND);
    late.sort_unstable();
    let at =
        |quantile: f64| late.get(((late.len() as f64 * quantile) as usize).min(late.len().saturating_sub(1)));
    Instrument {
        clock_step_ns,
        clock_read_ns,
        wake_late_p50_ns: at(0.5).copied().unwrap_or_default(),
        wake_late_p99_ns: at(0.99).copied().unwrap_or_default(),
    }
}

/// The margin that a worker begins with: the latest of a few waits, in about 1 ms and little more on a busy machine.
pub(crate) fn spin_margin() -> SpinMargin {
    let late = wait_lateness(&MonotonicClock::starting_now(), MARGIN_WAITS, MARGIN_TIME);
    SpinMargin::new(Nanos(late.into_iter().max().unwrap_or_default()))
}

fn read_clock(clock: &MonotonicClock) -> (u64, f64) {
    let begin = clock.now();
    let mut last = begin;
    let mut step = u64::MAX;
    for _ in 0..READINGS {
        let now = clock.now();
        if now > last {
            step = step.min(now.since(last).0);
        }
        last = now;
    }
    (step, last.since(begin).0 as f64 / READINGS as f64)
}

/// Lateness of up to `waits` timed waits on an empty epoll set, the very call that workers wait in; none begins after
/// `at_most`.
fn wait_lateness(clock: &MonotonicClock, waits: usize, at_most: Nanos) -> Vec<u64> {
    let Ok(epoll) = epoll::create(epoll::CreateFlags::CLOEXEC) else { return Vec::new() };
    let timeout = Timespec { tv_sec: 0, tv_nsec: WAIT_NS.cast_signed() };
    let mut events: Vec<epoll::Event> = Vec::with_capacity(1);
    let first = clock.now();
    (0..waits)
        .map_while(|_| {
            let begin = clock.now();
            if begin.since(first) > at_most {
                return None;
            }
            epoll::wait(&epoll, rustix::buffer::spare_capacity(&mut events), Some(&timeout)).ok()?;
            Some(clock.now().since(begin).0.saturating_sub(WAIT_NS))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_instrument_sees_its_clock_and_its_waits() {
        let instrument = measure();
        assert!(instrument.clock_step_ns > 0 && instrument.clock_step_ns < u64::MAX);
        assert!(instrument.clock_read_ns > 0.0);
        assert!(instrument.wake_late_p99_ns >= instrument.wake_late_p50_ns);
        assert!(spin_margin().sleep_until(Nanos::ZERO, Nanos::SECOND) < Nanos::SECOND);
    }
}
