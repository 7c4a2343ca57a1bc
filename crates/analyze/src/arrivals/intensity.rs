//! The intended rate over time and its integral Λ.
//!
//! Written apart from the generator's own (crate `pace`), which uses the inverse of Λ: a check that shared its formulas
//! would share its faults.

use schema::arrival::{ShapeEnd, ShapePlan, StretchPlan};
use schema::plan::LoadPlan;
use std::f64::consts::TAU;

/// The intended rate of an open load.
#[derive(Clone, Debug)]
pub struct Intensity {
    rate_per_s: f64,
    shape: Option<Laid>,
}

/// A shape with the begin of each stretch and Λ there.
#[derive(Clone, Debug)]
struct Laid {
    plan: ShapePlan,
    begins: Vec<(u64, f64)>,
    length_ns: u64,
    count: f64,
}

impl Intensity {
    /// The rate of `load`; 0 for a closed one.
    #[must_use]
    pub fn of(load: &LoadPlan) -> Self {
        let shape = load.shape.as_ref().filter(|plan| !plan.stretches.is_empty()).map(Laid::new);
        Self { rate_per_s: load.rate_per_s.unwrap_or_default(), shape }
    }

    /// Requests per second at `at_ns`.
    #[must_use]
    pub fn per_s(&self, at_ns: u64) -> f64 {
        self.shape.as_ref().map_or(self.rate_per_s, |shape| shape.per_s(at_ns))
    }

    /// Λ: requests intended from the begin of the load to `at_ns`.
    #[must_use]
    pub fn count(&self, at_ns: u64) -> f64 {
        let steady = self.rate_per_s * at_ns as f64 / 1e9;
        self.shape.as_ref().map_or(steady, |shape| shape.count(at_ns))
    }
}

impl Laid {
    fn new(plan: &ShapePlan) -> Self {
        let (mut begin_ns, mut before) = (0_u64, 0.0);
        let mut begins = Vec::with_capacity(plan.stretches.len());
        for stretch in &plan.stretches {
            begins.push((begin_ns, before));
            before += count(stretch, stretch.length_ns());
            begin_ns = begin_ns.saturating_add(stretch.length_ns());
        }
        Self { plan: plan.clone(), begins, length_ns: begin_ns.max(1), count: before }
    }

    fn per_s(&self, at_ns: u64) -> f64 {
        let Some(within_ns) = at_ns.checked_sub(self.plan.begin_ns) else { return self.first() };
        match self.plan.after {
            ShapeEnd::Hold if within_ns >= self.length_ns => self.last(),
            _ => {
                let (stretch, offset_ns, _) = self.find(within_ns % self.length_ns);
                rate(stretch, offset_ns)
            }
        }
    }

    fn count(&self, at_ns: u64) -> f64 {
        let before = self.first() * self.plan.begin_ns.min(at_ns) as f64 / 1e9;
        let within_ns = at_ns.saturating_sub(self.plan.begin_ns);
        let cycles = within_ns / self.length_ns;
        if self.plan.after == ShapeEnd::Hold && cycles > 0 {
            return before + self.count + self.last() * (within_ns - self.length_ns) as f64 / 1e9;
        }
        let (stretch, offset_ns, begin) = self.find(within_ns % self.length_ns);
        before + cycles as f64 * self.count + begin + count(stretch, offset_ns)
    }

    fn first(&self) -> f64 {
        rate(&self.plan.stretches[0], 0)
    }

    fn last(&self) -> f64 {
        self.plan.stretches.last().map_or(0.0, |stretch| rate(stretch, stretch.length_ns()))
    }

    /// The stretch at a time within the shape, the time since its begin, and Λ there.
    fn find(&self, within_ns: u64) -> (&StretchPlan, u64, f64) {
        let index = self.begins.partition_point(|(begin_ns, _)| *begin_ns <= within_ns).max(1) - 1;
        let (begin_ns, before) = self.begins[index];
        (&self.plan.stretches[index], within_ns - begin_ns, before)
    }
}

/// The rate of a stretch `at_ns` after its begin.
fn rate(stretch: &StretchPlan, at_ns: u64) -> f64 {
    let place = at_ns as f64 / stretch.length_ns().max(1) as f64;
    match *stretch {
        StretchPlan::Linear { from_per_s, to_per_s, .. } => from_per_s + (to_per_s - from_per_s) * place,
        StretchPlan::Exponential { from_per_s, to_per_s, .. } => {
            from_per_s * (to_per_s / from_per_s).powf(place)
        }
        StretchPlan::Sine { mean_per_s, amplitude_per_s, .. } => {
            mean_per_s + amplitude_per_s * (TAU * place).sin()
        }
    }
}

/// The integral of [`rate`] from the begin of the stretch.
fn count(stretch: &StretchPlan, at_ns: u64) -> f64 {
    let (length_s, at_s) = (stretch.length_ns() as f64 / 1e9, at_ns as f64 / 1e9);
    match *stretch {
        // The trapezium.
        StretchPlan::Linear { from_per_s, .. } => (from_per_s + rate(stretch, at_ns)) / 2.0 * at_s,
        StretchPlan::Exponential { from_per_s, to_per_s, .. } if from_per_s == to_per_s => from_per_s * at_s,
        StretchPlan::Exponential { from_per_s, to_per_s, .. } => {
            (rate(stretch, at_ns) - from_per_s) * length_s / (to_per_s / from_per_s).ln()
        }
        StretchPlan::Sine { mean_per_s, amplitude_per_s, .. } => {
            let turn = TAU * at_s / length_s;
            mean_per_s * at_s + amplitude_per_s * length_s / TAU * (1.0 - turn.cos())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000_000;

    /// Λ against the midpoint rule on the rate itself.
    #[test]
    fn the_count_is_the_integral_of_the_rate() {
        let length_ns = 3 * S;
        let stretches = vec![
            StretchPlan::Linear { from_per_s: 100.0, to_per_s: 700.0, length_ns },
            StretchPlan::Exponential { from_per_s: 700.0, to_per_s: 20.0, length_ns },
            StretchPlan::Sine { mean_per_s: 90.0, amplitude_per_s: 60.0, length_ns },
        ];
        for after in [ShapeEnd::Hold, ShapeEnd::Repeat] {
            let shape =
                ShapePlan { kind: "test".to_owned(), begin_ns: 2 * S, stretches: stretches.clone(), after };
            let intensity = Intensity::of(&LoadPlan { shape: Some(shape), ..LoadPlan::default() });
            let (mut sum, step_ns) = (0.0, 1_000_000);
            for step in 0..25_000 {
                assert!((intensity.count(step * step_ns) - sum).abs() < 0.01, "{after:?} at {step} ms");
                sum += intensity.per_s(step * step_ns + step_ns / 2) / 1e3;
            }
        }
        let steady = Intensity::of(&LoadPlan { rate_per_s: Some(30.0), ..LoadPlan::default() });
        assert_eq!((steady.per_s(7), steady.count(2 * S)), (30.0, 60.0));
    }
}
