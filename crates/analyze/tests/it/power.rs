//! How often a difference that is there is detected, and one that is not.
//!
//! A trial's throughput is lognormal with a block effect that cancels and a trial effect of 1.5 %, so the log ratio of
//! a block has a standard deviation of 2.1 % and the power of the paired t test is that of the noncentral t law
//! (scipy.stats.nct 1.17.1).

use crate::synth::{closed, run, trials};
use analyze::analyze;
use schema::analysis::{Basis, Comparison, Verdict};
use schema::metric::Metric;
use units::Seed;

const TRIAL_SD: f64 = 0.015;

/// The comparison of throughput in `runs` runs of a target that is `ratio` times the other.
fn compared(runs: u64, blocks: u32, ratio: f64) -> Vec<Comparison> {
    let plan = run(&["a", "b"], &[closed(64)], blocks);
    let one = |index| {
        let mut rng = Seed(91).derive("power", index).rng();
        let blocks: Vec<f64> = (0..blocks).map(|_| 0.03 * rng.normal()).collect();
        let data = trials(&plan, |cell, block| {
            let truth = if cell == 0 { ratio } else { 1.0 };
            1e4 * truth * (blocks[block as usize - 1] + TRIAL_SD * rng.normal()).exp()
        });
        let found = analyze(&plan, &data).comparisons.into_iter();
        found.into_iter().find(|pair| pair.metric == Metric::Throughput).expect("it is compared")
    };
    (0..runs).map(one).collect()
}

fn differ(found: &[Comparison]) -> usize {
    found.iter().filter(|pair| pair.p_value.is_some_and(|p| p < 0.05)).count()
}

/// Ranges are the 0.05 % and 99.95 % points of the binomial law (scipy.stats.binom.ppf).
#[test]
fn power_is_that_of_the_noncentral_t_law() {
    // 5 blocks, 5 %: 0.9633; 5 blocks, 3 %: 0.6503; 10 blocks, 3 %: 0.9739.
    for (blocks, ratio, range) in [(5, 1.05, 183..=200), (5, 1.03, 107..=152), (10, 1.03, 186..=200)] {
        let told = differ(&compared(200, blocks, ratio));
        assert!(range.contains(&told), "{told} of 200 at {blocks} blocks and {ratio}");
    }
}

#[test]
#[ignore = "a minute: 1,000 runs each"]
fn power_is_that_of_the_noncentral_t_law_in_many_runs() {
    for (blocks, ratio, range) in [(5, 1.05, 942..=981), (5, 1.03, 600..=699), (10, 1.03, 956..=989)] {
        let told = differ(&compared(1_000, blocks, ratio));
        assert!(range.contains(&told), "{told} of 1,000 at {blocks} blocks and {ratio}");
    }
}

#[test]
#[ignore = "a minute: 5,000 runs each"]
fn the_same_target_twice_differs_in_6_percent_of_the_runs_at_most() {
    for blocks in [5, 8] {
        let found = compared(5_000, blocks, 1.0);
        assert!(found.iter().all(|pair| pair.basis == Basis::Ratio && pair.verdict != Verdict::Refused));
        let told = differ(&found);
        // And not because it never differs: 3.1 standard errors of 5 % to either side are 4 to 6 %.
        assert!((200..=300).contains(&told), "{told} of 5,000 at {blocks} blocks");
        let verdicts = found.iter().filter(|pair| matches!(pair.verdict, Verdict::Faster | Verdict::Slower));
        assert!(verdicts.count() <= told, "a verdict without a difference");
    }
}
