//! What the precision of a run is judged by: the claims' ratios and those of targets at the same load, in a
//! one-at-a-time design those of each departure to the baseline, in one metric each; where nothing is compared, the value of each cell.
//!
//! Invariant: the hidden control is never judged; it looks at the instrument.

use super::data::{RunData, too_few};
use super::families::{Families, Level};
use super::load::same_level;
use super::pairs::headline;
use super::ratio::paired;
use crate::measure::Measure;
use crate::stats::Refusal;
use crate::stats::student::MeanTest;
use schema::analysis::Basis;
use schema::metric::Metric;
use schema::plan::{CellPlan, ClaimPlan, ClaimQuantity, ClaimTest, ExperimentPlan};
use schema::said;
use schema::said::Said;

/// One ratio, or one value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Judged<'a> {
    /// Cell in the numerator, or the cell itself.
    pub(super) a: String,
    /// Cell in the denominator.
    pub(super) b: Option<String>,
    /// The metric or counter, or those to take the first of that has values.
    pub(super) measures: Vec<Measure<'a>>,
}

/// All that is judged, in plan order, claims first.
pub(super) fn judged(plan: &ExperimentPlan) -> Vec<Judged<'_>> {
    let control = plan.design.control.as_ref().map(|control| control.cell.as_str());
    let cells: Vec<&CellPlan> = plan.cells.iter().filter(|cell| Some(cell.id.as_str()) != control).collect();
    let mut all: Vec<Judged<'_>> = plan.claims.iter().flat_map(of_claim).collect();
    for (position, a) in cells.iter().enumerate() {
        for b in &cells[position + 1..] {
            if a.target != b.target && same_level(plan, a, b) {
                let (id, other) = (a.id.clone(), Some(b.id.clone()));
                all.push(Judged { a: id, b: other, measures: first(plan, a) });
            }
        }
    }
    let baseline = cells.iter().find(|cell| Some(&cell.id) == plan.design.baseline.as_ref());
    let departs = |base: &CellPlan| {
        let departures = cells.iter().filter(|cell| !same_level(plan, cell, base));
        let judged = |cell: &&CellPlan| Judged {
            a: cell.id.clone(),
            b: Some(base.id.clone()),
            measures: first(plan, cell),
        };
        departures.map(judged).collect::<Vec<_>>()
    };
    all.extend(baseline.into_iter().flat_map(|base| departs(base)));
    if all.is_empty() {
        all.extend(cells.iter().map(|cell| Judged {
            a: cell.id.clone(),
            b: None,
            measures: first(plan, cell),
        }));
    }
    let mut unique: Vec<Judged<'_>> = Vec::with_capacity(all.len());
    all.into_iter().for_each(|one| {
        if !unique.contains(&one) {
            unique.push(one);
        }
    });
    unique
}

/// What a cell is judged by where no claim says it.
fn first<'a>(plan: &ExperimentPlan, cell: &CellPlan) -> Vec<Measure<'a>> {
    headline(plan, cell).into_iter().map(Measure::from).collect()
}

/// The cells that a claim sets against each other, or the one whose value it bounds.
fn of_claim(claim: &ClaimPlan) -> Vec<Judged<'_>> {
    let pairs: Vec<(&String, Option<&String>)> = match &claim.test {
        ClaimTest::Ratio { numerator: a, denominator: b, .. }
        | ClaimTest::Difference { minuend: a, subtrahend: b, .. }
        | ClaimTest::Equivalent { a, b, .. }
        | ClaimTest::NoWorse { cell: a, than: b, .. } => vec![(a, Some(b))],
        ClaimTest::Threshold { cell, .. } => vec![(cell, None)],
        ClaimTest::Knee { .. } | ClaimTest::NoLeak { .. } => Vec::new(),
        ClaimTest::Within { quantity, .. } => match quantity {
            ClaimQuantity::Ratio { numerator: a, denominator: b }
            | ClaimQuantity::Difference { minuend: a, subtrahend: b } => vec![(a, Some(b))],
            ClaimQuantity::Value { cell } => vec![(cell, None)],
            ClaimQuantity::Knee { .. } => Vec::new(),
        },
        ClaimTest::Ordering { cells } => cells.windows(2).map(|pair| (&pair[0], Some(&pair[1]))).collect(),
    };
    let judged = |(a, b): (&String, Option<&String>)| Judged {
        a: a.clone(),
        b: b.cloned(),
        measures: claim.metric.iter().map(Measure::from).collect(),
    };
    pairs.into_iter().map(judged).collect()
}

impl<'a> Judged<'a> {
    /// The first of what it is judged by that a valid trial has a value of; else the last.
    pub(super) fn measure(&self, data: &RunData<'_>) -> Measure<'a> {
        let cells = || [Some(&self.a), self.b.as_ref()].into_iter().flatten();
        let has = |measure: &Measure<'a>| cells().all(|cell| !data.values(cell, *measure).is_empty());
        let last = self.measures.last().copied().unwrap_or(Measure::Metric(Metric::Throughput));
        self.measures.iter().copied().find(has).unwrap_or(last)
    }

    /// The level of its interval in the family of the run.
    pub(super) fn level(&self, data: &RunData<'_>, families: &Families, measure: Measure<'_>) -> Level {
        match &self.b {
            Some(b) => families.comparison(data, (&self.a, b), measure, Basis::Ratio).1,
            None => families.value(&self.a, measure),
        }
    }

    /// Logarithms by block: of the ratio, or of the value.
    pub(super) fn logs(&self, data: &RunData<'_>, measure: Measure<'_>) -> Vec<f64> {
        match &self.b {
            Some(b) => paired(data, &self.a, b, measure).logs,
            None => {
                let values = data.values_by_block(&self.a, measure);
                values.values().filter(|value| **value > 0.0).map(|value| value.ln()).collect()
            }
        }
    }

    /// The spread over blocks, from `least` on; `None` where the values do not differ; else why there is none.
    pub(super) fn test(
        &self,
        data: &RunData<'_>,
        measure: Measure<'_>,
        least: usize,
    ) -> Result<Option<MeanTest>, Said> {
        let logs = self.logs(data, measure);
        if logs.len() < least {
            let why = [Some(&self.a), self.b.as_ref()]
                .into_iter()
                .flatten()
                .find_map(|cell| data.why_missing(cell, measure));
            return Err(why.unwrap_or_else(|| {
                too_few(said!("noun.blocks_with_values", "blocks with valid values"), logs.len())
            }));
        }
        match MeanTest::of_logs(&logs) {
            Ok(test) => Ok(Some(test)),
            Err(Refusal::NoSpread { .. }) => Ok(None),
            Err(other) => Err(other.said()),
        }
    }

    /// `throughput of a / b, 64 connections`, for people.
    pub(super) fn words(&self, data: &RunData<'_>, measure: Measure<'_>) -> Said {
        let label = |id: &str| data.cell(id).map_or(id.to_owned(), |cell| cell.label.clone());
        let what = measure.words();
        match &self.b {
            None => said!("judged.value", "{what} of {a}", what, a = label(&self.a)),
            Some(b) => {
                said!("judged.against", "{what} of {a} against {b}", what, a = label(&self.a), b = label(b))
            }
        }
    }
}
