//! The phases of a load on its grid of intervals, and the end of a warm-up whose length is not fixed.
//!
//! Invariant: warm-up ends on an interval's border, never before its shortest length, and at the first border from its
//! longest on at the latest. Whether the target is warm is `analyze`'s judgement.

use analyze::{Beside, Warmth};
use engine::{IntervalData, Timeline};
use schema::plan::PhasePlan;
use schema::steady::{WarmUpConditions, WarmUpEnd, WarmUpEndedBy};
use schema::trial::{IntervalLine, Phase, PhaseSpan};

/// Which interval belongs to which phase, and when warm-up may end.
pub(crate) struct Phases {
    interval_ns: u64,
    per_sample: u64,
    measured: u64,
    at_least_ns: u64,
    at_most_ns: u64,
    also: WarmUpConditions,
    /// First measured interval, once known.
    pub(crate) from: Option<u64>,
    /// What the last look at the warm-up saw; none where its length is fixed.
    warmth: Option<Warmth>,
    /// Phases seen so far, in order.
    pub(crate) spans: Vec<PhaseSpan>,
}

impl Phases {
    pub(crate) fn new(plan: &PhasePlan, timeline: Timeline) -> Self {
        let is_fixed = plan.warmup_at_most_ns <= plan.warmup_at_least_ns;
        Self {
            interval_ns: timeline.interval_ns,
            per_sample: (timeline.measured_intervals / u64::from(plan.samples.max(1))).max(1),
            measured: timeline.measured_intervals,
            at_least_ns: plan.warmup_at_least_ns,
            at_most_ns: plan.warmup_at_most_ns,
            also: plan.warmup_also,
            from: is_fixed.then(|| plan.warmup_at_least_ns.div_ceil(timeline.interval_ns)),
            warmth: None,
            spans: Vec::new(),
        }
    }

    pub(crate) fn of(&self, index: u64) -> (Phase, Option<u32>) {
        match self.from {
            Some(from) if index >= from.saturating_add(self.measured) => (Phase::Drain, None),
            Some(from) if index >= from => {
                let sample = (index - from) / self.per_sample + 1;
                (Phase::Sample, u32::try_from(sample).ok())
            }
            _ => (Phase::Warmup, None),
        }
    }

    /// Whether this interval is the last of its sample, and whole.
    pub(crate) fn ends_sample(&self, data: &IntervalData) -> bool {
        let counts = &data.counts;
        let (phase, _) = self.of(counts.index);
        let is_last = self
            .from
            .is_some_and(|from| (counts.index + 1 - from.min(counts.index)).is_multiple_of(self.per_sample));
        phase == Phase::Sample && is_last && counts.end_ns.saturating_sub(counts.start_ns) >= self.interval_ns
    }

    pub(crate) fn seen(&mut self, line: &IntervalLine) {
        let Some(phase) = line.phase else { return };
        match self.spans.last_mut() {
            Some(span) if (span.phase, span.sample) == (phase, line.sample) => span.end_ns = line.end_ns,
            _ => self.spans.push(PhaseSpan {
                phase,
                sample: line.sample,
                start_ns: line.start_ns,
                end_ns: line.end_ns,
            }),
        }
    }

    /// Whether warm-up is on and long enough for its end to be asked for, at the end of interval `ended`.
    pub(crate) fn is_asking(&self, ended: u64) -> bool {
        self.from.is_none() && self.next_border_ns(ended) >= self.at_least_ns
    }

    /// The samples can begin at the end of the interval after `ended`, no sooner: every worker must learn of it.
    fn next_border_ns(&self, ended: u64) -> u64 {
        (ended + 2) * self.interval_ns
    }

    /// Whether the samples may begin: the target is warm, or the longest warm-up is over.
    pub(crate) fn may_end_warmup(&mut self, ended: u64, warmup: &[IntervalLine], beside: &[Beside]) -> bool {
        let allowed = usize::try_from(self.at_most_ns / self.interval_ns.max(1)).unwrap_or(usize::MAX);
        let warmth = analyze::warmth(warmup, beside, &self.also, allowed);
        let is_over = warmth.is_warm || self.next_border_ns(ended) >= self.at_most_ns;
        self.warmth = Some(warmth);
        is_over
    }

    /// How warm-up ended.
    pub(crate) fn warmup(&self) -> WarmUpEnd {
        let Some(warmth) = &self.warmth else {
            return WarmUpEnd { by: WarmUpEndedBy::Fixed, settled_ns: None, waiting_for: Vec::new() };
        };
        let by = if warmth.is_warm { WarmUpEndedBy::Steady } else { WarmUpEndedBy::AtMost };
        WarmUpEnd { by, settled_ns: warmth.settled_ns, waiting_for: warmth.waiting_for.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND_NS: u64 = 1_000_000_000;

    fn plan(at_least_s: u64, at_most_s: u64) -> PhasePlan {
        PhasePlan {
            warmup_at_least_ns: at_least_s * SECOND_NS,
            warmup_at_most_ns: at_most_s * SECOND_NS,
            warmup_also: WarmUpConditions::default(),
            sample_ns: 5 * SECOND_NS,
            samples: 2,
            drain_ns: SECOND_NS,
        }
    }

    fn phases(plan: &PhasePlan) -> Phases {
        Phases::new(plan, Timeline::for_samples(plan.sample_ns, plan.samples, plan.drain_ns))
    }

    /// The interval after whose end warm-up was seen to be over, with how it ended.
    fn ended(plan: &PhasePlan, speed: impl Fn(u64) -> f64) -> (u64, WarmUpEnd) {
        let mut phases = phases(plan);
        let mut lines = Vec::new();
        for index in 0.. {
            let noise = [3, 8, 1, 6, 0, 5][index as usize % 6];
            let completed = if speed(index) > 0.0 { (100_000.0 * speed(index)) as u64 + noise } else { 0 };
            let line = IntervalLine {
                start_ns: index * SECOND_NS,
                end_ns: (index + 1) * SECOND_NS,
                phase: Some(phases.of(index).0),
                completed,
                p50_ns: Some(64_000_000_000 / completed.max(1)),
                p99_ns: Some(128_000_000_000 / completed.max(1)),
                ..IntervalLine::default()
            };
            assert_eq!(line.phase, Some(Phase::Warmup));
            lines.push(line);
            if phases.is_asking(index) && phases.may_end_warmup(index, &lines, &[]) {
                return (index, phases.warmup());
            }
        }
        unreachable!("the longest warm-up ends")
    }

    #[test]
    fn a_flat_warm_up_ends_when_it_is_seen_to_be_flat() {
        let (index, end) = ended(&plan(3, 20), |_| 1.0);
        assert_eq!((index, end.by, end.waiting_for.len()), (14, WarmUpEndedBy::Steady, 0));
        // Where fewer are allowed, three quarters of them are enough.
        assert_eq!(ended(&plan(3, 8), |_| 1.0).0, 5);
        // The shortest length is kept: 12 s are over one interval after the eleventh.
        assert_eq!(ended(&plan(12, 13), |_| 1.0).0, 10);
    }

    #[test]
    fn a_climbing_one_lasts_until_it_is_level_or_the_longest_is_over() {
        let climb = |index: u64| 1.0 + 0.02 * index as f64;
        let (index, end) = ended(&plan(3, 20), climb);
        assert_eq!((index, end.by), (18, WarmUpEndedBy::AtMost));
        assert!(end.waiting_for.iter().any(|text| text.contains("still approaches its level")), "{end:?}");
        let (index, end) = ended(&plan(3, 60), |index| climb(index.min(10)));
        assert_eq!(end.by, WarmUpEndedBy::Steady);
        assert!((15..=24).contains(&index) && end.settled_ns >= Some(8 * SECOND_NS), "{index}: {end:?}");
    }

    #[test]
    fn silence_lasts_until_the_longest_is_over() {
        let (index, end) = ended(&plan(3, 9), |_| -1.0);
        assert_eq!((index, end.by, end.settled_ns), (7, WarmUpEndedBy::AtMost, None));
    }

    #[test]
    fn a_condition_that_does_not_hold_is_waited_for() {
        let mut plan = plan(3, 9);
        plan.warmup_also.cpu_within = Some(0.05);
        let (_, end) = ended(&plan, |_| 1.0);
        assert_eq!(end.by, WarmUpEndedBy::AtMost);
        assert!(end.waiting_for[0].contains("CPU time cannot be read"), "{end:?}");
    }

    #[test]
    fn a_fixed_length_is_known_from_the_start() {
        let mut phases = phases(&plan(4, 4));
        assert!((0..9).all(|index| !phases.is_asking(index)));
        let seen: Vec<_> = [3, 4, 8, 9, 13, 14].into_iter().map(|index| phases.of(index)).collect();
        let (first, second) = ((Phase::Sample, Some(1)), (Phase::Sample, Some(2)));
        assert_eq!(seen, [(Phase::Warmup, None), first, first, second, second, (Phase::Drain, None)]);
        assert_eq!(phases.warmup().by, WarmUpEndedBy::Fixed);
        let line = |at: u64, phases: &Phases| IntervalLine {
            start_ns: at * SECOND_NS,
            end_ns: (at + 1) * SECOND_NS,
            phase: Some(phases.of(at).0),
            sample: phases.of(at).1,
            ..IntervalLine::default()
        };
        for at in 0..15 {
            let line = line(at, &phases);
            phases.seen(&line);
        }
        let ends: Vec<_> = phases.spans.iter().map(|span| span.end_ns / SECOND_NS).collect();
        assert_eq!(ends, [4, 9, 14, 15]);
    }
}
