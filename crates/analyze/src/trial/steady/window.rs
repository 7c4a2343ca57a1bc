//! The class of a measured window: flat, warm-up, slow-down or unsteady (METHOD §5).
//!
//! The names are those of Barrett et al., "Virtual Machine Warmup Blows Hot and Cold", OOPSLA 2017; the rule differs:
//! it goes by the direction of what moved. Everything that moved got better: warm-up. Everything got worse: slow-down.
//! Both, or neither better nor worse (memory): unsteady. Nothing: flat.
//! Chance calls a flat window anything else in 6 % at most where the autocorrelation of its seconds is up to 0.7, and in
//! 10 % with 0.9 (`synthetic`): p of trends is corrected for the number of series (Holm), steps by PELT are confirmed
//! (`moves`), and a series that moved by both must also move more than noise that remembers as it does (ADR 0023).

use super::moves::{Moves, Trend, VALUES_MIN, drift_seen, moves, p_of_none};
use super::series::{self, Beside, Series};
use crate::stats::holm::holm;
use schema::arrival::ArrivalPlan;
use schema::experiment::LoadModel;
use schema::plan::LoadPlan;
use schema::said;
use schema::said::Said;
use schema::steady::{SeriesSteadiness, Steadiness, SteadyClass, SteadySeries};
use schema::trial::IntervalLine;

/// p, after Holm's correction, below which a trend is one (METHOD §8 takes the same for a leak).
pub(super) const SIGNIFICANT: f64 = 0.01;
/// p below which noise that remembers does not explain a move. How much it remembers is estimated from the same few values;
/// at [`SIGNIFICANT`] 10.2 % of flat windows of 15 s and 11.2 % of 60 s moved at an autocorrelation of 0.9 (ADR 0030).
const UNEXPLAINED: f64 = 0.006;

/// The class of the window that `lines` are the intervals of, with its evidence. `beside` may hold more than the
/// window. `disturbed`: events of the plan happened in it.
///
/// Each series needs ten values; the window is refused where the response times have fewer, where the
/// load itself changes by plan, or where it was disturbed on purpose.
#[must_use]
pub fn steadiness(lines: &[IntervalLine], beside: &[Beside], load: &LoadPlan, disturbed: bool) -> Steadiness {
    let intervals = u32::try_from(lines.len()).unwrap_or(u32::MAX);
    let refused = |reason: Said, remedy: Said, by_plan| Steadiness {
        class: None,
        refused: Some(said!("steady.refused", "{reason}: {remedy}", reason, remedy)),
        by_plan,
        intervals,
        series: Vec::new(),
    };
    let busy = lines.iter().filter(|line| line.completed > 0 && line.p50_ns.is_some()).count();
    if disturbed {
        let reason = said!("steady.disturbed", "events of the plan disturb it on purpose");
        return refused(reason, said!("steady.measure_without", "measure without them"), true);
    }
    if changes_by_plan(load) {
        let reason = said!("steady.load_changes", "its load changes by plan");
        let remedy = said!("steady.constant_rate", "use a constant rate, or connections");
        return refused(reason, remedy, true);
    }
    if busy < VALUES_MIN {
        let (least, had) = (VALUES_MIN, busy);
        let reason = said!(
            "steady.intervals_needed",
            "{least} intervals with answers are needed, had {had}",
            least,
            had
        );
        return refused(
            reason,
            said!("steady.measure_at_least", "measure for at least {least} s", least),
            false,
        );
    }
    judged(lines, beside, load, intervals)
}

/// Whether what the target is asked for differs from second to second by intent.
fn changes_by_plan(load: &LoadPlan) -> bool {
    let bursts = matches!(load.arrivals, Some(ArrivalPlan::Mmpp { .. } | ArrivalPlan::Recorded { .. }));
    load.shape.is_some() || bursts
}

fn judged(lines: &[IntervalLine], beside: &[Beside], load: &LoadPlan, intervals: u32) -> Steadiness {
    // The throughput of an open load is its schedule's.
    let is_asked =
        |series: &Series| series.name != SteadySeries::Throughput || load.model == LoadModel::Closed;
    let all = series::all(lines, beside);
    let looked: Vec<(&Series, Moves)> = all
        .iter()
        .filter(|series| series.values.len() >= VALUES_MIN && is_asked(series))
        .map(|series| (series, moves(series)))
        .collect();
    let p_values: Vec<f64> = looked.iter().filter_map(|(_, moves)| Some(moves.trend?.p_value)).collect();
    let mut corrected = holm(&p_values).into_iter();
    let series: Vec<SeriesSteadiness> = looked
        .iter()
        .map(|(series, moves)| {
            let trend = moves.trend.zip(moves.trend.and_then(|_| corrected.next()));
            of_series(series, moves, trend)
        })
        .collect();
    let class = class(&series);
    Steadiness { class: Some(class), refused: None, by_plan: false, intervals, series }
}

/// `trend`: that of the series, with its corrected p.
fn of_series(series: &Series, moves: &Moves, trend: Option<(Trend, f64)>) -> SeriesSteadiness {
    let trending = trend.filter(|(trend, p)| *p < SIGNIFICANT && trend.change.abs() > series.material);
    let seems_to_move = trending.is_some() || !moves.change_points.is_empty();
    if seems_to_move && p_of_none(series).is_some_and(|p| p > UNEXPLAINED) {
        return flat(series, trend.map(|(_, p)| p));
    }
    let steps = moves.levels.windows(2).map(|pair| pair[1] - pair[0]);
    let directions: Vec<Direction> = steps
        .chain(trending.map(|(trend, _)| trend.change))
        .map(|difference| Direction::of(series.name, difference))
        .collect();
    let (first, last) = (moves.levels.first().copied(), moves.levels.last().copied());
    let stepped = last.unwrap_or_default() - first.unwrap_or_default();
    SeriesSteadiness {
        series: series.name,
        class: Direction::class(&directions),
        change_points_ns: moves
            .change_points
            .iter()
            .map(|index| series.times_ns[index.saturating_sub(1)])
            .collect(),
        trend_p: trend.map(|(_, p)| p),
        change: series.change(stepped + trending.map_or(0.0, |(trend, _)| trend.change)),
        material: series.change(series.material),
        drift_seen: if seems_to_move { None } else { drift_seen(series).map(|drift| series.change(drift)) },
    }
}

/// What moved no more than its own noise does.
fn flat(series: &Series, trend_p: Option<f64>) -> SeriesSteadiness {
    SeriesSteadiness {
        series: series.name,
        class: SteadyClass::Flat,
        change_points_ns: Vec::new(),
        trend_p,
        change: 0.0,
        material: series.change(series.material),
        drift_seen: drift_seen(series).map(|drift| series.change(drift)),
    }
}

/// Where a move leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    Better,
    Worse,
    Neither,
}

impl Direction {
    fn of(series: SteadySeries, difference: f64) -> Self {
        let better_up = match series {
            SteadySeries::Memory => return Self::Neither,
            SteadySeries::Throughput => true,
            SteadySeries::P50 | SteadySeries::P99 | SteadySeries::Errors | SteadySeries::CpuPerRequest => {
                false
            }
        };
        if (difference > 0.0) == better_up { Self::Better } else { Self::Worse }
    }

    fn class(all: &[Self]) -> SteadyClass {
        let better = all.contains(&Self::Better);
        let worse = all.contains(&Self::Worse);
        match (better, worse) {
            _ if all.is_empty() => SteadyClass::Flat,
            (true, false) => SteadyClass::WarmUp,
            (false, true) => SteadyClass::SlowDown,
            _ => SteadyClass::Unsteady,
        }
    }
}

/// The class over all series: the one that they agree on; memory that moves beside them does not contradict.
fn class(series: &[SeriesSteadiness]) -> SteadyClass {
    let moved: Vec<&SeriesSteadiness> =
        series.iter().filter(|series| series.class != SteadyClass::Flat).collect();
    let mut telling =
        moved.iter().filter(|series| series.series != SteadySeries::Memory).map(|series| series.class);
    match telling.next() {
        None if moved.is_empty() => SteadyClass::Flat,
        None => SteadyClass::Unsteady,
        Some(first) if telling.all(|class| class == first) => first,
        Some(_) => SteadyClass::Unsteady,
    }
}
