//! Special functions that the statistics library lacks, or has only slowly.

use statrs::function::erf::erfc;
use statrs::function::gamma::gamma_lr;
use std::f64::consts::TAU;

/// Coefficients of c₀, c₁ and c₂ in powers of η (DiDonato & Morris, ACM Trans. Math. Softw. 12, 1986, appendix F).
const TEMME: [&[f64]; 3] = [
    &[
        -1.0 / 3.0,
        0.083_333_333_333_333_3,
        -0.014_814_814_814_814_8,
        0.001_157_407_407_407_41,
        0.000_352_733_686_067_019,
        -0.000_178_755_144_032_922,
        0.391_926_317_852_244e-4,
        -0.218_544_851_067_999e-5,
        -0.185_406_221_071_516e-5,
        0.829_671_134_095_309e-6,
    ],
    &[
        -0.001_851_851_851_851_85,
        -0.003_472_222_222_222_22,
        0.002_645_502_645_502_65,
        -0.000_990_226_337_448_56,
        0.000_205_761_316_872_428,
        -0.401_877_572_016_461e-6,
    ],
    &[
        0.004_133_597_883_597_88,
        -0.002_681_327_160_493_83,
        0.000_771_604_938_271_605,
        0.200_938_786_008_23e-5,
        -0.000_107_366_532_263_652,
    ],
];
/// From here on the expansion holds to 1e-8.
const TEMME_SHAPE_MIN: f64 = 20.0;
/// Up to here its series do.
const TEMME_ETA_MAX: f64 = 0.7;

/// P(k, x), the regularised lower incomplete gamma function. For large k by Temme's uniform expansion (DLMF 8.12.3),
/// within 1e-8 and at one cost for all k; a fit of counts asks for it millions of times.
pub(super) fn lower_gamma(shape: f64, x: f64) -> f64 {
    if !x.is_finite() {
        return 1.0;
    }
    if x <= 0.0 || shape <= 0.0 {
        return 0.0;
    }
    let mu = x / shape - 1.0;
    let eta = (2.0 * (mu - mu.ln_1p())).max(0.0).sqrt().copysign(mu);
    if shape < TEMME_SHAPE_MIN || eta.abs() > TEMME_ETA_MAX {
        return gamma_lr(shape, x);
    }
    let in_eta = |row: &&[f64]| row.iter().rev().fold(0.0, |sum, c| sum * eta + c);
    let sum = TEMME.iter().map(in_eta).rev().fold(0.0, |sum, c| sum / shape + c);
    let rest = (-shape * eta * eta / 2.0).exp() / (TAU * shape).sqrt() * sum;
    (erfc(-eta * (shape / 2.0).sqrt()) / 2.0 - rest).clamp(0.0, 1.0)
}

/// ψ(x), x > 0: recurrence up to 10, then the asymptotic series (Abramowitz & Stegun 6.3.5, 6.3.18).
pub(super) fn digamma(mut x: f64) -> f64 {
    let mut below = 0.0;
    while x < 10.0 {
        below -= 1.0 / x;
        x += 1.0;
    }
    let y = 1.0 / (x * x);
    let series = y
        * (1.0 / 12.0
            - y * (1.0 / 120.0
                - y * (1.0 / 252.0
                    - y * (1.0 / 240.0 - y * (1.0 / 132.0 - y * (691.0 / 32_760.0 - y / 12.0))))));
    below + x.ln() - 0.5 / x - series
}

/// ψ′(x), x > 0 (Abramowitz & Stegun 6.4.6, 6.4.12).
pub(super) fn trigamma(mut x: f64) -> f64 {
    let mut below = 0.0;
    while x < 10.0 {
        below += 1.0 / (x * x);
        x += 1.0;
    }
    let y = 1.0 / (x * x);
    let series = y
        * (1.0 / 6.0
            - y * (1.0 / 30.0 - y * (1.0 / 42.0 - y * (1.0 / 30.0 - y * (5.0 / 66.0 - y * 691.0 / 2730.0)))));
    below + (1.0 + (0.5 + series * x) / x) / x
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_expansion_agrees_with_the_series() {
        for shape in [20.0, 33.3, 100.0, 501.0, 2000.0] {
            for deviate in [-6.0, -3.0, -1.0, -0.1, -1e-6, 0.0, 1e-3, 0.5, 2.0, 4.0, 7.0_f64] {
                let x = (shape + deviate * f64::sqrt(shape)).max(0.1);
                let (found, wanted) = (lower_gamma(shape, x), gamma_lr(shape, x));
                assert!((found - wanted).abs() < 1e-8, "P({shape}, {x}) = {wanted}, not {found}");
            }
        }
        assert_eq!((lower_gamma(2.0, 0.0), lower_gamma(2.0, f64::INFINITY)), (0.0, 1.0));
    }

    #[test]
    fn values_agree_with_closed_forms() {
        // ψ(1) = −γ, ψ(1/2) = −γ − 2 ln 2; ψ′(1) = π²/6, ψ′(1/2) = π²/2.
        const EULER: f64 = 0.577_215_664_901_532_9;
        let pi2 = std::f64::consts::PI.powi(2);
        assert!((digamma(1.0) + EULER).abs() < 1e-14);
        assert!((digamma(0.5) + EULER + 2.0 * 2.0_f64.ln()).abs() < 1e-14);
        assert!((trigamma(1.0) - pi2 / 6.0).abs() < 1e-13);
        assert!((trigamma(0.5) - pi2 / 2.0).abs() < 1e-12);
        // The recurrences, far from the seams.
        for x in [0.01, 0.7, 3.3, 9.99, 25.0, 1e4] {
            assert!((digamma(x + 1.0) - digamma(x) - 1.0 / x).abs() < 1e-12 * (1.0 + 1.0 / x), "{x}");
            assert!(
                (trigamma(x) - trigamma(x + 1.0) - 1.0 / (x * x)).abs() < 1e-12 * (1.0 + 1.0 / (x * x)),
                "{x}"
            );
        }
    }
}
