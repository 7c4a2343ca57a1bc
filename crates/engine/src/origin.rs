//! One origin for several processes: the machine's monotonic clock is the same for all of them.

use rustix::time::{ClockId, clock_gettime};
use units::{Clock, MonotonicClock, Nanos};

/// Readings of both clocks that are tried; the closest pair counts.
const TRIES: u32 = 16;

/// The machine's monotonic clock in nanoseconds: comparable between processes until the machine is started again.
#[must_use]
pub fn machine_ns() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_nsec.cast_unsigned()
}

/// Where on `clock` the moment `moment_ns` of [`machine_ns`] lies; exact to the time between two readings of a clock
/// (some 50 ns). Moments before the clock's zero are its zero.
#[must_use]
pub fn on_clock(clock: &MonotonicClock, moment_ns: u64) -> Nanos {
    let pair = || {
        let before = clock.now();
        let machine_ns = machine_ns();
        let after = clock.now();
        (after.since(before), before, machine_ns)
    };
    // A pair with an interruption in it would be off by as much.
    let (_, now, machine_ns) =
        (0..TRIES).map(|_| pair()).min_by_key(|(apart, ..)| *apart).unwrap_or_else(pair);
    Nanos((now.0 + moment_ns).saturating_sub(machine_ns))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_keep_their_distance_on_every_clock() {
        let clock = MonotonicClock::starting_now();
        let later = clock.with_origin_after(Nanos(0));
        let moment_ns = machine_ns() + 1_000_000_000;
        let (here, there) = (on_clock(&clock, moment_ns), on_clock(&later, moment_ns));
        assert!(here.0.abs_diff(there.0) < 1_000_000, "{here} {there}");
        assert!(here > clock.now(), "a moment of the future is one here too, within this second");
        assert_eq!(on_clock(&clock, 0), Nanos::ZERO);
    }
}
