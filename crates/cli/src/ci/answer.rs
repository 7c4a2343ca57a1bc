//! From the analysis of a run of two commits to the answer, is head worse, and to the exit code.

use super::experiment::{counterpart, variant};
use crate::{exit, report_files};
use schema::analysis::{AnalysisFile, Basis, BeliefLevel, CellSummary, ClaimVerdict, Comparison, Verdict};
use schema::ci::{CiChange, CiCommit, CiFile, CiVerdict};
use schema::metric::Metric;
use schema::trial::TrialOutcome;
use schema::version::CiVersion;

/// The answer, with both commits named.
pub(super) fn answer(experiment: &str, analysis: &AnalysisFile, base: CiCommit, head: CiCommit) -> CiFile {
    let notes = analysis.belief.notes.iter();
    let valid = analysis.trials.iter().filter(|trial| trial.outcome == TrialOutcome::Valid).count();
    CiFile {
        schema: CiVersion::default(),
        run: analysis.run.clone(),
        experiment: experiment.to_owned(),
        verdict: verdict(analysis, valid),
        base,
        head,
        claims: analysis.claims.clone(),
        changes: pairs(analysis).map(|pair| change(analysis, pair)).collect(),
        belief: analysis.belief.level,
        reservations: notes
            .filter(|note| note.level != BeliefLevel::Yes)
            .map(|note| note.text.clone())
            .collect(),
        trials_valid: u32::try_from(valid).unwrap_or(u32::MAX),
        confidence: analysis.confidence,
    }
}

/// Comparisons of head with base, variant by variant, at whatever load.
fn pairs(analysis: &AnalysisFile) -> impl Iterator<Item = &Comparison> {
    let is_pair = |pair: &&Comparison| counterpart(&pair.a_target).as_ref() == Some(&pair.b_target);
    analysis.comparisons.iter().filter(is_pair)
}

fn verdict(analysis: &AnalysisFile, valid: usize) -> CiVerdict {
    let has = |wanted: ClaimVerdict| analysis.claims.iter().any(|claim| claim.verdict == wanted);
    let fails_more =
        pairs(analysis).any(|pair| pair.metric == Metric::ErrorRate && pair.verdict == Verdict::Slower);
    if analysis.belief.level == BeliefLevel::No || valid == 0 {
        CiVerdict::Void
    } else if has(ClaimVerdict::DoesNotHold) || fails_more {
        CiVerdict::Worse
    } else if has(ClaimVerdict::Inconclusive) || has(ClaimVerdict::Void) {
        CiVerdict::Inconclusive
    } else {
        CiVerdict::NoWorse
    }
}

/// The exit code: a threshold of the file counts for both commits, as in a run.
pub(super) fn exit_code(answer: &CiFile, analysis: &AnalysisFile, has_failed: bool, strict: bool) -> u8 {
    match answer.verdict {
        CiVerdict::Void => exit::FAILED,
        CiVerdict::Worse => exit::CLAIM,
        _ if has_failed => exit::FAILED,
        CiVerdict::Inconclusive if strict => exit::CLAIM,
        CiVerdict::Inconclusive | CiVerdict::NoWorse => report_files::run_code(analysis),
    }
}

fn change(analysis: &AnalysisFile, pair: &Comparison) -> CiChange {
    let center = |cell: &str| {
        let cell: Option<&CellSummary> = analysis.cells.iter().find(|found| found.cell == cell);
        cell?.metrics.iter().find(|found| found.metric == pair.metric)?.center
    };
    let (change, interval) = match pair.basis {
        Basis::Ratio => (pair.ratio, pair.interval),
        Basis::Difference => (pair.difference, pair.difference_interval),
    };
    let is_refused = pair.verdict == Verdict::Refused;
    let parts = [variant(&pair.a_target).unwrap_or_default().trim(), &pair.load];
    CiChange {
        load: parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", "),
        metric: pair.metric,
        unit: pair.metric.unit(),
        base: center(&pair.b),
        head: center(&pair.a),
        basis: pair.basis,
        change,
        interval: interval.filter(|_| !is_refused),
        verdict: pair.verdict,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn comparison(targets: [&str; 2], metric: &str, verdict: &str) -> Value {
        json!({
            "a": "c1", "b": "c2", "a_target": targets[0], "b_target": targets[1], "load": "4 connections",
            "metric": metric, "blocks": 6, "basis": "ratio", "ratio": 0.9, "interval": { "low": 0.8, "high": 1.0 },
            "hodges_lehmann": null, "hodges_lehmann_interval": null, "p_value": null, "verdict": verdict, "refused": null,
        })
    }

    /// A run with one valid trial.
    fn analysis(belief: &str, claims: &[&str], comparisons: Vec<Value>, thresholds: Value) -> AnalysisFile {
        let trial = json!({
            "id": 1, "block": 1, "cell": "c1", "outcome": "valid", "reasons": [], "values": [], "scheduled": 1,
            "completed": 1, "failed": 0, "censored": 0, "series": [],
        });
        let claims: Vec<Value> = claims
            .iter()
            .map(|verdict| json!({ "text": "t", "verdict": verdict, "evidence": "e" }))
            .collect();
        let analysis = json!({
            "schema": "prony.analysis/3", "run": "r", "question": "q", "answer": "a",
            "belief": { "level": belief, "summary": "s", "notes": [] }, "trials_planned": 1, "trials": [trial],
            "cells": [], "comparisons": comparisons, "claims": claims, "confidence": 0.95, "margin": 0.05,
            "thresholds": thresholds,
        });
        serde_json::from_value(analysis).unwrap()
    }

    fn of(analysis: &AnalysisFile) -> CiFile {
        let commit =
            || CiCommit { reference: "r".to_owned(), commit: "c".to_owned(), subject: "s".to_owned() };
        answer("x", analysis, commit(), commit())
    }

    fn answered(belief: &str, claims: &[&str], comparisons: Vec<Value>) -> CiFile {
        of(&analysis(belief, claims, comparisons, json!([])))
    }

    #[test]
    fn exit_codes_are_as_the_help_says() {
        let code = |belief: &str, claims: &[&str], has_failed, strict| {
            let analysis = analysis(belief, claims, Vec::new(), json!([]));
            exit_code(&of(&analysis), &analysis, has_failed, strict)
        };
        assert_eq!(code("yes", &["holds"], false, true), exit::DONE);
        assert_eq!(code("yes", &["inconclusive"], false, false), exit::DONE);
        assert_eq!(code("yes", &["inconclusive"], false, true), exit::CLAIM);
        assert_eq!(code("yes", &["does_not_hold"], true, false), exit::CLAIM);
        assert_eq!(code("yes", &["holds"], true, false), exit::FAILED);
        assert_eq!(code("no", &["does_not_hold"], false, false), exit::FAILED);
        let crossed = json!([{
            "text": "t", "metric": "p99", "unit": "nanoseconds", "comparison": "<=", "bound": 1.0,
            "verdict": "crossed", "checked": 1, "crossed": 1, "worst": 2.0, "evidence": "e",
        }]);
        let analysis = analysis("yes", &["holds"], Vec::new(), crossed);
        assert_eq!(exit_code(&of(&analysis), &analysis, false, false), exit::CLAIM, "a threshold is crossed");
    }

    #[test]
    fn claims_and_belief_decide() {
        for (belief, claims, expected) in [
            ("yes", &["holds", "holds"][..], CiVerdict::NoWorse),
            ("with_reservations", &["holds", "inconclusive"], CiVerdict::Inconclusive),
            ("yes", &["holds", "void"], CiVerdict::Inconclusive),
            ("yes", &["inconclusive", "does_not_hold"], CiVerdict::Worse),
            ("no", &["does_not_hold"], CiVerdict::Void),
        ] {
            assert_eq!(answered(belief, claims, Vec::new()).verdict, expected, "{belief} {claims:?}");
        }
    }

    #[test]
    fn a_head_that_fails_more_often_is_worse_whatever_the_claims_say() {
        let both = ["head", "base"];
        let answer =
            |verdict| answered("yes", &["holds"], vec![comparison(both, "error_rate", verdict)]).verdict;
        assert_eq!([answer("slower"), answer("faster")], [CiVerdict::Worse, CiVerdict::NoWorse]);
        let slow = answered("yes", &["holds"], vec![comparison(both, "p99", "slower")]);
        assert_eq!(slow.verdict, CiVerdict::NoWorse, "a time decides by its claim only");
    }

    #[test]
    fn variants_are_held_against_their_own() {
        let found = answered(
            "yes",
            &["holds"],
            vec![
                comparison(["head gogc=50", "base gogc=50"], "p50", "faster"),
                comparison(["head gogc=50", "base gogc=100"], "error_rate", "slower"),
                comparison(["head gogc=50", "head gogc=100"], "error_rate", "slower"),
                comparison(["header", "base"], "error_rate", "slower"),
            ],
        );
        let loads: Vec<&str> = found.changes.iter().map(|change| change.load.as_str()).collect();
        assert_eq!((loads, found.verdict), (vec!["gogc=50, 4 connections"], CiVerdict::NoWorse));
    }
}
