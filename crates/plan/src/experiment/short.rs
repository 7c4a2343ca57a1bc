//! `--short`: a first look, in seconds for a cell instead of minutes.
//!
//! Trials of one cell differ by more than a second of one would hide, so that the time is better spent on blocks (ADR 0034).

use super::design;
use schema::metric::Metric;
use schema::plan::{ExperimentPlan, PhasePlan};
use units::Nanos;

/// Warm-up: this, or the share of the file's shortest that is longer, since a file knows what needs long.
const WARMUP: Nanos = Nanos::from_secs(1);
const WARMUP_SHARE: u64 = 3;
/// Longest sample.
const SAMPLE: Nanos = Nanos::from_secs(1);
/// The same where claims ask what a runtime allocated: that is read once a second, and so once within it.
const SAMPLE_READ: Nanos = Nanos::from_secs(2);
/// Blocks; the t quantile falls fast up to there, and eight values that are all the same decide each of up to ten claims by
/// the sign test.
const BLOCKS: u32 = 8;
/// Blocks where phases stay long: one more than the fewest that give an interval (METHOD §3), with which equal values
/// decide each of two claims.
const BLOCKS_LONG: u32 = 6;

/// Shortens a plan: eight blocks, one sample of 1 s at most after a third of the shortest warm-up, 1 s at least. Phases that
/// events or shapes are laid on, and those that the file keeps, stay as they are, with six blocks or what the file has.
pub fn short(plan: &mut ExperimentPlan) {
    plan.short = true;
    plan.design.stopping = None;
    let is_timed = !plan.events.is_empty() || plan.cells.iter().any(|cell| cell.load.shape.is_some());
    if is_timed || plan.keeps_phases {
        return design::begin(plan, plan.blocks.min(BLOCKS_LONG));
    }
    let is_read = plan.claims.iter().any(|claim| claim.metric == Some(Metric::AllocPerRequest.into()));
    shorten(&mut plan.phases, if is_read { SAMPLE_READ } else { SAMPLE });
    design::begin(plan, BLOCKS);
}

fn shorten(phases: &mut PhasePlan, sample: Nanos) {
    let warmup_ns = (phases.warmup_at_least_ns / WARMUP_SHARE).max(WARMUP.0);
    phases.warmup_at_most_ns = phases.warmup_at_most_ns.min(warmup_ns);
    phases.warmup_at_least_ns = phases.warmup_at_most_ns;
    phases.sample_ns = phases.sample_ns.min(sample.0);
    phases.samples = 1;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::Context;
    use crate::experiment::experiment;

    const SECOND_NS: u64 = 1_000_000_000;

    /// Blocks, longest warm-up and sample in seconds, and trials of a shortened plan of one cell.
    fn shortened(blocks: u32, phases: &str, more: &str) -> (u32, u64, u64, usize) {
        let text = format!(
            "[experiment]\nname = \"s\"\nblocks = {blocks}\n[[target]]\nname = \"a\"\nreference = {{}}\n[scenario]\n\
             request = {{ path = \"/\" }}\n[phases]\n{phases}\nsample = \"10s\"\nsamples = 3\n{more}"
        );
        let context = Context { project: ".".into(), usable_cpus: vec![0, 1], pin: None };
        let mut plan = experiment("s.toml", &text, &context).unwrap_or_else(|error| panic!("{error}"));
        short(&mut plan);
        assert!(plan.short);
        let phases = &plan.phases;
        (plan.blocks, phases.warmup_at_most_ns / SECOND_NS, phases.sample_ns / SECOND_NS, plan.order.len())
    }

    const WARM: &str = "warmup = { at_least = \"12s\", at_most = \"30s\" }";

    #[test]
    fn phases_are_cut_and_blocks_are_eight() {
        assert_eq!(shortened(5, WARM, ""), (8, 4, 1, 8));
        assert_eq!(shortened(9, "warmup = { at_least = \"1s\", at_most = \"2s\" }", ""), (8, 1, 1, 8));
    }

    #[test]
    fn what_a_runtime_allocates_is_read_once_within_a_sample() {
        let claim = "[[claim]]\ntext = \"t\"\nmetric = \"alloc_per_request\"\nof = \"a\"\nis = \"< 1KiB\"\n";
        assert_eq!(shortened(5, WARM, claim), (8, 4, 2, 8));
    }

    #[test]
    fn phases_that_must_stay_keep_all_but_some_blocks() {
        let kept = format!("shorten = false\n{WARM}");
        assert_eq!(shortened(9, &kept, ""), (6, 30, 10, 6));
        assert_eq!(shortened(5, &kept, ""), (5, 30, 10, 5));
        let event = "[[event]]\nat = \"1s\"\nname = \"e\"\nrun = [\"true\"]\n";
        assert_eq!(shortened(9, WARM, event), (6, 30, 10, 6));
    }
}
