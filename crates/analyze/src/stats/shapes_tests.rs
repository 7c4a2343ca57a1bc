//! Shapes: known truth, and least squares against independent values.

use super::*;

fn hours(n: usize) -> Vec<f64> {
    (0..n).map(|index| index as f64 / 60.0).collect()
}

fn noise(seed: u64, n: usize) -> Vec<f64> {
    let mut rng = units::Seed(seed).rng();
    (0..n).map(|_| rng.normal()).collect()
}

fn series(n: usize, of: impl Fn(f64) -> f64, sd: f64) -> (Vec<f64>, Vec<f64>) {
    let times = hours(n);
    let values = times.iter().zip(noise(7, n)).map(|(time, noise)| of(*time) + sd * noise).collect();
    (times, values)
}

#[test]
fn each_shape_is_told_from_a_line() {
    let best = |of: &dyn Fn(f64) -> f64| {
        let (times, values) = series(240, of, 0.5);
        let found = shapes(&times, &values, Some(100.0)).unwrap();
        let all = [("line", 0.0), ("filling", found.filling), ("steps", found.steps), ("wave", found.wave)];
        all.into_iter().min_by(|a, b| a.1.total_cmp(&b.1)).unwrap().0
    };
    assert_eq!(best(&|time| 10.0 + 5.0 * time), "line");
    assert_eq!(best(&|time| 10.0 + 20.0 * (1.0 - (-time / 0.8).exp())), "filling");
    assert_eq!(best(&|time| if time < 1.7 { 10.0 } else { 20.0 }), "steps");
    assert_eq!(best(&|time| 10.0 + 5.0 * (time * 3.0).sin()), "wave");
}

#[test]
fn the_parameters_of_a_curve_are_found() {
    let (times, values) = series(480, |time| 10.0 + 20.0 * (1.0 - (-time / 0.8).exp()), 0.1);
    let found = shapes(&times, &values, Some(1000.0)).unwrap().curve;
    assert!((found.start - 10.0).abs() < 0.2, "{found:?}");
    assert!((found.plateau() - 30.0).abs() < 0.1, "{found:?}");
    assert!((found.time_constant - 0.8).abs() < 0.03, "{found:?}");
}

#[test]
fn the_place_of_a_step_is_found() {
    let (times, values) = series(100, |time| if time < 0.999 { 5.0 } else { 9.0 }, 0.3);
    assert_eq!(shapes(&times, &values, None).unwrap().step_at, [60]);
}

#[test]
fn a_curve_may_not_level_off_above_the_ceiling() {
    // A line up to the ceiling: without a bound a slow curve would fit it as well.
    let (times, values) = series(480, |time| 10.0 * time, 1.0);
    let near = shapes(&times, &values, Some(90.0)).unwrap();
    assert!(near.curve.plateau() <= 90.0 + 1e-6 && near.filling > 6.0, "{near:?}");
    let far = shapes(&times, &values, Some(1e6)).unwrap();
    assert!(far.filling < near.filling, "{far:?}");
}

#[test]
fn a_regular_wave_is_found_and_an_irregular_one_is_left() {
    let daily = |time: f64| 3.0 * (std::f64::consts::TAU * time / 1.3 + 0.4).sin();
    let (times, values) = series(480, |time| 100.0 + 2.0 * time + daily(time), 0.3);
    let wave = regular_wave(&times, &values).unwrap();
    let worst = times.iter().zip(&wave).map(|(time, wave)| (daily(*time) - wave).abs()).fold(0.0, f64::max);
    assert!(worst < 0.4, "{worst}");
    assert!(regular_wave(&times, &noise(3, 480)).is_none());
    assert!(regular_wave(&times[..5], &values[..5]).is_none());
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let times = hours(20);
    assert_eq!(shapes(&times, &[1.0; 20], None), Err(Refusal::NoSpread { had: 20 }));
    assert_eq!(shapes(&times[..9], &noise(1, 9), None), Err(Refusal::TooFew { needed: POINTS_MIN, had: 9 }));
    assert_eq!(shapes(&times, &noise(1, 19), None), Err(Refusal::Unpaired { first: 20, second: 19 }));
    let mut back = times.clone();
    back[3] = 0.0;
    assert_eq!(shapes(&back, &noise(1, 20), None), Err(Refusal::Disordered));
    let mut values = noise(1, 20);
    values[4] = f64::NAN;
    assert_eq!(shapes(&times, &values, None), Err(Refusal::NotFinite));
    values[4] = 1.0;
    assert_eq!(shapes(&times, &values, Some(f64::NAN)), Err(Refusal::NotFinite));
    let long = hours(POINTS_MAX + 1);
    let many = noise(1, POINTS_MAX + 1);
    assert_eq!(shapes(&long, &many, None), Err(Refusal::TooMany { most: POINTS_MAX, had: POINTS_MAX + 1 }));
}

#[test]
fn extreme_values_give_finite_numbers() {
    let times = hours(40);
    for scale in [1e-300, 1e-9, 1.0, 1e9, 1e300] {
        for values in [noise(5, 40), (0..40).map(f64::from).collect(), [vec![0.0; 39], vec![1.0]].concat()] {
            let values: Vec<f64> = values.iter().map(|value| value * scale).collect();
            let Ok(found) = shapes(&times, &values, Some(2.0 * scale)) else { continue };
            let all =
                [found.n_effective, found.level, found.filling, found.steps, found.wave, found.curve.rise];
            assert!(all.iter().all(|value| value.is_finite()), "{scale}: {found:?}");
        }
    }
}
