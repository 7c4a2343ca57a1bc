//! Values on their way from one state to another: nothing, booleans, numbers, text, and tables of these.

use mlua::{Error, Lua, Result, Value};

/// Tables within tables; a table within itself would have no end.
const DEPTH_MAX: usize = 100;

/// A value that belongs to no state.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Plain {
    Nil,
    Boolean(bool),
    Number(f64),
    Text(Vec<u8>),
    Table(Vec<(Plain, Plain)>),
}

impl Plain {
    /// Takes a value out of its state.
    ///
    /// # Errors
    /// For functions, userdata and coroutines, and for tables that never end.
    pub(crate) fn take(value: &Value) -> Result<Self> {
        Self::take_within(value, DEPTH_MAX)
    }

    fn take_within(value: &Value, depth: usize) -> Result<Self> {
        Ok(match value {
            Value::Nil => Self::Nil,
            Value::Boolean(value) => Self::Boolean(*value),
            Value::Integer(value) => Self::Number(*value as f64),
            Value::Number(value) => Self::Number(*value),
            Value::String(text) => Self::Text(text.as_bytes().to_vec()),
            Value::Table(_) if depth == 0 => {
                return Err(Error::runtime(format!(
                    "cannot transfer a table nested more than {DEPTH_MAX} deep to thread"
                )));
            }
            Value::Table(table) => {
                let mut pairs = Vec::new();
                table.for_each(|key: Value, value: Value| {
                    pairs.push((Self::take_within(&key, depth - 1)?, Self::take_within(&value, depth - 1)?));
                    Ok(())
                })?;
                Self::Table(pairs)
            }
            other => {
                return Err(Error::runtime(format!("cannot transfer '{}' to thread", kind(other))));
            }
        })
    }

    /// Puts the value into a state.
    pub(crate) fn put(&self, lua: &Lua) -> Result<Value> {
        Ok(match self {
            Self::Nil => Value::Nil,
            Self::Boolean(value) => Value::Boolean(*value),
            Self::Number(value) => Value::Number(*value),
            Self::Text(text) => Value::String(lua.create_string(text)?),
            Self::Table(pairs) => {
                let table = lua.create_table()?;
                for (key, value) in pairs {
                    table.raw_set(key.put(lua)?, value.put(lua)?)?;
                }
                Value::Table(table)
            }
        })
    }
}

/// A value's type as Lua names it; mlua has two kinds of numbers.
pub(crate) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Integer(_) => "number",
        other => other.type_name(),
    }
}
