//! One value or several, as levels of a factor are written.

use schemars::JsonSchema;
use serde::de::value::SeqAccessDeserializer;
use serde::de::{IntoDeserializer, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt;
use std::marker::PhantomData;

/// A value or a list of them.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum OneOrMany<T> {
    /// A single level.
    One(T),
    /// Several levels.
    Many(Vec<T>),
}

impl<T: Clone> OneOrMany<T> {
    /// The levels in the order written.
    pub fn levels(&self) -> Vec<T> {
        match self {
            Self::One(one) => vec![one.clone()],
            Self::Many(many) => many.clone(),
        }
    }
}

/// Written by hand so that a wrong value is reported in the words of its own type.
impl<'de, T: Deserialize<'de>> Deserialize<'de> for OneOrMany<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Either<T> {
            type Value = OneOrMany<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("one value or a list of values")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<OneOrMany<T>, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(items)).map(OneOrMany::Many)
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<OneOrMany<T>, E> {
                T::deserialize(text.into_deserializer()).map(OneOrMany::One)
            }
            fn visit_bool<E: serde::de::Error>(self, is: bool) -> Result<OneOrMany<T>, E> {
                T::deserialize(is.into_deserializer()).map(OneOrMany::One)
            }
            fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<OneOrMany<T>, E> {
                T::deserialize(number.into_deserializer()).map(OneOrMany::One)
            }
            fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<OneOrMany<T>, E> {
                T::deserialize(number.into_deserializer()).map(OneOrMany::One)
            }
            fn visit_f64<E: serde::de::Error>(self, number: f64) -> Result<OneOrMany<T>, E> {
                T::deserialize(number.into_deserializer()).map(OneOrMany::One)
            }
        }
        deserializer.deserialize_any(Either(PhantomData))
    }
}
