//! Dashboards for Grafana over the metrics of runs and of fleets, in the classic JSON that every Grafana since version 8 imports.
//!
//! Written here and not with Grafana's own kit, which is for Node: so the expressions stand beside the names that they
//! use, and a test holds every name against [`crate::families`]. Prometheus is the data source, chosen at import.

mod fleet;
mod run;

use serde_json::{Value, json};

/// Height and width of a panel in Grafana's grid of 24 columns.
const HEIGHT: u32 = 8;
const WIDTH: u32 = 12;
/// Oldest version of the dashboard model that has what is used here (Grafana 8).
const SCHEMA_VERSION: u32 = 30;
/// The runs that are chosen above the panels.
const CHOSEN: &str = "run=~\"$run\",cell=~\"$cell\"";
struct Panel {
    title: &'static str,
    /// What a reader shall know.
    about: &'static str,
    /// Grafana's name of the unit.
    unit: &'static str,
    /// Expression, in which `CHOSEN` stands for the chosen runs, and legend.
    series: &'static [(&'static str, &'static str)],
}

/// One dashboard.
struct Dashboard {
    uid: &'static str,
    title: &'static str,
    /// The metric that the choices above the panels are filled from.
    metric_of_choices: &'static str,
    panels: &'static [Panel],
}

const RUN: Dashboard = Dashboard {
    uid: "prony-run",
    title: "prony: runs",
    metric_of_choices: "prony_requests_scheduled_total",
    panels: &run::PANELS,
};

const FLEET: Dashboard = Dashboard {
    uid: "prony-fleet",
    title: "prony: fleets",
    metric_of_choices: "prony_agent_requests_scheduled_total",
    panels: &fleet::PANELS,
};

/// The dashboard of runs.
#[must_use]
pub fn run_dashboard() -> Value {
    model(&RUN)
}

/// The dashboard of the agents of a fleet.
#[must_use]
pub fn fleet_dashboard() -> Value {
    model(&FLEET)
}

fn model(dashboard: &Dashboard) -> Value {
    let panels: Vec<Value> = (0..).zip(dashboard.panels).map(|(at, panel)| drawn(at, panel)).collect();
    let variable = |name, chosen| variable(dashboard.metric_of_choices, name, chosen);
    json!({
        "__inputs": [{
            "name": "DS_PROMETHEUS", "label": "Prometheus", "type": "datasource",
            "pluginId": "prometheus", "pluginName": "Prometheus",
        }],
        "uid": dashboard.uid,
        "title": dashboard.title,
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

fn variable(metric: &str, name: &str, chosen: &str) -> Value {
    let query = format!("label_values({metric}{{{chosen}}}, {name})");
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
        for dashboard in [RUN, FLEET] {
            for (expression, _) in dashboard.panels.iter().flat_map(|panel| panel.series) {
                let asked = metrics(expression);
                assert!(!asked.is_empty(), "{expression}");
                asked.iter().for_each(|name| assert!(known.contains(*name), "{name}"));
            }
            assert!(known.contains(dashboard.metric_of_choices));
        }
    }

    #[test]
    fn panels_have_ids_of_their_own_and_do_not_overlap() {
        for of in [RUN, FLEET] {
            let dashboard = model(&of);
            let panels = dashboard["panels"].as_array().unwrap();
            let ids: BTreeSet<u64> = panels.iter().map(|panel| panel["id"].as_u64().unwrap()).collect();
            let places: BTreeSet<String> = panels.iter().map(|panel| panel["gridPos"].to_string()).collect();
            assert_eq!((ids.len(), places.len()), (of.panels.len(), of.panels.len()));
            assert!(panels.iter().all(|panel| panel["gridPos"]["x"].as_u64().unwrap() + 12 <= 24));
            assert!(!dashboard.to_string().contains("CHOSEN"));
        }
    }
}
