//! A number of virtual users, also as a product of business numbers: `50_000 × 0.003`.
//!
//! Absent on purpose: other arithmetic. `users = daily_active × share_at_once` is how people know the number.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

/// Virtual users; at least 1. Written as a count (`300`, `10k`) or as a product of numbers with `×` or `*`, which is
/// rounded up: `"50_000 × 0.003"` are 150.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Users(pub u64);

/// Why a text is no number of users.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no number of users; write a count such as 300 or 10k, or a product such as \"50_000 × 0.003\""
)]
pub struct ParseUsersError(String);

/// Most users; beyond it a product is a slip of the pen.
const USERS_MAX: f64 = 1e9;

impl FromStr for Users {
    type Err = ParseUsersError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || ParseUsersError(text.to_owned());
        let product: f64 = text.split(['×', '*']).map(factor).product::<Option<f64>>().ok_or_else(wrong)?;
        // A product of decimal fractions lies a little beside the whole number that is meant.
        let users = (product - product.abs() * 1e-9).ceil();
        if (1.0..=USERS_MAX).contains(&users) { Ok(Self(users as u64)) } else { Err(wrong()) }
    }
}

/// A decimal number with `_` between digits and perhaps `k` or `m` behind it.
fn factor(text: &str) -> Option<f64> {
    let text = text.trim();
    let (digits, scale) = match text.as_bytes().last()? {
        b'k' | b'K' => (&text[..text.len() - 1], 1e3),
        b'm' | b'M' => (&text[..text.len() - 1], 1e6),
        _ => (text, 1.0),
    };
    let plain: String = digits.chars().filter(|c| *c != '_').collect();
    let is_decimal = plain.starts_with(|c: char| c.is_ascii_digit())
        && plain.chars().all(|c| c.is_ascii_digit() || c == '.');
    plain.parse::<f64>().ok().filter(|_| is_decimal).map(|number| number * scale)
}

impl fmt::Display for Users {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Serialize for Users {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(self.0)
    }
}

impl<'de> Deserialize<'de> for Users {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Form {
            Number(u64),
            Text(String),
        }
        let text = match Form::deserialize(deserializer)? {
            Form::Number(number) => number.to_string(),
            Form::Text(text) => text,
        };
        text.parse().map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for Users {
    fn schema_name() -> Cow<'static, str> {
        "Users".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "virtual users: a count, or a product such as \"50_000 × 0.003\", rounded up",
            "anyOf": [{ "type": "integer", "minimum": 1 }, { "type": "string" }]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_of_business_numbers_are_rounded_up() {
        for (text, users) in [
            ("300", 300),
            ("10k", 10_000),
            ("50_000 × 0.003", 150),
            ("50000*0.003", 150),
            ("1000 × 0.0011", 2),
            ("2m × 0.5 × 0.01", 10_000),
        ] {
            assert_eq!(text.parse(), Ok(Users(users)), "{text}");
        }
        for wrong in ["", "0", "x", "-3", "3 ×", "1e3", "nan", "inf", "10 + 2", "9m × 9m"] {
            assert!(wrong.parse::<Users>().is_err(), "{wrong}");
        }
        assert_eq!(serde_json::from_str::<Users>("\"50000 × 0.003\"").unwrap(), Users(150));
        assert_eq!(serde_json::from_str::<Users>("7").unwrap(), Users(7));
    }
}
