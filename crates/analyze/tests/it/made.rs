//! Trials made from first principles: queues and noise of which the truth is known.
//!
//! A queue is simulated by Lindley's recursion from its stationary state: one server, exponential service of mean 1 ms.

use analyze::latency;
use hdrhistogram::Histogram;
use schema::load::LatencySummary;
use schema::trial::{IntervalLine, Phase};
use units::Rng;

/// Mean service time of every queue here.
pub(crate) const SERVICE_NS: f64 = 1e6;

/// How requests arrive; rates per mean service time, so the mean rate is the load.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Arrivals {
    /// At this load.
    Poisson(f64),
    /// Poisson whose rate is one or the other, each for exponential times of mean 50 services: a load of 50 %.
    Mmpp(f64, f64),
}

/// Mean time in a state of the MMPP, in mean service times.
const DWELL: f64 = 50.0;

/// The stream of gaps between arrivals.
struct Gaps {
    arrivals: Arrivals,
    is_high: bool,
    left: f64,
}

impl Gaps {
    fn new(arrivals: Arrivals, rng: &mut Rng) -> Self {
        Self { arrivals, is_high: rng.unit() < 0.5, left: DWELL * rng.exponential() }
    }

    fn next(&mut self, rng: &mut Rng) -> f64 {
        let (high, low) = match self.arrivals {
            Arrivals::Poisson(load) => return rng.exponential() / load,
            Arrivals::Mmpp(high, low) => (high, low),
        };
        let mut gap = 0.0;
        loop {
            let next = rng.exponential() / if self.is_high { high } else { low };
            if next <= self.left {
                self.left -= next;
                return gap + next;
            }
            gap += self.left;
            (self.is_high, self.left) = (!self.is_high, DWELL * rng.exponential());
        }
    }
}

/// Response times of `n` requests in a row, each `scale` times as long as the queue's own.
pub(crate) fn queue(rng: &mut Rng, arrivals: Arrivals, n: u64, scale: f64) -> Histogram<u64> {
    let mut histogram = Histogram::new(3).expect("three digits");
    let mut gaps = Gaps::new(arrivals, rng);
    let mut waiting = match arrivals {
        Arrivals::Poisson(load) if rng.unit() < load => rng.exponential() / (1.0 - load),
        Arrivals::Poisson(_) => 0.0,
        Arrivals::Mmpp(..) => warm(rng, &mut gaps),
    };
    for _ in 0..n {
        let service = rng.exponential();
        let response = (waiting + service) * SERVICE_NS * scale;
        histogram.record(response as u64).expect("auto-resize");
        waiting = (waiting + service - gaps.next(rng)).max(0.0);
    }
    histogram
}

/// The wait after a thousand requests: near enough to the stationary one at a load of 50 %.
fn warm(rng: &mut Rng, gaps: &mut Gaps) -> f64 {
    (0..1000).fold(0.0, |waiting: f64, _| (waiting + rng.exponential() - gaps.next(rng)).max(0.0))
}

/// What a trial reports of it.
pub(crate) fn summary(rng: &mut Rng, arrivals: Arrivals, n: u64, scale: f64) -> LatencySummary {
    latency(&queue(rng, arrivals, n, scale), 0, analyze::Of::Requests)
}

/// Mean, median and p99 of the response time: of an M/M/1 queue exponential with rate 1 − load; of an MMPP/M/1 queue
/// from one long simulation, whose error is a tenth of that of the runs that are held against it.
pub(crate) fn truth(rng: &mut Rng, arrivals: Arrivals) -> [f64; 3] {
    match arrivals {
        Arrivals::Poisson(load) => [1.0, 2.0_f64.ln(), 100.0_f64.ln()].map(|t| t / (1.0 - load) * SERVICE_NS),
        Arrivals::Mmpp(..) => {
            let long = queue(rng, arrivals, 8_000_000, 1.0);
            let at = |quantile| long.value_at_quantile(quantile) as f64;
            [long.mean(), at(0.5), at(0.99)]
        }
    }
}

/// `seconds` of throughput around `level` with autoregressive noise: φ = 0.7, standard deviation 5 %.
pub(crate) fn autoregressive(rng: &mut Rng, level: f64, seconds: u64) -> Vec<IntervalLine> {
    const PHI: f64 = 0.7;
    const SD: f64 = 0.05;
    let mut noise = SD * rng.normal();
    let line = |second: u64| {
        let completed = (level * (1.0 + noise)).max(0.0).round() as u64;
        noise = PHI * noise + SD * (1.0 - PHI * PHI).sqrt() * rng.normal();
        IntervalLine {
            phase: Some(Phase::Sample),
            sample: Some(1),
            ..crate::synth::second(second, completed)
        }
    };
    (0..seconds).map(line).collect()
}

#[test]
fn the_queue_is_the_one_of_the_textbook() {
    let mut rng = units::Seed(1).rng();
    let long = queue(&mut rng, Arrivals::Poisson(0.5), 1_000_000, 1.0);
    let wanted = truth(&mut rng, Arrivals::Poisson(0.5));
    let got = [long.mean(), long.value_at_quantile(0.5) as f64, long.value_at_quantile(0.99) as f64];
    for (got, wanted) in got.into_iter().zip(wanted) {
        assert!((got / wanted - 1.0).abs() < 0.02, "{got} is not {wanted}");
    }
    // The same load in bursts waits longer.
    let bursts = queue(&mut rng, Arrivals::Mmpp(0.9, 0.1), 1_000_000, 1.0);
    assert!(bursts.mean() > 1.5 * long.mean(), "{}", bursts.mean());
}
