//! A permutation of any number of rows in constant memory.

/// Rounds of the Feistel network; four suffice for a pseudo-random permutation (Luby & Rackoff 1988), the others make
/// up for the narrow halves of short files.
const ROUNDS: u64 = 6;

/// Where `place` (below `rows`) lies in the order of `seed`: a Feistel network over the next even power of two, walked
/// on along its cycle until it is below `rows` (Black & Rogaway 2002).
pub(super) fn permuted(place: u64, rows: u64, seed: units::Seed) -> u64 {
    let bits = u64::BITS - rows.saturating_sub(1).leading_zeros();
    let half = bits.div_ceil(2).max(1);
    let mask = (1_u64 << half) - 1;
    let mut place = place;
    loop {
        let (mut left, mut right) = (place >> half, place & mask);
        for round in 0..ROUNDS {
            (left, right) = (right, left ^ (scramble(right, seed.0.wrapping_add(round)) & mask));
        }
        place = left << half | right;
        if place < rows {
            return place;
        }
    }
}

/// The finaliser of SplitMix64 over value and key.
fn scramble(value: u64, key: u64) -> u64 {
    let z = (value ^ key.wrapping_mul(0x9e37_79b9_7f4a_7c15)).wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Seed;

    #[test]
    fn every_row_comes_once() {
        for rows in [1, 2, 3, 5, 16, 17, 100, 1000, 4097] {
            for seed in 0..3 {
                let mut seen: Vec<u64> = (0..rows).map(|place| permuted(place, rows, Seed(seed))).collect();
                seen.sort_unstable();
                assert!(seen.into_iter().eq(0..rows), "{rows} rows");
            }
        }
        let great = u64::MAX / 3;
        assert!((0..100).all(|place| permuted(place, great, Seed(1)) < great));
    }

    #[test]
    fn orders_differ_by_seed_and_are_no_mere_shift() {
        let order = |seed| -> Vec<u64> { (0..1000).map(|place| permuted(place, 1000, Seed(seed))).collect() };
        assert_ne!(order(1), order(2));
        let neighbours = order(1).windows(2).filter(|pair| pair[0].abs_diff(pair[1]) == 1).count();
        assert!(neighbours < 20, "{neighbours} of 999 neighbours stay neighbours");
    }

    /// Where the first row goes, over many seeds: each place about equally often (five standard deviations).
    #[test]
    fn places_are_equally_likely() {
        let rows = 10_u64;
        let mut seen = [0_u32; 10];
        (0..5000).for_each(|seed| seen[permuted(0, rows, Seed(seed).derive("pass", 0)) as usize] += 1);
        assert!(
            seen.iter().all(|count| (f64::from(*count) - 500.0).abs() < 5.0 * 450_f64.sqrt()),
            "{seen:?}"
        );
    }
}
