//! A load of several origins: every request reaches its own, on every driver, in closed and open loops; nothing is
//! lost, and no seat has two requests at a time.

use crate::common::{MS, run, short_load};
use engine::{IntervalData, Job, Part, Timeline, Way};
use request::Traffic;
use schema::arrival::ArrivalPlan;
use schema::experiment::LoadModel;
use schema::load::ErrorClass;
use schema::plan::{
    BodyExpectation, DriverChoice, EntryPlan, ExpectPlan, LoadPlan, RequestPlan, ScenarioPlan,
};
use std::net::{SocketAddr, TcpListener};
use testkit::script::{Act, Scripted};
use units::Seed;

/// An entry whose right answer is the body `name`.
fn entry(name: &str, weight: f64) -> EntryPlan {
    EntryPlan {
        name: name.into(),
        weight,
        request: RequestPlan { method: "GET".into(), path: format!("/{name}"), ..RequestPlan::default() },
        expect: ExpectPlan {
            status: vec![200],
            body: BodyExpectation::Exact(name.into()),
            ..ExpectPlan::default()
        },
        ..EntryPlan::default()
    }
}

fn answer(name: &str) -> String {
    format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{name}", name.len())
}

/// One that keeps connections, one that closes each with its answer and says so, one whose answers come byte by byte.
fn servers() -> [Scripted; 3] {
    let closing = answer("closes").replace("OK\r\n", "OK\r\nConnection: close\r\n");
    [
        vec![Act::AwaitRequest, Act::send(&answer("keeps")), Act::Again],
        vec![Act::AwaitRequest, Act::send(&closing), Act::Close],
        vec![Act::AwaitRequest, Act::Drip(answer("drips").into_bytes()), Act::Again],
    ]
    .map(Scripted::start)
}

/// A mix of `keeps`, `closes`, `drips` and `keeps again`, which goes where the first does.
fn mix() -> Traffic {
    let again = EntryPlan { name: "keeps again".into(), ..entry("keeps", 1.0) };
    let requests = vec![entry("keeps", 2.0), entry("closes", 1.0), entry("drips", 1.0), again];
    let scenario = ScenarioPlan { name: "mix".into(), requests, ..ScenarioPlan::default() };
    Traffic::new(&scenario, "localhost", Seed(1), &[]).unwrap()
}

fn job(to: &[SocketAddr], driver: DriverChoice, load: impl FnOnce(&mut LoadPlan)) -> Job {
    let mut job = short_load(to[0], driver, 6, 400, mix());
    job.load.workers = 2;
    job.load.timeout_ns = 5_000 * MS;
    load(&mut job.load);
    job.part = Part::whole(&job.load);
    job.way = Way { further: to[1..].to_vec(), origin_of: vec![0, 1, 2, 0], ..Way::default() };
    job
}

fn completed(sum: &IntervalData, entry: usize) -> u64 {
    sum.entries[entry].account.completed
}

fn drivers(test: impl Fn(DriverChoice)) {
    for driver in engine::drivers() {
        test(driver);
    }
}

#[test]
fn in_a_closed_loop_each_request_reaches_its_origin() {
    drivers(|driver| {
        let servers = servers();
        let to = servers.each_ref().map(Scripted::addr);
        let sum = run(&job(&to, driver, |_| ())).unwrap();
        assert_eq!(sum.counts.measured.completed, 400, "{driver:?}: {:?}", sum.examples);
        let seen = servers.each_ref().map(Scripted::requests);
        assert_eq!(seen, [completed(&sum, 0) + completed(&sum, 3), completed(&sum, 1), completed(&sum, 2)]);
        assert!(seen.iter().all(|count| *count > 40), "{seen:?}");
        // A seat has at most one request at a time, whatever connections it holds.
        let length_ns: u64 = sum.counts.end_ns - sum.counts.start_ns;
        assert!(sum.counts.in_system_ns <= 6 * length_ns, "more than 6 requests at a time");
        // The connections of those that keep them were opened ahead, 6 each, and stayed.
        let closing = completed(&sum, 1);
        assert!(
            (12 + closing..=18 + closing).contains(&sum.counts.connects),
            "{} connects",
            sum.counts.connects
        );
    });
}

#[test]
fn in_an_open_loop_each_arrival_reaches_its_origin() {
    drivers(|driver| {
        let servers = servers();
        let to = servers.each_ref().map(Scripted::addr);
        let mut job = job(&to, driver, |load| {
            load.model = LoadModel::Open;
            load.rate_per_s = Some(500.0);
            load.arrivals = Some(ArrivalPlan::Poisson);
        });
        job.requests_max = None;
        job.timeline = Timeline::for_samples(600 * MS, 1, 2_000 * MS);
        let sum = run(&job).unwrap();
        let account = sum.counts.measured;
        assert!(account.scheduled > 200, "{account:?}");
        assert_eq!(account.failed_total(), 0, "{driver:?}: {:?}", sum.examples);
        let seen = servers.each_ref().map(Scripted::requests);
        // What was censored was in flight at the end or never sent: a server may or may not have met it.
        let met = account.completed..=account.completed + account.censored;
        assert!(met.contains(&seen.iter().sum::<u64>()), "{driver:?}: {seen:?} of {account:?}");
        assert!(seen.iter().all(|count| *count > 20), "{seen:?}");
    });
}

#[test]
fn an_origin_that_refuses_fails_only_its_own_requests() {
    drivers(|driver| {
        let [keeps, closes, _] = servers();
        let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let to = [keeps.addr(), closes.addr(), nobody];
        let mut job = job(&to, driver, |_| ());
        job.requests_max = Some(60);
        let sum = run(&job).unwrap();
        let failed: Vec<u64> = sum.entries.iter().map(|entry| entry.account.failed_total()).collect();
        let account = sum.counts.measured;
        assert_eq!(account.scheduled, 60);
        assert_eq!(failed, [0, 0, sum.entries[2].account.scheduled, 0], "{driver:?}: {:?}", sum.examples);
        assert_eq!(account.failed[ErrorClass::Refused.index()], failed[2]);
        assert!(failed[2] > 0 && completed(&sum, 1) == closes.requests());
    });
}
