//! Micro-benchmarks of crate `pace`: the cost of one intended time, alone and as one of eight workers.

use divan::Bencher;
use pace::{Schedule, Share};
use schema::experiment::ArrivalLaw;
use units::{PerSecond, Seed};

const RATE_PER_S: f64 = 40_000.0;
const LAWS: [ArrivalLaw; 3] = [ArrivalLaw::Constant, ArrivalLaw::Uniform, ArrivalLaw::Poisson];

fn main() {
    divan::main();
}

fn bench_share(bencher: Bencher<'_, '_>, law: ArrivalLaw, share: Share) {
    let mut schedule = Schedule::new(law, PerSecond(RATE_PER_S), Seed(1), share).expect("the rate is valid");
    bencher.bench_local(|| schedule.advance());
}

/// The whole schedule.
#[divan::bench(args = LAWS)]
fn alone(bencher: Bencher<'_, '_>, law: ArrivalLaw) {
    bench_share(bencher, law, Share::WHOLE);
}

/// One worker's eighth; a Poisson worker draws the gaps of the other seven too.
#[divan::bench(args = LAWS)]
fn one_of_eight(bencher: Bencher<'_, '_>, law: ArrivalLaw) {
    bench_share(bencher, law, Share::new(3, 8));
}
