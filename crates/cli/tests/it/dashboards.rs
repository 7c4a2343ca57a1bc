//! The dashboards: those of the repository are the printed ones, and a real Prometheus has an answer for every panel.

use crate::command::{good, is_there, root};
use crate::load::wait_until;
use crate::monitoring::Watched;
use crate::prometheus::Prometheus;
use serde_json::Value;
use std::path::Path;

/// Asks for every panel of a dashboard. Expressions that name one of `may_be_empty` may have no answer.
pub(crate) fn check_panels(prometheus: &Prometheus, dashboard: &str, may_be_empty: &[&str]) {
    let dashboard: Value = serde_json::from_str(&good(&["metrics", dashboard]).out).unwrap();
    for panel in dashboard["panels"].as_array().unwrap() {
        let targets = panel["targets"].as_array().unwrap();
        for expression in targets.iter().map(|target| target["expr"].as_str().unwrap()) {
            let filled =
                expression.replace("$run", ".*").replace("$cell", ".*").replace("$__rate_interval", "10s");
            let may_be_empty = may_be_empty.iter().any(|name| expression.contains(name));
            let answer = prometheus.asked(&filled);
            assert!(may_be_empty || !answer.is_empty(), "{expression}");
            assert!(answer.iter().all(|value| value.is_finite()), "{expression}: {answer:?}");
        }
    }
}

#[test]
fn the_dashboards_of_the_repository_are_those_that_are_printed() {
    for (name, of) in [("prony-run.json", "--dashboard"), ("prony-fleet.json", "--dashboard=fleet")] {
        let path = root().join("deploy/grafana").join(name);
        let printed = good(&["metrics", of]).out;
        if std::env::var_os("PRONY_WRITE_DOCS").is_some() {
            std::fs::write(&path, &printed).unwrap();
        }
        let kept = std::fs::read_to_string(&path).expect("it is there");
        assert_eq!(kept, printed, "make docs-commands writes it");
    }
}

/// An experiment whose only trial goes on until it is ended.
fn endless(folder: &Path) -> String {
    let file = folder.join("fleet.toml");
    let text = "[experiment]\nname = \"fleet\"\nquestion = \"Are the agents alike?\"\nblocks = 1\n[[target]]\n\
        name = \"a\"\nreference = { law = \"constant\", mean = \"1ms\" }\n[scenario]\n\
        request = { path = \"/ping\" }\n[load]\nmodel = \"open\"\nrate = 200\narrivals = \"constant\"\nconnections = 8\n\
        [phases]\nwarmup = { at_least = \"1s\", at_most = \"1s\" }\nsample = \"600s\"\nsamples = 1\n";
    std::fs::write(&file, text).unwrap();
    file.to_str().unwrap().to_owned()
}

#[test]
fn a_real_prometheus_sees_each_agent_while_a_run_over_a_fleet_goes_on() {
    if !is_there("prometheus") {
        println!("skipped: agents in a real Prometheus, which is missing (apt-get install prometheus)");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let runs = folder.path().join("runs");
    let experiment = endless(folder.path());
    let watched = Watched::of(&["run", &experiment, "--runs", runs.to_str().unwrap(), "--fleet", "2"]);
    let prometheus = Prometheus::start(folder.path(), &[watched.addr], "1s");
    let rates = "rate(prony_agent_requests_completed_total[10s])";
    wait_until("it has the rates of two agents", || prometheus.asked(rates).len() == 2);
    wait_until("both are at work", || prometheus.asked(rates).iter().all(|rate| *rate > 0.0));
    // One scrape for both: the agents add up to the whole, to the request.
    let off = "sum(prony_agent_requests_scheduled_total) - sum(prony_requests_scheduled_total)";
    assert_eq!(prometheus.asked(off), [0.0]);
    assert_eq!(prometheus.asked("sum(prony_agent_share)"), [1.0]);
    assert!(
        prometheus.asked("prony_agent_clock_bound_seconds").iter().all(|bound| (0.0..=1e-3).contains(bound))
    );
    check_panels(&prometheus, "--dashboard=fleet", &[]);
}
