//! Are parties that did the same thing in each block alike? A permutation test that names those that are not.
//!
//! Where nothing sets the parties apart, their values within a block may be swapped without changing any chance. The test
//! swaps them at random, all measures of a party together, and asks how often the largest distance of any party in any
//! measure is as large as the one seen (single-step maxT: Westfall & Young, Resampling-Based Multiple Testing, 1993, §2.3).
//! So the chance that any party is named falsely is held without a law for the values and whatever depends on what.
//! The party that is named is taken out and the rest is asked again, because one that is slow would make all others differ
//! from a mean that it is part of.
//! Invariant: the permutation that was seen counts as one, so that p is never 0 and the level is kept exactly.

use units::Seed;

/// One block: a row a party, a value a measure.
pub type Block<const MEASURES: usize> = Vec<[f64; MEASURES]>;

/// Sums of this size differ by rounding only: the values are scaled to a sum of squares of 1.
const ROUNDING: f64 = 1e-9;

/// Most parties that are named, each by a test of its own.
const NAMED_MAX: usize = 8;

/// A party against the others in one measure.
#[derive(Clone, Debug, PartialEq)]
pub struct Against {
    /// By block: its value less the mean of the others that were asked with it.
    pub by_block: Vec<f64>,
    /// For all parties and measures together, in (0, 1].
    pub p: f64,
}

impl Against {
    /// Mean over the blocks.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.by_block.iter().sum::<f64>() / self.by_block.len() as f64
    }
}

/// What parties are unlike the rest, and how far each lies from the others.
#[derive(Clone, Debug, PartialEq)]
pub struct Unlike<const MEASURES: usize> {
    /// Party and the measure in which it is furthest off, as they were named; at most eight.
    pub named: Vec<(usize, usize)>,
    /// One row a party: when it was named, or at the end.
    pub against: Vec<[Against; MEASURES]>,
}

/// Fewest blocks in which chance makes one party always the furthest with a probability of at most `alpha`, for at least
/// two parties.
///
/// In n blocks one of k parties is always the highest or always the lowest by chance with probability 2·k^(1−n); of two
/// parties one is lowest where the other is highest.
#[must_use]
pub fn fewest_blocks(parties: usize, alpha: f64) -> usize {
    let sides = if parties == 2 { 1.0 } else { 2.0 };
    let chance = |blocks: i32| sides * (parties as f64).powi(1 - blocks);
    (1..64).find(|blocks| chance(*blocks) <= alpha).unwrap_or(64) as usize
}

/// Names the party that is furthest from the others, takes it out and asks again, until none of the rest is unlike at
/// `alpha`. Of two parties, which are as far from each other, the higher one is named.
///
/// `blocks` has as many rows in each block, at least two, all values finite.
#[must_use]
pub fn unlike<const MEASURES: usize>(
    blocks: &[Block<MEASURES>],
    alpha: f64,
    permutations: usize,
    seed: Seed,
) -> Unlike<MEASURES> {
    let mut left: Vec<usize> = (0..blocks.first().map_or(0, Vec::len)).collect();
    let none = || Against { by_block: Vec::new(), p: 1.0 };
    let mut against: Vec<[Against; MEASURES]> =
        left.iter().map(|_| std::array::from_fn(|_| none())).collect();
    let (mut named, mut least) = (Vec::new(), 0.0_f64);
    while left.len() > 1 && named.len() < NAMED_MAX {
        let rest: Vec<Block<MEASURES>> =
            blocks.iter().map(|block| left.iter().map(|party| block[*party]).collect()).collect();
        let p = p_values(&rest, permutations, seed.derive("left", named.len() as u64));
        for (place, party) in left.iter().enumerate() {
            against[*party] = std::array::from_fn(|measure| Against {
                by_block: of_others(&rest, place, measure),
                // Never below that of one that was named before.
                p: p[place][measure].max(least),
            });
        }
        let Some((place, measure)) = furthest(&left, &against, alpha) else { break };
        let party = left.remove(place);
        least = against[party][measure].p;
        named.push((party, measure));
    }
    Unlike { named, against }
}

/// Place in `left` and measure of the largest distance that is unlike; of equal ones the highest.
fn furthest<const MEASURES: usize>(
    left: &[usize],
    against: &[[Against; MEASURES]],
    alpha: f64,
) -> Option<(usize, usize)> {
    let all = (0..left.len()).flat_map(|place| (0..MEASURES).map(move |measure| (place, measure)));
    let unlike: Vec<_> = all.filter(|(place, measure)| against[left[*place]][*measure].p <= alpha).collect();
    let mean = |(place, measure): (usize, usize)| against[left[place]][measure].mean();
    let most = unlike.iter().map(|one| mean(*one).abs()).fold(0.0, f64::max);
    let furthest = unlike.into_iter().filter(|one| mean(*one).abs() >= most - ROUNDING);
    furthest.max_by(|a, b| mean(*a).total_cmp(&mean(*b)))
}

/// By block: the party's value less the mean of the others.
fn of_others<const MEASURES: usize>(blocks: &[Block<MEASURES>], party: usize, measure: usize) -> Vec<f64> {
    let one = |block: &Block<MEASURES>| {
        let all: f64 = block.iter().map(|row| row[measure]).sum();
        let own = block[party][measure];
        own - (all - own) / (block.len() - 1) as f64
    };
    blocks.iter().map(one).collect()
}

/// p of each party and measure, adjusted for all of them; in (0, 1]. All are 1 where the values of a measure are alike.
fn p_values<const MEASURES: usize>(
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

    #[test]
    fn no_party_is_named_in_more_than_one_run_of_twenty_where_none_differs() {
        const RUNS: u32 = 2_000;
        for (blocks, parties) in [(6, 2), (5, 4), (4, 8), (12, 3)] {
            let mut rng = Seed(31).derive("alike", parties as u64).rng();
            let named = (0..RUNS).filter(|_| {
                let made = run(&mut rng, blocks, parties);
                !unlike(&made, 0.05, 199, Seed(rng.next_u64())).named.is_empty()
            });
            let named = f64::from(u32::try_from(named.count()).unwrap_or(u32::MAX)) / f64::from(RUNS);
            // Four standard errors of 5 %; and a test that names none at all would be no test.
            assert!((0.01..=0.0695).contains(&named), "{named} of runs with {blocks} blocks of {parties}");
        }
    }

    #[test]
    fn a_party_that_is_slower_is_named_and_makes_no_other_one_differ() {
        const RUNS: usize = 1_000;
        for parties in [3, 5] {
            let mut rng = Seed(32).derive("slow", parties as u64).rng();
            let (mut first, mut others) = (0, 0);
            for _ in 0..RUNS {
                let mut made = run(&mut rng, 8, parties);
                made.iter_mut().for_each(|block| block[1][0] += 8.0);
                let named = unlike(&made, 0.05, 199, Seed(rng.next_u64())).named;
                first += usize::from(named.first() == Some(&(1, 0)));
                others += usize::from(named.iter().any(|(party, _)| *party != 1));
            }
            assert!(first >= RUNS * 19 / 20, "{first} of {RUNS} with {parties}");
            // Four standard errors of 5 %.
            assert!(others <= RUNS * 78 / 1_000, "{others} of {RUNS} with {parties}");
        }
    }

    #[test]
    fn of_two_the_higher_is_named_and_of_many_the_furthest_first() {
        let two = |block: u32| vec![[f64::from(block)], [f64::from(block % 3) + 20.0]];
        let found = unlike(&(0..8).map(two).collect::<Vec<_>>(), 0.05, 999, Seed(1));
        assert_eq!(found.named, [(1, 0)]);
        assert!((found.against[0][0].mean() + found.against[1][0].mean()).abs() < 1e-9);
        let many = |block: u32| {
            let turn = |party: u32| f64::from((block + party) % 3);
            vec![[turn(0) - 40.0], [turn(1)], [turn(2)], [turn(0) + 90.0], [turn(1)]]
        };
        let found = unlike(&(0..9).map(many).collect::<Vec<_>>(), 0.05, 999, Seed(1));
        assert_eq!(found.named, [(3, 0), (0, 0)]);
        assert!(found.against[1][0].mean().abs() < 1.0, "those that were named are not among the others");
        assert!(found.against[0][0].p >= found.against[3][0].p);
    }

    #[test]
    fn p_is_the_share_of_all_permutations_where_there_are_few() {
        // Two parties, six blocks, one always ahead: of 64 ways to swap two are as far apart.
        let made: Vec<Block<1>> =
            (0..6).map(|block| vec![[f64::from(block)], [f64::from(block) + 1.0]]).collect();
        for p in p_values(&made, 20_000, Seed(5)).iter().flatten() {
            assert!((p - 2.0 / 64.0).abs() < 0.005, "{p}");
        }
        assert_eq!(p_values(&[vec![[1.0], [1.0]], vec![[3.0], [3.0]]], 99, Seed(5)), [[1.0], [1.0]]);
        assert!(unlike::<2>(&[], 0.05, 99, Seed(5)).against.is_empty());
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
            for (a, b) in p_values(&made, 99, Seed(1)).iter().flatten().zip(p_values(&other, 99, Seed(1)).iter().flatten()) {
                prop_assert!((a - b).abs() < 0.011 && *a > 0.0 && *a <= 1.0, "{a} {b}");
            }
        }
    }
}
