//! A dashboard for Grafana over the metrics of runs, in the classic JSON that every Grafana since version 8 imports.
//!
//! Written here and not with Grafana's own kit, which is for Node: so the expressions stand beside the names that they
//! use, and a test holds every name against [`crate::families`]. Prometheus is the data source, chosen at import.

use serde_json::{Value, json};

/// Height and width of a panel in Grafana's grid of 24 columns.
const HEIGHT: u32 = 8;
const WIDTH: u32 = 12;
/// Oldest version of the dashboard model that has what is used here (Grafana 8).
const SCHEMA_VERSION: u32 = 30;
/// The runs that are chosen above the panels.
const CHOSEN: &str = "run=~\"$run\",cell=~\"$cell\"";
/// The metric that the choices above the panels are filled from.
const METRIC_OF_CHOICES: &str = "prony_requests_scheduled_total";

struct Panel {
    title: &'static str,
    /// What a reader shall know.
    about: &'static str,
    /// Grafana's name of the unit.
    unit: &'static str,
    /// Expression, in which `CHOSEN` stands for the chosen runs, and legend.
    series: &'static [(&'static str, &'static str)],
}

const PANELS: [Panel; 9] = [
    Panel {
        title: "Throughput",
        about: "Right answers a second, and requests as they were intended. Where the two part, the target falls behind.",
        unit: "reqps",
        series: &[
            ("sum by (cell) (rate(prony_requests_completed_total{CHOSEN}[$__rate_interval]))", "{{cell}}"),
            (
                "sum by (cell) (rate(prony_requests_scheduled_total{CHOSEN}[$__rate_interval]))",
                "{{cell}}, intended",
            ),
        ],
    },
    Panel {
        title: "Failures",
        about: "Requests without a right answer, by class.",
        unit: "reqps",
        series: &[(
            "sum by (cell, class) (rate(prony_requests_failed_total{CHOSEN}[$__rate_interval]))",
            "{{cell}}, {{class}}",
        )],
    },
    Panel {
        title: "Response time of the trial so far",
        about: "From the intended moment on, since the warm-up, at prony's own resolution of 0.1 %.",
        unit: "s",
        series: &[(
            "max by (cell, trial, quantile) (prony_response_quantile_seconds{CHOSEN})",
            "{{cell}}, trial {{trial}}, {{quantile}}",
        )],
    },
    Panel {
        title: "p99 by buckets",
        about: "Over the window of the panel: from native buckets within 0.3 % where Prometheus takes them, else from the \
            classic ones, off by up to the width of a bucket.",
        unit: "s",
        series: &[(
            "histogram_quantile(0.99, sum by (cell, le) (rate(prony_response_seconds_bucket{CHOSEN}[$__rate_interval]))) \
             or histogram_quantile(0.99, sum by (cell) (rate(prony_response_seconds{CHOSEN}[$__rate_interval])))",
            "{{cell}}",
        )],
    },
    Panel {
        title: "Waiting and in flight",
        about: "Requests intended and not written, and written and not done.",
        unit: "short",
        series: &[
            ("sum by (cell) (prony_backlog_requests{CHOSEN})", "{{cell}}, waiting"),
            ("sum by (cell) (prony_in_flight_requests{CHOSEN})", "{{cell}}, in flight"),
        ],
    },
    Panel {
        title: "Answers by status",
        about: "By the hundred of the status.",
        unit: "reqps",
        series: &[(
            "sum by (cell, status) (rate(prony_responses_total{CHOSEN}[$__rate_interval]))",
            "{{cell}}, {{status}}",
        )],
    },
    Panel {
        title: "Bytes",
        about: "Received from the target and sent to it.",
        unit: "Bps",
        series: &[
            ("sum by (cell) (rate(prony_read_bytes_total{CHOSEN}[$__rate_interval]))", "{{cell}}, received"),
            ("sum by (cell) (rate(prony_written_bytes_total{CHOSEN}[$__rate_interval]))", "{{cell}}, sent"),
        ],
    },
    Panel {
        title: "Generator",
        about: "CPUs that the generator's workers use. Near what it was given, the generator is the limit and not the target.",
        unit: "short",
        series: &[(
            "sum by (cell) (rate(prony_generator_cpu_seconds_total{CHOSEN}[$__rate_interval]))",
            "{{cell}}",
        )],
    },
    Panel {
        title: "Trials that count",
        about: "1 for a valid trial, 0 for one that is void or failed.",
        unit: "short",
        series: &[("prony_trial_valid{CHOSEN}", "{{cell}}, trial {{trial}}")],
    },
];

/// The dashboard of runs.
#[must_use]
pub fn run_dashboard() -> Value {
    let panels: Vec<Value> = (0..).zip(&PANELS).map(|(at, panel)| drawn(at, panel)).collect();
    json!({
        "__inputs": [{
            "name": "DS_PROMETHEUS", "label": "Prometheus", "type": "datasource",
            "pluginId": "prometheus", "pluginName": "Prometheus",
        }],
        "uid": "prony-run",
        "title": "prony: runs",
        "tags": ["prony", "load test"],
        "schemaVersion": SCHEMA_VERSION,
        "editable": true,
        "graphTooltip": 1,
        "refresh": "5s",
        "time": { "from": "now-15m", "to": "now" },
        "templating": { "list": [variable("run", "run=~\".*\""), variable("cell", "run=~\"$run\"")] },
        "annotations": { "list": [] },
        "panels": panels,
    })
}

fn source() -> Value {
    json!({ "type": "prometheus", "uid": "${DS_PROMETHEUS}" })
}

fn variable(name: &str, chosen: &str) -> Value {
    let query = format!("label_values({METRIC_OF_CHOICES}{{{chosen}}}, {name})");
    json!({
        "name": name, "type": "query", "datasource": source(), "query": { "query": query, "refId": name },
        "definition": query, "includeAll": true, "multi": true, "refresh": 2, "sort": 2,
        "current": { "selected": true, "text": ["All"], "value": ["$__all"] },
    })
}

fn drawn(at: u32, panel: &Panel) -> Value {
    let refs = 'A'..='Z';
    let target = |((expression, legend), id): (&(&str, &str), char)| {
        json!({
            "refId": id.to_string(), "datasource": source(), "expr": chosen(expression), "legendFormat": legend,
        })
    };
    let targets: Vec<Value> = panel.series.iter().zip(refs).map(target).collect();
    json!({
        "id": at + 1,
        "type": "timeseries",
        "title": panel.title,
        "description": panel.about,
        "datasource": source(),
        "gridPos": { "h": HEIGHT, "w": WIDTH, "x": at % 2 * WIDTH, "y": at / 2 * HEIGHT },
        "fieldConfig": {
            "defaults": { "unit": panel.unit, "min": 0, "custom": { "lineWidth": 1, "showPoints": "auto" } },
            "overrides": [],
        },
        "options": { "legend": { "displayMode": "list", "placement": "bottom" }, "tooltip": { "mode": "multi" } },
        "targets": targets,
    })
}

fn chosen(expression: &str) -> String {
    expression.replace("CHOSEN", CHOSEN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::family::Kind;
    use std::collections::BTreeSet;

    /// Words of an expression that name a metric.
    fn metrics(expression: &str) -> Vec<&str> {
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        expression.split(|c| !is_word(c)).filter(|word| word.starts_with("prony_")).collect()
    }

    #[test]
    fn every_expression_asks_for_a_metric_that_is_exported() {
        let known: BTreeSet<String> = crate::run_families::names()
            .into_iter()
            .flat_map(|(name, kind)| match kind {
                Kind::Counter => vec![format!("{name}_total")],
                Kind::Gauge => vec![name.to_owned()],
                Kind::Histogram => {
                    ["", "_bucket", "_count", "_sum"].map(|end| format!("{name}{end}")).to_vec()
                }
            })
            .collect();
        let expressions = PANELS.iter().flat_map(|panel| panel.series).map(|(expression, _)| *expression);
        for expression in expressions {
            let asked = metrics(expression);
            assert!(!asked.is_empty(), "{expression}");
            asked.iter().for_each(|name| assert!(known.contains(*name), "{name}"));
        }
        assert!(known.contains(METRIC_OF_CHOICES));
    }

    #[test]
    fn panels_have_ids_of_their_own_and_do_not_overlap() {
        let dashboard = run_dashboard();
        let panels = dashboard["panels"].as_array().unwrap();
        let ids: BTreeSet<u64> = panels.iter().map(|panel| panel["id"].as_u64().unwrap()).collect();
        let places: BTreeSet<String> = panels.iter().map(|panel| panel["gridPos"].to_string()).collect();
        assert_eq!((ids.len(), places.len()), (PANELS.len(), PANELS.len()));
        assert!(panels.iter().all(|panel| panel["gridPos"]["x"].as_u64().unwrap() + 12 <= 24));
        assert!(!dashboard.to_string().contains("CHOSEN"));
    }
}
