//! `prony plan`: how many blocks a precision or a difference needs, and what a given number can show.
//!
//! Spreads are pooled within runs, so what changes from day to day does not count. Numbers of blocks rest on the upper
//! limit of the spread with 80 % assurance: half of all estimates are too small, and a plan made from such a one would
//! promise a power that it does not have (Browne, Statistics in Medicine 14, 1995). Levels are those of the family that the
//! verdicts of a run are (`families`).

use super::{Past, repetition, same_cell};
use crate::measure::Measure;
use crate::run::MIN_TRIALS;
use crate::run::data::RunData;
use crate::run::families::Families;
use crate::run::judged::{Judged, judged};
use crate::run::levels::levels;
use crate::stats::power::{
    count_for_equivalence, count_for_power, count_for_width, equivalence_power, half_width, sd_upper,
    smallest_effect,
};
use crate::words::{Noun, count};
use schema::advice::{AdviceFile, AdviceRow, BlocksAdvice, SamplesAdvice, WantedAdvice};
use schema::analysis::Basis;
use schema::metric::{Metric, Unit};
use schema::plan::{CellPlan, ExperimentPlan, PhasePlan};
use schema::said;
use schema::said::Said;

/// Assurance of the upper limit of a spread.
const ASSURANCE: f64 = 0.8;
/// Most blocks that are ever advised; beyond, there is no answer.
const BLOCKS_MAX: u32 = 100_000;

/// What is wanted of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wanted {
    /// Half-width of the interval as a share, above 0.
    pub precision: f64,
    /// Difference to be found as a share, above 0.
    pub difference: f64,
    /// Chance to find it, above 0 and below 1.
    pub power: f64,
}

/// What was measured of the time that runs take.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Costs {
    /// A trial with its start and stop.
    pub trial_ns: Option<u64>,
    /// A run besides its trials: what is built and looked at before the first.
    pub run_ns: Option<u64>,
}

/// What the past says of a run that is planned.
///
/// Runs of other cells, void trials and runs without trials only leave less to go by; rows without anything are
/// refused.
#[must_use]
pub fn advice(plan: &ExperimentPlan, past: &[Past], wanted: Wanted, costs: Costs) -> AdviceFile {
    let seen: Vec<RunData<'_>> = past.iter().map(|past| RunData::new(&past.run.plan, &past.trials)).collect();
    let data = RunData::new(plan, &[]);
    let (trial, is_measured) = costs.trial_ns.map_or((expected_ns(&plan.phases), false), |ns| (ns, true));
    let own = own_blocks(plan, trial);
    let families = families(&data, &seen);
    let rows: Vec<AdviceRow> =
        judged(plan).iter().map(|one| row(&data, &families, one, &seen, own, wanted)).collect();
    let cost = |blocks: u32| {
        let trials = u64::from(blocks) * plan.cells.len() as u64;
        BlocksAdvice { blocks, trials, time_ns: trials.saturating_mul(trial) }
    };
    let most = |of: fn(&AdviceRow) -> Option<u32>| {
        let told: Vec<&AdviceRow> = rows.iter().filter(|row| row.refused.is_none()).collect();
        let all: Option<Vec<u32>> = told.into_iter().map(of).collect();
        all.and_then(|all| all.into_iter().max()).map(cost)
    };
    AdviceFile {
        schema: Default::default(),
        experiment: plan.name.clone(),
        runs: past.iter().map(|past| past.run.id.clone()).collect(),
        wanted: WantedAdvice {
            precision: wanted.precision,
            difference: wanted.difference,
            power: wanted.power,
            confidence: data.confidence,
            margin: Some(data.margin),
        },
        cells: u32::try_from(plan.cells.len()).unwrap_or(u32::MAX),
        own: cost(own),
        for_precision: most(|row| row.blocks_for_precision),
        for_difference: most(|row| row.blocks_for_difference),
        for_difference_alone: most(|row| row.blocks_for_difference_alone),
        // A plan that compares nothing shows nothing to be equivalent.
        for_equivalence: rows
            .iter()
            .any(|row| row.equivalence_power.is_some())
            .then(|| most(|row| row.blocks_for_equivalence))
            .flatten(),
        family: families.summary(),
        trial_ns: trial,
        trial_is_measured: is_measured,
        samples: samples(plan, &seen),
        levels: repetition::advice(plan, &seen, (wanted.precision, data.confidence), costs.run_ns),
        notes: notes(plan, past),
        rows,
    }
}

/// The family of the plan's verdicts: a metric counts where some run of the past has values that differ.
fn families(data: &RunData<'_>, seen: &[RunData<'_>]) -> Families {
    let has = |metric: Metric| {
        seen.iter().rev().any(|past| {
            let of = |cell: &CellPlan| past.values(&cell.id, metric);
            past.plan.cells.iter().any(|cell| of(cell).windows(2).any(|pair| pair[0] != pair[1]))
        })
    };
    let tested: Vec<Metric> = Metric::ALL.into_iter().filter(|metric| has(*metric)).collect();
    Families::counted(data, |_, _, metric| {
        let basis = if metric.unit() == Unit::Share { Basis::Difference } else { Basis::Ratio };
        tested.contains(&metric).then_some(basis)
    })
}

/// The file's own number; where it decides while it runs, the most that its budget has room for.
fn own_blocks(plan: &ExperimentPlan, trial_ns: u64) -> u32 {
    let Some(stopping) = &plan.design.stopping else { return plan.blocks };
    let block_ns = trial_ns.saturating_mul(plan.cells.len() as u64).max(1);
    let room = stopping.budget_ns.map_or(u64::MAX, |budget_ns| budget_ns / block_ns);
    let room = u32::try_from(room).unwrap_or(u32::MAX).max(stopping.blocks_pilot);
    stopping.blocks_max.min(room)
}

/// A trial by its phases, of a target that is warm from the start.
fn expected_ns(phases: &PhasePlan) -> u64 {
    let samples_ns = phases.sample_ns.saturating_mul(phases.samples.into());
    crate::trial::warmup_expected_ns(phases).saturating_add(samples_ns)
}

fn row(
    data: &RunData<'_>,
    families: &Families,
    one: &Judged<'_>,
    seen: &[RunData<'_>],
    own: u32,
    wanted: Wanted,
) -> AdviceRow {
    // What the latest run has values of.
    let found: Vec<(&RunData<'_>, Judged<'_>)> =
        seen.iter().filter_map(|past| Some((past, in_past(data, one, past)?))).collect();
    let measure = found.last().map_or_else(|| one.measure(data), |(past, judged)| judged.measure(past));
    let mut row = AdviceRow {
        what: one.words(data, measure),
        metric: measure.owned(),
        blocks_seen: 0,
        sd: None,
        sd_upper: None,
        half_width: None,
        smallest_difference: None,
        level: None,
        smallest_difference_alone: None,
        blocks_for_difference_alone: None,
        equivalence_power: None,
        blocks_for_equivalence: None,
        blocks_for_precision: None,
        blocks_for_difference: None,
        refused: None,
    };
    match spread(&found, measure) {
        Ok(spread) => {
            let level = one.level(data, families, measure).confidence;
            fill(&mut row, spread, (data, level), own, wanted);
            if one.b.is_some() {
                equivalence(&mut row, (data.margin, level), own, wanted);
            }
        }
        Err(reason) => row.refused = Some(reason),
    }
    row
}

/// The same ratio or value in a run of the past, by that run's names of the cells.
fn in_past<'a>(data: &RunData<'_>, one: &Judged<'a>, past: &RunData<'_>) -> Option<Judged<'a>> {
    let id = |id: &str| {
        let cell = data.cell(id)?;
        past.plan.cells.iter().find(|other| same_cell(cell, other)).map(|other| other.id.clone())
    };
    let b = match &one.b {
        Some(b) => Some(id(b)?),
        None => None,
    };
    Some(Judged { a: id(&one.a)?, b, measures: one.measures.clone() })
}

/// A spread over the blocks of runs.
struct Spread {
    blocks: usize,
    freedom: usize,
    sd: f64,
}

/// Pooled over runs: √(Σ νs² / Σ ν).
fn spread(found: &[(&RunData<'_>, Judged<'_>)], measure: Measure<'_>) -> Result<Spread, Said> {
    if found.is_empty() {
        return Err(said!(
            "across.advice.no_earlier_run_has",
            "no earlier run has these cells: run a pilot (`--pilot`)"
        ));
    }
    let (mut blocks, mut freedom, mut squares) = (0, 0, 0.0);
    let mut why = None;
    for (past, one) in found {
        // Below five blocks a run gives no interval, but its spread counts by its degrees of freedom.
        match one.test(past, measure, 2) {
            Ok(test) => {
                let n = test.map_or_else(|| one.logs(past, measure).len(), |test| test.n);
                blocks += n;
                freedom += n - 1;
                squares += test.map_or(0.0, |test| (test.n - 1) as f64 * test.sd.powi(2));
            }
            Err(reason) => why = why.or(Some(reason)),
        }
    }
    if freedom + 1 < MIN_TRIALS {
        let few = || {
            said!(
                "across.advice.blocks_needed_tell_spread",
                "{least} blocks needed to estimate the spread, had {blocks}: run a pilot (`--pilot`)",
                least = MIN_TRIALS,
                blocks
            )
        };
        return Err(why.unwrap_or_else(few));
    }
    let sd = (squares / freedom as f64).sqrt();
    if sd.is_finite() {
        Ok(Spread { blocks, freedom, sd })
    } else {
        Err(said!("across.advice.spread_no_number", "the spread is not a number"))
    }
}

/// `level` is that of the family; what a single comparison would do stands beside it.
fn fill(row: &mut AdviceRow, spread: Spread, (data, level): (&RunData<'_>, f64), own: u32, wanted: Wanted) {
    let least = MIN_TRIALS as u32;
    let upper = match sd_upper(spread.sd, spread.freedom, ASSURANCE) {
        Ok(upper) => upper,
        Err(refusal) => {
            row.refused = Some(refusal.said());
            return;
        }
    };
    let share = |log: f64| Some(log.exp_m1()).filter(|share| share.is_finite());
    let smallest = |confidence: f64| {
        let effect = (own >= least).then(|| smallest_effect(own, 1.0 - confidence, wanted.power)).flatten();
        effect.and_then(|effect| share(effect * upper))
    };
    let to_find = |confidence: f64| match upper > 0.0 {
        true => {
            let effect = wanted.difference.ln_1p() / upper;
            count_for_power(effect, 1.0 - confidence, wanted.power, least, BLOCKS_MAX)
        }
        false => Some(least),
    };
    row.blocks_seen = u32::try_from(spread.blocks).unwrap_or(u32::MAX);
    row.sd = Some(spread.sd);
    row.sd_upper = Some(upper);
    row.level = Some(level);
    row.half_width = (own >= least).then(|| share(half_width(own, upper, level))).flatten();
    row.smallest_difference = smallest(level);
    row.smallest_difference_alone = smallest(data.confidence);
    row.blocks_for_precision = count_for_width(upper, wanted.precision.ln_1p(), level, least, BLOCKS_MAX);
    row.blocks_for_difference = to_find(level);
    row.blocks_for_difference_alone = to_find(data.confidence);
}

/// How sure it is that equal targets are shown to be so.
fn equivalence(row: &mut AdviceRow, (margin, level): (f64, f64), own: u32, wanted: Wanted) {
    let least = MIN_TRIALS as u32;
    let (Some(upper), alpha) = (row.sd_upper, 1.0 - level) else { return };
    if upper == 0.0 {
        (row.equivalence_power, row.blocks_for_equivalence) = (Some(1.0), Some(least));
        return;
    }
    let margin = margin.ln_1p() / upper;
    row.equivalence_power = Some(if own >= least { equivalence_power(own, margin, alpha) } else { 0.0 });
    row.blocks_for_equivalence = count_for_equivalence(margin, alpha, wanted.power, least, BLOCKS_MAX);
}

/// From the latest run that tells: the cell that wants most samples.
fn samples(plan: &ExperimentPlan, seen: &[RunData<'_>]) -> Option<SamplesAdvice> {
    let of_run = |past: &RunData<'_>| {
        let cells = plan.cells.iter().filter_map(|cell| {
            let same = past.plan.cells.iter().find(|other| same_cell(cell, other))?;
            Some((levels(past, same)?.samples_best?, cell.label.clone()))
        });
        cells.max_by_key(|(best, _)| *best)
    };
    let (best, of) = seen.iter().rev().find_map(of_run)?;
    Some(SamplesAdvice { own: plan.phases.samples, best, of })
}

fn notes(plan: &ExperimentPlan, past: &[Past]) -> Vec<Said> {
    let differs = |past: &&Past| {
        let (then, now) = (&past.run.plan.phases, &plan.phases);
        then.sample_ns != now.sample_ns || then.samples != now.samples
    };
    let other = past.iter().filter(differs).count();
    let note = said!(
        "across.advice.had_samples_another_length",
        "{other} of {runs} had samples of another length or number, so the spread may be another \
         now; run a pilot (`--pilot`)",
        other,
        runs = count(past.len(), Noun::Run)
    );
    (other > 0).then_some(note).into_iter().collect()
}
