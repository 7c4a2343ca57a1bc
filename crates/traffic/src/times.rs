//! Times that a log holds too coarsely to be sent as they are: requests of one tick are spread over it at random.
//!
//! n requests within a tick get n even random moments of it, in order (uniform order statistics): that is how n
//! arrivals of a Poisson process lie, given their number. Seeded by the tick, so that the same log gives the same times.

use units::Seed;

/// Puts `count` moments of the tick that begins at `begin_ns` behind `times_ns`.
pub(crate) fn spread(begin_ns: u64, tick_ns: u64, count: usize, seed: Seed, times_ns: &mut Vec<u64>) {
    let mut rng = seed.derive("spread", begin_ns).rng();
    let first = times_ns.len();
    times_ns.extend((0..count).map(|_| begin_ns + rng.below(tick_ns.max(1))));
    times_ns[first..].sort_unstable();
}
