//! Tests of arrivals that are drawn once: the same as each worker's own, whoever draws, and their cost.

use super::*;
use crate::schedule::tests::{S, laws, shapes};
use crate::{PaceError, Schedule, Share};
use schema::arrival::{ArrivalPlan, ShapePlan};
use schema::plan::LoadPlan;
use std::time::Instant;

fn load(law: &ArrivalPlan, shape: Option<&ShapePlan>, workers: u32) -> LoadPlan {
    LoadPlan {
        arrivals: Some(law.clone()),
        shape: shape.cloned(),
        rate_per_s: Some(997.5),
        seed: 9,
        workers,
        ..LoadPlan::default()
    }
}

/// The lanes of workers that share a drawing, for any number of workers.
fn drawn(load: &LoadPlan, first: u32, own: u32) -> (Vec<Lane>, Drawing) {
    let law = Law::of_load(load, None, Share::WHOLE).unwrap();
    Drawing::new(law, first.into(), own.into(), load.workers.into())
}

fn own(load: &LoadPlan, worker: u32) -> Schedule {
    Schedule::of_load(load, None, Share::new(worker, load.workers)).unwrap()
}

/// All times before `end_ns`.
fn until(mut next: impl FnMut() -> Nanos, end_ns: u64) -> Vec<Nanos> {
    std::iter::from_fn(|| Some(next()).filter(|at| at.0 < end_ns)).collect()
}

/// Every law that is a sum, bare and on each shape.
fn sums(workers: u32) -> Vec<LoadPlan> {
    let shapes = shapes();
    let shapes = || std::iter::once(None).chain(shapes.iter().map(Some));
    let laws = laws().into_iter().filter(|law| !matches!(law, ArrivalPlan::Recorded { .. }));
    let loads =
        laws.flat_map(|law| shapes().map(move |shape| load(&law, shape, workers)).collect::<Vec<_>>());
    let is_sum = |load: &LoadPlan| Law::of_load(load, None, Share::WHOLE).unwrap().is_sum();
    loads.filter(is_sum).collect()
}

/// Processes with these numbers of workers, together, send what one worker alone does, and each of their workers what it
/// would draw for itself.
fn check(load: &LoadPlan, processes: &[u32], end_ns: u64) {
    let mut union = Vec::new();
    let mut first = 0;
    for count in processes {
        let (lanes, _drawing) = drawn(load, first, *count);
        for (mut lane, worker) in lanes.into_iter().zip(first..) {
            let times = until(|| lane.draw(), end_ns);
            let mut alone = own(load, worker);
            assert_eq!(times, until(|| alone.advance(), end_ns), "worker {worker} of {load:?}");
            union.extend(times);
        }
        first += count;
    }
    assert_eq!(first, load.workers);
    union.sort_unstable();
    let mut whole = own(&LoadPlan { workers: 1, ..load.clone() }, 0);
    let whole = until(|| whole.advance(), end_ns);
    assert!(whole.len() > 500);
    assert_eq!(union, whole, "{load:?} over {processes:?}");
}

#[test]
fn what_is_drawn_once_is_what_each_worker_would_draw() {
    for (workers, end_ns, splits) in [
        (1, 20 * S, vec![vec![1]]),
        (5, 20 * S, vec![vec![5], vec![2, 3], vec![1, 1, 1, 1, 1]]),
        (200, 4 * S, vec![vec![1, 150, 49]]),
    ] {
        let loads = sums(workers);
        assert!(loads.len() >= 40, "seven laws, bare and on five shapes: {}", loads.len());
        for (load, split) in loads.iter().flat_map(|load| splits.iter().map(move |split| (load, split))) {
            check(load, split, end_ns);
        }
    }
}

#[test]
fn a_batch_of_one_round_is_enough_for_more_workers_than_it_passes_arrivals() {
    let load = load(&ArrivalPlan::Poisson, None, 2 * PASSED as u32);
    let (lanes, _drawing) = drawn(&load, 5000, 2);
    for (mut lane, worker) in lanes.into_iter().zip(5000..) {
        let mut alone = own(&load, worker);
        (0..5).for_each(|_| assert_eq!(lane.draw(), alone.advance()));
    }
}

#[test]
fn workers_and_the_drawing_thread_may_come_in_any_order() {
    let load = load(&ArrivalPlan::Poisson, None, 8);
    let count = 40_000;
    let (lanes, mut drawing) = drawn(&load, 0, 8);
    let is_over = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        let drawer = scope.spawn(|| {
            drawing.serve();
            while !is_over.load(Ordering::Relaxed) {
                while drawing.draw_ahead() {}
                std::thread::park();
            }
            drawing.last.number
        });
        let workers: Vec<_> = lanes
            .into_iter()
            .zip(0..)
            .map(|(mut lane, worker)| {
                let mut alone = own(&load, worker);
                scope.spawn(move || (0..count).all(|_| lane.draw() == alone.advance()))
            })
            .collect();
        let all_equal = workers.into_iter().all(|worker| worker.join().unwrap());
        is_over.store(true, Ordering::Relaxed);
        drawer.thread().unpark();
        assert!(all_equal);
        assert!(drawer.join().unwrap() >= count * 8 / PASSED);
    });
}

#[test]
fn little_is_drawn_before_the_load_and_no_more_than_a_bound_during_it() {
    let load = load(&ArrivalPlan::Poisson, None, 8);
    let (mut lanes, mut drawing) = drawn(&load, 0, 8);
    let mut drawn_ahead = || std::iter::from_fn(|| drawing.draw_ahead().then_some(())).count();
    assert_eq!((drawn_ahead(), drawn_ahead()), (2, 0));
    for lane in &mut lanes {
        (0..=200 * PASSED / 8).for_each(|_| _ = lane.draw());
    }
    assert_eq!((drawn_ahead() as u64, drawn_ahead()), (AHEAD_MAX + 200 - 2, 0));
}

#[test]
fn batches_go_away_behind_the_last_worker_and_a_long_chain_ends_without_a_deep_stack() {
    // Any law does, and this one costs least.
    let load = load(&ArrivalPlan::Constant, None, PASSED as u32);
    let (mut lanes, drawing) = drawn(&load, 0, 2);
    let begin = Arc::downgrade(&drawing.last);
    drop(drawing);
    (0..1000).for_each(|_| _ = lanes[0].draw());
    assert!(begin.upgrade().is_some(), "the other worker is still in it");
    (0..300_000).for_each(|_| _ = lanes[1].draw());
    assert!(begin.upgrade().is_none());
    // The first worker is 299,000 batches behind, and drops them all.
    lanes.pop();
    lanes.pop();
}

#[test]
fn few_workers_and_arrivals_by_number_need_no_drawing() {
    let of =
        |law: &ArrivalPlan, workers| Schedule::drawn_once(&load(law, None, workers), 0, 1).unwrap().is_some();
    assert!(of(&ArrivalPlan::Poisson, 5) && !of(&ArrivalPlan::Poisson, 4));
    assert!(!of(&ArrivalPlan::Constant, 200) && !of(&ArrivalPlan::Uniform { width: 1.0 }, 200));
    let wrong = LoadPlan { rate_per_s: Some(0.0), ..load(&ArrivalPlan::Poisson, None, 200) };
    assert!(matches!(Schedule::drawn_once(&wrong, 0, 1), Err(PaceError::Rate(_))));
}

/// Nanoseconds for each arrival of these workers, drawing included: the least of five, as others want the CPU too.
fn cost_ns<T>(workers: &mut [T], draw: fn(&mut T) -> Nanos, rounds: u64) -> f64 {
    let once = |_| {
        let begin = Instant::now();
        for _ in 0..rounds {
            for worker in workers.iter_mut() {
                std::hint::black_box(draw(worker));
            }
        }
        begin.elapsed().as_nanos() as f64 / (rounds * workers.len() as u64) as f64
    };
    (0..5).map(once).fold(f64::INFINITY, f64::min)
}

/// Prints what an arrival costs the process that sends it, drawn by each of its workers and drawn once for all of them;
/// no mark is set.
#[test]
#[ignore = "a measurement: cargo test --locked --release -p pace -- --ignored --nocapture cost_of_an_arrival"]
fn cost_of_an_arrival() {
    let mmpp = ArrivalPlan::Mmpp { high: 5.0, low: 1.0, high_for_ns: S / 10, low_for_ns: S };
    let others = [
        ArrivalPlan::Weibull { shape: 0.7 },
        ArrivalPlan::Lognormal { cv: 1.5 },
        ArrivalPlan::Gamma { shape: 0.5 },
        mmpp,
    ];
    let poisson = [(1, 1), (4, 4), (8, 8), (32, 32), (200, 200), (200, 100), (200, 50), (200, 10), (200, 1)];
    let poisson = poisson.map(|split| (ArrivalPlan::Poisson, split));
    let others = others.into_iter().flat_map(|law| [(law.clone(), (1, 1)), (law, (200, 200))]);
    println!("| law | workers | of this process | each draws, ns | drawn once, ns |");
    for (law, (workers, count)) in poisson.into_iter().chain(others) {
        let load = load(&law, None, workers);
        let mut each: Vec<Schedule> = (0..count).map(|worker| own(&load, worker)).collect();
        let draws = u64::from(workers) * u64::from(count);
        let each_ns = cost_ns(&mut each, Schedule::advance, 1_000_000 / draws + 1);
        let (mut once, _drawing) = drawn(&load, 0, count);
        let once_ns = cost_ns(&mut once, Lane::draw, 1_000_000 / u64::from(workers));
        println!("| {law:?} | {workers} | {count} | {each_ns:.0} | {once_ns:.0} |");
    }
}
