//! The gaps between arrivals: a uniform sample of them, and the laws fitted to it, with the rate taken out.
//!
//! A gap is held against the rate of its stretch: gap · rate has the mean 1 whatever the rate. Which likelihood is used
//! is decided by the clock of the log against the mean gap; see [`GapData`].

use super::bins::Bins;
use super::shape::Stretch;
use crate::fit::censored::{self, Ticks};
use crate::fit::counts::{self, Window};
use crate::fit::{BOOTSTRAP_SAMPLES, Family, Fit, Goodness, Refusal, exact};
use crate::log::time::SECOND_NS;
use crate::reservoir::Reservoir;
use serde::Serialize;
use units::Seed;

/// Gaps, or windows, that a search by intervals or counts works with.
pub(crate) const SEARCHED: usize = 500;
/// A tick of this share of the mean gap does not matter.
pub(crate) const FINE: f64 = 0.01;
/// With a longer tick, most gaps are shorter than it.
pub(crate) const COARSE: f64 = 0.5;
/// Rates that differ by less are put together where gaps are counted in ticks.
const RATE_STEP: f64 = 0.05;

/// A uniform sample of gaps.
#[derive(Debug)]
pub(crate) struct GapSampler {
    last_ns: Option<u64>,
    late: u64,
    /// Time of the later arrival, and the gap before it.
    sample: Reservoir<(u64, u64)>,
}

impl GapSampler {
    pub(crate) fn new(seed: Seed) -> Self {
        Self { last_ns: None, late: 0, sample: Reservoir::new(seed.derive("gaps", 0)) }
    }

    pub(crate) fn add(&mut self, time_ns: u64) {
        let Some(last_ns) = self.last_ns else {
            self.last_ns = Some(time_ns);
            return;
        };
        let Some(gap_ns) = time_ns.checked_sub(last_ns) else {
            self.late += 1;
            return;
        };
        self.last_ns = Some(time_ns);
        self.sample.add((time_ns, gap_ns));
    }

    /// Lines that were earlier than the one before them.
    pub(crate) const fn late(&self) -> u64 {
        self.late
    }

    pub(crate) fn into_kept(self) -> Vec<(u64, u64)> {
        self.sample.into_kept()
    }
}

/// What the laws were fitted to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum GapData {
    /// Gaps as they are: the clock ticks at least a hundred times in a mean gap, and no two arrivals have one time.
    Exact,
    /// Gaps known to whole ticks.
    Intervals,
    /// Counts in windows: a mean gap is shorter than two ticks.
    Counts,
}

/// A family and what came of fitting it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FamilyFit {
    /// The family.
    pub family: Family,
    /// The fit, in mean gaps, where there is one.
    pub fit: Option<Fit>,
    /// How good it is.
    pub goodness: Option<Goodness>,
    /// Why there is none.
    pub refusal: Option<String>,
}

/// The laws of the gaps.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Gaps {
    /// What they were fitted to.
    pub data: GapData,
    /// How many gaps or windows.
    pub n: u64,
    /// The four families, the best (by AIC) first.
    pub families: Vec<FamilyFit>,
}

impl Gaps {
    /// The family of the smallest AIC.
    #[must_use]
    pub fn best(&self) -> Option<&Fit> {
        self.families.first().and_then(|family| family.fit.as_ref())
    }
}

/// The arrivals of a log, as far as laws of gaps need them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrivals<'a> {
    /// Since 1970.
    pub(crate) begin_ns: u64,
    /// How long the log's clock ticks.
    pub(crate) resolution_ns: u64,
    /// Over the whole log.
    pub(crate) rate_per_s: f64,
    pub(crate) stretches: &'a [Stretch],
    pub(crate) seconds: &'a Bins,
}

impl Arrivals<'_> {
    /// The rate of the stretch at a moment since 1970.
    fn per_s_at(&self, time_ns: u64) -> f64 {
        per_s(self.stretches, time_ns.saturating_sub(self.begin_ns) / SECOND_NS)
    }
}

/// Fits all families.
pub(crate) fn fitted(arrivals: Arrivals<'_>, kept: &[(u64, u64)], seed: Seed) -> Gaps {
    let tick_s = arrivals.resolution_ns as f64 / 1e9;
    let ticks_in_gap = tick_s * arrivals.rate_per_s;
    let has_zero = kept.iter().any(|(_, gap_ns)| *gap_ns == 0);
    if ticks_in_gap > COARSE {
        let windows = windows(arrivals);
        let fit = |family| counts::fit(&windows, family);
        let goodness = |fit: &Fit| counts::goodness(&windows, &fit.law, counts::SAMPLES, seed);
        let families = ranked(fit, goodness);
        return Gaps { data: GapData::Counts, n: windows.len() as u64, families };
    }
    if ticks_in_gap > FINE || has_zero {
        let ticks = ticks(arrivals, kept);
        let n = ticks.iter().map(|gap| gap.count).sum();
        let fit = |family| censored::fit(&ticks, family);
        let goodness = |fit: &Fit| censored::goodness(&ticks, &fit.law, censored::SAMPLES, seed);
        return Gaps { data: GapData::Intervals, n, families: ranked(fit, goodness) };
    }
    let scaled = |(time_ns, gap_ns): &(u64, u64)| *gap_ns as f64 / 1e9 * arrivals.per_s_at(*time_ns);
    let values: Vec<f64> = kept.iter().map(scaled).filter(|value| *value > 0.0).collect();
    let fit = |family| exact::fit(&values, family);
    let goodness = |fit: &Fit| exact::goodness(&values, &fit.law, BOOTSTRAP_SAMPLES, seed);
    Gaps { data: GapData::Exact, n: values.len() as u64, families: ranked(fit, goodness) }
}

/// All families, the best by AIC first.
pub(crate) fn ranked(
    fit: impl Fn(Family) -> Result<Fit, Refusal>,
    goodness: impl Fn(&Fit) -> Option<Goodness>,
) -> Vec<FamilyFit> {
    let one = |family| match fit(family) {
        Ok(found) => FamilyFit { family, goodness: goodness(&found), fit: Some(found), refusal: None },
        Err(refusal) => FamilyFit { family, fit: None, goodness: None, refusal: Some(refusal.to_string()) },
    };
    let mut families: Vec<FamilyFit> = Family::ALL.into_iter().map(one).collect();
    let aic = |family: &FamilyFit| family.fit.as_ref().map_or(f64::INFINITY, |fit| fit.aic);
    families.sort_by(|a, b| aic(a).total_cmp(&aic(b)));
    families
}

/// Gaps in ticks, at rates rounded to [`RATE_STEP`].
fn ticks(arrivals: Arrivals<'_>, kept: &[(u64, u64)]) -> Vec<Ticks> {
    let step = kept.len().div_ceil(SEARCHED).max(1);
    let one = |(time_ns, gap_ns): &(u64, u64)| {
        let per_s = arrivals.per_s_at(*time_ns);
        let rounded = ((per_s.ln() / RATE_STEP).round() * RATE_STEP).exp();
        let tick = rounded * arrivals.resolution_ns as f64 / 1e9;
        (tick > 0.0).then_some(Ticks { ticks: gap_ns / arrivals.resolution_ns, tick, count: 1 })
    };
    censored::grouped(kept.iter().step_by(step).filter_map(one).collect())
}

/// Windows of a second, or of the finer bins where the log has them, spread evenly over the log.
fn windows(arrivals: Arrivals<'_>) -> Vec<Window> {
    let (begin_ns, counts) = arrivals.seconds.used();
    let step = counts.len().div_ceil(SEARCHED).max(1);
    let one = |(second, count): (usize, &u32)| {
        let expected = arrivals.per_s_at(begin_ns + second as u64 * SECOND_NS);
        (expected > 0.0).then_some(Window { count: u64::from(*count), expected })
    };
    counts.iter().enumerate().step_by(step).filter_map(one).collect()
}

/// The rate of the stretch at a moment since the begin of the log.
fn per_s(stretches: &[Stretch], at_s: u64) -> f64 {
    let next = stretches.partition_point(|stretch| stretch.begin_s <= at_s);
    stretches.get(next.saturating_sub(1)).map_or(0.0, Stretch::per_s)
}
