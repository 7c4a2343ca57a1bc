//! Hostile text in Prometheus' format: no panic, no count that was not there, and what was written is read back.

use collect::exposition::parse;
use collect::server_side::parse_prometheus;
use proptest::prelude::*;
use schema::server_side::PrometheusAt;
use std::collections::BTreeMap;
use std::fmt::Write as _;

const FIXTURES: [&[u8]; 2] = [
    include_bytes!("../../fixtures/exposition/prometheus.txt"),
    include_bytes!("../../fixtures/exposition/openmetrics.txt"),
];

fn wanted(counter: &str, histogram: &str) -> PrometheusAt {
    PrometheusAt {
        path: "/metrics".to_owned(),
        port: None,
        counter: Some(counter.to_owned()),
        histogram: Some(histogram.to_owned()),
        labels: BTreeMap::new(),
        unit: None,
        patterns: Vec::new(),
    }
}

/// Reads whatever it is; what comes out is finite by type.
fn feed(bytes: &[u8]) {
    let _ = parse(bytes, &["a"]);
    for (counter, histogram) in
        [("a", "h"), ("http_requests_total", "http_request_duration_seconds"), ("requests_total", "foo")]
    {
        if let Ok(reading) = parse_prometheus(bytes, &wanted(counter, histogram)) {
            let buckets = reading.buckets.expect("asked for");
            let _ = (buckets.quantile(0.95), buckets.quantile(f64::NAN), buckets.since(&buckets));
        }
    }
}

#[test]
fn huge_input_is_bounded() {
    feed(&vec![b'a'; 8 << 20]);
    feed("{".repeat(1 << 20).as_bytes());
    feed(format!("a{{{}}} 1\n", "b=\"c\",".repeat(100_000)).as_bytes());
    feed(format!("a{{b=\"{}\"}} 1\n", "\\n".repeat(1 << 20)).as_bytes());
    feed("a 1\n".repeat(1 << 20).as_bytes());
    feed("# TYPE a counter\n".repeat(1 << 18).as_bytes());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(512) })]

    #[test]
    fn arbitrary_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..512)) {
        feed(&bytes);
    }

    #[test]
    fn lines_of_its_own_letters(text in "((a|h|h_bucket|# TYPE|le=\"[0-9+Inf.]{0,4}\"|[{}\",=\\\\# \t]|[0-9.e+-]{1,6}|NaN)[ \n]?){0,40}") {
        feed(text.as_bytes());
    }

    #[test]
    fn a_text_cut_short_is_refused_or_says_less_of_whole_lines(which in 0..2_usize, cut in any::<prop::sample::Index>()) {
        let whole = FIXTURES[which];
        let part = &whole[..cut.index(whole.len())];
        feed(part);
        // Within a line it is an error: half a number is another number.
        if !part.is_empty() && !part.ends_with(b"\n") && !part.ends_with(b"# EOF") {
            prop_assert!(parse(part, &["a"]).is_err());
        }
    }

    #[test]
    fn one_damaged_byte(which in 0..2_usize, at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut damaged = FIXTURES[which].to_vec();
        let at = at.index(damaged.len());
        damaged[at] = byte;
        feed(&damaged);
    }

    #[test]
    fn what_is_written_is_read_back(
        counts in proptest::collection::vec(0..1_u64 << 50, 1..20),
        noise in "[ -~]{0,20}",
    ) {
        let mut text = format!("# HELP a {noise}\n# TYPE a counter\n");
        for (series, count) in counts.iter().enumerate() {
            let value = noise.replace('\\', "\\\\").replace('"', "\\\"");
            let _ = writeln!(text, "a{{series=\"{series}\",noise=\"{value}\"}} {count}");
        }
        let none = BTreeMap::new();
        let found = parse(text.as_bytes(), &["a"]).unwrap();
        prop_assert_eq!(found.total("a", &none).unwrap(), counts.iter().sum::<u64>());
    }
}
