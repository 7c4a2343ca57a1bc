//! Open-loop arrival schedules: every law and shape of METHOD §2.
//!
//! Worker k of W takes the arrivals k, k+W, k+2W, … of the one schedule. Constant and uniform arrivals and recorded
//! times are found by their number alone; the others are running sums, so each worker draws all gaps and keeps its
//! own, which costs about 10 to 40 ns per skipped arrival and keeps the schedule the same whatever the number of
//! workers.
//!
//! With a shape, the law's arrivals at rate 1 are carried over by t = Λ⁻¹(u), Λ the cumulative rate. For Poisson this
//! gives exactly the inhomogeneous process that thinning gives (time-rescaling theorem: Brown, Barbieri, Ventura, Kass
//! & Frank, Neural Computation 14, 2002; thinning: Lewis & Shedler, Nav. Res. Logist. Q. 26, 1979), and is chosen over
//! thinning because it costs one draw per arrival however high the peak, and serves the other laws as well. The
//! modulation of an MMPP stays on the clock; its intensity multiplies the shape.

use crate::amount::Amount;
use crate::course::{Course, NEVER_NS};
use crate::gap::Gap;
use crate::grid::Grid;
use crate::mmpp::Mmpp;
use crate::recorded::Recorded;
use crate::renewal::Renewal;
use crate::scale::{MICRO, PERIOD_NUMERATOR, RATE_MAX_PER_S};
use crate::{PaceError, Share};
use schema::arrival::{ArrivalPlan, ShapePlan};
use schema::plan::LoadPlan;
use std::sync::Arc;
use units::{Nanos, PerSecond, Seed};

/// The intended times of one worker, in order, as a stream that begins at time 0. Where nothing more arrives, the next
/// time is [`Schedule::NEVER`].
#[derive(Clone, Debug)]
pub struct Schedule {
    law: Law,
    next: Nanos,
    /// Arrivals that are left, the next one included.
    left: u64,
}

#[derive(Clone, Debug)]
enum Law {
    Constant(Grid),
    Uniform { grid: Grid, slots: Slots, period_ns: f64 },
    Renewal(Renewal),
    Mmpp(Box<Mmpp>),
    Recorded(Recorded),
    Shaped(Box<Shaped>),
}

/// Arrivals at rate 1, carried over to a course.
#[derive(Clone, Debug)]
struct Shaped {
    course: Course,
    source: Source,
    last_ns: u64,
}

#[derive(Clone, Debug)]
enum Source {
    Constant { number: u64, stride: u64 },
    Uniform(Slots),
    Renewal(Renewal),
}

impl Schedule {
    /// The time of an arrival that never comes.
    pub const NEVER: Nanos = Nanos(NEVER_NS);

    /// The part `share` of the schedule of `law` at `rate` in total; `shape` takes the place of the rate where it is
    /// given, and recorded times bring their own.
    ///
    /// # Errors
    /// [`PaceError`]: the rate is not finite or not between 1e-6 and 1e9 per second, a parameter is out of range, the
    /// shape has no arrivals, or recorded times are missing, out of order or under a shape.
    pub fn new(
        law: &ArrivalPlan,
        rate: PerSecond,
        shape: Option<&ShapePlan>,
        recorded: Option<Arc<[u64]>>,
        seed: Seed,
        share: Share,
    ) -> Result<Self, PaceError> {
        let rate_micro = (rate.0 * MICRO).round();
        if !(1.0..=RATE_MAX_PER_S * MICRO).contains(&rate_micro) {
            return Err(PaceError::Rate(rate.0));
        }
        let course = shape.map(Course::of).transpose()?;
        let mut law = match (law, course) {
            (ArrivalPlan::Recorded { .. }, Some(_)) => return Err(PaceError::ShapedRecording),
            (ArrivalPlan::Recorded { speed, after, .. }, None) => {
                Law::Recorded(Recorded::new(recorded, *speed, *after, share)?)
            }
            (ArrivalPlan::Mmpp { high, low, high_for_ns, low_for_ns }, course) => {
                let course = course.unwrap_or_else(|| Course::steady(rate_micro as u64));
                Law::Mmpp(Box::new(Mmpp::new(
                    (*high, *low),
                    (*high_for_ns, *low_for_ns),
                    course,
                    seed,
                    share,
                )?))
            }
            (law, Some(course)) => {
                let source = Source::new(law, seed, share)?;
                Law::Shaped(Box::new(Shaped { course, source, last_ns: 0 }))
            }
            (law, None) => Law::steady(law, rate_micro, seed, share)?,
        };
        let next = law.draw();
        Ok(Self { law, next, left: u64::MAX })
    }

    /// The same, ended after this worker's part of `arrivals` in total. The arrivals of all workers together are then
    /// the first `arrivals` of the schedule.
    #[must_use]
    pub fn ending_after(mut self, arrivals: u64, share: Share) -> Self {
        self.left = share.of(arrivals);
        if self.left == 0 {
            self.next = Self::NEVER;
        }
        self
    }

    /// The part `share` of the schedule of a load; a load without a rate is refused.
    ///
    /// # Errors
    /// As [`Schedule::new`].
    pub fn of_load(load: &LoadPlan, recorded: Option<Arc<[u64]>>, share: Share) -> Result<Self, PaceError> {
        let law = load.arrivals.clone().unwrap_or_default();
        let rate = PerSecond(load.rate_per_s.unwrap_or_default());
        let seed = Seed(load.seed).derive("arrivals", 0);
        Self::new(&law, rate, load.shape.as_ref(), recorded, seed, share)
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
        self.left = self.left.saturating_sub(1);
        self.next = if self.left == 0 { Self::NEVER } else { self.law.draw() };
        taken
    }
}

impl Law {
    /// A law at one rate for ever.
    fn steady(law: &ArrivalPlan, rate_micro: f64, seed: Seed, share: Share) -> Result<Self, PaceError> {
        let period_ns = PERIOD_NUMERATOR as f64 / rate_micro;
        let grid = Grid::new(rate_micro as u64, share);
        if let Some(gap) = Gap::of(law)? {
            return Ok(Self::Renewal(Renewal::new(gap, period_ns, seed, share)));
        }
        Ok(match law {
            ArrivalPlan::Uniform { width } => {
                Self::Uniform { grid, slots: Slots::new(*width, seed, share)?, period_ns }
            }
            _ => Self::Constant(grid),
        })
    }

    #[inline]
    fn draw(&mut self) -> Nanos {
        match self {
            Self::Constant(grid) => grid.step(),
            Self::Uniform { grid, slots, period_ns } => {
                let within = slots.draw().1 * *period_ns;
                Nanos(grid.step().0 + within as u64)
            }
            Self::Renewal(renewal) => Nanos(renewal.draw()),
            Self::Mmpp(mmpp) => Nanos(mmpp.draw()),
            Self::Recorded(recorded) => Nanos(recorded.draw()),
            Self::Shaped(shaped) => Nanos(shaped.draw()),
        }
    }
}

impl Shaped {
    fn draw(&mut self) -> u64 {
        let amount = match &mut self.source {
            Source::Constant { number, stride } => {
                let taken = *number;
                *number += *stride;
                Amount::new(taken, 0.0)
            }
            Source::Uniform(slots) => {
                let (slot, within) = slots.draw();
                Amount::new(slot, within)
            }
            Source::Renewal(renewal) => renewal.draw_amount(),
        };
        // Guards against the last bit of a double between arrivals less than a nanosecond apart.
        self.last_ns = self.last_ns.max(self.course.time_of(amount));
        self.last_ns
    }
}

impl Source {
    fn new(law: &ArrivalPlan, seed: Seed, share: Share) -> Result<Self, PaceError> {
        if let Some(gap) = Gap::of(law)? {
            return Ok(Self::Renewal(Renewal::new(gap, 1.0, seed, share)));
        }
        Ok(match law {
            ArrivalPlan::Uniform { width } => Self::Uniform(Slots::new(*width, seed, share)?),
            _ => Self::Constant { number: share.first(), stride: share.stride() },
        })
    }
}

/// One random place in the first part of each slot, found by the slot's number alone.
#[derive(Clone, Debug)]
struct Slots {
    width: f64,
    seed: Seed,
    number: u64,
    stride: u64,
}

impl Slots {
    fn new(width: f64, seed: Seed, share: Share) -> Result<Self, PaceError> {
        PaceError::check("width", width, f64::MIN_POSITIVE, 1.0)?;
        Ok(Self { width, seed, number: share.first(), stride: share.stride() })
    }

    /// The number of the slot, and the place in it as a share.
    #[inline]
    fn draw(&mut self) -> (u64, f64) {
        let slot = self.number;
        self.number += self.stride;
        (slot, self.seed.derive("slot", slot).rng().unit() * self.width)
    }
}

#[cfg(test)]
#[path = "schedule_tests.rs"]
mod tests;
