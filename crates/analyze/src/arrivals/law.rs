//! The law that gaps follow once time is measured in intended arrivals: distribution, spread and order.

use schema::arrival::ArrivalPlan;
use statrs::distribution::{ContinuousCDF, Normal};
use statrs::function::gamma::{gamma, gamma_lr};

/// Spearman's lag-1 correlation of the gaps of jittered slots, U₂ − U₁ and U₃ − U₂ with uniform U: −103/210, by
/// integrating 12·E[F(X)F(Y)] − 3 with the triangular F.
const JITTER_SPEARMAN: f64 = -103.0 / 210.0;

/// A law of gaps with mean 1.
#[derive(Clone, Copy, Debug)]
pub(super) enum GapLaw {
    Exponential,
    Weibull { shape: f64, scale: f64 },
    Lognormal { mu: f64, sigma: f64 },
    Gamma { shape: f64 },
    Jitter { width: f64 },
    Mmpp(Mmpp),
}

impl GapLaw {
    /// The law of `plan` at `rate_per_s`. `None` where the arrivals are determined: constant and recorded ones, and an
    /// MMPP under a shape, whose gaps follow no one law.
    pub(super) fn of(plan: &ArrivalPlan, rate_per_s: f64, shaped: bool) -> Option<Self> {
        Some(match *plan {
            ArrivalPlan::Poisson => Self::Exponential,
            ArrivalPlan::Weibull { shape } if shape > 0.0 => {
                Self::Weibull { shape, scale: 1.0 / gamma(1.0 + 1.0 / shape) }
            }
            ArrivalPlan::Lognormal { cv } if cv > 0.0 => {
                let variance = (1.0 + cv * cv).ln();
                Self::Lognormal { mu: -variance / 2.0, sigma: variance.sqrt() }
            }
            ArrivalPlan::Gamma { shape } if shape > 0.0 => Self::Gamma { shape },
            ArrivalPlan::Uniform { width } if width > 0.0 => Self::Jitter { width },
            ArrivalPlan::Mmpp { high, low, high_for_ns, low_for_ns } if !shaped => {
                let gap_ns = 1e9 / rate_per_s;
                Self::Mmpp(Mmpp::new((high, low), (high_for_ns as f64, low_for_ns as f64), gap_ns)?)
            }
            _ => return None,
        })
    }

    /// P(gap ≤ x).
    pub(super) fn cdf(&self, x: f64) -> f64 {
        if x <= 0.0 && !matches!(self, Self::Jitter { .. }) {
            return 0.0;
        }
        match *self {
            Self::Exponential => -(-x).exp_m1(),
            Self::Weibull { shape, scale } => -(-(x / scale).powf(shape)).exp_m1(),
            Self::Lognormal { mu, sigma } => Normal::standard().cdf((x.ln() - mu) / sigma),
            Self::Gamma { shape } => gamma_lr(shape, shape * x),
            // 1 + w(U₂ − U₁): triangular between 1 − w and 1 + w.
            Self::Jitter { width } => match ((x - 1.0) / width).clamp(-1.0, 1.0) {
                y if y < 0.0 => (1.0 + y).powi(2) / 2.0,
                y => 1.0 - (1.0 - y).powi(2) / 2.0,
            },
            Self::Mmpp(mmpp) => 1.0 - mmpp.survival(x),
        }
    }

    /// Variance of a long count over its mean: cv² for independent gaps.
    pub(super) fn dispersion(&self) -> f64 {
        match *self {
            Self::Exponential => 1.0,
            Self::Weibull { shape, scale } => gamma(1.0 + 2.0 / shape) * scale * scale - 1.0,
            Self::Lognormal { sigma, .. } => (sigma * sigma).exp_m1(),
            Self::Gamma { shape } => 1.0 / shape,
            Self::Jitter { .. } => 0.0,
            Self::Mmpp(mmpp) => mmpp.dispersion(),
        }
    }

    /// Independent observations that `n` gaps are worth. Those of an MMPP come in bursts.
    pub(super) fn effective(&self, n: f64) -> f64 {
        if matches!(self, Self::Mmpp(_)) { n / self.dispersion().max(1.0) } else { n }
    }

    /// Spearman's lag-1 correlation; `None` where it follows from no simple formula.
    pub(super) const fn spearman(&self) -> Option<f64> {
        match self {
            Self::Jitter { .. } => Some(JITTER_SPEARMAN),
            Self::Mmpp(_) => None,
            _ => Some(0.0),
        }
    }
}

/// Two states: arrival rates λ and rates r of leaving, in units of the mean gap (Fischer & Meier-Hellstern,
/// Performance Evaluation 18, 1993).
#[derive(Clone, Copy, Debug)]
pub(super) struct Mmpp {
    arrive: [f64; 2],
    leave: [f64; 2],
}

impl Mmpp {
    fn new((high, low): (f64, f64), (high_for_ns, low_for_ns): (f64, f64), gap_ns: f64) -> Option<Self> {
        let mean = (high * high_for_ns + low * low_for_ns) / (high_for_ns + low_for_ns);
        let process =
            Self { arrive: [high / mean, low / mean], leave: [gap_ns / high_for_ns, gap_ns / low_for_ns] };
        let sane = process.arrive.iter().chain(&process.leave).all(|rate| rate.is_finite() && *rate >= 0.0);
        (sane && process.leave.iter().all(|rate| *rate > 0.0)).then_some(process)
    }

    /// P(gap > x) = p·e^(Dx)·1 with D = Q − Λ and p the state just after an arrival, proportional to πΛ. The
    /// exponential of a 2×2 matrix by its two eigenvalues, which are real because its off-diagonal is positive.
    fn survival(&self, x: f64) -> f64 {
        let ([l0, l1], [r0, r1]) = (self.arrive, self.leave);
        let (a, b, c, d) = (-(l0 + r0), r0, r1, -(l1 + r1));
        let half = (a + d) / 2.0;
        let root = (((a - d) / 2.0).powi(2) + b * c).sqrt();
        let (slow, fast) = (half + root, half - root);
        let (p0, p1) = (r1 * l0, r0 * l1);
        let (p0, p1) = (p0 / (p0 + p1), p1 / (p0 + p1));
        // p·D·1; rows of Q add up to 0.
        let mean_rate = -(p0 * l0 + p1 * l1);
        let s =
            ((slow * x).exp() * (mean_rate - fast) - (fast * x).exp() * (mean_rate - slow)) / (slow - fast);
        s.clamp(0.0, 1.0)
    }

    /// 1 + 2(λ₁ − λ₂)²r₁r₂/((r₁ + r₂)²(λ₁r₂ + λ₂r₁)).
    fn dispersion(&self) -> f64 {
        let ([l0, l1], [r0, r1]) = (self.arrive, self.leave);
        1.0 + 2.0 * (l0 - l1).powi(2) * r0 * r1 / ((r0 + r1).powi(2) * (l0 * r1 + l1 * r0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn laws() -> Vec<GapLaw> {
        let of = |plan| GapLaw::of(&plan, 1000.0, false).unwrap();
        vec![
            of(ArrivalPlan::Poisson),
            of(ArrivalPlan::Weibull { shape: 0.7 }),
            of(ArrivalPlan::Lognormal { cv: 0.8 }),
            of(ArrivalPlan::Gamma { shape: 3.0 }),
            of(ArrivalPlan::Uniform { width: 0.6 }),
            of(ArrivalPlan::Mmpp { high: 4.0, low: 1.0, high_for_ns: 5_000_000, low_for_ns: 9_000_000 }),
            of(ArrivalPlan::Mmpp { high: 1.0, low: 0.0, high_for_ns: 5_000_000, low_for_ns: 9_000_000 }),
        ]
    }

    #[test]
    fn distributions_rise_from_0_to_1_with_mean_1() {
        for law in laws() {
            // The mean is the integral of 1 − F; gaps beyond 400 weigh nothing in these laws.
            let step = 1e-3;
            let mean: f64 = (0..400_000).map(|i| (1.0 - law.cdf((f64::from(i) + 0.5) * step)) * step).sum();
            assert!((mean - 1.0).abs() < 2e-3, "{law:?}: {mean}");
            assert!(law.cdf(0.0) < 1e-9 && law.cdf(1e6) > 1.0 - 1e-9, "{law:?}");
            let values: Vec<f64> = (0..500).map(|i| law.cdf(f64::from(i) / 50.0)).collect();
            assert!(values.is_sorted(), "{law:?}");
        }
    }

    #[test]
    fn a_modulation_without_difference_is_poisson() {
        let plan = ArrivalPlan::Mmpp { high: 2.0, low: 2.0, high_for_ns: 1_000_000, low_for_ns: 3_000_000 };
        let law = GapLaw::of(&plan, 500.0, false).unwrap();
        assert!((law.cdf(0.7) - (1.0 - (-0.7_f64).exp())).abs() < 1e-12);
        assert!((law.dispersion() - 1.0).abs() < 1e-12);
    }
}
