//! E-divisive against its own definition, computed by double loops in Python, and against series whose changes are
//! known.

use super::*;

/// Annual flow of the Nile at Aswan 1871 to 1970 (Cobb, Biometrika 65, 1978; in R as `Nile`); a dam from 1899 on.
const NILE: [f64; 100] = [
    1120., 1160., 963., 1210., 1160., 1160., 813., 1230., 1370., 1140., 995., 935., 1110., 994., 1020., 960.,
    1180., 799., 958., 1140., 1100., 1210., 1150., 1250., 1260., 1220., 1030., 1100., 774., 840., 874., 694.,
    940., 833., 701., 916., 692., 1020., 1050., 969., 831., 726., 456., 824., 702., 1120., 1100., 832., 764.,
    821., 768., 845., 864., 862., 698., 845., 744., 796., 1040., 759., 781., 865., 845., 944., 984., 897.,
    822., 1010., 771., 676., 649., 846., 812., 742., 801., 1040., 860., 874., 848., 890., 744., 749., 838.,
    1050., 918., 986., 797., 923., 975., 815., 1020., 906., 901., 1170., 912., 746., 919., 718., 714., 740.,
];

const STEPS: [f64; 16] = [1.0, 1.2, 0.9, 1.1, 1.05, 5.0, 5.2, 4.9, 5.1, 5.3, 5.05, 2.0, 2.1, 1.9, 2.05, 1.95];

fn settings(segment_min: usize) -> Settings {
    Settings { segment_min, permutations: 499, significance: 0.05, seed: Seed(1) }
}

fn near(got: f64, wanted: f64) {
    assert!((got - wanted).abs() < 1e-9 * wanted.abs(), "{got} is not {wanted}");
}

#[test]
fn divergences_agree_with_the_definition() {
    // Both by sums over all pairs in Python: (Q, τ) over all τ and κ.
    let (at, divergence) = Distances::of(&STEPS).best(3).unwrap();
    assert_eq!(at, 5);
    near(divergence, 21.181_818_181_818_183);
    let (at, divergence) = Distances::of(&NILE[..60]).best(10).unwrap();
    assert_eq!(at, 28);
    near(divergence, 3_831.123_001_717_532_6);
    // The whole series, split at 1899.
    let distances = Distances::of(&NILE);
    let (n, m) = (28.0, 72.0);
    let energy = 2.0 * distances.between((0, 28), (28, 100)) / (n * m)
        - distances.between((0, 28), (0, 28)) / (n * (n - 1.0))
        - distances.between((28, 100), (28, 100)) / (m * (m - 1.0));
    near(n * m / (n + m) * energy, 4_807.521_314_553_991);
}

#[test]
fn the_dam_is_dated() {
    // Change points of this series in the literature: 1898 or 1899, and no other (Cobb 1978; Zeileis et al. 2003).
    let found = e_divisive(&NILE, &settings(10)).unwrap();
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].at, found[0].p_value), (28, 1.0 / 500.0));
}

#[test]
fn several_changes_are_found_in_their_order() {
    let found = e_divisive(&STEPS, &settings(3)).unwrap();
    let at: Vec<usize> = found.iter().map(|point| point.at).collect();
    assert_eq!(at, [5, 11]);
    assert!(found.iter().all(|point| point.p_value <= 0.05));
}

#[test]
fn scale_and_shift_change_nothing_but_the_divergence() {
    let moved: Vec<f64> = STEPS.iter().map(|value| value * 1e6 - 3e5).collect();
    let (plain, moved) =
        (e_divisive(&STEPS, &settings(3)).unwrap(), e_divisive(&moved, &settings(3)).unwrap());
    for (a, b) in plain.iter().zip(&moved) {
        assert_eq!((a.at, a.p_value), (b.at, b.p_value));
        near(b.divergence, a.divergence * 1e6);
    }
}

/// Without a change the first test rejects at its level: Bin(120, 5 %) has its 99.9 % point at 14 (scipy.stats.binom).
#[test]
fn noise_has_changes_at_the_stated_rate_only() {
    let found = (0..120_u64).filter(|index| {
        let mut rng = Seed(5).derive("noise", *index).rng();
        let values: Vec<f64> = (0..24).map(|_| rng.normal()).collect();
        let settings = Settings { permutations: 99, ..settings(3) };
        !e_divisive(&values, &settings).unwrap().is_empty()
    });
    let wrong = found.count();
    assert!(wrong <= 14, "{wrong} of 120");
}

#[test]
fn a_shift_of_three_deviations_is_found_where_it_is() {
    let right = (0..40_u64).filter(|index| {
        let mut rng = Seed(6).derive("shift", *index).rng();
        let values: Vec<f64> = (0..30).map(|at| rng.normal() + if at < 18 { 0.0 } else { 3.0 }).collect();
        let settings = Settings { permutations: 99, ..settings(3) };
        let found = e_divisive(&values, &settings).unwrap();
        found.first().is_some_and(|point| point.at.abs_diff(18) <= 1)
    });
    let right = right.count();
    assert!(right >= 36, "{right} of 40");
}

#[test]
fn what_has_no_answer_is_refused() {
    let few = e_divisive(&[1.0, 2.0, 3.0], &settings(2));
    assert_eq!(few, Err(Refusal::TooFew { needed: 4, had: 3 }));
    assert_eq!(e_divisive(&[1.0; 8], &settings(2)), Err(Refusal::NoSpread { had: 8 }));
    assert_eq!(e_divisive(&[1.0, f64::NAN, 1.0, 2.0], &settings(2)), Err(Refusal::NotFinite));
    let many = vec![1.0; VALUES_MAX + 1];
    assert_eq!(e_divisive(&many, &settings(2)), Err(Refusal::TooMany { most: 1_000, had: 1_001 }));
}
