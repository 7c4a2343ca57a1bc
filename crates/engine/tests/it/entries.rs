//! Results by request within each interval: over all requests of a scenario they add up to those of the interval, in
//! warm-up, across its border with the samples, and in the drain.

use crate::common::{MS, short_load};
use engine::{Generator, IntervalData, Part, Step, Timeline};
use request::Traffic;
use schema::arrival::ArrivalPlan;
use schema::experiment::{LoadModel, Reference};
use schema::load::Time;
use schema::plan::{DriverChoice, EntryPlan, ExpectPlan, RequestPlan, ScenarioPlan};
use std::time::Duration;
use testkit::reference::{Law, ReferenceServer};
use units::{Nanos, Seed};

const WARM_UP: u64 = 3;

/// Three requests, of which the last always fails its check.
fn mix() -> Traffic {
    let entry = |(name, weight, status): (&str, f64, u16)| EntryPlan {
        name: name.into(),
        weight,
        request: RequestPlan { method: "GET".into(), path: "/ping".into(), ..RequestPlan::default() },
        expect: ExpectPlan { status: vec![status], ..ExpectPlan::default() },
        ..EntryPlan::default()
    };
    let requests = [("often", 3.0, 200), ("seldom", 1.0, 200), ("wrong", 1.0, 418)].map(entry).into();
    let scenario = ScenarioPlan { name: "mix".into(), requests, ..ScenarioPlan::default() };
    Traffic::new(&scenario, "localhost", Seed(1), &[]).unwrap()
}

/// The intervals of a load of two workers that has requests in flight at every border.
fn intervals(driver: DriverChoice) -> Vec<IntervalData> {
    let law = Reference { mean: Some(Nanos::from_millis(20)), servers: Some(64), ..Reference::default() };
    let server = ReferenceServer::start(Law::try_from(&law).unwrap()).unwrap();
    let mut job = short_load(server.addr(), driver, 32, 0, mix());
    job.requests_max = None;
    job.load.model = LoadModel::Open;
    (job.load.rate_per_s, job.load.arrivals) = (Some(600.0), Some(ArrivalPlan::Constant));
    job.load.workers = 2;
    job.part = Part::whole(&job.load);
    job.timeline = Timeline { interval_ns: 100 * MS, measured_intervals: 5, drain_ns: 500 * MS };
    let mut generator = Generator::start(&job).unwrap();
    generator.begin(Some(WARM_UP));
    let mut intervals = Vec::new();
    loop {
        match generator.next(Duration::from_secs(20)).unwrap() {
            Step::Interval(data) => intervals.push(data.clone()),
            Step::Waiting => panic!("the engine went silent"),
            Step::Ended => return intervals,
        }
    }
}

#[test]
fn over_all_requests_they_are_those_of_the_interval() {
    for driver in engine::drivers() {
        let intervals = intervals(driver);
        assert_eq!(intervals.len(), 9, "warm-up, samples and the drain");
        for data in &intervals {
            let (index, counts) = (data.counts.index, &data.counts);
            let sum = |of: fn(&engine::EntryData) -> u64| data.entries.iter().map(of).sum::<u64>();
            assert_eq!(sum(|entry| entry.answers), counts.answers, "{index}");
            let failed = counts.warm.failed_total() + counts.measured.failed_total();
            assert_eq!(sum(|entry| entry.failures), failed, "{index}");
            assert_eq!(sum(|entry| entry.response.len()), data.times[Time::Response].len(), "{index}");
            if index < WARM_UP + 5 {
                assert!(data.entries.iter().take(2).all(|entry| entry.answers > 0), "{index}: {counts:?}");
            }
        }
        let first = &intervals[WARM_UP as usize];
        assert!(
            first.counts.answers > first.times[Time::Response].len(),
            "requests of the warm-up are answered in the first sample, and have no times there"
        );
        let samples = &intervals[WARM_UP as usize..];
        let measured = |of: fn(&engine::Account) -> u64| -> u64 {
            samples.iter().flat_map(|data| &data.entries).map(|entry| of(&entry.account)).sum()
        };
        let all: u64 = samples.iter().map(|data| data.counts.measured.scheduled).sum();
        assert_eq!(measured(|account| account.scheduled), all, "the totals are of the samples alone");
        assert_eq!(
            measured(|account| account.completed + account.failed_total() + account.censored),
            all,
            "and none of them is lost"
        );
    }
}
