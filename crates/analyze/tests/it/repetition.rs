//! The plan's three levels: known variances and costs give the counts of Kalibera and Jones, and runs enough for the
//! precision.

use crate::synth::{closed, run, trial};
use analyze::stats::student::t_quantile;
use analyze::{Costs, Past, Wanted, advice};
use schema::advice::LevelsAdvice;
use schema::plan::Replicas;
use schema::trial::{Phase, PhaseSpan, SampleSummary};
use units::Seed;

const SECOND: u64 = 1_000_000_000;
const WANTED: Wanted = Wanted { precision: 0.02, difference: 0.05, power: 0.8 };

/// Runs of `trials` trials of four samples of 5 s, with a spread of so much at each level, innermost first.
fn past(runs: u64, trials: u32, spread: [f64; 3], seed: u64) -> Vec<Past> {
    let mut rng = Seed(88).derive("repetition", seed).rng();
    (0..runs)
        .map(|_| {
            let of_run = spread[2] * rng.normal();
            let mut run = run(&["a"], &[closed(64)], trials);
            (run.plan.phases.samples, run.plan.phases.sample_ns) = (4, 5 * SECOND);
            let trials = (1..=trials)
                .map(|id| {
                    let of_trial = of_run + spread[1] * rng.normal();
                    let mut made = trial(&run, id, &[]);
                    made.file.samples = (1..=4)
                        .map(|sample| {
                            let throughput_per_s = 1e4 * (1.0 + of_trial + spread[0] * rng.normal());
                            let (answers, failed) = (50_000, 0);
                            let (mean_ns, p50_ns, p99_ns) = (None, None, None);
                            SampleSummary {
                                sample,
                                throughput_per_s,
                                answers,
                                failed,
                                mean_ns,
                                p50_ns,
                                p99_ns,
                            }
                        })
                        .collect();
                    // 20 s of warm-up and start besides 20 s of samples.
                    let span = |phase, start: u64, end: u64| PhaseSpan {
                        phase,
                        sample: None,
                        start_ns: start * SECOND,
                        end_ns: end * SECOND,
                    };
                    made.file.phases = vec![
                        span(Phase::Warmup, 0, 19),
                        span(Phase::Sample, 19, 39),
                        span(Phase::Drain, 39, 40),
                    ];
                    made.file.ready_ns = Some(0);
                    made
                })
                .collect();
            Past { run, trials }
        })
        .collect()
}

fn levels(past: &[Past], run_ns: Option<u64>) -> Option<LevelsAdvice> {
    advice(&past[0].run.plan, past, WANTED, Costs { trial_ns: None, run_ns }).levels
}

#[test]
fn the_counts_are_those_of_the_formulas() {
    // Many runs, so that the variances are well known.
    let found = levels(&past(400, 6, [0.02, 0.01, 0.01], 1), Some(180 * SECOND)).unwrap();
    assert_eq!((found.runs_seen, found.trials_seen, found.samples_seen), (400, 6, 4));
    for (got, wanted) in [(found.sample_cv, 0.02), (found.trial_cv, 0.01), (found.run_cv, 0.01)] {
        assert!((got / wanted - 1.0).abs() < 0.15, "{found:?}");
    }
    assert_eq!((found.run_ns, found.trial_ns, found.sample_ns), (180e9, 20e9, 5e9));
    // ⌈√((20/5)(2²/1²))⌉ and ⌈√((180/20)(1²/1²))⌉, with the variances as estimated.
    let best = |cost: f64, own: f64, above: f64| (cost.sqrt() * own / above).ceil() as u32;
    assert_eq!(found.samples_best, Some(best(20.0 / 5.0, found.sample_cv, found.trial_cv)));
    assert_eq!(found.trials_best, Some(best(180.0 / 20.0, found.trial_cv, found.run_cv)));
    let (samples, trials) = (f64::from(found.samples_best.unwrap()), f64::from(found.trials_best.unwrap()));
    let spread =
        found.run_cv.powi(2) + found.trial_cv.powi(2) / trials + found.sample_cv.powi(2) / (samples * trials);
    let half = |runs: u32| t_quantile(0.975, runs as usize - 1) * (spread / f64::from(runs)).sqrt();
    let runs = found.runs_for_precision.unwrap();
    assert!(half(runs) <= 0.02 && (runs == 5 || half(runs - 1) > 0.02), "{runs} runs: ± {}", half(runs));
    let one = 180.0 + trials * (20.0 + samples * 5.0);
    assert_eq!(found.time_ns.map(|ns| (ns as f64 / 1e9).round()), Some((f64::from(runs) * one).round()));
    for key in [format!("`samples = {samples}`"), format!("`blocks = {trials}`"), format!("{runs} times")] {
        assert!(found.how.contains(&key), "{key}: {}", found.how);
    }
}

/// What the counts are for: at the same time spent, their interval is the narrowest among their neighbours.
#[test]
fn no_other_counts_are_cheaper() {
    let found = levels(&past(400, 6, [0.03, 0.01, 0.02], 2), Some(180 * SECOND)).unwrap();
    let variance_times_cost = |samples: f64, trials: f64| {
        let spread = found.run_cv.powi(2)
            + found.trial_cv.powi(2) / trials
            + found.sample_cv.powi(2) / (samples * trials);
        spread * (180.0 + trials * (20.0 + samples * 5.0))
    };
    let best = variance_times_cost(found.samples_best.unwrap().into(), found.trials_best.unwrap().into());
    for samples in 1..30 {
        for trials in 1..20 {
            let other = variance_times_cost(samples.into(), trials.into());
            // Whole numbers of repetitions cost a little.
            assert!(other > 0.9 * best, "{samples} samples, {trials} trials: {other} for {best}");
        }
    }
}

#[test]
fn what_is_missing_is_said_and_nothing_is_made_up() {
    assert_eq!(levels(&past(1, 6, [0.02, 0.01, 0.01], 3), None), None, "one run has two levels");
    assert_eq!(
        levels(&past(4, 1, [0.02, 0.01, 0.01], 3), None),
        None,
        "one trial a run has no trials to compare"
    );
    let two = levels(&past(4, 5, [0.02, 0.01, 0.0], 4), None).unwrap();
    assert!(!two.run_is_measured && two.run_ns == two.trial_ns);
    let wild = past(4, 5, [0.02, 0.01, 3.0], 5);
    let far = levels(&wild, None).unwrap();
    assert!(far.runs_for_precision.is_none() && far.how.contains("find out why first"), "{far:?}");
    let mut built = past(4, 5, [0.02, 0.01, 0.01], 6);
    built[0].run.plan.replicas = Replicas::Rebuild;
    assert!(levels(&built, None).unwrap().how.contains("each a build and a restart"));
}
