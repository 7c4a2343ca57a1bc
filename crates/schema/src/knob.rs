//! Knobs: settings of a target that an experiment can vary, as `target.toml` declares them and experiments set them.
//!
//! Invariant: a value that [`Knob::accept`] lets through is one the manifest allows, in the text that reaches the
//! target. Absent on purpose: what a value does to a process or a build (crate launch).

use schemars::JsonSchema;
use serde::de::Visitor;
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt;
use units::{Bytes, Nanos};

/// Longest text of a value in bytes.
pub const TEXT_BYTES_MAX: usize = 4096;

/// `[[knob]]`: exactly one of `env` and `build_env`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Knob {
    /// Lower-case letters, digits and `-`; unique in the target.
    pub name: String,
    /// One line for lists.
    pub about: String,
    /// What its values are.
    #[serde(rename = "type")]
    pub kind: KnobType,
    /// The value where the experiment says nothing, always as text. Not set at all where absent.
    pub default: Option<String>,
    /// The values of a `choice`.
    #[serde(default)]
    pub choices: Vec<String>,
    /// Smallest value of an `integer` or `number`.
    pub at_least: Option<f64>,
    /// Largest value of an `integer` or `number`.
    pub at_most: Option<f64>,
    /// Environment variable of the run that takes the value.
    pub env: Option<String>,
    /// Environment variable of the build that takes the value.
    pub build_env: Option<String>,
}

/// What the values of a knob are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum KnobType {
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// `true` or `false`.
    Bool,
    /// One of `choices`.
    Choice,
    /// Any text without control characters.
    Text,
    /// A time with its unit, passed on as it is written.
    Duration,
    /// Bytes with or without unit, passed on as they are written.
    Size,
}

/// A value as an experiment writes it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum KnobValue {
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Integer(i64),
    /// A number.
    Number(f64),
    /// A text.
    Text(String),
}

impl fmt::Display for KnobValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(value) => value.fmt(f),
            Self::Integer(value) => value.fmt(f),
            Self::Number(value) => value.fmt(f),
            Self::Text(value) => value.fmt(f),
        }
    }
}

/// Written by hand so that a wrong value is reported in plain words.
impl<'de> Deserialize<'de> for KnobValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl Visitor<'_> for Any {
            type Value = KnobValue;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("true, false, a number or a text")
            }
            fn visit_bool<E>(self, value: bool) -> Result<KnobValue, E> {
                Ok(KnobValue::Bool(value))
            }
            fn visit_i64<E>(self, value: i64) -> Result<KnobValue, E> {
                Ok(KnobValue::Integer(value))
            }
            fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<KnobValue, E> {
                i64::try_from(value).map(KnobValue::Integer).map_err(E::custom)
            }
            fn visit_f64<E>(self, value: f64) -> Result<KnobValue, E> {
                Ok(KnobValue::Number(value))
            }
            fn visit_str<E>(self, value: &str) -> Result<KnobValue, E> {
                Ok(KnobValue::Text(value.to_owned()))
            }
        }
        deserializer.deserialize_any(Any)
    }
}

/// Why a knob does not take a value: cause and remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// What is wrong.
    pub cause: String,
    /// What to write.
    pub remedy: String,
}

impl Knob {
    /// The text that reaches the target for a value of an experiment.
    ///
    /// # Errors
    /// The value has another type, is out of range, is none of the choices, or is too long.
    pub fn accept(&self, value: &KnobValue) -> Result<String, Refused> {
        let fits = match (self.kind, value) {
            (KnobType::Integer, KnobValue::Integer(number)) => self.is_in_range(*number as f64),
            (KnobType::Number, KnobValue::Integer(number)) => self.is_in_range(*number as f64),
            (KnobType::Number, KnobValue::Number(number)) => number.is_finite() && self.is_in_range(*number),
            (KnobType::Bool, KnobValue::Bool(_)) => true,
            // Choices such as 1255 or on/off are easily written without quotes.
            (KnobType::Choice, value) => self.choices.contains(&value.to_string()),
            (KnobType::Text, KnobValue::Text(text)) => is_passable(text),
            (KnobType::Duration, KnobValue::Text(text)) => text.trim().parse::<Nanos>().is_ok(),
            (KnobType::Size, KnobValue::Text(text)) => text.trim().parse::<Bytes>().is_ok(),
            (KnobType::Size, KnobValue::Integer(number)) => *number >= 0,
            _ => false,
        };
        if fits {
            return Ok(value.to_string().trim().to_owned());
        }
        let shown = value.to_string();
        let shown: String = shown.chars().flat_map(char::escape_debug).take(80).collect();
        Err(Refused {
            cause: format!("`{shown}` is no value of the knob `{}`", self.name),
            remedy: format!("write {}", self.wanted()),
        })
    }

    /// The default as its type reads it.
    ///
    /// # Errors
    /// It is not a value of this knob.
    pub fn accept_text(&self, text: &str) -> Result<String, Refused> {
        let value = match self.kind {
            KnobType::Integer => text.parse().map(KnobValue::Integer).ok(),
            KnobType::Number => text.parse().map(KnobValue::Number).ok(),
            KnobType::Bool => text.parse().map(KnobValue::Bool).ok(),
            _ => None,
        };
        self.accept(&value.unwrap_or_else(|| KnobValue::Text(text.to_owned())))
    }

    fn is_in_range(&self, number: f64) -> bool {
        self.at_least.is_none_or(|least| number >= least) && self.at_most.is_none_or(|most| number <= most)
    }

    /// What its values look like.
    #[must_use]
    pub fn wanted(&self) -> String {
        match self.kind {
            KnobType::Integer => format!("a whole number{}", self.range()),
            KnobType::Number => format!("a number{}", self.range()),
            KnobType::Bool => "true or false".to_owned(),
            KnobType::Choice => format!("one of: {}", self.choices.join(", ")),
            KnobType::Text => {
                format!("a text of at most {TEXT_BYTES_MAX} bytes without control characters")
            }
            KnobType::Duration => "a time such as \"500ms\" or \"30s\"".to_owned(),
            KnobType::Size => "a size such as \"64KiB\" or \"2GiB\"".to_owned(),
        }
    }

    fn range(&self) -> String {
        match (self.at_least, self.at_most) {
            (Some(least), Some(most)) => format!(" from {least} to {most}"),
            (Some(least), None) => format!(" from {least}"),
            (None, Some(most)) => format!(" up to {most}"),
            (None, None) => String::new(),
        }
    }
}

fn is_passable(text: &str) -> bool {
    text.len() <= TEXT_BYTES_MAX && !text.chars().any(char::is_control)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn knob(kind: KnobType) -> Knob {
        Knob {
            name: "k".into(),
            about: "a".into(),
            kind,
            default: None,
            choices: vec!["std".into(), "1255".into()],
            at_least: Some(1.0),
            at_most: Some(10.0),
            env: Some("K".into()),
            build_env: None,
        }
    }

    #[test]
    fn values_are_held_to_their_type_and_range() {
        use KnobValue::{Bool, Integer, Number, Text};
        let text = |text: &str| Text(text.to_owned());
        for (kind, value, expected) in [
            (KnobType::Integer, Integer(10), Some("10")),
            (KnobType::Integer, Integer(11), None),
            (KnobType::Integer, Number(2.0), None),
            (KnobType::Integer, text("2"), None),
            (KnobType::Number, Integer(2), Some("2")),
            (KnobType::Number, Number(2.5), Some("2.5")),
            (KnobType::Number, Number(0.5), None),
            (KnobType::Number, Number(f64::NAN), None),
            (KnobType::Bool, Bool(false), Some("false")),
            (KnobType::Bool, text("false"), None),
            (KnobType::Choice, text("std"), Some("std")),
            (KnobType::Choice, Integer(1255), Some("1255")),
            (KnobType::Choice, text("sonic"), None),
            (KnobType::Text, text("a b"), Some("a b")),
            (KnobType::Text, text("a\nb"), None),
            (KnobType::Text, text(&"x".repeat(TEXT_BYTES_MAX + 1)), None),
            (KnobType::Duration, text("1.5s"), Some("1.5s")),
            (KnobType::Duration, Integer(5), None),
            (KnobType::Size, text("64MiB"), Some("64MiB")),
            (KnobType::Size, Integer(4096), Some("4096")),
            (KnobType::Size, text("much"), None),
        ] {
            let got = knob(kind).accept(&value);
            assert_eq!(got.as_deref().ok(), expected, "{kind:?} {value:?}");
        }
        let refused = knob(KnobType::Integer).accept(&Integer(11)).unwrap_err();
        assert_eq!(refused.cause, "`11` is no value of the knob `k`");
        assert_eq!(refused.remedy, "write a whole number from 1 to 10");
    }

    #[test]
    fn defaults_are_read_by_their_type() {
        assert_eq!(knob(KnobType::Integer).accept_text("7").as_deref(), Ok("7"));
        assert!(knob(KnobType::Integer).accept_text("seven").is_err());
        assert!(knob(KnobType::Bool).accept_text("yes").is_err());
        assert_eq!(knob(KnobType::Choice).accept_text("1255").as_deref(), Ok("1255"));
    }
}
