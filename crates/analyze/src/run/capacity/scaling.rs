//! Laws of throughput over the levels of a ladder, compared (`stats::scaling_choice`, ADR 0020): which fit, which of
//! these the trials do not distinguish, and what they say of the knee, of the highest throughput and of loads beyond the ladder.
//!
//! Invariants: blocks are taken out of the levels, so a slow block bends nothing; without a spread between trials no law
//! can be tested, and none is given; loads beyond the ladder are spoken of only where a law fits and the ladder shows
//! its end.

use super::ladder::Ladder;
use crate::run::data::RunData;
use crate::stats::least_squares::{Parameters, Weighted};
use crate::stats::scaling::Law;
use crate::stats::scaling_choice::{Candidate, Compared, Measured, Spanned, compare};
use crate::stats::student::{MeanTest, t_quantile};
use crate::words::{number, p_value, percent};
use schema::analysis::Interval;
use schema::capacity::{Estimate, LoadAxis, Scaling, ScalingLaw, ScalingLawName, UslPoint};
use schema::metric::Metric;
use schema::said;
use schema::said::Said;
use std::collections::{BTreeMap, BTreeSet};

/// Levels beyond the ladder that are predicted, as multiples of its last.
const BEYOND: [f64; 2] = [2.0, 4.0];
/// Weight of the pooled variance in that of one level, in degrees of freedom: a few trials tell a variance so badly that
/// one level could outweigh all others by chance (Smyth, Stat. Appl. Genet. Mol. Biol. 3, 2004, moderates alike). With
/// less, the test of lack of fit rejects true laws too often, and intervals are too narrow.
const PRIOR: f64 = 40.0;
/// A law that misses by more is off by everything.
const MISFIT_MOST: f64 = 1e6;
/// Relative standard deviation that is taken at least, so that trials that agree by chance do not weigh without bound.
const SD_LEAST: f64 = 1e-4;

/// One level: ln throughput by block.
pub(super) struct LevelBlocks {
    pub(super) load: f64,
    pub(super) logs: BTreeMap<u32, f64>,
}

impl LevelBlocks {
    pub(super) fn mean(&self) -> f64 {
        self.logs.values().sum::<f64>() / self.logs.len() as f64
    }
}

/// Every level that has a throughput, rising.
pub(super) fn by_block(data: &RunData<'_>, ladder: &Ladder<'_>) -> Vec<LevelBlocks> {
    let levels = ladder.rungs.iter().map(|rung| {
        let values = data.values_by_block(&rung.cell.id, Metric::Throughput).into_iter();
        let logs = values.filter(|(_, value)| *value > 0.0).map(|(block, value)| (block, value.ln()));
        LevelBlocks { load: rung.load, logs: logs.collect() }
    });
    levels.filter(|level| !level.logs.is_empty()).collect()
}

/// The laws of one ladder.
pub(super) struct Fitted {
    compared: Compared,
    levels: Vec<LevelBlocks>,
    /// Variance of what all levels share, in units of the variances between levels.
    shared: f64,
}

/// `None` with fewer than four levels or without a spread between trials.
pub(super) fn fitted(data: &RunData<'_>, ladder: &Ladder<'_>, axis: LoadAxis) -> Option<Fitted> {
    let levels = by_block(data, ladder);
    let measured = measured(&levels)?;
    let compared = compare(&measured, axis == LoadAxis::Connections)?;
    let shared = shared(&levels, measured.freedom);
    Some(Fitted { compared, levels, shared })
}

/// The blocks that every level has.
fn common(levels: &[LevelBlocks]) -> BTreeSet<u32> {
    let mut sets = levels.iter().map(|level| level.logs.keys().copied().collect::<BTreeSet<u32>>());
    let first = sets.next().unwrap_or_default();
    sets.fold(first, |all, blocks| all.intersection(&blocks).copied().collect())
}

/// Deviations of each trial from its level and, where every level has every block, from its block.
fn measured(levels: &[LevelBlocks]) -> Option<Measured> {
    let trials: usize = levels.iter().map(|level| level.logs.len()).sum();
    let blocks = common(levels);
    let is_whole = blocks.len() * levels.len() == trials;
    let grand = levels.iter().map(LevelBlocks::mean).sum::<f64>() / levels.len() as f64;
    let block_mean = |block: u32| {
        let of_block = levels.iter().filter_map(|level| level.logs.get(&block));
        of_block.sum::<f64>() / levels.len() as f64 - grand
    };
    let offsets: BTreeMap<u32, f64> = match is_whole {
        true => blocks.iter().map(|block| (*block, block_mean(*block))).collect(),
        false => BTreeMap::new(),
    };
    let freedom = match is_whole {
        true => (levels.len().checked_sub(1)?) * (blocks.len().checked_sub(1)?),
        false => trials.checked_sub(levels.len())?,
    };
    if freedom == 0 {
        return None;
    }
    let squares = |level: &LevelBlocks| {
        let mean = level.mean();
        let of = |(block, log): (&u32, &f64)| (log - mean - offsets.get(block).unwrap_or(&0.0)).powi(2);
        level.logs.iter().map(of).sum::<f64>()
    };
    let pooled = levels.iter().map(squares).sum::<f64>() / freedom as f64;
    let share = freedom as f64 / trials as f64;
    let variance = |level: &LevelBlocks| {
        let own = level.logs.len() as f64 * share;
        ((squares(level) + PRIOR * pooled) / (own + PRIOR)).max(SD_LEAST.powi(2))
    };
    let weighted = |level: &LevelBlocks| Weighted {
        x: level.load,
        y: level.mean(),
        weight: level.logs.len() as f64 / variance(level),
    };
    Some(Measured {
        levels: levels.iter().map(weighted).collect(),
        // Trials that agree to the last digit would make every law unfit.
        pure: levels
            .iter()
            .map(|level| squares(level) / variance(level))
            .sum::<f64>()
            .max(freedom as f64 * 1e-3),
        freedom,
        trials,
    })
}

/// Variance of the mean over blocks of what a block does to all levels, made as wide as its own degrees of freedom ask.
fn shared(levels: &[LevelBlocks], freedom: usize) -> f64 {
    let blocks = common(levels);
    let means: Vec<f64> = blocks
        .iter()
        .map(|block| {
            levels.iter().filter_map(|level| level.logs.get(block)).sum::<f64>() / levels.len() as f64
        })
        .collect();
    match MeanTest::of(&means) {
        Ok(test) => {
            let ratio = t_quantile(0.975, test.n - 1) / t_quantile(0.975, freedom);
            (test.standard_error() * ratio).powi(2)
        }
        Err(_) => 0.0,
    }
}

impl Fitted {
    fn says(
        &self,
        quantity: impl Fn(Law, &Parameters) -> Option<f64>,
        level: f64,
        shared: f64,
    ) -> Option<Spanned> {
        self.compared.says(quantity, level, shared)
    }

    /// The first law, if it fits.
    pub(super) fn best(&self) -> Option<&Candidate> {
        self.compared.best()
    }

    /// ln N at which the asymptotes of the first law cross, with the law; where none fits, that of the least bad.
    pub(super) fn knee(&self, level: f64) -> Option<(ScalingLawName, Spanned)> {
        let found = self.says(|law, at| law.log_knee(at), level, 0.0)?;
        let all = [found.value, found.low, found.high];
        all.iter().all(|end| end.is_finite()).then(|| (name(self.compared.candidates[0].law), found))
    }

    /// The highest of the throughputs at the levels of the ladder, by laws that fit, so that no level is chosen for its
    /// noise.
    pub(super) fn highest(&self, level: f64) -> Option<Spanned> {
        self.best()?;
        let top = |law: Law, at: &Parameters| {
            let all = self.levels.iter().map(|one| law.log_x(at, one.load));
            all.reduce(f64::max)
        };
        self.says(top, level, self.shared)
    }

    /// Whether a law is among the candidates: those that fit and that the trials do not distinguish. Else the reason: how far
    /// it is off, with its p, or the law that describes the ladder better.
    pub(super) fn stands(&self, law: Law) -> Result<(), Said> {
        if self.best().is_some() && self.compared.alike().any(|one| one.law == law) {
            return Ok(());
        }
        let Some(own) = self.compared.candidates.iter().find(|one| one.law == law) else {
            return Err(said!("capacity.scaling.cannot_be_fitted", "it cannot be fitted to this ladder"));
        };
        match self.best().filter(|_| own.fits) {
            Some(best) => Err(said!(
                "capacity.scaling.another_describes",
                "{best} describes the ladder better (AICc smaller by {by})",
                best = words(best.law),
                by = number(own.aicc - best.aicc)
            )),
            None => {
                let (at, missed) = self.missed(own);
                Err(said!(
                    "capacity.scaling.does_not_fit",
                    "it does not fit: it misses {n} by {missed}, more than trials differ (lack of fit, {p})",
                    n = number(at),
                    missed = percent(missed),
                    p = p_value(own.p_fit)
                ))
            }
        }
    }

    /// The level that a law misses by most, and the share.
    fn missed(&self, one: &Candidate) -> (f64, f64) {
        let off = |level: &LevelBlocks| {
            (
                level.load,
                (one.law.log_x(&one.fit.at, level.load) - level.mean()).exp_m1().abs().min(MISFIT_MOST),
            )
        };
        self.levels.iter().map(off).max_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or_default()
    }

    /// Whether the last level lies below the highest one by more than chance: a peak that trials show.
    pub(super) fn declines(&self, confidence: f64) -> bool {
        let Some(last) = self.levels.last() else { return false };
        let best = self.levels.iter().max_by(|a, b| a.mean().total_cmp(&b.mean()));
        let apart: Vec<f64> = best.map_or_else(Vec::new, |best| {
            best.logs.iter().filter_map(|(block, log)| Some(log - last.logs.get(block)?)).collect()
        });
        // The highest of several levels was chosen.
        let level = 1.0 - (1.0 - confidence) / self.levels.len().max(1) as f64;
        MeanTest::of(&apart).is_ok_and(|test| test.interval(level).0 > 0.0)
    }

    /// For the file.
    pub(super) fn summary(&self, confidence: f64, is_bent: bool) -> Scaling {
        let best = self.best();
        let mut laws: Vec<ScalingLaw> = Vec::new();
        let first = self.compared.candidates[0].aicc;
        for one in &self.compared.candidates {
            // A queue was fitted with each number of servers: its best stands for it.
            if laws.iter().any(|law| law.law == name(one.law)) {
                continue;
            }
            laws.push(ScalingLaw {
                law: name(one.law),
                fits: one.fits,
                is_alike: best.is_some() && self.compared.alike().any(|alike| alike.law == one.law),
                p_fit: one.p_fit,
                delta_aicc: Some(one.aicc - first).filter(|delta| delta.is_finite()),
                misfit: self.missed(one).1,
                servers: (one.law == Law::Queue).then(|| one.fit.at[2].exp()),
            });
        }
        let flat = best.is_some_and(|best| best.law == Law::Flat);
        let refused = match (best.is_some(), is_bent || flat) {
            (false, _) => Some(said!(
                "capacity.scaling.no_law_fits",
                "no law fits, so nothing is said of loads beyond the ladder: measure them"
            )),
            (true, false) => Some(said!(
                "capacity.scaling.no_end_shown",
                "the ladder does not show where throughput ends, so nothing is said of loads beyond it: raise it"
            )),
            (true, true) => None,
        };
        let predictions = if refused.is_none() { self.predictions(confidence) } else { Vec::new() };
        let text = self.text(&laws);
        Scaling { best: best.map(|best| name(best.law)), laws, predictions, refused, text }
    }

    fn predictions(&self, confidence: f64) -> Vec<UslPoint> {
        let last = self.levels.last().map_or(0.0, |level| level.load);
        let point = |times: f64| {
            let n = times * last;
            let found = self.says(|law, at| Some(law.log_x(at, n)), confidence, self.shared)?;
            let per_s = Estimate { value: finite(found.value), interval: Some(interval(&found)) };
            Some(UslPoint { n, per_s, is_beyond: true })
        };
        BEYOND.into_iter().filter_map(point).collect()
    }

    fn text(&self, laws: &[ScalingLaw]) -> Said {
        let first = &self.compared.candidates[0];
        let Some(best) = self.best() else {
            let (at, missed) = self.missed(first);
            return said!(
                "capacity.scaling.none",
                "none of {laws} laws fits: the least bad, {first}, misses {n} by {missed}, more than trials differ ({p})",
                laws = laws.len(),
                first = words(first.law),
                n = number(at),
                missed = percent(missed),
                p = p_value(first.p_fit)
            );
        };
        let others = laws.iter().filter(|law| law.is_alike).count().saturating_sub(1);
        let law = match best.law {
            Law::Queue => said!(
                "capacity.scaling.queue_of",
                "a queue with {servers} servers and think time (M/M/c//N)",
                servers = number((best.fit.at[2].exp() * 10.0).round() / 10.0)
            ),
            law => words(law),
        };
        match others {
            0 => said!(
                "capacity.scaling.one",
                "of {laws} laws only {law} fits as well as trials agree (lack of fit, {p})",
                laws = laws.len(),
                law,
                p = p_value(best.p_fit)
            ),
            _ => said!(
                "capacity.scaling.several",
                "of {laws} laws {law} fits best (lack of fit, {p}); the trials do not distinguish {others} more from it, and \
                 intervals span them",
                laws = laws.len(),
                law,
                p = p_value(best.p_fit),
                others
            ),
        }
    }
}

pub(super) fn interval(found: &Spanned) -> Interval {
    Interval { low: finite(found.low), high: finite(found.high) }
}

fn finite(log: f64) -> Option<f64> {
    Some(log.exp()).filter(|value| value.is_finite())
}

const fn name(law: Law) -> ScalingLawName {
    match law {
        Law::Flat => ScalingLawName::Flat,
        Law::Proportional => ScalingLawName::Proportional,
        Law::Bounds => ScalingLawName::Bounds,
        Law::SoftBounds => ScalingLawName::SoftBounds,
        Law::Queue => ScalingLawName::Queue,
        Law::TwoStations => ScalingLawName::TwoStations,
        Law::Usl => ScalingLawName::Usl,
        Law::Shedding => ScalingLawName::Shedding,
        Law::SoftShedding => ScalingLawName::SoftShedding,
    }
}

fn words(law: Law) -> Said {
    match law {
        Law::Flat => said!("capacity.scaling.flat", "a constant"),
        Law::Proportional => said!("capacity.scaling.proportional", "growth in proportion"),
        Law::Bounds => said!("capacity.scaling.bounds", "a sharp ceiling"),
        Law::SoftBounds => said!("capacity.scaling.soft_bounds", "a soft ceiling"),
        Law::Queue => said!("capacity.scaling.queue", "a queue with think time (M/M/c//N)"),
        Law::TwoStations => said!("capacity.scaling.two_stations", "two stations in a row"),
        Law::Usl => said!("capacity.scaling.usl", "the Universal Scalability Law"),
        Law::Shedding => said!("capacity.scaling.shedding", "a sharp ceiling that falls"),
        Law::SoftShedding => said!("capacity.scaling.soft_shedding", "a soft ceiling that falls"),
    }
}
