//! Whole numbers in as few bytes as they need: seven bits a byte, the lowest first, and a bit for "more follows" (LEB128,
//! protobuf's *varint*).

/// Bytes of the longest number.
const BYTES_MAX: usize = 10;

/// Appends a number, one to ten bytes.
pub fn put(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// The next number, which is taken away; nothing where it is cut or has more than 64 bits.
pub fn take(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0_u64;
    for place in 0..BYTES_MAX {
        let byte = *bytes.split_off_first()?;
        let part = u64::from(byte & 0x7f);
        // The tenth byte has room for one bit.
        number |= part.checked_mul(1 << (7 * place))?;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

/// Bytes of a number.
#[must_use]
pub const fn bytes(number: u64) -> usize {
    (64 - (number | 1).leading_zeros() as usize).div_ceil(7)
}

/// A difference, in either direction, as a number that is small where it is.
#[must_use]
pub const fn zigzag(difference: u64) -> u64 {
    let signed = difference as i64;
    ((signed << 1) ^ (signed >> 63)) as u64
}

/// What [`zigzag`] was given.
#[must_use]
pub const fn unzigzag(number: u64) -> u64 {
    (number >> 1) ^ (number & 1).wrapping_neg()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_survive_and_small_ones_are_short() {
        for number in [0, 1, 127, 128, 16_383, 16_384, u64::MAX >> 1, u64::MAX] {
            let mut bytes = Vec::new();
            put(&mut bytes, number);
            assert_eq!(bytes.len(), super::bytes(number));
            let mut left = bytes.as_slice();
            assert_eq!(take(&mut left), Some(number));
            assert!(left.is_empty());
            assert_eq!(take(&mut &bytes[..bytes.len() - 1]), None, "cut");
            assert_eq!(unzigzag(zigzag(number)), number);
        }
        assert_eq!([0, 127, 128, u64::MAX].map(super::bytes), [1, 1, 2, 10]);
        assert_eq!([0_u64, 1, u64::MAX].map(zigzag), [0, 2, 1]);
        assert_eq!(take(&mut [0xff; 11].as_slice()), None);
        assert_eq!(take(&mut [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2].as_slice()), None);
    }
}
