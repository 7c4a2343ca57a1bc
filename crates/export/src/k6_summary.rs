//! The result of a load as k6's `--summary-export` has it, for what reads that: dashboards, CI plugins, scripts.
//!
//! k6 times a request from its sending on, which is prony's service time; the response time, from the intended moment on,
//! stands beside it under a name of prony's own. Times are milliseconds. A percentile that too few requests support is
//! absent: k6 would print one.

use schema::load::{LatencySummary, LoadReport};
use serde_json::{Map, Value, json};

const NS_PER_MS: f64 = 1e6;

/// The summary.
#[must_use]
pub fn k6_summary(report: &LoadReport) -> Value {
    let seconds = report.window.duration_ns as f64 / 1e9;
    let rate = |count: f64| if seconds > 0.0 { count / seconds } else { 0.0 };
    let counter = |count: u64| json!({ "count": count, "rate": rate(count as f64) });
    let requests = &report.requests;
    let ended = requests.completed.saturating_add(requests.failed);
    let share = if ended > 0 { requests.failed as f64 / ended as f64 } else { 0.0 };
    let mut metrics = Map::new();
    let mut put = |name: &str, value: Value| drop(metrics.insert(name.to_owned(), value));
    put("http_reqs", counter(ended));
    put("http_req_failed", json!({ "value": share, "passes": requests.failed, "fails": requests.completed }));
    put("http_req_duration", trend(&report.latency_ns.service));
    put("prony_response_time", trend(&report.latency_ns.response));
    put("data_received", counter(report.bytes.read));
    put("data_sent", counter(report.bytes.written));
    if let Some(sessions) = &report.sessions {
        put("iterations", counter(sessions.completed.saturating_add(sessions.failed)));
        put("iteration_duration", trend(&sessions.time));
    }
    // The identifier of a root without a name: the MD5 of nothing, as k6 makes it.
    let root = json!({
        "name": "", "path": "", "id": "d41d8cd98f00b204e9800998ecf8427e", "groups": {}, "checks": {},
    });
    json!({ "metrics": metrics, "root_group": root })
}

fn trend(times: &LatencySummary) -> Value {
    let whole = |ns: Option<u64>| ns.map(|ns| ns as f64);
    let all = [
        ("avg", times.mean),
        ("min", whole(times.min)),
        ("med", whole(times.p50)),
        ("max", whole(times.max)),
        ("p(90)", whole(times.p90)),
        ("p(95)", whole(times.p95)),
        ("p(99)", whole(times.p99)),
    ];
    let known = all.into_iter().filter_map(|(name, ns)| Some((name.to_owned(), json!(ns? / NS_PER_MS))));
    Value::Object(known.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::load::{BytesMoved, Requests, Window};

    #[test]
    fn a_summary_has_what_a_load_has_and_makes_nothing_up() {
        let mut report = LoadReport {
            requests: Requests { scheduled: 101, completed: 90, failed: 10, censored: 1 },
            window: Window { duration_ns: 2_000_000_000, ..Window::default() },
            bytes: BytesMoved { read: 1000, written: 500 },
            ..LoadReport::default()
        };
        report.latency_ns.service =
            LatencySummary { mean: Some(1.5e6), p50: Some(1_000_000), ..LatencySummary::default() };
        let summary = k6_summary(&report);
        let metrics = &summary["metrics"];
        assert_eq!(metrics["http_reqs"], json!({ "count": 100, "rate": 50.0 }));
        assert_eq!(metrics["http_req_failed"], json!({ "value": 0.1, "passes": 10, "fails": 90 }));
        assert_eq!(metrics["http_req_duration"], json!({ "avg": 1.5, "med": 1.0 }));
        assert_eq!(metrics["data_received"]["rate"], 500.0);
        assert!(metrics.get("iterations").is_none() && summary["root_group"]["checks"].is_object());
        let empty = k6_summary(&LoadReport::default());
        assert_eq!(empty["metrics"]["http_reqs"]["rate"], 0.0);
    }
}
