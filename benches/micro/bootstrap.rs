//! Micro-benchmarks of the hierarchical bootstrap: 10,000 samples of 30 pairs of trials must take less than 100 ms.

use analyze::stats::bootstrap::{Series, log_ratio};
use divan::{Bencher, black_box};
use units::{Rng, Seed};

const SAMPLES: u32 = 10_000;
const PAIRS: usize = 30;
const SECONDS: usize = 60;

fn main() {
    divan::main();
}

/// A minute of about 10,000 answers a second.
fn series(rng: &mut Rng) -> Series {
    let seconds: Vec<(f64, f64)> = (0..SECONDS).map(|_| (1e4 * (1.0 + 0.05 * rng.normal()), 1.0)).collect();
    Series::new(&seconds).expect("all seconds have answers")
}

/// Trials are drawn, then blocks of seconds within each.
#[divan::bench]
fn thirty_pairs_with_seconds(bencher: Bencher<'_, '_>) {
    let mut rng = Seed(1).derive("bench.bootstrap", 0).rng();
    let pairs: Vec<(Series, Series)> = (0..PAIRS).map(|_| (series(&mut rng), series(&mut rng))).collect();
    bencher.bench_local(|| log_ratio(black_box(&pairs), 0.95, SAMPLES, Seed(1)).expect("the pairs differ"));
}

/// Only trials are drawn, as for percentiles.
#[divan::bench]
fn thirty_pairs_of_values(bencher: Bencher<'_, '_>) {
    let mut rng = Seed(1).derive("bench.bootstrap", 0).rng();
    let mut value = || Series::constant(1e6 * (0.05 * rng.normal()).exp()).expect("positive");
    let pairs: Vec<(Series, Series)> = (0..PAIRS).map(|_| (value(), value())).collect();
    bencher.bench_local(|| log_ratio(black_box(&pairs), 0.95, SAMPLES, Seed(1)).expect("the pairs differ"));
}
