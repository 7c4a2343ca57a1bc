//! The seeded order of trials: each block visits every cell once, in an order of its own (METHOD §3).
//!
//! Invariant: a block's order is a function of seed, block and cells, so a plan that grows while it runs has the order
//! that it would have had from the beginning.

use schema::plan::{ExperimentPlan, TrialPlan};
use units::Seed;

/// Adds this many blocks to the plan.
pub fn extend(plan: &mut ExperimentPlan, blocks: u32) {
    for _ in 0..blocks {
        plan.blocks += 1;
        let mut names: Vec<String> = plan.cells.iter().map(|cell| cell.id.clone()).collect();
        Seed(plan.seed).derive("order", plan.blocks.into()).rng().shuffle(&mut names);
        for cell in names {
            // Not their number: trials that are run again, or were dropped, leave gaps.
            let last = plan.order.iter().map(|planned| planned.id).max().unwrap_or_default();
            let id = last.saturating_add(1);
            plan.order.push(TrialPlan { id, block: plan.blocks, cell });
        }
    }
}
