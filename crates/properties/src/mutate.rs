//! A small seeded mutator for the short run: what coverage guidance is to the fuzzer, kept finds are to this.

use units::{Rng, Seed};

/// Longest input that is made.
const BYTES_MAX: usize = 8 * 1024;
const STEPS_MAX: u64 = 6;
/// Bytes at which parsers turn.
const EDGE: &[u8] = b"\0\t\n\r \"#'*+,-./0129:;<=>A[\\]_afx{}~\x7f\x80\xc2\xff";

/// Makes inputs from seeds and words; the same seed makes the same inputs.
#[derive(Debug)]
pub struct Mutator<'a> {
    seeds: &'a [Vec<u8>],
    words: &'a [Vec<u8>],
    rng: Rng,
}

impl<'a> Mutator<'a> {
    /// A mutator of `seeds`, of which there must be at least one.
    #[must_use]
    pub fn new(seeds: &'a [Vec<u8>], words: &'a [Vec<u8>], seed: Seed) -> Self {
        assert!(!seeds.is_empty(), "a mutator needs something to mutate");
        Self { seeds, words, rng: seed.rng() }
    }

    /// The next input: a seed after one to six random changes.
    pub fn next_input(&mut self) -> Vec<u8> {
        let mut bytes = self.any_seed().to_vec();
        for _ in 0..=self.rng.below(STEPS_MAX) {
            self.change(&mut bytes);
        }
        bytes.truncate(BYTES_MAX);
        bytes
    }

    fn change(&mut self, bytes: &mut Vec<u8>) {
        let at = self.below(bytes.len() + 1);
        let end = (at + self.below(16)).min(bytes.len());
        match self.rng.below(8) {
            0 => bytes.insert(at, EDGE[self.below(EDGE.len())]),
            1 => bytes.insert(at, self.rng.next_u64() as u8),
            2 => drop(bytes.drain(at..end)),
            3 => bytes.truncate(at),
            4 if at < bytes.len() => bytes[at] ^= 1 << self.rng.below(8),
            5 => bytes.extend_from_within(at..end),
            6 if !self.words.is_empty() => {
                let word = &self.words[self.below(self.words.len())];
                // Sometimes over what stands there: a value for a value.
                let over = if self.rng.below(2) == 0 { at } else { end };
                bytes.splice(at..over, word.iter().copied());
            }
            _ => {
                let other = self.any_seed();
                let from = self.below(other.len() + 1);
                bytes.truncate(at);
                bytes.extend_from_slice(&other[from..]);
            }
        }
    }

    fn any_seed(&mut self) -> &'a [u8] {
        &self.seeds[self.below(self.seeds.len())]
    }

    fn below(&mut self, bound: usize) -> usize {
        self.rng.below(bound as u64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_vary_stay_short_and_repeat() {
        let seeds = [b"seed".to_vec(), vec![b'x'; 3 * BYTES_MAX]];
        let words = [b"word".to_vec()];
        let make = |seed| {
            let mut mutator = Mutator::new(&seeds, &words, Seed(seed));
            (0..200).map(|_| mutator.next_input()).collect::<Vec<_>>()
        };
        let inputs = make(1);
        assert_eq!(inputs, make(1));
        assert_ne!(inputs, make(2));
        assert!(inputs.iter().all(|input| input.len() <= BYTES_MAX));
        assert!(inputs.iter().any(|input| input.windows(4).any(|part| part == b"word")));
        let distinct: std::collections::BTreeSet<_> = inputs.iter().collect();
        assert!(distinct.len() > 100, "only {} distinct inputs", distinct.len());
    }
}
