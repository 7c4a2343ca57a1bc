//! The dead man's switch: a load goes on only as long as somebody is heard who wants it.

/// A lease that every word of the controller renews. Times are nanoseconds of one monotonic clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lease {
    heard_ns: u64,
    length_ns: u64,
}

impl Lease {
    /// Begins at `now_ns` and lasts for `length_ns` after each word.
    #[must_use]
    pub const fn new(now_ns: u64, length_ns: u64) -> Self {
        Self { heard_ns: now_ns, length_ns }
    }

    /// A word came. One that is older than the last changes nothing.
    pub fn renew(&mut self, now_ns: u64) {
        self.heard_ns = self.heard_ns.max(now_ns);
    }

    /// Whether nobody was heard for longer than its length.
    #[must_use]
    pub const fn is_over(&self, now_ns: u64) -> bool {
        now_ns.saturating_sub(self.heard_ns) > self.length_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_ends_after_its_length_of_silence_and_not_before() {
        let mut lease = Lease::new(100, 10);
        assert!(!lease.is_over(110) && lease.is_over(111));
        lease.renew(105);
        lease.renew(101);
        assert!(!lease.is_over(115) && lease.is_over(116), "an older word takes nothing back");
        assert!(!Lease::new(100, 10).is_over(0), "a clock that is behind is no silence");
    }
}
