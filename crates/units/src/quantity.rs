//! `Nanos`, `PerSecond`, `Count`, `Bytes` and `BitsPerSecond`: parsing, canonical text and serde.
//!
//! In files for people (experiments, scenarios, manifests) a quantity is a string such as `"5s"`; in files for
//! machines raw integers with the unit in the key are used instead, so these serde forms never appear there.

use crate::parse::{Grammar, ParseQuantityError};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;
use std::ops::{Add, AddAssign, Mul, Sub};
use std::str::FromStr;
use std::time::Duration;

/// A moment or a length of time in nanoseconds. Range 0 to about 584 years.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Nanos(pub u64);

/// Events per second; finite and not negative.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct PerSecond(pub f64);

/// A number of things; accepts `10k` and `1m` as wrk and hey users type them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Count(pub u64);

/// A size in bytes; `KiB`, `MiB`, `GiB` are powers of 1024 and `kB`, `MB`, `GB` powers of 1000.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(pub u64);

/// Speed of a network; `kbit`, `mbit`, `gbit` are powers of 1000, as in tc(8).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BitsPerSecond(pub u64);

const DURATION: Grammar = Grammar {
    what: "duration",
    suffixes: &[
        ("ns", 1.0),
        ("us", 1e3),
        ("µs", 1e3),
        ("ms", 1e6),
        ("s", 1e9),
        ("m", 60e9),
        ("min", 60e9),
        ("h", 3600e9),
        ("d", 86400e9),
    ],
    example: "500ms, 30s or 2m",
};

const RATE: Grammar = Grammar {
    what: "rate",
    suffixes: &[
        ("", 1.0),
        ("/s", 1.0),
        ("k", 1e3),
        ("k/s", 1e3),
        ("m", 1e6),
        ("m/s", 1e6),
        ("/min", 1.0 / 60.0),
    ],
    example: "1000, 10k or 90/min",
};

const COUNT: Grammar =
    Grammar { what: "count", suffixes: &[("", 1.0), ("k", 1e3), ("m", 1e6)], example: "1000, 10k or 1m" };

const SIZE: Grammar = Grammar {
    what: "size",
    suffixes: &[
        ("", 1.0),
        ("B", 1.0),
        ("kB", 1e3),
        ("MB", 1e6),
        ("GB", 1e9),
        ("KiB", 1024.0),
        ("MiB", 1_048_576.0),
        ("GiB", 1_073_741_824.0),
    ],
    example: "512, 64KiB or 2GiB",
};

const SPEED: Grammar = Grammar {
    what: "network speed",
    suffixes: &[("bit", 1.0), ("kbit", 1e3), ("mbit", 1e6), ("gbit", 1e9)],
    example: "100mbit or 1gbit",
};

impl Nanos {
    /// Zero, also the origin of a trial's time.
    pub const ZERO: Self = Self(0);
    /// One microsecond.
    pub const MICRO: Self = Self(1_000);
    /// One millisecond.
    pub const MILLI: Self = Self(1_000_000);
    /// One second.
    pub const SECOND: Self = Self(1_000_000_000);

    /// From whole seconds.
    #[must_use]
    pub const fn from_secs(secs: u64) -> Self {
        Self(secs * 1_000_000_000)
    }

    /// From whole milliseconds.
    #[must_use]
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis * 1_000_000)
    }

    /// From whole microseconds.
    #[must_use]
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros * 1_000)
    }

    /// As seconds.
    #[must_use]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// The time from `earlier` to `self`, zero where `earlier` is later.
    #[must_use]
    #[inline]
    pub const fn since(self, earlier: Self) -> Self {
        Self(self.0.saturating_sub(earlier.0))
    }

    /// As the standard library's type, for calls that want it.
    #[must_use]
    pub const fn to_duration(self) -> Duration {
        Duration::from_nanos(self.0)
    }
}

impl Add for Nanos {
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl AddAssign for Nanos {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl Sub for Nanos {
    type Output = Self;
    #[inline]
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl Mul<u64> for Nanos {
    type Output = Self;
    fn mul(self, times: u64) -> Self {
        Self(self.0 * times)
    }
}

impl From<Duration> for Nanos {
    fn from(duration: Duration) -> Self {
        Self(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
    }
}

/// The largest unit that gives a whole number, so that what is printed can be read back without loss.
impl fmt::Display for Nanos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [(u64, &str); 6] = [
            (3_600_000_000_000, "h"),
            (60_000_000_000, "m"),
            (1_000_000_000, "s"),
            (1_000_000, "ms"),
            (1_000, "us"),
            (1, "ns"),
        ];
        if self.0 == 0 {
            return f.write_str("0s");
        }
        let (factor, unit) =
            UNITS.iter().find(|(factor, _)| self.0.is_multiple_of(*factor)).unwrap_or(&UNITS[5]);
        write!(f, "{}{unit}", self.0 / factor)
    }
}

impl fmt::Display for PerSecond {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/s", self.0)
    }
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [(u64, &str); 3] = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
        match UNITS.iter().find(|(factor, _)| self.0 > 0 && self.0.is_multiple_of(*factor)) {
            Some((factor, unit)) => write!(f, "{}{unit}", self.0 / factor),
            None => write!(f, "{}B", self.0),
        }
    }
}

impl fmt::Display for BitsPerSecond {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [(u64, &str); 3] = [(1_000_000_000, "gbit"), (1_000_000, "mbit"), (1_000, "kbit")];
        match UNITS.iter().find(|(factor, _)| self.0 > 0 && self.0.is_multiple_of(*factor)) {
            Some((factor, unit)) => write!(f, "{}{unit}", self.0 / factor),
            None => write!(f, "{}bit", self.0),
        }
    }
}

impl FromStr for Nanos {
    type Err = ParseQuantityError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        DURATION.parse_whole(text).map(Self)
    }
}

impl FromStr for PerSecond {
    type Err = ParseQuantityError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        RATE.parse(text).map(Self)
    }
}

impl FromStr for Count {
    type Err = ParseQuantityError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        COUNT.parse_whole(text).map(Self)
    }
}

impl FromStr for Bytes {
    type Err = ParseQuantityError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        SIZE.parse_whole(text).map(Self)
    }
}

impl FromStr for BitsPerSecond {
    type Err = ParseQuantityError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        SPEED.parse_whole(text).map(Self)
    }
}

/// Serde and JSON Schema for one quantity: a string as people write it; `$number` says whether a bare number, in the
/// base unit, is accepted as well.
macro_rules! quantity_in_files {
    ($type:ident, $name:literal, $pattern:literal, $description:literal, |$number:ident| $from_number:expr, |$float:ident| $from_float:expr) => {
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Visitor;
                impl serde::de::Visitor<'_> for Visitor {
                    type Value = $type;
                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str($description)
                    }
                    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<$type, E> {
                        text.parse().map_err(E::custom)
                    }
                    fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<$type, E> {
                        u64::try_from(number)
                            .map_err(|_| E::custom(concat!($description, " cannot be negative")))
                            .and_then(|number| self.visit_u64(number))
                    }
                    fn visit_u64<E: serde::de::Error>(self, $number: u64) -> Result<$type, E> {
                        $from_number
                    }
                    fn visit_f64<E: serde::de::Error>(self, $float: f64) -> Result<$type, E> {
                        $from_float
                    }
                }
                deserializer.deserialize_any(Visitor)
            }
        }

        impl JsonSchema for $type {
            fn schema_name() -> Cow<'static, str> {
                $name.into()
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": ["string", "number"], "pattern": $pattern, "description": $description })
            }
        }
    };
}

quantity_in_files!(
    Nanos,
    "Duration",
    r"^[0-9][0-9_.]*\s*(ns|us|µs|ms|s|m|min|h|d)$",
    "a duration with its unit, for example \"500ms\" or \"2m\"",
    |number| Err(E::custom(format!("the unit is missing; write for example \"{number}s\""))),
    |number| Err(E::custom(format!("the unit is missing; write for example \"{number}s\"")))
);
quantity_in_files!(
    PerSecond,
    "Rate",
    r"^[0-9][0-9_.]*\s*(/s|k|k/s|m|m/s|/min)?$",
    "a rate per second, for example 1000 or \"10k\"",
    |number| Ok(PerSecond(number as f64)),
    |number| Ok(PerSecond(number))
);
quantity_in_files!(
    Count,
    "Count",
    r"^[0-9][0-9_.]*\s*[kKmM]?$",
    "a count, for example 1000 or \"10k\"",
    |number| Ok(Count(number)),
    |number| Err(E::custom(format!("{number} is not a whole number")))
);
quantity_in_files!(
    Bytes,
    "Size",
    r"^[0-9][0-9_.]*\s*(B|kB|MB|GB|KiB|MiB|GiB)?$",
    "a size, for example \"64KiB\"",
    |number| Ok(Bytes(number)),
    |number| Err(E::custom(format!("{number} is not a whole number of bytes")))
);

quantity_in_files!(
    BitsPerSecond,
    "NetworkSpeed",
    r"^[0-9][0-9_.]*\s*(bit|kbit|mbit|gbit)$",
    "a network speed with its unit, for example \"1gbit\"",
    |number| Err(E::custom(format!("the unit is missing; write for example \"{number}mbit\""))),
    |number| Err(E::custom(format!("the unit is missing; write for example \"{number}mbit\"")))
);

#[cfg(test)]
mod tests {
    use super::*;

    fn check<T: FromStr<Err = ParseQuantityError> + fmt::Display>(input: &str, expected: Result<&str, &str>) {
        match (input.parse::<T>(), expected) {
            (Ok(value), Ok(text)) => assert_eq!(value.to_string(), text, "for {input}"),
            (Err(error), Err(part)) => assert!(error.to_string().contains(part), "{error} lacks {part}"),
            (Ok(value), Err(part)) => panic!("{input} gave {value}, wanted an error with {part}"),
            (Err(error), Ok(text)) => panic!("{input} gave {error}, wanted {text}"),
        }
    }

    #[test]
    fn durations() {
        check::<Nanos>("30s", Ok("30s"));
        check::<Nanos>("2m", Ok("2m"));
        check::<Nanos>("90s", Ok("90s"));
        check::<Nanos>("1.5ms", Ok("1500us"));
        check::<Nanos>("250 µs", Ok("250us"));
        check::<Nanos>("0s", Ok("0s"));
        check::<Nanos>("30", Err("unit is missing"));
        check::<Nanos>("-1s", Err("does not begin with a number"));
        check::<Nanos>("3 parsecs", Err("not one of its units"));
        check::<Nanos>("1e3s", Err("not one of its units"));
        check::<Nanos>("999999999999h", Err("too large"));
    }

    #[test]
    fn rates_counts_sizes() {
        check::<PerSecond>("10k", Ok("10000/s"));
        check::<PerSecond>("90/min", Ok("1.5/s"));
        check::<Count>("1m", Ok("1000000"));
        check::<Count>("10_000", Ok("10000"));
        check::<Bytes>("64KiB", Ok("64KiB"));
        check::<Bytes>("1000", Ok("1000B"));
        check::<Bytes>("2 GiB", Ok("2GiB"));
        check::<Bytes>("2 GiX", Err("KiB"));
        check::<BitsPerSecond>("1gbit", Ok("1gbit"));
        check::<BitsPerSecond>("0.5 gbit", Ok("500mbit"));
        check::<BitsPerSecond>("1gbps", Err("mbit"));
    }

    #[test]
    fn a_bare_number_needs_a_unit_only_for_durations() {
        assert!(serde_json::from_str::<Nanos>("30").unwrap_err().to_string().contains("\"30s\""));
        assert_eq!(serde_json::from_str::<PerSecond>("30").unwrap(), PerSecond(30.0));
        assert_eq!(serde_json::from_str::<PerSecond>("0.5").unwrap(), PerSecond(0.5));
        assert!(serde_json::from_str::<Count>("1.5").unwrap_err().to_string().contains("whole number"));
        assert!(serde_json::from_str::<Count>("-3").unwrap_err().to_string().contains("negative"));
    }
}
