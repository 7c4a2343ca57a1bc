//! Recorded times, replayed. Pure: the times are handed in.

use crate::course::NEVER_NS;
use crate::{PaceError, Share};
use schema::arrival::RecordingEnd;
use std::sync::Arc;

/// One worker's part of a recording.
#[derive(Clone, Debug)]
pub(crate) struct Recorded {
    times_ns: Arc<[u64]>,
    speed: f64,
    /// From the begin of one repetition to the next, as recorded; `None` where nothing follows.
    period_ns: Option<u64>,
    next: u64,
    stride: u64,
}

impl Recorded {
    /// # Errors
    /// [`PaceError::Recording`] where the times are missing, too few, or not in order; [`PaceError::Parameter`].
    pub(crate) fn new(
        times_ns: Option<Arc<[u64]>>,
        speed: f64,
        after: RecordingEnd,
        share: Share,
    ) -> Result<Self, PaceError> {
        PaceError::check("speed", speed, 1e-9, 1e9)?;
        let times_ns = times_ns.ok_or(PaceError::Recording("its times were not handed over"))?;
        let (Some(first), Some(last)) = (times_ns.first(), times_ns.last()) else {
            return Err(PaceError::Recording("it holds no times"));
        };
        if !times_ns.is_sorted() {
            return Err(PaceError::Recording("its times are not in order; sort them"));
        }
        let span_ns = last - first;
        if times_ns.len() < 2 || span_ns == 0 {
            return Err(PaceError::Recording("it needs two different times, or it has no rate"));
        }
        // One mean gap between the last time and the first of the next repetition keeps the mean rate.
        let mean_gap_ns = (span_ns / (times_ns.len() as u64 - 1)).max(1);
        let period_ns = (after == RecordingEnd::Repeat).then_some(span_ns.saturating_add(mean_gap_ns));
        Ok(Self { times_ns, speed, period_ns, next: share.first(), stride: share.stride() })
    }

    #[inline]
    pub(crate) fn draw(&mut self) -> u64 {
        let count = self.times_ns.len() as u64;
        let (cycle, index) = (self.next / count, (self.next % count) as usize);
        let before_ns = match self.period_ns {
            _ if cycle == 0 => 0,
            Some(period_ns) => cycle.saturating_mul(period_ns),
            None => return NEVER_NS,
        };
        self.next += self.stride;
        scaled(before_ns.saturating_add(self.times_ns[index] - self.times_ns[0]), self.speed)
    }
}

/// At speed 1 the times are exact, whatever their size.
#[inline]
fn scaled(at_ns: u64, speed: f64) -> u64 {
    if speed == 1.0 { at_ns } else { (at_ns as f64 / speed) as u64 }
}
