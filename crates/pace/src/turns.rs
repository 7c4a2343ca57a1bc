//! Which arrivals of a running sum are kept: those of neighbouring workers, a few in a row of every round.

use crate::Share;

/// Of every `all` arrivals, `own` in a row from number `first`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turns {
    first: u64,
    own: u64,
    all: u64,
    /// Own arrivals of this round, the present one included.
    left: u64,
}

impl Turns {
    /// All of them.
    pub(crate) const WHOLE: Self = Self { first: 0, own: 1, all: 1, left: 1 };

    pub(crate) const fn of(share: Share) -> Self {
        Self::of_part(share.first(), 1, share.stride())
    }

    /// Those of `own` workers, the first of which has the number `first`, of `all`.
    pub(crate) const fn of_part(first: u64, own: u64, all: u64) -> Self {
        Self { first, own, all, left: own }
    }

    /// Arrivals before the first that is kept.
    pub(crate) const fn first(self) -> u64 {
        self.first
    }

    /// Steps from the present arrival to the next one that is kept.
    #[inline]
    pub(crate) const fn steps(&mut self) -> u64 {
        self.left -= 1;
        if self.left > 0 {
            return 1;
        }
        self.left = self.own;
        1 + self.all - self.own
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(mut turns: Turns, until: u64) -> Vec<u64> {
        std::iter::successors(Some(turns.first()), |at| Some(at + turns.steps()))
            .take_while(|at| *at < until)
            .collect()
    }

    #[test]
    fn neighbours_keep_their_part_of_every_round() {
        assert_eq!(kept(Turns::WHOLE, 4), [0, 1, 2, 3]);
        assert_eq!(kept(Turns::of(Share::new(2, 5)), 15), [2, 7, 12]);
        assert_eq!(kept(Turns::of_part(1, 3, 5), 14), [1, 2, 3, 6, 7, 8, 11, 12, 13]);
        assert_eq!(kept(Turns::of_part(0, 3, 3), 6), [0, 1, 2, 3, 4, 5]);
    }
}
