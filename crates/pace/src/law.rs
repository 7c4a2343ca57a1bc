//! The laws of arrivals, each a stream of times from 0: found by an arrival's number alone, or a running sum.
//!
//! With a shape, the law's arrivals at rate 1 are carried over by t = Λ⁻¹(u), Λ the cumulative rate. For Poisson this
//! gives exactly the inhomogeneous process that thinning gives (time-rescaling theorem: Brown, Barbieri, Ventura, Kass
//! & Frank, Neural Computation 14, 2002; thinning: Lewis & Shedler, Nav. Res. Logist. Q. 26, 1979), and is chosen over
//! thinning because it costs one draw per arrival however high the peak, and serves the other laws as well. The
//! modulation of an MMPP stays on the clock; its intensity multiplies the shape.

use crate::amount::Amount;
use crate::course::Course;
use crate::gap::Gap;
use crate::grid::Grid;
use crate::mmpp::Mmpp;
use crate::recorded::Recorded;
use crate::renewal::Renewal;
use crate::scale::{MICRO, PERIOD_NUMERATOR, RATE_MAX_PER_S};
use crate::turns::Turns;
use crate::{PaceError, Share};
use schema::arrival::{ArrivalPlan, ShapePlan};
use schema::plan::LoadPlan;
use std::sync::Arc;
use units::{Nanos, PerSecond, Seed};

/// Arrivals of a law at a rate or a shape: all of them, or those of one worker or of neighbouring workers.
#[derive(Clone, Debug)]
pub(crate) enum Law {
    Constant(Grid),
    Uniform { grid: Grid, slots: Slots, period_ns: f64 },
    Renewal(Renewal),
    Mmpp(Box<Mmpp>),
    Recorded(Recorded),
    Shaped(Box<Shaped>),
}

/// Arrivals at rate 1, carried over to a course.
#[derive(Clone, Debug)]
pub(crate) struct Shaped {
    course: Course,
    source: Source,
    last_ns: u64,
}

#[derive(Clone, Debug)]
pub(crate) enum Source {
    Constant { number: u64, stride: u64 },
    Uniform(Slots),
    Renewal(Renewal),
}

impl Law {
    /// The part `share` of a law at `rate` in total, as [`crate::Schedule::new`].
    pub(crate) fn new(
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
        let law = match (law, course) {
            (ArrivalPlan::Recorded { .. }, Some(_)) => return Err(PaceError::ShapedRecording),
            (ArrivalPlan::Recorded { speed, after, .. }, None) => {
                Self::Recorded(Recorded::new(recorded, *speed, *after, share)?)
            }
            (ArrivalPlan::Mmpp { high, low, high_for_ns, low_for_ns }, course) => {
                let course = course.unwrap_or_else(|| Course::steady(rate_micro as u64));
                let (intensities, lengths_ns) = ((*high, *low), (*high_for_ns, *low_for_ns));
                Self::Mmpp(Box::new(Mmpp::new(intensities, lengths_ns, course, seed)?))
            }
            (law, Some(course)) => {
                let source = Source::new(law, seed, share)?;
                Self::Shaped(Box::new(Shaped { course, source, last_ns: 0 }))
            }
            (law, None) => Self::steady(law, rate_micro, seed, share)?,
        };
        Ok(law.narrowed(Turns::of(share)))
    }

    /// The part `share` of the arrivals of a load, as [`crate::Schedule::of_load`].
    pub(crate) fn of_load(
        load: &LoadPlan,
        recorded: Option<Arc<[u64]>>,
        share: Share,
    ) -> Result<Self, PaceError> {
        let law = load.arrivals.clone().unwrap_or_default();
        let rate = PerSecond(load.rate_per_s.unwrap_or_default());
        let seed = Seed(load.seed).derive("arrivals", 0);
        Self::new(&law, rate, load.shape.as_ref(), recorded, seed, share)
    }

    /// Whether an arrival is found only by way of all that come before it.
    pub(crate) fn is_sum(&self) -> bool {
        match self {
            Self::Renewal(_) | Self::Mmpp(_) => true,
            Self::Shaped(shaped) => matches!(shaped.source, Source::Renewal(_)),
            Self::Constant(_) | Self::Uniform { .. } | Self::Recorded(_) => false,
        }
    }

    /// A running sum before its first arrival was taken, with the arrivals of `turns` alone; other laws know their
    /// share already.
    pub(crate) fn narrowed(self, turns: Turns) -> Self {
        match self {
            Self::Renewal(renewal) => Self::Renewal(renewal.narrowed(turns)),
            Self::Mmpp(mmpp) => Self::Mmpp(Box::new(mmpp.narrowed(turns))),
            Self::Shaped(mut shaped) => {
                if let Source::Renewal(renewal) = shaped.source {
                    shaped.source = Source::Renewal(renewal.narrowed(turns));
                }
                Self::Shaped(shaped)
            }
            by_number => by_number,
        }
    }

    /// A law at one rate for ever.
    fn steady(law: &ArrivalPlan, rate_micro: f64, seed: Seed, share: Share) -> Result<Self, PaceError> {
        let period_ns = PERIOD_NUMERATOR as f64 / rate_micro;
        let grid = Grid::new(rate_micro as u64, share);
        if let Some(gap) = Gap::of(law)? {
            return Ok(Self::Renewal(Renewal::new(gap, period_ns, seed)));
        }
        Ok(match law {
            ArrivalPlan::Uniform { width } => {
                Self::Uniform { grid, slots: Slots::new(*width, seed, share)?, period_ns }
            }
            _ => Self::Constant(grid),
        })
    }

    /// The next arrival.
    #[inline]
    pub(crate) fn draw(&mut self) -> Nanos {
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
            return Ok(Self::Renewal(Renewal::new(gap, 1.0, seed)));
        }
        Ok(match law {
            ArrivalPlan::Uniform { width } => Self::Uniform(Slots::new(*width, seed, share)?),
            _ => Self::Constant { number: share.first(), stride: share.stride() },
        })
    }
}

/// One random place in the first part of each slot, found by the slot's number alone.
#[derive(Clone, Debug)]
pub(crate) struct Slots {
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
