//! A uniform sample of values whose number is not known beforehand (Vitter's algorithm R).

use units::{Rng, Seed};

/// Values that are kept.
pub(crate) const SAMPLE: usize = 2000;

/// The sample.
#[derive(Debug)]
pub(crate) struct Reservoir<T> {
    seen: u64,
    kept: Vec<T>,
    rng: Rng,
}

impl<T> Reservoir<T> {
    pub(crate) fn new(seed: Seed) -> Self {
        Self { seen: 0, kept: Vec::new(), rng: seed.rng() }
    }

    pub(crate) fn add(&mut self, value: T) {
        self.seen += 1;
        if self.kept.len() < SAMPLE {
            self.kept.push(value);
        } else if let Some(place) = self.kept.get_mut(self.rng.below(self.seen) as usize) {
            *place = value;
        }
    }

    /// How many values there were.
    pub(crate) const fn seen(&self) -> u64 {
        self.seen
    }

    /// The values that are kept.
    pub(crate) fn kept(&self) -> &[T] {
        &self.kept
    }

    pub(crate) fn into_kept(self) -> Vec<T> {
        self.kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_is_as_likely_to_be_kept() {
        let mut sample = Reservoir::new(Seed(1));
        (0..20_000_u64).for_each(|value| sample.add(value));
        assert_eq!((sample.seen(), sample.kept().len()), (20_000, SAMPLE));
        // The mean of 2,000 of 20,000 values has a standard error of 20,000/√12/√2,000.
        let mean = sample.kept().iter().sum::<u64>() as f64 / SAMPLE as f64;
        assert!((mean - 9999.5).abs() < 4.0 * 20_000.0 / 24_000.0_f64.sqrt(), "{mean}");
    }
}
