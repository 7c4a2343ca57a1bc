//! Closed systems with known laws, simulated event by event: N customers, c exponential servers with one queue, and an
//! exponential think time. What is counted is true by construction, so no table made from it is impossible.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use units::Rng;

/// A closed system.
#[derive(Clone, Copy, Debug)]
pub(crate) struct System {
    pub(crate) customers: usize,
    pub(crate) servers: usize,
    /// Mean service time in seconds.
    pub(crate) service_s: f64,
    /// Mean think time in seconds.
    pub(crate) think_s: f64,
}

/// What was seen of it.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    /// Response times of the requests that ended in the window, rising.
    pub(crate) responses_s: Vec<f64>,
    pub(crate) duration_s: f64,
    /// Busy servers on average.
    pub(crate) busy: f64,
}

/// A time of the simulation that can be ordered.
#[derive(Clone, Copy, Debug, PartialEq)]
struct At(f64);

impl Eq for At {}
impl Ord for At {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}
impl PartialOrd for At {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Arrives,
    Leaves,
}

impl System {
    /// Runs until `requests` have ended after the first `skipped`.
    pub(crate) fn run(self, rng: &mut Rng, skipped: usize, requests: usize) -> Seen {
        let mut events: BinaryHeap<Reverse<(At, Event, At)>> = BinaryHeap::new();
        for _ in 0..self.customers {
            let at = At(if self.think_s > 0.0 { rng.exponential() * self.think_s } else { 0.0 });
            events.push(Reverse((at, Event::Arrives, at)));
        }
        let mut waiting: VecDeque<At> = VecDeque::new();
        let (mut busy, mut ended, mut begin, mut busy_s, mut last) = (0, 0, 0.0, 0.0, 0.0);
        let mut responses_s = Vec::with_capacity(requests);
        while let Some(Reverse((now, event, arrived))) = events.pop() {
            if ended >= skipped {
                busy_s += (now.0 - last) * busy as f64;
            }
            last = now.0;
            match event {
                Event::Arrives => waiting.push_back(now),
                Event::Leaves => {
                    busy -= 1;
                    ended += 1;
                    if ended == skipped {
                        (begin, busy_s) = (now.0, 0.0);
                    }
                    if ended > skipped {
                        responses_s.push(now.0 - arrived.0);
                    }
                    let think = if self.think_s > 0.0 { rng.exponential() * self.think_s } else { 0.0 };
                    let next = At(now.0 + think);
                    events.push(Reverse((next, Event::Arrives, next)));
                    if responses_s.len() >= requests {
                        break;
                    }
                }
            }
            while busy < self.servers {
                let Some(arrived) = waiting.pop_front() else { break };
                busy += 1;
                events.push(Reverse((
                    At(now.0 + rng.exponential() * self.service_s),
                    Event::Leaves,
                    arrived,
                )));
            }
        }
        responses_s.sort_by(f64::total_cmp);
        let duration_s = last - begin;
        Seen { responses_s, duration_s, busy: busy_s / duration_s }
    }
}

impl Seen {
    pub(crate) fn throughput(&self) -> f64 {
        self.responses_s.len() as f64 / self.duration_s
    }

    pub(crate) fn mean(&self) -> f64 {
        self.responses_s.iter().sum::<f64>() / self.responses_s.len() as f64
    }

    pub(crate) fn deviation(&self) -> f64 {
        let mean = self.mean();
        let squares: f64 = self.responses_s.iter().map(|value| (value - mean).powi(2)).sum();
        (squares / (self.responses_s.len() - 1) as f64).sqrt()
    }

    /// The quantile by nearest rank, or between neighbours as R's type 7.
    pub(crate) fn quantile(&self, q: f64, interpolated: bool) -> f64 {
        let n = self.responses_s.len();
        if interpolated {
            let at = q * (n - 1) as f64;
            let low = at.floor() as usize;
            let high = (low + 1).min(n - 1);
            return self.responses_s[low]
                + (at - low as f64) * (self.responses_s[high] - self.responses_s[low]);
        }
        let rank = (q * n as f64).ceil() as usize;
        self.responses_s[rank.clamp(1, n) - 1]
    }
}

#[test]
fn the_simulation_obeys_exact_laws() {
    // M/M/1 with N customers and no think time: X = 1/s and R = N·s exactly, whatever N.
    let mut rng = units::Seed(1).derive("exact", 0).rng();
    let system = System { customers: 20, servers: 1, service_s: 0.001, think_s: 0.0 };
    let seen = system.run(&mut rng, 1000, 50_000);
    assert!((seen.throughput() * 0.001 - 1.0).abs() < 0.02, "{}", seen.throughput());
    assert!((seen.mean() / 0.020 - 1.0).abs() < 0.02 && (seen.busy - 1.0).abs() < 1e-9, "{}", seen.mean());
    // The machine-repair model with N = 2, c = 1, Z = s: X = 0.8/s (Erlang's finite source, utilisation 4/5).
    let system = System { customers: 2, servers: 1, service_s: 0.001, think_s: 0.001 };
    let seen = system.run(&mut rng, 1000, 50_000);
    assert!((seen.throughput() * 0.001 - 0.8).abs() < 0.02, "{}", seen.throughput());
    assert!((seen.busy - 0.8).abs() < 0.02, "{}", seen.busy);
}
