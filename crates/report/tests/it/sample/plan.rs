//! `run.json` of the sample run.

use schema::doctor::{DoctorReport, Fact, Severity};
use schema::experiment::LoadModel;
use schema::limits::LimitsPlan;
use schema::metric::Metric;
use schema::plan::*;
use schema::run::{Instrument, RunFile};
use std::collections::BTreeMap;

pub(crate) fn run_file() -> RunFile {
    RunFile {
        schema: Default::default(),
        id: "2026-11-21T09-30-00Z-go-frameworks".into(),
        started_wall: "2026-11-21T09:30:00Z".into(),
        command: ["prony", "run", "experiments/go-frameworks.toml"].map(Into::into).to_vec(),
        plan: plan(),
        experiment_text: "[experiment]\nname = \"go-frameworks\"\nblocks = 5\nseed = 1\n\n[[target]]\nuse = \"go/gin\"\n\n\
                          [[target]]\nuse = \"go/echo\"\n\n[scenario]\nuse = \"json\"\n\n[load]\nmodel = \"closed\"\n\
                          connections = [16, 128]\n"
            .into(),
        environment: environment(),
        versions: BTreeMap::from(
            [("prony", "0.1.0 (94d60fa)"), ("linux", "6.12.41"), ("go", "go1.26.3 linux/amd64"), ("gin", "v1.11.0")]
                .map(|(name, version)| (name.to_owned(), version.to_owned())),
        ),
        instrument: Instrument {
            clock_step_ns: 21,
            clock_read_ns: 23.4,
            wake_late_p50_ns: 58_200,
            wake_late_p99_ns: 143_000,
        },
        calibration: None,
        agents: Vec::new(),
        services: Vec::new(),
        weaknesses: Vec::new(),
    }
}

fn plan() -> ExperimentPlan {
    let cells: Vec<_> = [("go/gin", 16), ("go/gin", 128), ("go/echo", 16), ("go/echo", 128)]
        .into_iter()
        .enumerate()
        .map(|(index, (target, connections))| CellPlan {
            id: format!("c{}", index + 1),
            label: format!("{target}, {connections} connections"),
            target: target.into(),
            scenario: "json".into(),
            load: load(connections),
            limits: LimitsPlan::default(),
        })
        .collect();
    ExperimentPlan {
        capacity: None,
        design: Default::default(),
        soak: None,
        counters: Default::default(),
        hooks: Default::default(),
        profile: None,
        events: Vec::new(),
        replicas: Default::default(),
        name: "go-frameworks".into(),
        short: false,
        keeps_phases: false,
        question: "Which Go framework serves small JSON fastest on one core?".into(),
        targets: ["go/gin", "go/echo"].map(target).into(),
        scenarios: vec![ScenarioPlan::single("json", request(), ExpectPlan::default())],
        order: (0..20)
            .map(|i| TrialPlan { id: i + 1, block: i / 4 + 1, cell: format!("c{}", (i % 4 + i / 4) % 4 + 1) })
            .collect(),
        cells,
        blocks: 5,
        seed: 1,
        phases: phases(),
        checks: Default::default(),
        thresholds: Vec::new(),
        alarms: Vec::new(),
        claims: vec![ClaimPlan {
            text: "Gin serves more requests per second than Echo at 128 connections".into(),
            metric: Some(Metric::Throughput.into()),
            id: None,
            published: None,
            test: ClaimTest::Ratio {
                numerator: "c2".into(),
                denominator: "c4".into(),
                comparison: ClaimComparison::MoreThan,
                bound: 1.0,
            },
        }],
        margin: 0.02,
        confidence: 0.95,
        pin: PinPlan { generator: Some(vec![0]), target: Some(vec![1]), ..PinPlan::default() },
    }
}

fn target(name: &str) -> TargetPlan {
    TargetPlan {
        name: name.into(),
        source: TargetSource::Manifest { name: name.into(), folder: format!("/srv/prony/targets/{name}") },
        env: BTreeMap::new(),
        knobs: BTreeMap::new(),
        variant: None,
        metrics: Default::default(),
    }
}

pub(crate) fn request() -> RequestPlan {
    RequestPlan { method: "GET".into(), path: "/json".into(), headers: vec![], body: vec![] }
}

pub(crate) fn phases() -> PhasePlan {
    PhasePlan {
        warmup_at_least_ns: 3_000_000_000,
        warmup_at_most_ns: 20_000_000_000,
        warmup_also: Default::default(),
        sample_ns: 5_000_000_000,
        samples: 3,
        drain_ns: 1_000_000_000,
    }
}

pub(crate) fn load(connections: u32) -> LoadPlan {
    LoadPlan {
        model: LoadModel::Closed,
        connections,
        connections_max: connections,
        workers: 1,
        connect_timeout_ns: 5_000_000_000,
        timeout_ns: 10_000_000_000,
        seed: 1,
        ..LoadPlan::default()
    }
}

fn environment() -> DoctorReport {
    let fact =
        |id: &str, title: &str, value: Option<&str>, severity, effect: &str, remedy: Option<&str>| Fact {
            id: id.into(),
            title: title.into(),
            value: value.map(Into::into),
            severity,
            effect: effect.into(),
            remedy: remedy.map(Into::into),
            bearing: Default::default(),
            amount: None,
        };
    let facts = vec![
        fact(
            "cpu.cores",
            "Cores",
            Some("2"),
            Severity::Warning,
            "generator and target get one each; the kernel shares both",
            Some("use a host with at least 4 cores"),
        ),
        fact(
            "cpu.governor",
            "Frequency governor",
            None,
            Severity::Note,
            "cannot be read in this virtual machine; frequency may drift",
            None,
        ),
        fact(
            "memory.swap",
            "Swap",
            Some("off"),
            Severity::Ok,
            "no page of the target can be swapped out",
            None,
        ),
        fact(
            "net.somaxconn",
            "Accept queue limit (somaxconn)",
            Some("4096"),
            Severity::Ok,
            "bursts of connections are accepted",
            None,
        ),
        fact(
            "limits.descriptors",
            "Descriptor limit",
            Some("20,000"),
            Severity::Ok,
            "bounds connections per process",
            None,
        ),
    ];
    DoctorReport { facts, ..DoctorReport::default() }
}
