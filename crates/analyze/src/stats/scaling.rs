//! Laws of throughput over load, on logarithms, as functions of a few parameters: what a ladder is held against.
//!
//! - **Flat** and **proportional**: no bend.
//! - **Bounds**: min(γN, C), the asymptotic bounds of a closed system (Lazowska, Zahorjan, Graham & Sevcik,
//!   *Quantitative System Performance*, 1984, ch. 5; Denning & Buzen 1978). γ is 1/(R + Z) of a user who never waits.
//! - **Soft bounds**: γN / (1 + (γN/C)^k)^(1/k), between Amdahl's law (k = 1) and the bounds (k = ∞).
//! - **Queue**: M/M/c//N, N users with think time and c servers, exactly (the load-dependent MVA of Lazowska et al. ch. 20,
//!   here by its balance equations: Gross et al., *Fundamentals of Queueing Theory*, 2008, §2.7). c may be a fraction: the
//!   rate with k busy is min(k, c)/S.
//! - **Two stations**: N users with think time and two single servers one after the other, by exact MVA (Reiser & Lavenberg,
//!   J. ACM 27, 1980): the smaller one is busy, too, and bends the curve earlier.
//! - **USL**: Gunther, *Guerrilla Capacity Planning*, 2007.
//! - **Shedding**: the bounds, or the soft bounds, after whose crossing goodput falls as N^−δ: rejecting costs work, too.
//!
//! The *knee* of a law is where its first asymptote γN crosses its second: the ceiling of bounds, the capacity c/S of a
//! queue, the highest throughput of the USL, the falling asymptote of shedding.

use super::least_squares::{Curve, Fit, PARAMETERS_MAX, Parameters, Weighted, fit};

/// Beyond this many users the balance equations take too long; the bounds are as good there.
const USERS_MAX: f64 = 20_000.0;
const ANYTHING: f64 = 1e6;
/// Steepest fall: goodput as N^−3.
const FALL_MAX: f64 = 3.0;
/// Numbers of servers that are tried each for itself.
const SERVERS: [f64; 18] =
    [1., 2., 3., 4., 5., 6., 8., 10., 12., 16., 20., 24., 32., 48., 64., 96., 128., 256.];

/// A law of throughput.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Law {
    /// C.
    Flat,
    /// γN.
    Proportional,
    /// min(γN, C).
    Bounds,
    /// γN / (1 + (γN/C)^k)^(1/k).
    SoftBounds,
    /// M/M/c//N.
    Queue,
    /// Two single servers and think time.
    TwoStations,
    /// γN / (1 + α(N − 1) + βN(N − 1)).
    Usl,
    /// min(γN, C (γN/C)^−δ).
    Shedding,
    /// γN (1 + (γN/C)^k)^(−(1 + δ)/k).
    SoftShedding,
}

impl Law {
    /// All, the simplest first.
    pub const ALL: [Self; 9] = [
        Self::Flat,
        Self::Proportional,
        Self::Bounds,
        Self::SoftBounds,
        Self::Queue,
        Self::TwoStations,
        Self::Usl,
        Self::Shedding,
        Self::SoftShedding,
    ];

    /// How many parameters.
    #[must_use]
    pub const fn parameters(self) -> usize {
        match self {
            Self::Flat | Self::Proportional => 1,
            Self::Bounds => 2,
            Self::SoftBounds | Self::Queue | Self::TwoStations | Self::Usl | Self::Shedding => 3,
            Self::SoftShedding => 4,
        }
    }

    /// Whether it speaks of concurrency only, never of an offered rate.
    #[must_use]
    pub const fn is_of_users(self) -> bool {
        matches!(self, Self::Queue | Self::TwoStations | Self::Usl)
    }

    /// ln X(N).
    ///
    /// Parameters, logarithms all but δ: C; γ; γ, C; γ, C, k; S, Z/S, c; D₁, Z/D₁, D₂/D₁; γ, α, β; γ,
    /// C, δ; γ, C, k, δ.
    #[must_use]
    pub fn log_x(self, at: &Parameters, n: f64) -> f64 {
        let log_n = n.ln();
        match self {
            Self::Flat => at[0],
            Self::Proportional => at[0] + log_n,
            Self::Bounds => (at[0] + log_n).min(at[1]),
            Self::SoftBounds => at[0] + log_n - bend(at, log_n),
            Self::Shedding => at[0] + log_n - (1.0 + at[2]) * (at[0] + log_n - at[1]).max(0.0),
            Self::SoftShedding => at[0] + log_n - (1.0 + at[3]) * bend(at, log_n),
            Self::Queue => machine_repair(n, at[2].exp(), at[1].exp()).ln() - at[0],
            Self::TwoStations => two_stations(n, at[1].exp(), at[2].exp()).ln() - at[0],
            Self::Usl => {
                let (alpha, beta) = (at[1].exp(), at[2].exp());
                at[0] + log_n - (1.0 + alpha * (n - 1.0) + beta * n * (n - 1.0)).max(1e-300).ln()
            }
        }
    }

    /// ln N at which the two asymptotes cross; `None` where there is only one.
    #[must_use]
    pub fn log_knee(self, at: &Parameters) -> Option<f64> {
        match self {
            Self::Flat | Self::Proportional => None,
            Self::Bounds | Self::SoftBounds | Self::Shedding | Self::SoftShedding => Some(at[1] - at[0]),
            Self::Queue => Some(at[2] + at[1].exp().ln_1p()),
            Self::TwoStations => Some((at[1].exp() + at[2].exp()).ln_1p()),
            Self::Usl => {
                let (alpha, beta) = (at[1].exp(), at[2].exp());
                let peak = ((1.0 - alpha) / beta).sqrt();
                let finite = Some(peak).filter(|peak| peak.is_finite() && *peak > 1.0 && *peak < 1e9);
                Some(finite.map_or(-at[1], |peak| self.log_x(at, peak) - at[0]))
            }
        }
    }

    /// Fits the law to logs of throughput over loads: one fit, for a queue one for each number of servers besides, since
    /// what follows from the number is far from linear in it. Empty where it cannot be fitted to them.
    #[must_use]
    pub fn fits(self, values: &[Weighted]) -> Vec<Fit> {
        let top = values.iter().map(|one| one.x).fold(0.0, f64::max);
        if matches!(self, Self::Queue | Self::TwoStations) && top > USERS_MAX {
            return Vec::new();
        }
        let mut all = vec![self.fit(values, top, None)];
        if self == Self::Queue {
            let counts = SERVERS.into_iter().filter(|servers| *servers <= top);
            all.extend(counts.map(|servers| self.fit(values, top, Some(servers))));
        }
        all.into_iter().flatten().collect()
    }

    fn fit(self, values: &[Weighted], top: f64, servers: Option<f64>) -> Option<Fit> {
        let (mut low, mut high) = self.bounds(top);
        if let Some(servers) = servers {
            (low[2], high[2]) = (servers.ln(), servers.ln());
        }
        let value = |at: &Parameters, n: f64| self.log_x(at, n);
        let curve = Curve { parameters: self.parameters(), low, high, value: &value };
        fit(&curve, values, &self.starts(values, servers))
    }

    fn bounds(self, top: f64) -> (Parameters, Parameters) {
        let (mut low, mut high) = ([-ANYTHING; PARAMETERS_MAX], [ANYTHING; PARAMETERS_MAX]);
        match self {
            Self::Shedding => (low[2], high[2]) = (0.0, FALL_MAX),
            Self::SoftBounds | Self::SoftShedding => {
                (low[2], high[2]) = (0.5_f64.ln(), 60.0_f64.ln());
                (low[3], high[3]) = (0.0, FALL_MAX);
            }
            Self::Queue => {
                (low[1], high[1]) = (1e-4_f64.ln(), 1e6_f64.ln());
                (low[2], high[2]) = (0.0, (2.0 * top).ln().max(0.1));
            }
            Self::TwoStations => {
                (low[1], high[1]) = (1e-4_f64.ln(), 1e6_f64.ln());
                (low[2], high[2]) = (1e-3_f64.ln(), 0.0);
            }
            Self::Usl => {
                (low[1], high[1]) = (-25.0, 0.0);
                (low[2], high[2]) = (-40.0, 0.0);
            }
            _ => {}
        }
        (low, high)
    }

    /// From the first level, the highest, and what lies between.
    fn starts(self, values: &[Weighted], servers: Option<f64>) -> Vec<Parameters> {
        let mut sorted = values.to_vec();
        sorted.sort_by(|a, b| a.x.total_cmp(&b.x));
        let Some(first) = sorted.first() else { return Vec::new() };
        let gamma = first.y - first.x.ln();
        let ceiling = sorted.iter().map(|one| one.y).fold(f64::NEG_INFINITY, f64::max);
        let top = sorted[sorted.len() - 1].x;
        let of = |parameters: &[f64]| {
            let mut all = [0.0; PARAMETERS_MAX];
            all[..parameters.len()].copy_from_slice(parameters);
            all
        };
        match self {
            Self::Flat => vec![of(&[ceiling])],
            Self::Proportional => vec![of(&[gamma])],
            Self::Bounds => {
                (1..sorted.len()).map(|split| split_at(&sorted, split)).map(|at| of(&at)).collect()
            }
            Self::SoftBounds => [1.0, 3.0, 12.0].map(|k: f64| of(&[gamma, ceiling, k.ln()])).to_vec(),
            Self::Shedding => (1..sorted.len())
                .flat_map(|split| {
                    let [gamma, ceiling] = split_at(&sorted, split);
                    [0.0, 0.1, 0.6].map(|fall| of(&[gamma, ceiling + 0.5 * fall, fall]))
                })
                .collect(),
            Self::SoftShedding => {
                let ks = [1.5, 5.0, 20.0_f64];
                ks.iter().flat_map(|k| [0.03, 0.3].map(|fall| of(&[gamma, ceiling, k.ln(), fall]))).collect()
            }
            Self::Queue => servers
                .map_or(vec![1.0, 4.0, 16.0, 64.0, 256.0], |servers| vec![servers])
                .into_iter()
                .filter(|c| *c <= 2.0 * top)
                .map(|c: f64| {
                    let think = ((ceiling - gamma).exp() / c - 1.0).max(0.02);
                    of(&[c.ln() - ceiling, think.ln(), c.ln()])
                })
                .collect(),
            Self::TwoStations => [0.9, 0.5, 0.1]
                .map(|second: f64| {
                    let think = ((ceiling - gamma).exp() - 1.0 - second).max(0.02);
                    of(&[-ceiling, think.ln(), second.ln()])
                })
                .to_vec(),
            Self::Usl => [(0.05, 0.01), (0.3, 1.0), (0.001, 0.0), (0.9, 0.1), (0.02, 10.0)]
                .map(|(alpha, beta): (f64, f64)| {
                    of(&[gamma, alpha.ln(), (beta / (top * top)).max(1e-17).ln()])
                })
                .to_vec(),
        }
    }
}

/// The two asymptotes by levels below and from a place on.
fn split_at(sorted: &[Weighted], split: usize) -> [f64; 2] {
    let mean = |part: &[Weighted], of: &dyn Fn(&Weighted) -> f64| {
        let weight: f64 = part.iter().map(|one| one.weight).sum();
        part.iter().map(|one| one.weight * of(one)).sum::<f64>() / weight
    };
    [mean(&sorted[..split], &|one| one.y - one.x.ln()), mean(&sorted[split..], &|one| one.y)]
}

/// ln (1 + (γN/C)^k) / k.
fn bend(at: &Parameters, log_n: f64) -> f64 {
    let k = at[2].exp();
    let u = k * (at[0] + log_n - at[1]);
    if u > 30.0 { u / k } else { u.exp().ln_1p() / k }
}

/// Throughput of `users` who think for `think` service times, in services per service time: M/M/c//N by its balance
/// equations, p(k) = p(k − 1) · (N − k + 1)/think / min(k, c), scaled so that nothing overflows.
#[must_use]
pub fn machine_repair(users: f64, servers: f64, think: f64) -> f64 {
    let (mut p, mut all, mut busy) = (1.0_f64, 1.0_f64, 0.0_f64);
    let mut k = 1.0;
    while k <= users + 0.5 {
        let rate = servers.min(k);
        p *= (users - k + 1.0) / think / rate;
        all += p;
        busy += p * rate;
        if p > 1e200 {
            (p, all, busy) = (p / 1e200, all / 1e200, busy / 1e200);
        }
        // Beyond the most likely state what is left no longer counts.
        if p < all * 1e-18 && (users - k) / think < servers.min(k + 1.0) {
            break;
        }
        k += 1.0;
    }
    busy / all
}

/// Throughput of `users` who think for `think` and need 1 and `second` (at most 1) of two single servers: exact MVA.
#[must_use]
pub fn two_stations(users: f64, think: f64, second: f64) -> f64 {
    let (mut first_queue, mut second_queue, mut x) = (0.0_f64, 0.0_f64, 0.0_f64);
    let mut k = 1.0;
    while k <= users + 0.5 {
        let (first, other) = (1.0 + first_queue, second * (1.0 + second_queue));
        let before = x;
        x = k / (think + first + other);
        (first_queue, second_queue) = (x * first, x * other);
        if x > 1.0 - 1e-13 && (x - before).abs() < 1e-15 {
            break;
        }
        k += 1.0;
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(parameters: &[f64]) -> Parameters {
        let mut all = [0.0; PARAMETERS_MAX];
        all[..parameters.len()].copy_from_slice(parameters);
        all
    }

    #[test]
    fn queues_are_those_of_the_textbook() {
        // One user never waits; many fill the servers; two at one server by hand: p = 1, 2/z, 2/z².
        assert!((machine_repair(1.0, 4.0, 9.0) - 0.1).abs() < 1e-12);
        assert!((machine_repair(10_000.0, 4.0, 9.0) - 4.0).abs() < 1e-9);
        let z: f64 = 3.0;
        let two = (2.0 / z + 2.0 / z.powi(2)) / (1.0 + 2.0 / z + 2.0 / z.powi(2));
        assert!((machine_repair(2.0, 1.0, z) - two).abs() < 1e-12);
        assert!((two_stations(1.0, 2.0, 0.5) - 1.0 / 3.5).abs() < 1e-12);
        assert!((two_stations(5_000.0, 2.0, 0.5) - 1.0).abs() < 1e-9);
        // A second station that takes no time leaves M/M/1//N.
        assert!((two_stations(7.0, z, 0.0) - machine_repair(7.0, 1.0, z)).abs() < 1e-12);
    }

    #[test]
    fn every_law_is_found_in_its_own_curve_with_its_knee() {
        let loads = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0];
        for (law, at, knee) in [
            (Law::Flat, of(&[6.0]), None),
            (Law::Proportional, of(&[2.0]), None),
            (Law::Bounds, of(&[2.0, 6.0]), Some(4.0)),
            (Law::SoftBounds, of(&[2.0, 6.0, 0.7]), Some(4.0)),
            (Law::Queue, of(&[-4.0, 9.0_f64.ln(), 4.0_f64.ln()]), Some(40.0_f64.ln())),
            (Law::TwoStations, of(&[-4.0, 8.0_f64.ln(), 0.6_f64.ln()]), Some(9.6_f64.ln())),
            (Law::Usl, of(&[6.0, 0.03_f64.ln(), 2e-4_f64.ln()]), None),
            (Law::Shedding, of(&[2.0, 6.0, 0.1]), Some(4.0)),
            (Law::SoftShedding, of(&[2.0, 6.0, 0.7, 0.1]), Some(4.0)),
        ] {
            let value = |x: f64| Weighted { x, y: law.log_x(&at, x), weight: 1e4 };
            let values: Vec<Weighted> = loads.into_iter().map(value).collect();
            let best = law.fits(&values).into_iter().min_by(|a, b| a.chi2.total_cmp(&b.chi2)).unwrap();
            assert!(best.chi2 < 1e-2, "{law:?}: {best:?}");
            if let Some(knee) = knee {
                let got = law.log_knee(&best.at).unwrap();
                assert!((got - knee).abs() < 0.02, "{law:?}: {got} is not {knee}");
            }
        }
        // The highest throughput of the USL over its first asymptote.
        let usl = of(&[6.0, 0.03_f64.ln(), 2e-4_f64.ln()]);
        let n = (0.97_f64 / 2e-4).sqrt();
        let wanted = n / (1.0 + 0.03 * (n - 1.0) + 2e-4 * n * (n - 1.0));
        assert!((Law::Usl.log_knee(&usl).unwrap() - wanted.ln()).abs() < 1e-9);
        assert_eq!(Law::Flat.log_knee(&of(&[1.0])), None);
    }
}
