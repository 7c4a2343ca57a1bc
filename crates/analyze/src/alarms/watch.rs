//! One alarm over time: when its condition began to hold, and whether it fires.

use schema::alarm::AlarmPlan;

/// Two values further apart than this are no unbroken time: what held before the gap is forgotten.
const GAP_MAX_NS: u64 = 60_000_000_000;

/// A value and the time that it is of; of a level that was read at a moment both ends are that moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Seen {
    pub(super) start_ns: u64,
    pub(super) end_ns: u64,
    pub(super) value: f64,
}

/// An alarm and what is known of it.
#[derive(Debug)]
pub(super) struct Watch {
    pub(super) plan: AlarmPlan,
    /// Since when it holds without a gap.
    since_ns: Option<u64>,
    last: Option<Seen>,
    fires: bool,
}

/// It begins to fire, or ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Turn {
    pub(super) fires: bool,
    pub(super) since_ns: u64,
    pub(super) at_ns: u64,
    pub(super) value: f64,
}

impl Watch {
    pub(super) const fn new(plan: AlarmPlan) -> Self {
        Self { plan, since_ns: None, last: None, fires: false }
    }

    pub(super) const fn was_read(&self) -> bool {
        self.last.is_some()
    }

    pub(super) fn see(&mut self, seen: Seen) -> Option<Turn> {
        if !seen.value.is_finite() {
            return None;
        }
        let last = self.last.replace(seen);
        let is_apart = last
            .is_some_and(|last| seen.start_ns.saturating_sub(last.end_ns) > GAP_MAX_NS.max(self.plan.for_ns));
        if is_apart && !self.fires {
            self.since_ns = None;
        }
        if !self.plan.comparison.holds(seen.value, self.plan.bound) {
            let since_ns = self.since_ns.take();
            return since_ns
                .filter(|_| std::mem::take(&mut self.fires))
                .map(|since_ns| turn(false, since_ns, seen));
        }
        let since_ns = *self.since_ns.get_or_insert(seen.start_ns);
        if self.fires || seen.end_ns.saturating_sub(since_ns) < self.plan.for_ns {
            return None;
        }
        self.fires = true;
        Some(turn(true, since_ns, seen))
    }

    /// The trial is over.
    pub(super) fn end(&mut self) -> Option<Turn> {
        let (since_ns, last) = (self.since_ns.take()?, self.last?);
        std::mem::take(&mut self.fires).then(|| turn(false, since_ns, last))
    }
}

const fn turn(fires: bool, since_ns: u64, seen: Seen) -> Turn {
    Turn { fires, since_ns, at_ns: seen.end_ns, value: seen.value }
}
