//! A set of status codes that is asked once for every answer.

use std::fmt;

/// A set of the status codes 0 to 1023.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StatusSet {
    bits: [u64; 16],
}

impl StatusSet {
    /// The given codes; 200 to 399 where there is none.
    pub(super) fn new(codes: &[u16]) -> Self {
        let mut set = Self { bits: [0; 16] };
        if codes.is_empty() {
            (200..400).for_each(|code| set.insert(code));
        } else {
            codes.iter().for_each(|code| set.insert(*code));
        }
        set
    }

    fn insert(&mut self, code: u16) {
        if let Some(word) = self.bits.get_mut(usize::from(code >> 6)) {
            *word |= 1 << (code & 63);
        }
    }

    #[inline]
    pub(super) fn contains(&self, code: u16) -> bool {
        self.bits.get(usize::from(code >> 6)).is_some_and(|word| word >> (code & 63) & 1 == 1)
    }
}

/// Ranges in words: `200, 204 to 206`.
impl fmt::Display for StatusSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut code = 0;
        let mut separator = "";
        while code < 1024 {
            let first = code;
            while self.contains(code) {
                code += 1;
            }
            match code - first {
                0 => code += 1,
                1 => write!(f, "{separator}{first}")?,
                _ => write!(f, "{separator}{first} to {}", code - 1)?,
            }
            if code > first && self.contains(first) {
                separator = ", ";
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_say_what_they_hold() {
        for (codes, words) in [
            (&[][..], "200 to 399"),
            (&[204, 200, 205, 206, 999], "200, 204 to 206, 999"),
            (&[1023, 2000], "1023"),
        ] {
            let set = StatusSet::new(codes);
            assert_eq!(set.to_string(), words);
            assert!((0..1024).all(|code| codes.is_empty() || set.contains(code) == codes.contains(&code)));
            assert!(!set.contains(2000) && !set.contains(u16::MAX));
        }
    }
}
