//! Opening connections where the listener takes few or none of them, on every driver: every attempt is real and
//! counted, and those that can only time out do so together.

use crate::common::{MS, prepared, short_load};
use engine::{EngineError, Generator, Job};
use rustix::net::{AddressFamily, SocketType, bind, getsockname, listen, socket};
use schema::experiment::Reference;
use schema::load::ErrorClass::ConnectTimeout;
use schema::plan::DriverChoice;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::time::Duration;
use testkit::fault::{Fault, FaultServer, Pattern, Spec};
use testkit::reference::{Law, ReferenceServer};

const CONNECTIONS: u32 = 350;
/// More than are ever under way at once where a listener answers.
const TOGETHER: usize = 200;

fn job(to: SocketAddr, driver: DriverChoice) -> Job {
    let mut job = short_load(to, driver, CONNECTIONS, 1, prepared("GET", vec![], None));
    job.load.connect_timeout_ns = 2000 * MS;
    job
}

/// Connection attempts to this port that the system has under way: state 02 in `/proc/net/tcp`, whose third field is
/// the remote address and fourth the state, both hexadecimal.
fn attempts_to(port: u16) -> usize {
    let remote = format!(":{port:04X}");
    let table = std::fs::read_to_string("/proc/self/net/tcp").unwrap();
    let is_ours = |line: &&str| {
        let mut fields = line.split_whitespace().skip(2);
        fields.next().is_some_and(|to| to.ends_with(&remote)) && fields.next() == Some("02")
    };
    table.lines().filter(is_ours).count()
}

/// Starts the load; returns also the most attempts that were seen under way at once.
fn start(job: &Job) -> (Result<Generator, EngineError>, usize) {
    std::thread::scope(|scope| {
        let starting = scope.spawn(|| Generator::start(job));
        let mut most = 0;
        while !starting.is_finished() {
            most = most.max(attempts_to(job.to.port()));
            std::thread::sleep(Duration::from_millis(20));
        }
        (starting.join().unwrap(), most)
    })
}

#[test]
fn the_opening_tells_how_far_it_is() {
    for driver in engine::drivers() {
        let law = Law::try_from(&Reference::default()).unwrap();
        let server = ReferenceServer::start(law).unwrap();
        let mut job = job(server.addr(), driver);
        (job.load.connections, job.load.connections_max) = (60, 60);
        // A ramp that takes several looks.
        job.load.connection.ramp_per_s = Some(60.0);
        let mut seen = Vec::new();
        let generator = Generator::start_watched(&job, &mut |opened| seen.push(opened)).unwrap();
        assert_eq!(generator.connections(), (60, 60));
        assert!(seen.is_sorted() && seen.iter().all(|opened| *opened <= 60), "{seen:?}");
        assert!(seen.iter().any(|opened| (1..60).contains(opened)), "{seen:?}");
    }
}

#[test]
fn where_none_is_taken_all_wait_together_and_time_out() {
    for driver in engine::drivers() {
        let full = Spec::new(Fault::AcceptQueueFull, Pattern::Always).unwrap();
        let server = FaultServer::start(full).unwrap();
        let (result, most) = start(&job(server.addr(), driver));
        match result {
            Err(EngineError::NothingConnected { asked, failures, .. }) => {
                assert_eq!(asked, u64::from(CONNECTIONS));
                assert_eq!(failures, BTreeMap::from([(ConnectTimeout, asked)]), "{driver:?}");
            }
            other => panic!("{driver:?}: {other:?}"),
        }
        assert!(most > TOGETHER, "{driver:?}: {most} attempts under way at most");
    }
}

/// A listener that nobody accepts from: its queue takes about `places` connections.
fn listener_with(places: i32) -> (OwnedFd, SocketAddr) {
    let listener = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
    bind(&listener, &SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
    listen(&listener, places).unwrap();
    let addr = SocketAddr::try_from(getsockname(&listener).unwrap()).unwrap();
    (listener, addr)
}

#[test]
fn where_some_are_taken_the_others_wait_together_and_all_are_counted() {
    for driver in engine::drivers() {
        let (_listener, addr) = listener_with(19);
        let (generator, most) = start(&job(addr, driver));
        let generator = generator.unwrap();
        let (asked, open) = generator.connections();
        assert!(
            asked == u64::from(CONNECTIONS) && (20..100).contains(&open),
            "{driver:?}: {open} of {asked}"
        );
        let failures = &generator.setup_failures().by_class;
        assert_eq!(*failures, BTreeMap::from([(ConnectTimeout, asked - open)]), "{driver:?}");
        assert!(most > TOGETHER, "{driver:?}: {most} attempts under way at most");
    }
}
