//! Runs that decide at block borders whether another block follows (METHOD §3: stop early when the wanted width is
//! reached, stop late at the budget, say which).
//!
//! Invariants: a decision is a function of the plan, the trials so far and the time spent; what is decided stands in
//! the plan of `run.json` before the next trial begins, so a run that was cut off goes on as it would have; blocks are
//! whole, and the first ones are data like all others.
//! Absent on purpose: the statistics of a look (`analyze::look`).

use analyze::TrialData;
use analyze::stats::sequential;
use plan::add_blocks;
use schema::calibration::CalibrationSummary;
use schema::design::{LookRecord, StopReason, Stopped};
use schema::plan::{ExperimentPlan, TrialPlan};
use schema::said;
use schema::trial::TrialFile;
use std::time::Instant;
use units::Nanos;
use units::format::counted;
use units::format::sentence::half_width;

/// The time that trials have taken: those of earlier sessions by their own account, those of this one by the clock.
#[derive(Debug)]
pub(crate) struct Spent {
    before_ns: u64,
    session: Instant,
}

impl Spent {
    /// `earlier` are the trials that ended before this session.
    pub(crate) fn begin<'a>(earlier: impl Iterator<Item = &'a TrialFile>) -> Self {
        Self { before_ns: earlier.map(trial_ns).fold(0, u64::saturating_add), session: Instant::now() }
    }

    pub(crate) fn ns(&self) -> u64 {
        self.before_ns.saturating_add(Nanos::from(self.session.elapsed()).0)
    }
}

/// Start and phases of one trial.
fn trial_ns(trial: &TrialFile) -> u64 {
    let phases = trial.phases.iter().map(|span| span.end_ns).max().unwrap_or_default();
    phases.saturating_add(trial.ready_ns.unwrap_or_default())
}

/// Whether a later block is still to be decided upon.
pub(crate) fn is_open(plan: &ExperimentPlan) -> bool {
    plan.design.stopping.as_ref().is_some_and(|stopping| stopping.stopped.is_none())
}

/// Before the first trial of a block: ends the run where the budget has no room for the block. Blocks that were run in
/// part are finished.
///
/// Returns whether the run has ended.
pub(crate) fn is_over_budget(plan: &mut ExperimentPlan, next_block: u32, spent_ns: u64) -> bool {
    let done = next_block.saturating_sub(1);
    let Some(stopping) = plan.design.stopping.as_mut().filter(|stopping| stopping.stopped.is_none()) else {
        return false;
    };
    let Some(budget_ns) = stopping.budget_ns else { return false };
    let block_ns = spent_ns / u64::from(done.max(1));
    if done == 0 || spent_ns.saturating_add(block_ns) <= budget_ns {
        return false;
    }
    let text = said!(
        "stopped.budget",
        "the budget of {budget} has no room for another block: {done} took {spent}",
        budget = Nanos(budget_ns).to_string(),
        done,
        spent = rounded(spent_ns).to_string()
    );
    stopping.stopped = Some(Stopped { reason: StopReason::Budget, text });
    plan.order.retain(|trial| trial.block <= done);
    plan.blocks = done;
    true
}

/// After the last block of the order: looks, and adds a block or ends the run.
///
/// Returns the trials that were added; none where the run has ended.
pub(crate) fn decide(
    plan: &mut ExperimentPlan,
    calibration: Option<&CalibrationSummary>,
    trials: &[TrialData],
    spent_ns: u64,
) -> Vec<TrialPlan> {
    let Some(stopping) = plan.design.stopping.clone().filter(|stopping| stopping.stopped.is_none()) else {
        return Vec::new();
    };
    let look = stopping.precision.map(|wanted| (wanted, analyze::look(plan, trials, wanted)));
    let undecided = stopping.until_decided.then(|| analyze::undecided(plan, calibration, trials));
    let stopped = match &look {
        _ if undecided == Some(0) => {
            let blocks = plan.blocks;
            let text = said!("stopped.decided", "every claim is decided after {blocks} blocks", blocks);
            Some((StopReason::Decided, text))
        }
        Some((wanted, look)) if is_reached(plan.blocks, look.is_narrow, &stopping.looks) => {
            let wanted = half_width(*wanted);
            let text = said!("stopped.precision", "the precision of ± {wanted} is reached", wanted);
            Some((StopReason::Precision, text))
        }
        _ if plan.blocks >= stopping.blocks_max => {
            let blocks = plan.blocks;
            let text = said!("stopped.blocks", "{blocks} blocks are the most that were asked for", blocks);
            Some((StopReason::Blocks, text))
        }
        _ => None,
    };
    if let Some(stopping) = plan.design.stopping.as_mut() {
        let record = look.map(|(_, look)| LookRecord {
            half_width: look.half_width,
            of: look.of,
            is_narrow: look.is_narrow,
            blocks_needed: look.blocks_needed,
            ..LookRecord::default()
        });
        let record = record.or_else(|| undecided.map(|_| LookRecord::default()));
        let record = record.map(|record| LookRecord { blocks: plan.blocks, undecided, spent_ns, ..record });
        stopping.looks.extend(record);
        stopping.stopped = stopped.map(|(reason, text)| Stopped { reason, text });
        if stopping.stopped.is_some() {
            return Vec::new();
        }
    }
    if is_over_budget(plan, plan.blocks + 1, spent_ns) {
        return Vec::new();
    }
    let before = plan.order.len();
    add_blocks(plan, 1);
    plan.order[before..].to_vec()
}

/// The rule against looking until chance is kind, in [`sequential`].
fn is_reached(blocks: u32, is_narrow: bool, looks: &[LookRecord]) -> bool {
    let first = looks.iter().find(|look| look.is_narrow).map(|look| look.blocks);
    sequential::is_reached(blocks, is_narrow, first.or(is_narrow.then_some(blocks)))
}

/// What the last look found and what follows, for people; `None` where there is nothing to say.
pub(crate) fn words(plan: &ExperimentPlan) -> Option<String> {
    let stopping = plan.design.stopping.as_ref()?;
    let seen = stopping.looks.last().map(|look| match (look.half_width, look.blocks_needed) {
        (None, _) if look.undecided.is_some() && look.of.is_empty() => {
            format!("after {} blocks", look.blocks)
        }
        (None, _) => format!("after {} blocks nothing can be judged yet: {}", look.blocks, look.of),
        (Some(half), needed) => {
            let needed = needed.filter(|needed| *needed > look.blocks).map_or_else(String::new, |needed| {
                format!(", about {} blocks would do", needed.min(stopping.blocks_max))
            });
            format!("after {} blocks ± {} ({}){needed}", look.blocks, half_width(half), look.of)
        }
    });
    let undecided = stopping.looks.last().and_then(|look| look.undecided).filter(|claims| *claims > 0);
    let undecided = undecided.map(|claims| format!("{} not decided yet", counted(claims.into(), "claim")));
    let seen = seen.into_iter().chain(undecided);
    let said: Vec<String> =
        seen.chain(stopping.stopped.as_ref().map(|stopped| stopped.text.to_string())).collect();
    (!said.is_empty()).then(|| said.join("; "))
}

fn rounded(ns: u64) -> Nanos {
    Nanos(if ns >= 10_000_000_000 { ns / 1_000_000_000 * 1_000_000_000 } else { ns / 1_000_000 * 1_000_000 })
}

#[cfg(test)]
#[path = "adaptive_tests.rs"]
pub(crate) mod tests;
