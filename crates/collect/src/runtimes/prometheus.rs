//! `target.prometheus`: the families of a Prometheus or OpenMetrics endpoint that `patterns` names, names kept.
//!
//! | key | kind | from |
//! |---|---|---|
//! | the family's name | gauge | a gauge, summed over its series |
//! | the sample's name | delta | a counter; `…_count` and `…_sum` of histograms and summaries |
//! | `…_p95` | gauge | the buckets' increase since the previous line: upper bound of the bucket of the 95th percentile, in the family's own unit; the lower one where that is unbounded |
//! | `dropped_families` | gauge | names that fit beyond the first 200; absent where none |
//!
//! Invariant: a sum that went down, as when a series goes away, has no delta.

use super::endpoint;
use crate::error::ParseError;
use crate::exposition::{self, Families};
use crate::reading::Values;
use crate::server_side::Endpoint;
use crate::source::{Comparable, Source};
use schema::server_side::PrometheusAt;

/// Name of the source.
pub const NAME: &str = "target.prometheus";

const QUANTILE: f64 = 0.95;

/// Parses one text.
///
/// # Errors
/// The text is in neither format, or nothing of it fits.
pub fn parse(body: &[u8], patterns: &[String]) -> Result<Families, ParseError> {
    let found = exposition::families(body, patterns)?;
    if found == Families::default() {
        return Err(ParseError::Missing("every family that `patterns` names"));
    }
    Ok(found)
}

pub(crate) fn source(at: Endpoint, wanted: PrometheusAt) -> Box<dyn Source> {
    let PrometheusAt { path, port, patterns, .. } = wanted;
    endpoint(NAME, at, port, path, move |body: &[u8]| parse(body, &patterns))
}

impl Comparable for Families {
    fn gauges(&self, previous: Option<&Self>) -> Values {
        let mut gauges = self.gauges.clone();
        if self.dropped > 0 {
            gauges.insert("dropped_families".to_owned(), self.dropped as f64);
        }
        for (name, buckets) in &self.histograms {
            let before = previous.and_then(|previous| previous.histograms.get(name));
            let since = before.and_then(|before| buckets.since(before));
            if let Some(bucket) = since.and_then(|since| since.quantile(QUANTILE)) {
                let bound = bucket.up_to_ns.unwrap_or(bucket.above_ns);
                gauges.insert(format!("{name}_p95"), bound as f64 / 1e9);
            }
        }
        gauges
    }

    fn deltas(&self, previous: &Self) -> Values {
        let increase = |(name, value): (&String, &f64)| {
            let delta = value - previous.counters.get(name)?;
            (delta >= 0.0).then(|| (name.clone(), delta))
        };
        self.counters.iter().filter_map(increase).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(slow: u32, total: u32) -> String {
        format!(
            "# TYPE h histogram\nh_bucket{{le=\"0.25\"}} 3\nh_bucket{{le=\"0.5\"}} {}\nh_bucket{{le=\"+Inf\"}} {}\n\
             h_count {}\n# TYPE n counter\nn_total {total}\n",
            3 + slow,
            3 + slow,
            3 + slow
        )
    }

    #[test]
    fn increases_and_the_percentile_of_what_came_since() {
        let patterns = ["h".to_owned(), "n*".to_owned()];
        let parse = |text: &str| parse(text.as_bytes(), &patterns).unwrap();
        let (first, second) = (parse(&text(0, 5)), parse(&text(20, 9)));
        assert!(!first.gauges(None).contains_key("h_p95"));
        assert_eq!(second.gauges(Some(&first))["h_p95"], 0.5);
        let deltas = second.deltas(&first);
        assert_eq!((deltas["n_total"], deltas["h_count"]), (4.0, 20.0));
        assert!(!first.deltas(&second).contains_key("n_total"), "started again");
    }

    #[test]
    fn a_text_without_any_of_them_is_an_error() {
        assert!(parse(b"up 1\n", &["http_*".to_owned()]).unwrap_err().to_string().contains("patterns"));
        parse(b"<html>", &["*".to_owned()]).unwrap_err();
    }

    #[test]
    fn real_answers() {
        let all = ["*".to_owned()];
        for body in [
            &include_bytes!("../../fixtures/exposition/prometheus.txt")[..],
            &include_bytes!("../../fixtures/exposition/openmetrics.txt")[..],
        ] {
            let found = parse(body, &all).unwrap();
            assert!(!found.counters.is_empty() && !found.histograms.is_empty(), "{found:?}");
        }
    }
}
