//! Made-up runs and trials whose truth is known.

use analyze::{TrialData, made};
use hdrhistogram::Histogram;
use schema::counter_metric::ClaimMetric;
use schema::load::{LatencySummary, LoadReport};
use schema::metric::Metric;
use schema::plan::{ClaimComparison, ClaimPlan, ClaimTest};
use schema::run::RunFile;
use schema::trial::{IntervalLine, TargetUsage};

pub(crate) use analyze::made::{SECOND_NS, closed, open, report, run};

pub(crate) fn claim(
    metric: Metric,
    numerator: &str,
    comparison: ClaimComparison,
    denominator: &str,
    bound: f64,
) -> ClaimPlan {
    let (numerator, denominator) = (numerator.to_owned(), denominator.to_owned());
    claim_of(metric, ClaimTest::Ratio { numerator, denominator, comparison, bound })
}

pub(crate) fn claim_of(metric: impl Into<ClaimMetric>, test: ClaimTest) -> ClaimPlan {
    ClaimPlan { text: "as claimed".into(), metric: Some(metric.into()), id: None, published: None, test }
}

/// The trial of `run` with number `id`, valid, with these values and no others.
pub(crate) fn trial(run: &RunFile, id: u32, values: &[(Metric, f64)]) -> TrialData {
    let mut trial = made::trial(&run.plan, &run.plan.order[id as usize - 1]).expect("planned");
    let load = trial.file.load.as_mut().expect("made with one");
    for (metric, value) in values {
        set(load, &mut trial.file.target, *metric, *value);
    }
    trial
}

fn set(load: &mut LoadReport, target: &mut TargetUsage, metric: Metric, value: f64) {
    let response: &mut LatencySummary = &mut load.latency_ns.response;
    match metric {
        Metric::Throughput => load.throughput_per_s = value,
        Metric::Mean => response.mean = Some(value),
        Metric::P50 => response.p50 = Some(value as u64),
        Metric::P90 => response.p90 = Some(value as u64),
        Metric::P95 => response.p95 = Some(value as u64),
        Metric::P99 => response.p99 = Some(value as u64),
        Metric::P999 => response.p999 = Some(value as u64),
        Metric::ErrorRate => {
            load.requests.failed = (value * load.requests.scheduled as f64) as u64;
            load.requests.completed = load.requests.scheduled - load.requests.failed;
        }
        Metric::CpuPerRequest => target.cpu_per_request_ns = Some(value),
        Metric::Memory => target.rss_peak_bytes = Some(value as u64),
        Metric::AllocPerRequest => target.alloc_per_request_bytes = Some(value),
        other => panic!("{other:?} is read from counters: set those"),
    }
}

/// All trials of a run; `throughput` gives that of a cell (index in the plan) in a block.
pub(crate) fn trials(run: &RunFile, mut throughput: impl FnMut(usize, u32) -> f64) -> Vec<TrialData> {
    run.plan
        .order
        .iter()
        .map(|planned| {
            let cell = run.plan.cells.iter().position(|cell| cell.id == planned.cell).expect("planned");
            trial(run, planned.id, &[(Metric::Throughput, throughput(cell, planned.block))])
        })
        .collect()
}

/// 1 to `n` microseconds, one each.
pub(crate) fn ladder(n: u64) -> Histogram<u64> {
    let mut histogram = Histogram::new(3).expect("three digits");
    for value in 1..=n {
        histogram.record(value * 1_000).expect("auto-resize");
    }
    histogram
}

/// One second with this many answers.
pub(crate) fn second(at: u64, completed: u64) -> IntervalLine {
    IntervalLine {
        start_ns: at * SECOND_NS,
        end_ns: (at + 1) * SECOND_NS,
        completed,
        p50_ns: Some(1_000_000),
        ..IntervalLine::default()
    }
}
