//! What the reference target holds more and more of: leaks of known size, and a cache that fills up.
//!
//! Truth: after n requests `leak_memory_bytes` · n bytes and n / `leak_descriptors_every` descriptors are held for
//! good, and `cache_bytes` · (1 − (1 − 1/[`CACHE_REQUESTS`])^n) bytes by the cache, each page of them touched.
//! Descriptors end at the process's limit, where the target goes on without further ones.

use super::Law;
use rustix::fd::OwnedFd;

/// Requests in which the cache covers 63 % of what is left of it.
pub(super) const CACHE_REQUESTS: f64 = 2_000.0;
/// Memory is taken in pieces of this size, so that the allocator's own share is small.
const PIECE_BYTES: usize = 64 * 1024;

/// What is held.
#[derive(Debug, Default)]
pub(super) struct Holdings {
    leak_bytes: u64,
    descriptors_every: u64,
    cache_bytes: f64,
    requests: u64,
    /// Bytes that should be held, and those that are.
    wanted_bytes: f64,
    held_bytes: f64,
    cached_bytes: f64,
    memory: Vec<Box<[u8]>>,
    descriptors: Vec<OwnedFd>,
}

impl Holdings {
    pub(super) fn new(law: &Law) -> Self {
        Self {
            leak_bytes: law.leak_memory_bytes,
            descriptors_every: law.leak_descriptors_every,
            cache_bytes: law.cache_bytes as f64,
            ..Self::default()
        }
    }

    /// A request has come.
    pub(super) fn request(&mut self) {
        self.requests += 1;
        self.wanted_bytes += self.leak_bytes as f64;
        let cached = (self.cache_bytes - self.cached_bytes) / CACHE_REQUESTS;
        self.cached_bytes += cached;
        self.wanted_bytes += cached;
        while self.wanted_bytes - self.held_bytes >= PIECE_BYTES as f64 {
            // Not zero: a page of zeros need not be given memory.
            self.memory.push(vec![1; PIECE_BYTES].into_boxed_slice());
            self.held_bytes += PIECE_BYTES as f64;
        }
        if self.descriptors_every > 0 && self.requests.is_multiple_of(self.descriptors_every) {
            let flags = rustix::event::epoll::CreateFlags::CLOEXEC;
            self.descriptors.extend(rustix::event::epoll::create(flags));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::experiment::Reference;
    use units::{Bytes, Count};

    fn after(requests: u64, file: &Reference) -> Holdings {
        let mut holdings = Holdings::new(&Law::try_from(file).unwrap());
        (0..requests).for_each(|_| holdings.request());
        holdings
    }

    #[test]
    fn leaks_are_as_large_as_they_are_said_to_be() {
        let file = Reference {
            leak_memory: Some(Bytes(4096)),
            leak_descriptors: Some(Count(100)),
            ..Reference::default()
        };
        let held = after(1000, &file);
        assert_eq!(held.memory.len(), 1000 * 4096 / PIECE_BYTES);
        assert_eq!(held.descriptors.len(), 10);
        let none = after(1000, &Reference::default());
        assert!(none.memory.is_empty() && none.descriptors.is_empty());
    }

    #[test]
    fn a_cache_fills_up_and_stops() {
        let file = Reference { cache: Some(Bytes(8 << 20)), ..Reference::default() };
        let share = |requests: u64| after(requests, &file).held_bytes / f64::from(8 << 20);
        assert!((share(2000) - 0.632).abs() < 0.01, "{}", share(2000));
        assert!((0.98..=1.0).contains(&share(20_000)), "{}", share(20_000));
    }
}
