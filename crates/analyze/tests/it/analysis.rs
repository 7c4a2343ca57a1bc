//! Whole runs: what people read, refusals, claims, belief.

use crate::synth::{SECOND_NS, claim, closed, ladder, open, run, second, trial, trials};
use analyze::{TrialData, analyze, latency};
use schema::analysis::{AnalysisFile, Basis, BeliefLevel, ClaimVerdict, Verdict};
use schema::calibration::{Canary, FixedWork};
use schema::doctor::{Fact, Severity};
use schema::metric::Metric;
use schema::plan::ClaimComparison;
use schema::run::RunFile;
use schema::said::Said;
use schema::trial::{SampleSummary, TrialOutcome};

/// Fixed small deviations, so that texts do not change.
const WOBBLE: [f64; 10] = [0.004, -0.006, 0.002, 0.007, -0.005, 0.001, -0.003, 0.006, -0.002, -0.004];

/// Cell k (from 0) runs at `levels[k]` times the wobble of its block.
fn wobbling(run: &RunFile, levels: &[f64]) -> Vec<TrialData> {
    trials(run, |cell, block| {
        let own = WOBBLE[(block as usize * (cell + 1) * 3 + cell * 7) % 10];
        levels[cell] * (1.0 + own)
    })
}

fn text(file: &AnalysisFile) -> String {
    let mut lines = vec![file.answer.to_string(), file.belief.summary.to_string()];
    lines.extend(file.belief.notes.iter().map(|note| {
        let remedy = note.remedy.as_ref().map_or(String::new(), |remedy| format!(" [{remedy}]"));
        format!("{:?}: {}{remedy}", note.level, note.text)
    }));
    lines.extend(file.claims.iter().map(|claim| format!("{:?}: {}", claim.verdict, claim.evidence)));
    lines.join("\n")
}

#[test]
fn a_clear_run_reads_well() {
    let mut plan = run(&["go/nethttp", "go/gin", "go/echo"], &[closed(16), closed(128)], 5);
    plan.plan.claims = vec![
        claim(Metric::Throughput, "c6", ClaimComparison::AtLeast, "c5", 1.0),
        claim(Metric::Throughput, "c6", ClaimComparison::MoreThan, "c5", 1.1),
        claim(Metric::Throughput, "c4", ClaimComparison::AtLeast, "c5", 1.0),
    ];
    let file = analyze(&plan, &wobbling(&plan, &[1e4, 1.1e4, 1.1e4, 2.2e4, 2.2e4, 2.29e4]));
    insta::assert_snapshot!(text(&file), @r"
    go/gin serves 10 % more requests per second than go/nethttp at 16 connections (95 % joint interval 8.3 % to 11.8 %, 5 blocks); no difference shown between go/gin and go/echo in requests per second at 16 connections (ratio 1.0002, 95 % joint interval 0.975 to 1.026, 5 blocks); go/echo serves 4.1 % more requests per second than go/nethttp at 128 connections (95 % joint interval 1.4 % to 6.8 %, 5 blocks); go/echo serves 3.8 % more requests per second than go/gin at 128 connections (95 % joint interval 2.6 % to 5.1 %, 5 blocks).
    These numbers can be believed: all 30 trials are valid.
    Yes: all 30 trials are valid
    Yes: requests per second differ between trials of one cell by 0.6 % at most (standard deviation, go/nethttp, 128 connections)
    Yes: no drift over 5 blocks
    Yes: 6 comparisons as one family: some verdict false in at most 5 % of runs (4 % for 2 in claims, 1 % for 4 in headline metrics)
    Holds: ratio of requests per second 1.038 (95 % joint interval 1.026 to 1.051, 5 blocks), claimed >= 1
    DoesNotHold: ratio of requests per second 1.038 (95 % joint interval 1.026 to 1.051, 5 blocks), claimed > 1.1
    Inconclusive: ratio of requests per second 0.9974 (95 % joint interval 0.987 to 1.0077, 5 blocks), claimed >= 1
    ");
    assert_eq!(file.comparisons.len(), 6 * Metric::ALL.len());
    assert_eq!((file.cells.len(), file.trials.len(), file.trials_planned), (6, 30, 30));
}

#[test]
fn a_troubled_run_says_what_is_wrong_and_what_would_cure_it() {
    let mut plan = run(&["go/gin", "go/echo"], &[closed(64)], 5);
    plan.plan.claims = vec![claim(Metric::Throughput, "c2", ClaimComparison::AtLeast, "c1", 1.0)];
    plan.plan.pin.weakness = Some("generator and target share 2 cores".into());
    let fact = |title: &str, severity| Fact {
        id: title.to_owned(),
        title: title.into(),
        value: Some("powersave".into()),
        severity,
        effect: "the clock varies with load".into(),
        remedy: Some("set it to performance".into()),
        bearing: Default::default(),
        amount: None,
    };
    plan.environment.facts = vec![
        fact("Swap", Severity::Note),
        fact("CPU governor", Severity::Warning),
        fact("Disk", Severity::Problem),
    ];
    // A slope of 3 % a block, one void, one failed, one missing, one that did not get level.
    let mut data = trials(&plan, |cell, block| {
        1e4 * (1.0 - 0.03 * f64::from(block)) * (1.0 + WOBBLE[(block as usize + cell) % 10])
    });
    data.pop();
    data[1].file.outcome = TrialOutcome::Void;
    data[1].file.reasons = vec!["the generator was the limit".into()];
    data[4].file.outcome = TrialOutcome::Failed;
    data[4].file.reasons = vec!["the port was taken".into()];
    data[4].file.load = None;
    data[5].file.level = false;
    let file = analyze(&plan, &data);
    insta::assert_snapshot!(text(&file), @r"
    no answer on requests per second of go/gin against go/echo at 64 connections (ratio so far 0.9945): 5 blocks with a valid trial of both needed, had 2: run 3 more blocks.
    These numbers can be believed with 10 reservations: 1 of 9 trials failed (trial 5): the port was taken; see the notes.
    WithReservations: 1 of 9 trials failed (trial 5): the port was taken [read their target.log, mend the target, then `prony run --resume`]
    WithReservations: 1 of 9 trials is void (trial 2): the generator was the limit [cure the reasons, then run the experiment again]
    WithReservations: 2 of 2 cells have fewer than 5 valid trials, so there is no interval (go/echo, 64 connections: 3) [run 2 more blocks]
    WithReservations: the run ended after 9 of 10 trials [finish it with `prony run --resume`]
    WithReservations: warm-up ran out before the target was steady in trial 6 [raise `warmup.at_most`]
    WithReservations: requests per second differ between trials of one cell by 5.9 % at most (standard deviation, go/gin, 64 connections) [quiet the machine, lengthen the samples, or run more blocks]
    WithReservations: requests per second fell by 12.1 % from the first to the last of 5 blocks (Spearman p = 0.017); comparisons within blocks are spared, values of cells are not [look for heat, growing data or neighbours; run again when the machine is quiet]
    WithReservations: generator and target share 2 cores [use a machine with more cores, or set `pin` so that target and generator part]
    WithReservations: Disk (powersave): the clock varies with load [set it to performance]
    WithReservations: CPU governor (powersave): the clock varies with load [set it to performance]
    Void: ratio of requests per second 1.0055 without an interval, claimed >= 1; 5 blocks with a valid trial of both needed, had 2: run 3 more blocks
    ");
    assert_eq!(file.belief.level, BeliefLevel::WithReservations);
    let levels: Vec<_> = file.belief.notes.iter().map(|note| note.level).collect();
    assert!(levels.is_sorted_by(|a, b| a >= b), "worst first");
}

#[test]
fn mostly_void_runs_must_not_be_used() {
    let plan = run(&["a", "b"], &[closed(64)], 5);
    let mut data = wobbling(&plan, &[1e4, 1.2e4]);
    for trial in data.iter_mut().take(6) {
        trial.file.outcome = TrialOutcome::Void;
        trial.file.reasons = vec!["the generator was the limit".into()];
    }
    let file = analyze(&plan, &data);
    assert_eq!(file.belief.level, BeliefLevel::No);
    insta::assert_snapshot!(file.answer, @"No answer: 6 of 10 trials are void (trials 1, 2, 3, 4, 5 and 1 more): the generator was the limit; cure the reasons, then run the experiment again.");
    // Half is not most.
    data[5].file.outcome = TrialOutcome::Valid;
    assert_eq!(analyze(&plan, &data).belief.level, BeliefLevel::WithReservations);
}

#[test]
fn fewer_than_five_blocks_give_values_and_ratios_but_no_interval() {
    let mut plan = run(&["a", "b"], &[closed(64)], 3);
    plan.plan.claims = vec![claim(Metric::Throughput, "c1", ClaimComparison::AtLeast, "c2", 1.0)];
    let file = analyze(&plan, &wobbling(&plan, &[1e4, 2e4]));
    let throughput = &file.cells[0].metrics[0];
    assert_eq!(throughput.values.len(), 3);
    assert!(throughput.center.is_some() && throughput.interval.is_none());
    assert_eq!(throughput.refused.as_deref(), Some("5 trials needed, had 3: run 2 more blocks"));
    let pair = &file.comparisons[0];
    assert_eq!((pair.verdict, pair.blocks), (Verdict::Refused, 3));
    assert!((pair.ratio.unwrap() - 0.5).abs() < 0.02);
    assert!(pair.interval.is_none() && pair.p_value.is_none() && pair.hodges_lehmann.is_none());
    let refused = pair.refused.as_deref().unwrap();
    assert_eq!(refused, "5 blocks with a valid trial of both needed, had 3: run 2 more blocks");
    assert_eq!(file.claims[0].verdict, ClaimVerdict::Void);
    insta::assert_snapshot!(text(&file), @r"
    no answer on requests per second of a against b at 64 connections (ratio so far 0.499): 5 blocks with a valid trial of both needed, had 3: run 2 more blocks.
    These numbers can be believed with 1 reservation: 2 of 2 cells have fewer than 5 valid trials, so there is no interval (a, 64 connections: 3).
    WithReservations: 2 of 2 cells have fewer than 5 valid trials, so there is no interval (a, 64 connections: 3) [run 2 more blocks]
    Yes: all 6 trials are valid
    Yes: requests per second differ between trials of one cell by 0.6 % at most (standard deviation, a, 64 connections)
    Void: ratio of requests per second 0.499 without an interval, claimed >= 1; 5 blocks with a valid trial of both needed, had 3: run 2 more blocks
    ");
}

#[test]
fn only_blocks_with_both_count() {
    let plan = run(&["a", "b"], &[closed(64)], 7);
    let mut data = wobbling(&plan, &[1e4, 1.1e4]);
    // A void trial with a wild value must not matter.
    data[2].file.outcome = TrialOutcome::Void;
    data[2].file.load.as_mut().unwrap().throughput_per_s = 1e9;
    let pair = &analyze(&plan, &data).comparisons[0];
    assert_eq!((pair.blocks, pair.verdict), (6, Verdict::Slower));
    assert!((pair.ratio.unwrap() - 1.0 / 1.1).abs() < 0.02);
}

#[test]
fn zeros_constants_and_missing_percentiles_are_refused_in_words() {
    let plan = run(&["a", "b"], &[closed(64)], 5);
    let mut data: Vec<TrialData> = (1..=10)
        .map(|id| {
            let errors = if id == 3 { 0.01 } else { 0.0 };
            let throughput = 1e4 * (1.0 + WOBBLE[id as usize % 10]);
            let values =
                [(Metric::Throughput, throughput), (Metric::ErrorRate, errors), (Metric::Memory, 5e7)];
            trial(&plan, id, &values)
        })
        .collect();
    for trial in &mut data {
        trial.file.load.as_mut().unwrap().latency_ns.response =
            latency(&ladder(160), 0, analyze::Of::Requests);
    }
    let file = analyze(&plan, &data);
    let told = |metric: Metric| {
        let cell = file.cells[0].metrics.iter().find(|found| found.metric == metric).unwrap();
        let pair = file.comparisons.iter().find(|found| found.metric == metric).unwrap();
        assert!(cell.interval.is_none() && pair.interval.is_none());
        // Shares are compared by differences, so zeros are no obstacle.
        let wanted = if metric == Metric::ErrorRate { Verdict::Inconclusive } else { Verdict::Refused };
        assert_eq!(pair.verdict, wanted, "{metric:?}");
        let text = |refused: &Option<Said>| refused.clone().unwrap_or_default();
        format!(
            "{}: {:?} {}\n  {:?} {}",
            metric.key(),
            cell.center,
            text(&cell.refused),
            pair.ratio,
            text(&pair.refused)
        )
    };
    let all = [Metric::P99, Metric::ErrorRate, Metric::Memory, Metric::CpuPerRequest].map(told);
    insta::assert_snapshot!(all.join("\n"), @r"
    p99: None needs 368 requests, had 160: measure 2.3 times longer
      None needs 368 requests, had 160: measure 2.3 times longer
    error_rate: Some(0.002) 4 of 5 values are 0, which has no logarithm to make an interval of: measure longer if a value near 0 matters
      None 
    memory: Some(50000000.0) the same value in all 5 trials, ± one step of the measurement
      Some(1.0) the same ratio in all 5 blocks, ± one step of the measurement
    cpu_per_request: None it cannot be read for this target: let prony start the target on this machine
      None it cannot be read for this target: let prony start the target on this machine
    ");
}

#[test]
fn values_that_are_all_the_same_are_known_within_a_step_of_the_measurement() {
    let mut plan = run(&["a", "b"], &[closed(64)], 6);
    plan.plan.claims = vec![
        claim(Metric::Throughput, "c1", ClaimComparison::AtLeast, "c2", 1.09),
        claim(Metric::Throughput, "c1", ClaimComparison::AtLeast, "c2", 1.1),
        claim(Metric::Throughput, "c1", ClaimComparison::AtLeast, "c2", 1.11),
    ];
    let made = |p99: fn(u32) -> f64, answers: u64| -> Vec<TrialData> {
        let one = |id: u32| {
            let throughput = if id % 2 == 1 { 1.1e4 } else { 1e4 };
            let mut trial = trial(
                &plan,
                id,
                &[(Metric::Throughput, throughput), (Metric::P50, 8e6), (Metric::P99, p99(id))],
            );
            trial.file.load.as_mut().unwrap().window.answers = answers;
            trial
        };
        (1..=12).map(one).collect()
    };
    let file = analyze(&plan, &made(|_| 9e6, 100_000));
    let verdicts: Vec<ClaimVerdict> = file.claims.iter().map(|claim| claim.verdict).collect();
    assert_eq!(verdicts, [ClaimVerdict::Holds, ClaimVerdict::Inconclusive, ClaimVerdict::DoesNotHold]);
    let found = |file: &AnalysisFile, metric: Metric| {
        let pair = file.comparisons.iter().find(|pair| pair.metric == metric).unwrap();
        let interval = pair.interval.unwrap();
        (pair.verdict, interval.low.unwrap(), interval.high.unwrap())
    };
    let (verdict, low, high) = found(&file, Metric::Throughput);
    assert_eq!(verdict, Verdict::Faster);
    assert!(1.0995 < low && low < 1.1 && 1.1 < high && high < 1.1005, "an answer in 100,000: {low} {high}");
    let (verdict, low, high) = found(&file, Metric::P50);
    assert_eq!(verdict, Verdict::Equivalent);
    assert!(0.99 < low && low < 0.999 && 1.001 < high && high < 1.01, "0.1 % of a histogram: {low} {high}");
    // Of ten answers one more or less is a tenth, so nothing is known.
    let (_, low, high) = found(&analyze(&plan, &made(|_| 9e6, 10)), Metric::Throughput);
    assert!(low < 0.8 && high > 1.3, "{low} {high}");
    // No chance is in them, so they take nothing from the others.
    let wobbling = |id: u32| 9e6 * (1.0 + WOBBLE[id as usize % 10]);
    let alone =
        |file: &AnalysisFile| file.comparisons.iter().find(|pair| pair.metric == Metric::P99).unwrap().level;
    let beside = alone(&analyze(&plan, &made(wobbling, 100_000)));
    let mut without = made(wobbling, 100_000);
    for trial in &mut without {
        trial.file.load.as_mut().unwrap().latency_ns.response.p50 = None;
    }
    assert_eq!(beside, alone(&analyze(&plan, &without)));
}

#[test]
fn an_error_rate_of_0_is_compared_by_differences() {
    let mut plan = run(&["a", "b"], &[closed(64)], 6);
    plan.plan.claims = vec![claim(Metric::ErrorRate, "c1", ClaimComparison::AtMost, "c2", 1.0)];
    let data: Vec<TrialData> = (1..=12)
        .map(|id| {
            let errors = if id % 2 == 0 { 0.01 * (1.0 + WOBBLE[id as usize % 10]) } else { 0.0 };
            trial(&plan, id, &[(Metric::ErrorRate, errors)])
        })
        .collect();
    let file = analyze(&plan, &data);
    let pair = file.comparisons.iter().find(|found| found.metric == Metric::ErrorRate).unwrap();
    assert_eq!((pair.basis, pair.verdict, pair.ratio), (Basis::Difference, Verdict::Faster, None));
    let interval = pair.difference_interval.unwrap();
    assert!(interval.low.unwrap() < -0.00999 && interval.high.unwrap() > -0.01001);
    assert!(
        pair.hodges_lehmann.is_some_and(|estimate| (estimate + 0.01).abs() < 1e-4) && pair.interval.is_none()
    );
    assert!(
        file.answer
            .starts_with("a has a lower error rate than b at 64 connections (difference -0.999 %, 95 %"),
        "{}",
        file.answer
    );
    // A claim about its ratio says that there is none.
    assert!(file.claims[0].evidence.contains("so there is no ratio"), "{}", file.claims[0].evidence);
    // Memory, in bytes, by its ratio.
    let data: Vec<TrialData> = (1..=12)
        .map(|id| trial(&plan, id, &[(Metric::Memory, 1e6 * f64::from(1 + id % 2 + id / 9))]))
        .collect();
    let memory =
        analyze(&plan, &data).comparisons.into_iter().find(|found| found.metric == Metric::Memory).unwrap();
    assert_eq!(memory.basis, Basis::Ratio);
    assert!(memory.ratio_of_means.is_some() && memory.bootstrap.is_some_and(|found| !found.seconds));
}

/// Which cells are compared in throughput, and at which level.
fn pairs(file: &AnalysisFile) -> Vec<(&str, &str, &str)> {
    let throughput = file.comparisons.iter().filter(|found| found.metric == Metric::Throughput);
    throughput.map(|found| (found.a.as_str(), found.b.as_str(), found.load.as_str())).collect()
}

#[test]
fn targets_are_compared_at_the_same_load_only() {
    let plan = run(&["a", "b"], &[closed(16), closed(64), open(16, 1e3), open(16, 2e3)], 5);
    let file = analyze(&plan, &wobbling(&plan, &[1e4; 8]));
    assert_eq!(
        pairs(&file),
        [
            ("c1", "c2", "16 connections"),
            ("c3", "c4", "64 connections"),
            ("c5", "c6", "1,000 requests per second over 16 connections"),
            ("c7", "c8", "2,000 requests per second over 16 connections"),
        ]
    );
}

#[test]
fn targets_are_compared_in_the_same_scenario_only_and_it_is_named() {
    let mut plan = run(&["a", "b"], &[closed(16), closed(16)], 5);
    let mut second = plan.plan.scenarios[0].clone();
    second.name = "db".to_owned();
    plan.plan.scenarios.push(second);
    plan.plan.cells[2..].iter_mut().for_each(|cell| cell.scenario = "db".to_owned());
    let file = analyze(&plan, &wobbling(&plan, &[1e4, 2e4, 3e3, 1e3]));
    assert_eq!(pairs(&file), [("c1", "c2", "16 connections (inline)"), ("c3", "c4", "16 connections (db)")]);
    assert!(file.answer.contains("as a at 16 connections (inline)"), "{}", file.answer);
}

#[test]
fn comparisons_without_an_answer_share_one_sentence() {
    let plan = run(&["a", "b", "c", "d"], &[closed(64)], 2);
    let file = analyze(&plan, &wobbling(&plan, &[1e4, 2e4, 3e3, 1e3]));
    let answer = file.answer.to_string();
    assert!(answer.contains("of b against a, c and d at 64 connections: "), "{answer}");
    assert_eq!(
        (answer.matches("o answer").count(), answer.matches("run 3 more blocks").count()),
        (1, 1),
        "{answer}"
    );
}

#[test]
fn the_curve_is_of_the_merged_histograms_and_ends_where_requests_end() {
    let plan = run(&["a"], &[closed(64)], 5);
    let mut data = wobbling(&plan, &[1e4]);
    for (trial, from) in data.iter_mut().zip([0, 1, 2, 3, 4]) {
        // Five disjoint fifths of 1 to 30,000 µs.
        let mut histogram = hdrhistogram::Histogram::new(3).unwrap();
        for value in from * 6_000 + 1..=(from + 1) * 6_000 {
            histogram.record(value * 1_000).unwrap();
        }
        trial.response = Some(histogram);
    }
    let curve = &analyze(&plan, &data).cells[0].curve;
    assert_eq!((curve.first().unwrap().quantile, curve.last().unwrap().quantile), (0.0, 0.999_874));
    for point in curve {
        let truth = (point.quantile * 30e6).max(1_000.0);
        assert!((point.ns as f64 / truth - 1.0).abs() < 0.002, "{point:?}");
    }
    // Censored requests push every quantile up and the last ones out.
    data[0].file.load.as_mut().unwrap().latency_ns.response.censored = 3_000;
    let with_censored = &analyze(&plan, &data).cells[0].curve;
    assert!(with_censored.last().unwrap().quantile < 0.91);
    let median =
        |curve: &[schema::analysis::CurvePoint]| curve.iter().find(|point| point.quantile > 0.49).unwrap().ns;
    assert!(median(with_censored) > median(curve));
    // Void trials have no part in it.
    data[4].file.outcome = TrialOutcome::Void;
    assert!(analyze(&plan, &data).cells[0].curve.last().unwrap().ns < 25_000_000);
}

#[test]
fn rows_carry_the_series_and_the_counts() {
    let plan = run(&["a"], &[closed(64)], 1);
    let mut data = wobbling(&plan, &[1e4]);
    data[0].intervals = vec![second(0, 500), second(1, 700)];
    data[0].intervals.push(schema::trial::IntervalLine { start_ns: 2 * SECOND_NS, ..second(1, 1) });
    let row = &analyze(&plan, &data).trials[0];
    let rates: Vec<f64> = row.series.iter().map(|point| point.throughput_per_s).collect();
    assert_eq!(rates, [500.0, 700.0], "an interval without length has no point");
    assert_eq!((row.scheduled, row.completed, row.values.len()), (100_000, 100_000, Metric::ALL.len()));
}

#[test]
fn an_open_load_is_judged_by_response_time() {
    let plan = run(&["a", "b"], &[open(64, 1e4)], 5);
    let data: Vec<TrialData> = (1..=10)
        .map(|id| {
            let level = if id % 2 == 1 { 8e6 } else { 1e7 };
            trial(&plan, id, &[(Metric::P99, level * (1.0 + WOBBLE[id as usize % 10]))])
        })
        .collect();
    insta::assert_snapshot!(analyze(&plan, &data).answer, @"a has a 19.9 % lower p99 response time than b at 10,000 requests per second over 64 connections (95 % interval 19 % to 20.8 %, 5 blocks).");
}

#[test]
fn a_single_target_has_its_value_with_its_interval() {
    let plan = run(&["go/gin"], &[closed(128)], 5);
    insta::assert_snapshot!(analyze(&plan, &wobbling(&plan, &[12_345.0])).answer, @"go/gin serves 12,352 requests per second at 128 connections (95 % interval 12,285 to 12,420, 5 trials).");
}

#[test]
fn stolen_time_and_the_family_of_verdicts_are_said() {
    let plan = run(&["a", "b"], &[closed(64)], 5);
    // Log ratios of 5 blocks with p = 0.03 in throughput; six metrics without any difference beside it.
    let data: Vec<TrialData> = (1..=10_u32)
        .map(|id| {
            let (block, first) = ((id as usize - 1) / 2, id % 2 == 1);
            let shift = if first { [0.09, 0.02, 0.07, 0.01, 0.06][block] } else { 0.0 };
            let noise = |metric: usize| if first { 1.0 + 3.0 * WOBBLE[(block + metric) % 10] } else { 1.0 };
            let mut values = vec![(Metric::Throughput, 1e4 * (1.0 + shift))];
            let others =
                [Metric::Mean, Metric::P50, Metric::P90, Metric::P99, Metric::CpuPerRequest, Metric::Memory];
            values.extend(others.into_iter().enumerate().map(|(at, metric)| (metric, 1e6 * noise(at))));
            trial(&plan, id, &values)
        })
        .collect();
    let note = |data: &[TrialData], part: &str| {
        let notes = analyze(&plan, data).belief.notes;
        notes.into_iter().find(|note| note.text.contains(part)).map(|note| note.level)
    };
    // The headline metric has 4 % of the 5, so it stands; six others share the rest.
    assert_eq!(analyze(&plan, &data).comparisons[0].verdict, Verdict::Faster);
    assert_eq!(
        note(&data, "7 comparisons as one family: some verdict false in at most 5 % of runs"),
        Some(BeliefLevel::Yes)
    );
    assert_eq!(note(&data, "stolen"), None);
    let mut stolen = data.clone();
    let gate = |value| schema::load::Gate {
        gate: "steal".into(),
        ok: true,
        value,
        limit: 0.05,
        text: Said::default(),
    };
    stolen[0].file.load.as_mut().unwrap().validity.gates = vec![gate(0.01)];
    assert_eq!(note(&stolen, "stolen"), None);
    stolen[1].file.load.as_mut().unwrap().validity.gates = vec![gate(0.03)];
    assert_eq!(note(&stolen, "up to 3 % of the CPU time was stolen"), Some(BeliefLevel::WithReservations));
    // The canary likewise: said from 2 % on.
    let canary = |value| schema::load::Gate { gate: "canary".into(), limit: 0.1, ..gate(value) };
    let mut drifted = data.clone();
    drifted[0].file.load.as_mut().unwrap().validity.gates = vec![canary(0.02)];
    assert_eq!(note(&drifted, "fixed amount of work"), None);
    drifted[1].file.load.as_mut().unwrap().validity.gates = vec![canary(0.05)];
    assert_eq!(
        note(&drifted, "took up to 5 % more or less time after the load than before it in trial 2"),
        Some(BeliefLevel::WithReservations)
    );
}

fn canary(trial: &mut TrialData, mean_ns: f64) {
    let work = FixedWork { runs: 200, mean_ns, median_ns: 1e5, ..FixedWork::default() };
    trial.file.canary = Some(Canary { before: work, after: work, drift: 0.0 });
}

/// Study D's puzzle: one of several nodes is slow, and its trials look like those of a slow target.
#[test]
fn trials_of_a_slower_machine_are_found_by_the_canary() {
    let plan = run(&["a", "b"], &[closed(16)], 6);
    let mut data = wobbling(&plan, &[1e4, 2e4]);
    for (at, trial) in data.iter_mut().enumerate() {
        canary(trial, 1e5 * (1.0 + 0.001 * at as f64));
    }
    assert!(!text(&analyze(&plan, &data)).contains("slower machine"));
    for at in [2, 7] {
        canary(&mut data[at], 2e5);
        data[at].file.load.as_mut().unwrap().throughput_per_s *= 0.5;
    }
    let found = text(&analyze(&plan, &data));
    let said = "trials 3 and 8 ran on a slower machine: a fixed amount of work took 99.4 % longer than in the others, \
                and they answered 50.5 % fewer requests per second than the other trials of the same cell";
    assert!(found.contains(said), "{found}");
    assert!(found.contains("that is the machine, not the target"), "{found}");
    // A slow canary whose trial was as fast as the others did no harm.
    data[2].file.load.as_mut().unwrap().throughput_per_s *= 2.0;
    data[7].file.load.as_mut().unwrap().throughput_per_s *= 2.0;
    assert!(!text(&analyze(&plan, &data)).contains("slower machine"));
    // A canary that does not repeat within a trial sets no trial apart.
    data[2].file.load.as_mut().unwrap().throughput_per_s *= 0.5;
    data[7].file.load.as_mut().unwrap().throughput_per_s *= 0.5;
    assert!(text(&analyze(&plan, &data)).contains("slower machine"));
    for trial in &mut data {
        trial.file.canary.as_mut().unwrap().after.mean_ns *= 1.6;
    }
    assert!(!text(&analyze(&plan, &data)).contains("slower machine"));
}

fn samples(trial: &mut TrialData, values: &[f64]) {
    let sample = |(at, value): (usize, &f64)| SampleSummary {
        sample: at as u32 + 1,
        throughput_per_s: *value,
        answers: 1,
        failed: 0,
        mean_ns: None,
        p50_ns: None,
        p99_ns: None,
    };
    trial.file.samples = values.iter().enumerate().map(sample).collect();
}

#[test]
fn a_spread_between_restarts_is_told_from_one_between_samples() {
    let mut plan = run(&["a"], &[closed(16)], 6);
    plan.plan.phases.samples = 2;
    let mut data = wobbling(&plan, &[1e4]);
    for (trial, level) in data.iter_mut().zip([490.0, 980.0, 980.0, 490.0, 980.0, 490.0]) {
        samples(trial, &[level - 1.0, level + 1.0]);
    }
    let file = analyze(&plan, &data);
    let levels = file.cells[0].levels.unwrap();
    assert_eq!((levels.trials, levels.samples, levels.clipped), (6, 2, false));
    // S₂² = 6 · 245² / 5, T₁² = 2, mean 735.
    let between = 6.0 * 245.0_f64.powi(2) / 5.0 - 1.0;
    assert!((levels.trial_cv - between.sqrt() / 735.0).abs() < 1e-9, "{levels:?}");
    assert!((levels.sample_cv - 2.0_f64.sqrt() / 735.0).abs() < 1e-9, "{levels:?}");
    assert!(levels.trial_share.unwrap() > 0.9999 && levels.samples_best == Some(1), "{levels:?}");
    assert!(text(&file).contains("restarting the target changes the answer"), "{}", text(&file));
    plan.plan.replicas = schema::plan::Replicas::Rebuild;
    assert!(text(&analyze(&plan, &data)).contains("rebuilding the target changes the answer"));

    for trial in &mut data {
        samples(trial, &[490.0, 980.0]);
    }
    let file = analyze(&plan, &data);
    let levels = file.cells[0].levels.unwrap();
    assert!(levels.clipped && levels.trial_cv == 0.0 && levels.samples_best.is_none(), "{levels:?}");
    assert!(!text(&file).contains("changes the answer"), "{}", text(&file));
}

#[test]
fn the_cold_start_of_a_cell_is_the_median_over_its_trials() {
    let plan = run(&["a", "b"], &[closed(16)], 5);
    let mut data = wobbling(&plan, &[1e4, 2e4]);
    for trial in &mut data {
        trial.file.ready_ns =
            (trial.file.cell == "c1").then(|| u64::from(trial.file.block).pow(2) * 1_000_000);
    }
    data[0].file.outcome = TrialOutcome::Void;
    let cells = analyze(&plan, &data).cells;
    assert_eq!((cells[0].cold_start_ns, cells[1].cold_start_ns), (Some(9_000_000), None));
}

/// Two cells over five blocks, of whose requests these shares failed.
fn failing(shares: [f64; 2], plant: impl Fn(&mut RunFile)) -> AnalysisFile {
    let mut plan = run(&["a", "b"], &[closed(8)], 5);
    plant(&mut plan);
    let mut data = wobbling(&plan, &[1e4, 1e4]);
    for trial in &mut data {
        let share = shares[usize::from(trial.file.cell == "c2")];
        if let Some(load) = &mut trial.file.load {
            load.requests.completed = ((1.0 - share) * 1e5) as u64;
            load.requests.failed = (share * 1e5) as u64;
            load.requests.scheduled = load.requests.completed + load.requests.failed;
        }
    }
    analyze(&plan, &data)
}

#[test]
fn failed_requests_of_a_cell_stand_beside_the_verdict() {
    let check = |shares: [f64; 2], level: BeliefLevel, said: &str| {
        let belief = failing(shares, |_| ()).belief;
        assert_eq!(belief.level, level, "{}", belief.summary);
        assert!(belief.summary.contains(said), "no `{said}` in {}", belief.summary);
    };
    assert!(!failing([0.0; 2], |_| ()).belief.summary.contains("failed"));
    check([0.0, 0.004], BeliefLevel::Yes, "; 0.4 % of the requests failed (b, 8 connections).");
    check([0.0, 0.02], BeliefLevel::WithReservations, "2 % of the requests failed (b, 8 connections): times");
    check(
        [0.3, 0.33],
        BeliefLevel::No,
        "33 % of the requests failed in the worst of 2 cells that had failures (b",
    );
    // Where failing is the question, it is no reason against the numbers.
    let asked = |plan: &mut RunFile| {
        plan.plan.claims = vec![claim(Metric::ErrorRate, "c2", ClaimComparison::AtLeast, "c1", 1.0)];
    };
    assert_eq!(failing([0.0, 0.33], asked).belief.level, BeliefLevel::WithReservations);
    assert_eq!(failing([0.3, 0.33], asked).belief.level, BeliefLevel::No);
}
