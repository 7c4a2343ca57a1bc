//! Planted waits: each is named by its cause, and the response times are those that the plant gives. Truths come from the
//! schedule and from what the server noted, never from how fast this host is.

use super::{closed, ends, on_every_driver, open, run};
use crate::common::{MS, prepared};
use engine::{IntervalData, Job};
use schema::load::Time;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;
use testkit::http2::{Act, Raw};

const WAITS: [Time; 3] = [Time::WaitConnection, Time::WaitStream, Time::WaitWindow];

/// How far a percentile may lie from the truth, as a share of it.
const NEAR: f64 = 0.05;
/// Loads of which one has to be near.
const ATTEMPTS: usize = 3;

fn sum_ns(sum: &IntervalData, time: Time) -> f64 {
    sum.times[time].mean() * sum.times[time].len() as f64
}

/// Nine tenths of what requests waited to be written are of this cause, and next to nothing of the others.
fn check_cause(name: &str, sum: &IntervalData, cause: Time) {
    let all = sum_ns(sum, Time::SendLag) - sum_ns(sum, Time::PacerLag);
    for time in WAITS {
        assert_eq!(sum.times[time].len(), sum.counts.measured.completed, "{name}: every request counts");
        let share = sum_ns(sum, time) / all;
        let is_right = if time == cause { (0.9..1.01).contains(&share) } else { share < 0.05 };
        assert!(is_right, "{name}: {} has {share} of {} ms", time.key(), all / 1e6);
    }
}

/// Makes loads until a percentile is near its truth, [`ATTEMPTS`] at most: others who want the CPUs come between what one
/// end notes and what the other does. A load gives what was found and the true 99th percentile in nanoseconds.
fn check_p99(name: &str, load: impl Fn() -> (IntervalData, f64)) {
    let found_ms = |_| {
        let (sum, truth_ns) = load();
        (sum.times[Time::Response].value_at_quantile(0.99) as f64 / 1e6, truth_ns / 1e6)
    };
    let mut seen = Vec::new();
    let is_near = |(found, truth): (f64, f64)| (found / truth - 1.0).abs() <= NEAR;
    let one_is = (0..ATTEMPTS).map(found_ms).inspect(|pair| seen.push(*pair)).any(is_near);
    assert!(one_is, "{name}: p99 and truth in ms: {seen:?}");
}

/// The 99th percentile of some times.
fn p99(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[(times.len() as f64 * 0.99).ceil() as usize - 1]
}

#[test]
fn ten_streams_of_a_hundred_are_waited_for() {
    const USERS: usize = 100;
    let load = |driver| {
        let serve = Act::ServeWaves { size: 10, delay: Duration::from_millis(10) };
        let peer = Raw::start(vec![vec![Act::Settings(vec![(3, 10)]), serve]]);
        let sum = run(&closed(peer.addr(), driver, (1, USERS as u32), 1_000));
        assert_eq!(ends(&sum), [1_000, 1_000, 0, 0], "{driver:?}");
        assert_eq!(sum.counts.streams.granted_min, Some(10));
        check_cause("ten of a hundred", &sum, Time::WaitStream);
        // Users take turns: each is answered again after all others.
        let answers = peer.end().answers.lock().unwrap().clone();
        assert_eq!(answers.len(), 1_000);
        let turns = answers.windows(USERS + 1).map(|turn| (turn[USERS] - turn[0]).as_nanos() as f64);
        (sum, p99(turns.collect()))
    };
    on_every_driver(|driver| check_p99("ten of a hundred", || load(driver)));
}

#[test]
fn a_window_of_64_kib_costs_a_round_trip_each_time() {
    const ROUND_TRIP: Duration = Duration::from_millis(100);
    let load = |driver| {
        let peer = Raw::start(vec![vec![Act::Settings(vec![]), Act::ServeFar(ROUND_TRIP)]]);
        let mut job = closed(peer.addr(), driver, (1, 1), 6);
        // Four windows: three round trips of waiting, and one for the answer.
        job.traffic = prepared("POST", vec![b'x'; 4 * 65_535], None);
        let sum = run(&job);
        assert_eq!(ends(&sum), [6, 6, 0, 0], "{driver:?}");
        check_cause("64 KiB", &sum, Time::WaitWindow);
        let seen = peer.end();
        let pauses = seen.pauses.lock().unwrap();
        let pauses: Vec<f64> = pauses.iter().map(|time| time.as_nanos() as f64).collect();
        assert_eq!(pauses.len(), 24, "{driver:?}");
        let waited = sum_ns(&sum, Time::WaitWindow);
        let truth: f64 = pauses.chunks(4).map(|of_one| of_one[..3].iter().sum::<f64>()).sum();
        assert!((waited / truth - 1.0).abs() <= NEAR, "{driver:?}: {waited} ns for {truth}");
        (sum, p99(pauses.chunks(4).map(|of_one| of_one.iter().sum()).collect()))
    };
    on_every_driver(|driver| check_p99("64 KiB", || load(driver)));
}

/// Arrivals of a load in which a stall is planted, and how many of them are answered before.
const ARRIVALS: u64 = 600;
const BEFORE: u64 = 100;
const STALL: Duration = Duration::from_millis(300);

/// An open load that meets a stall: each arrival after the `BEFORE`th is answered at the stall's end, or as it comes.
fn check_stall(name: &str, cause: Time, scripts: Vec<Vec<Act>>, change: impl Fn(&mut Job)) {
    let load = |name: &str, driver| {
        let peer = Raw::start(scripts.clone());
        let mut job = open(peer.addr(), driver, (1, 500), ARRIVALS);
        change(&mut job);
        let sum = run(&job);
        assert_eq!(ends(&sum), [ARRIVALS, ARRIVALS, 0, 0], "{name}");
        check_cause(name, &sum, cause);
        let stall_ns = peer.seen().pauses.lock().unwrap()[0].as_nanos() as f64;
        let gap_ns = 500.0 * MS as f64 / ARRIVALS as f64;
        let waits = (0..ARRIVALS).map(|arrival| match arrival < BEFORE {
            true => 0.0,
            false => (stall_ns - (arrival - BEFORE) as f64 * gap_ns).max(0.0),
        });
        (sum, p99(waits.collect()))
    };
    on_every_driver(|driver| {
        let name = format!("{name} on {driver:?}");
        check_p99(&name, || load(&name, driver));
    });
}

#[test]
fn a_stall_is_named_by_what_requests_wait_for_meanwhile() {
    let serve = |entries: Vec<(u16, u32)>| vec![Act::Settings(entries), Act::ServeSome(BEFORE as usize)];
    let stall = [Act::Pause(STALL), Act::Serve];
    check_stall("no stream", Time::WaitStream, vec![[serve(vec![(3, 10)]), stall.to_vec()].concat()], |_| ());
    // 64 bodies of 1,000 bytes are the window of the connection.
    let post = |job: &mut Job| job.traffic = prepared("POST", vec![b'x'; 1_000], None);
    check_stall("no window", Time::WaitWindow, vec![[serve(vec![]), stall.to_vec()].concat()], post);
    let leave = vec![Act::Goaway { taken: BEFORE as u32, code: 0 }, Act::Hold];
    let late = vec![Act::Pause(STALL), Act::Settings(vec![]), Act::Serve];
    check_stall("no connection", Time::WaitConnection, vec![[serve(vec![]), leave].concat(), late], |_| ());
}

#[test]
fn a_thousand_connections_that_leave_under_an_open_load_lose_nothing() {
    const CONNECTIONS: usize = 1_000;
    const STREAMS: usize = 4;
    let serve = |last: Vec<Act>| [vec![Act::Settings(vec![])], last].concat();
    let leave = Act::Goaway { taken: STREAMS as u32, code: 0 };
    let mut scripts = vec![serve(vec![Act::ServeSome(STREAMS), leave, Act::Hold]); CONNECTIONS];
    scripts.push(serve(vec![Act::Serve]));
    on_every_driver(|driver| {
        let peer = Raw::start(scripts.clone());
        let mut job = open(peer.addr(), driver, (1, STREAMS as u32), 4_500);
        // Arrivals for three seconds, and as long for those that still wait then.
        job.load.rate_per_s = Some(1_500.0);
        job.timeline = engine::Timeline::for_samples(6_000 * MS, 1, 5_000 * MS);
        let sum = run(&job);
        assert_eq!(ends(&sum), [4_500, 4_500, 0, 0], "{driver:?}");
        let seen = peer.end();
        let (begun, left) = (seen.requests.load(SeqCst), seen.left.load(SeqCst));
        assert_eq!(seen.answers.lock().unwrap().len(), 4_500, "{driver:?}");
        assert_eq!(
            (left, sum.counts.streams.goaways),
            (CONNECTIONS as u64, CONNECTIONS as u64),
            "{driver:?}"
        );
        // None failed, so none was put back twice.
        assert!(
            begun - 4_500 <= sum.counts.streams.requeued,
            "{driver:?}: {begun} begun, {:?}",
            sum.counts.streams
        );
        assert!(sum.counts.streams.requeued <= (CONNECTIONS * STREAMS) as u64, "{:?}", sum.counts.streams);
    });
}
