//! A soak without a load: windows written by hand, their files, the looks, the end, and what is kept in memory.

use super::super::floors::READINGS_MAX;
use super::*;
use record::RunFolder;
use schema::plan::ExperimentPlan;
use schema::trial::{CounterLine, Phase};
use serde_json::json;
use std::collections::BTreeMap;

const WINDOW_NS: u64 = 1_000_000_000;

#[derive(Default)]
struct Told {
    notes: Vec<String>,
    windows: u32,
    verdict: Option<SoakClass>,
}

impl Observer for Told {
    fn note(&mut self, text: &str) {
        self.notes.push(text.to_owned());
    }
    fn preparing(&mut self, _: &str) {}
    fn decided(&mut self, _: &str, _: i64) {}
    fn started(&mut self, _: &Path, _: &RunFile, _: usize) {}
    fn trial_begins(&mut self, _: &TrialPlan, _: &CellPlan) {}
    fn interval(&mut self, _: &IntervalLine) {}
    fn trial_ends(&mut self, _: &TrialFile) {}
    fn window(&mut self, _: &WindowLine, so_far: Option<&SoakReport>) {
        self.windows += 1;
        self.verdict = so_far.map(|report| report.verdict);
    }
}

/// The record of a soak of this many windows of one second, read as from a file.
fn run(windows: u32, stop_when: &str) -> RunFile {
    let plan: ExperimentPlan = serde_json::from_value(json!({
        "name": "s", "question": "q", "targets": [], "scenarios": [], "cells": [], "blocks": 1, "seed": 1,
        "order": [{ "id": 1, "block": 1, "cell": "c1" }],
        "phases": { "warmup_at_least_ns": 0, "warmup_at_most_ns": 0, "sample_ns": WINDOW_NS, "samples": windows,
                    "drain_ns": 1 },
        "claims": [], "margin": 0.02, "confidence": 0.95,
        "pin": { "generator": null, "target": null, "weakness": null },
        "soak": { "window_ns": WINDOW_NS, "windows": windows, "tick_ns": 100_000_000,
                  "horizon_ns": 10 * WINDOW_NS * u64::from(windows), "stop_when": stop_when },
    }))
    .unwrap();
    serde_json::from_value(json!({
        "schema": "prony.run/1", "id": "r", "started_wall": "", "command": [], "plan": plan, "experiment_text": "",
        "environment": collect::doctor(&Roots { proc: "/nonexistent".into(), sys: "/nonexistent".into() }),
        "versions": {}, "instrument": schema::run::Instrument::default(),
    }))
    .unwrap()
}

fn reading(t_ns: u64, rss: f64) -> CounterLine {
    let gauges = BTreeMap::from([("rss_bytes".to_owned(), rss), ("threads".to_owned(), 3.0)]);
    CounterLine { t_ns, source: "target.process".to_owned(), gauges, ..CounterLine::default() }
}

/// Tells a watch this many windows, of ten readings each, of memory as `rss` gives it, until it has enough. Returns how
/// many, and what the watch keeps: windows and readings.
fn tell(
    run: &RunFile,
    folder: &RunFolder,
    told: &mut Told,
    windows: u32,
    rss: impl Fn(u32) -> Option<f64>,
) -> (u32, usize) {
    let floors = Floors::default();
    let trial = folder.trial(1);
    trial.begin().unwrap();
    let soak = run.plan.soak.unwrap();
    let mut watch = SoakWatch::new(run, soak, Vec::new(), 1, trial, floors.clone(), told);
    watch.target_up(Some(std::process::id())).unwrap();
    // A limit of its own, whatever this host has.
    let limit = SoakLimit { value: 1e9, source: "test".into() };
    watch.present().file.limits.insert(SoakCounter::Memory, limit);
    let mut count = 0;
    while count < windows && !watch.is_enough() {
        let start_ns = u64::from(count) * WINDOW_NS;
        for tick in 0..10 {
            if let Some(rss) = rss(count) {
                floors.add(&[reading(start_ns + tick * WINDOW_NS / 10, rss + 1e6 * tick as f64)]);
            }
        }
        count += 1;
        let span =
            PhaseSpan { phase: Phase::Sample, sample: Some(count), start_ns, end_ns: start_ns + WINDOW_NS };
        let summary = SampleSummary {
            sample: count,
            throughput_per_s: 100.0,
            answers: 100,
            failed: 0,
            mean_ns: None,
            p50_ns: None,
            p99_ns: None,
        };
        watch.sample(&span, &summary).unwrap();
    }
    let kept = watch.segments.iter().map(|segment| segment.windows.len()).sum::<usize>() + floors.waiting();
    (count, kept)
}

/// 2 MB a second: 1 GB is reached within 500 s.
fn leak(window: u32) -> Option<f64> {
    Some(1e8 + 2e6 * f64::from(window))
}

#[test]
fn a_leak_ends_the_soak_at_a_look_unless_it_is_to_go_on() {
    let parent = tempfile::tempdir().unwrap();
    let (first, second) = (RunFolder::create(parent.path(), "a"), RunFolder::create(parent.path(), "b"));
    let mut told = Told::default();
    let (windows, _) = tell(&run(100, "leak"), &first.unwrap(), &mut told, 100, leak);
    assert!(analyze::looks(100).contains(&(windows as usize)), "{windows}");
    assert_eq!((told.verdict, told.windows), (Some(SoakClass::Leak), windows));
    let mut told = Told::default();
    assert_eq!(tell(&run(100, "never"), &second.unwrap(), &mut told, 100, leak).0, 100);
    assert_eq!(told.verdict, Some(SoakClass::Leak));
}

#[test]
fn windows_are_on_disk_with_their_floors_and_limits_and_are_read_back() {
    let parent = tempfile::tempdir().unwrap();
    let folder = RunFolder::create(parent.path(), "a").unwrap();
    let run = run(40, "never");
    tell(&run, &folder, &mut Told::default(), 40, |window| Some(1e8 + f64::from(window % 3)));
    let segments = record::segments::read(&folder, &run).unwrap();
    assert_eq!((segments.len(), segments[0].windows.len()), (1, 40));
    let window = &segments[0].windows[4];
    assert_eq!((window.window, window.readings), (5, 10));
    assert_eq!(window.floors[&SoakCounter::Memory], 1e8 + 1.0, "the lowest of the ten");
    let limits = &segments[0].file.limits;
    assert!(limits[&SoakCounter::Descriptors].source.contains("RLIMIT_NOFILE"), "{limits:?}");
    assert!(limits[&SoakCounter::Memory].value > 1e6, "{limits:?}");
}

#[test]
fn a_target_that_is_gone_ends_the_soak() {
    let parent = tempfile::tempdir().unwrap();
    let folder = RunFolder::create(parent.path(), "a").unwrap();
    let mut told = Told::default();
    let (windows, _) = tell(&run(100, "leak"), &folder, &mut told, 100, |w| (w < 10).then_some(1e8));
    assert_eq!(windows, 15, "5 s of windows of 1 s");
    assert!(told.notes[0].contains("ends here"), "{:?}", told.notes);
}

#[test]
fn a_reader_that_was_held_up_for_some_windows_does_not_end_the_soak() {
    let parent = tempfile::tempdir().unwrap();
    let folder = RunFolder::create(parent.path(), "a").unwrap();
    let mut told = Told::default();
    let read = |window: u32| window.is_multiple_of(5).then_some(1e8);
    assert_eq!(tell(&run(100, "leak"), &folder, &mut told, 100, |w| read(w + 1)).0, 100);
    assert!(told.notes.is_empty(), "{:?}", told.notes);
}

#[test]
fn what_is_kept_is_one_line_a_window_however_often_the_target_is_read() {
    let parent = tempfile::tempdir().unwrap();
    let kept = |name: &str, windows: u32| {
        let folder = RunFolder::create(parent.path(), name).unwrap();
        tell(&run(windows, "never"), &folder, &mut Told::default(), windows, |_| Some(1e8)).1
    };
    assert_eq!((kept("a", 30), kept("b", 300)), (30, 300));
    const { assert!(READINGS_MAX < 10_000) };
}

#[test]
fn limits_of_heap_goroutines_and_sockets_follow_from_memory_and_descriptors() {
    let mut file = SegmentFile::default();
    let limit = |value: f64, source: &str| SoakLimit { value, source: source.into() };
    file.limits.insert(SoakCounter::Memory, limit(3000.0 * 2048.0, "memory.max"));
    file.limits.insert(SoakCounter::Descriptors, limit(1024.0, "RLIMIT_NOFILE"));
    let lowest = BTreeMap::from([
        (SoakCounter::Memory, 1000.0 * 2048.0),
        (SoakCounter::Heap, 500.0),
        (SoakCounter::Goroutines, 7.0),
        (SoakCounter::Descriptors, 24.0),
        (SoakCounter::Connections, 4.0),
    ]);
    derived_limits(&mut file, &Floor { readings: 1, lowest: lowest.clone(), ..Floor::default() });
    assert_eq!(file.limits[&SoakCounter::Heap].value, 500.0 + 2000.0 * 2048.0);
    assert_eq!(file.limits[&SoakCounter::Goroutines].value, 2007.0);
    assert_eq!(file.limits[&SoakCounter::Connections], limit(1004.0, "RLIMIT_NOFILE"));
    let before = file.clone();
    derived_limits(&mut file, &Floor { readings: 1, lowest, ..Floor::default() });
    assert_eq!(file, before, "the first window decides");
}
