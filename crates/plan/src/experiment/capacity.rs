//! Knee runs: an experiment file whose load becomes a ladder, or whose rate is searched (METHOD §6).
//!
//! The file goes the usual way through resolution; here its levels are put in place before, and ladder, order and
//! search are written into the plan after.

use super::resolve;
use crate::context::Context;
use crate::defaults;
use crate::error::PlanError;
use crate::wrong::Wrong;
use analyze::Objective;
use schema::capacity::{CapacityPlan, LadderOrder, LoadAxis, SearchPlan};
use schema::experiment::{ExperimentFile, Load, LoadModel, OneOrMany, Warmup};
use schema::plan::{CellPlan, ExperimentPlan, TrialPlan};
use schema::said;
use schema::text::Problem;
use units::{Count, Nanos, PerSecond, Seed};

/// Passes of a ladder that rises and falls: the fewest that give five pairs.
pub const UP_DOWN_BLOCKS: u64 = 10;
/// Rungs that a ladder may have.
const RUNGS_MAX: usize = 1_000;
/// Passes that make a rate verified (METHOD §6: at least 5).
pub const CONFIRMATIONS: u32 = 5;
/// Wanted width of the answer of a search.
pub const TOLERANCE: f64 = 0.05;
/// Most trials of a search.
const TRIALS_MAX: u32 = 150;
/// What a trial takes besides its phases: start, contract check, end.
const BESIDES: Nanos = Nanos::from_secs(2);
/// Highest rate of a search that nothing else bounds.
const RATE_MAX: f64 = 1e6;
/// Above the fewest requests by this share, so that chance does not leave a trial one short.
const SLACK: f64 = 1.02;

/// What a knee run is asked for besides its file.
#[derive(Clone, Debug, Default)]
pub struct KneeWishes {
    /// Levels over those of the file.
    pub levels: Option<Levels>,
    /// Order of a ladder.
    pub order: LadderOrder,
    /// Passes through the ladder, over those of the file.
    pub blocks: Option<u64>,
    /// Seed, over that of the file.
    pub seed: Option<u64>,
    /// Length of a sample, of which there is then one a trial.
    pub sample: Option<Nanos>,
    /// Fixed length of the warm-up, in place of the file's.
    pub warmup: Option<Nanos>,
    /// Longest time of the whole.
    pub budget: Option<Nanos>,
    /// A search instead of a ladder.
    pub search: Option<SearchWishes>,
}

/// Levels of load.
#[derive(Clone, Debug, PartialEq)]
pub enum Levels {
    /// Of connections, closed.
    Connections(Vec<Count>),
    /// Of rates, open.
    Rates(Vec<PerSecond>),
}

/// What a search is asked for.
#[derive(Clone, Debug)]
pub struct SearchWishes {
    /// When a rate passes.
    pub objective: Objective,
    /// Highest rate to be tried.
    pub max_rate: Option<PerSecond>,
    /// Wanted width of the answer as a share.
    pub tolerance: f64,
    /// Passes that make a rate verified.
    pub confirmations: u32,
}

/// Reads and resolves an experiment as a knee run.
///
/// # Errors
/// As [`super::experiment`]; a load without a ladder, or one that cannot be searched.
pub fn capacity(
    file: &str,
    text: &str,
    context: &Context,
    wishes: &KneeWishes,
) -> Result<ExperimentPlan, PlanError> {
    let parsed = ExperimentFile::from_toml(file, text)?;
    knee_plan(parsed, context, wishes).map_err(|wrong| match wrong {
        Wrong::Here(problem) => PlanError::File(problem.locate(file, text)),
        Wrong::Elsewhere(error) => error,
    })
}

fn knee_plan(
    mut file: ExperimentFile,
    context: &Context,
    wishes: &KneeWishes,
) -> Result<ExperimentPlan, Wrong> {
    let load = file.load.get_or_insert_default();
    if let Some(levels) = &wishes.levels {
        put_levels(load, levels)?;
    }
    let axis = if load.model == LoadModel::Open { LoadAxis::Rate } else { LoadAxis::Connections };
    if wishes.search.is_some() {
        one_rate(load)?;
    }
    if let Some(sample) = wishes.sample {
        (file.phases.sample, file.phases.samples) = (Some(sample), Some(1));
    }
    if let Some(warmup) = wishes.warmup {
        file.phases.warmup = Warmup { at_least: Some(warmup), at_most: Some(warmup), ..Warmup::default() };
    }
    let design = &mut file.experiment;
    design.seed = wishes.seed.or(design.seed);
    let usual = if wishes.order == LadderOrder::UpDown { UP_DOWN_BLOCKS } else { defaults::BLOCKS };
    let blocks = wishes.blocks.or(design.blocks.map(|blocks| blocks.0)).unwrap_or(usual);
    design.blocks = Some(Count(blocks));
    let mut plan = resolve(&file, context)?;
    // Targets are driven beyond health on purpose here; what must hold at a rate is the objective.
    plan.thresholds.clear();
    plan.alarms.clear();
    match &wishes.search {
        Some(wanted) => search(&mut plan, wanted, wishes.budget)?,
        None => ladder(&mut plan, axis, wishes.order, wishes.budget)?,
    }
    Ok(plan)
}

/// The levels of the command line instead of those of the file.
fn put_levels(load: &mut Load, levels: &Levels) -> Result<(), Problem> {
    let count = match levels {
        Levels::Connections(levels) => levels.len(),
        Levels::Rates(levels) => levels.len(),
    };
    if count > RUNGS_MAX {
        return Err(Problem::at(
            "load",
            format!("{count} levels are too many"),
            format!("give at most {RUNGS_MAX}"),
        ));
    }
    match levels {
        Levels::Connections(levels) => {
            load.model = LoadModel::Closed;
            (load.connections, load.users) = (Some(OneOrMany::Many(levels.clone())), None);
            (load.rate, load.arrivals, load.shape) = (None, None, None);
            (load.max_connections, load.deadline) = (None, None);
        }
        Levels::Rates(levels) => {
            if load.think.is_some() {
                let cause = "an open load has no think time, and a ladder of rates is an open load";
                return Err(Problem::at("load.think", cause, "remove it, or give a ladder of connections"));
            }
            load.model = LoadModel::Open;
            (load.rate, load.users) = (Some(OneOrMany::Many(levels.clone())), None);
        }
    }
    Ok(())
}

/// The load of a search: its first rate is where the search begins.
fn one_rate(load: &mut Load) -> Result<(), Problem> {
    if load.model != LoadModel::Open {
        let cause = "a search varies the rate of an open load, and this one is closed";
        let remedy = "write model = \"open\" and rate = 1000 (where the search begins), or give --rates 1k";
        return Err(Problem::at("load.model", cause, remedy));
    }
    if load.shape.is_some() {
        let cause = "a search holds one rate in each trial, and this load has a shape";
        return Err(Problem::at("load.shape", cause, "remove it"));
    }
    let first = load.rate.as_ref().and_then(|rates| rates.levels().first().copied());
    if let Some(first) = first {
        load.rate = Some(OneOrMany::One(first));
    }
    Ok(())
}

/// Puts rungs in order, holds them to the budget, and turns every second pass round where that is asked for.
fn ladder(
    plan: &mut ExperimentPlan,
    axis: LoadAxis,
    order: LadderOrder,
    budget: Option<Nanos>,
) -> Result<(), Problem> {
    let load = |cell: &CellPlan| match axis {
        LoadAxis::Connections => f64::from(cell.load.connections),
        LoadAxis::Rate => cell.load.rate_per_s.unwrap_or_default(),
    };
    let mut loads: Vec<f64> = plan.cells.iter().map(load).collect();
    loads.sort_by(f64::total_cmp);
    loads.dedup();
    if loads.len() < 2 {
        let key = if axis == LoadAxis::Rate { "load.rate" } else { "load.connections" };
        let remedy = "list several levels, or give --ladder 1,2,4,8 or --rates 1k,2k,4k";
        return Err(Problem::at(key, "one level of load is no ladder", remedy));
    }
    let mut notes = Vec::new();
    if let Some(budget) = budget {
        let pass_ns = trial_ns(plan).saturating_mul(plan.cells.len() as u64).max(1);
        let fit = u32::try_from(budget.0 / pass_ns).unwrap_or(u32::MAX);
        if fit == 0 {
            let cause = format!(
                "one pass of {} trials takes up to {}, more than {budget}",
                plan.cells.len(),
                Nanos(pass_ns)
            );
            return Err(Problem::at(
                "phases",
                cause,
                "give a larger --budget, shorter trials, or fewer levels",
            ));
        }
        if fit < plan.blocks {
            notes.push(said!(
                "capacity.budget_holds",
                "the budget of {budget} holds {fit} of {passes} passes",
                budget = budget.to_string(),
                fit,
                passes = plan.blocks
            ));
            plan.blocks = fit;
            plan.order.retain(|trial| trial.block <= fit);
        }
    }
    if order == LadderOrder::UpDown {
        plan.order = up_and_down(plan, load);
    }
    plan.capacity = Some(CapacityPlan { axis, order, search: None, notes });
    Ok(())
}

/// Odd blocks rise and even blocks fall; targets in the order of the file, so that each has its whole ladder at a time.
fn up_and_down(plan: &ExperimentPlan, load: impl Fn(&CellPlan) -> f64) -> Vec<TrialPlan> {
    let mut groups: Vec<Vec<&CellPlan>> = Vec::new();
    let same =
        |a: &CellPlan, b: &CellPlan| a.target == b.target && a.scenario == b.scenario && a.limits == b.limits;
    for cell in &plan.cells {
        match groups.iter_mut().find(|group| same(group[0], cell)) {
            Some(group) => group.push(cell),
            None => groups.push(vec![cell]),
        }
    }
    groups.iter_mut().for_each(|group| group.sort_by(|a, b| load(a).total_cmp(&load(b))));
    let mut order = Vec::with_capacity(plan.order.len());
    for block in 1..=plan.blocks {
        // Both passes of a pair visit the ladders in one order, which differs from pair to pair.
        let mut groups: Vec<&Vec<&CellPlan>> = groups.iter().collect();
        Seed(plan.seed).derive("ladders", u64::from(block.div_ceil(2))).rng().shuffle(&mut groups);
        for group in groups {
            let rising = group.iter().map(|cell| cell.id.clone());
            let cells: Vec<String> = if block % 2 == 1 { rising.collect() } else { rising.rev().collect() };
            for cell in cells {
                order.push(TrialPlan { id: order.len() as u32 + 1, block, cell });
            }
        }
    }
    order
}

/// Longest time of one trial.
fn trial_ns(plan: &ExperimentPlan) -> u64 {
    let phases = &plan.phases;
    let sampled_ns = phases.sample_ns.saturating_mul(u64::from(phases.samples));
    phases
        .warmup_at_most_ns
        .saturating_add(sampled_ns)
        .saturating_add(phases.drain_ns)
        .saturating_add(BESIDES.0)
}

fn search(plan: &mut ExperimentPlan, wanted: &SearchWishes, budget: Option<Nanos>) -> Result<(), Problem> {
    let [cell] = plan.cells.as_slice() else {
        let cause =
            format!("a search is of one target, scenario and load, and this file has {}", plan.cells.len());
        return Err(Problem::at("target", cause, "keep one of each; run the others one after the other"));
    };
    let sampled_s = plan.phases.sample_ns as f64 * f64::from(plan.phases.samples) / 1e9;
    let needed = wanted.objective.requests_needed();
    // A whole number, as rates are typed; what is above it by rounding only is that number.
    let lowest = (SLACK * needed as f64 / sampled_s * (1.0 - 1e-12)).ceil();
    let highest = wanted.max_rate.map_or(RATE_MAX, |rate| rate.0);
    if lowest >= highest {
        let cause = format!(
            "a trial needs {needed} requests to be judged, which {} give from {lowest:.0} per second on; the highest rate \
             allowed is {highest:.0}",
            Nanos((sampled_s * 1e9) as u64)
        );
        return Err(Problem::at(
            "phases.sample",
            cause,
            "lengthen the trials (--duration), or ask for a lower percentile",
        ));
    }
    let asked = cell.load.rate_per_s.unwrap_or(lowest);
    let start = asked.clamp(lowest, highest);
    let mut notes = Vec::new();
    if start > asked {
        notes.push(said!(
            "capacity.search_begins_higher",
            "the search begins at {start} per second instead of {asked}: the objective needs {needed} requests in a trial \
             of {length}; lengthen the trials to search lower",
            start = format!("{start:.0}"),
            asked,
            needed,
            length = Nanos((sampled_s * 1e9) as u64).to_string()
        ));
    }
    let fits = budget.map(|budget| budget.0 / trial_ns(plan).max(1)).unwrap_or(u64::MAX);
    if fits == 0 {
        let cause = format!("one trial takes up to {}, more than the budget", Nanos(trial_ns(plan)));
        return Err(Problem::at("phases", cause, "give a larger --budget, or shorter trials"));
    }
    plan.order.clear();
    plan.blocks = 1;
    if let Some(cell) = plan.cells.first_mut() {
        cell.load.rate_per_s = Some(start);
        cell.label = format!("{}, {}", cell.target, super::load_words(&cell.load));
    }
    plan.capacity = Some(CapacityPlan {
        axis: LoadAxis::Rate,
        order: LadderOrder::Random,
        search: Some(SearchPlan {
            objective: wanted.objective.conditions(),
            start_per_s: start,
            lowest_per_s: lowest,
            highest_per_s: highest,
            tolerance: wanted.tolerance,
            confirmations: wanted.confirmations,
            trials_max: TRIALS_MAX,
            budget_ns: budget.map(|budget| budget.0),
        }),
        notes,
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    const FILE: &str = "[experiment]\nname = \"x\"\nseed = 4\n[[target]]\nname = \"a\"\nreference = {}\n\
                        [[target]]\nname = \"b\"\nreference = {}\n[scenario]\nrequest = { path = \"/\" }\n\
                        [load]\nmodel = \"closed\"\nconnections = [8, 2, 4]\n";
    const ONE: &str = "[experiment]\nname = \"x\"\n[[target]]\nreference = {}\n[scenario]\n\
                       request = { path = \"/\" }\n[load]\nmodel = \"open\"\nrate = [500, 900]\n\
                       [phases]\nsample = \"10s\"\nsamples = 1\n";

    fn ask(text: &str, wishes: &KneeWishes) -> Result<ExperimentPlan, String> {
        let context =
            Context { project: PathBuf::from("/tmp"), usable_cpus: vec![0, 1], pin: Some("off".to_owned()) };
        capacity("x.toml", text, &context, wishes).map_err(|error| error.to_string())
    }

    fn searching(objective: &str) -> KneeWishes {
        let search = SearchWishes {
            objective: objective.parse().unwrap(),
            max_rate: None,
            tolerance: TOLERANCE,
            confirmations: CONFIRMATIONS,
        };
        KneeWishes { search: Some(search), ..KneeWishes::default() }
    }

    #[test]
    fn a_ladder_rises_in_odd_blocks_and_falls_in_even_ones() {
        let wishes = KneeWishes { order: LadderOrder::UpDown, ..KneeWishes::default() };
        let plan = ask(FILE, &wishes).unwrap();
        assert_eq!((plan.blocks, plan.order.len()), (10, 60));
        let connections = |id: &str| plan.cells.iter().find(|cell| cell.id == id).unwrap().load.connections;
        for block in 1..=10 {
            let visited: Vec<u32> = plan
                .order
                .iter()
                .filter(|trial| trial.block == block)
                .map(|trial| connections(&trial.cell))
                .collect();
            let one = if block % 2 == 1 { [2, 4, 8] } else { [8, 4, 2] };
            assert_eq!(visited, [one, one].concat(), "block {block}");
        }
        assert_eq!(plan.capacity.unwrap().axis, LoadAxis::Connections);
    }

    #[test]
    fn levels_of_the_command_line_go_before_those_of_the_file() {
        let rates = Levels::Rates(vec![PerSecond(100.0), PerSecond(200.0)]);
        let plan =
            ask(FILE, &KneeWishes { levels: Some(rates), blocks: Some(3), ..KneeWishes::default() }).unwrap();
        assert_eq!(plan.capacity.as_ref().unwrap().axis, LoadAxis::Rate);
        // Two targets, three fixed numbers of connections, two rates.
        assert_eq!((plan.cells.len(), plan.blocks), (12, 3));
        let connections = Levels::Connections(vec![Count(1), Count(16)]);
        let plan = ask(ONE, &KneeWishes { levels: Some(connections), ..KneeWishes::default() }).unwrap();
        let found: Vec<u32> = plan.cells.iter().map(|cell| cell.load.connections).collect();
        assert_eq!(found, [1, 16]);
        assert!(plan.cells.iter().all(|cell| cell.load.rate_per_s.is_none()));
    }

    #[test]
    fn a_budget_holds_whole_passes() {
        // Up to 20 + 15 + 1 + 2 s a trial, six trials a pass.
        let wishes =
            |seconds| KneeWishes { budget: Some(Nanos::from_secs(seconds)), ..KneeWishes::default() };
        let plan = ask(FILE, &wishes(500)).unwrap();
        assert_eq!((plan.blocks, plan.order.len()), (2, 12));
        assert!(plan.capacity.unwrap().notes[0].contains("2 of 6 passes"));
        assert!(ask(FILE, &wishes(100)).unwrap_err().contains("larger --budget"));
    }

    #[test]
    fn a_search_begins_where_its_objective_can_be_judged() {
        let plan = ask(ONE, &searching("errors < 1%")).unwrap();
        let search = plan.search().unwrap();
        assert_eq!((search.start_per_s, plan.order.len(), plan.cells.len()), (500.0, 0, 1));
        // 3,688 requests in 10 s, and a little more.
        let slow = ONE.replace("[500, 900]", "[300, 900]");
        let plan = ask(&slow, &searching("p99.9 < 5ms")).unwrap();
        let search = plan.search().unwrap();
        assert_eq!((search.start_per_s, search.lowest_per_s), (377.0, 377.0));
        assert!(plan.capacity.as_ref().unwrap().notes[0].contains("lengthen the trials"));
        let mut low = searching("p99.9 < 5ms");
        low.search.as_mut().unwrap().max_rate = Some(PerSecond(300.0));
        assert!(ask(ONE, &low).unwrap_err().contains("lengthen the trials"));
    }

    #[test]
    fn what_cannot_be_a_knee_run_says_so() {
        let closed = FILE.replace("[8, 2, 4]", "8");
        let error = ask(&closed, &KneeWishes::default()).unwrap_err();
        assert!(
            error.contains("no ladder") && error.contains("x.toml:") && error.contains("--ladder"),
            "{error}"
        );
        assert!(ask(FILE, &searching("p50 < 1s")).unwrap_err().contains("model = \"open\""));
        let two = ONE.replace("[[target]]", "[[target]]\nname = \"b\"\nreference = {}\n[[target]]");
        assert!(ask(&two, &searching("p50 < 1s")).unwrap_err().contains("one target"));
    }
}
