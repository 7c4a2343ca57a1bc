//! The report of one open load with failures, a refused and a censored percentile, and a failed gate.

use super::plan;
use schema::arrival::ArrivalPlan;
use schema::experiment::LoadModel;
use schema::load::*;
use schema::plan::{LoadPlan, PhasePlan};
use std::collections::BTreeMap;

pub(crate) fn load_report() -> LoadReport {
    LoadReport {
        by_request: Vec::new(),
        sessions: None,
        tokens: Vec::new(),
        failed_answers: Vec::new(),
        notable: Default::default(),
        schema: Default::default(),
        plan: ResolvedLoad {
            url: "http://127.0.0.1:8080".into(),
            address: "127.0.0.1:8080".into(),
            scenario: schema::plan::ScenarioPlan::single(
                "inline",
                plan::request(),
                schema::plan::ExpectPlan::default(),
            ),
            load: LoadPlan {
                model: LoadModel::Open,
                rate_per_s: Some(2_000.0),
                arrivals: Some(ArrivalPlan::Poisson),
                ..plan::load(64)
            },
            phases: PhasePlan { samples: 1, sample_ns: 10_000_000_000, ..plan::phases() },
            requests_max: None,
            driver: "epoll".into(),
        },
        requests: Requests { scheduled: 20_041, completed: 19_922, failed: 87, censored: 32 },
        errors: BTreeMap::from([(ErrorClass::Timeout, 75), (ErrorClass::UnexpectedStatus, 12)]),
        error_examples: BTreeMap::from([(
            ErrorClass::UnexpectedStatus,
            vec!["status 503, body `upstream is overloaded`".into()],
        )]),
        status: BTreeMap::from([(200, 19_922), (503, 12)]),
        redirects: Default::default(),
        throughput_per_s: 1_992.2,
        window: Window { duration_ns: 10_000_000_000, answers: 19_922, in_system_mean: 2.6, backlog_max: 14 },
        bytes: BytesMoved { read: 2_868_768, written: 1_402_870 },
        connections: Connections { asked: 64, established: 64, reconnects: 87, ..Connections::default() },
        streams: None,
        messages: None,
        latency_ns: Latencies {
            response: latency(1.0, true),
            service: latency(0.94, true),
            send_lag: latency(0.05, false),
            pacer_lag: latency(0.02, false),
            connect: LatencySummary {
                count: 151,
                mean: Some(61_000.0),
                max: Some(212_000),
                ..Default::default()
            },
            ..Latencies::default()
        },
        generator: Generator {
            cpu_s: 0.412,
            peak_rss_bytes: 12_900_000,
            workers: 1,
            busy_share: 0.041,
            ..Generator::default()
        },
        arrivals: None,
        validity: validity(false),
        notes: vec![],
        instrument_limit: None,
        thresholds: Vec::new(),
        each: None,
        fleet: None,
    }
}

pub(crate) fn validity(ok: bool) -> Validity {
    let passed = Gate {
        gate: "accounting".into(),
        ok: true,
        value: 0.0,
        limit: 0.0,
        text: "20,041 scheduled = 19,922 completed + 87 failed + 32 censored".into(),
    };
    if ok {
        return Validity { ok, reasons: vec![], gates: vec![passed], ..Default::default() };
    }
    let failed = Gate {
        gate: "pacer_lag".into(),
        ok: false,
        value: 412_000.0,
        limit: 125_000.0,
        text: "p99 pacer lag 412 µs is over the limit of 125 µs; the generator was late: \
               give it a core of its own, or lower the rate"
            .into(),
    };
    Validity { ok, reasons: vec![failed.clone()], gates: vec![passed, failed], ..Default::default() }
}

fn latency(scale: f64, censored: bool) -> LatencySummary {
    let ns = |ms: f64| Some((ms * scale * 1e6) as u64);
    let mut summary = LatencySummary {
        count: 19_922,
        censored: if censored { 107 } else { 0 },
        mean: Some(1.32e6 * scale),
        min: ns(0.21),
        p50: ns(1.21),
        p90: ns(1.98),
        p95: ns(2.4),
        p99: ns(4.87),
        p999: None,
        max: ns(912.0),
        ..Default::default()
    };
    summary.intervals.insert("p95".into(), RankInterval { low: ns(2.38), high: ns(2.43), is_wide: false });
    summary.intervals.insert("p99".into(), RankInterval { low: ns(4.1), high: ns(6.2), is_wide: true });
    if censored {
        summary.intervals.insert("p999".into(), RankInterval { low: ns(610.0), high: None, is_wide: true });
        summary.at_least.insert("p999".into(), 912_000_000);
    } else {
        let reason = "needs 3,688 requests, had 1,992: measure 1.9 times longer";
        summary.refused.insert("p999".into(), reason.into());
    }
    summary
}
