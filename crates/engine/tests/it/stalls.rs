//! Stalls as the engine notes them: a target that stands still is seen by all workers at once, and only then.

use crate::common::{MS, prepared, short_load};
use engine::{Generator, Part, Stall, Step, Timeline};
use schema::experiment::Reference;
use schema::plan::DriverChoice;
use std::time::Duration;
use testkit::reference::{Law, ReferenceServer};
use units::Nanos;

/// The longest stall of a load of two seconds and intervals by two workers; pieces that touch are one.
fn longest(driver: DriverChoice, freeze: &str) -> Option<Stall> {
    let freeze = Some(freeze.to_owned());
    let law = Reference { mean: Some(Nanos(MS)), servers: Some(64), freeze, ..Reference::default() };
    let server = ReferenceServer::start(Law::try_from(&law).unwrap()).unwrap();
    let mut job = short_load(server.addr(), driver, 16, 0, prepared("GET", Vec::new(), None));
    job.requests_max = None;
    job.load.workers = 2;
    job.part = Part { first: 0, workers: 2 };
    job.timeline = Timeline::for_samples(2_000 * MS, 1, 1_000 * MS);
    let mut generator = Generator::start(&job).unwrap();
    generator.begin(Some(0));
    let mut stalls: Vec<Stall> = Vec::new();
    loop {
        let data = match generator.next(Duration::from_secs(20)).unwrap() {
            Step::Interval(data) => data,
            Step::Waiting => panic!("the engine went silent"),
            Step::Ended => break,
        };
        for stall in data.stalls.as_slice() {
            match stalls.last_mut().filter(|last| last.end_ns == stall.start_ns) {
                Some(last) => last.end_ns = stall.end_ns,
                None => stalls.push(*stall),
            }
        }
    }
    stalls.into_iter().max_by_key(|stall| stall.end_ns - stall.start_ns)
}

#[test]
fn a_target_that_stands_still_is_noted_with_all_that_was_in_flight() {
    for driver in [DriverChoice::Epoll, DriverChoice::Auto] {
        // Over the end of an interval.
        let stall = longest(driver, "700ms+700ms").expect("it stood still");
        // It is silent for no less than it was told to; what is in flight is all that there is.
        assert!(stall.end_ns - stall.start_ns >= 650 * MS, "{stall:?}");
        assert_eq!(stall.in_flight, 16, "{stall:?}");
    }
}
