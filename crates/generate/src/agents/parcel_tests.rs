//! How large a parcel of a real second is, what it costs, and that none of them is a bomb.

use super::parcel::{Stamps, most, unwrap, wrap};
use super::protocol::{Report, sums, to_text};
use super::sample;
use crate::lines::write_line;
use engine::{Counts, IntervalData, Part, StreamCounts};
use flate2::Compression;
use flate2::write::DeflateEncoder;
use fleet::{Parcel, digest};
use schema::load::{ErrorClass, Time};
use std::io::Write as _;
use std::time::{Duration, Instant};
use units::Seed;

/// Of the second below, whose times are wider than those of one quiet target: half of what version 2 made of it.
const BYTES_MAX: usize = 20_000;
pub(super) const REQUESTS: u64 = 10_000;
const SECOND_NS: u64 = 1_000_000_000;

/// Uniform between 0 and 1, 0 left out.
fn uniform(what: &str, request: u64) -> f64 {
    (Seed(23).derive(what, request).0 as f64 + 1.0) / (u64::MAX as f64 + 2.0)
}

/// Log-normal, by Box and Muller.
fn lognormal(what: &str, request: u64, median_ns: f64, sigma: f64) -> u64 {
    let (radius, angle) = (uniform(what, request), uniform("angle", request ^ 0x5555));
    let normal = (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos();
    (median_ns * (sigma * normal).exp()) as u64
}

/// A second of 10,000 requests over 64 connections: times of every kind that each request has, some failures with their
/// texts, the slowest requests, two stalls, and the stamps of an open load.
pub(super) fn second(index: u64) -> IntervalData {
    let begin_ns = index * SECOND_NS;
    let mut data = IntervalData::default();
    data.counts = Counts {
        index,
        start_ns: begin_ns,
        end_ns: begin_ns + SECOND_NS,
        read_bytes: 61_234_567,
        written_bytes: 1_834_567,
        connects: 12,
        in_flight: 31,
        backlog: 2,
        cpu_ns: 214_345_678,
        put_off_ns: 1_234_567,
        busy_share: 0.237_654_321,
        streams: StreamCounts::default(),
        ..data.counts
    };
    let mut notable = Vec::new();
    for request in 0..REQUESTS {
        let intended_ns = begin_ns + request * (SECOND_NS / REQUESTS) + lognormal("gap", request, 20e3, 0.5);
        let lag_ns = lognormal("lag", request, 9_000.0, 0.6);
        let write_ns = lognormal("write", request, 4_500.0, 0.3);
        let first_ns = lognormal("service", request, 2_100_000.0, 0.5);
        let transfer_ns = lognormal("transfer", request, 31_000.0, 0.7);
        let service_ns = first_ns + transfer_ns;
        let written_ns = intended_ns + lag_ns + write_ns;
        let response_ns = service_ns + lag_ns + write_ns;
        let is_failed = request % 1_250 == 7;
        data.counts.measured.scheduled += 1;
        data.counts.in_system_ns += response_ns;
        data.counts.residence_ns += response_ns;
        data.sent.stamps.push((intended_ns, written_ns));
        notable.push((request, intended_ns, written_ns, response_ns, is_failed));
        if is_failed {
            data.counts.measured.failed[ErrorClass::Timeout.index()] += 1;
            continue;
        }
        data.counts.measured.completed += 1;
        data.counts.answers += 1;
        for (time, ns) in [
            (Time::Response, response_ns),
            (Time::Service, service_ns),
            (Time::SendLag, lag_ns + write_ns),
            (Time::PacerLag, lag_ns),
            (Time::Write, write_ns),
            (Time::FirstByte, first_ns),
            (Time::Transfer, transfer_ns),
        ] {
            data.times[time].record(ns).unwrap();
        }
        if request % 50 == 0 {
            data.times[Time::WaitConnection].record(lognormal("wait", request, 140_000.0, 1.0)).unwrap();
        }
        if request % 833 == 0 {
            data.times[Time::Connect].record(lognormal("connect", request, 90_000.0, 0.4)).unwrap();
        }
    }
    data.sent.stamps.sort_unstable_by_key(|(intended_ns, written_ns)| (*written_ns, *intended_ns));
    data.examples.insert(ErrorClass::Timeout, vec!["no answer within 10 s".to_owned()]);
    notable.sort_by_key(|(.., response_ns, _)| std::cmp::Reverse(*response_ns));
    let list = |failed: bool| -> Vec<serde_json::Value> {
        let all = notable.iter().filter(|(.., is_failed)| *is_failed == failed).take(8);
        let line = |(request, intended_ns, written_ns, response_ns, is_failed): &(
            u64,
            u64,
            u64,
            u64,
            bool,
        )| {
            serde_json::json!({
                "request": 1_234_567 + request, "entry": 0, "intended_ns": intended_ns, "written_ns": written_ns,
                "done_ns": intended_ns + response_ns, "status": if *is_failed { 0 } else { 200 },
                "class": is_failed.then_some("timeout"),
            })
        };
        all.map(line).collect()
    };
    let notables = serde_json::json!({
        "slowest": list(false), "failures": list(true), "slowest_sampled": [], "failures_sampled": [],
    });
    data.notables = serde_json::from_value(notables).unwrap();
    data
}

/// An open load's stamps travel, or no stamps do.
fn stamps(travel: bool) -> Stamps {
    let part = Part { first: 0, workers: 1 };
    Stamps { measure_from: travel.then_some(0), ..Stamps::of(part, 1) }
}

/// The line of a parcel in the form of version 3, and of version 2.
fn lines(data: &IntervalData, stamps: Stamps) -> [Vec<u8>; 2] {
    let mut old = data.clone();
    if stamps.measure_from.is_none() {
        old.sent.stamps.clear();
    }
    let old = serde_json::to_string(&engine::Parcel::pack(&old)).unwrap();
    [wrap(data, stamps), old].map(|body| {
        let parcel = Parcel {
            session: "load-generator-1-1234567-1764322358123456789-987654321012345".to_owned(),
            agent: 137,
            interval: 86_399,
            digest: digest(body.as_bytes()),
            sums: sums(&data.counts),
            body,
        };
        let mut line = Vec::new();
        write_line(&mut line, &Report::Parcel(Box::new(parcel))).unwrap();
        line
    })
}

#[test]
fn a_parcel_of_ten_thousand_requests_is_half_of_what_version_2_made_of_it() {
    let data = second(86_399);
    let [line, old] = lines(&data, stamps(false));
    println!("a line without stamps: {} bytes, in version 2 {}", line.len(), old.len());
    assert!(line.len() <= BYTES_MAX && 2 * line.len() <= old.len(), "{} of {} bytes", line.len(), old.len());
    let [line, old] = lines(&data, stamps(true));
    println!("a line with stamps: {} bytes, in version 2 {}", line.len(), old.len());
    assert!(line.len() <= BYTES_MAX + 7 * REQUESTS as usize, "seven bytes a stamp at most: {}", line.len());
}

#[test]
fn a_small_parcel_that_inflates_to_gigabytes_is_refused_with_its_bound() {
    let most = most(&sample::job("http://127.0.0.1:9"));
    let mut piece = DeflateEncoder::new(Vec::new(), Compression::best());
    piece.write_all(&[0; 1 << 20]).unwrap();
    piece.flush().unwrap();
    // A flushed piece means nothing beyond itself, so it can be repeated without being deflated again.
    let bomb = piece.get_ref().repeat(4_096);
    assert!(bomb.len() < 8 << 20, "4 GiB in {} bytes", bomb.len());
    let error = unwrap(&to_text(&bomb), most).unwrap_err();
    assert!(error.contains("inflates to more than 64 MiB"), "{error}");
    // Cut in the middle, and no deflated bytes at all.
    assert!(unwrap(&to_text(&bomb[..bomb.len() / 2_000]), most).is_err());
    assert!(unwrap(&to_text(&[0xff; 64]), most).unwrap_err().contains("cannot be inflated"));
    assert!(unwrap("?", most).is_err());
    // More than the load can have.
    let mut data = second(0);
    data.sent.stamps = vec![(1, 1); most.stamps + 1];
    let error = unwrap(&wrap(&data, Stamps { most: usize::MAX, ..stamps(true) }), most).unwrap_err();
    assert!(error.contains("400001 stamps"), "{error}");
    let mut data = IntervalData::default();
    data.entries.resize_with(most.entries + 1, Default::default);
    let error = unwrap(&wrap(&data, stamps(false)), most).unwrap_err();
    assert!(error.contains("named requests"), "{error}");
}

#[test]
fn stamps_travel_from_the_first_measured_interval_until_there_are_enough() {
    let data = second(3);
    let travelled = |stamps: Stamps| {
        let most = most(&sample::job("http://127.0.0.1:9"));
        unwrap(&wrap(&data, stamps), most).unwrap().unpack().unwrap().sent
    };
    let all = stamps(true);
    assert_eq!(travelled(all), data.sent);
    assert_eq!(travelled(Stamps { measure_from: Some(3), ..all }), data.sent);
    for stamps in [
        Stamps { measure_from: None, ..all },
        Stamps { measure_from: Some(4), ..all },
        Stamps { are_enough: true, ..all },
    ] {
        let sent = travelled(stamps);
        assert_eq!((sent.stamps.len(), sent.complete_to_ns), (0, 0));
    }
    // One of 10,000 workers sends its share, and says how far it is complete.
    let sent =
        travelled(Stamps { measure_from: Some(0), ..Stamps::of(Part { first: 9, workers: 1 }, 10_000) });
    assert_eq!(sent.stamps[..], data.sent.stamps[..40]);
    assert_eq!(sent.complete_to_ns, data.sent.stamps[39].1);
}

/// CPU time of this thread.
fn cpu() -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
}

/// Prints only: the time of one `work` of many, in microseconds of CPU and of the clock.
fn cost(what: &str, mut work: impl FnMut()) {
    const TIMES: u32 = 200;
    let (from, since) = (cpu(), Instant::now());
    (0..TIMES).for_each(|_| work());
    let (cpu, wall) = (cpu() - from, since.elapsed());
    println!(
        "{what:<44} {:>7.0} µs of CPU, {:>7.0} µs",
        (cpu / TIMES).as_nanos() as f64 / 1e3,
        (wall / TIMES).as_nanos() as f64 / 1e3
    );
}

#[test]
#[ignore = "prints what a parcel costs: cargo test --release -p generate -- --ignored --nocapture cost_of_a_parcel"]
fn cost_of_a_parcel() {
    let data = second(9);
    let most = most(&sample::job("http://127.0.0.1:9"));
    for (what, stamps) in [("without stamps", stamps(false)), ("with stamps", stamps(true))] {
        let mut old = data.clone();
        if stamps.measure_from.is_none() {
            old.sent.stamps.clear();
        }
        let text = serde_json::to_string(&engine::Parcel::pack(&old)).unwrap();
        let body = wrap(&data, stamps);
        println!("{what}: {} bytes of JSON before, {} now", text.len(), body.len());
        cost("  agent before: JSON", || drop(serde_json::to_string(&engine::Parcel::pack(&old)).unwrap()));
        cost("  agent now: deflated", || drop(wrap(&data, stamps)));
        cost("  controller before: JSON, unpacked", || {
            drop(serde_json::from_str::<engine::Parcel>(&text).unwrap().unpack().unwrap());
        });
        cost("  controller now: inflated", || drop(unwrap(&body, most).unwrap()));
        cost("  controller now: inflated, unpacked", || drop(unwrap(&body, most).unwrap().unpack().unwrap()));
        let mut sum = data.clone();
        sum.sent.stamps.clear();
        let part = unwrap(&wrap(&data, Stamps::default()), most).unwrap().unpack().unwrap();
        cost("  controller: added to the sum", || sum.merge(&part));
    }
}
