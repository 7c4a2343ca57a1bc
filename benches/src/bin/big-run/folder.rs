//! The made-up run folder: two targets under one load, the second 3 % slower; response times lognormal around 5 ms.

use engine::IntervalData;
use record::RunFolder;
use record::hlog::Writer;
use schema::load::Time;
use schema::run::RunFile;
use schema::trial::{IntervalLine, Phase, TrialFile};
use serde_json::{Value, json};
use std::error::Error;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use units::{Rng, Seed};

const SECOND_NS: u64 = 1_000_000_000;
const WARMUP_S: u32 = 3;
const CELLS: [&str; 2] = ["c1", "c2"];
/// Requests of one second, drawn one by one.
const REQUESTS: u64 = 10_000;

/// Writes the whole folder.
pub(super) fn make(path: &Path, trials: u32, seconds: u32) -> Result<(), Box<dyn Error>> {
    let name = path.file_name().and_then(|name| name.to_str()).ok_or("the folder has no name")?;
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder = RunFolder::create(parent, name)?;
    // Through the types, so that the folder is what prony itself writes.
    let run: RunFile = serde_json::from_value(run(name, trials, seconds))?;
    folder.write_json("run.json", &run)?;
    for id in 1..=trials {
        let mut rng = Seed(1).derive("bench.big-run", id.into()).rng();
        one(&path.join("trials").join(format!("{id:04}")), id, seconds, &mut rng)?;
    }
    Ok(())
}

fn cell_of(id: u32) -> &'static str {
    CELLS[(id as usize - 1) % CELLS.len()]
}

fn block_of(id: u32) -> u32 {
    (id - 1) / CELLS.len() as u32 + 1
}

/// One trial's folder: intervals, interval log and, last, `trial.json`.
fn one(path: &Path, id: u32, seconds: u32, rng: &mut Rng) -> Result<(), Box<dyn Error>> {
    fs::create_dir(path)?;
    let slower = if cell_of(id) == "c2" { 1.03 } else { 1.0 };
    let median_ns = 5e6 * slower * (rng.normal() * 0.01).exp();
    let mut lines = fs::File::create(path.join("intervals.ndjson"))?;
    let mut log = Writer::create(&path.join("latency.hlog"))?;
    for second in 0..u64::from(WARMUP_S + seconds) {
        let data = interval(second, median_ns, rng);
        let is_sample = second >= u64::from(WARMUP_S);
        let line = IntervalLine {
            start_ns: data.counts.start_ns,
            end_ns: data.counts.end_ns,
            phase: Some(if is_sample { Phase::Sample } else { Phase::Warmup }),
            sample: is_sample.then_some(1),
            scheduled: REQUESTS,
            completed: REQUESTS,
            in_flight: 50,
            p50_ns: Some(data.times[Time::Response].value_at_quantile(0.5)),
            p99_ns: Some(data.times[Time::Response].value_at_quantile(0.99)),
            ..IntervalLine::default()
        };
        serde_json::to_writer(&mut lines, &line)?;
        lines.write_all(b"\n")?;
        log.append(data.counts.start_ns..data.counts.end_ns, &data.times.tagged(), || {})?;
    }
    let file: TrialFile = serde_json::from_value(trial(id, seconds, median_ns))?;
    fs::write(path.join("trial.json"), serde_json::to_vec_pretty(&file)?)?;
    Ok(())
}

fn interval(second: u64, median_ns: f64, rng: &mut Rng) -> IntervalData {
    let mut data = IntervalData::default();
    data.counts.start_ns = second * SECOND_NS;
    data.counts.end_ns = (second + 1) * SECOND_NS;
    for _ in 0..REQUESTS {
        let service = (median_ns * (rng.normal() * 0.5).exp()) as u64;
        let lag = (10e3 * (rng.normal() * 0.5).exp()) as u64;
        for (time, nanoseconds) in [
            (Time::Response, service + lag),
            (Time::Service, service),
            (Time::SendLag, lag),
            (Time::PacerLag, lag / 10),
            (Time::Write, 0),
            (Time::FirstByte, service),
            (Time::Transfer, 0),
        ] {
            data.times[time].saturating_record(nanoseconds);
        }
    }
    data
}

fn run(name: &str, trials: u32, seconds: u32) -> Value {
    let cell = |id: &str, target: &str| json!({"id": id, "label": format!("{target}, 64 connections"), "target": target, "scenario": "inline", "load": load()});
    let order: Vec<Value> =
        (1..=trials).map(|id| json!({"id": id, "block": block_of(id), "cell": cell_of(id)})).collect();
    let target = |name: &str| json!({"name": name, "env": {}, "source": {"kind": "reference", "law": {}}});
    json!({
        "schema": "prony.run/1", "id": name, "started_wall": "2026-11-21T09:30:00Z", "command": [],
        "plan": {
            "name": "big", "question": "How long does the analysis take?", "targets": [target("a"), target("b")],
            "scenarios": [scenario()], "cells": [cell("c1", "a"), cell("c2", "b")],
            "blocks": block_of(trials), "seed": 1, "order": order, "phases": phases(seconds), "claims": [{
                "text": "a is faster", "metric": "throughput", "numerator": "c1", "denominator": "c2",
                "comparison": ">=", "bound": 1.0
            }],
            "margin": 0.02, "confidence": 0.95, "pin": {"generator": null, "target": null, "weakness": null}
        },
        "experiment_text": "", "environment": {"schema": "prony.doctor/1", "facts": []}, "versions": {},
        "instrument": {"clock_step_ns": 1, "clock_read_ns": 20.0, "wake_late_p50_ns": 1, "wake_late_p99_ns": 2}
    })
}

fn load() -> Value {
    json!({"model": "closed", "connections": 64, "connections_max": 64, "workers": 1})
}

fn scenario() -> Value {
    json!({"name": "inline", "requests": [{
        "name": "inline", "weight": 1.0, "request": {"method": "GET", "path": "/", "headers": [], "body": ""},
        "expect": {"status": [200], "headers": [], "body": {"kind": "any"}}
    }]})
}

fn phases(seconds: u32) -> Value {
    let warmup_ns = u64::from(WARMUP_S) * SECOND_NS;
    json!({"warmup_at_least_ns": warmup_ns, "warmup_at_most_ns": warmup_ns,
           "sample_ns": u64::from(seconds) * SECOND_NS, "samples": 1, "drain_ns": SECOND_NS})
}

fn trial(id: u32, seconds: u32, median_ns: f64) -> Value {
    let (begin_ns, length_ns) = (u64::from(WARMUP_S) * SECOND_NS, u64::from(seconds) * SECOND_NS);
    let requests = u64::from(seconds) * REQUESTS;
    let per_s = REQUESTS as f64 * 5e6 / median_ns;
    let time = |factor: f64| {
        let of = |quantile: f64| (median_ns * factor * quantile) as u64;
        json!({"count": requests, "censored": 0, "mean": median_ns * factor * 1.13, "min": 1, "p50": of(1.0),
               "p90": of(1.9), "p95": of(2.28), "p99": of(3.2), "p999": of(4.7), "max": of(9.0)})
    };
    let span = |phase: &str, sample: Option<u32>, start_ns: u64, end_ns: u64| json!({"phase": phase, "sample": sample, "start_ns": start_ns, "end_ns": end_ns});
    json!({
        "schema": "prony.trial/1", "id": id, "cell": cell_of(id), "block": block_of(id), "outcome": "valid",
        "reasons": [], "origin_wall": "2026-11-21T09:30:00Z",
        "phases": [span("warmup", None, 0, begin_ns), span("sample", Some(1), begin_ns, begin_ns + length_ns)],
        "level": true, "ready_ns": 5_000_000, "counter_gaps": {},
        "samples": [{"sample": 1, "throughput_per_s": per_s, "answers": requests, "failed": 0,
                     "mean_ns": median_ns * 1.13, "p50_ns": median_ns as u64, "p99_ns": (median_ns * 3.2) as u64}],
        "target": {"cpu_s": 10.0, "cpu_per_request_ns": 50_000.0, "rss_peak_bytes": 50_000_000},
        "load": {
            "schema": "prony.load/1",
            "plan": {"url": "http://127.0.0.1:1", "address": "127.0.0.1:1", "scenario": scenario(), "load": load(),
                     "phases": phases(seconds), "requests_max": null, "driver": "epoll"},
            "requests": {"scheduled": requests, "completed": requests, "failed": 0, "censored": 0},
            "errors": {}, "error_examples": {}, "status": {"200": requests}, "throughput_per_s": per_s,
            "window": {"duration_ns": length_ns, "answers": requests, "in_system_mean": 64.0, "backlog_max": 0},
            "bytes": {"read": 0, "written": 0}, "connections": {"asked": 64, "established": 64, "reconnects": 0},
            "latency_ns": {"response": time(1.0), "service": time(0.99), "send_lag": time(0.002),
                           "pacer_lag": time(0.0002), "connect": time(0.01)},
            "generator": {"cpu_s": 5.0, "peak_rss_bytes": 10_000_000, "workers": 1, "busy_share": 0.3},
            "validity": {"ok": true, "reasons": [], "gates": []}
        }
    })
}
