//! Micro-benchmark of the recorder's share of a request: four times into four histograms of METHOD §10.

use divan::{Bencher, black_box};
use engine::new_histogram;
use units::{Rng, Seed};

/// Requests drawn beforehand; a power of two, so that going round is a mask.
const REQUESTS: usize = 4096;

fn main() {
    divan::main();
}

/// Response, service, send lag and pacer lag in nanoseconds: around 250 µs, with lags around 10 µs and 1 µs.
fn times(rng: &mut Rng) -> [u64; 4] {
    let mut around = |median_ns: f64| (median_ns * (rng.normal() * 0.5).exp()) as u64;
    let (service, lag, pacer) = (around(250e3), around(10e3), around(1e3));
    [service + lag, service, lag, pacer]
}

#[divan::bench]
fn record_four_times(bencher: Bencher<'_, '_>) {
    let mut rng = Seed(1).derive("bench.record", 0).rng();
    let requests: Vec<[u64; 4]> = (0..REQUESTS).map(|_| times(&mut rng)).collect();
    let mut histograms = [(); 4].map(|()| new_histogram());
    let mut next = 0;
    bencher.bench_local(|| {
        let request = black_box(&requests)[next & (REQUESTS - 1)];
        next += 1;
        for (histogram, time) in histograms.iter_mut().zip(request) {
            histogram.record(time).expect("an hour is not reached");
        }
    });
}

/// What the end of an interval costs: emptying the four.
#[divan::bench]
fn reset_four_histograms(bencher: Bencher<'_, '_>) {
    let mut histograms = [(); 4].map(|()| new_histogram());
    bencher.bench_local(|| {
        for histogram in &mut histograms {
            histogram.reset();
        }
    });
}
