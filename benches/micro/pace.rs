//! Micro-benchmarks of crate `pace`: the cost of one intended time, alone and as one of eight workers.

use divan::Bencher;
use pace::{Schedule, Share};
use schema::arrival::ArrivalPlan;
use units::{PerSecond, Seed};

const RATE_PER_S: f64 = 40_000.0;
const LAWS: [&str; 6] = ["constant", "uniform", "poisson", "weibull", "lognormal", "gamma"];

fn main() {
    divan::main();
}

fn plan(law: &str) -> ArrivalPlan {
    match law {
        "uniform" => ArrivalPlan::Uniform { width: 1.0 },
        "poisson" => ArrivalPlan::Poisson,
        "weibull" => ArrivalPlan::Weibull { shape: 0.7 },
        "lognormal" => ArrivalPlan::Lognormal { cv: 1.5 },
        "gamma" => ArrivalPlan::Gamma { shape: 0.5 },
        _ => ArrivalPlan::Constant,
    }
}

fn bench_share(bencher: Bencher<'_, '_>, law: &str, share: Share) {
    let law = plan(law);
    let mut schedule =
        Schedule::new(&law, PerSecond(RATE_PER_S), None, None, Seed(1), share).expect("the rate is valid");
    bencher.bench_local(|| schedule.advance());
}

/// The whole schedule.
#[divan::bench(args = LAWS)]
fn alone(bencher: Bencher<'_, '_>, law: &str) {
    bench_share(bencher, law, Share::WHOLE);
}

/// One worker's eighth; with random gaps it draws those of the other seven too.
#[divan::bench(args = LAWS)]
fn one_of_eight(bencher: Bencher<'_, '_>, law: &str) {
    bench_share(bencher, law, Share::new(3, 8));
}
