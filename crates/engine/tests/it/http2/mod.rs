//! The engine over HTTP/2 on every driver, against a server of another make and against scripted ones: counts, classes, limits;
//! nothing is lost.

pub(crate) mod calls;
mod fair;
mod faults;
mod hostile;
mod leaving;
mod over_tls;
mod redirects;
mod reference;
pub(crate) mod server;
mod streams;
mod waits;

use crate::common::{MS, prepared, short_load};
use engine::{Generator, IntervalData, Job};
use request::Traffic;
use schema::experiment::LoadModel;
use schema::plan::{DriverChoice, HttpVersion};
use std::net::SocketAddr;

/// Does the same on every driver that this kernel has.
fn on_every_driver(test: impl Fn(DriverChoice)) {
    for driver in engine::drivers() {
        test(driver);
    }
}

/// A closed load over HTTP/2: so many connections with so many streams each.
fn closed(to: SocketAddr, driver: DriverChoice, (connections, streams): (u32, u32), requests: u64) -> Job {
    let mut job = short_load(to, driver, connections, requests, get());
    (job.load.connection.http, job.load.connection.streams) = (HttpVersion::V2, streams);
    job
}

/// An open load of `requests` arrivals, evenly within half a second.
fn open(to: SocketAddr, driver: DriverChoice, shape: (u32, u32), requests: u64) -> Job {
    let mut job = closed(to, driver, shape, requests);
    job.load.model = LoadModel::Open;
    job.load.rate_per_s = Some(requests as f64 * 2.0);
    job.load.arrivals = Some(schema::arrival::ArrivalPlan::Constant);
    job.timeline = engine::Timeline::for_samples(600 * MS, 1, 5_000 * MS);
    job
}

/// A request without a body; any answer with status 200 is right.
fn get() -> Traffic {
    prepared("GET", Vec::new(), None)
}

/// Makes the load to its end; every account balances.
fn run(job: &Job) -> IntervalData {
    crate::common::finish(Generator::start(job).unwrap()).unwrap()
}

/// Scheduled, completed, failed and censored requests.
fn ends(sum: &IntervalData) -> [u64; 4] {
    let account = sum.counts.measured;
    [account.scheduled, account.completed, account.failed_total(), account.censored]
}
