//! Numbers out of a JSON answer by a table of places and names.
//!
//! Invariants: what is absent or null is absent; what is there and no number in range is an error; an answer with
//! nothing of the table is an error, for it comes from something else.

use crate::error::ParseError;
use crate::reading::Reading;
use serde_json::Value;

/// Where each value stands, as a JSON pointer, and what it is called.
pub(crate) struct Table {
    /// Values as they stand, from 0 on; `true` and `false` are 1 and 0.
    pub(crate) gauges: &'static [(&'static str, &'static str)],
    /// Whole numbers that only grow.
    pub(crate) counters: &'static [(&'static str, &'static str)],
}

impl Table {
    /// Reads the bytes of an answer.
    pub(crate) fn parse(&self, body: &[u8]) -> Result<Reading, ParseError> {
        let json: Value =
            serde_json::from_slice(body).map_err(|error| ParseError::Json(error.to_string()))?;
        self.read(&json)
    }

    /// Reads an answer, or a part of one.
    pub(crate) fn read(&self, json: &Value) -> Result<Reading, ParseError> {
        let mut reading = Reading::default();
        for (pointer, name) in self.gauges {
            if let Some(value) = amount(json, pointer)? {
                reading.gauges.insert(name, value);
            }
        }
        for (pointer, name) in self.counters {
            if let Some(value) = count(json, pointer)? {
                *reading.counters.entry(name).or_default() += value;
            }
        }
        if reading == Reading::default() {
            return Err(ParseError::Missing("every counter that should be there"));
        }
        Ok(reading)
    }
}

fn at<'a>(json: &'a Value, pointer: &str) -> Option<&'a Value> {
    json.pointer(pointer).filter(|value| !value.is_null())
}

fn amount(json: &Value, pointer: &str) -> Result<Option<f64>, ParseError> {
    let Some(value) = at(json, pointer) else { return Ok(None) };
    let number = value.as_f64().or_else(|| value.as_bool().map(|is| if is { 1.0 } else { 0.0 }));
    let number = number.filter(|number| number.is_finite() && *number >= 0.0);
    number.map(Some).ok_or_else(|| not_number(pointer))
}

/// Counts beyond 2^53 are no counts; sums of a few of them cannot overflow.
fn count(json: &Value, pointer: &str) -> Result<Option<u64>, ParseError> {
    let Some(value) = at(json, pointer) else { return Ok(None) };
    let number = value.as_u64().filter(|number| *number <= 1 << 53);
    number.map(Some).ok_or_else(|| not_number(pointer))
}

fn not_number(pointer: &str) -> ParseError {
    ParseError::Json(format!("{pointer} is not a number in range"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: Table =
        Table { gauges: &[("/a/b c", "gauge"), ("/on", "on")], counters: &[("/n", "n"), ("/m", "n")] };

    #[test]
    fn values_are_found_and_counters_of_one_name_are_summed() {
        let reading = TABLE.parse(br#"{"a":{"b c":1.5},"on":true,"n":2,"m":3,"x":[]}"#).unwrap();
        assert_eq!(
            (reading.gauge("gauge"), reading.gauge("on"), reading.counter("n")),
            (Some(1.5), Some(1.0), Some(5))
        );
        let reading = TABLE.parse(br#"{"a":{"b c":null},"n":2}"#).unwrap();
        assert_eq!((reading.gauge("gauge"), reading.counter("n")), (None, Some(2)));
    }

    #[test]
    fn what_is_no_number_in_range_is_an_error() {
        for body in [
            "",
            "[",
            r#"{"on":"x"}"#,
            r#"{"n":-1}"#,
            r#"{"n":1.5}"#,
            r#"{"a":{"b c":-1}}"#,
            r#"{"n":99999999999999999}"#,
        ] {
            TABLE.parse(body.as_bytes()).expect_err(body);
        }
        for body in ["{}", "7", "[]", r#"{"other":1}"#] {
            let error = TABLE.parse(body.as_bytes()).expect_err(body).to_string();
            assert!(error.contains("every counter"), "{body}: {error}");
        }
    }
}
