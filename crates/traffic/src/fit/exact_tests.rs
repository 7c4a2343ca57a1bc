//! Published data sets with their published estimates. Each fit is also held against the score equations, written out
//! here anew, so that nothing rests on the digits of a table alone.

use super::*;

/// Hours between failures of the air conditioning of a Boeing 720 (Proschan, Technometrics 5, 1963; `aircondit` of R's
/// package boot, Davison & Hinkley 1997).
const AIR_CONDITIONING: [f64; 12] = [3.0, 5.0, 7.0, 18.0, 43.0, 85.0, 91.0, 98.0, 100.0, 130.0, 230.0, 487.0];

/// Millions of revolutions before the failure of ball bearings (Lieblein & Zelen, J. Res. NBS 57, 1956).
const BALL_BEARINGS: [f64; 23] = [
    17.88, 28.92, 33.00, 41.52, 42.12, 45.60, 48.40, 51.84, 51.96, 54.12, 55.56, 67.80, 68.64, 68.64, 68.88,
    84.12, 93.12, 98.64, 105.12, 105.84, 127.92, 128.04, 173.40,
];

fn law(values: &[f64], family: Family) -> Law {
    fit(values, family).unwrap().law
}

fn near(found: f64, wanted: f64, digits: i32) {
    assert!((found / wanted - 1.0).abs() < 0.5 * 10_f64.powi(1 - digits), "{found} is not {wanted}");
}

/// Central differences of the log-likelihood, relative to the parameter: a score of 0 is a maximum's.
fn score(values: &[f64], at: impl Fn(f64) -> Law) -> f64 {
    let sum = |law: Law| values.iter().map(|x| law.ln_density(*x)).sum::<f64>();
    let step = 1e-5;
    (sum(at(1.0 + step)) - sum(at(1.0 - step))) / (2.0 * step)
}

#[test]
fn air_conditioning_exponential_and_gamma() {
    let values = &AIR_CONDITIONING;
    let Law::Exponential { mean } = law(values, Family::Exponential) else { panic!() };
    near(mean, 1297.0 / 12.0, 15);
    let Law::Gamma { shape, scale } = law(values, Family::Gamma) else { panic!() };
    // Davison & Hinkley 1997, example 2.3 and practical 2.1: shape 0.7065.
    near(shape, 0.7065, 4);
    near(shape * scale, 1297.0 / 12.0, 14);
    // The score equation with ψ by its defining sum: ψ(k) = −γ + Σ (1/(n+1) − 1/(n+k)), the tail by Euler-Maclaurin.
    let terms = 2_000_000_u32;
    let n = f64::from(terms);
    let sum: f64 = (0..terms).rev().map(|i| 1.0 / (f64::from(i) + 1.0) - 1.0 / (f64::from(i) + shape)).sum();
    let tail = ((n + shape) / (n + 1.0)).ln() + 0.5 * (1.0 / (n + 1.0) - 1.0 / (n + shape));
    let psi = -0.577_215_664_901_532_9 + sum + tail;
    let mean_log = values.iter().map(|x| x.ln()).sum::<f64>() / 12.0;
    assert!((shape.ln() - psi - (1297.0_f64 / 12.0).ln() + mean_log).abs() < 1e-9, "{shape}");
}

#[test]
fn ball_bearings_weibull_and_lognormal() {
    let values = &BALL_BEARINGS;
    let Law::Weibull { shape, scale } = law(values, Family::Weibull) else { panic!() };
    // Thoman, Bain & Antle, Technometrics 11, 1969: 2.102 and 81.88; Lawless 2003, example 5.2.2.
    near(shape, 2.102, 4);
    near(scale, 81.88, 4);
    let power = |x: &f64| x.powf(shape);
    let sum: f64 = values.iter().map(power).sum();
    let weighted: f64 = values.iter().map(|x| power(x) * x.ln()).sum();
    let mean_log = values.iter().map(|x| x.ln()).sum::<f64>() / 23.0;
    assert!((weighted / sum - 1.0 / shape - mean_log).abs() < 1e-9, "{shape}");
    assert!(((sum / 23.0).powf(1.0 / shape) / scale - 1.0).abs() < 1e-12, "{scale}");
    let Law::Lognormal { mu, sigma } = law(values, Family::Lognormal) else { panic!() };
    // Lawless 2003: mean 4.150 and standard deviation 0.522 (divisor n) of the logarithms.
    near(mu, 4.150, 4);
    near(sigma, 0.522, 3);
    let square = values.iter().map(|x| x.ln().powi(2)).sum::<f64>() / 23.0;
    assert!((mu - mean_log).abs() < 1e-12 && (square - mean_log.powi(2) - sigma * sigma).abs() < 1e-9);
}

#[test]
fn every_fit_is_where_the_likelihood_is_level() {
    for values in [&AIR_CONDITIONING[..], &BALL_BEARINGS[..], &[1.0, 1.0, 1.0, 1.1], &[1e-9, 1.0, 1e9]] {
        for family in Family::ALL {
            let found = fit(values, family).unwrap();
            let scores = match found.law {
                Law::Exponential { mean } => vec![score(values, |c| Law::Exponential { mean: mean * c })],
                Law::Weibull { shape, scale } => vec![
                    score(values, |c| Law::Weibull { shape: shape * c, scale }),
                    score(values, |c| Law::Weibull { shape, scale: scale.powf(1.0) * c.powf(1.0 / shape) }),
                ],
                Law::Gamma { shape, scale } => vec![
                    score(values, |c| Law::Gamma { shape: shape * c, scale: scale / c }),
                    score(values, |c| Law::Gamma { shape, scale: scale * c.powf(1.0 / shape) }),
                ],
                Law::Lognormal { mu, sigma } => vec![
                    score(values, |c| Law::Lognormal { mu: mu + sigma * (c - 1.0), sigma }),
                    score(values, |c| Law::Lognormal { mu, sigma: sigma * c }),
                ],
            };
            // What the differences themselves are worth.
            let slack = 1e-5 * (1.0 + found.log_likelihood.abs());
            assert!(scores.iter().all(|score| score.abs() < slack), "{:?}: {scores:?}", found.law);
            assert!(
                (found.aic + 2.0 * found.log_likelihood - 2.0 * f64::from(family.parameters())).abs() < 1e-9
            );
        }
    }
}

#[test]
fn the_laws_are_found_again_in_what_they_draw() {
    let laws = [
        Law::Weibull { shape: 0.6, scale: 3.0 },
        Law::Gamma { shape: 2.5, scale: 0.1 },
        Law::Lognormal { mu: 1.0, sigma: 1.5 },
    ];
    for truth in laws {
        let mut rng = Seed(9).rng();
        let values: Vec<f64> = (0..20_000).map(|_| truth.draw(&mut rng)).collect();
        let fits = Family::ALL.map(|family| fit(&values, family).unwrap());
        let best = fits.iter().min_by(|a, b| a.aic.total_cmp(&b.aic)).unwrap();
        assert_eq!(best.law.family(), truth.family());
        assert!((best.law.mean() / truth.mean() - 1.0).abs() < 0.05 * (1.0 + truth.cv()), "{best:?}");
    }
}

#[test]
fn samples_without_a_maximum_are_refused() {
    for family in Family::ALL {
        assert_eq!(fit(&[], family), Err(Refusal::TooFew { needed: 2, had: 0 }));
        assert_eq!(fit(&[1.0], family), Err(Refusal::TooFew { needed: 2, had: 1 }));
        assert_eq!(fit(&[1.0, 0.0], family), Err(Refusal::NotPositive { value: 0.0 }));
        assert!(matches!(fit(&[1.0, f64::NAN], family), Err(Refusal::NotPositive { .. })));
        assert!(matches!(fit(&[1.0, f64::INFINITY], family), Err(Refusal::NotPositive { .. })));
        let flat = fit(&[0.3; 7], family);
        assert_eq!(flat.is_err(), family != Family::Exponential, "{family:?}: {flat:?}");
        // No panic and nothing that is no number, however wild.
        for wild in [vec![1e-300, 1e300], vec![1.0, 1.0 + 1e-15], vec![f64::MIN_POSITIVE, 1.0]] {
            if let Ok(found) = fit(&wild, family) {
                assert!(found.aic.is_finite(), "{found:?}");
            }
        }
    }
}

#[test]
fn the_bootstrap_accepts_the_law_and_refuses_another() {
    let truth = Law::Weibull { shape: 0.6, scale: 1.0 };
    let mut rng = Seed(11).rng();
    let values: Vec<f64> = (0..400).map(|_| truth.draw(&mut rng)).collect();
    let p = |family| {
        let law = law(&values, family);
        goodness(&values, &law, 100, Seed(1)).unwrap().p
    };
    assert!(p(Family::Weibull) > 0.05, "{}", p(Family::Weibull));
    assert!(p(Family::Exponential) < 0.02, "{}", p(Family::Exponential));
    assert_eq!(p(Family::Weibull), p(Family::Weibull), "seeded");
}
