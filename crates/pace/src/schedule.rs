//! Open-loop arrival schedules: every law and shape of METHOD §2.
//!
//! Worker k of W takes the arrivals k, k+W, k+2W, … of the one schedule. Constant and uniform arrivals and recorded
//! times are found by their number alone; the others are running sums, of which somebody must draw all gaps. Few workers
//! draw them each for itself, 10 to 40 ns for each arrival that is skipped; many take them from batches that are drawn
//! once for all workers of a process ([`crate::Drawing`]). The schedule is the same either way, whatever the number of
//! workers.

use crate::batch::{Drawing, Lane};
use crate::course::NEVER_NS;
use crate::law::Law;
use crate::{PaceError, Share};
use schema::arrival::{ArrivalPlan, ShapePlan};
use schema::plan::LoadPlan;
use std::sync::Arc;
use units::{Nanos, PerSecond, Seed};

/// Up to so many workers of a load draw for themselves: that costs them less than 40 ns an arrival, and no thread.
const OWN_MAX: u32 = 4;

/// The intended times of one worker, in order, as a stream that begins at time 0. Where nothing more arrives, the next
/// time is [`Schedule::NEVER`].
#[derive(Clone, Debug)]
pub struct Schedule {
    times: Times,
    next: Nanos,
    /// Arrivals that are left, the next one included.
    left: u64,
}

/// Where a worker's times come from.
#[derive(Clone, Debug)]
enum Times {
    /// It makes them itself.
    Own(Law),
    /// Drawn for all workers of a process.
    Drawn(Lane),
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
        Ok(Self::of(Times::Own(Law::new(law, rate, shape, recorded, seed, share)?)))
    }

    fn of(mut times: Times) -> Self {
        let next = times.draw();
        Self { times, next, left: u64::MAX }
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
        Ok(Self::of(Times::Own(Law::of_load(load, recorded, share)?)))
    }

    /// As [`Schedule::of_load`] for `own` workers of one process, the first of which has the number `first`, with what draws
    /// ahead of them. `None` where they are better off each for itself: with arrivals that are found by their number alone,
    /// and with few workers in all.
    ///
    /// # Errors
    /// As [`Schedule::of_load`].
    pub fn drawn_once(
        load: &LoadPlan,
        first: u32,
        own: u32,
    ) -> Result<Option<(Vec<Self>, Drawing)>, PaceError> {
        // Recorded times are found by their number, and come as a file.
        let is_recorded = matches!(load.arrivals, Some(ArrivalPlan::Recorded { .. }));
        if load.workers <= OWN_MAX || is_recorded {
            return Ok(None);
        }
        let law = Law::of_load(load, None, Share::WHOLE)?;
        if !law.is_sum() {
            return Ok(None);
        }
        let (lanes, drawing) = Drawing::new(law, first.into(), own.into(), load.workers.into());
        Ok(Some((lanes.into_iter().map(|lane| Self::of(Times::Drawn(lane))).collect(), drawing)))
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
        self.next = if self.left == 0 { Self::NEVER } else { self.times.draw() };
        taken
    }
}

impl Times {
    #[inline]
    fn draw(&mut self) -> Nanos {
        match self {
            Self::Own(law) => law.draw(),
            Self::Drawn(lane) => lane.draw(),
        }
    }
}

#[cfg(test)]
#[path = "schedule_tests.rs"]
pub(crate) mod tests;
