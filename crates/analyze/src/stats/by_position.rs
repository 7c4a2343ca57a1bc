//! A series by the position of its values: its straight line, and how alike neighbours are.

/// Least-squares slope of the values against their position; NaN with fewer than two.
#[must_use]
pub fn slope(values: &[f64]) -> f64 {
    let middle = (values.len() as f64 - 1.0) / 2.0;
    let (mut product, mut squares) = (0.0, 0.0);
    for (position, value) in values.iter().enumerate() {
        let x = position as f64 - middle;
        product += x * value;
        squares += x * x;
    }
    product / squares
}

/// What is left of the values without their mean and `slope`.
#[must_use]
pub fn residuals(values: &[f64], slope: f64) -> Vec<f64> {
    let n = values.len() as f64;
    let (mean, middle) = (values.iter().sum::<f64>() / n, (n - 1.0) / 2.0);
    let rest = |(position, value): (usize, &f64)| value - mean - slope * (position as f64 - middle);
    values.iter().enumerate().map(rest).collect()
}

/// Autocorrelation at lag one of values whose mean is 0, with its bias of −(1+4φ)/n corrected (Kendall, Biometrika 41,
/// 1954), from 0 to `most`; 0 of values that are 0.
#[must_use]
pub fn autocorrelation(rest: &[f64], most: f64) -> f64 {
    let squares: f64 = rest.iter().map(|value| value * value).sum();
    let products: f64 = rest.windows(2).map(|pair| pair[0] * pair[1]).sum();
    if squares <= 0.0 {
        return 0.0;
    }
    let phi = products / squares;
    (phi + (1.0 + 4.0 * phi.max(0.0)) / rest.len() as f64).clamp(0.0, most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_its_slope_and_leaves_nothing() {
        let line = [1.0, 3.0, 5.0, 7.0];
        assert!((slope(&line) - 2.0).abs() < 1e-12);
        assert!(residuals(&line, 2.0).iter().all(|rest| rest.abs() < 1e-12));
        assert!(slope(&[1.0]).is_nan());
    }

    #[test]
    fn neighbours_that_take_turns_are_not_alike_and_the_most_is_the_most() {
        assert_eq!(autocorrelation(&[1.0, -1.0, 1.0, -1.0], 0.9), 0.0);
        assert_eq!(autocorrelation(&[0.0; 8], 0.9), 0.0);
        // Σxₜxₜ₊₁ = 3, Σx² = 8: 0.375, and (1 + 1.5)/8 more.
        let slow = [1.0, 1.0, 1.0, -1.0, -1.0, 1.0, -1.0, -1.0];
        let products: f64 = slow.windows(2).map(|pair| pair[0] * pair[1]).sum();
        let phi = products / 8.0;
        assert!((autocorrelation(&slow, 0.9) - (phi + (1.0 + 4.0 * phi) / 8.0)).abs() < 1e-12);
        assert_eq!(autocorrelation(&[1.0; 40], 0.9), 0.9);
    }
}
