//! What each factor of a crossed plan does: main effects and two-way interactions (METHOD §3, on log values by block).
//!
//! Only blocks in which every cell has a value count, so each effect is over the same levels of the other factors. Holm's
//! correction is over all effects on all metrics. Plans with one factor have none: their comparisons say it all.
//! Absent on purpose: effects where the cells are not a full cross (one would be mixed with another).

use super::MIN_TRIALS;
use super::data::{RunData, too_few};
use super::ratio::interval_of_logs;
use crate::stats::factorial::{Contrast, Cross};
use crate::stats::holm::holm;
use crate::stats::student::MeanTest;
use crate::words;
use schema::analysis::{Effect, EffectLevel, Effects, Factor};
use schema::metric::Metric;
use schema::plan::{CellPlan, ExperimentPlan, TargetPlan};
use schema::said;
use schema::said::Said;
use std::collections::{BTreeMap, BTreeSet};

/// More effects on one metric than this are not answered: Holm's correction would leave little of any.
const EFFECTS_MAX: usize = 200;

/// `None` where fewer than two factors have several levels.
pub(super) fn effects(data: &RunData<'_>) -> Option<Effects> {
    let split = factors(data.plan, true);
    let whole = factors(data.plan, false);
    if split.len() < 2 {
        return None;
    }
    let crossed = [split, whole].into_iter().find_map(|columns| Some((cross(&columns)?, columns)));
    let Some((cross, columns)) = crossed.filter(|(_, columns)| columns.len() >= 2) else {
        return Some(refused(said!(
            "effects.cells_not_every_combination",
            "the cells are not every combination of the factors, so their effects \
             cannot be separated: run all combinations"
        )));
    };
    let count = cross.contrast_count();
    if count > EFFECTS_MAX {
        let why = said!(
            "effects.effects_each_metric_more",
            "{count} effects on each metric are more than {effects_max}: use fewer levels",
            count,
            effects_max = EFFECTS_MAX
        );
        return Some(refused(why));
    }
    let mut all = Effects { factors: columns.iter().map(Column::factor).collect(), ..Effects::default() };
    let contrasts = cross.contrasts();
    for metric in Metric::ALL {
        match of_metric(data, metric, &columns, &contrasts) {
            Ok(effects) => all.effects.extend(effects),
            Err(why) => {
                all.metrics_refused.insert(metric.key().to_owned(), why);
            }
        }
    }
    correct(&mut all.effects, data.confidence);
    Some(all)
}

/// Holm's correction over all effects on all metrics: some effect is shown falsely in at most α of runs.
fn correct(effects: &mut [Effect], confidence: f64) {
    let p_values: Vec<f64> = effects.iter().filter_map(|effect| effect.p_value).collect();
    let with_p = effects.iter_mut().filter(|effect| effect.p_value.is_some());
    for (effect, adjusted) in with_p.zip(holm(&p_values)) {
        effect.p_holm = Some(adjusted);
        effect.shown = adjusted < 1.0 - confidence;
    }
}

fn refused(why: Said) -> Effects {
    Effects { refused: Some(why), ..Effects::default() }
}

/// One factor: its name, its levels in the order in which the cells have them, and the level of each cell.
struct Column {
    name: String,
    levels: Vec<String>,
    /// Places in `levels`.
    by_cell: Vec<usize>,
}

impl Column {
    fn new(name: &str, cells: &[CellPlan], level: &dyn Fn(&CellPlan) -> String) -> Self {
        let mut places: BTreeMap<String, usize> = BTreeMap::new();
        let mut levels = Vec::new();
        let place = |cell: &CellPlan| {
            let next = places.len();
            *places.entry(level(cell)).or_insert_with_key(|level| {
                levels.push(level.clone());
                next
            })
        };
        let by_cell = cells.iter().map(place).collect();
        Self { name: name.to_owned(), levels, by_cell }
    }

    fn factor(&self) -> Factor {
        Factor { name: self.name.clone(), levels: self.levels.clone() }
    }
}

/// The factors with several levels. With `split`, a target that is a variant counts as what it is a variant of, and its
/// knobs as factors of their own.
fn factors(plan: &ExperimentPlan, split: bool) -> Vec<Column> {
    let targets: BTreeMap<&str, &TargetPlan> =
        plan.targets.iter().map(|target| (target.name.as_str(), target)).collect();
    let variant = |cell: &CellPlan| targets.get(cell.target.as_str())?.variant.as_ref().filter(|_| split);
    let column = |name: &str, level: &dyn Fn(&CellPlan) -> String| Column::new(name, &plan.cells, level);
    let mut columns =
        vec![column("target", &|cell| variant(cell).map_or_else(|| cell.target.clone(), |of| of.of.clone()))];
    let knobs: BTreeSet<&String> =
        plan.cells.iter().filter_map(variant).flat_map(|of| of.knobs.keys()).collect();
    for knob in knobs {
        let value = |cell: &CellPlan| variant(cell).and_then(|of| of.knobs.get(knob)).cloned();
        columns.push(column(knob, &|cell| value(cell).unwrap_or_else(|| "without".to_owned())));
    }
    columns.push(column("scenario", &|cell| cell.scenario.clone()));
    columns.push(column("connections", &|cell| words::grouped(cell.load.connections.into())));
    let rate =
        |cell: &CellPlan| cell.load.rate_per_s.map_or_else(|| "none".to_owned(), |rate| format!("{rate}/s"));
    columns.push(column("rate", &rate));
    columns.push(column("http", &|cell| cell.load.connection.http.key().to_owned()));
    columns.push(column("streams", &|cell| cell.load.connection.streams.to_string()));
    columns.push(column("trace", &|cell| cell.load.trace_level().to_string()));
    let quota =
        |cell: &CellPlan| cell.limits.cpus.map_or_else(|| "no quota".to_owned(), |cpus| cpus.to_string());
    columns.push(column("cpus", &quota));
    columns.retain(|column| column.levels.len() > 1);
    columns
}

fn cross(columns: &[Column]) -> Option<Cross> {
    let cells = columns.first()?.by_cell.len();
    let of = |cell: usize| columns.iter().map(|column| column.by_cell[cell]).collect();
    Cross::of((0..cells).map(of).collect())
}

/// Every effect on one metric, not yet corrected.
fn of_metric(
    data: &RunData<'_>,
    metric: Metric,
    columns: &[Column],
    contrasts: &[Contrast],
) -> Result<Vec<Effect>, Said> {
    let blocks = log_blocks(data, metric)?;
    Ok(contrasts.iter().map(|contrast| effect(data, metric, columns, contrast, &blocks)).collect())
}

/// Log values of all cells in plan order, by block; blocks that lack one are left out.
fn log_blocks(data: &RunData<'_>, metric: Metric) -> Result<Vec<Vec<f64>>, Said> {
    let by_cell: Vec<BTreeMap<u32, f64>> =
        data.plan.cells.iter().map(|cell| data.values_by_block(&cell.id, metric)).collect();
    let first = by_cell.first().map(|cell| cell.keys().copied().collect::<Vec<u32>>()).unwrap_or_default();
    let whole =
        |block: u32| by_cell.iter().map(|cell| cell.get(&block).copied()).collect::<Option<Vec<f64>>>();
    let blocks: Vec<Vec<f64>> = first.into_iter().filter_map(whole).collect();
    if blocks.len() < MIN_TRIALS {
        let missing = data.plan.cells.iter().find_map(|cell| data.why_missing(&cell.id, metric));
        return Err(missing.unwrap_or_else(|| {
            too_few(
                said!("noun.blocks_with_every_cell", "blocks with a valid trial of every cell"),
                blocks.len(),
            )
        }));
    }
    if blocks.iter().flatten().any(|value| *value == 0.0) {
        return Err(said!(
            "effects.value_which_has_no",
            "a value is 0, which has no logarithm: compare the cells by differences"
        ));
    }
    Ok(blocks.into_iter().map(|block| block.into_iter().map(f64::ln).collect()).collect())
}

fn effect(
    data: &RunData<'_>,
    metric: Metric,
    columns: &[Column],
    contrast: &Contrast,
    blocks: &[Vec<f64>],
) -> Effect {
    let values: Vec<f64> = blocks.iter().map(|block| contrast.value(block)).collect();
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let mut effect = Effect {
        metric,
        of: contrast.steps.iter().map(|step| level(&columns[step.factor], step.level)).collect(),
        blocks: u32::try_from(blocks.len()).unwrap_or(u32::MAX),
        ratio: Some(mean.exp()).filter(|ratio| ratio.is_finite() && *ratio > 0.0),
        interval: None,
        p_value: None,
        p_holm: None,
        shown: false,
        refused: None,
    };
    match MeanTest::of_logs(&values) {
        Ok(test) => {
            let (low, high) = test.interval(data.confidence);
            effect.interval = Some(interval_of_logs(low, high));
            effect.p_value = Some(test.p_value());
        }
        Err(refusal) => effect.refused = Some(refusal.said()),
    }
    effect
}

fn level(column: &Column, place: usize) -> EffectLevel {
    let name = |place: usize| column.levels.get(place).cloned().unwrap_or_default();
    EffectLevel { factor: column.name.clone(), level: name(place), against: name(0) }
}
