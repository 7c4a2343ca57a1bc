//! The two text formats: OpenMetrics 1.0, and the older exposition format 0.0.4, which Pushgateway takes.
//!
//! Both escape `\`, `"` and line ends in the value of a label. OpenMetrics names a counter's family without `_total` and
//! closes with `# EOF`, so that a reader knows a cut-off answer.

use crate::family::{Family, Kind, Sample, Value};
use crate::traced::Exemplar;
use std::fmt::Write as _;

/// Media type of [`openmetrics`].
pub const OPENMETRICS_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
/// Media type of [`text`].
pub const TEXT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// OpenMetrics text.
#[must_use]
pub fn openmetrics(families: &[Family]) -> String {
    let mut text: String = families.iter().map(|family| rendered(family, family.name, true)).collect();
    text += "# EOF\n";
    text
}

/// The exposition format 0.0.4.
#[must_use]
pub fn text(families: &[Family]) -> String {
    families.iter().map(|family| rendered(family, &family.sample_name(), false)).collect()
}

/// `has_exemplars` of a format that knows them.
fn rendered(family: &Family, name: &str, has_exemplars: bool) -> String {
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
                let mut above = f64::NEG_INFINITY;
                for (bound, count) in times.cumulative() {
                    line(&mut text, &bucket, sample, Some(bound), count as f64);
                    let is_within = |one: &&Exemplar| above < one.value_s && one.value_s <= bound;
                    if let Some(one) = times.exemplars.iter().find(is_within).filter(|_| has_exemplars) {
                        exemplar(&mut text, one);
                    }
                    above = bound;
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

/// Behind the line of its bucket.
fn exemplar(text: &mut String, of: &Exemplar) {
    let (trace, time_s) = (&of.trace, of.time_unix_ns as f64 / 1e9);
    text.truncate(text.trim_end().len());
    let (trace_id, span_id) = (escaped(&trace.trace_id), escaped(&trace.span_id));
    let _ =
        writeln!(text, " # {{trace_id=\"{trace_id}\",span_id=\"{span_id}\"}} {:?} {time_s:.3}", of.value_s);
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
    fn a_bucket_of_openmetrics_has_an_exemplar_that_lies_in_it() {
        let tracing = units::Tracing::new(1, 1.0);
        let one = |number: u64, value_s: f64| Exemplar {
            value_s,
            time_unix_ns: 1_500_000_000,
            trace: schema::traced::TraceIds::of(tracing, number),
        };
        let mut family = Family::new("prony_response_seconds", Kind::Histogram, "Times");
        let slowest = vec![one(7, 0.002), one(8, 0.0015)];
        family.push_times(&[], times(&[1_500_000, 2_000_000]).with_exemplars(slowest));
        let context = tracing.context(7);
        let row = format!(
            "le=\"0.0025\"}} 2 # {{trace_id=\"{:032x}\",span_id=\"{:016x}\"}} 0.002 1.500\n",
            context.trace_id, context.span_id
        );
        let families = [family];
        let openmetrics = openmetrics(&families);
        assert!(openmetrics.contains(&row) && openmetrics.matches(" # ").count() == 1, "{openmetrics}");
        assert!(!text(&families).contains("trace_id"), "the older format has none");
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
