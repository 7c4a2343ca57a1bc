//! Holm's correction of p values for asking several questions at once (Holm, Scand. J. Statist. 6, 1979).

/// Adjusted p values in the order given: p₍ᵢ₎ times (m − i + 1), never falling, at most 1.
///
/// Rejecting where the adjusted p is below α keeps the chance of any false rejection below α, whatever the
/// dependence. Each p must lie in 0 to 1.
#[must_use]
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|a, b| p_values[*a].total_cmp(&p_values[*b]));
    let mut adjusted = vec![1.0; p_values.len()];
    let mut highest = 0.0_f64;
    for (position, index) in order.into_iter().enumerate() {
        let factor = (p_values.len() - position) as f64;
        highest = highest.max((factor * p_values[index]).min(1.0));
        adjusted[index] = highest;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(p_values: &[f64], wanted: &[f64]) {
        let got = holm(p_values);
        assert_eq!(got.len(), wanted.len());
        for (got, wanted) in got.iter().zip(wanted) {
            assert!((got - wanted).abs() < 1e-12, "{got} is not {wanted}");
        }
    }

    #[test]
    fn examples_agree_with_r_and_statsmodels() {
        // p.adjust(p, "holm") of R = multipletests(p, method="holm") of statsmodels 0.15.
        check(&[0.01, 0.04, 0.03, 0.005], &[0.03, 0.06, 0.06, 0.02]);
        check(&[0.01, 0.02, 0.03, 0.04, 0.05], &[0.05, 0.08, 0.09, 0.09, 0.09]);
        // The 15 p values of Benjamini & Hochberg 1995, §3.1.
        check(
            &[
                0.0001, 0.004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262,
                0.5719, 0.6528, 0.7590, 1.0,
            ],
            &[0.0015, 0.052, 0.0266, 0.114, 0.2211, 0.278, 0.278, 0.278, 0.3213, 1., 1., 1., 1., 1., 1.],
        );
        check(&[], &[]);
    }
}
