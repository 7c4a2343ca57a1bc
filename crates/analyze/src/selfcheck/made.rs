//! Made-up runs and trials: a plan of closed loads, and trials with the values that a simulator gives.

use crate::run::TrialData;
use crate::trial::{Of, latency};
use hdrhistogram::Histogram;
use schema::capacity::{CapacityPlan, LadderOrder, LoadAxis};
use schema::doctor::DoctorReport;
use schema::experiment::{LoadModel, Reference};
use schema::load::{
    BytesMoved, Connections, Generator, Latencies, LoadReport, Requests, ResolvedLoad, Validity, Window,
};
use schema::plan::{
    CellPlan, ExpectPlan, ExperimentPlan, LoadPlan, PhasePlan, PinPlan, RequestPlan, ScenarioPlan,
    TargetPlan, TargetSource, TrialPlan,
};
use schema::run::{Instrument, RunFile};
use schema::trial::{TargetUsage, TrialFile, TrialOutcome};
use std::collections::BTreeMap;

const SECOND_NS: u64 = 1_000_000_000;

fn closed(connections: u32) -> LoadPlan {
    LoadPlan {
        model: LoadModel::Closed,
        connections,
        connections_max: connections,
        workers: 1,
        timeout_ns: 10 * SECOND_NS,
        ..LoadPlan::default()
    }
}

fn phases() -> PhasePlan {
    PhasePlan {
        warmup_at_least_ns: 0,
        warmup_at_most_ns: 20 * SECOND_NS,
        warmup_also: Default::default(),
        sample_ns: 10 * SECOND_NS,
        samples: 1,
        drain_ns: SECOND_NS,
    }
}

fn scenario() -> ScenarioPlan {
    let request =
        RequestPlan { method: "GET".into(), path: "/".into(), headers: Vec::new(), body: Vec::new() };
    ScenarioPlan::single("inline", request, ExpectPlan::default())
}

/// A run of each target at each number of connections, over so many blocks.
pub(super) fn run(targets: &[&str], connections: &[u32], blocks: u32) -> RunFile {
    let mut cells = Vec::new();
    for connections in connections {
        for target in targets {
            cells.push(CellPlan {
                id: format!("c{}", cells.len() + 1),
                label: format!("{target}, {connections} connections"),
                target: (*target).to_owned(),
                scenario: "inline".to_owned(),
                load: closed(*connections),
                limits: Default::default(),
            });
        }
    }
    let mut order = Vec::new();
    for block in 1..=blocks {
        for cell in &cells {
            order.push(TrialPlan { id: order.len() as u32 + 1, block, cell: cell.id.clone() });
        }
    }
    let capacity = (connections.len() > 1).then(|| CapacityPlan {
        axis: LoadAxis::Connections,
        order: LadderOrder::Random,
        search: None,
        notes: Vec::new(),
    });
    RunFile {
        schema: Default::default(),
        id: "selfcheck".into(),
        started_wall: String::new(),
        command: Vec::new(),
        plan: plan(targets, cells, order, blocks, capacity),
        experiment_text: String::new(),
        environment: DoctorReport::default(),
        versions: BTreeMap::new(),
        instrument: Instrument::default(),
        calibration: None,
        services: Vec::new(),
        weaknesses: Vec::new(),
    }
}

fn plan(
    targets: &[&str],
    cells: Vec<CellPlan>,
    order: Vec<TrialPlan>,
    blocks: u32,
    capacity: Option<CapacityPlan>,
) -> ExperimentPlan {
    let target = |name: &&str| TargetPlan {
        name: (*name).to_owned(),
        source: TargetSource::Reference { law: Reference::default() },
        env: BTreeMap::new(),
        knobs: BTreeMap::new(),
        variant: None,
        metrics: Default::default(),
    };
    ExperimentPlan {
        capacity,
        design: Default::default(),
        events: Vec::new(),
        replicas: Default::default(),
        name: "selfcheck".into(),
        question: "Are the statistics right?".into(),
        targets: targets.iter().map(target).collect(),
        scenarios: vec![scenario()],
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
    }
}

/// A valid trial of a run, by its number, with this throughput and, where there are, these response times.
pub(super) fn trial(
    run: &RunFile,
    id: u32,
    throughput_per_s: f64,
    times: Option<Histogram<u64>>,
) -> Option<TrialData> {
    let planned = run.plan.order.get(id.checked_sub(1)? as usize)?;
    let cell = run.plan.cells.iter().find(|cell| cell.id == planned.cell)?;
    let mut load = report(cell.load.clone());
    load.throughput_per_s = throughput_per_s;
    if let Some(times) = &times {
        load.latency_ns.response = latency(times, 0, Of::Requests);
    }
    let file = TrialFile {
        events: Vec::new(),
        schema: Default::default(),
        id,
        cell: planned.cell.clone(),
        block: planned.block,
        outcome: TrialOutcome::Valid,
        reasons: Vec::new(),
        origin_wall: String::new(),
        phases: Vec::new(),
        level: true,
        warmup: None,
        steadiness: None,
        load: Some(load),
        samples: Vec::new(),
        target: TargetUsage::default(),
        ready_ns: None,
        counter_gaps: BTreeMap::new(),
        counter_errors: BTreeMap::new(),
        canary: None,
    };
    Some(TrialData { file, intervals: Vec::new(), response: times, signals: None })
}

fn report(load: LoadPlan) -> LoadReport {
    let in_system_mean = f64::from(load.connections);
    LoadReport {
        by_request: Vec::new(),
        sessions: None,
        tokens: Vec::new(),
        failed_answers: Vec::new(),
        schema: Default::default(),
        plan: ResolvedLoad {
            url: String::new(),
            address: String::new(),
            scenario: scenario(),
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
        throughput_per_s: 0.0,
        window: Window { duration_ns: 10 * SECOND_NS, answers: 100_000, in_system_mean, backlog_max: 0 },
        bytes: BytesMoved::default(),
        connections: Connections::default(),
        latency_ns: Latencies::default(),
        generator: Generator::default(),
        arrivals: None,
        validity: Validity { ok: true, ..Validity::default() },
        instrument_limit: None,
        notes: Vec::new(),
        thresholds: Vec::new(),
        each: None,
    }
}
