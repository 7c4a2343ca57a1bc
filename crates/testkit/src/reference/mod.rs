//! The reference target: an HTTP server that is one queue with a known law of service (M/M/c, M/D/c, …).
//!
//! The queue is kept in virtual time: a request that arrives at t begins when a server is free and ends after its
//! service time, and the answer is sent at that moment. The truth therefore does not depend on how fast this process
//! is, only on the accuracy of its timer, which sleeps to a margin and spins the rest. With `burn` it is the contrary:
//! each answer costs CPU time, so that its throughput is known where the CPU is the limit. What it counts and times
//! itself is shown on `/stats` and `/metrics`. A connection speaks HTTP/1.1, or HTTP/2 where it begins with its preface;
//! requests of both, and calls of gRPC, wait in the one queue.

mod burn;
mod connections;
mod holdings;
mod http;
mod http2;
mod queue;
mod secure;
mod server;
mod times;

pub use server::{Place, ReferenceServer, serve};

use schema::experiment::{Reference, ServiceLaw};
use units::{Bytes, Nanos, Seed};

/// The longest CPU time of an answer; the server hears nothing while it computes.
const BURN_MAX: Nanos = Nanos::from_secs(1);
/// The most that a request may leave behind.
const LEAK_BYTES_MAX: u64 = 16 << 20;
/// The largest cache.
const CACHE_BYTES_MAX: u64 = 16 << 30;

/// The law of a reference target, checked and with every default filled in.
#[derive(Clone, Debug, PartialEq)]
pub struct Law {
    /// Law of the service time.
    pub service: ServiceLaw,
    /// Mean service time.
    pub mean: Nanos,
    /// CPU time of each answer.
    pub burn: Nanos,
    /// Requests served at the same time.
    pub servers: u32,
    /// Seed of service times and faults.
    pub seed: Seed,
    /// Share of requests answered with status 500.
    pub error_rate: f64,
    /// Share of requests whose connection is reset.
    pub reset_rate: f64,
    /// From when after the first request, and for how long, nothing is answered or read.
    pub freeze: Option<(Nanos, Nanos)>,
    /// Bytes that each request leaves behind for good.
    pub leak_memory_bytes: u64,
    /// Requests for each descriptor that is never closed; 0 leaks none.
    pub leak_descriptors_every: u64,
    /// Size of the cache that requests fill.
    pub cache_bytes: u64,
}

/// What is wrong with a law.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LawError {
    /// A rate that is no share, or rates that add up to more than 1.
    #[error("error_rate and reset_rate are shares from 0 to 1 and may not add up to more than 1")]
    Share,
    /// Answers that take longer than anybody waits.
    #[error("burn is {0}, more than {BURN_MAX}")]
    Burn(Nanos),
    /// Waiting by a law and computing at once.
    #[error("burn and mean exclude each other: while it computes, no law of the service time holds")]
    TwoTimes,
    /// No servers.
    #[error("servers must be from 1 to 65536")]
    Servers,
    /// More memory than one request, or a cache, may take.
    #[error("{0} of memory is more than {1}: a leak is per request, and a cache must fit the host")]
    Held(Bytes, Bytes),
    /// A freeze that is not `AT+LENGTH`.
    #[error("`{0}` is not a freeze; write AT+LENGTH, for example 5s+1s")]
    Freeze(String),
}

impl TryFrom<&Reference> for Law {
    type Error = LawError;

    fn try_from(file: &Reference) -> Result<Self, LawError> {
        let share = |rate: Option<f64>| rate.unwrap_or(0.0);
        let (error_rate, reset_rate) = (share(file.error_rate), share(file.reset_rate));
        let is_share = |rate: f64| (0.0..=1.0).contains(&rate);
        if !is_share(error_rate) || !is_share(reset_rate) || !is_share(error_rate + reset_rate) {
            return Err(LawError::Share);
        }
        let burn = file.burn.unwrap_or_default();
        if burn > BURN_MAX {
            return Err(LawError::Burn(burn));
        }
        if burn > Nanos::ZERO && file.mean.unwrap_or_default() > Nanos::ZERO {
            return Err(LawError::TwoTimes);
        }
        let servers = file.servers.unwrap_or(1);
        if !(1..=65_536).contains(&servers) {
            return Err(LawError::Servers);
        }
        Ok(Self {
            service: file.law.unwrap_or_default(),
            mean: file.mean.unwrap_or_default(),
            burn,
            servers,
            seed: Seed(file.seed.unwrap_or(1)),
            error_rate,
            reset_rate,
            freeze: file.freeze.as_deref().map(parse_freeze).transpose()?,
            leak_memory_bytes: held(file.leak_memory, LEAK_BYTES_MAX)?,
            leak_descriptors_every: file.leak_descriptors.map_or(0, |every| every.0),
            cache_bytes: held(file.cache, CACHE_BYTES_MAX)?,
        })
    }
}

fn held(bytes: Option<Bytes>, most: u64) -> Result<u64, LawError> {
    match bytes.map_or(0, |bytes| bytes.0) {
        large if large > most => Err(LawError::Held(Bytes(large), Bytes(most))),
        bytes => Ok(bytes),
    }
}

fn parse_freeze(text: &str) -> Result<(Nanos, Nanos), LawError> {
    let wrong = || LawError::Freeze(text.to_owned());
    let (at, length) = text.split_once('+').ok_or_else(wrong)?;
    Ok((at.parse().map_err(|_| wrong())?, length.parse().map_err(|_| wrong())?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn laws_are_checked() {
        assert!(Law::try_from(&Reference::default()).is_ok());
        for rate in [-0.1, 1.1, f64::NAN] {
            let wrong = Reference { error_rate: Some(rate), ..Reference::default() };
            assert_eq!(Law::try_from(&wrong), Err(LawError::Share), "{rate}");
        }
        let wrong = Reference { error_rate: Some(0.6), reset_rate: Some(0.6), ..Reference::default() };
        assert_eq!(Law::try_from(&wrong), Err(LawError::Share));
        assert_eq!(
            Law::try_from(&Reference { servers: Some(0), ..Reference::default() }),
            Err(LawError::Servers)
        );
        let burn = |burn: u64, mean: u64| {
            let (burn, mean) = (Some(Nanos::from_millis(burn)), Some(Nanos::from_millis(mean)));
            Law::try_from(&Reference { burn, mean, ..Reference::default() })
        };
        assert_eq!(burn(1, 0).unwrap().burn, Nanos::from_millis(1));
        assert_eq!(burn(1, 1), Err(LawError::TwoTimes));
        assert!(burn(1001, 0).unwrap_err().to_string().contains("more than 1s"));
        let freeze =
            |text: &str| Law::try_from(&Reference { freeze: Some(text.into()), ..Reference::default() });
        assert_eq!(freeze("5s+1s").unwrap().freeze, Some((Nanos::from_secs(5), Nanos::SECOND)));
        assert!(freeze("5s").is_err() && freeze("5+1").is_err());
        let leak = Law::try_from(&Reference { leak_memory: Some(Bytes(17 << 20)), ..Reference::default() });
        assert!(leak.unwrap_err().to_string().contains("more than 16MiB"));
    }
}
