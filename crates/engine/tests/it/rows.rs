//! Rows of requests against the book of the same load, on every driver: as many rows as requests that ended, and their
//! times are those of the histograms.

use crate::common::{MS, short_load};
use engine::{Generator, IntervalData, Job, Outcome, Part, Row, RowSource, Timeline, new_histogram, rows};
use pace::Lengths;
use request::{Check, Traffic};
use schema::arrival::{ArrivalPlan, LengthPlan};
use schema::experiment::{LoadModel, Reference};
use schema::load::{ErrorClass, Time};
use schema::plan::{EntryPlan, LoadPlan, RequestPlan, ScenarioPlan, SessionPlan};
use std::collections::{BTreeMap, BTreeSet};
use testkit::reference::{Law, ReferenceServer};
use units::Seed;

fn reference(change: impl FnOnce(&mut Reference)) -> ReferenceServer {
    let mut file = Reference::default();
    change(&mut file);
    ReferenceServer::start(Law::try_from(&file).unwrap()).unwrap()
}

fn static_request() -> Traffic {
    let plan = RequestPlan { method: "GET".into(), path: "/ping".into(), headers: vec![], body: vec![] };
    Traffic::single(&plan, "localhost", Check::new(&[200], None)).unwrap()
}

/// A session of two steps whose requests are rendered.
fn session() -> Traffic {
    let entry = |name: &str| EntryPlan {
        name: name.into(),
        weight: 1.0,
        request: RequestPlan {
            method: "GET".into(),
            path: format!("/{name}?n=${{counter()}}"),
            headers: vec![],
            body: vec![],
        },
        is_template: true,
        ..EntryPlan::default()
    };
    let scenario = ScenarioPlan {
        name: "two steps".into(),
        requests: vec![entry("a"), entry("b")],
        session: Some(SessionPlan { steps: vec![0, 1], ..SessionPlan::default() }),
        ..ScenarioPlan::default()
    };
    Traffic::new(&scenario, "localhost", Seed(1), &[]).unwrap()
}

/// Runs a load of two workers to its end, `warm_intervals` of it before the samples; its sum and the rows by worker.
fn run(mut job: Job, share: f64, warm_intervals: u64) -> (IntervalData, Vec<(u32, Row)>) {
    job.load.workers = 2;
    job.part = Part::whole(&job.load);
    let (sinks, mut sources) = rows(job.part, job.load.workers, job.load.seed, share);
    job.rows = Some(sinks);
    let mut generator = Generator::start(&job).unwrap();
    generator.begin(Some(warm_intervals));
    let sum = crate::common::sum(&mut generator).unwrap();
    assert!(sources.iter().all(RowSource::has_ended));
    let mut found = Vec::new();
    for source in &mut sources {
        let worker = source.worker;
        while source.take(|row| found.push((worker, *row))) > 0 {}
    }
    assert_eq!((found.len() as u64, sum.counts.rows_dropped), (sum.counts.rows, 0));
    (sum, found)
}

/// Every request that ended has a row, and the rows say what the book says.
fn check(what: &str, job: Job, warm_intervals: u64) -> (IntervalData, Vec<(u32, Row)>) {
    let (sum, found) = run(job, 1.0, warm_intervals);
    for (account, is_measured) in [(&sum.counts.measured, true), (&sum.counts.warm, false)] {
        let of = || found.iter().filter(|(_, row)| row.is_measured == is_measured);
        let count = |outcome: Outcome| of().filter(|(_, row)| row.outcome == outcome).count() as u64;
        assert_eq!(count(Outcome::Completed), account.completed, "{what}");
        assert_eq!(count(Outcome::Censored), account.censored, "{what}");
        for class in ErrorClass::ALL {
            assert_eq!(count(Outcome::Failed(class)), account.failed[class.index()], "{what}: {class:?}");
        }
        assert_eq!(of().count() as u64, account.scheduled, "{what}");
    }
    if warm_intervals == 0 {
        check_times(what, &sum, &found);
        let mut status: BTreeMap<u16, u64> = BTreeMap::new();
        found.iter().filter(|(_, row)| row.service_ns().is_some()).for_each(|(_, row)| {
            row.status().into_iter().for_each(|code| *status.entry(code).or_default() += 1);
        });
        assert_eq!(status, sum.status_counts(), "{what}");
    }
    let numbers: BTreeSet<u64> = found.iter().map(|(_, row)| row.request).collect();
    assert_eq!(numbers.len(), found.len(), "{what}: a number for each request");
    (sum, found)
}

/// The histograms of the rows are those of the book, bucket by bucket.
fn check_times(what: &str, sum: &IntervalData, found: &[(u32, Row)]) {
    let times = &sum.times;
    for (name, booked, of) in [
        ("response", &times[Time::Response], Row::response_ns as fn(&Row) -> Option<u64>),
        ("service", &times[Time::Service], Row::service_ns),
        ("pacer lag", &times[Time::PacerLag], Row::pacer_lag_ns),
        ("first byte", &times[Time::FirstByte], Row::first_byte_ns),
    ] {
        let mut rows = new_histogram();
        for (_, row) in found.iter().filter(|(_, row)| row.outcome == Outcome::Completed) {
            rows.saturating_record(of(row).expect("a completed request has all its times"));
        }
        // The booked one ends at its longest time, so its buckets are looked for in those of the other.
        assert!(booked == &rows, "{what}: {name}: {} and {} times", booked.len(), rows.len());
    }
}

fn jobs_on_every_driver(mut of: impl FnMut(schema::plan::DriverChoice)) {
    for driver in engine::drivers() {
        of(driver);
    }
}

#[test]
fn rows_of_closed_loads_are_those_of_the_book() {
    jobs_on_every_driver(|driver| {
        let server = reference(|_| {});
        let plain = short_load(server.addr(), driver, 8, 4001, static_request());
        let (sum, found) = check("closed", plain.clone(), 0);
        assert_eq!(sum.counts.measured.completed, 4001);
        let seen: BTreeSet<(u32, Option<u32>)> =
            found.iter().map(|(worker, row)| (*worker, row.connection())).collect();
        assert_eq!(seen.len(), 8, "slots of both workers: {seen:?}");
        assert!(found.iter().all(|(_, row)| row.body_bytes() > Some(0)));

        let mut pipelined = plain.clone();
        pipelined.load.connection.pipeline = 4;
        check("pipelined", pipelined, 0);

        let sessions = Job { traffic: session(), requests_max: Some(500), ..plain };
        let (sum, found) = check("sessions", sessions, 0);
        assert_eq!(sum.sessions.account.completed, 500);
        assert_eq!(found.iter().filter(|(_, row)| row.entry == 1).count(), 500);
    });
}

/// The same two steps, by weight, a drawn number of them.
fn drawn(length: LengthPlan) -> Traffic {
    let entry = |name: &str, weight: f64| EntryPlan {
        name: name.into(),
        weight,
        request: RequestPlan {
            method: "GET".into(),
            path: format!("/{name}?s=${{session()}}"),
            ..RequestPlan::default()
        },
        is_template: true,
        ..EntryPlan::default()
    };
    let session =
        SessionPlan { steps: vec![0, 1], length: Some(length), is_drawn: true, ..SessionPlan::default() };
    let scenario = ScenarioPlan {
        name: "drawn steps".into(),
        requests: vec![entry("often", 3.0), entry("seldom", 1.0)],
        session: Some(session),
        ..ScenarioPlan::default()
    };
    Traffic::new(&scenario, "localhost", Seed(1), &[]).unwrap()
}

#[test]
fn sessions_of_drawn_steps_have_the_length_and_the_mix_of_their_laws() {
    const SESSIONS: u64 = 2000;
    let length = LengthPlan::Lognormal { mean: 4.0, cv: 1.0 };
    jobs_on_every_driver(|driver| {
        let server = reference(|_| {});
        let plain = short_load(server.addr(), driver, 8, 1, static_request());
        let sessions = Job { traffic: drawn(length), requests_max: Some(SESSIONS), ..plain };
        let lengths = Lengths::new(&length, Seed(sessions.load.seed)).unwrap();
        let (sum, found) = check("drawn", sessions, 0);
        assert_eq!(sum.sessions.account.completed, SESSIONS);
        let mean = found.len() as f64 / SESSIONS as f64;
        let wanted = (0..SESSIONS).map(|session| lengths.of(session)).sum::<u64>() as f64 / SESSIONS as f64;
        // Workers share the sessions unevenly, so that other ones than the first 2,000 may be among them.
        assert!((mean / wanted - 1.0).abs() < 0.1, "{mean} steps, not {wanted}");
        let often = found.iter().filter(|(_, row)| row.entry == 0).count() as f64 / found.len() as f64;
        assert!((often - 0.75).abs() < 4.0 * (0.75 * 0.25 / found.len() as f64).sqrt(), "{often}");
    });
}

#[test]
fn rows_tell_of_failures_and_of_what_never_ended() {
    jobs_on_every_driver(|driver| {
        let faulty = reference(|file| (file.error_rate, file.reset_rate) = (Some(0.2), Some(0.1)));
        let (sum, found) = check("faults", short_load(faulty.addr(), driver, 8, 2000, static_request()), 0);
        let failed = sum.counts.measured.failed_by_class();
        assert!(failed[&ErrorClass::UnexpectedStatus] > 0 && failed[&ErrorClass::Reset] > 0, "{failed:?}");
        for (_, row) in &found {
            match row.outcome {
                Outcome::Failed(ErrorClass::UnexpectedStatus) => {
                    assert_eq!((row.status(), row.first_byte_ns()), (Some(500), row.service_ns()));
                }
                Outcome::Failed(_) => assert_eq!((row.status(), row.first_byte_ns()), (None, None)),
                Outcome::Completed => assert_eq!(row.status(), Some(200)),
                Outcome::Censored => panic!("a budget that was answered leaves nothing"),
            }
        }
        // Far more than one server can answer: most waits for a connection, and never ends.
        let slow = reference(|file| file.mean = Some(units::Nanos::from_millis(20)));
        let mut overload = short_load(slow.addr(), driver, 4, 1, static_request());
        overload.requests_max = None;
        overload.load = LoadPlan {
            model: LoadModel::Open,
            rate_per_s: Some(2000.0),
            arrivals: Some(ArrivalPlan::Poisson),
            ..overload.load
        };
        overload.timeline = Timeline::for_samples(400 * MS, 1, 50 * MS);
        let (sum, found) = check("overload", overload, 0);
        assert!(sum.counts.measured.censored > 100, "{:?}", sum.counts.measured);
        let unsent = found.iter().filter(|(_, row)| row.connection().is_none());
        assert!(unsent.clone().count() > 100);
        assert!(
            unsent.clone().all(|(_, row)| row.connection_wait_ns().is_none() && row.pacer_lag_ns().is_some())
        );
    });
}

#[test]
fn rows_know_warm_up_from_the_samples_and_a_sample_of_them_is_drawn_alike() {
    jobs_on_every_driver(|driver| {
        let server = reference(|_| {});
        let mut open = short_load(server.addr(), driver, 16, 1, static_request());
        open.requests_max = None;
        open.load = LoadPlan {
            model: LoadModel::Open,
            rate_per_s: Some(2000.0),
            arrivals: Some(ArrivalPlan::Constant),
            ..open.load
        };
        open.timeline = Timeline { interval_ns: 200 * MS, measured_intervals: 2, drain_ns: 500 * MS };
        let (sum, found) = check("open", open.clone(), 1);
        assert!(sum.counts.warm.scheduled > 0 && sum.counts.measured.scheduled > 0);
        let all: BTreeSet<u64> = found.iter().map(|(_, row)| row.request).collect();
        let (_, sampled) = run(open, 0.1, 1);
        let drawn: BTreeSet<u64> = sampled.iter().map(|(_, row)| row.request).collect();
        // The same seed has the same schedule, so the sample is a part of the whole.
        assert!(drawn.is_subset(&all) && !drawn.is_empty() && drawn.len() * 5 < all.len(), "{}", drawn.len());
    });
}
