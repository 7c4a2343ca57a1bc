//! Spans of a target from a file of OTLP in JSON, one request a line, as the file exporter of OpenTelemetry's collector
//! writes them.
//!
//! Invariants: only spans of wanted traces are kept; lines, spans of a trace and texts are bounded; a line that is no traces
//! is counted and passed over; nothing in a file panics; which spans are kept does not depend on the order of lines: services
//! send them as they end, so a parent often comes last. Absent on purpose: what spans mean (crate analyze).

use crate::RecordError;
use analyze::TargetSpan;
use serde::Deserialize;
use serde::de::{Deserializer, Error as _};
use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read as _};
use std::path::Path;

/// Bytes of a line; longer ones are no traces.
const LINE_BYTES_MAX: u64 = 32 << 20;
/// Spans of one trace; of further ones the shortest are counted.
pub const SPANS_MAX: usize = 256;
/// Characters of a name.
pub const NAME_CHARS_MAX: usize = 120;

/// What was found in a file.
#[derive(Debug, Default)]
pub struct TargetSpans {
    /// By trace id; each span once, by their begins.
    pub by_trace: HashMap<u128, Vec<TargetSpan>>,
    /// Lines that were read.
    pub lines: u64,
    /// Lines that were no traces.
    pub lines_skipped: u64,
    /// Spans beyond the limit of their trace.
    pub spans_left_out: u64,
}

/// Reads the spans of traces that `is_wanted` wants.
///
/// # Errors
/// The file cannot be read.
pub(super) fn read_file(path: &Path, is_wanted: impl Fn(u128) -> bool) -> Result<TargetSpans, RecordError> {
    let failed = |source| RecordError::Io { what: "read", path: path.to_owned(), source };
    let file = std::fs::File::open(path).map_err(failed)?;
    read_target_spans(&mut BufReader::new(file), is_wanted).map_err(failed)
}

/// Reads the spans of traces that `is_wanted` wants, as a collector's file has them.
///
/// # Errors
/// It cannot be read.
pub fn read_target_spans(
    file: &mut impl BufRead,
    is_wanted: impl Fn(u128) -> bool,
) -> std::io::Result<TargetSpans> {
    let mut found = TargetSpans::default();
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = file.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut line)?;
        if read == 0 {
            let by_begin = |list: &mut Vec<TargetSpan>| list.sort_by_key(|span| (span.start_ns, span.id));
            found.by_trace.values_mut().for_each(by_begin);
            return Ok(found);
        }
        if line.last() != Some(&b'\n') && read as u64 == LINE_BYTES_MAX {
            skip_line(file)?;
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

impl TargetSpans {
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
        let Some(trace) = hex(&span.trace_id, 32).filter(|trace| is_wanted(*trace)) else { return };
        // 0 is no id, and as a parent it is none.
        let Some(id) = span_id(&span.span_id).filter(|id| *id != 0) else { return };
        let span = TargetSpan {
            id,
            parent: span_id(&span.parent_span_id).unwrap_or_default(),
            name: cut(&span.name),
            service: service.to_owned(),
            start_ns: span.start,
            end_ns: span.end,
        };
        let list = self.by_trace.entry(trace).or_default();
        // A collector may have been sent a span twice.
        if let Some(kept) = list.iter_mut().find(|kept| kept.id == id) {
            if rank(&span) > rank(kept) {
                *kept = span;
            }
            return;
        }
        if list.len() < SPANS_MAX {
            list.push(span);
            return;
        }
        self.spans_left_out += 1;
        let least = list.iter_mut().min_by(|a, b| rank(a).cmp(&rank(b)));
        if let Some(least) = least.filter(|least| rank(&span) > rank(least)) {
            *least = span;
        }
    }
}

/// Which spans are kept: the longest, because what lies in a span is no longer than it. The rest makes the order total.
fn rank(span: &TargetSpan) -> (u64, u64, u64, u64, &str, &str) {
    let length_ns = span.end_ns.saturating_sub(span.start_ns);
    (length_ns, span.id, span.start_ns, span.parent, &span.name, &span.service)
}

/// A number of at most so many hexadecimal digits.
fn hex(text: &str, digits: usize) -> Option<u128> {
    let is_hex = text.len() <= digits && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    u128::from_str_radix(text, 16).ok().filter(|_| is_hex)
}

fn span_id(text: &str) -> Option<u64> {
    hex(text, 16).and_then(|id| u64::try_from(id).ok())
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
    #[serde(default, rename = "startTimeUnixNano", deserialize_with = "number")]
    start: u64,
    #[serde(default, rename = "endTimeUnixNano", deserialize_with = "number")]
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
    use analyze::where_time_went;
    use schema::traced::NotableRequest;

    fn read(mut text: &[u8]) -> TargetSpans {
        read_target_spans(&mut text, |trace| trace == 0xab).unwrap()
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

    /// Written by the file exporter of the collector 0.120 (Go modules otelcol, otlpreceiver and contrib's fileexporter) for
    /// one request of `prony load -n 1 --trace-sample 100% --seed 7 --metrics-otlp`. Its target: a Go program with the SDK
    /// 1.35 and otelhttp 0.60, whose service `shop` asks its service `stock`.
    const OF_A_COLLECTOR: &[u8] = include_bytes!("../../fixtures/collector-0.120.jsonl");

    #[test]
    fn a_file_that_a_real_collector_wrote_is_read_whole() {
        let tracing = units::Tracing::new(7, 1.0).context(0);
        let found = read_target_spans(&mut &*OF_A_COLLECTOR, |trace| trace == tracing.trace_id).unwrap();
        assert_eq!((found.lines, found.lines_skipped, found.spans_left_out), (3, 0, 0));
        let mut spans = found.by_trace[&tracing.trace_id].clone();
        let sent = spans.iter().position(|span| span.id == tracing.span_id).unwrap();
        assert_eq!((spans.remove(sent).service.as_str(), spans.len()), ("prony", 5));
        let request = NotableRequest { response_ns: 3_569_585, ..NotableRequest::default() };
        let went = where_time_went((1, "load"), &request, &spans);
        let rows: Vec<_> = went
            .spans
            .iter()
            .map(|span| (span.depth, span.service.as_str(), span.name.as_str(), span.self_ns))
            .collect();
        let expected = [
            (0, "shop", "page", 24_285),
            (1, "shop", "render", 37_314),
            (2, "shop", "HTTP GET", 407_913),
            (3, "stock", "stock", 106_128),
            (4, "stock", "SELECT stock", 2_263_025),
        ];
        assert_eq!(rows, expected);
        // The spans lie in each other, so their own times and what is outside are the whole response.
        assert_eq!(went.outside_ns + rows.iter().map(|row| row.3).sum::<u64>(), request.response_ns);
    }

    #[test]
    fn hostile_files_are_bounded() {
        let many: Vec<String> = (1..=1_000).map(|id| span("ab", id)).collect();
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
        let odd = line(&[
            span("zz", 1),
            span("+ab", 1),
            span("ab", 0),
            span("ab", 2).replace("spanId\":\"0", "spanId\":\"+"),
        ]);
        assert!(read(odd.as_bytes()).by_trace.is_empty());
    }

    #[test]
    fn of_many_spans_the_longest_are_kept_in_whatever_order_they_come() {
        // Each lies in the one before it and ends before it does, as services report them.
        let lasts = |id: u64| span("ab", id).replace("0009}", &format!("{}}}", 9_999 - id));
        let mut lines: Vec<String> = (1..=1_000).rev().map(|id| line(&[lasts(id)])).collect();
        let last_first = read(lines.concat().as_bytes());
        lines.reverse();
        let first_first = read(lines.concat().as_bytes());
        let ids = |of: &TargetSpans| of.by_trace[&0xab].iter().map(|span| span.id).collect::<Vec<_>>();
        assert_eq!(ids(&last_first), (1..=SPANS_MAX as u64).collect::<Vec<_>>());
        assert_eq!(last_first.by_trace, first_first.by_trace);
        assert_eq!((last_first.spans_left_out, first_first.spans_left_out), (744, 744));
    }
}
