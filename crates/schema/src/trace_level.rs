//! How many of a load's requests have their traces recorded, as people write it: a level of the factor `trace`.
//!
//! Absent on purpose: which shares a load can have (crate plan).

use crate::share::Share;
use crate::text::nearest;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserializer, Visitor};
use serde::{Deserialize, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;

/// No header at all, or a header on every request and this share of them sampled.
#[derive(Clone, Copy, Debug, Default)]
pub enum TraceLevel {
    /// Requests carry no trace.
    #[default]
    Off,
    /// Requests carry a trace; this share of them asks the target to record it.
    Share(f64),
}

impl TraceLevel {
    const OFF: &'static str = "off";

    /// The level of a load whose plan samples this share; `None` where requests carry no trace.
    #[must_use]
    pub fn of(share: Option<f64>) -> Self {
        share.map_or(Self::Off, Self::Share)
    }

    /// The share of it; `None` where requests carry no trace.
    #[must_use]
    pub const fn share(self) -> Option<f64> {
        match self {
            Self::Off => None,
            Self::Share(share) => Some(share),
        }
    }
}

/// `0.7%` and `0.007` are one level, though their binary fractions differ.
impl PartialEq for TraceLevel {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Off, Self::Off) => true,
            (Self::Share(a), Self::Share(b)) => (a - b).abs() < 1e-12,
            _ => false,
        }
    }
}

/// As it is written: `off`, `0%`, `1%`.
impl fmt::Display for TraceLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Off => f.write_str(Self::OFF),
            Self::Share(share) => write!(f, "{}%", (share * 1e12).round() / 1e10),
        }
    }
}

impl<'de> Deserialize<'de> for TraceLevel {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl Visitor<'_> for Either {
            type Value = TraceLevel;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a share of the traces such as \"1%\" or 0.01, or \"off\"")
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<TraceLevel, E> {
                let off = TraceLevel::OFF;
                match text.parse() {
                    _ if text.trim() == off => Ok(TraceLevel::Off),
                    Ok(Share(share)) => Ok(TraceLevel::Share(share)),
                    // Its remedy is the value that was meant.
                    Err(_) if nearest(text, [off]).is_some() => {
                        Err(E::unknown_variant(text, &[TraceLevel::OFF]))
                    }
                    Err(_) => {
                        let cause = format!("`{text}` is no share of the traces; write 1%, 0.01 or off");
                        Err(E::custom(cause))
                    }
                }
            }
            fn visit_f64<E: serde::de::Error>(self, number: f64) -> Result<TraceLevel, E> {
                if number.is_finite() {
                    Ok(TraceLevel::Share(number))
                } else {
                    Err(E::custom("the share is not finite"))
                }
            }
            fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<TraceLevel, E> {
                Ok(TraceLevel::Share(number as f64))
            }
            fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<TraceLevel, E> {
                Ok(TraceLevel::Share(number as f64))
            }
        }
        deserializer.deserialize_any(Either)
    }
}

impl Serialize for TraceLevel {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Off => serializer.serialize_str(Self::OFF),
            Self::Share(share) => serializer.serialize_f64(*share),
        }
    }
}

impl JsonSchema for TraceLevel {
    fn schema_name() -> Cow<'static, str> {
        "TraceLevel".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A share of the traces, \"1%\" or 0.01, or \"off\": requests carry no trace",
            "anyOf": [{ "type": "number" }, { "type": "string", "pattern": "^ *([0-9.eE+-]+ *%?|off) *$" }]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::parse_toml;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct File {
        trace: TraceLevel,
    }

    fn read(written: &str) -> Result<TraceLevel, String> {
        let file = parse_toml::<File>("e.toml", &format!("trace = {written}\n"));
        file.map(|file| file.trace).map_err(|error| error.to_string())
    }

    #[test]
    fn a_level_is_read_and_written_alike() {
        for (written, level, words) in [
            ("\"off\"", TraceLevel::Off, "off"),
            ("\"0\"", TraceLevel::Share(0.0), "0%"),
            ("\"1%\"", TraceLevel::Share(0.01), "1%"),
            ("0.007", TraceLevel::Share(0.007), "0.7%"),
            ("\"0.7%\"", TraceLevel::Share(0.007), "0.7%"),
            ("1", TraceLevel::Share(1.0), "100%"),
        ] {
            let found = read(written).unwrap();
            assert_eq!((found, found.to_string().as_str()), (level, words), "{written}");
            assert_eq!(read(&format!("{words:?}")), Ok(level));
            assert_eq!(TraceLevel::of(level.share()), level);
        }
        assert_ne!(TraceLevel::Off, TraceLevel::Share(0.0));
    }

    #[test]
    fn a_mistake_has_its_place_and_its_remedy() {
        for (written, texts) in [
            ("\"of\"", &["e.toml:1:9: unknown value `of`", "did you mean `off`?"][..]),
            ("\"few\"", &["`few` is no share of the traces", "remedy: write 1%, 0.01 or off"]),
            ("false", &["e.toml:1:9", "boolean `false`", "remedy: write a share", "or \"off\""]),
            ("nan", &["not finite", "remedy:"]),
        ] {
            let error = read(written).unwrap_err();
            assert!(texts.iter().all(|text| error.contains(text)), "{error}");
        }
    }
}
