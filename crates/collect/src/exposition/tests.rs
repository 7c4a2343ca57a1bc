//! The examples of both specifications, and what is refused. The property tests are in `tests/exposition.rs`.

use super::*;
use schema::server_side::{BucketUnit, QuantileBucket};

const PROMETHEUS: &[u8] = include_bytes!("../../fixtures/exposition/prometheus.txt");
const OPEN_METRICS: &[u8] = include_bytes!("../../fixtures/exposition/openmetrics.txt");

fn labels(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

fn refused(text: &str, family: &str) -> String {
    let none = BTreeMap::new();
    let found = match parse(text.as_bytes(), &[family]) {
        Err(error) => return error.to_string(),
        Ok(found) => found,
    };
    match (found.total(family, &none), found.buckets(family, &none, BucketUnit::Seconds)) {
        (Err(total), Err(_)) if !text.contains("_bucket") => total.to_string(),
        (_, Err(buckets)) => buckets.to_string(),
        other => panic!("{text:?} was read as {other:?}"),
    }
}

#[test]
fn the_example_of_prometheus() {
    let family = "http_request_duration_seconds";
    let found = parse(PROMETHEUS, &["http_requests_total", family]).unwrap();
    assert_eq!(found.total("http_requests_total", &labels(&[])).unwrap(), 1030);
    assert_eq!(found.total("http_requests_total", &labels(&[("code", "400")])).unwrap(), 3);
    let buckets = found.buckets(family, &labels(&[]), BucketUnit::Seconds).unwrap();
    assert_eq!(buckets.count(), 144_320);
    // Rank 72,160 lies among the 100,392 up to 0.2 s, rank 137,104 beyond the 133,988 up to 1 s.
    let ms = |above: u64, up_to: Option<u64>| {
        Some(QuantileBucket { above_ns: above * 1_000_000, up_to_ns: up_to.map(|ms| ms * 1_000_000) })
    };
    assert_eq!(buckets.quantile(0.5), ms(100, Some(200)));
    assert_eq!(buckets.quantile(0.95), ms(1_000, None));
    assert_eq!(buckets.quantile(0.0), ms(0, Some(50)));
    let all = parse(PROMETHEUS, &["msdos_file_access_time_seconds"]).unwrap();
    assert_eq!(all.samples[0].labels["path"], r"C:\DIR\FILE.TXT");
    assert_eq!(all.samples[0].labels["error"], "Cannot find file:\n\"FILE.TXT\"");
}

#[test]
fn the_example_of_open_metrics() {
    let found = parse(OPEN_METRICS, &["requests_total", "foo", "process_cpu_seconds_total"]).unwrap();
    assert_eq!(found.total("requests_total", &labels(&[])).unwrap(), 42);
    assert_eq!(found.total("requests_total", &labels(&[("path", "/b # }")])).unwrap(), 25);
    let foo = found.buckets("foo", &labels(&[]), BucketUnit::Milliseconds).unwrap();
    assert_eq!(foo.quantile(0.95), Some(QuantileBucket { above_ns: 1_000_000, up_to_ns: Some(10_000_000) }));
    let seconds = found.total("process_cpu_seconds_total", &labels(&[])).unwrap_err().to_string();
    assert!(seconds.contains("no whole number"), "4200722.46 s count nothing: {seconds}");
}

#[test]
fn names_in_quotes_and_blanks_are_read() {
    let text = "{\"http.requests\", \"my.label\" = \"x\" , code=\"200\",} 7\n  up\t1\n\n# a comment\n";
    let found = parse(text.as_bytes(), &["http.requests", "up"]).unwrap();
    assert_eq!(found.total("http.requests", &labels(&[("my.label", "x"), ("code", "200")])).unwrap(), 7);
    assert_eq!(found.total("up", &labels(&[])).unwrap(), 1);
}

#[test]
fn histograms_are_summed_over_their_series_and_told_apart_by_labels() {
    let text = "h_bucket{r=\"a\",le=\"1\"} 2\nh_bucket{r=\"a\",le=\"+Inf\"} 3\n\
                h_bucket{r=\"b\",le=\"1.0\"} 5\nh_bucket{r=\"b\",le=\"+Inf\"} 5\n";
    let found = parse(text.as_bytes(), &["h"]).unwrap();
    let of = |pairs| found.buckets("h", &labels(pairs), BucketUnit::Nanoseconds);
    assert_eq!(of(&[]).unwrap().count(), 8);
    assert_eq!(
        of(&[("r", "b")]).unwrap().quantile(1.0),
        Some(QuantileBucket { above_ns: 0, up_to_ns: Some(1) })
    );
    assert!(of(&[("r", "c")]).unwrap_err().to_string().contains("with the labels asked for"));
}

#[test]
fn differences_need_the_same_buckets_and_no_step_back() {
    let buckets = |text: &str| {
        parse(text.as_bytes(), &["h"]).unwrap().buckets("h", &labels(&[]), BucketUnit::Seconds).unwrap()
    };
    let before = buckets("h_bucket{le=\"1\"} 2\nh_bucket{le=\"+Inf\"} 3\n");
    let after = buckets("h_bucket{le=\"1\"} 2\nh_bucket{le=\"+Inf\"} 13\n");
    let since = after.since(&before).unwrap();
    assert_eq!((since.count(), since.quantile(0.5).unwrap().above_ns), (10, 1_000_000_000));
    assert_eq!(before.since(&after), None);
    assert_eq!(before.since(&before).unwrap().quantile(0.95), None, "no values, no quantile");
    let other = buckets("h_bucket{le=\"2\"} 2\nh_bucket{le=\"+Inf\"} 13\n");
    assert_eq!(other.since(&before), None);
}

#[test]
fn what_is_in_neither_format_is_refused_with_its_line() {
    for (text, expected) in [
        ("a 1", "line 1 is neither"),
        ("a 1\nb 2\na", "line 3 is neither"),
        ("a{b=\"c\"\n", "labels are not parted by commas"),
        ("a{b=\"c} 1\n", "a quoted text does not end"),
        ("a{b=c} 1\n", "a quoted text is missing"),
        ("a{b=\"\\t\"} 1\n", "an escape other than"),
        ("a{b=\"1\",b=\"2\"} 1\n", "stands twice"),
        ("a{=\"1\"} 1\n", "has no name"),
        ("a{b} 1\n", "a label has no value"),
        ("{} 1\n", "begins with a name"),
        ("1a 1\n", "begins with a name"),
        ("a one\n", "the value is no number"),
        ("a\n", "the value is missing"),
        ("a1.5\n", "the value is missing"),
        ("a 1 x\n", "the time stamp is no number"),
        ("a 1 2 3\n", "more than a value and a time stamp"),
        ("<html>\n", "begins with a name"),
        ("# EOF\na 1\n", "the text goes on after # EOF"),
    ] {
        let text = refused(text, "a");
        assert!(text.contains(expected) && text.starts_with("line "), "{text}, not {expected}");
    }
    assert!(refused(&"a{b=\"1\"} 1\n".repeat(SAMPLES_MAX + 1), "a").contains("too many series"));
    assert!(matches!(parse(b"\xff 1\n", &["a"]), Err(ParseError::NotText)));
}

#[test]
fn series_that_are_not_what_they_are_taken_for_are_refused() {
    for (text, expected) in [
        ("", "there is no such sample"),
        ("# TYPE a gauge\na 1\n", "its # TYPE is another"),
        ("# TYPE a summary\na 1\n", "its # TYPE is another"),
        ("a NaN\n", "no whole number"),
        ("a -1\n", "no whole number"),
        ("a +Inf\n", "no whole number"),
        ("a 1.5\n", "no whole number"),
        ("a 1e300\n", "no whole number"),
        ("a_bucket 1\n", "no label `le`"),
        ("a_bucket{le=\"x\"} 1\n", "no label `le`"),
        ("a_bucket{le=\"NaN\"} 1\n", "no label `le`"),
        ("a_bucket{le=\"-1\"} 1\n", "no label `le`"),
        ("a_bucket{le=\"1\"} 1\n", "lack the bucket `+Inf`"),
        (
            "a_bucket{le=\"1\",r=\"x\"} 1\na_bucket{le=\"+Inf\",r=\"x\"} 1\na_bucket{le=\"+Inf\",r=\"y\"} 1\n",
            "differ in their bounds",
        ),
    ] {
        let text = refused(text, "a");
        assert!(text.contains(expected), "{text}, not {expected}");
    }
}
