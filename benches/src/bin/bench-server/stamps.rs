//! When each stamped request was read and its answer written, on the clock that all processes of a host share.

use rustix::time::{ClockId, clock_gettime};

/// Requests that are kept at most: 40,000/s for 100 s. Further ones are counted and not kept.
const STAMPS_MAX: usize = 4_000_000;

/// Both moments of every request since the last reset; the memory is taken once.
#[derive(Debug)]
pub(crate) struct Stamps {
    pairs: Vec<[u64; 2]>,
    missed: u64,
    /// Whether they are being taken, for which the server does not sleep.
    pub(crate) on: bool,
}

impl Stamps {
    pub(crate) fn new() -> Self {
        Self { pairs: Vec::with_capacity(STAMPS_MAX), missed: 0, on: false }
    }

    pub(crate) fn begin(&mut self) {
        self.pairs.clear();
        self.missed = 0;
        self.on = true;
    }

    /// Keeps when a request was read and when its answer was handed to the kernel.
    pub(crate) fn add(&mut self, read_ns: u64, written_ns: u64) {
        if self.pairs.len() < self.pairs.capacity() {
            self.pairs.push([read_ns, written_ns]);
        } else {
            self.missed += 1;
        }
    }

    /// The number that were missed, then all pairs, as little-endian numbers of 8 bytes.
    pub(crate) fn end(&mut self) -> Vec<u8> {
        self.on = false;
        let mut bytes = self.missed.to_le_bytes().to_vec();
        bytes.extend(self.pairs.iter().flatten().flat_map(|ns| ns.to_le_bytes()));
        bytes
    }
}

/// CLOCK_MONOTONIC in nanoseconds.
pub(crate) fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_come_back_in_order_and_none_is_lost_silently() {
        let mut stamps = Stamps { pairs: Vec::with_capacity(2), missed: 0, on: false };
        stamps.begin();
        let room = stamps.pairs.capacity() as u64;
        for number in 0..room + 3 {
            stamps.add(number, number + 1);
        }
        let bytes = stamps.end();
        let numbers: Vec<u64> =
            bytes.chunks_exact(8).map(|eight| u64::from_le_bytes(eight.try_into().unwrap())).collect();
        assert_eq!(numbers[..5], [3, 0, 1, 1, 2]);
        assert_eq!(numbers.len() as u64, 1 + 2 * room);
        stamps.begin();
        assert_eq!(stamps.end(), 0_u64.to_le_bytes());
    }
}
