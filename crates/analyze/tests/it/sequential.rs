//! Runs that wait for their claims: how often they are wrong, whether their intervals hold the truth whenever they end,
//! and how many trials they save. Trials are made here: a truth, a block that both share, and noise of their own.

use crate::synth::{claim, claim_of, closed, run, trials};
use analyze::{TrialData, analyze, undecided};
use schema::analysis::{AnalysisFile, ClaimVerdict};
use schema::design::StoppingPlan;
use schema::metric::Metric;
use schema::plan::{ClaimComparison, ClaimMargin, ClaimPlan, ClaimTest};
use schema::run::RunFile;
use units::{Rng, Seed};

const MOST: u32 = 20;

fn plan(claims: Vec<ClaimPlan>) -> RunFile {
    let mut file = run(&["a", "b"], &[closed(64)], MOST);
    file.plan.claims = claims;
    file.plan.design.stopping = Some(StoppingPlan {
        until_decided: true,
        blocks_pilot: 5,
        blocks_max: MOST,
        ..StoppingPlan::default()
    });
    file
}

fn made(file: &RunFile, rng: &mut Rng, ratio: f64, sd: f64) -> Vec<TrialData> {
    let blocks: Vec<f64> = (0..MOST).map(|_| 0.03 * rng.normal()).collect();
    trials(file, |cell, block| {
        let truth = if cell == 0 { ratio } else { 1.0 };
        1e4 * truth * (blocks[block as usize - 1] + sd * rng.normal()).exp()
    })
}

/// Runs block by block until every claim is decided; the analysis at the end, and the blocks.
fn played(file: &RunFile, data: &[TrialData]) -> (AnalysisFile, u32) {
    let mut now = file.clone();
    for blocks in 5..=MOST {
        let so_far: Vec<TrialData> =
            data.iter().filter(|trial| trial.file.block <= blocks).cloned().collect();
        now.plan.blocks = blocks;
        now.plan.order.retain(|trial| trial.block <= blocks);
        if blocks == MOST || undecided(&now.plan, None, &so_far) == 0 {
            return (analyze(&now, &so_far), blocks);
        }
        now.plan.order = file.plan.order.clone();
    }
    unreachable!("the last block ends it")
}

/// Shares of runs: in which a claim holds, in which one does not, whose interval of the ratio misses; and mean blocks.
struct Came {
    holds: f64,
    contradicted: f64,
    missed: f64,
    blocks: f64,
}

fn many(claims: &[ClaimPlan], ratio: f64, sd: f64, runs: u64) -> Came {
    let file = plan(claims.to_vec());
    let (mut holds, mut contradicted, mut missed, mut blocks) = (0, 0, 0, 0);
    for number in 0..runs {
        let mut rng = Seed(41).derive(&format!("{ratio} {sd}"), number).rng();
        let (found, took) = played(&file, &made(&file, &mut rng, ratio, sd));
        let any = |verdict| found.claims.iter().any(|claim| claim.verdict == verdict);
        holds += u64::from(any(ClaimVerdict::Holds));
        contradicted += u64::from(any(ClaimVerdict::DoesNotHold));
        let interval = found.comparisons[0].interval.unwrap();
        missed += u64::from(interval.low.unwrap() > ratio || interval.high.unwrap() < ratio);
        blocks += u64::from(took);
    }
    let share = |count: u64| count as f64 / runs as f64;
    Came {
        holds: share(holds),
        contradicted: share(contradicted),
        missed: share(missed),
        blocks: share(blocks),
    }
}

fn faster() -> ClaimPlan {
    claim(Metric::Throughput, "c1", ClaimComparison::MoreThan, "c2", 1.0)
}

fn equal(margin: f64) -> ClaimPlan {
    let margin = ClaimMargin::Ratio(margin);
    claim_of(Metric::Throughput, ClaimTest::Equivalent { a: "c1".into(), b: "c2".into(), margin })
}

fn proved(runs: u64) {
    let most = 0.05 + 3.1 * (0.05 * 0.95 / runs as f64).sqrt();
    println!("runs that wait for a claim, at most {MOST} blocks, {runs} runs each");
    // Equal targets: "faster" must not hold, nor its contrary be shown, more often than stated, though one looks 16 times.
    let none = many(&[faster()], 1.0, 0.015, runs);
    println!("equal targets, a > b: decided either way in {:.2} %", 100.0 * (none.holds + none.contradicted));
    assert!(
        none.holds + none.contradicted <= most && none.missed <= most,
        "{} {}",
        none.holds,
        none.contradicted
    );
    // Targets that differ by exactly the margin must not be called equal.
    let edge = many(&[equal(0.02)], 1.02, 0.01, runs);
    println!("2 % apart, equivalent within 2 %: holds in {:.2} %", 100.0 * edge.holds);
    assert!(edge.holds <= most && edge.missed <= most, "{}", edge.holds);
    // What is saved: against the same most blocks, and against the fixed number that would decide as often.
    for (name, claim, ratio, sd) in [
        ("equal targets, equivalent within 2 %", equal(0.02), 1.0, 0.01),
        ("10 % faster, a > b", faster(), 1.1, 0.015),
        ("10 % faster, a > b, noisy", faster(), 1.1, 0.05),
    ] {
        let came = many(&[claim], ratio, sd, runs);
        let saved = 1.0 - came.blocks / f64::from(MOST);
        println!(
            "{name} (noise {:.1} %): holds in {:.1} %, {:.2} blocks of {MOST} ({:.0} % saved), intervals miss in {:.2} %",
            100.0 * sd,
            100.0 * came.holds,
            came.blocks,
            100.0 * saved,
            100.0 * came.missed
        );
        assert!(came.holds >= 0.9 && saved >= 0.3 && came.missed <= most, "{name}");
    }
}

#[test]
fn a_run_that_waits_for_its_claims_is_as_sure_as_any_and_shorter() {
    proved(60);
}

#[test]
#[ignore = "2,000 runs each; part of make test-all"]
fn a_run_that_waits_for_its_claims_is_as_sure_as_any_and_shorter_in_full() {
    proved(2_000);
}
