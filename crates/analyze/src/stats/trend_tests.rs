//! Trends against published examples, pymannkendall and scipy, and against what no input may bring.

use super::super::series::{NILE, SUNSPOTS, autoregressive};
use super::*;

/// Cloud seeding, double ratios of rain 1951–1955 (Smith 1967; Hollander & Wolfe, table 9.1).
const CLOUDS: [f64; 5] = [1.26, 1.27, 1.12, 1.16, 1.03];

fn close(got: f64, wanted: f64, what: &str) {
    assert!((got - wanted).abs() <= 1e-9 * wanted.abs().max(1e-3), "{what}: {got} is not {wanted}");
}

/// S, variance, z, p; then n/n*, z and p of the correction; then the slope.
fn check(values: &[f64], s: i64, plain: [f64; 3], corrected: [f64; 3], slope: f64) {
    let got = mann_kendall(values).unwrap();
    assert_eq!((got.s, got.n, got.block, got.factor_refused), (s, values.len(), 1, false), "{got:?}");
    close(got.tau, s as f64 / pairs(values.len()), "tau");
    for (index, value) in [got.variance, got.z, got.p_value].into_iter().enumerate() {
        close(value, plain[index], "plain");
    }
    for (index, value) in [got.factor, got.corrected_z, got.corrected_p_value].into_iter().enumerate() {
        close(value, corrected[index], "corrected");
    }
    close(got.corrected_variance, plain[0] * corrected[0], "variance");
    close(got.slope, slope, "slope");
}

#[test]
fn mann_kendall_agrees_with_pymannkendall() {
    // original_test and hamed_rao_modification_test of pymannkendall 1.4.3.
    check(
        &NILE,
        -1387,
        [112_728.333_333_333_33, -4.128_066_522_844_101, 3.658_262_921_657_496e-5],
        [2.142_898_327_098_720_3, -2.819_979_195_645_138_8, 0.004_802_676_310_182_719],
        -2.6,
    );
    check(
        &SUNSPOTS,
        530,
        [24_581.333_333_333_332, 3.374_061_186_656_168, 0.000_740_679_022_310_564_2],
        [0.809_095_572_362_541_7, 3.751_051_628_571_004, 0.000_176_094_431_518_780_68],
        1.047_580_645_161_290_6,
    );
    check(
        &CLOUDS,
        -6,
        [16.666_666_666_666_668, -1.224_744_871_391_589, 0.220_671_361_919_846_82],
        [1.0, -1.224_744_871_391_589, 0.220_671_361_919_846_82],
        -0.056_25,
    );
    check(
        &autoregressive(60, 0.6, 1, 0.0),
        -276,
        [24_583.333_333_333_332, -1.753_930_211_394_021_8, 0.079_442_466_127_744_86],
        [2.063_684_295_056_308_6, -1.220_929_758_771_758_7, 0.222_112_615_941_150_17],
        -0.004_785_356_284_529_746,
    );
    check(
        &autoregressive(300, 0.8, 2, 0.002),
        9_130,
        [3_014_916.666_666_666_5, 5.257_575_897_184_717, 1.459_666_600_922_56e-7],
        [8.951_829_170_408_386, 1.757_234_243_525_253_3, 0.078_877_890_710_209_67],
        0.002_214_187_262_369_001_4,
    );
}

#[test]
fn theil_sen_agrees_with_its_authors_and_scipy() {
    let check = |times: &[f64], values: &[f64], level: f64, wanted: [f64; 4]| {
        let got = theil_sen(times, values, level).unwrap();
        for (index, value) in [got.slope, got.intercept, got.low, got.high].into_iter().enumerate() {
            close(value, wanted[index], &format!("{index} of {got:?}"));
        }
        got
    };
    let years = |n: usize| (0..n).map(|year| year as f64).collect::<Vec<_>>();
    // Sen 1968, §6: slope 4, and 26/7 to 35/8 at 93 %.
    let (times, values) = ([1., 2., 3., 4., 10., 12., 18.], [9., 15., 19., 20., 45., 55., 78.]);
    check(&times, &values, 0.93, [4.0, 4.0, 26.0 / 7.0, 35.0 / 8.0]);
    // scipy.stats.theilslopes 1.17.1.
    check(&years(100), &NILE, 0.95, [-2.6, 1_022.2, -3.627_906_976_744_186, -1.428_571_428_571_428_6]);
    check(&years(100), &NILE, 0.99, [-2.6, 1_022.2, -4.033_333_333_333_333, -1.04]);
    check(
        &years(60),
        &SUNSPOTS,
        0.95,
        [1.047_580_645_161_290_6, 13.196_370_967_741_924, 0.377_419_354_838_709_64, 1.865_384_615_384_615_4],
    );
    // Ties of times and of values.
    let times = [1., 1., 2., 2., 3., 4., 4., 5., 6., 7., 7., 8.];
    let values = [2., 3., 3., 5., 4., 6., 8., 7., 9., 9., 12., 10.];
    check(&times, &values, 0.95, [1.183_333_333_333_333_3, 1.766_666_666_666_666_6, 1.0, 1.5]);
    // Five points cannot cover 99 %: their ends are said to be all there is.
    assert!(!theil_sen(&years(5), &CLOUDS, 0.95).unwrap().clipped);
    assert!(theil_sen(&years(5), &CLOUDS, 0.99).unwrap().clipped);
}

#[test]
fn the_order_of_points_does_not_matter() {
    let times: Vec<f64> = (0..100).map(f64::from).collect();
    let wanted = theil_sen(&times, &NILE, 0.95).unwrap();
    let backwards: Vec<f64> = times.iter().rev().copied().collect();
    let values: Vec<f64> = NILE.iter().rev().copied().collect();
    assert_eq!(theil_sen(&backwards, &values, 0.95).unwrap(), wanted);
}

#[test]
fn s_is_the_sum_over_all_pairs() {
    for (n, levels) in [(2, 3.0), (7, 3.0), (64, 5.0), (101, 1e9)] {
        let values: Vec<f64> =
            autoregressive(n, 0.3, 9, 0.0).iter().map(|value| (value * levels).round()).collect();
        let slow: i64 = (0..n)
            .flat_map(|j| (0..j).map(move |i| (i, j)))
            .map(|(i, j)| i64::from(values[j] > values[i]) - i64::from(values[j] < values[i]))
            .sum();
        assert_eq!(rising_less_falling(&values), slow, "{n}");
    }
}

#[test]
fn neighbours_that_repel_leave_the_variance_alone() {
    // pymannkendall 1.4.3 makes n/n* = −0.159 and z = NaN of it.
    let got =
        mann_kendall(&[5., 1., 6., 2., 7., 1., 8., 3., 7., 2., 9., 4., 8., 3., 9., 4., 10., 5.]).unwrap();
    assert_eq!((got.s, got.variance, got.factor, got.factor_refused), (47, 689.0, 1.0, true));
    close(got.corrected_p_value, 0.079_694_668_113_710_07, "p");
}

#[test]
fn a_perfect_line_has_no_autocorrelation() {
    let line: Vec<f64> = (0..40).map(|at| 0.1 * f64::from(at)).collect();
    let got = mann_kendall(&line).unwrap();
    assert_eq!((got.s, got.factor, got.tau), (780, 1.0, 1.0));
    close(got.slope, 0.1, "slope");
}

#[test]
fn long_series_are_thinned_and_say_so() {
    let long = autoregressive(20_001, 0.5, 4, 0.000_1);
    let got = mann_kendall(&long).unwrap();
    assert_eq!((got.n, got.block), (3_334, 6));
    assert!((got.slope - 0.000_1).abs() < 0.000_002, "{got:?}");
    let times: Vec<f64> = (0..long.len()).map(|at| at as f64 / 10.0).collect();
    let line = theil_sen(&times, &long, 0.95).unwrap();
    assert_eq!((line.n, line.block), (3_334, 6));
    assert!(line.low < 0.001 && 0.001 < line.high && line.high - line.low < 0.000_04, "{line:?}");
}

#[test]
fn what_has_no_trend_is_refused() {
    let huge = [f64::MAX, -f64::MAX, 0.0, 1.0, 2.0, 3.0];
    for (values, why) in [
        (&[][..], Refusal::TooFew { needed: 5, had: 0 }),
        (&[1.0, 2.0, 3.0, 4.0], Refusal::TooFew { needed: 5, had: 4 }),
        (&[7.0; 9], Refusal::NoSpread { had: 9 }),
        (&[1.0, f64::NAN, 3.0, 4.0, 5.0], Refusal::NotFinite),
        (&[1.0, f64::INFINITY, 3.0, 4.0, 5.0], Refusal::NotFinite),
        (&huge, Refusal::NotFinite),
    ] {
        assert_eq!(mann_kendall(values), Err(why), "{values:?}");
    }
    let times = [0.0, 1.0, 2.0, 3.0];
    assert_eq!(theil_sen(&times, &[1.0, 2.0], 0.95), Err(Refusal::Unpaired { first: 4, second: 2 }));
    assert_eq!(theil_sen(&[0.0, 1.0], &[1.0, 2.0], 0.95), Err(Refusal::TooFew { needed: 3, had: 2 }));
    assert_eq!(theil_sen(&times, &[2.0; 4], 0.95), Err(Refusal::NoSpread { had: 4 }));
    assert_eq!(theil_sen(&[1.0; 4], &times, 0.95), Err(Refusal::NoSpread { had: 4 }));
    assert_eq!(theil_sen(&times, &[1.0, 2.0, 3.0, f64::NAN], 0.95), Err(Refusal::NotFinite));
    assert_eq!(theil_sen(&times, &times, f64::NAN), Err(Refusal::NotFinite));
    let (few, many) = ([0.0, 0.0, 0.0, 0.0, 0.0, 1.0], [0.0, 1.0, 0.0, 0.0, 0.0, 0.0]);
    assert_eq!(theil_sen(&few, &many, 0.95), Err(Refusal::TooManyTies { had: 6 }));
    // Times that differ by too little to give a slope.
    assert_eq!(theil_sen(&[0.0, f64::MIN_POSITIVE, 1.0], &[0.0, 9.0, 1.0], 0.95), Err(Refusal::NotFinite));
    // Half the values equal is no fault.
    assert!(mann_kendall(&[0.0, 0.0, 0.0, 1.0, 0.0, 0.0]).is_ok());
}
