//! Made-up runs and trials whose truth is known.

use analyze::TrialData;
use hdrhistogram::Histogram;
use schema::doctor::DoctorReport;
use schema::experiment::{LoadModel, Reference, ServiceLaw};
use schema::load::{
    BytesMoved, Connections, Generator, Latencies, LatencySummary, LoadReport, Requests, ResolvedLoad,
    Validity, Window,
};
use schema::metric::Metric;
use schema::plan::{
    CellPlan, ClaimComparison, ClaimPlan, ClaimTest, ExpectPlan, ExperimentPlan, LoadPlan, PhasePlan,
    PinPlan, RequestPlan, ScenarioPlan, TargetPlan, TargetSource, TrialPlan,
};
use schema::run::{Instrument, RunFile};
use schema::trial::{IntervalLine, TargetUsage, TrialFile, TrialOutcome};
use std::collections::BTreeMap;

pub(crate) const SECOND_NS: u64 = 1_000_000_000;

pub(crate) fn closed(connections: u32) -> LoadPlan {
    LoadPlan {
        model: LoadModel::Closed,
        connections,
        connections_max: connections,
        workers: 1,
        connect_timeout_ns: 5 * SECOND_NS,
        timeout_ns: 10 * SECOND_NS,
        seed: 1,
        ..LoadPlan::default()
    }
}

pub(crate) fn open(connections: u32, rate_per_s: f64) -> LoadPlan {
    LoadPlan { model: LoadModel::Open, rate_per_s: Some(rate_per_s), ..closed(connections) }
}

/// A run of each target under each load, in that order: cells c1, c2, …
pub(crate) fn run(targets: &[&str], loads: &[LoadPlan], blocks: u32) -> RunFile {
    let mut cells = Vec::new();
    for load in loads {
        for target in targets {
            let id = format!("c{}", cells.len() + 1);
            let label = format!("{target}, {} connections", load.connections);
            let target = (*target).to_owned();
            let (scenario, load, limits) = ("inline".to_owned(), load.clone(), Default::default());
            cells.push(CellPlan { id, label, target, scenario, load, limits });
        }
    }
    let mut order = Vec::new();
    for block in 1..=blocks {
        for cell in &cells {
            order.push(TrialPlan { id: order.len() as u32 + 1, block, cell: cell.id.clone() });
        }
    }
    let law = Reference {
        connections_max: None,
        law: Some(ServiceLaw::Constant),
        mean: None,
        burn: None,
        servers: None,
        seed: None,
        error_rate: None,
        reset_rate: None,
        freeze: None,
        ..Reference::default()
    };
    let plan = ExperimentPlan {
        capacity: None,
        design: Default::default(),
        events: Vec::new(),
        replicas: Default::default(),
        name: "synthetic".into(),
        question: "Which is faster?".into(),
        targets: targets
            .iter()
            .map(|name| TargetPlan {
                name: (*name).to_owned(),
                source: TargetSource::Reference { law: law.clone() },
                env: BTreeMap::new(),
                knobs: BTreeMap::new(),
                variant: None,
                metrics: Default::default(),
            })
            .collect(),
        scenarios: vec![ScenarioPlan::single("inline", request(), ExpectPlan::default())],
        cells,
        blocks,
        seed: 1,
        order,
        phases: phases(),
        checks: Default::default(),
        claims: Vec::new(),
        margin: 0.02,
        confidence: 0.95,
        pin: PinPlan::default(),
        soak: None,
        counters: Default::default(),
        hooks: Default::default(),
        profile: None,
    };
    RunFile {
        schema: Default::default(),
        id: "2026-11-21T09-30-00Z-synthetic".into(),
        started_wall: "2026-11-21T09:30:00Z".into(),
        command: Vec::new(),
        plan,
        experiment_text: String::new(),
        environment: DoctorReport::default(),
        versions: BTreeMap::new(),
        instrument: Instrument::default(),
        calibration: None,
        services: Vec::new(),
        weaknesses: Vec::new(),
    }
}

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

pub(crate) fn claim_of(metric: Metric, test: ClaimTest) -> ClaimPlan {
    ClaimPlan { text: "as claimed".into(), metric: Some(metric), id: None, published: None, test }
}

fn request() -> RequestPlan {
    RequestPlan { method: "GET".into(), path: "/".into(), headers: Vec::new(), body: Vec::new() }
}

fn phases() -> PhasePlan {
    PhasePlan {
        warmup_at_least_ns: 0,
        warmup_at_most_ns: 20_000_000_000,
        warmup_also: Default::default(),
        sample_ns: 10 * SECOND_NS,
        samples: 1,
        drain_ns: SECOND_NS,
    }
}

/// A report in which every gate passes: 10 s, 100,000 requests, each connection always busy (closed) or 10 ms of
/// response time (open).
pub(crate) fn report(load: LoadPlan) -> LoadReport {
    let connections = u64::from(load.connections);
    let in_system_mean = if load.model == LoadModel::Closed { connections as f64 } else { 100.0 };
    LoadReport {
        by_request: Vec::new(),
        sessions: None,
        tokens: Vec::new(),
        failed_answers: Vec::new(),
        schema: Default::default(),
        plan: ResolvedLoad {
            url: "http://127.0.0.1:8080".into(),
            address: "127.0.0.1:8080".into(),
            scenario: ScenarioPlan::single("inline", request(), ExpectPlan::default()),
            load,
            phases: phases(),
            requests_max: None,
            driver: "epoll".into(),
        },
        requests: Requests { scheduled: 100_000, completed: 100_000, failed: 0, censored: 0 },
        errors: BTreeMap::new(),
        error_examples: BTreeMap::new(),
        status: BTreeMap::from([(200, 100_000)]),
        redirects: BTreeMap::new(),
        throughput_per_s: 10_000.0,
        window: Window { duration_ns: 10 * SECOND_NS, answers: 100_000, in_system_mean, backlog_max: 0 },
        bytes: BytesMoved::default(),
        connections: Connections {
            asked: connections,
            established: connections,
            reconnects: 0,
            ..Connections::default()
        },
        latency_ns: Latencies::default(),
        generator: Generator {
            cpu_s: 3.0,
            peak_rss_bytes: 1 << 24,
            workers: 1,
            busy_share: 0.3,
            ..Generator::default()
        },
        arrivals: None,
        validity: Validity { ok: true, ..Validity::default() },
        instrument_limit: None,
        notes: vec![],
        thresholds: Vec::new(),
        each: None,
    }
}

/// The trial of `run` with number `id`, valid, with these values and no others.
pub(crate) fn trial(run: &RunFile, id: u32, values: &[(Metric, f64)]) -> TrialData {
    let planned = &run.plan.order[id as usize - 1];
    let cell = run.plan.cells.iter().find(|cell| cell.id == planned.cell).expect("planned");
    let mut load = report(cell.load.clone());
    load.throughput_per_s = 10_000.0;
    let mut target = TargetUsage::default();
    for (metric, value) in values {
        set(&mut load, &mut target, *metric, *value);
    }
    let file = TrialFile {
        events: Vec::new(),
        schema: Default::default(),
        id,
        cell: planned.cell.clone(),
        block: planned.block,
        outcome: TrialOutcome::Valid,
        reasons: Vec::new(),
        origin_wall: "2026-11-21T09:30:00Z".into(),
        phases: Vec::new(),
        level: true,
        warmup: None,
        steadiness: None,
        load: Some(load),
        samples: Vec::new(),
        target,
        ready_ns: None,
        counter_gaps: BTreeMap::new(),
        counter_errors: BTreeMap::new(),
        canary: None,
    };
    TrialData { file, intervals: Vec::new(), response: None, signals: None }
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
