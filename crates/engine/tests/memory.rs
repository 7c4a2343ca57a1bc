//! What an idle connection costs the generator, on every driver. A test binary of its own: no other test's memory may
//! stand beside it.

use engine::{Generator, Job, Part, Step, Timeline};
use request::{Check, Traffic};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use schema::arrival::ArrivalPlan;
use schema::experiment::{LoadModel, Reference};
use schema::plan::{DriverChoice, LoadPlan, RequestPlan};
use std::net::SocketAddr;
use std::time::Duration;
use testkit::reference::{Law, ReferenceServer};

const FEW: u32 = 100;
const MANY: u32 = 5000;
/// Per idle connection, beyond the kernel's.
const BYTES_MAX: u64 = 2048;

fn rss_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.split_whitespace().next().unwrap().parse::<u64>().unwrap() * 1024
}

/// Resident memory of this process while `connections` idle, but for one request a second.
fn rss_with(connections: u32, driver: DriverChoice, to: SocketAddr) -> u64 {
    let plan = RequestPlan { method: "GET".into(), path: "/ping".into(), headers: vec![], body: vec![] };
    let load = LoadPlan {
        model: LoadModel::Open,
        rate_per_s: Some(1.0),
        arrivals: Some(ArrivalPlan::Constant),
        connections,
        connections_max: connections,
        driver,
        workers: 1,
        connect_timeout_ns: 20_000_000_000,
        timeout_ns: 2_000_000_000,
        ..LoadPlan::default()
    };
    let mut generator = Generator::start(&Job {
        part: Part::whole(&load),
        load,
        requests_max: None,
        way: engine::Way::default(),
        lookup: None,
        scripts: None,
        rows: None,
        recorded: None,
        tls: None,
        to,
        traffic: Traffic::single(&plan, "localhost", Check::new(&[200], None)).unwrap(),
        timeline: Timeline { interval_ns: 100_000_000, measured_intervals: 100, drain_ns: 0 },
        cpus: None,
        spin: false,
    })
    .unwrap();
    assert_eq!(generator.connections().1, u64::from(connections));
    generator.begin(Some(0));
    for _ in 0..2 {
        let step = generator.next(Duration::from_secs(20)).unwrap();
        assert!(matches!(step, Step::Interval(_)));
    }
    rss_bytes()
}

#[test]
fn an_idle_connection_costs_little() {
    let limit = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
    if limit.maximum.is_some_and(|most| most < u64::from(MANY) * 2 + 100) {
        println!("skipped: both ends of {MANY} connections need more descriptors than {limit:?}");
        return;
    }
    let server = ReferenceServer::start(Law::try_from(&Reference::default()).unwrap()).unwrap();
    for driver in engine::drivers() {
        let few = rss_with(FEW, driver, server.addr());
        let many = rss_with(MANY, driver, server.addr());
        let each = many.saturating_sub(few) / u64::from(MANY - FEW);
        println!("{}: {each} bytes for an idle connection, the server's part included", driver.key());
        assert!(each <= BYTES_MAX, "{}: {each} bytes", driver.key());
    }
}
