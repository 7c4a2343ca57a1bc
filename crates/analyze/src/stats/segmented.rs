//! Segmented regression with one break: y = a + b·x + c·max(x − ψ, 0).
//!
//! The fit is the exact least-squares one: for each way to part the levels, the crossing of the two lines where it lies
//! between its parts, else the levels themselves (Hudson, J. Am. Stat. Assoc. 61, 1966). The model, its degrees of
//! freedom and its use are Muggeo's (Statistics in Medicine 22, 2003). The interval of ψ is that of the profile
//! likelihood: all ψ with RSS(ψ) ≤ RSS·(1 + t²/(n − 4)) (Bates & Watts, *Nonlinear Regression Analysis*, 1988, §6.1).
//!
//! Whether there is a break at all is decided by BIC against the straight line (METHOD §6), with a guard for few
//! values:
//! BIC is a law of large samples, and five parameters on eight points fit anything. The guard is that AICc, which is
//! made for small samples (Hurvich & Tsai, Biometrika 76, 1989), must prefer the break as well.

use super::student::t_quantile;
use super::{Refusal, check_values};

/// Parameters of the straight line and of the broken one: the coefficients; AICc counts the variance too.
const LINE: f64 = 2.0;
const BROKEN: f64 = 4.0;
/// Residual sums below this share of the total sum are rounding, and count as this share.
const ROUNDING: f64 = 1e-12;
/// Steps between two levels in which the profile is looked at.
const STEPS: usize = 48;
/// Halvings that find an end of the interval.
const HALVINGS: usize = 60;

/// A broken line, fitted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Segmented {
    /// How many values.
    pub n: usize,
    /// ψ: strictly between the lowest and the highest level.
    pub break_at: f64,
    /// Value at ψ.
    pub value_at_break: f64,
    /// Slope below ψ.
    pub slope_before: f64,
    /// Slope above ψ.
    pub slope_after: f64,
    /// Residual sum of squares.
    pub rss: f64,
    /// That of the straight line.
    pub rss_line: f64,
    /// Sum of squares about the mean.
    pub total: f64,
}

/// Fits the broken line; `x` in any order, levels may repeat.
///
/// # Errors
/// [`Refusal`] with fewer than five values or four different levels, equal values, or ones that are not finite.
pub fn segmented(x: &[f64], y: &[f64]) -> Result<Segmented, Refusal> {
    let data = Data::new(x, y)?;
    let line = data.line(0, data.levels.len());
    let mut best: Option<(f64, f64)> = None;
    let mut offer = |psi: f64| {
        let rss = data.broken(psi).rss;
        if rss.is_finite() && best.is_none_or(|(least, _)| rss < least) {
            best = Some((rss, psi));
        }
    };
    for last in 1..data.levels.len() - 2 {
        offer(data.levels[last].x);
        let (left, right) = (data.line(0, last + 1), data.line(last + 1, data.levels.len()));
        let crossing = (left.intercept - right.intercept) / (right.slope - left.slope);
        if crossing > data.levels[last].x && crossing < data.levels[last + 1].x {
            offer(crossing);
        }
    }
    offer(data.levels[data.levels.len() - 2].x);
    let (rss, break_at) = best.ok_or(Refusal::NotFinite)?;
    let broken = data.broken(break_at);
    Ok(Segmented {
        n: y.len(),
        break_at,
        value_at_break: broken.at_break,
        slope_before: broken.before,
        slope_after: broken.after,
        rss,
        rss_line: line.rss,
        total: data.total,
    })
}

impl Segmented {
    /// BIC of a line of two parameters with this residual sum, less that of the broken one: n ln(RSS₀/RSS) − 2 ln n.
    #[must_use]
    pub fn delta_bic(&self, rss_line: f64) -> f64 {
        let n = self.n as f64;
        self.gain(rss_line) - (BROKEN - LINE) * n.ln()
    }

    /// AICc of the same, less that of the broken one; −∞ where the values are too few for it.
    #[must_use]
    pub fn delta_aicc(&self, rss_line: f64) -> f64 {
        let n = self.n as f64;
        let penalty = |k: f64| 2.0 * k + 2.0 * k * (k + 1.0) / (n - k - 1.0);
        if n - (BROKEN + 1.0) - 1.0 <= 0.0 {
            return f64::NEG_INFINITY;
        }
        self.gain(rss_line) + penalty(LINE + 1.0) - penalty(BROKEN + 1.0)
    }

    /// n ln(RSS₀/RSS), with what is below the rounding taken for it.
    fn gain(&self, rss_line: f64) -> f64 {
        let floor = self.total * ROUNDING;
        self.n as f64 * (rss_line.max(floor) / self.rss.max(floor)).ln()
    }
}

/// The interval of ψ by profile likelihood at `level` (0 to 1); an end is `None` where it reaches the outermost level
/// at which a break could be detected.
///
/// # Errors
/// As [`segmented`], and with fewer than six values, which leave too little to tell the spread.
pub fn break_interval(
    fit: &Segmented,
    x: &[f64],
    y: &[f64],
    level: f64,
) -> Result<(Option<f64>, Option<f64>), Refusal> {
    let data = Data::new(x, y)?;
    if y.len() < 6 {
        return Err(Refusal::TooFew { needed: 6, had: y.len() });
    }
    let freedom = y.len() - 4;
    let t = t_quantile(0.5 + level.clamp(0.0, 1.0) / 2.0, freedom);
    let floor = data.total * ROUNDING;
    let limit = fit.rss.max(floor) * (1.0 + t * t / freedom as f64);
    let is_in = |psi: f64| data.broken(psi).rss <= limit;
    let inner = &data.levels[1..data.levels.len() - 1];
    let mut grid: Vec<f64> = inner
        .windows(2)
        .flat_map(|pair| {
            (0..STEPS).map(|step| pair[0].x + (pair[1].x - pair[0].x) * step as f64 / STEPS as f64)
        })
        .chain(inner.last().map(|level| level.x))
        .chain([fit.break_at])
        .collect();
    grid.sort_unstable_by(f64::total_cmp);
    let first = grid.iter().position(|psi| is_in(*psi)).unwrap_or(0);
    let last = grid.iter().rposition(|psi| is_in(*psi)).unwrap_or(grid.len() - 1);
    let low = (first > 0).then(|| border(grid[first], grid[first - 1], is_in));
    let high = (last + 1 < grid.len()).then(|| border(grid[last], grid[last + 1], is_in));
    Ok((low, high))
}

/// Where between a point inside and one outside the border lies.
fn border(mut inside: f64, mut outside: f64, is_in: impl Fn(f64) -> bool) -> f64 {
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(inside, outside);
        if is_in(middle) { inside = middle } else { outside = middle }
    }
    inside
}

/// Values gathered by level, so that all sums are small.
struct Data {
    levels: Vec<Level>,
    /// Squares about the means of their levels: no line can take them away.
    within: f64,
    /// Squares about the mean of all.
    total: f64,
}

#[derive(Clone, Copy)]
struct Level {
    x: f64,
    n: f64,
    mean: f64,
}

struct Line {
    intercept: f64,
    slope: f64,
    rss: f64,
}

struct Broken {
    at_break: f64,
    before: f64,
    after: f64,
    rss: f64,
}

impl Data {
    fn new(x: &[f64], y: &[f64]) -> Result<Self, Refusal> {
        check_values(x, 5)?;
        check_values(y, 5)?;
        if x.len() != y.len() {
            return Err(Refusal::TooFew { needed: x.len().max(y.len()), had: x.len().min(y.len()) });
        }
        let mut pairs: Vec<(f64, f64)> = x.iter().copied().zip(y.iter().copied()).collect();
        pairs.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let mut levels: Vec<Level> = Vec::new();
        let mut within = 0.0;
        for group in pairs.chunk_by(|a, b| a.0 == b.0) {
            let n = group.len() as f64;
            let mean = group.iter().map(|(_, y)| y / n).sum::<f64>();
            within += group.iter().map(|(_, y)| (y - mean).powi(2)).sum::<f64>();
            levels.push(Level { x: group[0].0, n, mean });
        }
        if levels.len() < 4 {
            return Err(Refusal::TooFew { needed: 4, had: levels.len() });
        }
        let n = y.len() as f64;
        let mean = y.iter().map(|y| y / n).sum::<f64>();
        let total = y.iter().map(|y| (y - mean).powi(2)).sum::<f64>();
        if !total.is_finite() {
            return Err(Refusal::NotFinite);
        }
        if total == 0.0 || y.iter().all(|value| *value == y[0]) {
            return Err(Refusal::NoSpread { had: y.len() });
        }
        Ok(Self { levels, within, total })
    }

    /// The least-squares line through the levels of `from..to`, at least two; its residuals are between levels only
    /// where it does not go through all.
    fn line(&self, from: usize, to: usize) -> Line {
        let part = &self.levels[from..to];
        let n: f64 = part.iter().map(|level| level.n).sum();
        let x = part.iter().map(|level| level.n / n * level.x).sum::<f64>();
        let y = part.iter().map(|level| level.n / n * level.mean).sum::<f64>();
        let (mut xx, mut xy) = (0.0, 0.0);
        for level in part {
            xx += level.n * (level.x - x).powi(2);
            xy += level.n * (level.x - x) * (level.mean - y);
        }
        let slope = xy / xx;
        let between: f64 =
            part.iter().map(|level| level.n * (level.mean - y - slope * (level.x - x)).powi(2)).sum();
        Line { intercept: y - slope * x, slope, rss: between + self.within }
    }

    /// The least-squares broken line with its break at `psi`, by the normal equations about the means.
    fn broken(&self, psi: f64) -> Broken {
        let n: f64 = self.levels.iter().map(|level| level.n).sum();
        let weigh = |of: &dyn Fn(&Level) -> f64| self.levels.iter().map(|l| l.n / n * of(l)).sum::<f64>();
        // Columns that lie apart: the distance below the break, and that above it.
        let (below, above) =
            (|level: &Level| (level.x - psi).min(0.0), |level: &Level| (level.x - psi).max(0.0));
        let (u, v, y) = (weigh(&below), weigh(&above), weigh(&|level| level.mean));
        let (mut uu, mut uv, mut vv, mut uy, mut vy) = (0.0, 0.0, 0.0, 0.0, 0.0);
        for level in &self.levels {
            let (du, dv, dy) = (below(level) - u, above(level) - v, level.mean - y);
            uu += level.n * du * du;
            uv += level.n * du * dv;
            vv += level.n * dv * dv;
            uy += level.n * du * dy;
            vy += level.n * dv * dy;
        }
        let det = uu * vv - uv * uv;
        let (before, after) = ((uy * vv - vy * uv) / det, (vy * uu - uy * uv) / det);
        let at_break = y - before * u - after * v;
        let between: f64 = self
            .levels
            .iter()
            .map(|level| {
                level.n * (level.mean - at_break - before * below(level) - after * above(level)).powi(2)
            })
            .sum();
        Broken { at_break, before, after, rss: between + self.within }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Seed;

    /// Bacon & Watts, Biometrika 58, 1971: log height of the stagnant band over log flow of water; in R's `segmented`
    /// as `stagnant`, in BUGS as "Stagnant" (slopes −0.42 and −1.01, change near 0.03).
    const FLOW: [f64; 29] = [
        -1.39, -1.39, -1.08, -1.08, -0.94, -0.80, -0.63, -0.63, -0.25, -0.25, -0.12, -0.12, 0.01, 0.11, 0.11,
        0.11, 0.25, 0.25, 0.34, 0.34, 0.44, 0.59, 0.70, 0.70, 0.85, 0.85, 0.99, 0.99, 1.19,
    ];
    const BAND: [f64; 29] = [
        1.12, 1.12, 0.99, 1.03, 0.92, 0.90, 0.81, 0.83, 0.65, 0.67, 0.60, 0.59, 0.51, 0.44, 0.43, 0.43, 0.33,
        0.30, 0.25, 0.24, 0.13, -0.01, -0.13, -0.14, -0.30, -0.33, -0.46, -0.43, -0.65,
    ];
    const TWELVE: [f64; 12] = [1.05, 1.93, 3.1, 3.98, 5.02, 6.1, 6.31, 6.55, 6.72, 6.9, 7.22, 7.35];

    fn near(got: f64, wanted: f64, share: f64) {
        assert!((got - wanted).abs() <= share * wanted.abs(), "{got} is not {wanted}");
    }

    /// `pwlf` 2.7.0 (PyPI) finds the same breaks and slopes; digits of a bounded search with scipy 1.17.1 over ψ with
    /// `numpy.linalg.lstsq` inside, profile limits by `scipy.optimize.brentq`.
    #[test]
    fn fits_agree_with_pwlf_and_scipy() {
        let bw = segmented(&FLOW, &BAND).unwrap();
        near(bw.break_at, 0.035_911_997, 1e-6);
        near(bw.slope_before, -0.422_076_814_58, 1e-8);
        near(bw.slope_after, -1.016_592_652_7, 1e-8);
        near(bw.rss, 0.009_381_362_697_619_688, 1e-9);
        near(bw.rss_line, 0.413_233_161_655_965, 1e-9);
        near(bw.delta_bic(bw.rss_line), 103.038_730_19, 1e-8);
        let (low, high) = break_interval(&bw, &FLOW, &BAND, 0.95).unwrap();
        near(low.unwrap(), -0.032_126_964_35, 1e-6);
        near(high.unwrap(), 0.080_942_816_54, 1e-6);

        let x: Vec<f64> = (1..=12).map(f64::from).collect();
        let twelve = segmented(&x, &TWELVE).unwrap();
        near(twelve.break_at, 6.055_099_33, 1e-7);
        near(twelve.slope_before, 1.011_428_575, 1e-7);
        near(twelve.slope_after, 0.211_142_862, 1e-7);
        near(twelve.rss, 0.027_824_761_904_762, 1e-9);
        near(twelve.delta_bic(twelve.rss_line), 58.950_052_295, 1e-8);
        let (low, high) = break_interval(&twelve, &x, &TWELVE, 0.95).unwrap();
        near(low.unwrap(), 5.879_599_638_8, 1e-6);
        near(high.unwrap(), 6.253_919_238, 1e-6);

        // SPEC SDM91 in logarithms: few points, so the guard holds back though BIC is 30.
        let n = [1., 18., 36., 72., 108., 144., 216.].map(f64::ln);
        let jobs = [64.9, 995.9, 1652.4, 1853.2, 1828.9, 1775.0, 1702.2].map(f64::ln);
        let sdm = segmented(&n, &jobs).unwrap();
        near(sdm.break_at, 3.704_529_644, 1e-7);
        near(sdm.slope_before, 0.915_484_739_45, 1e-8);
        near(sdm.delta_bic(sdm.rss_line), 30.183_589_788, 1e-7);
        assert!(sdm.delta_aicc(sdm.rss_line) < 0.0);
    }

    #[test]
    fn a_perfect_break_is_found_and_a_perfect_line_is_none() {
        let x: Vec<f64> = (0..20).map(|i| f64::from(i) * 0.37).collect();
        let bent: Vec<f64> = x.iter().map(|x| 2.0 + 1.5 * x.min(3.0)).collect();
        let fit = segmented(&x, &bent).unwrap();
        near(fit.break_at, 3.0, 1e-9);
        assert!(fit.slope_after.abs() < 1e-9 && fit.delta_bic(fit.rss_line) > 100.0);
        let (low, high) = break_interval(&fit, &x, &bent, 0.95).unwrap();
        assert!(low.unwrap() > 2.99 && high.unwrap() < 3.01, "{low:?} {high:?}");
        let straight: Vec<f64> = x.iter().map(|x| 2.0 + 1.5 * x).collect();
        let fit = segmented(&x, &straight).unwrap();
        assert!(fit.delta_bic(fit.rss_line) < 0.0, "{fit:?}");
    }

    #[test]
    fn order_and_splitting_do_not_matter_and_scale_goes_through() {
        let mut x = FLOW.to_vec();
        let mut y = BAND.to_vec();
        x.reverse();
        y.reverse();
        let (there, back) = (segmented(&FLOW, &BAND).unwrap(), segmented(&x, &y).unwrap());
        near(back.break_at, there.break_at, 1e-12);
        let scaled: Vec<f64> = BAND.iter().map(|y| 1000.0 * y + 7.0).collect();
        let scaled = segmented(&FLOW, &scaled).unwrap();
        near(scaled.break_at, there.break_at, 1e-9);
        near(scaled.delta_bic(scaled.rss_line), there.delta_bic(there.rss_line), 1e-8);
    }

    /// Straight lines with noise: claimed where BIC and guard agree. Counted over designs of ladders.
    fn false_claims(runs: u64, levels: usize, trials: usize) -> u64 {
        let x: Vec<f64> = (0..levels * trials).map(|i| (i / trials) as f64).collect();
        (0..runs)
            .filter(|run| {
                let mut rng = Seed(9).derive("line", *run).rng();
                let y: Vec<f64> = x.iter().map(|x| 0.7 * x + 0.05 * rng.normal()).collect();
                let fit = segmented(&x, &y).unwrap();
                fit.delta_bic(fit.rss_line) >= 10.0 && fit.delta_aicc(fit.rss_line) >= 0.0
            })
            .count() as u64
    }

    #[test]
    fn noise_about_a_line_is_no_break() {
        for (levels, trials) in [(8, 1), (10, 1), (6, 2), (10, 5)] {
            let claims = false_claims(200, levels, trials);
            assert!(claims <= 10, "{claims} of 200 lines broke at {levels} × {trials}");
        }
    }

    #[test]
    #[ignore = "20,000 fits; part of make test-all"]
    fn noise_about_a_line_is_no_break_full_size() {
        for (levels, trials) in
            [(7, 1), (8, 1), (9, 1), (10, 1), (12, 1), (5, 2), (6, 2), (10, 2), (10, 5), (6, 5)]
        {
            let claims = false_claims(2_000, levels, trials);
            println!("{levels} levels × {trials}: {claims} of 2000");
            assert!(claims <= 100, "{claims} of 2000 lines broke at {levels} × {trials}");
        }
    }

    #[test]
    fn what_cannot_be_told_is_refused() {
        let five = [1.0, 2.0, 3.0, 4.0, 5.0];
        assert_eq!(segmented(&five[..4], &five[..4]), Err(Refusal::TooFew { needed: 5, had: 4 }));
        assert_eq!(segmented(&five, &[3.0; 5]), Err(Refusal::NoSpread { had: 5 }));
        assert_eq!(segmented(&[1., 1., 2., 2., 3.], &five), Err(Refusal::TooFew { needed: 4, had: 3 }));
        assert_eq!(segmented(&five, &[1., 2., f64::NAN, 4., 5.]), Err(Refusal::NotFinite));
        let huge = [f64::MAX, -f64::MAX, f64::MAX, 1.0, 2.0];
        assert_eq!(segmented(&five, &huge), Err(Refusal::NotFinite));
        // With no freedom left there is nothing to claim.
        let fit = segmented(&five, &[1., 5., 2., 8., 3.]).unwrap();
        assert_eq!(fit.delta_aicc(fit.rss_line), f64::NEG_INFINITY);
        assert_eq!(
            break_interval(&fit, &five, &[1., 5., 2., 8., 3.], 0.95),
            Err(Refusal::TooFew { needed: 6, had: 5 })
        );
    }
}
