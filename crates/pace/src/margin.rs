//! How long before a due time sleeping must turn into spinning, learned from how late sleeps really wake.
//!
//! A virtual machine that has slept for milliseconds wakes hundreds of microseconds late, one that sleeps for
//! microseconds does not; so a margin measured once cannot fit, and is adapted while the load runs. Pure: the caller
//! reads the clock.

use units::Nanos;

/// Smallest and largest margin. The largest bounds what is spent on spinning: at 100/s a fifth of a core.
const BOUNDS: (Nanos, Nanos) = (Nanos::from_micros(10), Nanos::from_millis(2));
/// Shortest sleep worth its wake. A processor that idled between two arrivals a tenth of a millisecond apart wakes late
/// and cold, and what it sends next is off by 10 µs and more; one that spun is off by less than 1 µs
/// (benches/results, gaps as a stamping server saw them).
const NAP_MIN: Nanos = Nanos::from_micros(150);
/// On a CPU that others want too: whoever spins there uses up its claim to run, and is put off by whole slices when it
/// is due. A thread that mostly sleeps is let in within microseconds, so this much is spun and no more
/// (benches/results, beside a busy neighbour).
const SHARED: Nanos = Nanos::from_micros(50);
/// Shortest sleep there: about what going to sleep and waking costs.
const SHARED_NAP_MIN: Nanos = Nanos::from_micros(5);
/// A sleep that woke later than the margin raises it to this multiple of its lateness.
const RAISE: (u64, u64) = (5, 4);
/// A sleep that woke in time lowers the margin by this fraction, so that about one sleep in a hundred is late.
const LOWER: u64 = 400;

/// The adaptive margin of one thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpinMargin {
    margin: Nanos,
    /// Whether others want the CPU too.
    is_shared: bool,
}

impl SpinMargin {
    /// Begins with what was measured, within the bounds of 10 µs to 2 ms.
    #[must_use]
    pub fn new(measured: Nanos) -> Self {
        Self { margin: measured.clamp(BOUNDS.0, BOUNDS.1), is_shared: false }
    }

    /// Says whether others want the CPU too: then little is spun, and what sleeps learn is left alone, for they wake
    /// late for other reasons than their timer.
    pub const fn share(&mut self, is_shared: bool) {
        self.is_shared = is_shared;
    }

    /// Until when to sleep for something that is due at `due`; `now` or earlier where spinning is the better way.
    #[inline]
    #[must_use]
    pub const fn sleep_until(&self, now: Nanos, due: Nanos) -> Nanos {
        let (margin, nap_min) = match self.is_shared {
            true if self.margin.0 > SHARED.0 => (SHARED, SHARED_NAP_MIN),
            true => (self.margin, SHARED_NAP_MIN),
            false => (self.margin, NAP_MIN),
        };
        let wake = due.0.saturating_sub(margin.0);
        if wake < now.0 + nap_min.0 { now } else { Nanos(wake) }
    }

    /// Learns from a sleep that nothing interrupted and that woke `late` after it should have.
    #[inline]
    pub fn observe(&mut self, late: Nanos) {
        if self.is_shared {
            return;
        }
        let next = if late > self.margin {
            Nanos(late.0.saturating_mul(RAISE.0) / RAISE.1)
        } else {
            Nanos(self.margin.0 - self.margin.0 / LOWER)
        };
        self.margin = next.clamp(BOUNDS.0, BOUNDS.1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Seed;

    fn margin_after(sleeps: usize, mut late_ns: impl FnMut() -> u64) -> (SpinMargin, usize) {
        let mut margin = SpinMargin::new(Nanos::ZERO);
        let mut late = 0;
        for sleep in 0..sleeps {
            let this = Nanos(late_ns());
            late += usize::from(sleep >= sleeps / 2 && this > margin.margin);
            margin.observe(this);
        }
        (margin, late)
    }

    #[test]
    fn the_margin_covers_nearly_all_wakes_of_any_law() {
        let mut rng = Seed(1).rng();
        for mean_ns in [5_000.0, 60_000.0, 300_000.0] {
            let (margin, late) = margin_after(20_000, || (rng.exponential() * mean_ns) as u64);
            assert!(late < 300, "{late} of 10,000 sleeps woke after the due time at a mean of {mean_ns} ns");
            assert!(margin.margin.0 as f64 > mean_ns, "{margin:?}");
        }
    }

    #[test]
    fn it_follows_downwards_and_keeps_its_bounds() {
        let mut margin = SpinMargin::new(Nanos::SECOND);
        assert_eq!(margin.sleep_until(Nanos::ZERO, Nanos::SECOND), Nanos::SECOND - BOUNDS.1);
        margin.observe(Nanos::SECOND);
        assert_eq!(margin.margin, BOUNDS.1);
        (0..10_000).for_each(|_| margin.observe(Nanos::ZERO));
        assert_eq!(margin.margin, BOUNDS.0);
        assert_eq!(margin.sleep_until(Nanos::ZERO, Nanos(5)), Nanos::ZERO);
    }

    #[test]
    fn on_a_shared_cpu_little_is_spun_and_nothing_is_learned() {
        let mut margin = SpinMargin::new(Nanos::from_millis(1));
        margin.share(true);
        let now = Nanos::SECOND;
        assert_eq!(margin.sleep_until(now, now + Nanos::from_micros(100)), now + Nanos::from_micros(50));
        assert_eq!(margin.sleep_until(now, now + Nanos::from_micros(54)), now, "too short a nap");
        margin.observe(Nanos::SECOND);
        margin.share(false);
        assert_eq!(margin, SpinMargin::new(Nanos::from_millis(1)));
    }

    #[test]
    fn short_sleeps_are_spun() {
        let margin = SpinMargin::new(Nanos::from_micros(20));
        let now = Nanos::SECOND;
        assert_eq!(margin.sleep_until(now, now + Nanos::from_micros(100)), now);
        assert_eq!(margin.sleep_until(now, now + Nanos::from_micros(169)), now);
        assert_eq!(margin.sleep_until(now, now + Nanos::from_micros(170)), now + NAP_MIN);
    }
}
