//! What an idle connection over TLS keeps allocated, on every driver. A test binary of its own with a counting
//! allocator; the server is a process of its own, so that nothing of it is counted.
//!
//! Nearly all of it is rustls' (0.23.46, TLS 1.3): its connection 0.9 KiB, two keys 1.1 KiB, places for handshake
//! fragments 0.6 KiB, the server's certificate 0.6 KiB, the traffic state 0.4 KiB. None of these can be given back
//! while the session lives; this test is there so that nothing of our own comes on top.

#[path = "it/common/mod.rs"]
mod common;

use common::tls::plan;
use common::{MS, prepared, short_load};
use engine::{Generator, Roots, Step, Tls};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use schema::arrival::ArrivalPlan;
use schema::experiment::{LoadModel, Reference};
use schema::plan::DriverChoice;
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};
use std::alloc::System;
use std::io::{BufRead, BufReader, Lines, Read};
use std::net::SocketAddr;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;
use testkit::certs::Pki;
use testkit::reference::{Law, ReferenceServer};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// More than are opened at once, so that the buffers of handshakes under way are the same for both.
const FEW: u32 = 200;
const MANY: u32 = 1000;
/// Per idle connection, beyond the kernel's: 4,344 to 4,371 bytes were measured, 48 of them for the deadline queue of
/// ADR 0012. A buffer for one record, kept, would add 16 KiB.
const BYTES_MAX: usize = 4416;
/// Set in the process that is the server.
const SERVES: &str = "PRONY_TEST_SERVES";
const MARK: &str = "listening on ";

/// The server of the test below, where it has started this process for that.
#[test]
fn serve_where_asked() {
    if std::env::var_os(SERVES).is_none() {
        return;
    }
    let pki = Pki::new().unwrap();
    let config = pki.server_config(pki.server(), false, &[b"http/1.1"]).unwrap();
    let law = Law::try_from(&Reference::default()).unwrap();
    let server = ReferenceServer::start_with(law, Some(config)).unwrap();
    println!("\n{MARK}{}", server.addr());
    // Until the test that asked for it closes the pipe, or is gone.
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
}

struct Server {
    child: Child,
    addr: SocketAddr,
    /// Kept open: the process tells at its end that its test was passed.
    _said: Lines<BufReader<ChildStdout>>,
}

impl Server {
    fn start() -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["serve_where_asked", "--exact", "--nocapture"])
            .env(SERVES, "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let addr = lines.find_map(|line| line.unwrap().strip_prefix(MARK)?.parse().ok()).unwrap();
        Self { child, addr, _said: lines }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

fn allocated_bytes() -> usize {
    let stats = ALLOCATOR.stats();
    stats.bytes_allocated - stats.bytes_deallocated
}

/// Bytes allocated by this process while `connections` idle that have each served once.
fn allocated_with(connections: u32, driver: DriverChoice, version: &str, to: SocketAddr) -> usize {
    let mut job = short_load(to, driver, connections, 0, prepared("GET", vec![], None));
    job.load.model = LoadModel::Open;
    job.load.rate_per_s = Some(1.0);
    job.load.arrivals = Some(ArrivalPlan::Constant);
    job.load.connect_timeout_ns = 20_000 * MS;
    job.requests_max = None;
    job.timeline.interval_ns = 100 * MS;
    let plan = plan(|plan| {
        plan.verify = false;
        plan.versions = vec![version.to_owned()];
    });
    job.tls = Some(Tls::new(&plan, Roots::Given(Vec::new()), None).unwrap());
    let mut generator = Generator::start(&job).unwrap();
    assert_eq!(generator.connections().1, u64::from(connections));
    generator.begin(Some(0));
    for _ in 0..2 {
        let step = generator.next(Duration::from_secs(20)).unwrap();
        assert!(matches!(step, Step::Interval(_)));
    }
    allocated_bytes()
}

#[test]
fn an_idle_connection_keeps_little() {
    let limit = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
    if limit.maximum.is_some_and(|most| most < u64::from(MANY) + 100) {
        println!("skipped: {MANY} connections need more descriptors than {limit:?}");
        return;
    }
    let server = Server::start();
    for driver in engine::drivers() {
        for version in ["1.2", "1.3"] {
            let mut tries = [(); 3].map(|()| {
                let few = allocated_with(FEW, driver, version, server.addr);
                let many = allocated_with(MANY, driver, version, server.addr);
                (many - few) / (MANY - FEW) as usize
            });
            tries.sort_unstable();
            // A histogram takes memory with its first time, and on a host that stands still handshakes are not over: by
            // chance a load has more. What every connection keeps is in each of them.
            let each = tries[0];
            println!("{}, TLS {version}: {each} bytes for an idle connection", driver.key());
            assert!(each <= BYTES_MAX, "{}, TLS {version}: {each} bytes", driver.key());
        }
    }
}
