//! How far an agent's clock is from the controller's, and whether the two stay together.
//!
//! An exchange is a question and its answer. Whatever the way took in each direction, the true offset lies within half a
//! round trip of the middle (Cristian, Distributed Computing 3, 1989; RFC 5905 §8 has the same with four stamps), so the
//! shortest round trip gives the best offset. Averaging would add the errors of the worse ones.
//! Invariant: no latency is ever computed from two clocks; the offset decides only when a load begins.

/// Fewest exchanges for an offset.
pub const EXCHANGES_MIN: usize = 32;
/// Largest bound with which a load may begin.
pub const BOUND_MAX_NS: u64 = 1_000_000;

/// One question and its answer, in nanoseconds of the clocks on which they were stamped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// When the controller asked.
    pub asked_ns: u64,
    /// When the agent answered, on the agent's clock.
    pub there_ns: u64,
    /// When the answer came.
    pub answered_ns: u64,
}

impl Exchange {
    const fn rtt_ns(&self) -> u64 {
        self.answered_ns.saturating_sub(self.asked_ns)
    }

    /// The agent's clock − the controller's, if both ways took as long.
    fn offset_ns(&self) -> i64 {
        let middle_ns = self.asked_ns.saturating_add(self.rtt_ns() / 2);
        self.there_ns.wrapping_sub(middle_ns).cast_signed()
    }

    /// Half a round trip, rounded up.
    const fn bound_ns(&self) -> u64 {
        self.rtt_ns().div_ceil(2)
    }
}

/// Why there is no offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ClockError {
    /// Fewer exchanges than it takes.
    #[error("its clock answered {0} times, and {EXCHANGES_MIN} are needed")]
    TooFew(usize),
    /// The clocks cannot be told apart well enough to begin together.
    #[error(
        "its clock is known only within {} µs, and 1000 µs is the most; the best round trip of {exchanges} was twice \
         that: use a shorter or quieter way to the agent", .bound_ns.div_ceil(1000)
    )]
    TooWide {
        /// Half the shortest round trip.
        bound_ns: u64,
        /// How many were tried.
        exchanges: usize,
    },
}

/// An agent's clock against the controller's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offset {
    /// The agent's clock − the controller's.
    pub offset_ns: i64,
    /// The true offset is at most this far away.
    pub bound_ns: u64,
    /// From so many exchanges.
    pub exchanges: u32,
    /// The longest of their round trips.
    pub rtt_max_ns: u64,
}

impl Offset {
    /// The offset by the exchange with the shortest round trip.
    ///
    /// # Errors
    /// Fewer than [`EXCHANGES_MIN`] exchanges, or a bound above [`BOUND_MAX_NS`].
    pub fn best(exchanges: &[Exchange]) -> Result<Self, ClockError> {
        let shortest = exchanges.iter().min_by_key(|exchange| exchange.rtt_ns());
        let (Some(best), true) = (shortest, exchanges.len() >= EXCHANGES_MIN) else {
            return Err(ClockError::TooFew(exchanges.len()));
        };
        let bound_ns = best.bound_ns();
        if bound_ns > BOUND_MAX_NS {
            return Err(ClockError::TooWide { bound_ns, exchanges: exchanges.len() });
        }
        let rtt_max_ns = exchanges.iter().map(Exchange::rtt_ns).max().unwrap_or_default();
        let exchanges = u32::try_from(exchanges.len()).unwrap_or(u32::MAX);
        Ok(Self { offset_ns: best.offset_ns(), bound_ns, exchanges, rtt_max_ns })
    }

    /// A moment of the controller's clock on the agent's.
    #[must_use]
    pub const fn there(&self, here_ns: u64) -> u64 {
        here_ns.saturating_add_signed(self.offset_ns)
    }
}

/// The grid of a load on two clocks: how far they surely went apart since it began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    begin: Offset,
    apart_ns: u64,
}

impl Grid {
    /// The clocks as the load begins.
    #[must_use]
    pub const fn new(begin: Offset) -> Self {
        Self { begin, apart_ns: 0 }
    }

    /// Looks again. What the round trips of both looks may explain is no disagreement.
    pub fn look(&mut self, exchange: Exchange) {
        let moved_ns = exchange.offset_ns().abs_diff(self.begin.offset_ns);
        let explained_ns = exchange.bound_ns().saturating_add(self.begin.bound_ns);
        self.apart_ns = self.apart_ns.max(moved_ns.saturating_sub(explained_ns));
    }

    /// The most by which the clocks surely went apart.
    #[must_use]
    pub const fn apart_ns(&self) -> u64 {
        self.apart_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// An exchange that begins at `asked_ns`, whose ways take these times, with a clock that is `offset_ns` ahead.
    fn exchange(asked_ns: u64, out_ns: u64, back_ns: u64, offset_ns: i64) -> Exchange {
        Exchange {
            asked_ns,
            there_ns: (asked_ns + out_ns).saturating_add_signed(offset_ns),
            answered_ns: asked_ns + out_ns + back_ns,
        }
    }

    #[test]
    fn the_shortest_round_trip_decides_and_its_half_is_the_bound() {
        let mut all: Vec<_> =
            (0..40).map(|n| exchange(1_000_000 * n, 400_000 + n, 10_000, 5_000_000_000)).collect();
        all[7] = exchange(9_000_000, 3_001, 2_000, 5_000_000_000);
        let found = Offset::best(&all).unwrap();
        assert_eq!((found.bound_ns, found.exchanges, found.rtt_max_ns), (2_501, 40, 410_039));
        assert!(found.offset_ns.abs_diff(5_000_000_000) <= found.bound_ns, "{found:?}");
        assert_eq!(found.there(1_000).abs_diff(5_000_001_000), found.offset_ns.abs_diff(5_000_000_000));
    }

    #[test]
    fn few_or_slow_exchanges_give_none() {
        let fast: Vec<_> = (0..31).map(|n| exchange(n, 10, 10, 0)).collect();
        assert_eq!(Offset::best(&fast), Err(ClockError::TooFew(31)));
        let slow: Vec<_> = (0..32).map(|n| exchange(n, 1_000_001, 1_000_000, 0)).collect();
        let error = Offset::best(&slow).unwrap_err();
        assert_eq!(error, ClockError::TooWide { bound_ns: 1_000_001, exchanges: 32 });
        assert!(error.to_string().contains("1001 µs"), "{error}");
        let just: Vec<_> = (0..32).map(|n| exchange(n, 1_000_000, 1_000_000, 0)).collect();
        assert!(Offset::best(&just).is_ok());
    }

    #[test]
    fn clocks_that_go_apart_are_seen_and_slow_answers_are_not_taken_for_it() {
        let begin = Offset::best(&[exchange(0, 5_000, 5_000, -700); 32]).unwrap();
        let mut grid = Grid::new(begin);
        grid.look(exchange(1_000_000_000, 9_000_000, 10, -700));
        assert_eq!(grid.apart_ns(), 0, "a slow way explains it");
        grid.look(exchange(2_000_000_000, 5_000, 5_000, -700 + 11_000_000));
        assert_eq!(grid.apart_ns(), 11_000_000 - 10_000);
        grid.look(exchange(3_000_000_000, 5_000, 5_000, -700));
        assert_eq!(grid.apart_ns(), 11_000_000 - 10_000, "the worst is kept");
    }

    /// The agent's clock as the load goes on, looked at each second over ways of 100 to 300 µs.
    fn apart_after(seconds: u64, ahead_ns: impl Fn(u64) -> i64) -> u64 {
        let begin = Offset::best(&[exchange(0, 50_000, 60_000, ahead_ns(0)); 32]).unwrap();
        let mut grid = Grid::new(begin);
        for second in 1..=seconds {
            let at_ns = second * 1_000_000_000;
            let way_ns = 50_000 + second * 7_919 % 100_000;
            grid.look(exchange(at_ns, way_ns, 150_000 - way_ns / 2, ahead_ns(at_ns)));
        }
        grid.apart_ns()
    }

    #[test]
    fn steps_and_drift_of_an_agents_clock_are_found_and_steady_clocks_are_left_alone() {
        const LIMIT_NS: u64 = 10_000_000;
        // 12 ms of step, in either direction, for good or for one second only.
        for step_ns in [12_000_000, -12_000_000] {
            assert!(apart_after(60, |at_ns| if at_ns > 30_000_000_000 { step_ns } else { 0 }) > LIMIT_NS);
            assert!(apart_after(60, |at_ns| if at_ns == 30_000_000_000 { step_ns } else { 0 }) > LIMIT_NS);
        }
        // 500 ppm come to 30 ms in a minute, 20 ppm, as a crystal has, to 1.2 ms.
        assert!(apart_after(60, |at_ns| (at_ns / 2_000).cast_signed()) > LIMIT_NS);
        let crystal_ns = apart_after(60, |at_ns| (at_ns / 50_000).cast_signed());
        assert!((500_000..1_200_000).contains(&crystal_ns), "{crystal_ns}");
        assert_eq!(apart_after(60, |_| 7_000_000_000), 0, "an offset is no drift, however large");
    }

    #[test]
    fn a_step_while_the_clock_is_read_is_found_once_the_load_has_begun() {
        // The clock steps by 50 ms after the best exchange: the offset is that of before.
        let stepped = |n: u64| if n < 16 { 0 } else { 50_000_000 };
        let all: Vec<_> = (0..32)
            .map(|n| exchange(n * 1_000_000, if n == 3 { 5_000 } else { 90_000 }, 5_000, stepped(n)))
            .collect();
        let found = Offset::best(&all).unwrap();
        assert!(found.offset_ns.unsigned_abs() <= found.bound_ns, "{found:?}");
        let mut grid = Grid::new(found);
        grid.look(exchange(1_000_000_000, 90_000, 90_000, 50_000_000));
        assert!(grid.apart_ns() > 49_000_000, "{}", grid.apart_ns());
    }

    proptest! {
        #[test]
        fn the_true_offset_is_within_the_bound(
            ways in prop::collection::vec((0..900_000_u64, 0..900_000_u64), 32..64),
            offset_ns in -1_000_000_000_000_i64..1_000_000_000_000,
        ) {
            let base = 2_000_000_000_000;
            let all: Vec<_> = ways.iter().map(|(out, back)| exchange(base, *out, *back, offset_ns)).collect();
            let found = Offset::best(&all).unwrap();
            prop_assert!(found.offset_ns.abs_diff(offset_ns) <= found.bound_ns, "{found:?}");
        }
    }
}
