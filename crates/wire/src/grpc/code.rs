//! The status codes of gRPC.

use std::fmt;

/// Names by number.
const NAMES: [&str; 17] = [
    "OK",
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
];

/// A status code, 0 to 16.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Code(u8);

impl Code {
    /// The call succeeded.
    pub const OK: Self = Self(0);
    /// An error of unknown kind.
    pub const UNKNOWN: Self = Self(2);
    /// The call took longer than it may.
    pub const DEADLINE_EXCEEDED: Self = Self(4);
    /// The server does not have the method.
    pub const UNIMPLEMENTED: Self = Self(12);

    /// All codes, by number.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..NAMES.len() as u8).map(Self)
    }

    /// The code of a number; `None` beyond 16.
    #[must_use]
    pub const fn of_number(number: u8) -> Option<Self> {
        if (number as usize) < NAMES.len() { Some(Self(number)) } else { None }
    }

    /// The code of a name such as `NOT_FOUND`, in any case.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        NAMES.iter().position(|known| known.eq_ignore_ascii_case(name)).map(|number| Self(number as u8))
    }

    /// The code that a peer means by decimal digits. Codes that gRPC does not know mean UNKNOWN; `None` where these are no
    /// digits.
    #[must_use]
    pub fn of_digits(digits: &[u8]) -> Option<Self> {
        if digits.is_empty() || digits.len() > 10 || !digits.iter().all(u8::is_ascii_digit) {
            return None;
        }
        let number = digits.iter().fold(0_u64, |sum, digit| sum * 10 + u64::from(digit - b'0'));
        let known = u8::try_from(number).ok().and_then(Self::of_number);
        Some(known.unwrap_or(Self::UNKNOWN))
    }

    /// The number, 0 to 16.
    #[must_use]
    pub const fn number(self) -> u8 {
        self.0
    }

    /// The name, for example `NOT_FOUND`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        NAMES[self.0 as usize]
    }
}

/// Number and name: `5 NOT_FOUND`.
impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.0, self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_have_numbers_and_names() {
        assert_eq!(Code::all().count(), 17);
        for code in Code::all() {
            assert_eq!(Code::of_name(&code.name().to_ascii_lowercase()), Some(code));
            assert_eq!(Code::of_digits(code.number().to_string().as_bytes()), Some(code));
        }
        assert_eq!(Code::of_number(17), None);
        assert_eq!(Code::DEADLINE_EXCEEDED.to_string(), "4 DEADLINE_EXCEEDED");
    }

    #[test]
    fn digits_of_peers_are_read_with_care() {
        for (digits, code) in [
            ("0", Some(Code::OK)),
            ("00", Some(Code::OK)),
            ("17", Some(Code::UNKNOWN)),
            ("9999999999", Some(Code::UNKNOWN)),
            ("10000000000", None),
            ("", None),
            ("-1", None),
            ("1 ", None),
            ("OK", None),
        ] {
            assert_eq!(Code::of_digits(digits.as_bytes()), code, "{digits}");
        }
    }
}
