//! The order of runs: repeats, in each repeat all cases, in each case all peers in an order drawn from the seed.
//!
//! The peers of one case run one after the other, so that what drifts slowly meets them alike and the ratio within
//! a repeat is free of it; the drawn order keeps any one peer from always being first.

use crate::case::Case;
use units::Seed;

/// One run to be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    /// Number of the repeat, from 0.
    pub(crate) repeat: u32,
    /// The load.
    pub(crate) case: Case,
    /// Index of the program.
    pub(crate) program: usize,
}

/// All runs in their order.
pub(crate) fn steps(repeats: u32, cases: &[Case], programs: usize, seed: Seed) -> Vec<Step> {
    let mut rng = seed.derive("bench.order", 0).rng();
    let mut steps = Vec::new();
    for repeat in 0..repeats {
        for case in cases {
            let mut order: Vec<usize> = (0..programs).collect();
            rng.shuffle(&mut order);
            steps.extend(order.into_iter().map(|program| Step { repeat, case: *case, program }));
        }
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_repeat_has_each_peer_once_a_case_in_a_drawn_order() {
        let cases = [Case { connections: 16 }, Case { connections: 512 }];
        let all = steps(20, &cases, 3, Seed(1));
        assert_eq!(all, steps(20, &cases, 3, Seed(1)));
        assert_ne!(all, steps(20, &cases, 3, Seed(2)));
        let mut firsts = std::collections::BTreeSet::new();
        for (index, group) in all.chunks(3).enumerate() {
            let mut programs: Vec<usize> = group.iter().map(|step| step.program).collect();
            firsts.insert(programs[0]);
            programs.sort_unstable();
            assert_eq!(programs, [0, 1, 2]);
            let repeat = u32::try_from(index / 2).unwrap();
            assert!(group.iter().all(|step| step.case == cases[index % 2] && step.repeat == repeat));
        }
        assert_eq!(firsts.len(), 3);
    }
}
