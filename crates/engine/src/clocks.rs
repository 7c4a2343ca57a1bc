//! Whether the clock of all times kept its pace during a load, held against the host's other clocks.
//!
//! Every time comes from CLOCK_MONOTONIC, which NTP speeds up and slows down: by up to 500 ppm as a correction of the
//! crystal, and by chrony by up to 10 % while it makes up for an offset. CLOCK_MONOTONIC_RAW is the same counter without
//! that. CLOCK_REALTIME goes at the pace of CLOCK_MONOTONIC and differs from it by an offset that moves only where the
//! wall clock is set, or the host was suspended.
//!
//! Invariants: two looks, before and after the load, and none in between; how far a result may be off is known from the
//! looks themselves. Absent on purpose: what a difference means (the gates of crate analyze).

use rustix::time::{ClockId, clock_gettime};
use schema::calibration::ClockCheck;

/// Readings that are tried; the closest counts, because one with an interruption in it is off by as much.
const TRIES: u32 = 16;
/// Shorter loads say nothing: readings lie some 100 ns apart, which is then more than 1 ppm.
const SPAN_NS_MIN: u64 = 100_000_000;

/// The clocks of a host, each in nanoseconds since a moment of its own.
pub trait Clocks {
    /// CLOCK_MONOTONIC.
    fn monotonic_ns(&mut self) -> u64;
    /// CLOCK_MONOTONIC_RAW.
    fn raw_ns(&mut self) -> u64;
    /// CLOCK_REALTIME.
    fn real_ns(&mut self) -> u64;
}

/// Those of this machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct MachineClocks;

impl Clocks for MachineClocks {
    fn monotonic_ns(&mut self) -> u64 {
        read(ClockId::Monotonic)
    }
    fn raw_ns(&mut self) -> u64 {
        read(ClockId::MonotonicRaw)
    }
    fn real_ns(&mut self) -> u64 {
        read(ClockId::Realtime)
    }
}

fn read(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    // A wall clock before 1970 has no use here.
    u64::try_from(time.tv_sec).unwrap_or_default() * 1_000_000_000 + time.tv_nsec.cast_unsigned()
}

/// All three clocks at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    monotonic_ns: u64,
    raw_ns: u64,
    real_ns: u64,
    /// Between the first and the last reading: the others may be off by half of it.
    apart_ns: u64,
}

impl Look {
    /// Reads the clocks; takes some microseconds.
    #[must_use]
    pub fn at(clocks: &mut impl Clocks) -> Self {
        let mut best = Self::once(clocks);
        for _ in 1..TRIES {
            let next = Self::once(clocks);
            if next.apart_ns < best.apart_ns {
                best = next;
            }
        }
        best
    }

    fn once(clocks: &mut impl Clocks) -> Self {
        let before = clocks.monotonic_ns();
        let (raw_ns, real_ns) = (clocks.raw_ns(), clocks.real_ns());
        let apart_ns = clocks.monotonic_ns().saturating_sub(before);
        Self { monotonic_ns: before + apart_ns / 2, raw_ns, real_ns, apart_ns }
    }

    /// What the clocks did from this look to a later one; `None` where less than 0.1 s lies between them, or where the
    /// raw clock did not move.
    #[must_use]
    pub fn until(&self, later: &Self) -> Option<ClockCheck> {
        let span_ns = later.monotonic_ns.checked_sub(self.monotonic_ns)?;
        let raw_ns = later.raw_ns.checked_sub(self.raw_ns).filter(|raw_ns| *raw_ns > 0)?;
        if span_ns.max(raw_ns) < SPAN_NS_MIN {
            return None;
        }
        let error_ns = (self.apart_ns + later.apart_ns).div_ceil(2);
        let real_ns = i128::from(later.real_ns) - i128::from(self.real_ns);
        let step_ns = real_ns - i128::from(span_ns);
        Some(ClockCheck {
            span_ns,
            rate_ppm: (span_ns as f64 / raw_ns as f64 - 1.0) * 1e6,
            rate_error_ppm: error_ns as f64 / raw_ns as f64 * 1e6,
            step_ns: step_ns.clamp(i64::MIN.into(), i64::MAX.into()) as i64,
            step_error_ns: error_ns,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEGIN_NS: u64 = 1_000_000_000_000;

    /// Clocks of a made host: true time moves by 30 ns with each reading.
    struct Made {
        true_ns: u64,
        fast_ppm: f64,
        set_ahead_ns: i64,
        slow_reading_ns: u64,
    }

    impl Made {
        fn pass(&mut self) -> u64 {
            self.true_ns += 30 + std::mem::take(&mut self.slow_reading_ns);
            self.true_ns
        }

        fn monotonic(&self, true_ns: u64) -> u64 {
            let since = true_ns - BEGIN_NS;
            (true_ns as f64 - BEGIN_NS as f64 + since as f64 * self.fast_ppm / 1e6) as u64
        }
    }

    impl Clocks for Made {
        fn monotonic_ns(&mut self) -> u64 {
            let now = self.pass();
            self.monotonic(now)
        }
        fn raw_ns(&mut self) -> u64 {
            self.pass()
        }
        fn real_ns(&mut self) -> u64 {
            let now = self.pass();
            (self.monotonic(now) + 1_795_000_000_000_000_000).saturating_add_signed(self.set_ahead_ns)
        }
    }

    /// What is found over so many seconds, where the wall clock is set meanwhile.
    fn found(fast_ppm: f64, seconds: u64, set_ahead_ns: i64) -> ClockCheck {
        let mut clocks = Made { true_ns: BEGIN_NS, fast_ppm, set_ahead_ns: 0, slow_reading_ns: 0 };
        let begin = Look::at(&mut clocks);
        clocks.true_ns += seconds * 1_000_000_000;
        clocks.set_ahead_ns = set_ahead_ns;
        // The first reading of the second look is interrupted: another one counts.
        clocks.slow_reading_ns = 5_000_000;
        begin.until(&Look::at(&mut clocks)).unwrap()
    }

    #[test]
    fn a_planted_rate_is_found_within_the_error_that_is_said() {
        for planted in [0.0, 200.0, -200.0, 700.0, 83_333.0] {
            let found = found(planted, 10, 0);
            assert!((found.rate_ppm - planted).abs() <= found.rate_error_ppm, "{planted}: {found:?}");
            assert!(found.rate_error_ppm < 0.1, "{found:?}");
            assert!(found.step_ns.unsigned_abs() <= found.step_error_ns, "{found:?}");
        }
    }

    #[test]
    fn a_wall_clock_that_is_set_is_a_step_and_no_rate() {
        for planted in [3_000_000, -2_000_000_000] {
            let found = found(200.0, 10, planted);
            assert!(found.step_ns.abs_diff(planted) <= found.step_error_ns, "{found:?}");
            assert!((found.rate_ppm - 200.0).abs() <= found.rate_error_ppm, "{found:?}");
        }
    }

    #[test]
    fn a_short_load_and_a_clock_that_stands_still_say_nothing() {
        let look = |monotonic_ns, raw_ns| Look { monotonic_ns, raw_ns, real_ns: 0, apart_ns: 90 };
        let begin = look(BEGIN_NS, 5);
        assert_eq!(begin.until(&look(BEGIN_NS + SPAN_NS_MIN - 1, SPAN_NS_MIN)), None);
        assert_eq!(begin.until(&look(BEGIN_NS + SPAN_NS_MIN, 5)), None);
        assert_eq!(begin.until(&look(BEGIN_NS - 1, SPAN_NS_MIN)), None);
    }

    #[test]
    fn the_clocks_of_this_machine_can_be_read() {
        let (first, second) = (Look::at(&mut MachineClocks), Look::at(&mut MachineClocks));
        assert!(first.monotonic_ns > 0 && first.raw_ns > 0 && first.real_ns > first.raw_ns);
        assert!(second.monotonic_ns >= first.monotonic_ns && second.raw_ns >= first.raw_ns);
    }
}
