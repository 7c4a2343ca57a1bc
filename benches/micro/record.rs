//! Micro-benchmarks of the recorder: four times into four histograms of METHOD §10, as for each request, and what ends
//! an interval and a run.

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

/// What the end of a run costs for each further worker: adding its five histograms (the connections' too) to the sum.
#[divan::bench]
fn add_five_histograms(bencher: Bencher<'_, '_>) {
    let mut rng = Seed(1).derive("bench.record", 0).rng();
    let mut worker = [(); 5].map(|()| new_histogram());
    for _ in 0..REQUESTS {
        let [response, service, lag, pacer] = times(&mut rng);
        for (histogram, time) in worker.iter_mut().zip([response, service, lag, pacer, service]) {
            histogram.record(time).expect("an hour is not reached");
        }
    }
    let mut sums = [(); 5].map(|()| new_histogram());
    bencher.bench_local(|| {
        for (sum, histogram) in sums.iter_mut().zip(black_box(&worker)) {
            sum.add(histogram).expect("both have the same bounds");
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
