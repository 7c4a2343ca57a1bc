//! Open-loop arrival schedules: every law and shape of METHOD §2.
//!
//! Worker k of W takes the arrivals k, k+W, k+2W, … of the one schedule. Constant and uniform arrivals and recorded
//! times are found by their number alone; the others are running sums, of which somebody must draw all gaps. Few workers
//! draw them each for itself, 10 to 40 ns for each arrival that is skipped; many take them from batches that are drawn
//! once for all workers of a process ([`crate::Drawing`]). The schedule is the same either way, whatever the number of
//! workers.

use crate::batch::Lane;
use crate::course::NEVER_NS;
use crate::law::Law;
use crate::{PaceError, Share};
use schema::arrival::{ArrivalPlan, ShapePlan};
use schema::plan::LoadPlan;
use std::sync::Arc;
use units::{Nanos, PerSecond, Seed};

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

    /// The arrivals of a worker that others of its process have drawn.
    pub(crate) fn drawn(lane: Lane) -> Self {
        Self::of(Times::Drawn(lane))
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
