//! The Universal Scalability Law, X(N) = γN / (1 + α(N − 1) + βN(N − 1)) (Gunther, *Guerrilla Capacity Planning*, 2007,
//! ch. 4–6): γ the throughput of one, α the share that is serial (contention), β the cost of keeping each other up to
//! date (coherence).
//!
//! Fitted by weighted least squares with α and β held in 0 to 1 and γ ≥ 0: Levenberg–Marquardt with Marquardt's scaling
//! (J. SIAM 11, 1963), steps projected onto the bounds, from several starts. γ enters linearly, so every start takes the
//! best γ for its α and β. Intervals are percentiles of a seeded parametric bootstrap (Efron & Tibshirani, 1993, §6.5),
//! whose noise is widened by lack of fit (Birge's ratio, Phys. Rev. 40, 1932) and by t over the normal law, because few
//! levels tell little of the noise.
//! N is concurrency, never an offered rate (METHOD §6).

use super::student::t_quantile;
use super::{Refusal, check_values};
use units::Seed;

/// Parameters.
const PARAMETERS: usize = 3;
/// Starts for α and β·N_max².
const STARTS: [(f64, f64); 6] = [(0.05, 0.01), (0.3, 1.0), (0.0, 0.0), (0.9, 0.1), (0.02, 10.0), (1.0, 0.0)];
/// Most steps from one start.
const STEPS: usize = 200;
/// Two-sided 95 % of the normal law.
const NORMAL_95: f64 = 1.959_963_984_540_054;

/// One level: concurrency, throughput, and the standard error of the latter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Concurrency; above 0.
    pub n: f64,
    /// Throughput; above 0.
    pub x: f64,
    /// Standard error of `x`; above 0. The same number everywhere where it is not known.
    pub se: f64,
}

/// A fitted law.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Usl {
    /// Contention, 0 to 1.
    pub alpha: f64,
    /// Coherence, 0 to 1.
    pub beta: f64,
    /// Throughput at N = 1, at least 0.
    pub gamma: f64,
    /// Σ ((X − X(N))/SE)².
    pub chi2: f64,
}

impl Usl {
    /// X(N).
    #[must_use]
    pub fn at(&self, n: f64) -> f64 {
        self.gamma * shape(self.alpha, self.beta, n)
    }

    /// N* = √((1 − α)/β), where throughput is highest; `None` is infinite, at β = 0.
    #[must_use]
    pub fn peak(&self) -> Option<f64> {
        Some(((1.0 - self.alpha) / self.beta).sqrt()).filter(|peak| peak.is_finite())
    }

    /// The highest throughput: X(N*); at β = 0 its limit γ/α; `None` where it grows without end.
    #[must_use]
    pub fn peak_throughput(&self) -> Option<f64> {
        let highest = match self.peak() {
            Some(peak) => self.at(peak.max(1.0)),
            None => self.gamma / self.alpha,
        };
        Some(highest).filter(|x| x.is_finite())
    }
}

fn shape(alpha: f64, beta: f64, n: f64) -> f64 {
    n / (1.0 + alpha * (n - 1.0) + beta * n * (n - 1.0))
}

/// Fits the law to at least four levels.
///
/// # Errors
/// [`Refusal`] with fewer than four different levels, values or errors that are not positive, or not finite.
pub fn usl(points: &[Point]) -> Result<Usl, Refusal> {
    let n: Vec<f64> = points.iter().map(|point| point.n).collect();
    check_values(&n, 0)?;
    let mut distinct = n.clone();
    distinct.sort_unstable_by(f64::total_cmp);
    distinct.dedup();
    if distinct.len() < PARAMETERS + 1 {
        return Err(Refusal::TooFew { needed: PARAMETERS + 1, had: distinct.len() });
    }
    for value in points.iter().flat_map(|point| [point.x, point.se, point.n]) {
        check_values(&[value], 1)?;
        if value <= 0.0 {
            return Err(Refusal::NotPositive);
        }
    }
    let n_max = distinct[distinct.len() - 1];
    let starts = STARTS.map(|(alpha, beta)| (alpha, (beta / (n_max * n_max)).min(1.0)));
    fit_from(points, &starts)
}

fn fit_from(points: &[Point], starts: &[(f64, f64)]) -> Result<Usl, Refusal> {
    let fits = starts.iter().filter_map(|(alpha, beta)| descend(points, *alpha, *beta));
    fits.min_by(|a, b| a.chi2.total_cmp(&b.chi2)).ok_or(Refusal::NotFinite)
}

/// The best γ for α and β, and what is left.
fn with_best_gamma(points: &[Point], alpha: f64, beta: f64) -> Option<Usl> {
    let (mut xh, mut hh) = (0.0, 0.0);
    for point in points {
        let h = shape(alpha, beta, point.n) / point.se;
        xh += point.x / point.se * h;
        hh += h * h;
    }
    let gamma = xh / hh;
    let chi2 = points
        .iter()
        .map(|point| ((point.x - gamma * shape(alpha, beta, point.n)) / point.se).powi(2))
        .sum::<f64>();
    (gamma.is_finite() && chi2.is_finite()).then_some(Usl { alpha, beta, gamma, chi2 })
}

/// Levenberg–Marquardt in α and β, with γ the best one for them (variable projection: Golub & Pereyra, SIAM J. Numer.
/// Anal. 10, 1973, in Kaufman's form, where the direction of γ is taken out of the other two).
fn descend(points: &[Point], alpha: f64, beta: f64) -> Option<Usl> {
    let mut now = with_best_gamma(points, alpha, beta)?;
    let mut damping = 1e-3;
    for _ in 0..STEPS {
        let (gradient, curvature) = slopes(points, &now);
        let held = [is_held(now.alpha, gradient[0]), is_held(now.beta, gradient[1])];
        let step = step(gradient, curvature, held, damping);
        let next = with_best_gamma(
            points,
            (now.alpha + step[0]).clamp(0.0, 1.0),
            (now.beta + step[1]).clamp(0.0, 1.0),
        );
        match next.filter(|next| next.chi2 < now.chi2) {
            Some(next) => {
                let gained = now.chi2 - next.chi2;
                now = next;
                damping = (damping / 10.0).max(1e-15);
                if gained <= 1e-15 * now.chi2 && damping < 1e-9 {
                    break;
                }
            }
            None if damping > 1e12 => break,
            None => damping *= 10.0,
        }
    }
    Some(now)
}

/// A parameter at a bound stays there where the sum falls only beyond it.
fn is_held(value: f64, downhill: f64) -> bool {
    (value <= 0.0 && downhill < 0.0) || (value >= 1.0 && downhill > 0.0)
}

/// Jᵀr and JᵀJ for α and β, after the direction of γ is taken out of both columns.
fn slopes(points: &[Point], at: &Usl) -> ([f64; 2], [[f64; 2]; 2]) {
    let columns: Vec<[f64; 4]> = points
        .iter()
        .map(|point| {
            let h = shape(at.alpha, at.beta, point.n);
            // d(γh)/dα = −γ h² (N − 1)/N, d(γh)/dβ = −γ h² (N − 1).
            let by_beta = -at.gamma * h * h * (point.n - 1.0);
            let residual = point.x - at.gamma * h;
            [h / point.se, by_beta / point.n / point.se, by_beta / point.se, residual / point.se]
        })
        .collect();
    let dot = |a: usize, b: usize| columns.iter().map(|row| row[a] * row[b]).sum::<f64>();
    let hh = dot(0, 0);
    let apart = |a: usize, b: usize| dot(a, b) - dot(0, a) * dot(0, b) / hh;
    let cross = apart(1, 2);
    ([apart(1, 3), apart(2, 3)], [[apart(1, 1), cross], [cross, apart(2, 2)]])
}

/// Solves (C + λ diag C) δ = g over the parameters that are not held.
fn step(gradient: [f64; 2], curvature: [[f64; 2]; 2], held: [bool; 2], damping: f64) -> [f64; 2] {
    let diagonal = [curvature[0][0] * (1.0 + damping), curvature[1][1] * (1.0 + damping)];
    let alone = |i: usize| if diagonal[i] > 0.0 { gradient[i] / diagonal[i] } else { 0.0 };
    let cross = curvature[0][1];
    let step = match held {
        [true, true] => [0.0, 0.0],
        [true, false] => [0.0, alone(1)],
        [false, true] => [alone(0), 0.0],
        [false, false] => {
            let det = diagonal[0] * diagonal[1] - cross * cross;
            [
                (gradient[0] * diagonal[1] - gradient[1] * cross) / det,
                (gradient[1] * diagonal[0] - gradient[0] * cross) / det,
            ]
        }
    };
    step.map(|value| if value.is_finite() { value } else { 0.0 })
}

/// Ends of an interval; one is `None` where it is infinite.
pub type Ends = (Option<f64>, Option<f64>);

/// Intervals of a fitted law.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UslIntervals {
    /// Of α.
    pub alpha: Ends,
    /// Of β.
    pub beta: Ends,
    /// Of γ.
    pub gamma: Ends,
    /// Of N*.
    pub peak: Ends,
    /// Of X(N*).
    pub peak_throughput: Ends,
    /// Of X(N) at the N that were asked for.
    pub at: [Ends; 2],
}

/// Intervals at `level` (0 to 1) from `draws` bootstrap fits; `n` are two levels to predict at.
///
/// # Errors
/// As [`usl`], and with as many levels as parameters, which tell nothing of the noise.
pub fn usl_intervals(
    points: &[Point],
    fit: &Usl,
    n: [f64; 2],
    level: f64,
    draws: u32,
    seed: Seed,
) -> Result<UslIntervals, Refusal> {
    let freedom = points.len().saturating_sub(PARAMETERS);
    if freedom == 0 {
        return Err(Refusal::TooFew { needed: PARAMETERS + 1, had: points.len() });
    }
    let birge = (fit.chi2 / freedom as f64).sqrt();
    let widened = birge * t_quantile(0.975, freedom) / NORMAL_95;
    let mut rng = seed.rng();
    let mut found: Vec<[f64; 7]> = Vec::with_capacity(draws as usize);
    for _ in 0..draws {
        let drawn: Vec<Point> = points
            .iter()
            .map(|point| {
                let mean = fit.at(point.n);
                // Throughput is positive: noise that would make it less is held at a hundredth.
                let x = (mean + widened * point.se * rng.normal()).max(mean / 100.0);
                Point { x, ..*point }
            })
            .collect();
        let Ok(again) = fit_from(&drawn, &[(fit.alpha, fit.beta), (fit.alpha, 0.0)]) else { continue };
        let endless = |value: Option<f64>| value.unwrap_or(f64::INFINITY);
        found.push([
            again.alpha,
            again.beta,
            again.gamma,
            endless(again.peak()),
            endless(again.peak_throughput()),
            again.at(n[0]),
            again.at(n[1]),
        ]);
    }
    if found.is_empty() {
        return Err(Refusal::NotFinite);
    }
    let ends = |column: usize| percentiles(found.iter().map(|row| row[column]).collect(), level);
    Ok(UslIntervals {
        alpha: ends(0),
        beta: ends(1),
        gamma: ends(2),
        peak: ends(3),
        peak_throughput: ends(4),
        at: [ends(5), ends(6)],
    })
}

/// The middle `level` of the values.
fn percentiles(mut values: Vec<f64>, level: f64) -> Ends {
    values.sort_unstable_by(f64::total_cmp);
    let tail = (1.0 - level.clamp(0.0, 1.0)) / 2.0;
    let rank = |q: f64| values[((values.len() as f64 * q) as usize).min(values.len() - 1)];
    let finite = |end: f64| Some(end).filter(|end| end.is_finite());
    (finite(rank(tail)), finite(rank(1.0 - tail)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SPEC SDM91 on a Sun SPARCcenter 2000; Gunther 2007, ch. 5; in R's `usl` package as `specsdm91`.
    const SDM: [(f64, f64); 7] = [
        (1., 64.9),
        (18., 995.9),
        (36., 1652.4),
        (72., 1853.2),
        (108., 1828.9),
        (144., 1775.0),
        (216., 1702.2),
    ];
    /// A ray tracer on an SGI Origin 2000; Gunther 2007, ch. 5; in R's `usl` package as `raytracer`.
    const RAYS: [(f64, f64); 11] = [
        (1., 20.),
        (4., 78.),
        (8., 130.),
        (12., 170.),
        (16., 190.),
        (20., 200.),
        (24., 210.),
        (28., 230.),
        (32., 260.),
        (48., 280.),
        (64., 310.),
    ];

    fn points(data: &[(f64, f64)], se: impl Fn(f64) -> f64) -> Vec<Point> {
        data.iter().map(|(n, x)| Point { n: *n, x: *x, se: se(*x) }).collect()
    }

    fn check(points: &[Point], alpha: f64, beta: f64, gamma: f64, chi2: f64) {
        let fit = usl(points).unwrap();
        for (got, wanted) in [(fit.alpha, alpha), (fit.beta, beta), (fit.gamma, gamma), (fit.chi2, chi2)] {
            assert!((got - wanted).abs() <= 1e-5 * wanted + 1e-9, "{fit:?}: {got} is not {wanted}");
        }
    }

    /// R's `usl` 3.0 prints for `usl(throughput ~ load, specsdm91)`: alpha 0.0277, beta 0.000104, gamma 90.0, peak at
    /// 96.5. All digits: scipy 1.17.1 `curve_fit` with bounds, tolerances 1e-15.
    #[test]
    fn published_data_give_published_coefficients() {
        let sdm = points(&SDM, |_| 1.0);
        check(&sdm, 0.027_728_413_9, 0.000_104_365_772, 89.995_183_2, 27_453.719_585);
        let fit = usl(&sdm).unwrap();
        assert!((fit.peak().unwrap() - 96.519_430_68).abs() < 1e-3, "{:?}", fit.peak());
        assert!((fit.peak_throughput().unwrap() - 1_883.899_27).abs() < 1e-2);
        check(&points(&SDM, |x| 0.02 * x), 0.013_515_210_2, 0.000_115_091_299, 67.708_966_0, 54.025_092_33);
        // Here the unbounded optimum has β < 0: the peak is infinite, and throughput goes towards γ/α.
        let rays = points(&RAYS, |_| 1.0);
        check(&rays, 0.057_770_780_6, 0.0, 21.848_842_8, 697.237_797_75);
        let fit = usl(&rays).unwrap();
        assert_eq!((fit.beta, fit.peak()), (0.0, None));
        assert!((fit.peak_throughput().unwrap() - 378.198_85).abs() < 1e-2);
        check(&points(&RAYS, |x| 0.02 * x), 0.056_053_974_2, 1.688_878_2e-6, 21.444_691_76, 64.217_531_12);
        // A made-up curve near Amdahl's law, same source.
        let amdahl = [(1., 100.), (2., 182.), (4., 310.), (8., 470.), (16., 640.), (32., 770.)];
        check(&points(&amdahl, |_| 1.0), 0.098_958_919_8, 9.334_924_5e-5, 100.130_277_2, 6.090_089_72);
    }

    #[test]
    fn truths_are_found_from_one_connection_to_fifty_thousand() {
        for (alpha, beta, gamma, top) in [
            (0.0, 0.0, 100.0, 64.0),
            (0.03, 1e-4, 90.0, 200.0),
            (1e-4, 1e-9, 55.0, 50_000.0),
            (1.0, 0.0, 7.0, 9.0),
        ] {
            let truth = Usl { alpha, beta, gamma, chi2: 0.0 };
            let levels = (0..10).map(|i| top / 2.0_f64.powi(i)).filter(|n| *n >= 0.5);
            let points: Vec<Point> = levels.map(|n| Point { n, x: truth.at(n), se: 1.0 }).collect();
            let fit = usl(&points).unwrap();
            for point in &points {
                assert!((fit.at(point.n) / point.x - 1.0).abs() < 1e-6, "{fit:?} at {}", point.n);
            }
            let wanted = (1.0 - alpha) / beta;
            if beta > 0.0 {
                assert!((fit.peak().unwrap().powi(2) / wanted - 1.0).abs() < 1e-3, "{fit:?}");
            }
        }
    }

    /// How often the intervals of N* and X(N*) hold the truth.
    fn coverage(runs: u64, draws: u32) -> (f64, f64) {
        let truth = Usl { alpha: 0.03, beta: 2e-4, gamma: 500.0, chi2: 0.0 };
        let (mut peak, mut highest) = (0, 0);
        for run in 0..runs {
            let mut rng = Seed(4).derive("usl", run).rng();
            let points: Vec<Point> = [1., 2., 4., 8., 16., 32., 64., 128., 256.]
                .into_iter()
                .map(|n| {
                    let se = 0.02 * truth.at(n);
                    Point { n, x: truth.at(n) + se * rng.normal(), se }
                })
                .collect();
            let fit = usl(&points).unwrap();
            let found = usl_intervals(&points, &fit, [1.0, 300.0], 0.95, draws, Seed(run)).unwrap();
            let holds = |ends: Ends, value: f64| {
                ends.0.is_some_and(|low| low <= value) && ends.1.is_none_or(|high| value <= high)
            };
            peak += u64::from(holds(found.peak, truth.peak().unwrap()));
            highest += u64::from(holds(found.peak_throughput, truth.peak_throughput().unwrap()));
        }
        (peak as f64 / runs as f64, highest as f64 / runs as f64)
    }

    #[test]
    fn intervals_hold_the_truth() {
        let (peak, highest) = coverage(60, 200);
        assert!(peak >= 0.85 && highest >= 0.85, "N* {peak}, X(N*) {highest}");
    }

    #[test]
    #[ignore = "two million fits, as many for each interval as a run has; part of make test-all"]
    fn intervals_hold_the_truth_full_size() {
        let (peak, highest) = coverage(1_000, 2_000);
        println!("coverage: N* {peak}, X(N*) {highest}");
        assert!((0.93..=0.99).contains(&peak) && (0.93..=0.99).contains(&highest), "{peak} {highest}");
    }

    #[test]
    fn intervals_are_seeded_and_infinite_where_the_peak_is() {
        let rays = points(&RAYS, |_| 1.0);
        let fit = usl(&rays).unwrap();
        let ask = |seed| usl_intervals(&rays, &fit, [64.0, 128.0], 0.95, 200, Seed(seed)).unwrap();
        assert_eq!(ask(1), ask(1));
        assert_ne!(ask(1), ask(2));
        assert_eq!(ask(1).peak.1, None);
        assert!(ask(1).alpha.0.unwrap() < 0.0578 && ask(1).alpha.1.unwrap() > 0.0577);
    }

    #[test]
    fn what_has_no_law_is_refused() {
        let three = points(&SDM[..3], |_| 1.0);
        assert_eq!(usl(&three), Err(Refusal::TooFew { needed: 4, had: 3 }));
        let mut bad = points(&SDM, |_| 1.0);
        bad[2].x = 0.0;
        assert_eq!(usl(&bad), Err(Refusal::NotPositive));
        bad[2].x = f64::NAN;
        assert_eq!(usl(&bad), Err(Refusal::NotFinite));
        let flat: Vec<Point> = (1..9).map(|n| Point { n: f64::from(n), x: 5.0, se: 1.0 }).collect();
        let fit = usl(&flat).unwrap();
        assert!(fit.alpha > 0.999 && (fit.at(8.0) - 5.0).abs() < 1e-6, "{fit:?}");
        assert!(usl_intervals(&flat, &fit, [1.0, 2.0], 0.95, 50, Seed(1)).is_ok());
        let huge: Vec<Point> =
            (1..9).map(|n| Point { n: f64::from(n) * 1e300, x: f64::MAX, se: f64::MIN_POSITIVE }).collect();
        assert!(usl(&huge).is_err());
    }
}
