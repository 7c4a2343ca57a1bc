//! Spans of a target from a file of OTLP in JSON, one request a line, as the file exporter of OpenTelemetry's collector
//! writes them.
//!
//! Invariants: only spans of wanted traces are kept; lines, spans of a trace and texts are bounded; a line that is no traces
//! is counted and passed over; nothing in a file panics. Absent on purpose: what spans mean (crate analyze).

use crate::RecordError;
use analyze::TargetSpan;
use serde::Deserialize;
use serde::de::{Deserializer, Error as _};
use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read as _};
use std::path::Path;

/// Bytes of a line; longer ones are no traces.
const LINE_BYTES_MAX: u64 = 32 << 20;
/// Spans of one trace; further ones are counted.
const SPANS_MAX: usize = 256;
/// Characters of a name.
pub(super) const NAME_CHARS_MAX: usize = 120;

/// What was found in a file.
#[derive(Debug, Default)]
pub(super) struct Spans {
    /// By trace id.
    pub(super) by_trace: HashMap<u128, Vec<TargetSpan>>,
    /// Lines that were read.
    pub(super) lines: u64,
    /// Lines that were no traces.
    pub(super) lines_skipped: u64,
    /// Spans beyond the limit of their trace.
    pub(super) spans_left_out: u64,
}

/// Reads the spans of traces that `is_wanted` wants.
///
/// # Errors
/// The file cannot be read.
pub(super) fn read_spans(path: &Path, is_wanted: impl Fn(u128) -> bool) -> Result<Spans, RecordError> {
    let failed = |source| RecordError::Io { what: "read", path: path.to_owned(), source };
    let mut file = BufReader::new(std::fs::File::open(path).map_err(failed)?);
    let mut found = Spans::default();
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = (&mut file).take(LINE_BYTES_MAX).read_until(b'\n', &mut line).map_err(failed)?;
        if read == 0 {
            return Ok(found);
        }
        if line.last() != Some(&b'\n') && read as u64 == LINE_BYTES_MAX {
            skip_line(&mut file).map_err(failed)?;
            line.clear();
        }
        found.line(&line, &is_wanted);
    }
}

/// Passes over the rest of a line without keeping it.
fn skip_line(file: &mut impl BufRead) -> std::io::Result<()> {
    loop {
        let part = file.fill_buf()?;
        if part.is_empty() {
            return Ok(());
        }
        let end = part.iter().position(|byte| *byte == b'\n');
        let used = end.map_or(part.len(), |at| at + 1);
        file.consume(used);
        if end.is_some() {
            return Ok(());
        }
    }
}

impl Spans {
    fn line(&mut self, line: &[u8], is_wanted: &impl Fn(u128) -> bool) {
        self.lines += 1;
        let Ok(Request { resource_spans: Some(resources) }) = serde_json::from_slice(line) else {
            self.lines_skipped += 1;
            return;
        };
        for resource in resources {
            let service = resource.resource.service();
            let spans = resource.scope_spans.into_iter().flat_map(|scope| scope.spans);
            for span in spans {
                self.span(span, &service, is_wanted);
            }
        }
    }

    fn span(&mut self, span: Span, service: &str, is_wanted: &impl Fn(u128) -> bool) {
        let Ok(trace) = u128::from_str_radix(&span.trace_id, 16) else { return };
        let Ok(id) = u64::from_str_radix(&span.span_id, 16) else { return };
        if !is_wanted(trace) {
            return;
        }
        let list = self.by_trace.entry(trace).or_default();
        // A collector may have been sent a span twice.
        if list.iter().any(|kept| kept.id == id) {
            return;
        }
        if list.len() == SPANS_MAX {
            self.spans_left_out += 1;
            return;
        }
        list.push(TargetSpan {
            id,
            parent: u64::from_str_radix(&span.parent_span_id, 16).unwrap_or_default(),
            name: cut(&span.name),
            service: service.to_owned(),
            start_ns: span.start,
            end_ns: span.end,
        });
    }
}

fn cut(text: &str) -> String {
    text.chars().take(NAME_CHARS_MAX).collect()
}

#[derive(Deserialize)]
struct Request {
    #[serde(rename = "resourceSpans")]
    resource_spans: Option<Vec<ResourceSpans>>,
}

#[derive(Deserialize)]
struct ResourceSpans {
    #[serde(default)]
    resource: Resource,
    #[serde(default, rename = "scopeSpans")]
    scope_spans: Vec<ScopeSpans>,
}

#[derive(Default, Deserialize)]
struct Resource {
    #[serde(default)]
    attributes: Vec<Attribute>,
}

impl Resource {
    fn service(&self) -> String {
        let found = self.attributes.iter().find(|attribute| attribute.key == "service.name");
        found.and_then(|attribute| attribute.value.text.as_deref()).map(cut).unwrap_or_default()
    }
}

#[derive(Deserialize)]
struct Attribute {
    key: String,
    #[serde(default)]
    value: Value,
}

#[derive(Default, Deserialize)]
struct Value {
    #[serde(rename = "stringValue")]
    text: Option<String>,
}

#[derive(Deserialize)]
struct ScopeSpans {
    #[serde(default)]
    spans: Vec<Span>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Span {
    trace_id: String,
    span_id: String,
    #[serde(default)]
    parent_span_id: String,
    #[serde(default)]
    name: String,
    #[serde(rename = "startTimeUnixNano", deserialize_with = "number")]
    start: u64,
    #[serde(rename = "endTimeUnixNano", deserialize_with = "number")]
    end: u64,
}

/// JSON of protobuf writes 64-bit numbers as texts, and readers take both.
fn number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Either {
        Number(u64),
        Text(String),
    }
    match Either::deserialize(deserializer)? {
        Either::Number(number) => Ok(number),
        Either::Text(text) => text.parse().map_err(D::Error::custom),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &[u8]) -> Spans {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        read_spans(file.path(), |trace| trace == 0xab).unwrap()
    }

    fn line(spans: &[String]) -> String {
        format!(
            "{{\"resourceSpans\":[{{\"resource\":{{\"attributes\":[{{\"key\":\"n\",\"value\":{{\"intValue\":\"3\"}}}},\
             {{\"key\":\"service.name\",\"value\":{{\"stringValue\":\"shop\"}}}}]}},\
             \"scopeSpans\":[{{\"scope\":{{}},\"spans\":[{}]}}]}}]}}\n",
            spans.join(",")
        )
    }

    fn span(trace: &str, id: u64) -> String {
        format!(
            "{{\"traceId\":\"{trace:0>32}\",\"spanId\":\"{id:016x}\",\"parentSpanId\":\"\",\"name\":\"GET\",\"kind\":2,\
             \"startTimeUnixNano\":\"1700000000000000001\",\"endTimeUnixNano\":1700000000000000009}}"
        )
    }

    #[test]
    fn spans_of_wanted_traces_are_read_and_others_passed_over() {
        let text =
            line(&[span("ab", 1), span("cd", 2), span("ab", 1)]) + "not json\n{\"resourceMetrics\":[]}\n";
        let found = read(text.as_bytes());
        assert_eq!((found.lines, found.lines_skipped), (3, 2));
        let [one] = &found.by_trace[&0xab][..] else { panic!("{found:?}") };
        assert_eq!((one.id, one.parent, one.end_ns - one.start_ns), (1, 0, 8));
        assert_eq!((one.name.as_str(), one.service.as_str()), ("GET", "shop"));
        assert_eq!(found.by_trace.len(), 1);
    }

    #[test]
    fn hostile_files_are_bounded() {
        let many: Vec<String> = (0..1_000).map(|id| span("ab", id)).collect();
        let found = read(line(&many).as_bytes());
        assert_eq!(
            (found.by_trace[&0xab].len(), found.spans_left_out),
            (SPANS_MAX, 1_000 - SPANS_MAX as u64)
        );
        let mut long = vec![b' '; LINE_BYTES_MAX as usize + 100];
        long.push(b'\n');
        long.extend(line(&[span("ab", 3)]).bytes());
        let found = read(&long);
        assert_eq!((found.lines, found.lines_skipped, found.by_trace[&0xab].len()), (2, 1, 1));
        let deep = "[".repeat(100_000);
        assert_eq!(read(deep.as_bytes()).lines_skipped, 1);
        let odd = line(&[span("zz", 1), span("ab", 2).replace("000000001\"", "x\"")]);
        assert!(read(odd.as_bytes()).by_trace.is_empty());
    }
}
