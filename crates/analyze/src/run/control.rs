//! The hidden control (METHOD §3): one cell is run twice in each block, and what differs between the two is the
//! instrument's doing, or the order's, or chance.
//!
//! Invariant: over all metrics at once, chance makes it a finding at the stated rate only: it is a family of its own.

use super::data::{RunData, interval_name};
use crate::words;
use schema::analysis::{
    BeliefLevel, BeliefNote, Comparison, Finding, FindingCause, FindingLevel, Interval, Verdict,
};
use schema::design::ControlPlan;
use schema::metric::Metric;
use schema::said;
use schema::said::Said;

/// The plan's control, where both of its cells exist.
pub(super) fn of<'a>(data: &RunData<'a>) -> Option<&'a ControlPlan> {
    let control = data.plan.design.control.as_ref()?;
    (data.cell(&control.cell).is_some() && data.cell(&control.of).is_some()).then_some(control)
}

/// Whether a pair of cells is to be compared: the control only with what it repeats.
pub(super) fn is_comparable(data: &RunData<'_>, a: &str, b: &str) -> bool {
    let Some(control) = data.plan.design.control.as_ref() else { return true };
    (a != control.cell && b != control.cell) || a == control.of || b == control.of
}

/// Whether a cell is the control.
pub(super) fn is_control(data: &RunData<'_>, cell: &str) -> bool {
    data.plan.design.control.as_ref().is_some_and(|control| control.cell == cell)
}

/// The comparisons of the control with what it repeats.
fn pairs<'a>(data: &RunData<'_>, comparisons: &'a [Comparison]) -> Vec<&'a Comparison> {
    let is_pair = |found: &&Comparison| is_control(data, &found.a) || is_control(data, &found.b);
    if of(data).is_some() { comparisons.iter().filter(is_pair).collect() } else { Vec::new() }
}

/// The metric in which the two differ most surely, if they differ at all.
fn difference<'a>(data: &RunData<'_>, comparisons: &'a [Comparison]) -> Option<&'a Comparison> {
    let differs = |found: &&Comparison| found.p_family.is_some_and(|p| p < 1.0 - data.confidence);
    let p = |found: &Comparison| found.p_family.unwrap_or(1.0);
    pairs(data, comparisons).into_iter().filter(differs).min_by(|a, b| p(a).total_cmp(&p(b)))
}

/// A difference is a finding.
pub(super) fn finding(data: &RunData<'_>, comparisons: &[Comparison]) -> Option<Finding> {
    let found = difference(data, comparisons)?;
    let text = said!(
        "control.differs_from_which_repeats_all",
        "{a} differs from {b}, which it repeats: {numbers}, p = {p} for all metrics \
         together. This is no property of a target; differences between targets that are no \
         larger may be of the same kind",
        a = &found.b_target,
        b = &found.a_target,
        numbers = numbers(data, found),
        p = format!("{:.2}", found.p_family.unwrap_or_default())
    );
    let remedy = said!(
        "control.look_order_trials_what",
        "look at the order of trials and for what one trial leaves behind for the next (ports, \
         page cache, heat); run again with another seed"
    );
    Some(Finding {
        cause: FindingCause::Control,
        level: FindingLevel::Finding,
        cell: found.b.clone(),
        text,
        remedy: Some(remedy),
        ..Finding::default()
    })
}

/// What the control says of the instrument.
pub(super) fn note(data: &RunData<'_>, comparisons: &[Comparison]) -> Option<BeliefNote> {
    let control = of(data)?;
    if let Some(found) = difference(data, comparisons) {
        let text = said!(
            "control.hidden_control_not_equal",
            "the hidden control is not equal to itself: {a} against {b}, {numbers}",
            a = &found.b_target,
            b = &found.a_target,
            numbers = numbers(data, found)
        );
        let remedy = said!(
            "control.trust_only_differences_clearly",
            "trust only differences that are clearly larger; see the findings"
        );
        return Some(BeliefNote { level: BeliefLevel::WithReservations, text, remedy: Some(remedy) });
    }
    let pairs = pairs(data, comparisons);
    let shown = pairs
        .iter()
        .find(|found| found.metric == Metric::Throughput && found.verdict != Verdict::Refused)
        .or_else(|| pairs.iter().find(|found| found.verdict != Verdict::Refused));
    let label = data.cell(&control.of).map_or("", |cell| cell.label.as_str());
    Some(match shown {
        Some(found) => BeliefNote {
            level: BeliefLevel::Yes,
            text: said!(
                "control.hidden_control_shows_no",
                "the hidden control shows no difference ({cell} run twice: {numbers})",
                cell = label,
                numbers = numbers(data, found)
            ),
            remedy: None,
        },
        None => BeliefNote {
            level: BeliefLevel::WithReservations,
            text: said!(
                "control.hidden_control_not_judged",
                "the hidden control ({cell} run twice) cannot be judged",
                cell = label
            ),
            remedy: Some(said!(
                "control.run_least_five_blocks",
                "run at least five blocks with valid trials"
            )),
        },
    })
}

/// `requests per second ratio 1.003, 95 % interval 0.991 to 1.015`.
fn numbers(data: &RunData<'_>, found: &Comparison) -> Said {
    let interval = found.interval.unwrap_or(Interval { low: None, high: None });
    let [ratio, low, high] = words::ratios(found.ratio, words::ends(interval));
    said!(
        "control.ratio",
        "{metric} ratio {ratio}, {interval} {low} to {high}",
        metric = found.metric.words(),
        ratio,
        interval = interval_name(data.confidence, found.level.is_some_and(|level| level > data.confidence)),
        low,
        high
    )
}
