//! What tests of the engine share: a short load, and its end with every account checked.
#![allow(dead_code, reason = "each test binary uses a part of it")]

pub(crate) mod faulty;
pub(crate) mod tls;

use engine::{EngineError, Generator, IntervalData, Job, Part, Step, Timeline};
use request::{Check, Traffic};
use schema::experiment::LoadModel;
use schema::load::Time;
use schema::plan::{DriverChoice, LoadPlan, RequestPlan};
use std::net::SocketAddr;
use std::time::Duration;

pub(crate) const MS: u64 = 1_000_000;

/// A closed load of `requests` requests over `connections` connections, at most half a minute long.
pub(crate) fn short_load(
    to: SocketAddr,
    driver: DriverChoice,
    connections: u32,
    requests: u64,
    prepared: Traffic,
) -> Job {
    Job {
        load: LoadPlan {
            model: LoadModel::Closed,
            connections,
            connections_max: connections,
            workers: 1,
            connect_timeout_ns: 5_000 * MS,
            timeout_ns: 10_000 * MS,
            seed: 1,
            driver,
            ..LoadPlan::default()
        },
        requests_max: Some(requests),
        to,
        traffic: prepared,
        timeline: Timeline::for_samples(30_000 * MS, 1, 500 * MS),
        cpus: None,
        spin: false,
        way: engine::Way::default(),
        lookup: None,
        scripts: None,
        rows: None,
        recorded: None,
        tls: None,
        part: Part { first: 0, workers: 1 },
    }
}

/// A request whose answer must have status 200 and, where given, this body.
pub(crate) fn prepared(method: &str, body: Vec<u8>, answer: Option<&str>) -> Traffic {
    let plan = RequestPlan { method: method.into(), path: "/".into(), headers: vec![], body };
    Traffic::single(&plan, "localhost", Check::new(&[200], answer.map(|body| body.into()))).unwrap()
}

/// Makes the load and returns the sum of all intervals; nothing may be lost.
pub(crate) fn run(job: &Job) -> Result<IntervalData, EngineError> {
    finish(Generator::start(job)?)
}

/// The sum of all intervals up to the end of the load, which has begun.
pub(crate) fn sum(generator: &mut Generator) -> Result<IntervalData, EngineError> {
    let mut sum = IntervalData::default();
    loop {
        match generator.next(Duration::from_secs(20))? {
            Step::Interval(data) => sum.merge(data),
            Step::Waiting => panic!("the engine went silent"),
            Step::Ended => return Ok(sum),
        }
    }
}

/// Begins and ends a load whose connections are open.
pub(crate) fn finish(mut generator: Generator) -> Result<IntervalData, EngineError> {
    generator.begin(Some(0));
    let sum = sum(&mut generator)?;
    let account = sum.counts.measured;
    assert!(account.balances(), "{account:?}");
    assert_eq!(sum.counts.warm.scheduled, 0, "nothing is intended before the first sample");
    assert_eq!(sum.times[Time::Response].len(), account.completed);
    assert!(
        sum.times[Time::Service].is_empty() || sum.times[Time::Service].min() > 0,
        "an answer took no time at all"
    );
    Ok(sum)
}
