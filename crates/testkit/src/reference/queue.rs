//! The queue in virtual time: c servers, first come first served, service times by law. Pure.

use super::Law;
use schema::experiment::ServiceLaw;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use units::{Nanos, Rng};

/// What is to be done with a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fate {
    Answer,
    Error,
    Reset,
}

/// When each server is free, and the stream of random decisions.
pub(super) struct Queue {
    free_at: BinaryHeap<Reverse<u64>>,
    service: Rng,
    faults: Rng,
    law: Law,
}

impl Queue {
    pub(super) fn new(law: Law) -> Self {
        Self {
            free_at: (0..law.servers).map(|_| Reverse(0)).collect(),
            service: law.seed.derive("service", 0).rng(),
            faults: law.seed.derive("faults", 0).rng(),
            law,
        }
    }

    /// Takes a request that arrived at `now` into the queue. Returns when its service ends, and its fate.
    pub(super) fn arrive(&mut self, now: Nanos) -> (Nanos, Fate) {
        let service_ns = self.service_ns();
        let free = self.free_at.pop().map_or(0, |Reverse(free)| free);
        let done = free.max(now.0) + service_ns;
        self.free_at.push(Reverse(done));
        (Nanos(done), self.fate())
    }

    fn service_ns(&mut self) -> u64 {
        let mean_ns = self.law.mean.0 as f64;
        let factor = match self.law.service {
            _ if self.law.mean == Nanos::ZERO => 0.0,
            ServiceLaw::Constant => 1.0,
            ServiceLaw::Exponential => self.service.exponential(),
            // Mean 1 and coefficient of variation 1: σ² = ln 2, μ = −σ²/2.
            ServiceLaw::Lognormal => {
                let variance = std::f64::consts::LN_2;
                (variance.sqrt() * self.service.normal() - variance / 2.0).exp()
            }
        };
        (mean_ns * factor).round() as u64
    }

    fn fate(&mut self) -> Fate {
        if self.law.error_rate == 0.0 && self.law.reset_rate == 0.0 {
            return Fate::Answer;
        }
        let draw = self.faults.unit();
        match draw {
            _ if draw < self.law.error_rate => Fate::Error,
            _ if draw < self.law.error_rate + self.law.reset_rate => Fate::Reset,
            _ => Fate::Answer,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Seed;

    fn law(service: ServiceLaw, mean_ns: u64, servers: u32) -> Law {
        let (error_rate, reset_rate) = (0.0, 0.0);
        let burn = Nanos::ZERO;
        Law {
            service,
            mean: Nanos(mean_ns),
            burn,
            servers,
            seed: Seed(5),
            error_rate,
            reset_rate,
            freeze: None,
            leak_memory_bytes: 0,
            leak_descriptors_every: 0,
            cache_bytes: 0,
        }
    }

    #[test]
    fn requests_wait_for_a_server_in_order() {
        let mut one = Queue::new(law(ServiceLaw::Constant, 100, 1));
        assert_eq!([10, 20, 500].map(|at| one.arrive(Nanos(at)).0.0), [110, 210, 600]);
        let mut two = Queue::new(law(ServiceLaw::Constant, 100, 2));
        assert_eq!([10, 20, 30].map(|at| two.arrive(Nanos(at)).0.0), [110, 120, 210]);
    }

    #[test]
    fn service_laws_have_their_mean_and_variation() {
        for (service, variation) in [(ServiceLaw::Exponential, 1.0), (ServiceLaw::Lognormal, 1.0)] {
            let mut queue = Queue::new(law(service, 1_000_000, 1));
            let n = 200_000;
            let times: Vec<f64> = (0..n).map(|_| queue.service_ns() as f64 / 1e6).collect();
            let mean = times.iter().sum::<f64>() / f64::from(n);
            let variance = times.iter().map(|t| (t - mean).powi(2)).sum::<f64>() / f64::from(n);
            assert!((mean - 1.0).abs() < 0.01, "{service:?} mean {mean}");
            assert!((variance.sqrt() / mean - variation).abs() < 0.03, "{service:?} variation");
        }
    }

    #[test]
    fn m_m_1_at_half_load_has_the_textbook_response_time() {
        // Mean response 1/(μ−λ) = 2/μ at 50 % load.
        let mut queue = Queue::new(law(ServiceLaw::Exponential, 1_000_000, 1));
        let mut arrivals = Seed(8).rng();
        let (mut at, mut sum) = (0.0, 0.0);
        let n = 400_000;
        for _ in 0..n {
            at += arrivals.exponential() * 2e6;
            sum += queue.arrive(Nanos(at as u64)).0.0 as f64 - at;
        }
        assert!((sum / f64::from(n) / 2e6 - 1.0).abs() < 0.03, "{}", sum / f64::from(n));
    }

    #[test]
    fn faults_come_at_their_rates() {
        let faulty = Law { error_rate: 0.1, reset_rate: 0.05, ..law(ServiceLaw::Constant, 1, 1) };
        let mut queue = Queue::new(faulty);
        let fates: Vec<Fate> = (0..100_000).map(|_| queue.arrive(Nanos(0)).1).collect();
        let share = |fate| fates.iter().filter(|have| **have == fate).count() as f64 / 1e5;
        assert!((share(Fate::Error) - 0.1).abs() < 0.005);
        assert!((share(Fate::Reset) - 0.05).abs() < 0.005);
    }
}
