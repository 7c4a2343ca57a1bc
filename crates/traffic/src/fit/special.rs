//! Special functions that the statistics library lacks.

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
