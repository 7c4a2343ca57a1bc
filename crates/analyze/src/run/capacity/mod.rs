//! Capacity of a knee run (METHOD §6): one result for each ladder or search of its plan.
//!
//! Invariants: the trial is the unit; only valid trials count, except in a search, where a void trial is a trial that
//! could not be judged; a knee, a highest throughput or a law is either given with its interval or refused in words.
//! Layout: `ladder` gathers the levels, `rows` is the baseline table, `knee` and `highest` say where it bends and ends,
//! `scaling` compares laws of throughput, `law` has the USL's parameters, `hysteresis` compares up with down, `search` replays a search, `words` says it in a sentence.

mod highest;
mod hysteresis;
mod knee;
mod ladder;
mod law;
mod rows;
mod scaling;
mod search;
mod words;

pub(super) use search::SearchState;

use super::data::RunData;
use ladder::Ladder;
use schema::analysis::CellSummary;
use schema::capacity::{Capacity, CapacityPlan, LadderOrder};
use schema::metric::Metric;
use schema::said::{Joint, Said};

/// What bends: throughput down, p95 up.
const BENT: [Metric; 2] = [Metric::Throughput, Metric::P95];

/// One result a ladder, in plan order; empty for a run that is no knee run.
///
/// `level` is the confidence of knees: that of claims about them, where there are any.
pub(super) fn capacities(data: &RunData<'_>, cells: &[CellSummary], level: f64) -> Vec<Capacity> {
    let Some(plan) = &data.plan.capacity else { return Vec::new() };
    let ladders = ladder::ladders(data, plan.axis);
    let several =
        ladders.iter().map(|ladder| &ladder.target).collect::<std::collections::BTreeSet<_>>().len()
            < ladders.len();
    ladders.iter().map(|ladder| capacity(data, plan, ladder, (cells, several), level)).collect()
}

fn capacity(
    data: &RunData<'_>,
    plan: &CapacityPlan,
    ladder: &Ladder<'_>,
    (cells, several): (&[CellSummary], bool),
    level: f64,
) -> Capacity {
    // A search's rates crowd around the limit and were chosen by what was seen: no sample of a law.
    let fitted = plan.search.is_none().then(|| scaling::fitted(data, ladder, plan.axis)).flatten();
    let fitted = fitted.as_ref();
    let knees: Vec<_> = match plan.search {
        None => BENT.iter().map(|metric| knee::knee(data, ladder, *metric, fitted, level)).collect(),
        // Its rates crowd around the limit and were chosen by what was seen: no sample of a curve.
        Some(_) => Vec::new(),
    };
    let throughput = knees.iter().find(|knee| knee.metric == Metric::Throughput);
    let (highest, highest_refused) =
        split(throughput.map(|knee| highest::highest(data, ladder, knee, fitted)));
    let (usl, usl_refused) = split(plan.search.is_none().then(|| law::law(data, ladder, plan.axis, fitted)));
    let is_bent = throughput.is_some_and(|knee| knee.at.is_some());
    let is_up_down = plan.order == LadderOrder::UpDown && plan.search.is_none();
    let mut capacity = Capacity {
        target: ladder.target.to_owned(),
        level: if several { ladder.level.clone() } else { String::new() },
        axis: plan.axis,
        answer: Said::default(),
        rows: rows::rows(data, ladder, cells, plan.axis),
        highest,
        highest_refused,
        scaling: fitted.map(|fitted| fitted.summary(data.confidence, is_bent)),
        knees,
        usl,
        usl_refused,
        hysteresis: if is_up_down { hysteresis::hysteresis(data, ladder) } else { Vec::new() },
        search: plan.search.as_ref().map(|wanted| search::result(data, wanted)),
    };
    capacity.answer = words::answer(data, &capacity);
    capacity
}

fn split<T>(found: Option<Result<T, Said>>) -> (Option<T>, Option<Said>) {
    match found {
        None => (None, None),
        Some(Ok(value)) => (Some(value), None),
        Some(Err(reason)) => (None, Some(reason)),
    }
}

/// The answers of all ladders as one.
pub(super) fn answer(capacities: &[Capacity]) -> Option<Said> {
    (!capacities.is_empty())
        .then(|| Said::list(Joint::Space, capacities.iter().map(|capacity| &capacity.answer)))
}
