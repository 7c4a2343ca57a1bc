//! Made-up runs and trials: a plan of loads on reference targets, and trials in which every gate passes and whose values
//! a simulator sets. `selfcheck` uses them, and so do the tests here and in `runner`.
//!
//! Invariant: nothing is drawn here; the same arguments give the same run.

use crate::run::TrialData;
use schema::doctor::DoctorReport;
use schema::experiment::{LoadModel, Reference, ServiceLaw};
use schema::load::{Connections, Generator, LoadReport, Requests, ResolvedLoad, Validity, Window};
use schema::plan::{
    CellPlan, ExpectPlan, ExperimentPlan, LoadPlan, PhasePlan, PinPlan, RequestPlan, ScenarioPlan,
    TargetPlan, TargetSource, TrialPlan,
};
use schema::run::{Instrument, RunFile};
use schema::trial::{TargetUsage, TrialFile, TrialOutcome};
use std::collections::BTreeMap;

/// A second in nanoseconds.
pub const SECOND_NS: u64 = 1_000_000_000;
/// Requests of a trial, right answers all of them.
const REQUESTS: u64 = 100_000;

/// A closed load.
#[must_use]
pub fn closed(connections: u32) -> LoadPlan {
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

/// An open load.
#[must_use]
pub fn open(connections: u32, rate_per_s: f64) -> LoadPlan {
    LoadPlan { model: LoadModel::Open, rate_per_s: Some(rate_per_s), ..closed(connections) }
}

fn phases() -> PhasePlan {
    PhasePlan {
        warmup_at_most_ns: 20 * SECOND_NS,
        sample_ns: 10 * SECOND_NS,
        samples: 1,
        drain_ns: SECOND_NS,
        ..PhasePlan::default()
    }
}

fn scenario() -> ScenarioPlan {
    let request =
        RequestPlan { method: "GET".into(), path: "/".into(), headers: Vec::new(), body: Vec::new() };
    ScenarioPlan::single("inline", request, ExpectPlan::default())
}

/// A run of each target under each load, in that order: cells c1, c2, … in so many blocks, each in plan order.
#[must_use]
pub fn run(targets: &[&str], loads: &[LoadPlan], blocks: u32) -> RunFile {
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
    RunFile {
        schema: Default::default(),
        id: "2026-11-21T09-30-00Z-synthetic".into(),
        started_wall: "2026-11-21T09:30:00Z".into(),
        command: Vec::new(),
        plan: plan(targets, cells, order, blocks),
        experiment_text: String::new(),
        environment: DoctorReport::default(),
        versions: BTreeMap::new(),
        instrument: Instrument::default(),
        calibration: None,
        agents: Vec::new(),
        services: Vec::new(),
        weaknesses: Vec::new(),
    }
}

fn plan(targets: &[&str], cells: Vec<CellPlan>, order: Vec<TrialPlan>, blocks: u32) -> ExperimentPlan {
    let law = Reference { law: Some(ServiceLaw::Constant), ..Reference::default() };
    let target = |name: &&str| TargetPlan {
        name: (*name).to_owned(),
        source: TargetSource::Reference { law: law.clone() },
        env: BTreeMap::new(),
        knobs: BTreeMap::new(),
        variant: None,
        metrics: Default::default(),
    };
    ExperimentPlan {
        capacity: None,
        design: Default::default(),
        events: Vec::new(),
        replicas: Default::default(),
        name: "synthetic".into(),
        question: "Which is faster?".into(),
        short: false,
        keeps_phases: false,
        targets: targets.iter().map(target).collect(),
        scenarios: vec![scenario()],
        cells,
        blocks,
        seed: 1,
        order,
        phases: phases(),
        checks: Default::default(),
        claims: Vec::new(),
        thresholds: Vec::new(),
        alarms: Vec::new(),
        margin: 0.02,
        confidence: 0.95,
        pin: PinPlan::default(),
        soak: None,
        counters: Default::default(),
        hooks: Default::default(),
        profile: None,
    }
}

/// A report in which every gate passes: 10 s, 100,000 requests, each connection always busy (closed) or 10 ms of
/// response time (open).
#[must_use]
pub fn report(load: LoadPlan) -> LoadReport {
    let connections = u64::from(load.connections);
    let in_system_mean = if load.model == LoadModel::Closed { connections as f64 } else { 100.0 };
    LoadReport {
        plan: ResolvedLoad {
            url: "http://127.0.0.1:8080".into(),
            address: "127.0.0.1:8080".into(),
            scenario: scenario(),
            load,
            phases: phases(),
            requests_max: None,
            driver: "epoll".into(),
        },
        requests: Requests { scheduled: REQUESTS, completed: REQUESTS, failed: 0, censored: 0 },
        status: BTreeMap::from([(200, REQUESTS)]),
        throughput_per_s: 10_000.0,
        window: Window { duration_ns: 10 * SECOND_NS, answers: REQUESTS, in_system_mean, backlog_max: 0 },
        connections: Connections { asked: connections, established: connections, ..Connections::default() },
        generator: Generator {
            cpu_s: 3.0,
            peak_rss_bytes: 1 << 24,
            workers: 1,
            busy_share: 0.3,
            ..Generator::default()
        },
        validity: Validity { ok: true, ..Validity::default() },
        ..LoadReport::default()
    }
}

/// A valid trial of a plan with its report ([`report`]) and nothing else; `None` where the plan lacks its cell.
#[must_use]
pub fn trial(plan: &ExperimentPlan, planned: &TrialPlan) -> Option<TrialData> {
    let cell = plan.cells.iter().find(|cell| cell.id == planned.cell)?;
    let file = TrialFile {
        events: Vec::new(),
        schema: Default::default(),
        id: planned.id,
        cell: planned.cell.clone(),
        block: planned.block,
        outcome: TrialOutcome::Valid,
        reasons: Vec::new(),
        origin_wall: "2026-11-21T09:30:00Z".into(),
        phases: Vec::new(),
        level: true,
        warmup: None,
        steadiness: None,
        load: Some(report(cell.load.clone())),
        samples: Vec::new(),
        target: TargetUsage::default(),
        ready_ns: None,
        counter_gaps: BTreeMap::new(),
        counter_errors: BTreeMap::new(),
        canary: None,
        clocks: None,
    };
    Some(TrialData { file, intervals: Vec::new(), response: None, signals: None })
}
