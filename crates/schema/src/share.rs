//! A part of a whole, as people write it.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserializer, Visitor};
use serde::{Deserialize, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;

/// A part of a whole, as a number (`0.02`) or with a percent sign (`"2%"`); finite.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Share(pub f64);

impl std::str::FromStr for Share {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is no share: write it like 2% or 0.02");
        let text = text.trim();
        let (number, unit) = match text.strip_suffix('%') {
            Some(number) => (number.trim_end(), 100.0),
            None => (text, 1.0),
        };
        let value: f64 = number.parse().map_err(|_| wrong())?;
        if value.is_finite() { Ok(Self(value / unit)) } else { Err(wrong()) }
    }
}

impl<'de> Deserialize<'de> for Share {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl Visitor<'_> for Either {
            type Value = Share;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a share such as \"2%\" or 0.02")
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Share, E> {
                text.parse().map_err(E::custom)
            }
            fn visit_f64<E: serde::de::Error>(self, number: f64) -> Result<Share, E> {
                if number.is_finite() { Ok(Share(number)) } else { Err(E::custom("the share is not finite")) }
            }
            fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<Share, E> {
                Ok(Share(number as f64))
            }
            fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<Share, E> {
                Ok(Share(number as f64))
            }
        }
        deserializer.deserialize_any(Either)
    }
}

impl Serialize for Share {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.0)
    }
}

impl JsonSchema for Share {
    fn schema_name() -> Cow<'static, str> {
        "Share".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A share: \"2%\" or 0.02",
            "anyOf": [{ "type": "number" }, { "type": "string", "pattern": "^ *[0-9.eE+-]+ *%? *$" }]
        })
    }
}
