//! Are parties that did the same thing in each block alike? A permutation test that names those that are not.
//!
//! Where nothing sets the parties apart, their values within a block may be swapped without changing any chance. The test
//! swaps them at random, all measures of a party together, and asks how often the largest distance of any party in any
//! measure is as large as the one seen (single-step maxT: Westfall & Young, Resampling-Based Multiple Testing, 1993, §2.3).
//! So the chance that any party is named falsely is held without a law for the values and whatever depends on what.
//! Invariant: the permutation that was seen counts as one, so that p is never 0 and the level is kept exactly.

use units::Seed;

/// One block: a row a party, a value a measure.
pub type Block<const MEASURES: usize> = Vec<[f64; MEASURES]>;

/// Sums of this size differ by rounding only: the values are scaled to a sum of squares of 1.
const ROUNDING: f64 = 1e-9;

/// Fewest blocks in which a party that is always the furthest can be told from chance at `alpha`, for at least two
/// parties.
///
/// In n blocks one of k parties is always the highest or always the lowest by chance with probability 2·k^(1−n); of two
/// parties one is lowest where the other is highest.
#[must_use]
pub fn fewest_blocks(parties: usize, alpha: f64) -> usize {
    let sides = if parties == 2 { 1.0 } else { 2.0 };
    let chance = |blocks: i32| sides * (parties as f64).powi(1 - blocks);
    (1..64).find(|blocks| chance(*blocks) <= alpha).unwrap_or(64) as usize
}

/// p of each party and measure, adjusted for all of them; in (0, 1].
///
/// `blocks` has as many rows in each block, all values finite. Nothing differs where all values of a measure are alike:
/// then its p are 1.
#[must_use]
pub fn unlike<const MEASURES: usize>(
    blocks: &[Block<MEASURES>],
    permutations: usize,
    seed: Seed,
) -> Vec<[f64; MEASURES]> {
    let mut blocks = scaled(blocks);
    let seen = distances(&blocks);
    let mut rng = seed.rng();
    let mut largest: Vec<f64> = Vec::with_capacity(permutations);
    for _ in 0..permutations {
        blocks.iter_mut().for_each(|block| rng.shuffle(block));
        largest.push(distances(&blocks).iter().flatten().copied().fold(0.0, f64::max));
    }
    largest.sort_by(f64::total_cmp);
    let p = |distance: f64| {
        let below = largest.partition_point(|largest| *largest < distance - ROUNDING);
        (1 + permutations - below) as f64 / (1 + permutations) as f64
    };
    seen.into_iter().map(|of| of.map(p)).collect()
}

/// Each value less the mean of its block, over the root of the sum of squares of its measure, which no swap changes: so
/// that measures of different spread weigh alike.
fn scaled<const MEASURES: usize>(blocks: &[Block<MEASURES>]) -> Vec<Block<MEASURES>> {
    let mut blocks = blocks.to_vec();
    let mut squares = [0.0; MEASURES];
    for block in &mut blocks {
        let count = block.len() as f64;
        for (measure, squares) in squares.iter_mut().enumerate() {
            let mean = block.iter().map(|row| row[measure]).sum::<f64>() / count;
            for row in block.iter_mut() {
                row[measure] -= mean;
                *squares += row[measure].powi(2);
            }
        }
    }
    for row in blocks.iter_mut().flatten() {
        for (value, squares) in row.iter_mut().zip(squares) {
            *value = if squares > 0.0 { *value / squares.sqrt() } else { 0.0 };
        }
    }
    blocks
}

/// How far the sum of each party lies from 0.
fn distances<const MEASURES: usize>(blocks: &[Block<MEASURES>]) -> Vec<[f64; MEASURES]> {
    let mut sums = vec![[0.0; MEASURES]; blocks.first().map_or(0, Vec::len)];
    for block in blocks {
        for (sums, row) in sums.iter_mut().zip(block) {
            sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
        }
    }
    sums.iter().map(|of| of.map(f64::abs)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use units::Rng;

    /// Rows whose two measures go together and are as skewed as response times: every value is the exponential of a
    /// normal one, and one block in eight has a slow party.
    fn row(rng: &mut Rng) -> [f64; 2] {
        let common = rng.normal();
        let slow = if rng.below(8) == 0 { 5.0 } else { 0.0 };
        [(0.3 * common).exp(), (0.3 * common + 0.5 * rng.normal()).exp() + slow]
    }

    fn run(rng: &mut Rng, blocks: usize, parties: usize) -> Vec<Block<2>> {
        // What a whole block has in common takes no part.
        let block = |rng: &mut Rng| {
            let level = 10.0 * rng.unit();
            (0..parties).map(|_| row(rng).map(|value| value + level)).collect()
        };
        (0..blocks).map(|_| block(rng)).collect()
    }

    fn least(p: &[[f64; 2]]) -> f64 {
        p.iter().flatten().copied().fold(1.0, f64::min)
    }

    #[test]
    fn no_party_is_named_in_more_than_one_run_of_twenty_where_none_differs() {
        const RUNS: u32 = 2_000;
        for (blocks, parties) in [(6, 2), (5, 4), (4, 8), (12, 3)] {
            let mut rng = Seed(31).derive("alike", parties as u64).rng();
            let named = (0..RUNS).filter(|_| {
                let made = run(&mut rng, blocks, parties);
                least(&unlike(&made, 199, Seed(rng.next_u64()))) <= 0.05
            });
            let named = f64::from(u32::try_from(named.count()).unwrap_or(u32::MAX)) / f64::from(RUNS);
            // Four standard errors of 5 %; and a test that names none at all would be no test.
            assert!((0.01..=0.0695).contains(&named), "{named} of runs with {blocks} blocks of {parties}");
        }
    }

    #[test]
    fn a_party_that_is_slower_by_two_spreads_is_named_and_the_others_are_not() {
        const RUNS: usize = 200;
        let mut rng = Seed(32).rng();
        let (mut found, mut others) = (0, 0);
        for _ in 0..RUNS {
            let made: Vec<Block<2>> = (0..8)
                .map(|_| {
                    let shift = |party: usize| if party == 2 { 2.0 } else { 0.0 };
                    (0..5).map(|party| [rng.normal() + shift(party), rng.normal()]).collect()
                })
                .collect();
            let p = unlike(&made, 499, Seed(rng.next_u64()));
            found += usize::from(p[2][0] <= 0.05);
            others += (0..5).filter(|party| *party != 2 && p[*party][1] <= 0.05).count();
        }
        assert!(found >= RUNS * 9 / 10, "{found} of {RUNS}");
        assert!(others <= RUNS / 10, "{others}: the measure that does not differ");
    }

    #[test]
    fn p_is_the_share_of_all_permutations_where_there_are_few() {
        // Two parties, six blocks, one always ahead: of 64 ways to swap two are as far apart.
        let made: Vec<Block<1>> =
            (0..6).map(|block| vec![[f64::from(block)], [f64::from(block) + 1.0]]).collect();
        for p in unlike(&made, 20_000, Seed(5)).iter().flatten() {
            assert!((p - 2.0 / 64.0).abs() < 0.005, "{p}");
        }
        assert_eq!(unlike(&[vec![[1.0], [1.0]], vec![[3.0], [3.0]]], 99, Seed(5)), [[1.0], [1.0]]);
        assert!(unlike::<2>(&[], 99, Seed(5)).is_empty());
    }

    #[test]
    fn the_fewest_blocks_are_those_in_which_chance_is_below_alpha() {
        // 2^-5 = 0.031; 2·3^-4 = 0.025; 2·8^-2 = 0.031; 2·200^-1 = 0.01.
        assert_eq!([2, 3, 8, 200].map(|parties| fewest_blocks(parties, 0.05)), [6, 5, 3, 2]);
        assert_eq!(fewest_blocks(2, 0.01), 8);
    }

    proptest! {
        #[test]
        fn neither_the_level_of_a_block_nor_the_scale_of_a_measure_counts(
            seed in any::<u64>(), parties in 2_usize..6, blocks in 1_usize..6, scale in 0.01_f64..100.0,
        ) {
            let mut rng = Seed(seed).rng();
            let made = run(&mut rng, blocks, parties);
            let mut other = made.clone();
            for block in &mut other {
                let level = rng.unit();
                block.iter_mut().for_each(|row| *row = [row[0] + level, (row[1] - level) * scale]);
            }
            for (a, b) in unlike(&made, 99, Seed(1)).iter().flatten().zip(unlike(&other, 99, Seed(1)).iter().flatten()) {
                prop_assert!((a - b).abs() < 0.011 && *a > 0.0 && *a <= 1.0, "{a} {b}");
            }
        }
    }
}
