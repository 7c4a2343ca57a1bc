//! Tests of warm-up and steady state on made-up trials whose truth is known. Only in tests.

use super::*;
use schema::experiment::LoadModel;
use schema::plan::LoadPlan;
use schema::said::{Joint, Said};
use schema::steady::{Steadiness, SteadyClass, SteadySeries, WarmUpConditions};
use schema::trial::IntervalLine;
use units::{Rng, Seed};

const SECOND_NS: u64 = 1_000_000_000;
/// Relative standard error of a sample median times √n, for the exponential law.
const MEDIAN_NOISE: f64 = 1.443;

fn line(second: u64, completed: u64, p50_ns: u64) -> IntervalLine {
    let start_ns = second * SECOND_NS;
    IntervalLine {
        start_ns,
        end_ns: start_ns + SECOND_NS,
        completed,
        p50_ns: Some(p50_ns),
        p99_ns: Some(p50_ns * 5),
        ..IntervalLine::default()
    }
}

fn lines(counts: &[u64], p50s_ns: &[u64]) -> Vec<IntervalLine> {
    (0..).zip(counts.iter().zip(p50s_ns)).map(|(at, (count, p50))| line(at, *count, *p50)).collect()
}

/// A closed load whose speed in each second is `speed`: answers and medians with the noise of counting.
pub(super) fn counted(speed: &[f64], per_second: f64, rng: &mut Rng) -> Vec<IntervalLine> {
    (0..)
        .zip(speed)
        .map(|(at, speed)| {
            let mean = per_second * speed;
            let count = mean + mean.sqrt() * rng.normal();
            let p50 = 1e6 / speed * (1.0 + MEDIAN_NOISE / mean.sqrt() * rng.normal());
            let p99 = 5e6 / speed * (1.0 + 10.0 / mean.sqrt() * rng.normal());
            let line = line(at, count.max(1.0) as u64, p50.max(1.0) as u64);
            IntervalLine { p99_ns: Some(p99.max(1.0) as u64), ..line }
        })
        .collect()
}

pub(super) fn rng(name: &str, index: u64) -> Rng {
    Seed(11).derive(name, index).rng()
}

fn closed() -> LoadPlan {
    LoadPlan { model: LoadModel::Closed, connections: 64, ..LoadPlan::default() }
}

fn window(lines: &[IntervalLine]) -> Steadiness {
    steadiness(lines, &[], &closed(), false)
}

fn is_warm(lines: &[IntervalLine]) -> bool {
    warmth(lines, &[], &WarmUpConditions::default(), 8).is_warm
}

#[test]
fn live_shapes() {
    let check = |name: &str, counts: &[u64], p50s_ns: &[u64], warm: bool| {
        let got = warmth(&lines(counts, p50s_ns), &[], &WarmUpConditions::default(), 8);
        assert_eq!(got.is_warm, warm, "{name}: {got:?}");
        assert_eq!(got.waiting_for.is_empty(), warm, "{name}: {got:?}");
    };
    let flat = [1_000_000; 7];
    check("flat", &[100_000; 6], &flat, true);
    check("five intervals", &[100_000; 5], &flat, false);
    check("small wobble", &[100_000, 101_000, 99_000, 100_500, 99_500, 100_200], &flat, true);
    check("slow ramp", &[100_000, 100_600, 101_200, 101_800, 102_400, 103_000], &flat, false);
    check("ramp of p50", &[100_000; 6], &[900_000, 890_000, 880_000, 870_000, 860_000, 850_000], false);
    check("step", &[100_000, 100_000, 100_000, 110_000, 110_000, 110_000], &flat, false);
    check("step long past", &[50_000, 100_000, 100_000, 100_000, 100_000, 100_000, 100_000], &flat, true);
    check("one outlier", &[100_000, 100_000, 100_000, 60_000, 100_000, 100_000], &flat, true);
    check("noise of small counts", &[95, 110, 88, 104, 91, 107], &flat, true);
    check("climb of small counts", &[80, 90, 95, 101, 108, 121], &flat, false);
    check("doubling of small counts", &[100, 92, 108, 205, 190, 199], &flat, false);
    check("zero throughput", &[0; 6], &flat, false);
    check("stalled once", &[100_000, 100_000, 0, 100_000, 100_000, 100_000], &flat, false);
    check("p50 of zero", &[100_000; 6], &[0; 6], true);
}

#[test]
fn empty_lines_and_broken_clocks_are_not_warm() {
    assert!(!is_warm(&[]));
    let flat: Vec<_> = (0..6).map(|at| line(at, 100, 5)).collect();
    assert!(is_warm(&flat));
    let mut none = flat.clone();
    none[3].p50_ns = None;
    assert!(!is_warm(&none));
    let mut backwards = flat;
    backwards[3].end_ns = backwards[3].start_ns;
    assert!(!is_warm(&backwards));
    backwards[3].end_ns = 0;
    assert!(!is_warm(&backwards));
}

#[test]
fn poisson_noise_is_warm_in_nearly_every_window() {
    for mean in [30.0_f64, 1_000.0, 50_000.0] {
        let mut rng = rng("level", mean as u64);
        let warm = (0..500).filter(|_| is_warm(&counted(&[1.0; 6], mean, &mut rng))).count();
        assert!(warm >= 485, "{warm} of 500 at {mean} a second");
    }
}

/// The first interval after which a live warm-up would end, of at most `speed.len()`.
fn ends_after(speed: &[f64], per_second: f64, rng: &mut Rng) -> Option<usize> {
    let lines = counted(speed, per_second, rng);
    (1..=lines.len()).find(|until| is_warm(&lines[..*until]))
}

#[test]
fn a_flat_warm_up_ends_early_and_a_climbing_one_does_not() {
    let climb: Vec<f64> = (0..60).map(|at| 1.0 - 0.5 * (-f64::from(at) / 8.0).exp()).collect();
    let ramp: Vec<f64> = (0..20).map(|at| 1.0 + 0.03 * f64::from(at)).collect();
    let late: Vec<f64> = (0..40).map(|at| if at < 3 { 0.6 } else { 1.0 }).collect();
    for seed in 0..40 {
        let mut rng = rng("ends", seed);
        let flat = ends_after(&[1.0; 20], 20_000.0, &mut rng).expect("it is flat");
        assert!(flat <= 9, "seed {seed}: a flat one ended after {flat}");
        // Within 1.5 % of its end after 28 s.
        let climbed = ends_after(&climb, 20_000.0, &mut rng).expect("it gets there");
        assert!(climbed >= 20, "seed {seed}: 4 % short of its end, ended after {climbed}");
        assert_eq!(ends_after(&ramp, 20_000.0, &mut rng), None, "seed {seed}");
        let stepped = ends_after(&late, 20_000.0, &mut rng).expect("it is flat after the step");
        // The last slow second may be taken for an outlier among six: five fast ones are enough then.
        assert!((8..=16).contains(&stepped), "seed {seed}: ended after {stepped}");
    }
}

#[test]
fn garbage_collections_and_cpu_are_waited_for() {
    let flat: Vec<_> = (0..15).map(|at| line(at, 100_000, 1_000_000)).collect();
    let ticks = |cycles: &dyn Fn(u64) -> Option<f64>, cpu_ns: &dyn Fn(u64) -> Option<f64>| -> Vec<Beside> {
        (0..=15)
            .map(|at| Beside {
                t_ns: at * SECOND_NS,
                cpu_ns: cpu_ns(at),
                gc_cycles: cycles(at),
                rss_bytes: None,
            })
            .collect()
    };
    let steady = |_: u64| Some(8e8);
    let seldom = |at: u64| Some(f64::from(u8::from(at == 9)));
    let often = |at: u64| Some((at % 2) as f64);
    let gc = WarmUpConditions { gc_at_most_every_ns: Some(10 * SECOND_NS), cpu_within: None };
    let cpu = WarmUpConditions { gc_at_most_every_ns: None, cpu_within: Some(0.05) };
    let said = |beside: &[Beside], also: &WarmUpConditions| {
        let waiting_for = warmth(&flat, beside, also, 8).waiting_for;
        Said::list(Joint::Semicolon, waiting_for).to_string()
    };
    assert_eq!(said(&ticks(&seldom, &steady), &gc), "");
    assert_eq!(said(&ticks(&often, &steady), &gc), "at most one garbage collection in 10 s: had 5");
    assert!(said(&ticks(&|_| None, &steady), &gc).ends_with("runtime counters cannot be read"));
    assert!(said(&[], &gc).ends_with("runtime counters cannot be read"));
    assert!(said(&ticks(&|at| (at > 8).then_some(0.0), &steady), &gc).ends_with("known for 6 s only"));
    assert_eq!(said(&ticks(&seldom, &steady), &cpu), "");
    // The outlier of one second does not move the CPU time per request's level, but it is not within 5 %.
    let jumps = |at: u64| Some(if at == 12 { 9e8 } else { 8e8 });
    assert_eq!(said(&ticks(&seldom, &jumps), &cpu), "the target's CPU within 5 % over 6 s: varies by 12.5 %");
    assert!(said(&[], &cpu).ends_with("its CPU time cannot be read"));
    assert!(said(&ticks(&seldom, &|at| (at > 12).then_some(8e8)), &cpu).ends_with("known for 3 s only"));
}

/// The class of a window of 60 s whose speed is `speed(second)`, with 20,000 answers a second.
fn planted(name: &str, speed: impl Fn(f64) -> f64) -> Steadiness {
    let speed: Vec<f64> = (0..60).map(|at| speed(f64::from(at))).collect();
    window(&counted(&speed, 20_000.0, &mut rng(name, 0)))
}

#[test]
fn planted_moves_are_classed() {
    let check = |name: &str, class: SteadyClass, speed: &dyn Fn(f64) -> f64| {
        let got = planted(name, speed);
        assert_eq!(got.class, Some(class), "{name}: {got:#?}");
    };
    check("flat", SteadyClass::Flat, &|_| 1.0);
    check("ramp up", SteadyClass::WarmUp, &|at| 1.0 + 0.001 * at);
    check("exponential climb", SteadyClass::WarmUp, &|at| 1.0 - 0.3 * (-at / 10.0).exp());
    check("step up", SteadyClass::WarmUp, &|at| if at < 9.0 { 0.9 } else { 1.0 });
    check("ramp down", SteadyClass::SlowDown, &|at| 1.0 - 0.002 * at);
    check("late slow-down", SteadyClass::SlowDown, &|at| if at < 51.0 { 1.0 } else { 0.93 });
    check("dip", SteadyClass::Unsteady, &|at| if (20.0..35.0).contains(&at) { 0.8 } else { 1.0 });
    // A collector every 6 s that takes a tenth of a second's speed: the same all through.
    check("saw-tooth of a collector", SteadyClass::Flat, &|at| 1.0 - 0.02 * (at % 6.0));
    check("one outlier", SteadyClass::Flat, &|at| if at == 30.0 { 0.3 } else { 1.0 });
    check("a stall of one second", SteadyClass::Flat, &|at| if at == 44.0 { 0.001 } else { 1.0 });
    // Less than 1 % is not material, however significant.
    check("immaterial step", SteadyClass::Flat, &|at| if at < 30.0 { 1.0 } else { 1.004 });
}

#[test]
fn the_evidence_says_when_and_by_how_much() {
    let got = planted("evidence", |at| if at < 20.0 { 0.8 } else { 1.0 });
    let p50 = got.series.iter().find(|series| series.series == SteadySeries::P50).unwrap();
    assert_eq!((p50.class, p50.change_points_ns.as_slice()), (SteadyClass::WarmUp, &[20 * SECOND_NS][..]));
    assert!((p50.change + 0.2).abs() < 0.02 && p50.trend_p.is_some(), "{p50:?}");
    let names: Vec<_> = got.series.iter().map(|series| series.series).collect();
    let all = [SteadySeries::P50, SteadySeries::P99, SteadySeries::Throughput, SteadySeries::Errors];
    assert_eq!((names, got.intervals), (all.to_vec(), 60));
}

#[test]
fn errors_cpu_and_memory_are_followed() {
    let mut lines: Vec<_> = (0..30).map(|at| line(at, 10_000, 1_000_000)).collect();
    for line in &mut lines[15..] {
        line.failed.insert(schema::load::ErrorClass::Timeout, 500);
    }
    assert_eq!(window(&lines).class, Some(SteadyClass::SlowDown));
    let flat: Vec<_> = (0..30).map(|at| line(at, 10_000, 1_000_000)).collect();
    let beside = |cpu: &dyn Fn(u64) -> f64, rss: &dyn Fn(u64) -> f64| -> Vec<Beside> {
        (0..=30)
            .map(|at| Beside {
                t_ns: at * SECOND_NS + 3_000_000,
                cpu_ns: Some(cpu(at)),
                rss_bytes: Some(rss(at)),
                gc_cycles: None,
            })
            .collect()
    };
    let class = |beside: &[Beside]| steadiness(&flat, beside, &closed(), false).class.unwrap();
    assert_eq!(class(&beside(&|_| 5e8, &|_| 3e7)), SteadyClass::Flat);
    assert_eq!(class(&beside(&|at| if at < 10 { 7e8 } else { 5e8 }, &|_| 3e7)), SteadyClass::WarmUp);
    // Memory that grows is neither better nor worse.
    assert_eq!(class(&beside(&|_| 5e8, &|at| 3e7 + 1e6 * at as f64)), SteadyClass::Unsteady);
    assert_eq!(class(&beside(&|_| 5e8, &|at| 3e7 + 1e4 * at as f64)), SteadyClass::Flat);
    // An open load's throughput is its schedule's.
    let open = LoadPlan { model: LoadModel::Open, rate_per_s: Some(1e4), ..LoadPlan::default() };
    let names = steadiness(&flat, &[], &open, false).series;
    assert!(names.iter().all(|series| series.series != SteadySeries::Throughput));
}

#[test]
fn what_has_no_class_says_why() {
    let refused = |lines: &[IntervalLine], load: &LoadPlan, disturbed| {
        let got = steadiness(lines, &[], load, disturbed);
        assert_eq!((got.class, got.series.len()), (None, 0));
        got.refused.unwrap()
    };
    let flat: Vec<_> = (0..9).map(|at| line(at, 10_000, 1_000_000)).collect();
    let said = "10 intervals with answers are needed, had 9: measure for at least 10 s";
    assert_eq!(refused(&flat, &closed(), false), said);
    assert!(refused(&[], &closed(), false).contains("had 0"));
    let silent: Vec<_> = (0..30).map(|at| line(at, 0, 0)).collect();
    assert!(refused(&silent, &closed(), false).contains("had 0"));
    assert!(refused(&flat, &closed(), true).starts_with("events of the plan"));
    let bursts = LoadPlan {
        arrivals: Some(schema::arrival::ArrivalPlan::Recorded {
            file: "a".into(),
            count: 1,
            span_ns: 1,
            after: schema::arrival::RecordingEnd::Stop,
            speed: 1.0,
        }),
        ..closed()
    };
    assert!(refused(&flat, &bursts, false).starts_with("its load changes by plan"));
}

/// How many of `runs` windows of `n` seconds are not flat; `speed` is asked once for each.
fn false_alarms(runs: u64, n: usize, per_second: f64, speed: impl Fn(&mut Rng) -> Vec<f64>) -> usize {
    (0..runs)
        .filter(|run| {
            let mut rng = rng("flat", run * 1_000 + n as u64);
            let speed = speed(&mut rng);
            window(&counted(&speed, per_second, &mut rng)).class != Some(SteadyClass::Flat)
        })
        .count()
}

/// Speeds with noise of 3 % whose neighbours are alike by `phi`.
fn autoregressive(n: usize, phi: f64, rng: &mut Rng) -> Vec<f64> {
    autoregressive_by(n, 0.03, phi, rng)
}

/// The same with noise of standard deviation `sd`.
pub(super) fn autoregressive_by(n: usize, sd: f64, phi: f64, rng: &mut Rng) -> Vec<f64> {
    let mut noise = sd * rng.normal();
    (0..n)
        .map(|_| {
            noise = phi * noise + sd * (1.0 - phi * phi).sqrt() * rng.normal();
            noise.exp()
        })
        .collect()
}

/// Runs per kind; false alarms allowed of independent noise, and of noise with φ = 0.3, 0.6, 0.7 and 0.9.
fn check_false_alarms(runs: u64, allowed: [f64; 5]) {
    for n in [15, 30, 60] {
        for per_second in [200.0, 20_000.0] {
            let got = false_alarms(runs, n, per_second, |_| vec![1.0; n]);
            println!("Poisson: {got} of {runs}, {n} s of {per_second}");
            assert!(
                got as f64 <= allowed[0] * runs as f64,
                "Poisson: {got} of {runs}, {n} s of {per_second}"
            );
        }
        for (phi, allowed) in [0.3, 0.6, 0.7, 0.9].into_iter().zip(&allowed[1..]) {
            let got = false_alarms(runs, n, 20_000.0, |rng| autoregressive(n, phi, rng));
            println!("AR(1) with {phi}: {got} of {runs}, {n} s");
            assert!(got as f64 <= allowed * runs as f64, "AR(1) with {phi}: {got} of {runs}, {n} s");
        }
    }
}

#[test]
fn flat_windows_are_flat() {
    check_false_alarms(60, [0.07, 0.12, 0.14, 0.14, 0.19]);
}

#[test]
#[ignore = "minutes: nine thousand windows, some with simulated noise"]
fn flat_windows_are_flat_at_full_size() {
    check_false_alarms(500, [0.04, 0.06, 0.06, 0.06, 0.10]);
}

/// A window of independent seconds states a drift of some size as the smallest seen: twice that is seen, and a tenth of
/// it is not.
#[test]
fn a_drift_that_would_have_been_seen_is_seen() {
    let of = |drift: f64, seed: u64| {
        let speed: Vec<f64> = (0..60).map(|at| 1.0 + drift * (f64::from(at) / 59.0 - 0.5)).collect();
        window(&counted(&speed, 2_000.0, &mut rng("drift", seed)))
    };
    let flat = of(0.0, 1);
    let throughput = flat.series.iter().find(|one| one.series == SteadySeries::Throughput).unwrap();
    let seen = throughput.drift_seen.unwrap();
    // 2,000 a second have noise of 2.2 %; 4.4 standard errors of a change over 60 of them are 4.4 %.
    assert!((0.025..0.09).contains(&seen), "{seen}");
    let found = (0..20).filter(|seed| of(2.0 * seen, *seed).class != Some(SteadyClass::Flat)).count();
    assert!(found >= 18, "a drift of {} is seen in {found} of 20", 2.0 * seen);
}
