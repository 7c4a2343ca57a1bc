//! The compact text of arrivals, shapes and think times: `NAME`, or `NAME:ITEM,ITEM,…` where an item is `KEY=VALUE` or a
//! bare value of the name's main key, for example `weibull:shape=0.7`, `steps:100,200,x4,each=10s`,
//! `recorded:times.txt`.
//!
//! Invariant: the text becomes the table that an experiment file would hold, and that table is read by the one serde
//! form, so that both forms accept and refuse the same things.
//! Absent on purpose: quoting. A value with a comma, or a bare one with `=`, is written as a table in a file.

use crate::text::explain;
use serde_json::{Map, Value};

/// Why a compact text was refused: cause and remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{input}` is no {what}: {cause}\n  remedy: {remedy}")]
pub struct CompactError {
    /// The text as given.
    pub input: String,
    /// What it should have been, for example `arrival law`.
    pub what: &'static str,
    /// What is wrong.
    pub cause: String,
    /// What to do about it; names the nearest key where one is near.
    pub remedy: String,
}

/// The key that bare values belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MainKey {
    /// One bare value.
    One(&'static str),
    /// Any number of them, as a list.
    List(&'static str),
}

/// What distinguishes one compact form from another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Form {
    /// For messages, for example `arrival law`.
    pub(crate) what: &'static str,
    /// The key that holds the name, for example `law`.
    pub(crate) tag: &'static str,
    /// A valid text, for messages.
    pub(crate) example: &'static str,
    /// The main key of a name, where it has one.
    pub(crate) main_key: fn(&str) -> Option<MainKey>,
}

impl Form {
    /// The table that `text` stands for; the name and the keys are not checked yet.
    pub(crate) fn table(&self, text: &str) -> Result<Value, String> {
        let (name, rest) = text.split_once(':').map_or((text, None), |(name, rest)| (name, Some(rest)));
        let name = name.trim();
        let mut table = Map::new();
        table.insert(self.tag.to_owned(), Value::String(name.to_owned()));
        for item in rest.into_iter().flat_map(|rest| rest.split(',')).map(str::trim) {
            match item.split_once('=') {
                _ if item.is_empty() => return Err("an item between two commas is missing".to_owned()),
                Some((key, value)) => self.put(&mut table, key.trim(), value.trim())?,
                None => put_bare(&mut table, (self.main_key)(name), name, item)?,
            }
        }
        Ok(Value::Object(table))
    }

    fn put(&self, table: &mut Map<String, Value>, key: &str, value: &str) -> Result<(), String> {
        if table.insert(key.to_owned(), Value::String(value.to_owned())).is_some() {
            return Err(format!("`{key}` is given twice"));
        }
        Ok(())
    }

    /// A refusal in the words of serde, turned into cause and remedy.
    pub(crate) fn error(&self, input: &str, message: &str) -> CompactError {
        let (cause, remedy) = explain(message);
        let names_a_key = ["unknown field", "unknown variant"].iter().any(|kind| message.starts_with(kind));
        // An example of this very law tells more than the key that lacks.
        let remedy =
            remedy.filter(|_| names_a_key).unwrap_or_else(|| format!("write for example `{}`", self.example));
        CompactError { input: input.to_owned(), what: self.what, cause, remedy }
    }
}

fn put_bare(
    table: &mut Map<String, Value>,
    main: Option<MainKey>,
    name: &str,
    item: &str,
) -> Result<(), String> {
    let value = Value::String(item.to_owned());
    match main {
        Some(MainKey::One(key)) if !table.contains_key(key) => {
            table.insert(key.to_owned(), value);
            Ok(())
        }
        Some(MainKey::List(key)) => {
            let list = table.entry(key).or_insert_with(|| Value::Array(Vec::new()));
            match list {
                Value::Array(items) => {
                    items.push(value);
                    Ok(())
                }
                _ => Err(format!("`{key}` is given twice")),
            }
        }
        _ => Err(format!("`{item}` of `{name}` has no key; write KEY={item}")),
    }
}

/// Gives a type with `#[serde(remote = "Self")]` its two forms: text and table. `$short` may turn a whole text into
/// a table before the grammar is tried.
macro_rules! text_or_table {
    ($type:ident, $form:expr, $short:expr) => {
        impl std::str::FromStr for $type {
            type Err = $crate::compact::CompactError;
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Self::from_text(text).map_err(|message| $form.error(text, &message))
            }
        }

        impl $type {
            fn from_text(text: &str) -> Result<Self, String> {
                let short: fn(&str) -> Option<serde_json::Value> = $short;
                let table = match short(text) {
                    Some(table) => table,
                    None => $form.table(text)?,
                };
                Self::deserialize(table).map_err(|error| error.to_string())
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Either;
                impl<'de> serde::de::Visitor<'de> for Either {
                    type Value = $type;
                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        write!(f, "a text such as \"{}\", or a table", $form.example)
                    }
                    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<$type, E> {
                        $type::from_text(text).map_err(E::custom)
                    }
                    fn visit_map<A: serde::de::MapAccess<'de>>(self, map: A) -> Result<$type, A::Error> {
                        $type::deserialize(serde::de::value::MapAccessDeserializer::new(map))
                    }
                }
                deserializer.deserialize_any(Either)
            }
        }

        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                $type::serialize(self, serializer)
            }
        }
    };
}
pub(crate) use text_or_table;
