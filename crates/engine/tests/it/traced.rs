//! Traces on the wire: what a server reads in the header `traceparent` is what seed and number of the request say, over
//! both versions of HTTP, on every driver, with any number of workers; and the requests that stand out are those that the
//! server made stand out.

use crate::common::{MS, run, short_load};
use crate::http2::calls;
use crate::http2::server::{Reply, Server, Setup, Talk};
use engine::{IntervalData, Job, Notable, Part};
use request::Traffic;
use schema::load::{ErrorClass, Time};
use schema::plan::{
    CallPlan, DriverChoice, EntryPlan, ExpectPlan, HttpVersion, RequestPlan, ScenarioPlan, StreamPlan,
    Streaming,
};
use schema::traced::TracePlan;
use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use units::Seed;

const TRACE: TracePlan = TracePlan { share: 0.2, seed: 1 };
const REQUESTS: u64 = 400;

/// A request as a server of another make saw it.
type Reading = fn(u64) -> Answer;

/// What that server does with a request.
#[derive(Clone, Copy)]
enum Answer {
    At(Duration),
    Status(u16),
}

/// A server of HTTP/1.1 on threads of its own, which notes every `traceparent` that it reads. It ends with its process.
fn server(reading: Reading) -> (SocketAddr, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = listener.local_addr().unwrap();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let notes = seen.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let notes = notes.clone();
            std::thread::spawn(move || serve(&stream, &notes, reading));
        }
    });
    (addr, seen)
}

fn serve(stream: &TcpStream, notes: &Mutex<Vec<String>>, reading: Reading) {
    let lines = BufReader::new(stream).lines().map_while(Result::ok);
    let mut trace = None;
    for line in lines {
        if let Some(value) = line.strip_prefix("traceparent: ") {
            trace = Some(value.to_owned());
        }
        if !line.is_empty() {
            continue;
        }
        let status = match reading(trace.as_deref().map_or(u64::MAX, number)) {
            Answer::At(after) => {
                std::thread::sleep(after);
                200
            }
            Answer::Status(status) => status,
        };
        notes.lock().unwrap().extend(trace.take());
        let answer = format!("HTTP/1.1 {status} x\r\nContent-Length: 0\r\n\r\n");
        if (&*stream).write_all(answer.as_bytes()).is_err() {
            return;
        }
    }
}

/// The number of the request that carries this header; `u64::MAX` for none of the load's.
fn number(trace: &str) -> u64 {
    let tracing = TRACE.tracing();
    (0..REQUESTS).find(|number| tracing.context(*number).to_string() == trace).unwrap_or(u64::MAX)
}

/// What every request of the load carries.
fn expected() -> BTreeSet<String> {
    (0..REQUESTS).map(|number| TRACE.tracing().context(number).to_string()).collect()
}

fn traced(entry: EntryPlan) -> Traffic {
    let scenario = ScenarioPlan { name: "traced".into(), requests: vec![entry], ..ScenarioPlan::default() };
    Traffic::traced(&scenario, "h", Seed(1), &[], Some(TRACE.tracing())).unwrap()
}

fn get() -> EntryPlan {
    let request = RequestPlan { method: "GET".into(), path: "/".into(), ..RequestPlan::default() };
    let expect = ExpectPlan { status: vec![200], ..ExpectPlan::default() };
    EntryPlan { name: "get".into(), weight: 1.0, request, expect, ..EntryPlan::default() }
}

fn job(to: SocketAddr, driver: DriverChoice, workers: u32, entry: EntryPlan) -> Job {
    let mut job = short_load(to, driver, 8, REQUESTS, traced(entry));
    job.load.trace = Some(TRACE);
    job.load.workers = workers;
    job.part = Part::whole(&job.load);
    job
}

fn over_http2(mut job: Job) -> Job {
    (job.load.connection.http, job.load.connection.streams) = (HttpVersion::V2, 4);
    job
}

fn numbers(of: &[Notable]) -> Vec<u64> {
    of.iter().map(|one| one.request).collect()
}

fn agree(what: &str, seen: &Mutex<Vec<String>>) {
    let seen = seen.lock().unwrap();
    assert_eq!(seen.len() as u64, REQUESTS, "{what}: a header each");
    assert_eq!(seen.iter().cloned().collect::<BTreeSet<_>>(), expected(), "{what}");
}

#[test]
fn a_server_reads_the_trace_of_every_request_over_both_versions_whatever_the_workers() {
    let sampled = expected().iter().filter(|trace| trace.ends_with("-01")).count() as u64;
    // Six standard deviations of a binomial count.
    assert!(sampled.abs_diff(REQUESTS / 5) < 48, "{sampled}");
    for driver in engine::drivers() {
        for workers in [1, 8] {
            let (addr, seen) = server(|_| Answer::At(Duration::ZERO));
            let sum = run(&job(addr, driver, workers, get())).unwrap();
            assert_eq!(sum.counts.measured.completed, REQUESTS);
            agree("HTTP/1.1", &seen);
            let server = Server::start(Setup::default());
            let sum = run(&over_http2(job(server.addr, driver, workers, get()))).unwrap();
            assert_eq!(sum.counts.measured.completed, REQUESTS);
            agree("HTTP/2", &server.seen.traces);
        }
    }
}

#[test]
fn calls_carry_their_trace_as_metadata_and_streams_once() {
    let call = |stream| CallPlan { status: vec![0], stream, ..CallPlan::default() };
    let reply = |_| Reply {
        status: 200,
        fields: vec![("content-type", "application/grpc")],
        body: vec![calls::MESSAGE.to_vec()],
        trailers: vec![("grpc-status", "0")],
        ..Reply::default()
    };
    let both = StreamPlan { streaming: Streaming::Both, messages: Some(3), ..StreamPlan::default() };
    for driver in engine::drivers() {
        let unary = Server::start(Setup { script: Some(reply), ..Setup::default() });
        let echo = Server::start(Setup { talk: Some(Talk::Echo), ..Setup::default() });
        for (what, server, stream) in [("unary", &unary, None), ("stream", &echo, Some(both))] {
            let sum = run(&over_http2(job(server.addr, driver, 2, calls::entry(call(stream))))).unwrap();
            assert_eq!(sum.counts.measured.completed, REQUESTS, "{what}");
            agree(what, &server.seen.traces);
        }
    }
}

#[test]
fn planted_slow_requests_are_the_slowest_and_the_first_failures_are_found() {
    // Each slower than the one before it; no two at a time are in each other's way.
    let reading: Reading = |number| match number {
        17 | 117 | 217 => Answer::At(Duration::from_millis(200 + number)),
        40 | 41 | 300 => Answer::Status(503),
        _ => Answer::At(Duration::ZERO),
    };
    for driver in engine::drivers() {
        for workers in [1, 4] {
            let (addr, _) = server(reading);
            let sum = run(&job(addr, driver, workers, get())).unwrap();
            let slowest = sum.notables.slowest();
            assert_eq!(
                (slowest.len(), &numbers(slowest)[..3]),
                (8, &[217, 117, 17][..]),
                "{driver:?} {workers}"
            );
            let max = sum.times[Time::Response].max();
            assert!(max.abs_diff(slowest[0].response_ns()) * 500 <= max, "{max}: the histogram's longest");
            let failures = sum.notables.failures();
            assert_eq!(numbers(failures).into_iter().collect::<BTreeSet<_>>(), [40, 41, 300].into());
            assert!(failures.is_sorted_by_key(|one| one.done_ns));
            assert!(failures.iter().all(|one| {
                (one.status, one.class) == (503, Some(ErrorClass::UnexpectedStatus))
                    && one.written_ns.is_some()
            }));
            check_sampled(&sum);
        }
    }
}

/// The lists of sampled requests hold sampled ones only, and all that the other lists have of them.
fn check_sampled(sum: &IntervalData) {
    let is_sampled = |one: &&Notable| TRACE.tracing().is_sampled(one.request);
    let of = &sum.notables;
    for (all, sampled) in [(of.slowest(), of.slowest_sampled()), (of.failures(), of.failures_sampled())] {
        assert!(sampled.iter().all(|one| is_sampled(&one)));
        assert!(all.iter().filter(is_sampled).all(|one| sampled.contains(one)));
    }
    assert_eq!(of.slowest_sampled().len(), 8);
}

#[test]
fn without_traces_numbers_are_kept_all_the_same() {
    let (addr, seen) = server(|_| Answer::At(Duration::ZERO));
    let plain = RequestPlan { method: "GET".into(), path: "/".into(), ..RequestPlan::default() };
    let traffic = Traffic::single(&plain, "h", request::Check::new(&[200], None)).unwrap();
    let sum = run(&short_load(addr, DriverChoice::Epoll, 2, 50, traffic)).unwrap();
    assert_eq!((sum.notables.slowest().len(), sum.notables.slowest_sampled().len()), (8, 0));
    assert!(seen.lock().unwrap().is_empty(), "no header without traces");
    assert!(sum.notables.slowest()[0].response_ns() < 30_000 * MS);
}
