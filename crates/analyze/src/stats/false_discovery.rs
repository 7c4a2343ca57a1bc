//! The correction of p values that bounds the share of false ones among those found (Benjamini & Hochberg, J. R. Stat.
//! Soc. B 57, 1995).

/// Adjusted p values in the order given: the smallest of m·p₍ⱼ₎/j over all j ≥ i, at most 1.
///
/// Each p must lie in 0 to 1.
#[must_use]
pub fn benjamini_hochberg(p_values: &[f64]) -> Vec<f64> {
    let m = p_values.len() as f64;
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|a, b| p_values[*b].total_cmp(&p_values[*a]));
    let mut adjusted = vec![1.0; p_values.len()];
    let mut lowest = 1.0_f64;
    for (from_end, index) in order.into_iter().enumerate() {
        lowest = lowest.min(p_values[index] * m / (m - from_end as f64));
        adjusted[index] = lowest;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As `scipy.stats.false_discovery_control` gives them (scipy 1.17).
    #[test]
    fn as_the_oracle_has_them() {
        let found = benjamini_hochberg(&[0.01, 0.04, 0.03, 0.005, 0.5]);
        for (got, wanted) in found.iter().zip([0.025, 0.05, 0.05, 0.025, 0.5]) {
            assert!((got - wanted).abs() < 1e-12, "{found:?}");
        }
        assert!(benjamini_hochberg(&[]).is_empty());
    }
}
