//! Zipf's law in constant time and memory by rejection-inversion.
//!
//! W. Hörmann and G. Derflinger, "Rejection-inversion to generate variates from monotone discrete distributions",
//! ACM TOMACS 6(3), 1996. About 1.1 draws per value for any number of ranks.

use units::Rng;

/// Ranks 1 to `ranks`, rank k with a probability proportional to k^-exponent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Zipf {
    ranks: f64,
    exponent: f64,
    /// H(3/2) - h(1), H(n + 1/2) and the border below which a rank is accepted at once.
    area_first: f64,
    area_last: f64,
    sure: f64,
}

impl Zipf {
    /// `ranks` from 1 to 2^53; `exponent` above 0 and finite.
    pub(crate) fn new(ranks: f64, exponent: f64) -> Self {
        let law = Self { ranks, exponent, area_first: 0.0, area_last: 0.0, sure: 0.0 };
        Self {
            area_first: law.area(1.5) - 1.0,
            area_last: law.area(ranks + 0.5),
            sure: 2.0 - law.inverse(law.area(2.5) - law.height(2.0)),
            ..law
        }
    }

    /// A rank, 1 to the number of ranks.
    #[inline]
    pub(crate) fn draw(&self, rng: &mut Rng) -> u64 {
        loop {
            let u = self.area_last + rng.unit() * (self.area_first - self.area_last);
            let x = self.inverse(u);
            let rank = (x + 0.5).floor().clamp(1.0, self.ranks);
            if rank - x <= self.sure || u >= self.area(rank + 0.5) - self.height(rank) {
                return rank as u64;
            }
        }
    }

    /// h(x) = x^-s.
    fn height(&self, x: f64) -> f64 {
        (-self.exponent * x.ln()).exp()
    }

    /// H(x), an integral of h: (x^(1-s) - 1) / (1-s), or ln x where s is 1.
    fn area(&self, x: f64) -> f64 {
        let log = x.ln();
        let t = (1.0 - self.exponent) * log;
        let ratio = if t.abs() > 1e-8 { t.exp_m1() / t } else { 1.0 + t * 0.5 * (1.0 + t / 3.0) };
        ratio * log
    }

    /// The inverse of H.
    fn inverse(&self, area: f64) -> f64 {
        let t = (area * (1.0 - self.exponent)).max(-1.0);
        let ratio = if t.abs() > 1e-8 { t.ln_1p() / t } else { 1.0 - t * (0.5 - t / 3.0) };
        (ratio * area).exp()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Seed;

    /// Pearson's statistic against the exact probabilities; the bound is far beyond the 99.99th percentile.
    #[test]
    fn frequencies_follow_the_law() {
        for (ranks, exponent) in [(1_u64, 1.1), (2, 0.5), (10, 1.0), (20, 1.1), (20, 3.0)] {
            let law = Zipf::new(ranks as f64, exponent);
            let mut rng = Seed(5).derive("zipf", ranks).rng();
            let draws = 100_000;
            let mut seen = vec![0_u32; ranks as usize];
            (0..draws).for_each(|_| seen[law.draw(&mut rng) as usize - 1] += 1);
            let weight = |rank: u64| (rank as f64).powf(-exponent);
            let total: f64 = (1..=ranks).map(weight).sum();
            let statistic: f64 = (1..=ranks)
                .map(|rank| {
                    let expected = f64::from(draws) * weight(rank) / total;
                    (f64::from(seen[rank as usize - 1]) - expected).powi(2) / expected
                })
                .sum();
            assert!(
                statistic < ranks as f64 + 5.0 * (2.0 * ranks as f64).sqrt(),
                "{ranks} {exponent} {statistic}"
            );
        }
    }

    #[test]
    fn great_numbers_of_ranks_stay_in_bounds() {
        let ranks = (1_u64 << 53) as f64;
        for exponent in [0.01, 0.99, 1.0, 1.1, 8.0] {
            let law = Zipf::new(ranks, exponent);
            let mut rng = Seed(1).rng();
            assert!((0..10_000).all(|_| (1..=1 << 53).contains(&law.draw(&mut rng))), "{exponent}");
        }
    }
}
