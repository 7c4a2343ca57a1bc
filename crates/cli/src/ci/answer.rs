//! From the analysis of a run of two commits to the answer: is head worse?

use super::experiment::{BASE, HEAD};
use schema::analysis::{AnalysisFile, Basis, BeliefLevel, CellSummary, ClaimVerdict, Comparison, Verdict};
use schema::ci::{CiChange, CiCommit, CiFile, CiVerdict};
use schema::metric::Metric;
use schema::run::RunFile;
use schema::trial::TrialOutcome;
use schema::version::CiVersion;

/// The answer, with both commits named.
pub(super) fn answer(run: &RunFile, analysis: &AnalysisFile, base: CiCommit, head: CiCommit) -> CiFile {
    let against = |level: BeliefLevel| level != BeliefLevel::Yes;
    let valid = analysis.trials.iter().filter(|trial| trial.outcome == TrialOutcome::Valid).count();
    CiFile {
        schema: CiVersion::default(),
        run: analysis.run.clone(),
        experiment: run.plan.name.clone(),
        verdict: verdict(analysis, valid),
        base,
        head,
        claims: analysis.claims.clone(),
        changes: pairs(analysis).map(|pair| change(analysis, pair)).collect(),
        belief: analysis.belief.level,
        reservations: analysis
            .belief
            .notes
            .iter()
            .filter(|note| against(note.level))
            .map(|note| note.text.clone())
            .collect(),
        trials_valid: u32::try_from(valid).unwrap_or(u32::MAX),
        confidence: analysis.confidence,
    }
}

/// Comparisons of head with base, at whatever load.
fn pairs(analysis: &AnalysisFile) -> impl Iterator<Item = &Comparison> {
    let is = |name: &str, side: &str| {
        name.strip_prefix(side).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    };
    analysis.comparisons.iter().filter(move |pair| is(&pair.a_target, HEAD) && is(&pair.b_target, BASE))
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
    CiChange {
        load: pair.load.clone(),
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
