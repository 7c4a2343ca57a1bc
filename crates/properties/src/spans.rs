//! A target's spans, as a collector's file has them: any bytes are bounded lists of spans that nest without a circle, with no
//! time below zero, and the order of lines changes nothing.
//!
//! Input: the file. Every trace of it is wanted.

use crate::Broken;
use analyze::{TargetSpan, where_time_went};
use record::{SPAN_NAME_CHARS_MAX, SPANS_MAX, TargetSpans, read_target_spans};
use schema::spans::RequestSpans;
use schema::traced::NotableRequest;
use std::collections::BTreeSet;

/// Response time of the request that the spans are laid against.
const RESPONSE_NS: u64 = 1_000_000;

/// Reads a file, as [`read_target_spans()`] does.
pub type Reader = dyn Fn(&[u8]) -> TargetSpans;

/// The property of the target `spans`.
///
/// # Errors
/// Spans that are too many, lost or twice, unbounded texts, a nesting that cannot be, a time longer than its span, or another
/// answer for another order of lines.
pub fn check(input: &[u8]) -> Result<(), Broken> {
    // Bytes in memory can be read.
    check_with(input, &|mut bytes| read_target_spans(&mut bytes, |_| true).unwrap_or_default())
}

/// [`check`] of any reader.
///
/// # Errors
/// As [`check`].
pub fn check_with(input: &[u8], reader: &Reader) -> Result<(), Broken> {
    let lines: Vec<&[u8]> = match input.strip_suffix(b"\n").unwrap_or(input) {
        [] if input.is_empty() => Vec::new(),
        whole => whole.split(|byte| *byte == b'\n').collect(),
    };
    let found = reader(input);
    Broken::unless(found.lines == lines.len() as u64 && found.lines_skipped <= found.lines, || {
        format!("{} lines, {} skipped, of {}", found.lines, found.lines_skipped, lines.len())
    })?;
    for spans in found.by_trace.values() {
        check_list(spans)?;
        let request = NotableRequest { response_ns: RESPONSE_NS, ..NotableRequest::default() };
        check_nesting(spans, &where_time_went((1, "c1"), &request, spans))?;
    }
    let turned: Vec<u8> = lines.into_iter().rev().flat_map(|line| [line, b"\n"].concat()).collect();
    let turned = reader(&turned);
    // Of spans that are left out, one that is there twice may count twice.
    let counts = |of: &TargetSpans| (of.lines_skipped, of.spans_left_out == 0);
    let is_same = turned.by_trace == found.by_trace && counts(&turned) == counts(&found);
    Broken::unless(is_same, || format!("{found:?} in one order of lines, {turned:?} in the other"))
}

fn check_list(spans: &[TargetSpan]) -> Result<(), Broken> {
    let ids: BTreeSet<u64> = spans.iter().map(|span| span.id).collect();
    let is_bounded = (1..=SPANS_MAX).contains(&spans.len()) && ids.len() == spans.len();
    Broken::unless(is_bounded, || format!("{} spans of {} ids", spans.len(), ids.len()))?;
    let texts = spans.iter().flat_map(|span| [&span.name, &span.service]);
    let longest = texts.map(|text| text.chars().count()).max().unwrap_or_default();
    Broken::unless(longest <= SPAN_NAME_CHARS_MAX, || format!("a text of {longest} characters"))
}

/// What must hold of the spans of a request as they are shown.
///
/// # Errors
/// As [`check`].
pub fn check_nesting(spans: &[TargetSpan], went: &RequestSpans) -> Result<(), Broken> {
    let mut given: Vec<&str> = spans.iter().map(|span| span.name.as_str()).collect();
    let mut shown: Vec<&str> = went.spans.iter().map(|span| span.name.as_str()).collect();
    given.sort_unstable();
    shown.sort_unstable();
    Broken::unless(given == shown, || format!("{given:?} became {shown:?}"))?;
    let mut deepest = 0;
    for span in &went.spans {
        Broken::unless(span.depth <= deepest, || format!("{span:?} lies in nothing"))?;
        deepest = span.depth + 1;
        let share = span.self_ns as f64 / RESPONSE_NS as f64;
        let is_within = span.self_ns <= span.duration_ns && span.self_share == share;
        Broken::unless(is_within, || format!("{span:?} has another time of its own"))?;
    }
    Broken::unless(went.outside_ns <= RESPONSE_NS, || format!("{} ns outside", went.outside_ns))
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::spans::SpanTime;

    fn line(trace: u32, id: u32, parent: u32) -> String {
        format!(
            "{{\"resourceSpans\":[{{\"scopeSpans\":[{{\"spans\":[{{\"traceId\":\"{trace}\",\"spanId\":\"{id}\",\
             \"parentSpanId\":\"{parent}\",\"name\":\"s{id}\",\"endTimeUnixNano\":\"{id}\"}}]}}]}}]}}\n"
        )
    }

    fn read(mut bytes: &[u8]) -> TargetSpans {
        read_target_spans(&mut bytes, |_| true).unwrap()
    }

    #[test]
    fn kept_files_have_spans() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/spans");
        let files =
            std::fs::read_dir(folder).unwrap().map(|entry| std::fs::read(entry.unwrap().path()).unwrap());
        assert!(files.filter(|file| !read(file).by_trace.is_empty()).count() >= 5);
    }

    #[test]
    fn circles_and_nonsense_keep_the_property() {
        let circle = line(1, 2, 3) + &line(1, 3, 2) + &line(1, 4, 4) + "no line\n\n" + &line(2, 1, 9);
        for good in ["", "\n", "\n\n", &circle, circle.trim_end(), &(circle.clone() + &circle)] {
            assert_eq!(check(good.as_bytes()), Ok(()), "{good}");
        }
        let many: String = (1..400).map(|id| line(7, id, id / 2)).collect();
        assert_eq!(check(many.as_bytes()), Ok(()));
    }

    #[test]
    fn readers_that_are_wrong_are_caught() {
        let text: String = (1..4).map(|id| line(7, id, id / 2)).collect();
        let spoiled = |spoil: fn(&mut TargetSpans)| {
            let spoiling = move |bytes: &[u8]| {
                let mut found = read(bytes);
                spoil(&mut found);
                found
            };
            check_with(text.as_bytes(), &spoiling).is_err()
        };
        assert!(!spoiled(|_| {}));
        let list = |found: &mut TargetSpans| -> Vec<TargetSpan> { found.by_trace.remove(&7).unwrap() };
        assert!(spoiled(|found| found.lines += 1));
        assert!(spoiled(|found| found.lines_skipped = 9));
        assert!(spoiled(|found| found.by_trace.get_mut(&7).unwrap().clear()));
        assert!(spoiled(|found| found.by_trace.get_mut(&7).unwrap()[0].id = 2));
        assert!(spoiled(|found| found.by_trace.get_mut(&7).unwrap()[0].name = "x".repeat(121)));
        let many: String = (1..=300).map(|id| line(7, id, 0)).collect();
        assert!(
            check_with(many.as_bytes(), &move |bytes| {
                // As a reader that keeps all.
                let mut all = TargetSpans::default();
                for part in bytes.chunks(bytes.len() / 2 + 1) {
                    let mut found = read(part);
                    all.lines += found.lines;
                    all.by_trace.entry(7).or_default().extend(list(&mut found));
                }
                all
            })
            .is_err()
        );
        // Keeps what comes first.
        let first = |bytes: &[u8]| read(bytes.split_inclusive(|byte| *byte == b'\n').next().unwrap());
        let first = move |bytes: &[u8]| TargetSpans { lines: 3, ..first(bytes) };
        assert!(check_with(text.as_bytes(), &first).unwrap_err().to_string().contains("order of lines"));
    }

    #[test]
    fn a_nesting_that_cannot_be_is_caught() {
        let spans = [TargetSpan { id: 1, name: "s1".into(), ..TargetSpan::default() }];
        let good = RequestSpans {
            spans: vec![SpanTime { name: "s1".into(), ..SpanTime::default() }],
            ..RequestSpans::default()
        };
        assert_eq!(check_nesting(&spans, &good), Ok(()));
        let spoils: [fn(&mut RequestSpans); 5] = [
            |went| went.spans.clear(),
            |went| went.spans[0].depth = 1,
            |went| went.spans[0].self_ns = 1,
            |went| went.spans[0].self_share = f64::NAN,
            |went| went.outside_ns = RESPONSE_NS + 1,
        ];
        for (index, spoil) in spoils.into_iter().enumerate() {
            let mut bad = good.clone();
            spoil(&mut bad);
            assert!(check_nesting(&spans, &bad).is_err(), "{index}");
        }
    }
}
