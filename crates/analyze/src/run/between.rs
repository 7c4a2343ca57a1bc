//! The agents of a fleet against each other: does one of them see other response times than the rest? It is the A/A question
//! between generators, because each sends its part of the same load.
//!
//! The block is the unit, as everywhere: within a block an agent's value is the mean over its trials of the logarithm of a
//! quantile. Invariants: only valid trials count, and only where every agent has the quantiles; who is named was named by
//! `stats::exchange`, which holds the chance of any false name. Absent on purpose: a gate. Agents stand at different places
//! in the network, so a difference voids nothing.

use super::data::RunData;
use super::ratio::interval_of_logs;
use crate::stats::exchange::{Against, Block, fewest_blocks, unlike};
use crate::stats::student::MeanTest;
use crate::words::{Noun, count, ends, percent, ratios};
use schema::agents::{AgentRatio, AgentReport, AgentsCompared};
use schema::said;
use schema::said::{Joint, Said};
use schema::trial::TrialOutcome;
use std::collections::BTreeMap;
use units::Seed;

/// Median and 99th percentile.
const QUANTILES: usize = 2;
/// Most permutations of a test, and most rows that all of them may move: a tenth of a second of one core.
const PERMUTATIONS: usize = 9_999;
const ROWS_MAX: usize = 5_000_000;

/// What was found.
pub(super) struct Between {
    pub(super) compared: AgentsCompared,
    /// One row an agent; empty where the blocks are too few.
    pub(super) ratios: Vec<[AgentRatio; QUANTILES]>,
}

/// Over the agents of these names; `None` with fewer than two, or without a valid trial.
pub(super) fn between(data: &RunData<'_>, names: &[&str]) -> Option<Between> {
    let blocks = blocks(data, names);
    if names.len() < 2 || blocks.is_empty() {
        return None;
    }
    let alpha = 1.0 - data.confidence;
    let needed = fewest_blocks(names.len(), alpha);
    let mut compared = AgentsCompared {
        blocks: u32::try_from(blocks.len()).unwrap_or(u32::MAX),
        blocks_needed: u32::try_from(needed).unwrap_or(u32::MAX),
        ..AgentsCompared::default()
    };
    if blocks.len() < needed {
        compared.text = said!(
            "agents.compared.few",
            "The agents' response times were not compared: {had} of valid trials, {needed} needed.",
            had = count(blocks.len(), Noun::Block),
            needed
        );
        return Some(Between { compared, ratios: Vec::new() });
    }
    let permutations = (ROWS_MAX / (names.len() * blocks.len())).clamp(999, PERMUTATIONS);
    let found = unlike(&blocks, alpha, permutations, Seed(data.plan.seed).derive("agents", 0));
    let level = 1.0 - alpha / (names.len() * QUANTILES) as f64;
    let ratios: Vec<[AgentRatio; QUANTILES]> =
        found.against.iter().map(|of| of.each_ref().map(|against| ratio(against, level))).collect();
    compared.differ = found.named.iter().map(|(agent, _)| names[*agent].to_owned()).collect();
    compared.text = match found.named.first() {
        Some((agent, of)) => differs(&compared, &ratios[*agent][*of], *of),
        None => said!(
            "agents.compared.alike",
            "No agent's response times differ from the others' in {blocks} (p50 and p99, permutation test; where none \
             differs, some agent is named in at most {alpha} of all runs).",
            blocks = count(blocks.len(), Noun::Block),
            alpha = percent(alpha)
        ),
    };
    Some(Between { compared, ratios })
}

/// The logarithms of each agent's quantiles by block.
fn blocks(data: &RunData<'_>, names: &[&str]) -> Vec<Block<QUANTILES>> {
    let mut by_block: BTreeMap<u32, (f64, Block<QUANTILES>)> = BTreeMap::new();
    let valid = data.trials.iter().filter(|trial| trial.file.outcome == TrialOutcome::Valid);
    for trial in valid {
        let fleet = trial.file.load.as_ref().and_then(|load| load.fleet.as_ref());
        let Some(rows) = fleet.and_then(|fleet| rows(&fleet.agents, names)) else { continue };
        let (trials, sums) =
            by_block.entry(trial.file.block).or_insert_with(|| (0.0, vec![[0.0; QUANTILES]; names.len()]));
        *trials += 1.0;
        for (sum, row) in sums.iter_mut().zip(rows) {
            sum.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
        }
    }
    let mean = |(trials, sums): (f64, Block<QUANTILES>)| {
        sums.into_iter().map(|of| of.map(|sum| sum / trials)).collect()
    };
    by_block.into_values().map(mean).collect()
}

/// One trial's; `None` where an agent is not there or has no times.
fn rows(agents: &[AgentReport], names: &[&str]) -> Option<Block<QUANTILES>> {
    let row = |name: &&str| {
        let agent = agents.iter().find(|agent| agent.name == **name)?;
        let [p50, p99] = [agent.response_p50_ns?, agent.response_p99_ns?];
        Some([p50, p99].map(|ns| (ns.max(1) as f64).ln()))
    };
    names.iter().map(row).collect()
}

fn ratio(against: &Against, level: f64) -> AgentRatio {
    let interval = MeanTest::of_logs(&against.by_block).ok().map(|test| {
        let (low, high) = test.interval(level);
        interval_of_logs(low, high)
    });
    AgentRatio { ratio: against.mean().exp(), interval, p: against.p }
}

/// The furthest with its size, the others by name.
fn differs(compared: &AgentsCompared, of: &AgentRatio, quantile: usize) -> Said {
    let [ratio, low, high] = ratios(Some(of.ratio), of.interval.map_or((of.ratio, of.ratio), ends));
    let (first, others) =
        compared.differ.split_first().map_or((String::new(), &[][..]), |(a, b)| (a.clone(), b));
    let found = said!(
        "agents.compared.differs",
        "Agent {agent} differs most: its {quantile} was {ratio} times that of the others ({low} to {high}), in {blocks}. \
         Look at its host and at its way to the target; the difference voids nothing.",
        agent = first,
        quantile = ["p50", "p99"][quantile],
        ratio,
        low,
        high,
        blocks = count(compared.blocks as usize, Noun::Block)
    );
    if others.is_empty() {
        return found;
    }
    let more = Said::list(Joint::And, others);
    said!("agents.compared.also", "{found} Also different: {more}.", found, more)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::made;
    use crate::run::{TrialData, fleet};
    use schema::agents::{AgentRecord, FleetReport, FleetSummary};

    const NAMES: [&str; 3] = ["a", "b", "c"];

    /// A run of three agents; `medians` gives those of a trial by its block, and p99 is ten times as much.
    fn made(
        blocks: u32,
        cells: u32,
        medians: impl Fn(u32) -> [u64; 3],
    ) -> (schema::run::RunFile, Vec<TrialData>) {
        let loads: Vec<_> = (1..=cells).map(made::closed).collect();
        let mut run = made::run(&["target"], &loads, blocks);
        run.agents = NAMES.map(|name| AgentRecord { name: name.to_owned(), ..AgentRecord::default() }).into();
        let trial = |planned| {
            let mut trial = made::trial(&run.plan, planned)?;
            let agent = |(name, ns): (&str, u64)| AgentReport {
                name: name.to_owned(),
                response_p50_ns: Some(ns),
                response_p99_ns: Some(10 * ns),
                ..AgentReport::default()
            };
            let agents = NAMES.into_iter().zip(medians(trial.file.block)).map(agent).collect();
            trial.file.load.as_mut()?.fleet = Some(FleetReport { agents, ..FleetReport::default() });
            Some(trial)
        };
        let trials: Vec<TrialData> = run.plan.order.iter().filter_map(trial).collect();
        (run, trials)
    }

    fn found((run, trials): &(schema::run::RunFile, Vec<TrialData>)) -> FleetSummary {
        fleet(run, trials).expect("a fleet")
    }

    /// Three times in turn, so that no agent is ahead.
    fn in_turn(block: u32) -> [u64; 3] {
        let mut of = [1000, 1010, 1020];
        of.rotate_left(block as usize % 3);
        of
    }

    #[test]
    fn an_agent_that_sees_longer_times_is_named_with_how_much_longer() {
        let alike = found(&made(9, 1, in_turn));
        let compared = alike.compared.expect("compared");
        assert!(compared.differ.is_empty() && compared.blocks == 9, "{compared:?}");
        for of in alike.agents.iter().flat_map(|agent| [agent.p50_of_others, agent.p99_of_others]) {
            let of = of.expect("compared");
            assert!(of.p > 0.05 && (of.ratio - 1.0).abs() < 1e-9, "{of:?}");
        }

        let slow = found(&made(9, 1, |block| {
            let [a, b, c] = in_turn(block);
            [a, b * 3 / 2, c]
        }));
        let of_b = slow.agents[1].p50_of_others.expect("compared");
        let ends = of_b.interval.map_or((0.0, 0.0), ends);
        assert!(ends.0 > 1.4 && ends.0 < 1.5 && ends.1 > 1.5 && ends.1 < 1.6 && of_b.p <= 0.05, "{of_b:?}");
        let compared = slow.compared.expect("compared");
        assert_eq!(compared.differ, ["b"]);
        assert!(compared.text.text().starts_with("Agent b differs most: its p"), "{}", compared.text);
    }

    #[test]
    fn the_furthest_is_named_first_with_its_size_and_the_others_by_name() {
        let both = found(&made(12, 1, |block| {
            let [a, b, c] = in_turn(block);
            [a, b * 2, c * 8]
        }));
        let compared = both.compared.expect("compared");
        // Of the two that are left the slower one.
        assert_eq!(compared.differ, ["c", "b"], "{compared:?}");
        let text = compared.text.text();
        assert!(
            text.starts_with("Agent c differs most") && text.ends_with("nothing. Also different: b."),
            "{text}"
        );
    }

    #[test]
    fn void_trials_trials_without_an_agent_and_too_few_blocks_name_nobody() {
        let late = |_| [1000, 2000, 1000];
        let mut nine = made(9, 1, late);
        nine.1[0].file.outcome = TrialOutcome::Void;
        if let Some(fleet) = nine.1[1].file.load.as_mut().and_then(|load| load.fleet.as_mut()) {
            fleet.agents.pop();
        }
        assert_eq!(found(&nine).compared.map(|compared| compared.blocks), Some(7), "neither of these two");

        let few = found(&made(4, 2, late));
        let compared = few.compared.expect("of four blocks, each of two trials");
        assert_eq!((compared.blocks, compared.blocks_needed), (4, 5));
        assert!(compared.text.text().ends_with("4 blocks of valid trials, 5 needed."), "{}", compared.text);
        assert!(compared.differ.is_empty() && few.agents[1].p50_of_others.is_none());
        assert!(fleet(&nine.0, &[]).expect("a fleet").compared.is_none());
    }
}
