//! How a worker opens its connections ahead of the load: when attempts begin, and how many are under way at once.
//!
//! Pure: the worker's loop asks, and tells what has become of the attempts. Every attempt is a real one and waits for
//! the whole connect time-out; where a listener has stopped answering they wait together and not in turn.

use schema::plan::LoadPlan;
use std::time::Duration;
use units::Nanos;

/// Attempts of one worker under way at once; more would overflow the accept queue of a listener that empties it.
const AT_ONCE: usize = 100;
/// A window full of attempts of which none has ended for this long: their first SYN has been dropped, for that is when
/// it is sent again (RFC 6298 §2), so the accept queue is full already.
const STALL: Nanos = Nanos::SECOND;
/// Bounds of the time between two looks at how far the attempts have come.
const LOOK: (Nanos, Nanos) = (Nanos::MILLI, Nanos::from_millis(100));
/// How long a worker may be silent beyond its set-up's longest time before it counts as stuck.
const GRACE: Duration = Duration::from_secs(5);
/// Shortest wait, so that rounding never makes the loop spin.
const WAIT_MIN: Nanos = Nanos::from_micros(10);

/// How connections are opened ahead of the load.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Opening {
    /// How many.
    pub(crate) connections: usize,
    /// Attempts per second of this worker; as fast as possible where absent.
    pub(crate) per_s: Option<f64>,
    /// How long an attempt may take.
    pub(crate) connect_timeout: Nanos,
    /// Most attempts under way at once where they only wait for their time-out; bounded by descriptors.
    pub(crate) waiting_max: usize,
}

/// How far the opening has come.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Progress {
    opening: Opening,
    begun: Nanos,
    /// Attempts begun.
    opened: usize,
    /// Attempts that have ended, well or not.
    ended: usize,
    /// When that number last changed.
    last_end: Nanos,
    /// Attempts that may be under way at once.
    window: usize,
}

impl Opening {
    /// From here on at `now`.
    pub(crate) fn begin(self, now: Nanos) -> Progress {
        Progress { opening: self, begun: now, opened: 0, ended: 0, last_end: now, window: AT_ONCE }
    }

    /// Time between two looks at how far the attempts have come.
    pub(crate) fn between_looks(self) -> Nanos {
        Nanos((self.connect_timeout.0 / 16).clamp(LOOK.0.0, LOOK.1.0))
    }

    /// How long a full window may stand still: no longer than leaves time to wait for the others.
    fn stall(self) -> Nanos {
        STALL.min(Nanos(self.connect_timeout.0 / 2))
    }

    /// Attempts that may have begun this long after the first.
    fn due(self, elapsed: Nanos) -> usize {
        self.per_s.map_or(self.connections, |per_s| {
            ((elapsed.0 as f64 / 1e9 * per_s) as usize + 1).min(self.connections)
        })
    }

    /// How long after the first attempt this one may begin; attempts are counted from 0.
    fn due_at(self, attempt: usize) -> Nanos {
        self.per_s.map_or(Nanos::ZERO, |per_s| Nanos((attempt as f64 / per_s * 1e9).ceil() as u64))
    }
}

impl Progress {
    /// The next attempt, counted from 0, if it may begin now while `under_way` are.
    pub(crate) fn next(&mut self, under_way: usize, now: Nanos) -> Option<usize> {
        let due = self.opening.due(now.since(self.begun));
        (self.opened < due && under_way < self.window).then(|| {
            self.opened += 1;
            self.opened - 1
        })
    }

    /// Takes note of how many attempts are under way. `is_refused` tells that some have timed out. Where the listener
    /// evidently takes no more, all that are left may begin.
    pub(crate) fn observe(&mut self, under_way: usize, is_refused: bool, now: Nanos) {
        let ended = self.opened.saturating_sub(under_way);
        if ended != self.ended {
            (self.ended, self.last_end) = (ended, now);
        }
        let stands_still = under_way >= self.window && now.since(self.last_end) >= self.opening.stall();
        if is_refused || stands_still {
            self.window = self.window.max(self.opening.waiting_max);
        }
    }

    /// Whether every attempt has ended.
    pub(crate) const fn is_over(&self, under_way: usize) -> bool {
        self.opened == self.opening.connections && under_way == 0
    }

    /// How long the worker may wait for events: until `look` at the latest, or until the next attempt may begin.
    pub(crate) fn wait(&self, under_way: usize, look: Nanos, now: Nanos) -> Nanos {
        let may_begin = self.opened < self.opening.connections && under_way < self.window;
        let next = self.begun + self.opening.due_at(self.opened);
        let wake = if may_begin { look.min(next) } else { look };
        wake.since(now).max(WAIT_MIN)
    }
}

/// How long a generator of this load may be silent while it opens connections to each of `origins` origins.
#[must_use]
pub fn setup_time_max(load: &LoadPlan, origins: usize) -> Duration {
    time_max(load, origins).to_duration().saturating_add(GRACE)
}

/// The longest that a worker may take to open its connections to each of `origins` origins: each window full of them
/// ends just before it would have timed out, or the ramp's own length.
fn time_max(load: &LoadPlan, origins: usize) -> Nanos {
    let per_worker = u64::from(load.connections.div_ceil(load.workers.max(1))) * origins as u64;
    let rounds = per_worker.div_ceil(AT_ONCE as u64).max(1);
    let connections = f64::from(load.connections) * origins as f64;
    let ramp_ns = load.connection.ramp_per_s.map_or(0.0, |per_s| connections / per_s * 1e9);
    Nanos(load.connect_timeout_ns.saturating_mul(rounds).saturating_add(ramp_ns as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPENING: Opening = Opening {
        connections: 1000,
        per_s: None,
        connect_timeout: Nanos::from_secs(5),
        waiting_max: usize::MAX,
    };

    #[test]
    fn the_longest_time_counts_the_connections_of_every_origin() {
        let mut load =
            LoadPlan { connections: 100, workers: 1, connect_timeout_ns: 1_000, ..LoadPlan::default() };
        assert_eq!([1, 3].map(|origins| time_max(&load, origins)), [Nanos(1_000), Nanos(3_000)]);
        load.connection.ramp_per_s = Some(10.0);
        assert_eq!(time_max(&load, 3), Nanos::from_secs(30) + Nanos(3_000));
    }

    /// Begins all that may; returns how many.
    fn fill(progress: &mut Progress, under_way: usize, now: Nanos) -> usize {
        (0..).take_while(|begun| progress.next(under_way + begun, now).is_some()).count()
    }

    #[test]
    fn while_attempts_end_only_so_many_are_under_way() {
        let mut progress = OPENING.begin(Nanos::ZERO);
        assert_eq!(fill(&mut progress, 0, Nanos::ZERO), AT_ONCE);
        // One ends every half second: slow, but the listener answers.
        for half_second in 1..20 {
            let now = Nanos::from_millis(500 * half_second);
            progress.observe(AT_ONCE - 1, false, now);
            assert_eq!(fill(&mut progress, AT_ONCE - 1, now), 1);
        }
    }

    #[test]
    fn when_none_ends_or_some_time_out_all_others_begin() {
        let mut progress = OPENING.begin(Nanos::ZERO);
        fill(&mut progress, 0, Nanos::ZERO);
        progress.observe(AT_ONCE, false, Nanos::from_millis(999));
        assert_eq!(fill(&mut progress, AT_ONCE, Nanos::from_millis(999)), 0);
        progress.observe(AT_ONCE, false, Nanos::SECOND);
        assert_eq!(fill(&mut progress, AT_ONCE, Nanos::SECOND), 900);
        assert!(!progress.is_over(1) && progress.is_over(0));

        let mut progress = Opening { waiting_max: 300, ..OPENING }.begin(Nanos::ZERO);
        fill(&mut progress, 0, Nanos::ZERO);
        progress.observe(AT_ONCE - 1, true, Nanos::MILLI);
        assert_eq!(fill(&mut progress, AT_ONCE - 1, Nanos::MILLI), 201, "no more than descriptors allow");
    }

    #[test]
    fn short_time_outs_leave_time_to_wait_together() {
        let opening = Opening { connect_timeout: Nanos::from_millis(300), ..OPENING };
        let mut progress = opening.begin(Nanos::ZERO);
        fill(&mut progress, 0, Nanos::ZERO);
        progress.observe(AT_ONCE, false, Nanos::from_millis(150));
        assert_eq!(fill(&mut progress, AT_ONCE, Nanos::from_millis(150)), 900);
        assert_eq!(opening.between_looks(), Nanos(300_000_000 / 16));
        assert_eq!(OPENING.between_looks(), Nanos::from_millis(100));
    }

    #[test]
    fn a_ramp_begins_each_attempt_in_its_time_and_sleeps_between() {
        let opening = Opening { connections: 5, per_s: Some(3.0), ..OPENING };
        let mut progress = opening.begin(Nanos::SECOND);
        let (mut now, mut begun) = (Nanos::SECOND, Vec::new());
        let mut looks = 0;
        while begun.len() < 5 {
            while progress.next(0, now).is_some() {
                begun.push(now.since(Nanos::SECOND).0 / 1_000_000);
            }
            now = now + progress.wait(0, Nanos::from_secs(60), now);
            looks += 1;
        }
        assert_eq!(begun, [0, 333, 666, 1000, 1333]);
        assert!(looks <= 10, "{looks} looks for 5 attempts");
        // With nothing left to begin, or no room, only the next look is waited for.
        assert_eq!(progress.wait(1, now + Nanos::SECOND, now), Nanos::SECOND);
        assert_eq!(progress.wait(1, now, now), WAIT_MIN);
    }
}
