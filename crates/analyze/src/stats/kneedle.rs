//! Where a curve bends: divided second differences, and Kneedle (Satopää, Albrecht, Irwin & Raghavan, "Finding a
//! 'Kneedle' in a Haystack", ICDCSW 2011).
//!
//! Kneedle as published, without its smoothing spline: the levels of a ladder are few, and each value is a mean over
//! trials already. Both are descriptions, not tests: METHOD §6 claims a knee by [`super::segmented`] alone.

use super::{Refusal, check_curve};

/// Distances from the diagonal closer than this differ by rounding only.
const ROUNDING: f64 = 1e-12;

/// The kind of curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Curve {
    /// Rising, ever more slowly: throughput over load.
    ConcaveIncreasing,
    /// Rising, ever faster: response time over load.
    ConvexIncreasing,
}

/// The level of the knee (or elbow) by Kneedle with sensitivity S ≥ 0 (the paper's S = 1), in offline mode: the first
/// local maximum of the distance from the diagonal that is followed by a fall below its threshold
/// T = D_max − S · mean(Δx). `None` where there is none.
///
/// A convex curve is mirrored at the middle of both axes (the paper's §III), so that its elbow is a knee.
///
/// # Errors
/// [`Refusal`] with fewer than five points, levels that do not rise, equal values, or ones that are not finite.
pub fn kneedle(x: &[f64], y: &[f64], curve: Curve, sensitivity: f64) -> Result<Option<f64>, Refusal> {
    check_curve(x, y, 5)?;
    if !sensitivity.is_finite() {
        return Err(Refusal::NotFinite);
    }
    let Some((x_unit, y_unit)) = unit(x).zip(unit(y)) else {
        return Err(Refusal::NoSpread { had: y.len() });
    };
    let distances: Vec<f64> = match curve {
        Curve::ConcaveIncreasing => x_unit.iter().zip(&y_unit).map(|(x, y)| rounded(y - x)).collect(),
        // (1 − y) − (1 − x), from the far end.
        Curve::ConvexIncreasing => x_unit.iter().zip(&y_unit).rev().map(|(x, y)| rounded(x - y)).collect(),
    };
    let found = first_knee(&distances, sensitivity);
    Ok(found.map(|index| match curve {
        Curve::ConcaveIncreasing => x[index],
        Curve::ConvexIncreasing => x[x.len() - 1 - index],
    }))
}

/// Mapped to 0..1; `None` where all are equal, or their range is beyond every number.
fn unit(values: &[f64]) -> Option<Vec<f64>> {
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let range = values.iter().copied().fold(f64::NEG_INFINITY, f64::max) - low;
    (range > 0.0 && range.is_finite()).then(|| values.iter().map(|value| (value - low) / range).collect())
}

fn rounded(distance: f64) -> f64 {
    (distance / ROUNDING).round() * ROUNDING
}

fn first_knee(distances: &[f64], sensitivity: f64) -> Option<usize> {
    let last = distances.len() - 1;
    let beats = |index: usize, is_beaten: fn(f64, f64) -> bool| {
        is_beaten(distances[index], distances[index.saturating_sub(1)])
            && is_beaten(distances[index], distances[(index + 1).min(last)])
    };
    // The mean step of levels that span 0 to 1.
    let step = 1.0 / last as f64;
    let mut candidate: Option<(usize, f64)> = None;
    for index in 0..last {
        if beats(index, |own, other| own >= other) {
            candidate = Some((index, distances[index] - sensitivity * step));
        }
        // From a local minimum on, only a fall below the diagonal counts.
        if let Some((_, threshold)) = &mut candidate
            && beats(index, |own, other| own <= other)
        {
            *threshold = 0.0;
        }
        if let Some((knee, threshold)) = candidate
            && distances[index + 1] < threshold
        {
            return Some(knee);
        }
    }
    None
}

/// The divided second difference at each inner level, 2 (f[i,i+1] − f[i−1,i]) / (xᵢ₊₁ − xᵢ₋₁); `None` at both ends.
/// On levels at distance h it is (yᵢ₋₁ − 2yᵢ + yᵢ₊₁)/h². Negative where the curve bends down.
///
/// # Errors
/// [`Refusal`] with fewer than three points, levels that do not rise, or values that are not finite.
pub fn second_differences(x: &[f64], y: &[f64]) -> Result<Vec<Option<f64>>, Refusal> {
    check_curve(x, y, 3)?;
    let inner = x.windows(3).zip(y.windows(3)).map(|(x, y)| {
        let (before, after) = ((y[1] - y[0]) / (x[1] - x[0]), (y[2] - y[1]) / (x[2] - x[1]));
        let second = 2.0 * (after - before) / (x[2] - x[0]);
        if second.is_finite() { Ok(Some(second)) } else { Err(Refusal::NotFinite) }
    });
    std::iter::once(Ok(None)).chain(inner).chain([Ok(None)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(x: &[f64], y: &[f64], curve: Curve, knee: Option<f64>) {
        assert_eq!(kneedle(x, y, curve, 1.0), Ok(knee));
    }

    fn range(from: u32, to: u32) -> Vec<f64> {
        (from..=to).map(f64::from).collect()
    }

    /// All values: `kneed` 0.9.0 (PyPI), `KneeLocator(x, y, S=1.0, curve, direction)`.
    #[test]
    fn knees_agree_with_kneed() {
        use Curve::{ConcaveIncreasing, ConvexIncreasing};
        // Figure 2 of the paper: y = −1/(x + 0.1) + 5.
        let x: Vec<f64> = (0..10).map(|i| f64::from(i) / 9.0).collect();
        let y: Vec<f64> = x.iter().map(|x| -1.0 / (x + 0.1) + 5.0).collect();
        check(&x, &y, ConcaveIncreasing, Some(2.0 / 9.0));
        let tens = range(0, 9);
        check(&tens, &[0., 60., 80., 85., 90., 95., 96., 97., 98., 99.], ConcaveIncreasing, Some(2.0));
        check(&tens, &[1., 2., 3., 4., 5., 10., 15., 20., 40., 100.], ConvexIncreasing, Some(7.0));
        // M/M/1: 1/(1 − ρ) at 0.05 to 0.95.
        let load: Vec<f64> = (1..=19).map(|i| 0.05 * f64::from(i)).collect();
        let time: Vec<f64> = load.iter().map(|rho| 1.0 / (1.0 - rho)).collect();
        check(&load, &time, ConvexIncreasing, Some(load[15]));
        let n = range(1, 20);
        let amdahl: Vec<f64> = n.iter().map(|n| n / (1.0 + 0.15 * (n - 1.0))).collect();
        check(&n, &amdahl, ConcaveIncreasing, Some(7.0));
        let usl: Vec<f64> =
            n.iter().map(|n| 10.0 * n / (1.0 + 0.02 * (n - 1.0) + 0.004 * n * (n - 1.0))).collect();
        check(&n, &usl, ConcaveIncreasing, Some(9.0));
        // Uneven levels: SPEC SDM91 and the ray tracer of Gunther, Guerrilla Capacity Planning, 2007.
        let sdm = [1., 18., 36., 72., 108., 144., 216.];
        check(&sdm, &[64.9, 995.9, 1652.4, 1853.2, 1828.9, 1775.0, 1702.2], ConcaveIncreasing, Some(36.0));
        let cpus = [1., 4., 8., 12., 16., 20., 24., 28., 32., 48., 64.];
        let rays = [20., 78., 130., 170., 190., 200., 210., 230., 260., 280., 310.];
        check(&cpus, &rays, ConcaveIncreasing, Some(32.0));
    }

    #[test]
    fn a_straight_line_has_no_knee_whatever_its_rounding() {
        let x: Vec<f64> = (1..40).map(|i| f64::from(i) * 0.1).collect();
        let y: Vec<f64> = x.iter().map(|x| 3.3 * x + 0.7).collect();
        for curve in [Curve::ConcaveIncreasing, Curve::ConvexIncreasing] {
            check(&x, &y, curve, None);
        }
    }

    #[test]
    fn what_is_no_curve_is_refused() {
        let ask = |x: &[f64], y: &[f64]| kneedle(x, y, Curve::ConcaveIncreasing, 1.0);
        let five = range(1, 5);
        assert_eq!(ask(&five, &[2.0; 5]), Err(Refusal::NoSpread { had: 5 }));
        assert_eq!(ask(&[1.0, 2.0], &[1.0, 2.0]), Err(Refusal::TooFew { needed: 5, had: 2 }));
        assert_eq!(ask(&five, &range(1, 6)), Err(Refusal::TooFew { needed: 6, had: 5 }));
        assert_eq!(ask(&[1., 2., 2., 3., 4.], &five), Err(Refusal::NotRising));
        assert_eq!(ask(&five, &[1., 2., f64::NAN, 3., 4.]), Err(Refusal::NotFinite));
        assert_eq!(ask(&five, &[-f64::MAX, 2., 3., 3., f64::MAX]), Err(Refusal::NoSpread { had: 5 }));
    }

    #[test]
    fn second_differences_of_a_parabola_are_constant_on_any_levels() {
        let x = [1.0, 2.0, 4.0, 8.0, 9.0];
        let y: Vec<f64> = x.iter().map(|x| 3.0 * x * x - x).collect();
        let found = second_differences(&x, &y).unwrap();
        assert_eq!((found[0], found[4]), (None, None));
        assert!(found[1..4].iter().all(|d| (d.unwrap() - 6.0).abs() < 1e-12), "{found:?}");
        assert_eq!(second_differences(&[0., 1., 2.], &[1., 4., 2.]), Ok(vec![None, Some(-5.0), None]));
        assert_eq!(second_differences(&[0., 1.], &[1., 4.]), Err(Refusal::TooFew { needed: 3, had: 2 }));
    }
}
