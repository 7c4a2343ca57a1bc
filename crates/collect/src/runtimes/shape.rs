//! What an endpoint answered where it is not what was asked for: the usual formats are told apart, so that the message can
//! name the key of `[metrics]` that reads them.
//!
//! Invariant: only the beginning is looked at, and no input panics. Absent on purpose: parsing.

use crate::error::{CollectError, ParseError};

/// Bytes that are looked at.
const LOOKED_AT: usize = 16 << 10;

/// The usual formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    Prometheus,
    Expvar,
    Json,
    Html,
    Other,
}

fn of(body: &[u8]) -> Shape {
    let text = String::from_utf8_lossy(&body[..body.len().min(LOOKED_AT)]);
    let text = text.trim_start();
    let is_family = |line: &str| line.starts_with("# TYPE ") || line.starts_with("# HELP ");
    match text.chars().next() {
        Some('{') if text.contains("\"memstats\"") => Shape::Expvar,
        Some('{' | '[') => Shape::Json,
        Some('<') => Shape::Html,
        _ if text.lines().any(is_family) => Shape::Prometheus,
        _ => Shape::Other,
    }
}

/// The error of an answer that could not be understood: what came instead, where that is another of the usual formats.
pub(crate) fn explained(what: String, source: ParseError, body: &[u8]) -> CollectError {
    let expected = match &source {
        ParseError::Json(_) => "the agreed JSON",
        ParseError::Line { .. } | ParseError::Series { .. } => "Prometheus' text format",
        ParseError::Missing(what) => what,
        _ => return CollectError::Parse { what, source },
    };
    let is_text = matches!(source, ParseError::Line { .. } | ParseError::Series { .. });
    let (found, remedy) = match of(body) {
        Shape::Html => ("an HTML page", "check the path"),
        Shape::Prometheus if matches!(source, ParseError::Json(_)) => (
            "Prometheus' text format",
            "name it under `exporters`, which knows the usual names, or `prometheus`",
        ),
        Shape::Expvar if matches!(source, ParseError::Missing(_)) => {
            ("the JSON of package expvar", "name it as `go_expvar`")
        }
        Shape::Expvar | Shape::Json if is_text => {
            ("JSON", "check the path, or name it under the key for its format")
        }
        _ => return CollectError::Parse { what, source },
    };
    CollectError::Format { what, found, expected, remedy }
}

#[cfg(test)]
mod tests {
    use super::*;

    const JSON: fn() -> ParseError = || ParseError::Json("x".to_owned());
    const LINE: fn() -> ParseError = || ParseError::Line { line: 1, cause: "x" };
    const MISSING: fn() -> ParseError = || ParseError::Missing("every metric of runtime/metrics");
    const PROMETHEUS: &str = "# HELP go_goroutines Number\n# TYPE go_goroutines gauge\ngo_goroutines 7\n";

    fn message(source: fn() -> ParseError, body: &str) -> String {
        explained("http://127.0.0.1:80/m".to_owned(), source(), body.as_bytes()).to_string()
    }

    #[test]
    fn the_message_names_what_came_and_the_key_that_reads_it() {
        let text = message(JSON, PROMETHEUS);
        assert!(
            text.contains("http://127.0.0.1:80/m answered Prometheus' text format, not the agreed JSON"),
            "{text}"
        );
        assert!(text.contains("`exporters`"), "{text}");
        let text = message(MISSING, "{\"cmdline\":[],\"memstats\":{}}");
        assert!(text.contains("expvar") && text.contains("`go_expvar`"), "{text}");
        let text = message(LINE, "<!doctype html>");
        assert!(
            text.contains("answered an HTML page, not Prometheus' text format; check the path"),
            "{text}"
        );
        assert!(message(LINE, "{}").contains("answered JSON, not"));
    }

    #[test]
    fn what_is_in_the_right_format_keeps_its_own_message() {
        for (source, body) in
            [(JSON, "{}"), (LINE, PROMETHEUS), (MISSING, PROMETHEUS), (JSON, ""), (LINE, "\u{1}")]
        {
            let text = message(source, body);
            assert!(text.contains("cannot understand"), "{body:?}: {text}");
        }
    }
}
