//! The exact interval of a share (Clopper & Pearson, Biometrika 26, 1934).

/// What each side of a 95 % interval leaves out.
const MISSES: f64 = 0.025;
/// Halvings of 0 to 1; no digit that is printed is left open.
const HALVINGS: usize = 50;

/// Both ends of the 95 % interval of the chance, where `count` of `runs` were so. Without runs it is 0 to 1.
pub(crate) fn interval(count: u64, runs: u64) -> (f64, f64) {
    // The chance of so many or fewer falls as the share rises.
    let low = match count {
        0 => 0.0,
        _ => root(|share| 1.0 - at_most(count - 1, runs, share) > MISSES),
    };
    let high = if count >= runs { 1.0 } else { root(|share| at_most(count, runs, share) < MISSES) };
    (low, high)
}

/// The share from which on something is so.
fn root(is_so: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        if is_so(middle) { high = middle } else { low = middle }
    }
    high
}

/// The chance of `count` or fewer of `runs`, each so with the chance `share` between 0 and 1.
fn at_most(count: u64, runs: u64, share: f64) -> f64 {
    // On logarithms, because the chance of none may be too small for a double.
    let step = (share / (1.0 - share)).ln();
    let mut log = runs as f64 * (1.0 - share).ln();
    let mut sum = log.exp();
    for next in 1..=count {
        log += ((runs - next + 1) as f64 / next as f64).ln() + step;
        sum += log.exp();
    }
    sum.min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_those_of_exact_sums() {
        // By sums of the binomial law over 60 digits (Python's decimal).
        for (count, runs, low, high) in [
            (0, 200, 0.0, 0.018_275_3),
            (3, 200, 0.003_104_1, 0.043_208_3),
            (10, 200, 0.024_234_2, 0.090_027_5),
            (160, 200, 0.737_773_6, 0.853_105_5),
            (200, 200, 0.981_724_7, 1.0),
        ] {
            let found = interval(count, runs);
            let is_near = (found.0 - low).abs() < 1e-7 && (found.1 - high).abs() < 1e-7;
            assert!(is_near, "{count} of {runs}: {found:?}");
        }
        assert_eq!(interval(0, 0), (0.0, 1.0));
    }

    #[test]
    fn each_end_leaves_out_its_part_and_many_runs_do_not_break_it() {
        for (count, runs) in [(1, 5), (199, 200), (4_999, 5_000)] {
            let (low, high) = interval(count, runs);
            assert!((1.0 - at_most(count - 1, runs, low) - MISSES).abs() < 1e-6, "{count} of {runs}");
            assert!((at_most(count, runs, high) - MISSES).abs() < 1e-6, "{count} of {runs}");
        }
    }
}
