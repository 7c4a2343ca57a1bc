//! The engine and the reference target together against queueing theory: an M/M/1 queue at 50 % load.
//!
//! With service mean 1/μ = 5 ms and λ = μ/2, response time is exponential with mean 1/(μ−λ) = 10 ms, so its quantile
//! q is −ln(1−q) × 10 ms (Kleinrock, Queueing Systems I, §3.2). Trials run one at a time, because both ends spin to be
//! exact and need a core each; each has its own seed.

use engine::{Generator, IntervalData, Job, Part, Timeline};
use request::{Check, Traffic};
use schema::arrival::ArrivalPlan;
use schema::experiment::{LoadModel, Reference, ServiceLaw};
use schema::load::Time;
use schema::plan::{ConnectionPlan, HttpVersion, LoadPlan, RequestPlan};
use testkit::reference::{Law, ReferenceServer};
use units::Nanos;

const TRIALS: u64 = 8;
/// Student's t for 7 degrees of freedom at 97.5 % (any table).
const T_7: f64 = 2.365;
const MEAN_RESPONSE_MS: f64 = 10.0;

/// One trial over 64 connections, or over as many streams of one connection.
fn trial(seed: u64, seconds: u64, http: HttpVersion) -> IntervalData {
    let law = Law::try_from(&Reference {
        law: Some(ServiceLaw::Exponential),
        mean: Some(Nanos::from_millis(5)),
        servers: Some(1),
        seed: Some(seed),
        ..Reference::default()
    });
    let server = ReferenceServer::start(law.unwrap()).unwrap();
    let connections = if http == HttpVersion::V2 { 1 } else { 64 };
    let plan = RequestPlan { method: "GET".into(), path: "/".into(), headers: vec![], body: vec![] };
    let job = Job {
        load: LoadPlan {
            model: LoadModel::Open,
            connections,
            connections_max: connections,
            connection: ConnectionPlan { http, streams: 64 / connections, ..ConnectionPlan::default() },
            rate_per_s: Some(100.0),
            arrivals: Some(ArrivalPlan::Poisson),
            workers: 1,
            connect_timeout_ns: 1_000_000_000,
            timeout_ns: 10_000_000_000,
            seed,
            ..LoadPlan::default()
        },
        requests_max: None,
        way: engine::Way::default(),
        lookup: None,
        scripts: None,
        rows: None,
        recorded: None,
        to: server.addr(),
        tls: None,
        traffic: Traffic::single(&plan, "localhost", Check::new(&[200], None)).unwrap(),
        timeline: Timeline::for_samples(seconds * 1_000_000_000, 1, 1_000_000_000),
        cpus: None,
        spin: true,
        part: Part { first: 0, workers: 1 },
    };
    let mut generator = Generator::start(&job).unwrap();
    generator.begin(Some(0));
    crate::common::sum(&mut generator).unwrap()
}

/// Runs all trials side by side and demands that each statistic's interval over trials holds the theory's value.
fn check_m_m_1(seconds: u64, http: HttpVersion) {
    let trials: Vec<IntervalData> = (1..=TRIALS).map(|seed| trial(seed, seconds, http)).collect();
    let mut statistics: Vec<(String, f64, Vec<f64>)> = vec![(
        "mean".to_owned(),
        MEAN_RESPONSE_MS,
        trials.iter().map(|trial| trial.times[Time::Response].mean() / 1e6).collect(),
    )];
    for quantile in [0.5, 0.9, 0.99] {
        let values =
            trials.iter().map(|trial| trial.times[Time::Response].value_at_quantile(quantile) as f64 / 1e6);
        statistics.push((
            format!("p{}", quantile * 100.0),
            -MEAN_RESPONSE_MS * (1.0_f64 - quantile).ln(),
            values.collect(),
        ));
    }
    for (name, truth, values) in statistics {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let deviation = (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt();
        let half = T_7 * deviation / n.sqrt();
        println!(
            "{name}: theory {truth:.2} ms, measured {mean:.2} ms ± {half:.2} ms over {n} trials of {seconds} s"
        );
        assert!(
            (mean - truth).abs() <= half,
            "{name}: theory {truth} ms, measured {mean} ± {half} ms: {values:?}"
        );
    }
    assert!(trials.iter().all(|trial| trial.counts.measured.balances()));
}

#[test]
#[ignore = "a measurement of three minutes that needs two quiet cores; run by `make test-all`"]
fn response_times_agree_with_m_m_1() {
    check_m_m_1(20, HttpVersion::V1_1);
}

#[test]
#[ignore = "a measurement of three minutes that needs two quiet cores; run by `make test-all`"]
fn response_times_over_http2_agree_with_m_m_1() {
    check_m_m_1(20, HttpVersion::V2);
}
