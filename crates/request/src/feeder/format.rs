//! One row of a file, taken apart. Nothing here allocates once memory has grown, but for escapes in JSON texts.

use super::rows::Rows;
use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::fmt;

/// How a file is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Format {
    /// `columns` are given where the file has no header line.
    Csv {
        delimiter: u8,
        columns: Option<Vec<String>>,
    },
    Jsonl,
    Lines,
}

/// The only column of plain lines.
pub(super) const LINE: &str = "line";

/// A line without its ending, or nothing where it is blank.
pub(super) fn trimmed(line: &[u8]) -> Option<&[u8]> {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    (!line.is_empty()).then_some(line)
}

/// Adds the row of a plain line.
pub(super) fn add_line(line: &[u8], rows: &mut Rows, is_wanted: bool) {
    let row = rows.begin();
    if is_wanted {
        rows.set(row, 0, |out| out.extend_from_slice(line));
    }
}

/// Adds the row of a JSON object: the `wanted` keys of its first level, texts without their quotes, null as an empty
/// text, all else as it is written.
pub(super) fn add_json(line: &[u8], rows: &mut Rows, wanted: &[String]) -> Result<(), String> {
    let row = rows.begin();
    let mut deserializer = serde_json::Deserializer::from_slice(line);
    Object { rows, row, wanted }.deserialize(&mut deserializer).map_err(|error| without_place(&error))?;
    deserializer.end().map_err(|error| without_place(&error))?;
    match rows.missing(row) {
        Some(column) => Err(format!("the object has no key `{}`", wanted[column])),
        None => Ok(()),
    }
}

/// serde_json counts lines within the one line that it was given.
fn without_place(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    match text.strip_suffix(&place) {
        Some(cause) => format!("{cause} at column {}", error.column()),
        None => text,
    }
}

struct Object<'a> {
    rows: &'a mut Rows,
    row: usize,
    wanted: &'a [String],
}

impl<'de> DeserializeSeed<'de> for Object<'_> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Object<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(column) = map.next_key_seed(Key(self.wanted))? {
            match column {
                None => {
                    map.next_value::<IgnoredAny>()?;
                }
                Some(column) => {
                    let raw = map.next_value::<&RawValue>()?.get();
                    let mut result = Ok(());
                    self.rows.set(self.row, column, |out| result = push_raw(raw, out));
                    result.map_err(serde::de::Error::custom)?;
                }
            }
        }
        Ok(())
    }
}

fn push_raw(raw: &str, out: &mut Vec<u8>) -> Result<(), serde_json::Error> {
    match raw.as_bytes().first() {
        Some(b'"') => Text(out).deserialize(&mut serde_json::Deserializer::from_str(raw))?,
        Some(b'n') => {}
        _ => out.extend_from_slice(raw.as_bytes()),
    }
    Ok(())
}

/// A key's place among the wanted ones.
struct Key<'a>(&'a [String]);

impl<'de> DeserializeSeed<'de> for Key<'_> {
    type Value = Option<usize>;

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Key<'_> {
    type Value = Option<usize>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E>(self, key: &str) -> Result<Self::Value, E> {
        Ok(self.0.iter().position(|wanted| wanted == key))
    }
}

/// A JSON text into bytes.
struct Text<'a>(&'a mut Vec<u8>);

impl<'de> DeserializeSeed<'de> for Text<'_> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Text<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text")
    }

    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        self.0.extend_from_slice(text.as_bytes());
        Ok(())
    }
}
