//! One run of `prony ci`, as it is kept in `runs.csv`: one line each, in the order they were made.

use schema::analysis::{AnalysisFile, ClaimVerdict};
use schema::ci::{CiFile, CiVerdict};
use schema::counter_metric::ClaimMetric;
use schema::metric::Metric;
use schema::trial::TrialOutcome;
use serde::{Deserialize, Serialize};

/// What head is, in truth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    /// The same service as base.
    Equal,
    /// Slower than base.
    Planted,
}

impl Kind {
    /// As it is written.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Equal => "equal",
            Self::Planted => "planted",
        }
    }
}

/// What is known before the answer is read.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Made {
    pub(crate) number: u32,
    pub(crate) kind: Kind,
    pub(crate) seed: u64,
    pub(crate) ended: String,
    pub(crate) code: Option<i32>,
    pub(crate) seconds: f64,
}

/// A run that came to its end. What it did not give is empty, never zero.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Row {
    /// From 0.
    pub(crate) number: u32,
    pub(crate) kind: Kind,
    /// Of its experiment and its bursts.
    pub(crate) seed: u64,
    /// UTC.
    pub(crate) ended: String,
    /// As in `ci.json`; absent where prony gave no answer.
    pub(crate) verdict: Option<CiVerdict>,
    /// Exit code of prony; absent where a signal ended it.
    pub(crate) code: Option<i32>,
    pub(crate) seconds: f64,
    pub(crate) blocks: Option<u32>,
    pub(crate) trials: Option<u32>,
    /// Trials that did not count, for whatever cause.
    pub(crate) void_trials: Option<u32>,
    /// Whether the claim about the speed holds; absent where prony gave no answer.
    pub(crate) speed_claim: Option<ClaimVerdict>,
    /// The same of the CPU time per request.
    pub(crate) cpu_claim: Option<ClaimVerdict>,
    /// Head over base, with its joint interval: p50 of an open load, throughput of a closed one.
    pub(crate) speed_change: Option<f64>,
    pub(crate) speed_low: Option<f64>,
    pub(crate) speed_high: Option<f64>,
    /// The same of the CPU time per request.
    pub(crate) cpu_change: Option<f64>,
    pub(crate) cpu_low: Option<f64>,
    pub(crate) cpu_high: Option<f64>,
    /// What speaks most against the numbers.
    pub(crate) reservation: String,
}

impl Row {
    /// A run that gave no answer.
    pub(crate) fn without_answer(made: Made) -> Self {
        Self {
            number: made.number,
            kind: made.kind,
            seed: made.seed,
            ended: made.ended,
            verdict: None,
            code: made.code,
            seconds: made.seconds,
            blocks: None,
            trials: None,
            void_trials: None,
            speed_claim: None,
            cpu_claim: None,
            speed_change: None,
            speed_low: None,
            speed_high: None,
            cpu_change: None,
            cpu_low: None,
            cpu_high: None,
            reservation: String::new(),
        }
    }

    /// A run with its two files.
    pub(crate) fn of(made: Made, answer: &CiFile, analysis: &AnalysisFile) -> Self {
        let speed = answer
            .claims
            .iter()
            .filter_map(|claim| named(claim.metric.as_ref()?))
            .find(|metric| *metric != Metric::CpuPerRequest);
        let [speed_change, speed_low, speed_high] = speed.map_or([None; 3], |metric| change(answer, metric));
        let [cpu_change, cpu_low, cpu_high] = change(answer, Metric::CpuPerRequest);
        let void = analysis.trials.iter().filter(|trial| trial.outcome != TrialOutcome::Valid).count();
        Self {
            verdict: Some(answer.verdict),
            blocks: analysis.trials.iter().map(|trial| trial.block).max(),
            trials: u32::try_from(analysis.trials.len()).ok(),
            void_trials: u32::try_from(void).ok(),
            speed_claim: speed.and_then(|metric| claim(answer, metric)),
            cpu_claim: claim(answer, Metric::CpuPerRequest),
            speed_change,
            speed_low,
            speed_high,
            cpu_change,
            cpu_low,
            cpu_high,
            reservation: answer.reservations.first().map(ToString::to_string).unwrap_or_default(),
            ..Self::without_answer(made)
        }
    }

    /// Whether prony gave an answer that may be used.
    pub(crate) fn is_answered(&self) -> bool {
        self.verdict.is_some_and(|verdict| verdict != CiVerdict::Void)
    }

    /// Whether it fails a build because head is worse.
    pub(crate) fn is_alarm(&self) -> bool {
        self.verdict == Some(CiVerdict::Worse)
    }
}

const fn named(metric: &ClaimMetric) -> Option<Metric> {
    match metric {
        ClaimMetric::Named(metric) => Some(*metric),
        ClaimMetric::Counter(_) => None,
    }
}

fn change(answer: &CiFile, metric: Metric) -> [Option<f64>; 3] {
    let Some(found) = answer.changes.iter().find(|change| change.metric == metric) else { return [None; 3] };
    let interval = found.interval;
    [found.change, interval.and_then(|ends| ends.low), interval.and_then(|ends| ends.high)]
}

fn claim(answer: &CiFile, metric: Metric) -> Option<ClaimVerdict> {
    let mut claims = answer.claims.iter();
    claims.find(|claim| claim.metric.as_ref().and_then(named) == Some(metric)).map(|claim| claim.verdict)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use serde_json::{Value, json};

    pub(crate) fn made(number: u32, kind: Kind) -> Made {
        Made { number, kind, seed: 7, ended: "2026-11-28T10:00:00Z".to_owned(), code: Some(3), seconds: 20.5 }
    }

    /// A row with this answer.
    pub(crate) fn row(number: u32, kind: Kind, verdict: Option<CiVerdict>) -> Row {
        Row { verdict, ..Row::without_answer(made(number, kind)) }
    }

    fn answer() -> CiFile {
        let commit = json!({ "reference": "r", "commit": "c", "subject": "s" });
        let claim = |metric: &str, verdict: &str| json!({ "text": "t", "verdict": verdict, "evidence": "e", "metric": metric, "ratio": 1.1, "interval": null });
        let change = |metric: &str, change: f64, interval: Value| {
            json!({
                "load": "500/s", "metric": metric, "unit": "nanoseconds", "base": 1.0, "head": 1.0, "basis": "ratio",
                "change": change, "interval": interval, "verdict": "slower",
            })
        };
        serde_json::from_value(json!({
            "schema": "prony.ci/1", "run": "r", "experiment": "e", "verdict": "worse", "base": commit, "head": commit,
            "claims": [claim("p50", "does_not_hold"), claim("cpu_per_request", "inconclusive")],
            "changes": [
                change("p99", 1.5, Value::Null),
                change("p50", 1.1, json!({ "low": 1.06, "high": 1.14 })),
                change("cpu_per_request", 1.08, Value::Null),
            ],
            "belief": "with_reservations", "reservations": ["first", "second"], "trials_valid": 3, "confidence": 0.95,
        }))
        .unwrap()
    }

    fn analysis() -> AnalysisFile {
        let trial = |id: u32, block: u32, outcome: &str| {
            json!({
                "id": id, "block": block, "cell": "c1", "outcome": outcome, "reasons": [], "values": [], "scheduled": 1,
                "completed": 1, "failed": 0, "censored": 0, "series": [],
            })
        };
        serde_json::from_value(json!({
            "schema": "prony.analysis/3", "run": "r", "question": "q", "answer": "a",
            "belief": { "level": "yes", "summary": "s", "notes": [] }, "trials_planned": 4,
            "trials": [trial(1, 1, "valid"), trial(2, 1, "valid"), trial(3, 2, "valid"), trial(4, 2, "void")],
            "cells": [], "comparisons": [], "claims": [], "confidence": 0.95, "margin": 0.05, "thresholds": [],
        }))
        .unwrap()
    }

    #[test]
    fn a_row_has_what_decided_and_what_was_left_out() {
        let row = Row::of(made(3, Kind::Planted), &answer(), &analysis());
        assert!(row.is_alarm());
        let claims = (row.speed_claim, row.cpu_claim);
        assert_eq!(claims, (Some(ClaimVerdict::DoesNotHold), Some(ClaimVerdict::Inconclusive)));
        assert_eq!((row.blocks, row.trials, row.void_trials), (Some(2), Some(4), Some(1)));
        assert_eq!((row.speed_change, row.speed_low, row.speed_high), (Some(1.1), Some(1.06), Some(1.14)));
        assert_eq!((row.cpu_change, row.cpu_low), (Some(1.08), None), "no interval is no zero");
        assert_eq!(row.reservation, "first");
    }
}
