//! Open-loop arrival schedules: constant, uniform and Poisson (METHOD §2).
//!
//! Worker k of W takes the arrivals k, k+W, k+2W, … of the one schedule. Constant and uniform arrivals are found by
//! their number alone; Poisson arrivals are a running sum, so each worker draws all gaps and keeps its own, which
//! costs about 10 ns per skipped arrival and keeps the schedule the same whatever the number of workers.

use crate::Share;
use schema::experiment::ArrivalLaw;
use units::{Nanos, PerSecond, Rng, Seed};

/// Highest rate in total: one request per nanosecond tick would leave no time for anything else long before.
const RATE_MAX_PER_S: f64 = 1e9;
/// Rates are kept in millionths of a request per second, so that integer steps are exact.
const MICRO: f64 = 1e6;
/// Nanoseconds in a second times [`MICRO`]: the numerator of the period.
const PERIOD_NUMERATOR: u128 = 1_000_000_000_000_000;

/// Why a schedule cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum PaceError {
    /// Rate outside the range.
    #[error("the rate {0}/s is out of range; give a rate from 0.000001 to 1000000000 per second")]
    Rate(f64),
}

/// The intended times of one worker, in order, as an endless stream that begins at time 0.
#[derive(Clone, Debug)]
pub struct Schedule {
    law: Law,
    next: Nanos,
}

#[derive(Clone, Debug)]
enum Law {
    Constant(Grid),
    Uniform { grid: Grid, seed: Seed, number: u64, stride: u64, period_ns: f64 },
    Poisson(Poisson),
}

impl Schedule {
    /// The part `share` of the schedule of `law` at `rate` in total.
    ///
    /// # Errors
    /// [`PaceError::Rate`] unless the rate is finite and between 1e-6 and 1e9 per second.
    pub fn new(law: ArrivalLaw, rate: PerSecond, seed: Seed, share: Share) -> Result<Self, PaceError> {
        let rate_micro = (rate.0 * MICRO).round();
        if !(1.0..=RATE_MAX_PER_S * MICRO).contains(&rate_micro) {
            return Err(PaceError::Rate(rate.0));
        }
        let grid = Grid::new(rate_micro as u64, share);
        let mut law = match law {
            ArrivalLaw::Constant => Law::Constant(grid),
            ArrivalLaw::Uniform => Law::Uniform {
                grid,
                seed,
                number: share.first(),
                stride: share.stride(),
                period_ns: PERIOD_NUMERATOR as f64 / rate_micro,
            },
            ArrivalLaw::Poisson => {
                Law::Poisson(Poisson::new(PERIOD_NUMERATOR as f64 / rate_micro, seed, share))
            }
        };
        let next = law.draw();
        Ok(Self { law, next })
    }

    /// The next intended time.
    #[inline]
    #[must_use]
    pub const fn peek(&self) -> Nanos {
        self.next
    }

    /// Takes the next intended time.
    #[inline]
    pub fn advance(&mut self) -> Nanos {
        let taken = self.next;
        self.next = self.law.draw();
        taken
    }
}

impl Law {
    #[inline]
    fn draw(&mut self) -> Nanos {
        match self {
            Self::Constant(grid) => grid.step(),
            Self::Uniform { grid, seed, number, stride, period_ns } => {
                let within = seed.derive("slot", *number).rng().unit() * *period_ns;
                *number += *stride;
                Nanos(grid.step().0 + within as u64)
            }
            Self::Poisson(poisson) => poisson.draw(),
        }
    }
}

/// Multiples of the period without rounding drift: Bresenham's algorithm on whole nanoseconds.
#[derive(Clone, Debug)]
struct Grid {
    at_ns: u64,
    step_ns: u64,
    /// Carried remainder and its step, in units of 1/denominator ns.
    remainder: u64,
    remainder_step: u64,
    denominator: u64,
}

impl Grid {
    fn new(rate_micro: u64, share: Share) -> Self {
        let denominator = u128::from(rate_micro);
        let first = PERIOD_NUMERATOR * u128::from(share.first());
        let step = PERIOD_NUMERATOR * u128::from(share.stride());
        Self {
            at_ns: (first / denominator) as u64,
            step_ns: (step / denominator) as u64,
            remainder: (first % denominator) as u64,
            remainder_step: (step % denominator) as u64,
            denominator: rate_micro,
        }
    }

    #[inline]
    fn step(&mut self) -> Nanos {
        let taken = Nanos(self.at_ns);
        self.at_ns += self.step_ns;
        self.remainder += self.remainder_step;
        if self.remainder >= self.denominator {
            self.remainder -= self.denominator;
            self.at_ns += 1;
        }
        taken
    }
}

/// Independent exponential gaps, summed with the fraction of a nanosecond carried along.
#[derive(Clone, Debug)]
struct Poisson {
    rng: Rng,
    mean_gap_ns: f64,
    at_ns: u64,
    fraction_ns: f64,
    stride: u64,
}

impl Poisson {
    fn new(mean_gap_ns: f64, seed: Seed, share: Share) -> Self {
        let rng = seed.derive("poisson", 0).rng();
        let mut poisson = Self { rng, mean_gap_ns, at_ns: 0, fraction_ns: 0.0, stride: share.stride() };
        // Leave the first stride short by what lies before this worker's first arrival.
        for _ in 0..share.first() {
            poisson.gap();
        }
        poisson.gap();
        poisson
    }

    #[inline]
    fn gap(&mut self) {
        let sum = self.rng.exponential() * self.mean_gap_ns + self.fraction_ns;
        let whole = sum as u64;
        self.at_ns += whole;
        self.fraction_ns = sum - whole as f64;
    }

    #[inline]
    fn draw(&mut self) -> Nanos {
        let taken = Nanos(self.at_ns);
        for _ in 0..self.stride {
            self.gap();
        }
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAWS: [ArrivalLaw; 3] = [ArrivalLaw::Constant, ArrivalLaw::Uniform, ArrivalLaw::Poisson];
    const HOUR_NS: u64 = 3_600_000_000_000;

    fn schedule(law: ArrivalLaw, rate: f64, share: Share) -> Schedule {
        Schedule::new(law, PerSecond(rate), Seed(9), share).unwrap()
    }

    fn until(mut schedule: Schedule, end_ns: u64) -> Vec<u64> {
        std::iter::from_fn(|| (schedule.peek().0 < end_ns).then(|| schedule.advance().0)).collect()
    }

    #[test]
    fn the_split_over_workers_is_the_whole_schedule() {
        for law in LAWS {
            let whole = until(schedule(law, 997.5, Share::WHOLE), 20_000_000_000);
            for workers in [2, 3, 8] {
                let mut union: Vec<u64> = (0..workers)
                    .flat_map(|index| until(schedule(law, 997.5, Share::new(index, workers)), 20_000_000_000))
                    .collect();
                union.sort_unstable();
                assert_eq!(union, whole, "{law:?} over {workers}");
            }
        }
    }

    #[test]
    fn an_hour_gives_the_rate_exactly() {
        for rate in [1.0, 3.0, 7.0, 999.9] {
            for law in [ArrivalLaw::Constant, ArrivalLaw::Uniform] {
                let count: usize =
                    (0..3).map(|index| until(schedule(law, rate, Share::new(index, 3)), HOUR_NS).len()).sum();
                assert_eq!(count as f64, (rate * 3600.0).round(), "{law:?} at {rate}");
            }
        }
        let poisson = until(schedule(ArrivalLaw::Poisson, 1000.0, Share::WHOLE), HOUR_NS).len() as f64;
        assert!((poisson - 3.6e6).abs() < 4.0 * 3.6e6_f64.sqrt(), "{poisson} is off by over four deviations");
    }

    #[test]
    fn constant_arrivals_do_not_drift_in_a_billion_requests() {
        let mut grid = Grid::new(3_000_000, Share::WHOLE);
        // Jump: a stride of 10^8 workers makes each step 10^8 arrivals of the same grid.
        let mut far = Grid::new(3_000_000, Share::new(0, 100_000_000));
        assert_eq!([grid.step().0, grid.step().0, grid.step().0], [0, 333_333_333, 666_666_666]);
        let tenth = (0..=10).map(|_| far.step().0).last().unwrap();
        assert_eq!(tenth, 333_333_333_333_333_333, "arrival 10^9 at 3/s");
    }

    #[test]
    fn poisson_gaps_are_exponential() {
        let times = until(schedule(ArrivalLaw::Poisson, 10_000.0, Share::WHOLE), 10_000_000_000);
        let gaps: Vec<f64> = times.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect();
        let n = gaps.len() as f64;
        let mean = gaps.iter().sum::<f64>() / n;
        let longer = gaps.iter().filter(|gap| **gap > mean).count() as f64 / n;
        assert!((mean - 1e5).abs() < 4.0 * 1e5 / n.sqrt());
        // P(gap > mean) = 1/e; four standard errors.
        assert!((longer - (-1.0_f64).exp()).abs() < 4.0 * 0.48 / n.sqrt());
    }

    #[test]
    fn uniform_arrivals_stay_in_their_slots_and_differ() {
        let times = until(schedule(ArrivalLaw::Uniform, 1000.0, Share::WHOLE), 1_000_000_000);
        assert!(times.iter().enumerate().all(|(slot, at)| at / 1_000_000 == slot as u64));
        assert!(times.windows(2).any(|pair| pair[1] - pair[0] != 1_000_000));
    }

    #[test]
    fn rates_out_of_range_are_refused() {
        for rate in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e10, 1e-9] {
            let made = Schedule::new(ArrivalLaw::Constant, PerSecond(rate), Seed(1), Share::WHOLE);
            assert!(made.is_err(), "{rate}");
        }
    }
}
