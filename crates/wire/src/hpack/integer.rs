//! Integers with a prefix (RFC 7541 §5.1), bounded to 32 bits and six bytes.

use super::error::HpackError;

/// Bytes behind the prefix: 32 bits need five.
const MORE_BYTES_MAX: u32 = 5;

/// Appends `value` with a prefix of `bits` bits (1 to 8); `pattern` has the bits above the prefix.
#[inline]
pub(super) fn put(pattern: u8, bits: u32, value: u32, out: &mut Vec<u8>) {
    let full = (1_u32 << bits) - 1;
    if value < full {
        out.push(pattern | value as u8);
        return;
    }
    out.push(pattern | full as u8);
    let mut rest = value - full;
    while rest >= 0x80 {
        out.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
}

/// Reads an integer at `at`, which moves behind it.
///
/// # Errors
/// It is cut off, or does not fit.
#[inline]
pub(super) fn take(input: &[u8], at: &mut usize, bits: u32) -> Result<u32, HpackError> {
    let full = (1_u32 << bits) - 1;
    let first = u32::from(*input.get(*at).ok_or(HpackError::CutOff)?) & full;
    *at += 1;
    if first < full { Ok(first) } else { take_more(input, at, full) }
}

#[cold]
fn take_more(input: &[u8], at: &mut usize, full: u32) -> Result<u32, HpackError> {
    let mut value = u64::from(full);
    for place in 0..MORE_BYTES_MAX {
        let byte = *input.get(*at).ok_or(HpackError::CutOff)?;
        *at += 1;
        value += u64::from(byte & 0x7f) << (7 * place);
        if byte & 0x80 == 0 {
            return u32::try_from(value).map_err(|_| HpackError::Integer);
        }
    }
    Err(HpackError::Integer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(bits: u32, value: u32, bytes: &[u8]) {
        let mut out = Vec::new();
        put(0, bits, value, &mut out);
        assert_eq!(out, bytes);
        let mut at = 0;
        assert_eq!((take(&out, &mut at, bits), at), (Ok(value), bytes.len()));
    }

    /// RFC 7541 appendix C.1.
    #[test]
    fn examples_of_the_standard() {
        check(5, 10, &[0x0a]);
        check(5, 1337, &[0x1f, 0x9a, 0x0a]);
        check(8, 42, &[0x2a]);
    }

    #[test]
    fn integers_are_bounded() {
        let taken = |bytes: &[u8]| take(bytes, &mut 0, 7);
        assert_eq!(taken(&[]), Err(HpackError::CutOff));
        assert_eq!(taken(&[0x7f, 0x80]), Err(HpackError::CutOff));
        assert_eq!(taken(&[0x7f, 0x80, 0xff, 0xff, 0xff, 0x0f]), Ok(u32::MAX));
        assert_eq!(taken(&[0x7f, 0x81, 0xff, 0xff, 0xff, 0x0f]), Err(HpackError::Integer));
        assert_eq!(taken(&[0x7f, 0xff, 0xff, 0xff, 0xff, 0x7f]), Err(HpackError::Integer));
        // Zeros without an end.
        assert_eq!(taken(&[0x7f, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00]), Err(HpackError::Integer));
    }

    proptest! {
        #[test]
        fn integers_come_back(value: u32, bits in 1_u32..=8, behind: u8) {
            let mut out = Vec::new();
            put(0, bits, value, &mut out);
            let length = out.len();
            out.push(behind);
            let mut at = 0;
            prop_assert_eq!((take(&out, &mut at, bits), at), (Ok(value), length));
        }
    }
}
