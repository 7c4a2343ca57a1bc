//! The Huffman code of HPACK (RFC 7541 §5.2 and appendix B).
//!
//! The code is canonical: the lengths alone give it. Decoding goes four bits at a time through a table made at compile
//! time; the shortest code has five bits, so a step yields one symbol at most.

use super::error::HpackError;

/// Code lengths of the 256 bytes and of EOS (RFC 7541 appendix B).
#[rustfmt::skip]
const LENGTHS: [u8; SYMBOLS] = [
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28,
    28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28,
    6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6,
    5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10,
    13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7,
    7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6,
    15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5,
    6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28,
    20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23,
    24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24,
    22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23,
    21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23,
    26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25,
    19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27,
    20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23,
    26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26,
    30,
];

const SYMBOLS: usize = 257;
const EOS: usize = 256;
const LENGTH_MAX: u8 = 30;
/// Inner nodes of a binary tree with as many leaves as symbols.
const NODES: usize = SYMBOLS - 1;
/// Padding is a beginning of EOS, which is all ones, of at most this many bits.
const PADDING_BITS_MAX: usize = 7;

const CODES: [u32; SYMBOLS] = codes();
static STEPS: [[Step; 16]; NODES] = steps();

/// Codes of one length follow one another in the order of their symbols.
const fn codes() -> [u32; SYMBOLS] {
    let mut codes = [0; SYMBOLS];
    let mut next = 0;
    let mut length = 1;
    while length <= LENGTH_MAX {
        next <<= 1;
        let mut symbol = 0;
        while symbol < SYMBOLS {
            if LENGTHS[symbol] == length {
                codes[symbol] = next;
                next += 1;
            }
            symbol += 1;
        }
        length += 1;
    }
    codes
}

/// What four bits lead to.
#[derive(Clone, Copy, Debug)]
struct Step {
    /// The node reached.
    next: u8,
    /// The symbol that ended on the way, where one did.
    symbol: u8,
    emits: bool,
    /// Whether a text may end here.
    may_end: bool,
    /// EOS was reached.
    fails: bool,
}

/// A child in the tree: below `NODES` an inner node, then a leaf for each symbol.
type Child = u16;

const fn tree() -> [[Child; 2]; NODES] {
    let mut tree = [[0; 2]; NODES];
    let mut made = 1;
    let mut symbol = 0;
    while symbol < SYMBOLS {
        let mut node = 0;
        let mut left = LENGTHS[symbol];
        while left > 0 {
            left -= 1;
            let bit = (CODES[symbol] >> left & 1) as usize;
            if left == 0 {
                tree[node][bit] = (NODES + symbol) as Child;
            } else {
                // The root is nobody's child, so 0 is a child that is not there yet.
                if tree[node][bit] == 0 {
                    tree[node][bit] = made;
                    made += 1;
                }
                node = tree[node][bit] as usize;
            }
        }
        symbol += 1;
    }
    tree
}

const fn steps() -> [[Step; 16]; NODES] {
    let tree = tree();
    let mut may_end = [false; NODES];
    let (mut node, mut bits) = (0, 0);
    while bits <= PADDING_BITS_MAX {
        may_end[node] = true;
        node = tree[node][1] as usize;
        bits += 1;
    }
    let none = Step { next: 0, symbol: 0, emits: false, may_end: false, fails: false };
    let mut steps = [[none; 16]; NODES];
    let mut from = 0;
    while from < NODES {
        let mut nibble = 0;
        while nibble < 16 {
            steps[from][nibble] = step(&tree, &may_end, from, nibble);
            nibble += 1;
        }
        from += 1;
    }
    steps
}

const fn step(tree: &[[Child; 2]; NODES], may_end: &[bool; NODES], from: usize, nibble: usize) -> Step {
    let mut step = Step { next: 0, symbol: 0, emits: false, may_end: false, fails: false };
    let mut node = from;
    let mut left = 4;
    while left > 0 {
        left -= 1;
        let child = tree[node][nibble >> left & 1] as usize;
        node = child;
        if child >= NODES {
            let symbol = child - NODES;
            step.fails |= symbol == EOS;
            step.symbol = symbol as u8;
            step.emits = true;
            node = 0;
        }
    }
    step.next = node as u8;
    step.may_end = may_end[node];
    step
}

/// Appends the text that `input` encodes, at most 8/5 of its length.
///
/// # Errors
/// The code of EOS, or bad padding; `out` has a part of the text then.
pub fn decode(input: &[u8], out: &mut Vec<u8>) -> Result<(), HpackError> {
    out.reserve(input.len() * 8 / 5);
    let mut node = 0;
    let mut may_end = true;
    for byte in input {
        for nibble in [byte >> 4, byte & 0xf] {
            let step = STEPS[usize::from(node)][usize::from(nibble)];
            if step.fails {
                return Err(HpackError::Huffman);
            }
            if step.emits {
                out.push(step.symbol);
            }
            (node, may_end) = (step.next, step.may_end);
        }
    }
    if may_end { Ok(()) } else { Err(HpackError::Huffman) }
}

/// Length of the code of a text, in bytes.
#[must_use]
pub fn encoded_bytes(text: &[u8]) -> usize {
    let bits: usize = text.iter().map(|byte| usize::from(LENGTHS[usize::from(*byte)])).sum();
    bits.div_ceil(8)
}

/// Appends the code of a text, padded with ones.
pub fn encode(text: &[u8], out: &mut Vec<u8>) {
    let (mut pending, mut bits) = (0_u64, 0);
    for byte in text {
        let symbol = usize::from(*byte);
        pending = pending << LENGTHS[symbol] | u64::from(CODES[symbol]);
        bits += u32::from(LENGTHS[symbol]);
        while bits >= 8 {
            bits -= 8;
            out.push((pending >> bits) as u8);
        }
    }
    if bits > 0 {
        out.push((pending << (8 - bits)) as u8 | 0xff >> bits);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_code_leads_to_a_symbol() {
        // The sum of Kraft: the code is complete, so the tree has no hole.
        let sum: u64 = LENGTHS.iter().map(|length| 1 << (LENGTH_MAX - length)).sum();
        assert_eq!(sum, 1 << LENGTH_MAX);
        assert!(tree().iter().flatten().all(|child| *child != 0));
        // RFC 7541 appendix B, the first code, the last of a byte, and EOS.
        assert_eq!(
            (CODES[0], CODES[usize::from(b'a')], CODES[255], CODES[EOS]),
            (0x1ff8, 3, 0x03ff_ffee, 0x3fff_ffff)
        );
    }

    #[test]
    fn bad_ends_are_refused() {
        let decoded = |bytes: &[u8]| {
            let mut out = Vec::new();
            decode(bytes, &mut out).map(|()| out)
        };
        assert_eq!(decoded(&[]), Ok(vec![]));
        assert_eq!(decoded(&[0b0001_1111]), Ok(b"a".to_vec()));
        assert_eq!(decoded(&[0b0001_1110]), Err(HpackError::Huffman), "padding with a zero");
        assert_eq!(decoded(&[0b0001_1111, 0xff]), Err(HpackError::Huffman), "padding of eleven bits");
        assert_eq!(decoded(&[0xff; 4]), Err(HpackError::Huffman), "EOS");
    }

    proptest! {
        #[test]
        fn texts_come_back(text in prop::collection::vec(any::<u8>(), 0..200)) {
            let (mut coded, mut decoded) = (Vec::new(), Vec::new());
            encode(&text, &mut coded);
            prop_assert_eq!(coded.len(), encoded_bytes(&text));
            prop_assert_eq!(decode(&coded, &mut decoded), Ok(()));
            prop_assert_eq!(decoded, text);
        }
    }
}
