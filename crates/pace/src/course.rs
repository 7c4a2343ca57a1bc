//! A rate over time: the cumulative rate Λ(t) and its inverse, from which times of arrivals are made.
//!
//! Invariants: `time_of` is a function of its argument alone (the cursor only saves the search), so a schedule split
//! over workers stays one schedule; it never decreases; stretches of constant rate are computed in whole numbers, so
//! nothing drifts there; elsewhere the error is a few units in the last place of a double that counts from the
//! stretch's begin: below 1 ns for stretches of up to a month.

use crate::scale::{MICRO, PERIOD_NUMERATOR, RATE_MAX_PER_S};
use crate::{PaceError, amount::Amount};
use schema::arrival::{ShapeEnd, ShapePlan, StretchPlan};
use std::f64::consts::TAU;

/// Time at which nothing more arrives.
pub(crate) const NEVER_NS: u64 = u64::MAX;
/// Most stretches of a shape.
const STRETCHES_MAX: usize = 100_000;
/// Halving an interval so often reaches its last bit, so Newton's method guarded by halving has ended before.
const ITERATIONS_MAX: u32 = 128;

/// The rate over time.
#[derive(Clone, Debug)]
pub(crate) struct Course {
    /// What comes before the shape, then the shape, then what holds after it.
    stretches: Vec<Stretch>,
    repeat: Option<Repeat>,
    /// Stretch of the last answer.
    cursor: usize,
}

/// The stretches from `first` on begin again for ever.
#[derive(Clone, Copy, Debug)]
struct Repeat {
    first: usize,
    length_ns: u64,
    count: Amount,
}

#[derive(Clone, Copy, Debug)]
struct Stretch {
    begin_ns: u64,
    length_ns: u64,
    /// Λ at its begin and its end.
    begin: Amount,
    end: Amount,
    law: Law,
}

/// Rates per nanosecond; times from the begin of the stretch.
#[derive(Clone, Copy, Debug)]
enum Law {
    /// In millionths of a request per second, as an exact number.
    Constant { rate_micro: u64 },
    /// λ = a + 2b·t.
    Linear { a: f64, b: f64 },
    /// λ = a·e^(kt).
    Exponential { a: f64, k: f64 },
    /// λ = mean + amplitude·sin(wt).
    Sine { mean: f64, amplitude: f64, w: f64 },
}

impl Course {
    /// The course of a shape.
    ///
    /// # Errors
    /// [`PaceError::Shape`] where a rate or length is out of range or nothing would ever arrive.
    pub(crate) fn of(shape: &ShapePlan) -> Result<Self, PaceError> {
        if shape.stretches.is_empty() || shape.stretches.len() > STRETCHES_MAX {
            return Err(PaceError::Shape("it needs 1 to 100000 stretches"));
        }
        let mut course = Self { stretches: Vec::new(), repeat: None, cursor: 0 };
        if shape.begin_ns > 0 {
            course.push(shape.begin_ns, Law::constant(first_rate(&shape.stretches[0])));
        }
        let first = course.stretches.len();
        let before = course.end();
        for stretch in &shape.stretches {
            let law = Law::of(stretch)?;
            course.push(stretch.length_ns(), law);
        }
        let (end_ns, end) = course.end();
        match shape.after {
            ShapeEnd::Hold => {
                let last = shape.stretches.last().map_or(0.0, last_rate);
                course.push(NEVER_NS - end_ns, Law::constant(last));
            }
            ShapeEnd::Repeat => {
                let (length_ns, count) = (end_ns - before.0, end.minus(before.1));
                course.repeat = Some(Repeat { first, length_ns, count });
            }
        }
        let total = course.end().1;
        if total.as_f64() <= 0.0 || course.repeat.is_some_and(|repeat| repeat.count.as_f64() <= 0.0) {
            return Err(PaceError::Shape("its rate is 0 all the time; give a rate above 0 somewhere"));
        }
        Ok(course)
    }

    /// One rate for ever.
    pub(crate) fn steady(rate_micro: u64) -> Self {
        let mut course = Self { stretches: Vec::new(), repeat: None, cursor: 0 };
        course.push(NEVER_NS, Law::Constant { rate_micro });
        course
    }

    fn push(&mut self, length_ns: u64, law: Law) {
        let (begin_ns, begin) = self.end();
        let end = begin.plus(law.count(length_ns));
        self.stretches.push(Stretch { begin_ns, length_ns, begin, end, law });
    }

    fn end(&self) -> (u64, Amount) {
        self.stretches
            .last()
            .map_or((0, Amount::ZERO), |last| (last.begin_ns.saturating_add(last.length_ns), last.end))
    }

    /// The time at which Λ reaches `amount`, in whole nanoseconds rounded down; [`NEVER_NS`] where it never does.
    #[inline]
    pub(crate) fn time_of(&mut self, amount: Amount) -> u64 {
        let (cycle_ns, local) = match self.repeat {
            Some(repeat) => self.within_cycle(repeat, amount),
            None => (0, amount),
        };
        if !self.stretches[self.cursor].holds(local) {
            let found = self.stretches.partition_point(|stretch| !local.is_below(stretch.end));
            if found == self.stretches.len() {
                return NEVER_NS;
            }
            self.cursor = found;
        }
        let stretch = &self.stretches[self.cursor];
        let offset_ns = stretch.law.time_of(local.minus(stretch.begin), stretch.length_ns);
        cycle_ns.saturating_add(stretch.begin_ns).saturating_add(offset_ns)
    }

    /// What lies before the present repetition, and the amount within the first one.
    fn within_cycle(&self, repeat: Repeat, amount: Amount) -> (u64, Amount) {
        let begin = self.stretches[repeat.first].begin;
        let over = amount.minus(begin);
        let mut cycle = (over.as_f64() / repeat.count.as_f64()).max(0.0) as u64;
        let mut local = over.minus(repeat.count.times(cycle));
        // The quotient is rounded: it can be one off at a border.
        if local.is_below(Amount::ZERO) && cycle > 0 {
            cycle -= 1;
            local = local.plus(repeat.count);
        } else if !local.is_below(repeat.count) {
            cycle += 1;
            local = local.minus(repeat.count);
        }
        (cycle.saturating_mul(repeat.length_ns), local.plus(begin))
    }

    /// Λ at `at_ns`.
    pub(crate) fn amount_at(&self, at_ns: u64) -> Amount {
        let (mut at_ns, mut before) = (at_ns, Amount::ZERO);
        if let Some(repeat) = self.repeat {
            let cycles = at_ns.saturating_sub(self.stretches[repeat.first].begin_ns) / repeat.length_ns;
            at_ns -= cycles * repeat.length_ns;
            before = repeat.count.times(cycles);
        }
        let after = self.stretches.partition_point(|stretch| stretch.begin_ns <= at_ns);
        let stretch = &self.stretches[after.saturating_sub(1)];
        before.plus(stretch.begin).plus(stretch.law.count(at_ns - stretch.begin_ns))
    }
}

impl Stretch {
    #[inline]
    fn holds(&self, amount: Amount) -> bool {
        !amount.is_below(self.begin) && amount.is_below(self.end)
    }
}

impl Law {
    fn constant(rate_per_s: f64) -> Self {
        Self::Constant { rate_micro: (rate_per_s * MICRO).round() as u64 }
    }

    fn of(plan: &StretchPlan) -> Result<Self, PaceError> {
        let length = plan.length_ns() as f64;
        if plan.length_ns() == 0 {
            return Err(PaceError::Shape("a part of it has no length; give a time above 0"));
        }
        let within = |rate: f64| (0.0..=RATE_MAX_PER_S).contains(&rate);
        let (a, b) = match *plan {
            StretchPlan::Linear { from_per_s, to_per_s, .. }
            | StretchPlan::Exponential { from_per_s, to_per_s, .. } => (from_per_s, to_per_s),
            StretchPlan::Sine { mean_per_s, amplitude_per_s, .. } => (mean_per_s, amplitude_per_s),
        };
        if !within(a) || !within(b) {
            return Err(PaceError::Shape(
                "a rate is out of range; give rates from 0 to 1000000000 per second",
            ));
        }
        Ok(match plan {
            _ if a == b && !matches!(plan, StretchPlan::Sine { .. }) => Self::constant(a),
            StretchPlan::Linear { .. } => Self::Linear { a: a / 1e9, b: (b - a) / 1e9 / length / 2.0 },
            StretchPlan::Exponential { .. } if a <= 0.0 || b <= 0.0 => {
                return Err(PaceError::Shape("a decay never reaches 0; give rates above 0, or use a ramp"));
            }
            StretchPlan::Exponential { .. } => Self::Exponential { a: a / 1e9, k: (b / a).ln() / length },
            StretchPlan::Sine { .. } if b > a => {
                return Err(PaceError::Shape(
                    "its amplitude is above its mean, so the rate would be negative; make it at most the mean",
                ));
            }
            StretchPlan::Sine { .. } => Self::Sine { mean: a / 1e9, amplitude: b / 1e9, w: TAU / length },
        })
    }

    /// Λ from the begin of the stretch to `t_ns` after it.
    fn count(&self, t_ns: u64) -> Amount {
        let t = t_ns as f64;
        match *self {
            Self::Constant { rate_micro } => {
                let product = u128::from(rate_micro) * u128::from(t_ns);
                let whole = u64::try_from(product / PERIOD_NUMERATOR).unwrap_or(u64::MAX);
                Amount::new(whole, (product % PERIOD_NUMERATOR) as f64 / PERIOD_NUMERATOR as f64)
            }
            _ => Amount::from_f64(self.smooth_count(t)),
        }
    }

    fn smooth_count(&self, t: f64) -> f64 {
        match *self {
            Self::Constant { rate_micro } => rate_micro as f64 * t / PERIOD_NUMERATOR as f64,
            Self::Linear { a, b } => t * (a + b * t),
            Self::Exponential { a, k } => a * (k * t).exp_m1() / k,
            // 1 − cos x = 2 sin²(x/2) keeps its digits near 0.
            Self::Sine { mean, amplitude, w } => mean * t + 2.0 * amplitude / w * (w * t / 2.0).sin().powi(2),
        }
    }

    /// The time in a stretch of `length_ns` at which `count` is reached; never beyond the stretch.
    #[inline]
    fn time_of(&self, count: Amount, length_ns: u64) -> u64 {
        let t = match *self {
            Self::Constant { rate_micro } => {
                return count.periods(PERIOD_NUMERATOR, rate_micro).min(length_ns);
            }
            // The root of b·t² + a·t = c in the form without cancellation.
            Self::Linear { a, b } => {
                let c = count.as_f64();
                2.0 * c / (a + (a * a + 4.0 * b * c).max(0.0).sqrt())
            }
            Self::Exponential { a, k } => (count.as_f64() * k / a).ln_1p() / k,
            Self::Sine { .. } => self.sine_time(count.as_f64(), length_ns as f64),
        };
        // Not a number only for 0/0, at the begin of a ramp from 0.
        if t.is_nan() { 0 } else { (t.max(0.0) as u64).min(length_ns) }
    }

    /// Newton's method inside a shrinking bracket: Λ of a sine has no inverse in closed form (Kepler's equation).
    /// Begins from the same place whatever came before, so the answer depends on `count` alone.
    fn sine_time(&self, count: f64, length: f64) -> f64 {
        let Self::Sine { mean, amplitude, w } = *self else { return 0.0 };
        let (mut low, mut high) = (0.0, length);
        let mut t = (count / mean).clamp(low, high);
        for _ in 0..ITERATIONS_MAX {
            let excess = self.smooth_count(t) - count;
            if excess > 0.0 {
                high = t;
            } else {
                low = t;
            }
            let newton = t - excess / (mean + amplitude * (w * t).sin());
            let next = if newton > low && newton < high { newton } else { low / 2.0 + high / 2.0 };
            // A hundredth of a nanosecond is far below what is asked for.
            if (next - t).abs() < 0.01 {
                return next;
            }
            t = next;
        }
        t
    }
}

/// The rate at the begin of a stretch.
const fn first_rate(stretch: &StretchPlan) -> f64 {
    match *stretch {
        StretchPlan::Linear { from_per_s, .. } | StretchPlan::Exponential { from_per_s, .. } => from_per_s,
        StretchPlan::Sine { mean_per_s, .. } => mean_per_s,
    }
}

/// The rate at the end of a stretch.
const fn last_rate(stretch: &StretchPlan) -> f64 {
    match *stretch {
        StretchPlan::Linear { to_per_s, .. } | StretchPlan::Exponential { to_per_s, .. } => to_per_s,
        StretchPlan::Sine { mean_per_s, .. } => mean_per_s,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000_000;

    fn shape(stretches: &[StretchPlan], after: ShapeEnd) -> ShapePlan {
        ShapePlan { kind: "test".to_owned(), begin_ns: 2 * S, stretches: stretches.to_vec(), after }
    }

    fn linear(from_per_s: f64, to_per_s: f64, seconds: u64) -> StretchPlan {
        StretchPlan::Linear { from_per_s, to_per_s, length_ns: seconds * S }
    }

    #[test]
    fn the_time_of_an_amount_is_the_inverse_of_the_amount_at_a_time() {
        let wave =
            |amplitude_per_s| StretchPlan::Sine { mean_per_s: 500.0, amplitude_per_s, length_ns: 7 * S };
        let decay = StretchPlan::Exponential { from_per_s: 900.0, to_per_s: 3.0, length_ns: 20 * S };
        for stretches in [
            vec![linear(100.0, 1000.0, 30)],
            vec![linear(1000.0, 0.0, 30), linear(0.0, 10.0, 1)],
            vec![linear(50.0, 50.0, 3), linear(70.0, 70.0, 3), linear(0.0, 0.0, 2), linear(10.0, 10.0, 1)],
            vec![wave(200.0)],
            vec![wave(500.0)],
            vec![decay],
        ] {
            for after in [ShapeEnd::Hold, ShapeEnd::Repeat] {
                let mut course = Course::of(&shape(&stretches, after)).unwrap();
                let mut last_ns = 0;
                for number in 0..20_000_u64 {
                    let amount = Amount::new(number, 0.25);
                    let at_ns = course.time_of(amount);
                    if at_ns == NEVER_NS {
                        assert_eq!(after, ShapeEnd::Hold, "{stretches:?} ends at {number}");
                        break;
                    }
                    assert!(at_ns >= last_ns, "{stretches:?}: {number}");
                    last_ns = at_ns;
                    let (before, after) = (course.amount_at(at_ns), course.amount_at(at_ns + 2));
                    let slack = 1e-7;
                    assert!(before.minus(amount).as_f64() <= slack, "{stretches:?}: {number} at {at_ns}");
                    assert!(amount.minus(after).as_f64() <= slack, "{stretches:?}: {number} at {at_ns}");
                }
            }
        }
    }

    #[test]
    fn steps_do_not_drift_in_a_billion_arrivals() {
        // 10 s at 7/s and 1 s at 3/s, again and again: 73 arrivals in 11 s.
        let steps = [
            StretchPlan::Linear { from_per_s: 7.0, to_per_s: 7.0, length_ns: 10 * S },
            StretchPlan::Linear { from_per_s: 3.0, to_per_s: 3.0, length_ns: S },
        ];
        let mut plan = shape(&steps, ShapeEnd::Repeat);
        plan.begin_ns = 0;
        let mut course = Course::of(&plan).unwrap();
        let cycles = 1_000_000_000 / 73;
        assert_eq!(course.time_of(Amount::new(cycles * 73, 0.0)), cycles * 11 * S);
        assert_eq!(course.time_of(Amount::new(cycles * 73 + 71, 0.0)), cycles * 11 * S + 10_333_333_333);
        // Held for ever: arrival 10^9 at 3/s.
        let mut steady = Course::steady(3_000_000);
        assert_eq!(steady.time_of(Amount::new(1_000_000_000, 0.0)), 333_333_333_333_333_333);
    }

    #[test]
    fn what_comes_to_an_end_never_arrives() {
        let mut course = Course::of(&shape(&[linear(10.0, 0.0, 10)], ShapeEnd::Hold)).unwrap();
        // 20 in the warm-up at 10/s, 50 in the ramp.
        assert!(course.time_of(Amount::new(69, 0.0)) < 12 * S);
        assert_eq!(course.time_of(Amount::new(70, 0.0)), NEVER_NS);
    }

    #[test]
    fn impossible_shapes_are_refused() {
        let wave = StretchPlan::Sine { mean_per_s: 1.0, amplitude_per_s: 2.0, length_ns: S };
        let to_zero = StretchPlan::Exponential { from_per_s: 1.0, to_per_s: 0.0, length_ns: S };
        for stretches in [
            vec![],
            vec![linear(0.0, 0.0, 1)],
            vec![linear(1.0, f64::NAN, 1)],
            vec![linear(1.0, -1.0, 1)],
            vec![linear(1.0, 1e10, 1)],
            vec![linear(1.0, 2.0, 0)],
            vec![wave],
            vec![to_zero],
        ] {
            for after in [ShapeEnd::Hold, ShapeEnd::Repeat] {
                let made = Course::of(&ShapePlan { begin_ns: 0, ..shape(&stretches, after) });
                assert!(made.is_err(), "{stretches:?}");
            }
        }
    }
}
