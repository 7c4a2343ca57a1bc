//! The engine against servers whose truth is known, on every driver: counts, classes, censoring, lateness; nothing
//! is lost.

use crate::common::{MS, run};
use engine::{EngineError, Generator, IntervalData, Job, Lookup, Part, Step, Timeline};
use request::{Check, Traffic};
use schema::arrival::ArrivalPlan;
use schema::experiment::{LoadModel, Reference, ServiceLaw};
use schema::load::{ErrorClass, Time};
use schema::plan::{DriverChoice, LoadPlan, RequestPlan};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::net::{SocketAddr, TcpListener};
use std::time::Duration;
use testkit::reference::{Law, ReferenceServer};
use testkit::script::{Act, Scripted};
use units::Nanos;

thread_local! {
    /// The driver that this test is about.
    static DRIVER: Cell<DriverChoice> = const { Cell::new(DriverChoice::Auto) };
}

/// Every test below runs on every driver; one that this kernel lacks is skipped, and says so.
macro_rules! on_every_driver {
    ($($name:ident),* $(,)?) => {
        mod epoll { $(#[test] fn $name() { super::on(super::DriverChoice::Epoll, super::$name); })* }
        mod io_uring { $(#[test] fn $name() { super::on(super::DriverChoice::IoUring, super::$name); })* }
    };
}

fn on(driver: DriverChoice, test: fn()) {
    if !engine::drivers().contains(&driver) {
        println!("skipped: this kernel has no {}", driver.key());
        return;
    }
    DRIVER.set(driver);
    test();
}

on_every_driver!(
    connections_end_when_the_plan_says,
    pipelined_requests_are_answered_in_order_and_all_counted,
    requests_behind_a_closed_connection_fail_and_nothing_is_lost,
    an_open_load_grows_to_its_ceiling_and_not_beyond,
    what_misses_its_deadline_is_shed_with_its_own_class,
    connections_come_from_the_sources_in_turn,
    a_unix_socket_is_loaded_like_any_other,
    socket_options_are_taken_by_the_kernel,
    names_are_resolved_for_every_connection_and_timed,
    a_large_request_is_sent_whole_in_parts,
    the_parts_of_a_requests_life_add_up,
    what_was_sent_is_stamped_in_the_open_loop,
    many_workers_share_one_drawing_and_send_its_arrivals,
    a_request_budget_is_met_exactly_and_the_server_agrees,
    the_rate_is_the_total_and_exact_over_workers,
    every_failure_has_its_class_and_the_next_request_is_right,
    wrong_answers_are_counted_among_good_ones,
    nobody_listening_is_told_before_anything_is_sent,
    a_listener_that_goes_away_refuses_and_nothing_is_lost,
    what_is_unsent_or_in_flight_at_the_end_is_censored,
    a_stop_ends_the_load_at_once_with_everything_accounted_for,
    total_time_outs_reach_requests_that_wait_for_a_connection,
    warm_up_is_kept_out_of_the_samples,
    a_freeze_shows_in_response_time_and_is_told_apart_from_service_time_and_lag,
    the_integral_of_requests_in_the_system_is_the_sum_of_their_times,
    the_identity_of_residence_spares_no_outcome,
    connections_that_nobody_accepts_time_out_with_their_class,
    answers_to_all_connections_at_once_all_arrive,
);

fn reference(change: impl FnOnce(&mut Reference)) -> ReferenceServer {
    let mut file = Reference::default();
    change(&mut file);
    ReferenceServer::start(Law::try_from(&file).unwrap()).unwrap()
}

fn closed(connections: u32) -> LoadPlan {
    LoadPlan {
        model: LoadModel::Closed,
        connections,
        connections_max: connections,
        driver: DRIVER.get(),
        workers: 1,
        connect_timeout_ns: 1000 * MS,
        timeout_ns: 2000 * MS,
        seed: 1,
        ..LoadPlan::default()
    }
}

fn open(connections: u32, rate_per_s: f64, arrivals: ArrivalPlan) -> LoadPlan {
    LoadPlan {
        model: LoadModel::Open,
        rate_per_s: Some(rate_per_s),
        arrivals: Some(arrivals),
        ..closed(connections)
    }
}

fn job(to: SocketAddr, load: LoadPlan, duration_ms: u64, drain_ms: u64) -> Job {
    let plan = RequestPlan { method: "GET".into(), path: "/ping".into(), headers: vec![], body: vec![] };
    let check = Check::new(&[200], Some(br#"{"code":0,"msg":"ok","data":{}}"#.to_vec()));
    let part = Part::whole(&load);
    Job {
        load,
        requests_max: None,
        way: engine::Way::default(),
        lookup: None,
        scripts: None,
        rows: None,
        recorded: None,
        to,
        tls: None,
        traffic: Traffic::single(&plan, "localhost", check).unwrap(),
        timeline: Timeline::for_samples(duration_ms * MS, 1, drain_ms * MS),
        cpus: None,
        spin: false,
        part,
    }
}

/// Sends one request per connection at a time to a script for a short while and states how each must end.
fn check_class(script: Vec<Act>, requests: u64, expected: &[(ErrorClass, u64)], completed: u64) {
    let peer = Scripted::start(script.clone());
    let mut job = job(peer.addr(), closed(1), 5_000, 200);
    job.requests_max = Some(requests);
    job.load.timeout_ns = 100 * MS;
    let sum = run(&job).unwrap_or_else(|error| panic!("{script:?}: {error}"));
    let account = sum.counts.measured;
    assert_eq!(account.failed_by_class(), expected.iter().copied().collect::<BTreeMap<_, _>>(), "{script:?}");
    assert_eq!(
        (account.scheduled, account.completed, account.censored),
        (requests, completed, 0),
        "{script:?}"
    );
    for (class, _) in expected {
        assert!(!sum.examples[class].is_empty(), "{class:?} has no example");
    }
}

const GOOD: &str = "HTTP/1.1 200 OK\r\nContent-Length: 31\r\n\r\n{\"code\":0,\"msg\":\"ok\",\"data\":{}}";

fn a_request_budget_is_met_exactly_and_the_server_agrees() {
    let server = reference(|_| {});
    for (connections, workers, requests) in [(1, 1, 500), (7, 1, 1000), (8, 3, 1001)] {
        let mut job = job(server.addr(), LoadPlan { workers, ..closed(connections) }, 60_000, 0);
        job.requests_max = Some(requests);
        let sum = run(&job).unwrap();
        assert_eq!(sum.counts.measured.completed, requests);
        assert_eq!(sum.status_counts(), BTreeMap::from([(200, requests)]));
        assert_eq!(sum.counts.connects, u64::from(connections));
    }
    let stats = target_stats(server.addr());
    assert!(stats.contains("\"requests\":2501"), "{stats}");
}

fn target_stats(addr: SocketAddr) -> String {
    use std::io::{Read, Write};
    let mut stream = std::net::TcpStream::connect(addr).unwrap();
    stream.write_all(b"GET /stats HTTP/1.1\r\nConnection: close\r\n\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text
}

fn the_rate_is_the_total_and_exact_over_workers() {
    let server = reference(|_| {});
    for workers in [1, 2, 3] {
        // Where the host stands still at the end of the load, what was not sent in time is censored: once in three it does
        // not.
        let all_completed = (0..3).any(|_| {
            let load = LoadPlan { workers, ..open(6, 1000.0, ArrivalPlan::Constant) };
            let account = run(&job(server.addr(), load, 500, 500)).unwrap().counts.measured;
            assert_eq!(account.scheduled, 500, "{workers} workers");
            assert_eq!(account.completed + account.censored, 500, "{workers} workers");
            account.censored == 0
        });
        assert!(all_completed, "{workers} workers");
    }
}

fn every_failure_has_its_class_and_the_next_request_is_right() {
    use Act::{Again, AwaitRequest, Close, Drip, Hold, Reset, Send};
    let send = Act::send;
    check_class(vec![AwaitRequest, send(GOOD), Again], 3, &[], 3);
    check_class(vec![AwaitRequest, Drip(GOOD.into()), Again], 2, &[], 2);
    let last = GOOD.replace("200 OK\r\n", "200 OK\r\nConnection: close\r\n");
    check_class(vec![AwaitRequest, send(&last), Close], 3, &[], 3);
    check_class(vec![AwaitRequest, Close], 3, &[(ErrorClass::PrematureClose, 3)], 0);
    check_class(
        vec![AwaitRequest, send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab"), Close],
        2,
        &[(ErrorClass::PrematureClose, 2)],
        0,
    );
    check_class(vec![AwaitRequest, Reset], 2, &[(ErrorClass::Reset, 2)], 0);
    check_class(vec![AwaitRequest, send("SSH-2.0-x\r\n"), Hold], 2, &[(ErrorClass::Malformed, 2)], 0);
    check_class(
        vec![AwaitRequest, send("HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n"), Again],
        2,
        &[(ErrorClass::UnexpectedStatus, 2)],
        0,
    );
    check_class(
        vec![AwaitRequest, send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nno"), Again],
        2,
        &[(ErrorClass::WrongBody, 2)],
        0,
    );
    check_class(vec![AwaitRequest, Hold], 2, &[(ErrorClass::Timeout, 2)], 0);
    check_class(
        vec![AwaitRequest, send("HTTP/1.1 200 OK\r\nContent-Len"), Hold],
        2,
        &[(ErrorClass::Timeout, 2)],
        0,
    );
    // Bytes after the answer: the answer stands, the connection is replaced.
    let garbage = format!("{GOOD}GARBAGE");
    check_class(vec![AwaitRequest, send(&garbage), Hold], 3, &[], 3);
    // An answer that ends with its connection.
    let close_delimited = GOOD.replace("Content-Length: 31", "X: y");
    check_class(vec![AwaitRequest, Send(close_delimited.into()), Close], 2, &[], 2);
}

fn wrong_answers_are_counted_among_good_ones() {
    let server = reference(|file| (file.error_rate, file.reset_rate) = (Some(0.2), Some(0.1)));
    let mut job = job(server.addr(), closed(4), 60_000, 0);
    job.requests_max = Some(2000);
    let account = run(&job).unwrap().counts.measured;
    let failed = account.failed_by_class();
    // Four standard deviations of the binomial counts.
    assert!((failed[&ErrorClass::UnexpectedStatus] as f64 - 400.0).abs() < 72.0, "{failed:?}");
    assert!((failed[&ErrorClass::Reset] as f64 - 200.0).abs() < 54.0, "{failed:?}");
    assert_eq!(account.completed + account.failed_total(), 2000);
}

fn nobody_listening_is_told_before_anything_is_sent() {
    let addr = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    match run(&job(addr, closed(3), 1000, 0)) {
        Err(EngineError::NothingConnected { asked: 3, failures, .. }) => {
            assert_eq!(failures, BTreeMap::from([(ErrorClass::Refused, 3)]));
        }
        other => panic!("{other:?}"),
    }
}

fn a_listener_that_goes_away_refuses_and_nothing_is_lost() {
    let peer = Scripted::start(vec![Act::AwaitRequest, Act::send(GOOD), Act::Close]);
    let mut job = job(peer.addr(), open(1, 200.0, ArrivalPlan::Constant), 1000, 100);
    job.spin = true;
    let mut generator = Generator::start(&job).unwrap();
    generator.begin(Some(0));
    // The peer leaves once it has answered some; what comes after is refused.
    while peer.requests() < 20 {
        std::thread::yield_now();
    }
    drop(peer);
    let sum = crate::common::sum(&mut generator).unwrap();
    let account = sum.counts.measured;
    assert!(account.balances());
    assert_eq!(account.scheduled, 200);
    assert!(account.failed_by_class().contains_key(&ErrorClass::Refused), "{account:?}");
}

fn what_is_unsent_or_in_flight_at_the_end_is_censored() {
    let peer = Scripted::start(vec![Act::AwaitRequest, Act::Hold]);
    let account = run(&job(peer.addr(), closed(3), 200, 50)).unwrap().counts.measured;
    assert_eq!((account.scheduled, account.completed, account.censored), (3, 0, 3));
    let sum = run(&job(peer.addr(), open(2, 100.0, ArrivalPlan::Constant), 500, 50)).unwrap();
    assert_eq!((sum.counts.measured.scheduled, sum.counts.measured.censored), (50, 50));
}

fn a_stop_ends_the_load_at_once_with_everything_accounted_for() {
    let server = reference(|file| file.mean = Some(Nanos::MILLI));
    let mut generator = Generator::start(&job(server.addr(), closed(4), 60_000, 1000)).unwrap();
    generator.begin(Some(0));
    let mut sum = IntervalData::default();
    while sum.counts.answers == 0 {
        if let Step::Interval(data) = generator.next(Duration::from_secs(20)).unwrap() {
            sum.merge(data);
        }
    }
    generator.stop();
    sum.merge(&crate::common::sum(&mut generator).unwrap());
    assert!(sum.counts.measured.balances());
    assert!(sum.counts.end_ns < 30_000 * MS, "it ended at {} ns", sum.counts.end_ns);
}

fn total_time_outs_reach_requests_that_wait_for_a_connection() {
    let peer = Scripted::start(vec![Act::AwaitRequest, Act::Hold]);
    let mut job = job(peer.addr(), open(1, 1000.0, ArrivalPlan::Constant), 600, 0);
    job.load.total_timeout_ns = Some(100 * MS);
    let sum = run(&job).unwrap();
    let account = sum.counts.measured;
    assert_eq!(account.scheduled, 600);
    assert!(account.failed_by_class()[&ErrorClass::Timeout] >= 400, "{account:?}");
    assert!(
        sum.examples[&ErrorClass::Timeout].iter().any(|text| text.contains("waiting")),
        "{:?}",
        sum.examples
    );
}

fn warm_up_is_kept_out_of_the_samples() {
    let server = reference(|file| file.mean = Some(Nanos::MILLI));
    let mut job = job(server.addr(), closed(2), 600, 100);
    job.timeline = Timeline { interval_ns: 100 * MS, measured_intervals: 5, drain_ns: 100 * MS };
    let mut generator = Generator::start(&job).unwrap();
    generator.begin(None);
    let (mut warm, mut measured, mut from) = (IntervalData::default(), IntervalData::default(), u64::MAX);
    loop {
        // Decided outside the match: the interval borrows the generator.
        let mut decide = false;
        match generator.next(Duration::from_secs(20)).unwrap() {
            Step::Interval(data) if data.counts.index < from => {
                warm.merge(data);
                decide = data.counts.index == 2;
            }
            Step::Interval(data) => measured.merge(data),
            Step::Waiting => panic!("the engine went silent"),
            Step::Ended => break,
        }
        if decide {
            from = generator.measure_soon();
        }
    }
    assert!(from > 3, "samples begin later than they were asked for");
    assert!(warm.counts.warm.scheduled > 0 && warm.counts.measured.scheduled == 0);
    assert!(measured.counts.measured.balances());
    // Left over from warm-up: counted in its own account, not in the histograms of the samples.
    assert_eq!(measured.times[Time::Response].len(), measured.counts.measured.completed);
    let mut both = warm.counts.warm;
    both.add(&measured.counts.warm);
    assert!(both.balances(), "{both:?}");
}

fn a_freeze_shows_in_response_time_and_is_told_apart_from_service_time_and_lag() {
    // One connection: while the server stands still, arrivals wait for the connection, not for the generator.
    let server = reference(|file| file.freeze = Some("500ms+1s".into()));
    let sum = run(&job(server.addr(), open(1, 250.0, ArrivalPlan::Constant), 4000, 4000)).unwrap();
    assert_eq!(sum.counts.measured.scheduled, 1000);
    assert_eq!(sum.counts.measured.completed, 1000);
    let at = |histogram: &hdrhistogram::Histogram<u64>, quantile| histogram.value_at_quantile(quantile) / MS;
    // A quarter of the requests was intended during the freeze, so p90 of response time lies well inside it.
    assert!(at(&sum.times[Time::Response], 0.9) >= 500, "p90 {} ms", at(&sum.times[Time::Response], 0.9));
    assert!(at(&sum.times[Time::Response], 0.99) >= 900);
    // Only one request was on the wire meanwhile: service time hides the freeze, which is why it is not the headline.
    assert!(
        at(&sum.times[Time::Service], 0.99) < 100,
        "service p99 {} ms",
        at(&sum.times[Time::Service], 0.99)
    );
    assert!(at(&sum.times[Time::SendLag], 0.9) >= 500, "the wait was for the connection");
    assert!(at(&sum.times[Time::PacerLag], 0.9) < 500, "the generator itself was not late");
}

fn the_integral_of_requests_in_the_system_is_the_sum_of_their_times() {
    let server =
        reference(|file| (file.mean, file.law) = (Some(Nanos(2 * MS)), Some(ServiceLaw::Exponential)));
    for load in [closed(3), open(8, 250.0, ArrivalPlan::Poisson)] {
        let sum = run(&job(server.addr(), load, 1000, 1000)).unwrap();
        let residence = sum.times[Time::Response].mean() * sum.times[Time::Response].len() as f64;
        let integral = sum.counts.in_system_ns as f64;
        // Requests in the system at the end leave their last part outside the integral.
        let left = sum.counts.backlog.max(8) as f64 * sum.times[Time::Response].max() as f64;
        let slack = 0.01 * residence + left;
        assert!(
            (integral - residence).abs() < slack,
            "integral {integral}, residence {residence}, ± {slack}"
        );
        check_identity(&sum);
    }
}

/// METHOD §9, with failures, time-outs, a backlog that is never sent, and a budget that ends the load.
fn the_identity_of_residence_spares_no_outcome() {
    let faulty = reference(|file| {
        (file.mean, file.law) = (Some(Nanos(2 * MS)), Some(ServiceLaw::Exponential));
        (file.error_rate, file.reset_rate) = (Some(0.1), Some(0.1));
    });
    let frozen = reference(|file| file.freeze = Some("100ms+600ms".into()));
    let slow = reference(|file| file.mean = Some(Nanos(20 * MS)));
    let impatient = LoadPlan { timeout_ns: 50 * MS, ..closed(4) };
    let overload = LoadPlan { total_timeout_ns: Some(300 * MS), ..open(2, 500.0, ArrivalPlan::Poisson) };
    let budget = Job { requests_max: Some(50), ..job(slow.addr(), closed(2), 60_000, 200) };
    for job in [
        job(faulty.addr(), open(8, 250.0, ArrivalPlan::Poisson), 600, 200),
        job(frozen.addr(), impatient, 600, 200),
        job(slow.addr(), overload, 600, 100),
        job(slow.addr(), closed(5), 500, 0),
        budget,
    ] {
        let sum = run(&job).unwrap();
        assert!(sum.counts.measured.scheduled > 5, "{:?}", sum.counts);
        check_identity(&sum);
    }
}

/// ∫ N dt = Σ residence, to a hundredth of what the gate `residence` allows.
fn check_identity(sum: &IntervalData) {
    let (integral, residence) = (sum.counts.in_system_ns as f64, sum.counts.residence_ns as f64);
    assert!((integral - residence).abs() <= 1e-6 * residence, "integral {integral}, residence {residence}");
}

fn connections_that_nobody_accepts_time_out_with_their_class() {
    use rustix::net::{AddressFamily, SocketType, bind, getsockname, listen, socket};
    // A queue of length 0 holds one connection; the system drops what comes beyond, as a full accept queue does.
    let listener = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
    bind(&listener, &SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
    listen(&listener, 0).unwrap();
    let addr = SocketAddr::try_from(getsockname(&listener).unwrap()).unwrap();
    let mut job = job(addr, closed(4), 500, 0);
    job.load.connect_timeout_ns = 50 * MS;
    let account = run(&job).unwrap().counts.measured;
    let failed = account.failed_by_class();
    assert!(failed[&ErrorClass::ConnectTimeout] >= 2, "{failed:?}");
    assert_eq!(failed.len(), 1, "{failed:?}");
    assert!(account.censored >= 1, "the connection that was taken into the queue is never answered");
}

/// Sends a budget of requests on one connection at a time to a script that answers all of them rightly.
fn on_script(script: Vec<Act>, requests: u64, change: impl FnOnce(&mut Job)) -> IntervalData {
    let peer = Scripted::start(script);
    let mut job = job(peer.addr(), closed(1), 5_000, 200);
    job.requests_max = Some(requests);
    change(&mut job);
    let sum = run(&job).unwrap();
    assert_eq!(sum.counts.measured.completed, requests, "{:?}", sum.counts.measured);
    sum
}

fn connections_end_when_the_plan_says() {
    let keep = || vec![Act::AwaitRequest, Act::send(GOOD), Act::Again];
    let connects = |change: fn(&mut Job)| on_script(keep(), 12, change).counts.connects;
    assert_eq!(connects(|_| {}), 1);
    assert_eq!(connects(|job| job.load.connection.keepalive = false), 12);
    assert_eq!(connects(|job| job.load.connection.requests_max = Some(5)), 3);
    assert_eq!(connects(|job| job.load.connection.lifetime_ns = Some(1)), 12, "old as soon as it is free");
    // Pipelined requests count towards the limit of their connection too.
    let both = connects(|job| {
        (job.load.connection.requests_max, job.load.connection.pipeline) = (Some(5), 3);
    });
    assert_eq!(both, 3);
    let aged = connects(|job| {
        (job.load.connection.lifetime_ns, job.load.connection.pipeline) = (Some(1), 3);
    });
    assert!(aged >= 4, "a pipeline of 3 was filled on beyond the lifetime of its connection: {aged}");
}

fn pipelined_requests_are_answered_in_order_and_all_counted() {
    for depth in [2, 7] {
        let set = |job: &mut Job| job.load.connection.pipeline = depth;
        let keep = vec![Act::AwaitRequest, Act::send(GOOD), Act::Again];
        assert_eq!(on_script(keep, 50, set).counts.connects, 1, "depth {depth}");
        // Several answers in one piece, and one answer in many.
        let pair = format!("{GOOD}{GOOD}");
        let pairs = vec![Act::AwaitRequest, Act::AwaitRequest, Act::send(&pair), Act::Again];
        assert_eq!(on_script(pairs, 50, set).counts.connects, 1, "depth {depth}");
        let drips = vec![Act::AwaitRequest, Act::Drip(GOOD.into()), Act::Again];
        assert_eq!(on_script(drips, 10, set).counts.connects, 1, "depth {depth}");
    }
}

fn requests_behind_a_closed_connection_fail_and_nothing_is_lost() {
    let last = GOOD.replace("200 OK\r\n", "200 OK\r\nConnection: close\r\n");
    let peer = Scripted::start(vec![Act::AwaitRequest, Act::send(&last), Act::Hold]);
    let mut job = job(peer.addr(), closed(1), 5_000, 200);
    (job.requests_max, job.load.connection.pipeline) = (Some(9), 3);
    let account = run(&job).unwrap().counts.measured;
    // Of each three on a connection the first is answered.
    assert_eq!((account.scheduled, account.completed), (9, 3), "{account:?}");
    assert_eq!(account.failed_by_class(), BTreeMap::from([(ErrorClass::PrematureClose, 6)]));
}

fn an_open_load_grows_to_its_ceiling_and_not_beyond() {
    let peer = Scripted::start(vec![Act::AwaitRequest, Act::Hold]);
    let mut load = open(2, 100.0, ArrivalPlan::Constant);
    load.connections_max = 7;
    let sum = run(&job(peer.addr(), load, 300, 0)).unwrap();
    assert_eq!(sum.counts.connects, 7, "two ahead, five on demand");
    assert_eq!((sum.counts.measured.scheduled, sum.counts.measured.censored), (30, 30));
}

fn what_misses_its_deadline_is_shed_with_its_own_class() {
    let peer = Scripted::start(vec![Act::AwaitRequest, Act::Hold]);
    let mut job = job(peer.addr(), open(1, 200.0, ArrivalPlan::Constant), 600, 0);
    job.load.deadline_ns = Some(100 * MS);
    let sum = run(&job).unwrap();
    let account = sum.counts.measured;
    assert_eq!(account.scheduled, 120);
    // The first is on the wire for ever; of the others, those of the last 100 ms may still wait.
    assert!(account.failed_by_class()[&ErrorClass::Deadline] >= 90, "{account:?}");
    assert_eq!(account.failed_total() + account.censored, 120, "{account:?}");
}

/// Answers every request on these streams, each on a thread of its own.
fn answer_all<S: std::io::Read + std::io::Write + Send + 'static>(streams: Vec<S>) {
    use std::io::{BufRead, BufReader};
    for stream in streams {
        std::thread::spawn(move || {
            let (mut reader, mut line) = (BufReader::new(stream), String::new());
            while reader.read_line(&mut line).is_ok_and(|taken| taken > 0) {
                if line == "\r\n" && reader.get_mut().write_all(GOOD.as_bytes()).is_err() {
                    return;
                }
                line.clear();
            }
        });
    }
}

fn connections_come_from_the_sources_in_turn() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut job_by_source = job(listener.local_addr().unwrap(), closed(4), 60_000, 0);
    job_by_source.requests_max = Some(40);
    job_by_source.load.connection.sources =
        ["127.0.0.2", "127.0.0.3"].map(|text| text.parse().unwrap()).to_vec();
    let server = std::thread::spawn(move || {
        let accepted: Vec<_> = (0..4).map(|_| listener.accept().unwrap()).collect();
        let mut from: Vec<String> = accepted.iter().map(|(_, peer)| peer.ip().to_string()).collect();
        from.sort();
        answer_all(accepted.into_iter().map(|(stream, _)| stream).collect());
        from
    });
    assert_eq!(run(&job_by_source).unwrap().counts.measured.completed, 40);
    assert_eq!(server.join().unwrap(), ["127.0.0.2", "127.0.0.2", "127.0.0.3", "127.0.0.3"]);
    let server = reference(|_| {});
    // A source that is not this host's own cannot be used, and says so.
    let mut elsewhere = job(server.addr(), closed(1), 1_000, 0);
    elsewhere.load.connection.sources = vec!["192.0.2.1".parse().unwrap()];
    match run(&elsewhere) {
        Err(EngineError::NothingConnected { failures, .. }) => {
            assert_eq!(failures, BTreeMap::from([(ErrorClass::AddressNotAvailable, 1)]));
        }
        other => panic!("{other:?}"),
    }
}

fn a_unix_socket_is_loaded_like_any_other() {
    let path = std::env::temp_dir().join(format!("prony-{}-{}", std::process::id(), DRIVER.get().key()));
    let listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
    // The address is that of nobody: only the path is used.
    let mut job = job(SocketAddr::from(([127, 0, 0, 1], 9)), closed(2), 60_000, 0);
    job.requests_max = Some(20);
    job.load.connection.unix_socket = Some(path.display().to_string());
    let server = std::thread::spawn(move || {
        answer_all((0..2).map(|_| listener.accept().unwrap().0).collect());
    });
    let sum = run(&job);
    std::fs::remove_file(&path).unwrap();
    assert_eq!(sum.unwrap().counts.measured.completed, 20);
    server.join().unwrap();
}

fn socket_options_are_taken_by_the_kernel() {
    let server = reference(|_| {});
    let mut job = job(server.addr(), closed(1), 60_000, 0);
    job.requests_max = Some(10);
    let connection = &mut job.load.connection;
    connection.nodelay = false;
    connection.tcp_keepalive_ns = Some(5_000 * MS);
    connection.dscp = Some(46);
    connection.congestion = Some("reno".into());
    connection.device = Some("lo".into());
    assert_eq!(run(&job).unwrap().counts.measured.completed, 10);
    let mut wrong = job.clone();
    wrong.load.connection.device = Some("nonesuch0".into());
    assert!(matches!(run(&wrong), Err(EngineError::NothingConnected { .. })));
    let mut wrong = job.clone();
    wrong.load.connection.congestion = Some("nonesuch".into());
    assert!(matches!(run(&wrong), Err(EngineError::NothingConnected { .. })));
}

fn names_are_resolved_for_every_connection_and_timed() {
    let server = reference(|_| {});
    let mut job = job(server.addr(), closed(2), 60_000, 0);
    job.requests_max = Some(20);
    job.load.connection.requests_max = Some(5);
    let addr = server.addr();
    job.lookup = Some(Lookup::new(move || Ok(addr)));
    let sum = run(&job).unwrap();
    assert_eq!(sum.counts.measured.completed, 20);
    assert_eq!(sum.times[Time::Name].len(), sum.counts.connects);
    job.lookup = Some(Lookup::new(|| Err("no such name".to_owned())));
    match run(&job) {
        Err(EngineError::NothingConnected { failures, .. }) => {
            assert_eq!(failures, BTreeMap::from([(ErrorClass::NameResolution, 2)]));
        }
        other => panic!("{other:?}"),
    }
}

/// Reads `length` bytes of body with every request before it answers; ends with the last connection.
fn slow_reader(length: usize, connections: usize) -> SocketAddr {
    use std::io::{BufRead, BufReader, Read, Write};
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = listener.local_addr().unwrap();
    let serve = move |stream: std::net::TcpStream| {
        let mut reader = BufReader::with_capacity(1000, stream);
        let mut line = String::new();
        while reader.read_line(&mut line).is_ok_and(|taken| taken > 0) {
            if line == "\r\n" {
                let read = std::io::copy(&mut reader.by_ref().take(length as u64), &mut std::io::sink());
                assert_eq!(read.unwrap(), length as u64);
                reader.get_mut().write_all(GOOD.as_bytes()).unwrap();
            }
            line.clear();
        }
    };
    std::thread::spawn(move || {
        for _ in 0..connections {
            let (stream, _) = listener.accept().unwrap();
            std::thread::spawn(move || serve(stream));
        }
    });
    addr
}

fn a_large_request_is_sent_whole_in_parts() {
    // A few bytes more than whole parts, whatever the head takes.
    let body = vec![b'x'; 6 * 1024 * 1024];
    let addr = slow_reader(body.len(), 2);
    let plan = RequestPlan { method: "POST".into(), path: "/ping".into(), headers: vec![], body };
    let mut job = job(addr, closed(2), 60_000, 0);
    job.load.timeout_ns = 20_000 * MS;
    job.traffic = Traffic::single(&plan, "localhost", Check::new(&[], None)).unwrap();
    job.requests_max = Some(6);
    let sum = run(&job).unwrap();
    assert_eq!(sum.counts.measured.completed, 6, "{:?} {:?}", sum.counts.measured, sum.examples);
    assert!(sum.counts.written_bytes >= 6 * 6 * 1024 * 1024);
    assert_eq!(sum.counts.connects, 2);
    // Where one call took it whole, writing took no time of its own.
    assert_eq!(sum.times[Time::Write].len(), 6);
}

fn the_parts_of_a_requests_life_add_up() {
    let server = reference(|file| file.mean = Some(Nanos(2 * MS)));
    let mut job = job(server.addr(), closed(1), 60_000, 0);
    job.requests_max = Some(100);
    let times = run(&job).unwrap().times;
    for (name, histogram) in times.tagged() {
        // Over HTTP/1.1 a request waits for a connection and for nothing else, so that waits have no causes.
        let expected = if matches!(name, "name" | "tls") || name.starts_with("wait_") {
            0
        } else if name == "connect" {
            1
        } else {
            100
        };
        assert_eq!(histogram.len(), expected, "{name}");
    }
    // service = first byte + transfer, up to what a histogram of three digits cannot tell.
    let sum = times[Time::FirstByte].mean() + times[Time::Transfer].mean();
    assert!((sum / times[Time::Service].mean() - 1.0).abs() < 0.002, "{sum} {}", times[Time::Service].mean());
    assert!(
        times[Time::FirstByte].min() >= 2 * MS - 4096,
        "the server takes 2 ms: {}",
        times[Time::FirstByte].min()
    );
}

fn what_was_sent_is_stamped_in_the_open_loop() {
    let server = reference(|_| {});
    let mut sent = Vec::new();
    let job = job(server.addr(), open(2, 500.0, ArrivalPlan::Poisson), 1000, 500);
    let mut generator = Generator::start(&job).unwrap();
    generator.begin(Some(0));
    loop {
        match generator.next(Duration::from_secs(20)).unwrap() {
            Step::Interval(data) => sent.extend(data.sent.stamps.iter().copied()),
            Step::Waiting => panic!("the engine went silent"),
            Step::Ended => break,
        }
    }
    assert!((400..600).contains(&sent.len()), "{}", sent.len());
    assert!(sent.iter().all(|(intended, written)| written >= intended));
    assert!(sent.is_sorted_by_key(|(_, written)| *written));
}

/// Two processes' parts of a load of seven workers, in which arrivals are drawn once a process: what they stamped is the
/// one schedule.
fn many_workers_share_one_drawing_and_send_its_arrivals() {
    let server = reference(|_| {});
    let load = LoadPlan { workers: 7, ..open(7, 700.0, ArrivalPlan::Poisson) };
    let mut schedule = pace::Schedule::of_load(&load, None, pace::Share::WHOLE).unwrap();
    let mut intended = Vec::new();
    for (first, workers) in [(0, 5), (5, 2)] {
        let whole = job(server.addr(), load.clone(), 1000, 500);
        let mut generator = Generator::start(&Job { part: Part { first, workers }, ..whole }).unwrap();
        generator.begin(Some(0));
        loop {
            match generator.next(Duration::from_secs(20)).unwrap() {
                Step::Interval(data) => {
                    intended.extend(data.sent.stamps.iter().map(|(intended, _)| *intended));
                }
                Step::Waiting => panic!("the engine went silent"),
                Step::Ended => break,
            }
        }
    }
    intended.sort_unstable();
    let end_ns = 1_000 * MS;
    let expected: Vec<u64> =
        std::iter::from_fn(|| (schedule.peek().0 < end_ns).then(|| schedule.advance().0)).collect();
    assert!(expected.len() > 500, "{}", expected.len());
    assert_eq!(intended, expected);
}

/// After the freeze more answers come at once than a driver has buffers for.
fn answers_to_all_connections_at_once_all_arrive() {
    let server = reference(|law| law.freeze = Some("0s+100ms".to_owned()));
    let mut job = job(server.addr(), closed(1000), 60_000, 0);
    job.requests_max = Some(5000);
    let sum = run(&job).unwrap();
    assert_eq!((sum.counts.measured.scheduled, sum.counts.measured.completed), (5000, 5000));
}
