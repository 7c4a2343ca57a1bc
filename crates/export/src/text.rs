//! The two text formats: OpenMetrics 1.0, and the older exposition format 0.0.4, which Pushgateway takes.
//!
//! Both escape `\`, `"` and line ends in the value of a label. OpenMetrics names a counter's family without `_total` and
//! closes with `# EOF`, so that a reader knows a cut-off answer.

use crate::family::{Family, Kind, Sample, Value};
use std::fmt::Write as _;

/// Media type of [`openmetrics`].
pub const OPENMETRICS_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
/// Media type of [`text`].
pub const TEXT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// OpenMetrics text.
#[must_use]
pub fn openmetrics(families: &[Family]) -> String {
    let mut text: String = families.iter().map(|family| rendered(family, family.name)).collect();
    text += "# EOF\n";
    text
}

/// The exposition format 0.0.4.
#[must_use]
pub fn text(families: &[Family]) -> String {
    families.iter().map(|family| rendered(family, &family.sample_name())).collect()
}

fn rendered(family: &Family, name: &str) -> String {
    let kind = match family.kind {
        Kind::Counter => "counter",
        Kind::Gauge => "gauge",
        Kind::Histogram => "histogram",
    };
    let mut text = format!("# HELP {name} {}\n# TYPE {name} {kind}\n", family.help);
    let own = family.sample_name();
    for sample in &family.samples {
        match &sample.value {
            Value::Number(number) => line(&mut text, &own, sample, None, *number),
            Value::Times(times) => {
                let bucket = format!("{own}_bucket");
                for (bound, count) in times.cumulative() {
                    line(&mut text, &bucket, sample, Some(bound), count as f64);
                }
                line(&mut text, &format!("{own}_count"), sample, None, times.count as f64);
                line(&mut text, &format!("{own}_sum"), sample, None, times.sum_s);
            }
        }
    }
    text
}

/// One sample; `bound` is the upper bound of a bucket. Writing to a string cannot fail.
fn line(text: &mut String, name: &str, sample: &Sample, bound: Option<f64>, value: f64) {
    let own = sample.labels.iter().map(|(name, value)| format!("{name}=\"{}\"", escaped(value)));
    let bound = bound.map(|bound| format!("le=\"{}\"", bound_label(bound)));
    let labels: Vec<String> = own.chain(bound).collect();
    let _ = writeln!(text, "{name}{{{}}} {value}", labels.join(","));
}

/// The value of the label `le`.
pub(crate) fn bound_label(bound: f64) -> String {
    // OpenMetrics wants a floating-point number to look like one.
    if bound.is_finite() { format!("{bound:?}") } else { "+Inf".to_owned() }
}

fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buckets::times;

    fn families() -> Vec<Family> {
        let mut counter = Family::new("prony_requests_failed", Kind::Counter, "Failures");
        counter.push(&[("cell", "a \"b\"\\\n"), ("class", "reset")], 3.0);
        let mut histogram = Family::new("prony_response_seconds", Kind::Histogram, "Times");
        histogram.push_times(&[("run", "r")], times(&[1_500_000, 1_500_000]));
        vec![counter, histogram]
    }

    #[test]
    fn openmetrics_names_a_counter_without_total_and_ends() {
        let text = openmetrics(&families());
        let begin = "# HELP prony_requests_failed Failures\n# TYPE prony_requests_failed counter\n\
            prony_requests_failed_total{cell=\"a \\\"b\\\"\\\\\\n\",class=\"reset\"} 3\n";
        assert!(text.starts_with(begin), "{text}");
        assert!(text.ends_with("# EOF\n"));
        for row in [
            "prony_response_seconds_bucket{run=\"r\",le=\"0.001\"} 0\n",
            "prony_response_seconds_bucket{run=\"r\",le=\"0.0025\"} 2\n",
            "prony_response_seconds_bucket{run=\"r\",le=\"1.0\"} 2\n",
            "prony_response_seconds_bucket{run=\"r\",le=\"+Inf\"} 2\n",
            "prony_response_seconds_count{run=\"r\"} 2\n",
        ] {
            assert!(text.contains(row), "{row}{text}");
        }
    }

    #[test]
    fn the_older_format_names_it_with_total_and_has_no_end_mark() {
        let text = text(&families());
        assert!(text.starts_with(
            "# HELP prony_requests_failed_total Failures\n# TYPE prony_requests_failed_total counter\n"
        ));
        assert!(!text.contains("# EOF"));
    }
}
