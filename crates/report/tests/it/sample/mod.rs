//! A small run made by hand: 2 targets × 2 loads × 5 blocks, one void trial, one claim of each verdict, and one load
//! report. The numbers are plausible, not measured.
#![allow(dead_code)] // each test file uses a part

pub(crate) mod load;
pub(crate) mod plan;
pub(crate) mod traced;

use schema::analysis::*;
use schema::metric::{Metric, Unit};
use schema::steady::{Steadiness, SteadyClass, WarmUpEndedBy, WarmUpLine};
use schema::trial::{Phase, TrialOutcome};

/// The void trial.
const VOID: u32 = 14;
/// What each block does to every cell alike, and what is left over per trial.
const BLOCK: [f64; 5] = [1.0, 0.992, 1.006, 0.997, 1.004];
const REST: [f64; 7] = [0.0, 0.003, -0.002, 0.001, -0.004, 0.002, -0.001];

/// Target, connections, requests per second, p50 and p99 in ns, memory in bytes.
const CELLS: [(&str, u32, f64, f64, f64, f64); 4] = [
    ("go/gin", 16, 41_300.0, 372e3, 1.02e6, 18.2e6),
    ("go/gin", 128, 48_900.0, 2.51e6, 6.9e6, 24.1e6),
    ("go/echo", 16, 41_650.0, 368e3, 1.01e6, 18.9e6),
    ("go/echo", 128, 46_700.0, 2.63e6, 8.4e6, 25.3e6),
];

pub(crate) fn analysis() -> AnalysisFile {
    AnalysisFile {
        capacity: Vec::new(),
        soak: None,
        events: Vec::new(),
        findings: Vec::new(),
        schema: Default::default(),
        run: "2026-11-21T09-30-00Z-go-frameworks".into(),
        question: "Which Go framework serves small JSON fastest on one core?".into(),
        answer: "go/gin serves 4.7 % more requests per second than go/echo at 128 connections \
                 (95 % interval 4.2 % to 5.2 %); at 16 connections they are equivalent."
            .into(),
        belief: belief(),
        trials_planned: 20,
        trials: trials(),
        outliers: Vec::new(),
        cells: (0..CELLS.len()).map(cell).collect(),
        comparisons: comparisons(),
        effects: None,
        shifts: Vec::new(),
        instrument: None,
        layers: Vec::new(),
        why: Vec::new(),
        family: None,
        claims: claims(),
        thresholds: Vec::new(),
        fleet: None,
        confidence: 0.95,
        margin: 0.02,
    }
}

fn belief() -> Belief {
    let note = |level, text: &str, remedy: Option<&str>| BeliefNote {
        level,
        text: text.into(),
        remedy: remedy.map(Into::into),
    };
    Belief {
        level: BeliefLevel::WithReservations,
        summary: "Nothing speaks against the comparisons; absolute numbers carry the reservations below."
            .into(),
        notes: vec![
            note(BeliefLevel::Yes, "all 19 valid trials obey Little's law within 0.4 %", None),
            note(
                BeliefLevel::WithReservations,
                "generator and target share 2 CPUs: the generator used 38 % of one of them",
                Some("run on a host with at least 4 cores, or move the generator with --fleet"),
            ),
            note(
                BeliefLevel::WithReservations,
                "1 of 20 trials is void (p99 pacer lag)",
                Some("rerun with prony run --resume to replace it"),
            ),
        ],
    }
}

pub(crate) fn trials() -> Vec<TrialRow> {
    (0..20_u32).map(trial).collect()
}

/// Cells rotate within each block, so that the order differs from block to block.
fn trial(index: u32) -> TrialRow {
    let (block, cell) = (index / 4, ((index % 4 + index / 4) % 4) as usize);
    let id = index + 1;
    let factor = factor(block as usize, cell);
    let (_, _, rate, p50, p99, memory) = CELLS[cell];
    let void = id == VOID;
    let completed = (rate * factor * 15.0) as u64;
    let value = |metric, value| MetricValue { metric, value };
    TrialRow {
        id,
        block: block + 1,
        cell: format!("c{}", cell + 1),
        outcome: if void { TrialOutcome::Void } else { TrialOutcome::Valid },
        reasons: if void {
            vec!["p99 pacer lag 412 µs is over the limit of 125 µs: the generator was late; give it a core of its own".into()]
        } else {
            vec![]
        },
        values: vec![
            value(Metric::Throughput, Some(rate * factor)),
            value(Metric::Mean, Some(p50 * 1.04 / factor)),
            value(Metric::P50, Some((p50 / factor).round())),
            value(Metric::P99, Some((p99 / factor / factor).round())),
            value(Metric::P999, None),
            value(Metric::ErrorRate, Some(0.0)),
            value(Metric::CpuPerRequest, Some((19_400.0 / factor).round())),
            value(Metric::Memory, Some(memory.round())),
        ],
        scheduled: completed + 64,
        completed,
        failed: 0,
        censored: 64,
        steadiness: Some(steadiness(index)),
        series: series(index, rate * factor, p50, p99),
    }
}

fn factor(block: usize, cell: usize) -> f64 {
    BLOCK[block] * (1.0 + REST[(block * 4 + cell * 3) % REST.len()])
}

/// Every fifth trial got better while it was measured, every seventh could not be judged.
fn steadiness(index: u32) -> Steadiness {
    let class = if index % 5 == 4 { SteadyClass::WarmUp } else { SteadyClass::Flat };
    let refused = index % 7 == 6;
    Steadiness {
        class: (!refused).then_some(class),
        refused: refused
            .then(|| "10 intervals with answers are needed, had 3: measure for at least 10 s".into()),
        by_plan: false,
        intervals: 15,
        series: Vec::new(),
    }
}

/// 4 s of warm-up that climbs, 15 s of samples, 1 s of drain.
fn series(trial: u32, rate: f64, p50: f64, p99: f64) -> Vec<SeriesPoint> {
    (1..=20_u32)
        .map(|second| {
            let rest = 1.0 + 3.0 * REST[((second * 5 + trial * 3) % 7) as usize];
            let climb = if second < 4 { 0.55 + 0.12 * f64::from(second) } else { 1.0 };
            SeriesPoint {
                t_ns: u64::from(second) * 1_000_000_000,
                phase: Some(match second {
                    1..=4 => Phase::Warmup,
                    5..=19 => Phase::Sample,
                    _ => Phase::Drain,
                }),
                throughput_per_s: if second == 20 { 0.0 } else { rate * climb * rest },
                p50_ns: Some((p50 / climb) as u64),
                p99_ns: Some((p99 / climb) as u64),
                failed: 0,
            }
        })
        .collect()
}

fn cell(index: usize) -> CellSummary {
    let (target, connections, _, p50, p99, _) = CELLS[index];
    let name = format!("c{}", index + 1);
    let of_cell: Vec<_> = trials().into_iter().filter(|trial| trial.cell == name).collect();
    let valid: Vec<_> = of_cell.iter().filter(|trial| trial.outcome == TrialOutcome::Valid).collect();
    let metrics = Metric::ALL
        .into_iter()
        .map(|metric| {
            let values = valid.iter().filter_map(|trial| {
                trial.values.iter().find(|value| value.metric == metric).and_then(|value| value.value)
            });
            summary(metric, values.collect())
        })
        .collect();
    CellSummary {
        cell: name,
        label: format!("{target}, {connections} connections"),
        target: target.into(),
        load: format!("{connections} connections"),
        trials_valid: valid.len() as u32,
        trials_void: (of_cell.len() - valid.len()) as u32,
        trials_failed: 0,
        metrics,
        cold_start_ns: Some(21_400_000),
        warm_up: (index != 1).then(|| WarmUpLine {
            trial: 1,
            cut: vec![3, 4, 6, 7],
            kept: vec![7, 7, 6, 7, 7],
            cut_ns: 4_000_000_000,
            by: Some(if index == 0 { WarmUpEndedBy::Steady } else { WarmUpEndedBy::AtMost }),
        }),
        messages: None,
        notable: Default::default(),
        spans: Vec::new(),
        extremes: Extremes { max_ns: Some((p99 * 3.0) as u64), cpu: Some(0.93), cpu_peak: Some(0.99) },
        levels: Some(Levels {
            metric: Metric::Throughput,
            trials: valid.len() as u32,
            samples: 3,
            sample_cv: 0.012,
            trial_cv: if index == 0 { 0.0 } else { 0.031 },
            clipped: index == 0,
            trial_share: Some(if index == 0 { 0.0 } else { 0.87 }),
            samples_best: (index > 0).then_some(2),
        }),
        memory_view: None,
        limits: String::new(),
        throttling: None,
        curve: curve(p50, p99),
        histogram: Vec::new(),
        parts: vec![
            TimePart { part: ResponsePart::PacerLag, mean_ns: 12_000.0, from_ns: 0.0, to_ns: 12_000.0 },
            TimePart {
                part: ResponsePart::FirstByte,
                mean_ns: p50,
                from_ns: 12_000.0,
                to_ns: 12_000.0 + p50,
            },
        ],
    }
}

fn summary(metric: Metric, values: Vec<f64>) -> MetricSummary {
    let n = values.len() as f64;
    let center = match values.contains(&0.0) {
        true => values.iter().sum::<f64>() / n,
        false => (values.iter().map(|value| value.ln()).sum::<f64>() / n).exp(),
    };
    let refused = match metric {
        _ if values.is_empty() => {
            Some("p99.9 needs at least 3,688 requests in a trial: lengthen the samples")
        }
        Metric::ErrorRate => None,
        _ if values.len() < 5 => Some("4 valid trials; an interval needs 5: rerun with --resume"),
        _ => None,
    };
    let interval = Interval { low: Some(center * 0.994), high: Some(center * 1.006) };
    let center = (!values.is_empty()).then_some(center);
    MetricSummary {
        metric,
        unit: metric.unit(),
        interval: (center.is_some() && refused.is_none() && metric.unit() != Unit::Share).then_some(interval),
        effective_requests: None,
        with_drift: None,
        instrument: None,
        refused: refused.map(Into::into),
        center,
        values,
    }
}

/// The two targets and the two loads as factors: a main effect each, and an interaction.
pub(crate) fn effects() -> Effects {
    let factor =
        |name: &str, levels: [&str; 2]| Factor { name: name.into(), levels: levels.map(Into::into).to_vec() };
    let level = |factor: &str, level: &str, against: &str| EffectLevel {
        factor: factor.into(),
        level: level.into(),
        against: against.into(),
    };
    let target = || level("target", "go/echo", "go/gin");
    let load = || level("connections", "128", "16");
    let effect = |of: Vec<EffectLevel>, ratio: f64, p: f64| Effect {
        metric: Metric::Throughput,
        of,
        blocks: 5,
        ratio: Some(ratio),
        interval: Some(Interval { low: Some(ratio - 0.01), high: Some(ratio + 0.01) }),
        p_value: Some(p / 2.0),
        p_holm: Some(p),
        shown: p < 0.05,
        refused: None,
    };
    Effects {
        factors: vec![factor("target", ["go/gin", "go/echo"]), factor("connections", ["16", "128"])],
        effects: vec![
            effect(vec![target()], 0.982, 0.002),
            effect(vec![load()], 1.152, 0.0002),
            effect(vec![target(), load()], 0.993, 0.31),
        ],
        metrics_refused: [("error_rate".to_owned(), "a value is 0, which has no logarithm".into())].into(),
        refused: None,
    }
}

/// A tail that is straight on log axes above the median.
fn curve(p50: f64, p99: f64) -> Vec<CurvePoint> {
    [0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.995, 0.999, 0.9995, 0.9999, 1.0]
        .into_iter()
        .map(|quantile: f64| {
            let nines = -(1.0 - quantile.min(0.99999)).log10() - 0.301;
            CurvePoint { quantile, ns: (p50 * (p99 / p50).powf(nines / 1.699)) as u64 }
        })
        .collect()
}

fn comparisons() -> Vec<Comparison> {
    let all = [
        ("c1", "c3", "16 connections", Metric::Throughput, 0.9916, 0.9873, 0.9959, Verdict::Equivalent),
        ("c1", "c3", "16 connections", Metric::P50, 1.0108, 0.9981, 1.0237, Verdict::Inconclusive),
        ("c1", "c3", "16 connections", Metric::P99, 1.0099, 0.9984, 1.0215, Verdict::Inconclusive),
        ("c1", "c3", "16 connections", Metric::Memory, 0.963, 0.951, 0.975, Verdict::Faster),
        ("c2", "c4", "128 connections", Metric::Throughput, 1.0468, 1.0421, 1.0521, Verdict::Faster),
        ("c2", "c4", "128 connections", Metric::P50, 0.9543, 0.9471, 0.9616, Verdict::Faster),
        ("c2", "c4", "128 connections", Metric::P99, 0.8214, 0.7902, 0.8538, Verdict::Faster),
        ("c2", "c4", "128 connections", Metric::CpuPerRequest, 1.031, 1.022, 1.040, Verdict::Slower),
    ];
    let mut comparisons: Vec<_> = all
        .into_iter()
        .map(|(a, b, load, metric, ratio, low, high, verdict)| {
            comparison(a, b, load, metric, Some((ratio, low, high)), verdict)
        })
        .collect();
    let mut refused = comparison("c2", "c4", "128 connections", Metric::P999, None, Verdict::Refused);
    refused.refused = Some("p99.9 needs at least 3,688 requests in a trial: lengthen the samples".into());
    refused.blocks = 0;
    comparisons.push(refused);
    comparisons
}

fn comparison(
    a: &str,
    b: &str,
    load: &str,
    metric: Metric,
    ratio: Option<(f64, f64, f64)>,
    verdict: Verdict,
) -> Comparison {
    let interval = ratio.map(|(_, low, high)| Interval { low: Some(low), high: Some(high) });
    Comparison {
        a: a.into(),
        b: b.into(),
        a_target: "go/gin".into(),
        b_target: "go/echo".into(),
        load: load.into(),
        metric,
        blocks: 5,
        ratio: ratio.map(|(ratio, ..)| ratio),
        interval,
        hodges_lehmann: ratio.map(|(ratio, ..)| ratio + 0.0004),
        hodges_lehmann_interval: interval,
        basis: Basis::Ratio,
        difference: None,
        difference_interval: None,
        ratio_of_means: ratio.map(|(ratio, low, high)| RatioOfMeans {
            ratio: ratio + 0.0002,
            interval: Interval { low: Some(low), high: Some(high) },
            excluded: None,
        }),
        bootstrap: None,
        p_value: ratio.map(|_| 0.0004),
        p_family: ratio.map(|(ratio, ..)| if ratio > 1.04 { 0.0008 } else { 0.031 }),
        part: Default::default(),
        level: ratio.map(|_| 0.99),
        alone: interval,
        verdict,
        refused: None,
    }
}

fn claims() -> Vec<ClaimResult> {
    let claim = |text: &str, verdict, evidence: &str, ratio: Option<(f64, f64, f64)>| ClaimResult {
        text: text.into(),
        verdict,
        evidence: evidence.into(),
        kind: "ratio".into(),
        metric: Some(Metric::Throughput.into()),
        unit: Some(Metric::Throughput.unit()),
        value: None,
        ratio: ratio.map(|(ratio, ..)| ratio),
        interval: ratio.map(|(_, low, high)| Interval { low: Some(low), high: Some(high) }),
        id: None,
        published: None,
    };
    vec![
        claim(
            "Gin serves more requests per second than Echo at 128 connections",
            ClaimVerdict::Holds,
            "throughput is 4.7 % higher (4.2 % to 5.2 %), asked for > 1.0, over 5 blocks",
            Some((1.0468, 1.0421, 1.0521)),
        ),
        claim(
            "Gin's p99 at 128 connections is at most 80 % of Echo's",
            ClaimVerdict::Inconclusive,
            "p99 is 17.9 % lower (14.6 % to 21.0 %), asked for <= 0.8, over 5 blocks; about 12 blocks would decide",
            Some((0.8214, 0.7902, 0.8538)),
        ),
        claim(
            "Gin uses no more CPU per request than Echo at 128 connections",
            ClaimVerdict::DoesNotHold,
            "CPU per request is 3.1 % higher (2.2 % to 4.0 %), asked for <= 1.0, over 5 blocks",
            Some((1.031, 1.022, 1.04)),
        ),
        claim(
            "Gin's p99.9 is below Echo's at 128 connections",
            ClaimVerdict::Void,
            "no trial has enough requests for p99.9: lengthen the samples",
            None,
        ),
    ]
}
