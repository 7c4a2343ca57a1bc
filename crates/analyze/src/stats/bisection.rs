//! Probabilistic bisection: finding the place where a noisy yes turns into no (Horstein, IEEE Trans. Inf. Theory 9,
//! 1963; Waeber, Frazier & Henderson, SIAM J. Control Optim. 51, 2013).
//!
//! The place has a density over an interval, uniform at first. Each answer at x tells on which side it lies, and is right
//! with a probability p above one half: the density is multiplied by 2p on that side and by 2(1 − p) on the other,
//! both normed. Asking at the median learns most. The density is a step function whose steps lie at the questions, so
//! nothing is rounded to a grid.
//! Absent on purpose: rates, trials and the decision when to stop ([`super::search`]).

/// What is known of the place.
#[derive(Clone, Debug)]
pub struct Bisection {
    /// Ends of the pieces, rising; one more than masses.
    edges: Vec<f64>,
    /// Probability of each piece; they add up to 1.
    masses: Vec<f64>,
    correct: f64,
}

impl Bisection {
    /// Nothing is known but the ends. `correct` is the probability of a right answer; it is held between 0.5 and
    /// 0.999, and the ends are put in order.
    #[must_use]
    pub fn new(low: f64, high: f64, correct: f64) -> Self {
        let (low, high) = if low <= high { (low, high) } else { (high, low) };
        Self { edges: vec![low, high], masses: vec![1.0], correct: correct.clamp(0.5, 0.999) }
    }

    /// Takes in an answer: whether the place lies above `x`. One outside the interval tells nothing.
    pub fn observe(&mut self, x: f64, is_above: bool) {
        if !(x > self.edges[0] && x < self.edges[self.edges.len() - 1]) {
            return;
        }
        let cut = self.cut(x);
        let (below, above) =
            if is_above { (1.0 - self.correct, self.correct) } else { (self.correct, 1.0 - self.correct) };
        for (piece, mass) in self.masses.iter_mut().enumerate() {
            *mass *= if piece < cut { below } else { above };
        }
        let sum: f64 = self.masses.iter().sum();
        self.masses.iter_mut().for_each(|mass| *mass /= sum);
    }

    /// Makes `x` an edge; returns the number of the piece that begins there.
    fn cut(&mut self, x: f64) -> usize {
        let after = self.edges.partition_point(|edge| *edge < x);
        if self.edges[after] == x {
            return after;
        }
        let piece = after - 1;
        let (low, high) = (self.edges[piece], self.edges[after]);
        let below = self.masses[piece] * ((x - low) / (high - low));
        let above = self.masses[piece] - below;
        self.edges.insert(after, x);
        self.masses.splice(piece..=piece, [below, above]);
        after
    }

    /// The place below which it lies with probability `q`.
    #[must_use]
    pub fn quantile(&self, q: f64) -> f64 {
        let mut left = if q.is_nan() { 0.5 } else { q.clamp(0.0, 1.0) };
        for (piece, mass) in self.masses.iter().enumerate() {
            let (low, high) = (self.edges[piece], self.edges[piece + 1]);
            if left <= *mass && *mass > 0.0 {
                return low + (high - low) * (left / mass);
            }
            left -= mass;
        }
        self.edges[self.edges.len() - 1]
    }

    /// Where to ask next.
    #[must_use]
    pub fn median(&self) -> f64 {
        self.quantile(0.5)
    }

    /// As [`Bisection::interval`], widened to the questions around it: between two of them nothing was asked.
    #[must_use]
    pub fn asked_interval(&self, level: f64) -> (f64, f64) {
        let (low, high) = self.interval(level);
        let below = self.edges.partition_point(|edge| *edge <= low).saturating_sub(1);
        let above = self.edges.partition_point(|edge| *edge < high).min(self.edges.len() - 1);
        (self.edges[below], self.edges[above])
    }

    /// The middle interval that holds the place with probability `level`.
    #[must_use]
    pub fn interval(&self, level: f64) -> (f64, f64) {
        let tail = (1.0 - level.clamp(0.0, 1.0)) / 2.0;
        (self.quantile(tail), self.quantile(1.0 - tail))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Seed;

    #[test]
    fn one_answer_weighs_as_bayes_says() {
        let mut found = Bisection::new(0.0, 1.0, 0.8);
        found.observe(0.5, true);
        // Mass 0.2 on the lower half, 0.8 on the upper.
        assert!((found.quantile(0.2) - 0.5).abs() < 1e-12);
        assert!((found.median() - (0.5 + 0.5 * 0.3 / 0.8)).abs() < 1e-12);
        found.observe(0.5, false);
        assert!((found.median() - 0.5).abs() < 1e-12, "an answer and its opposite cancel");
        found.observe(2.0, true);
        assert!((found.median() - 0.5).abs() < 1e-12);
    }

    /// Waeber et al. 2013, theorem 1: the error falls exponentially. A fifth of the answers is wrong here.
    #[test]
    fn the_place_is_found_though_answers_lie() {
        let mut inside = 0;
        for seed in 0..200 {
            let mut rng = Seed(seed).rng();
            let truth = rng.unit();
            let mut found = Bisection::new(0.0, 1.0, 0.75);
            for _ in 0..80 {
                let x = found.median();
                found.observe(x, (x < truth) == (rng.unit() < 0.8));
            }
            let (low, high) = found.interval(0.95);
            inside += u32::from((low..=high).contains(&truth));
            assert!((found.median() - truth).abs() < 0.1, "{seed}: {} is not {truth}", found.median());
        }
        assert!(inside >= 184, "95 % intervals held the truth in {inside} of 200");
    }

    #[test]
    fn no_input_breaks_it() {
        let mut found = Bisection::new(1.0, 0.0, 7.0);
        for x in [f64::NAN, f64::INFINITY, 0.0, 1.0, 0.3, 0.3] {
            found.observe(x, true);
        }
        assert!(found.quantile(f64::NAN).is_finite() && found.median() > 0.3);
        assert_eq!(Bisection::new(2.0, 2.0, 0.8).median(), 2.0);
        let mut endless = Bisection::new(0.0, 1.0, 0.999);
        for _ in 0..5_000 {
            let x = endless.median();
            endless.observe(x, true);
        }
        assert!(endless.median() > 0.99);
    }

    #[test]
    fn an_interval_told_ends_at_questions() {
        let mut found = Bisection::new(0.0, 1.0, 0.8);
        assert_eq!(found.asked_interval(0.5), (0.0, 1.0), "nothing was asked");
        for _ in 0..5 {
            found.observe(0.4, true);
            found.observe(0.6, false);
        }
        let (low, high) = found.interval(0.95);
        assert!(low > 0.4 && high < 0.6, "{low} to {high}");
        assert_eq!(found.asked_interval(0.95), (0.4, 0.6));
        assert_eq!(found.asked_interval(1.0), (0.0, 1.0));
    }
}
