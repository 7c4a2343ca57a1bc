//! The laws of lengths and pauses: samples of them, fits, and which law a scenario can have.

use crate::fit::censored::{self, Ticks};
use crate::fit::{BOOTSTRAP_SAMPLES, Fit, Law, Refusal, exact, lengths};
use crate::model::{COARSE, FINE, FamilyFit, GapData, SEARCHED, ranked};
use crate::reservoir::{Reservoir, SAMPLE};
use schema::arrival::{Lengths, Number, Think};
use serde::Serialize;
use units::{Nanos, Seed};

/// Below, a law is not what made the values (METHOD §7).
pub(super) const P_LEAST: f64 = 0.05;

/// Pauses: a sample of them, and their sum.
#[derive(Debug)]
pub(super) struct Pauses {
    sample: Reservoir<u64>,
    sum_ns: f64,
}

impl Pauses {
    pub(super) fn new(seed: Seed) -> Self {
        Self { sample: Reservoir::new(seed), sum_ns: 0.0 }
    }

    pub(super) fn add(&mut self, pause_ns: u64) {
        self.sum_ns += pause_ns as f64;
        self.sample.add(pause_ns);
    }

    fn mean_s(&self) -> f64 {
        self.sum_ns / 1e9 / (self.sample.seen() as f64).max(1.0)
    }
}

/// Lengths, and the laws fitted to them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Laws {
    /// How many values.
    pub n: u64,
    /// Their mean.
    pub mean: f64,
    /// The largest.
    pub max: u64,
    /// The four families, the best (by AIC) first.
    pub families: Vec<FamilyFit>,
}

/// Pauses within sessions, and the laws fitted to them, in seconds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PauseLaws {
    /// How many.
    pub n: u64,
    /// Their mean.
    pub mean_s: f64,
    /// Share of pauses that the clock of the log cannot tell from none: requests at the same time.
    pub none_share: f64,
    /// What the laws were fitted to: pauses as they are, or known to whole ticks.
    pub data: GapData,
    /// The four families, the best (by AIC) first.
    pub families: Vec<FamilyFit>,
    /// Share of the best law beyond the time-out, which no log can show.
    pub beyond_timeout: Option<f64>,
}

pub(super) fn of_lengths(all: &lengths::Seen, seed: Seed) -> Laws {
    let n: u64 = all.values().sum();
    let sum: f64 = all.iter().map(|(length, times)| *length as f64 * *times as f64).sum();
    let seen = thinned(all, n, seed);
    let goodness = |fit: &Fit| lengths::goodness(&seen, &fit.law, lengths::SAMPLES, seed.derive("length", 1));
    let families = ranked(|family| lengths::fit(&seen, family), goodness);
    let max = all.keys().next_back().copied().unwrap_or_default();
    Laws { n, mean: sum / (n as f64).max(1.0), max, families }
}

/// A uniform sample of so many values as a bootstrap can handle, without replacement (selection sampling: Knuth, The Art
/// of Computer Programming 2, §3.4.2, algorithm S).
fn thinned(all: &lengths::Seen, n: u64, seed: Seed) -> lengths::Seen {
    if n <= SAMPLE as u64 {
        return all.clone();
    }
    let mut rng = seed.derive("lengths", 0).rng();
    let (mut left, mut wanted) = (n, SAMPLE as u64);
    let mut sample = lengths::Seen::new();
    for (length, times) in all {
        let mut taken = 0;
        for _ in 0..*times {
            if rng.below(left) < wanted {
                wanted -= 1;
                taken += 1;
            }
            left -= 1;
        }
        if taken > 0 {
            sample.insert(*length, taken);
        }
    }
    sample
}

pub(super) fn of_pauses(pauses: &Pauses, resolution_ns: u64, timeout_ns: u64, seed: Seed) -> PauseLaws {
    let (mean_s, tick_s) = (pauses.mean_s(), resolution_ns as f64 / 1e9);
    let (kept, seen) = (pauses.sample.kept(), pauses.sample.seen());
    let none = kept.iter().filter(|pause_ns| **pause_ns < resolution_ns.max(1)).count();
    let none_share = none as f64 / (kept.len() as f64).max(1.0);
    let seed = seed.derive("pause", 1);
    let few = (seen < lengths::FEWEST)
        .then_some(Refusal::TooFew { needed: lengths::FEWEST as usize, had: seen as usize });
    let coarse = (tick_s > COARSE * mean_s).then(|| Refusal::TooCoarse {
        why: format!("pauses have a mean of {}", Nanos((mean_s * 1e9) as u64)),
    });
    let refusal = few.or(coarse);
    let (data, families) = if tick_s > FINE * mean_s || none > 0 {
        let step = kept.len().div_ceil(SEARCHED).max(1);
        let one = |pause_ns: &u64| Ticks { ticks: pause_ns / resolution_ns.max(1), tick: tick_s, count: 1 };
        let ticks = censored::grouped(kept.iter().step_by(step).map(one).collect());
        let fit = |family| refusal.clone().map_or_else(|| censored::fit(&ticks, family), Err);
        let goodness = |fit: &Fit| censored::goodness(&ticks, &fit.law, censored::SAMPLES, seed);
        (GapData::Intervals, ranked(fit, goodness))
    } else {
        let values: Vec<f64> = kept.iter().map(|pause_ns| *pause_ns as f64 / 1e9).collect();
        let fit = |family| refusal.clone().map_or_else(|| exact::fit(&values, family), Err);
        let goodness = |fit: &Fit| exact::goodness(&values, &fit.law, BOOTSTRAP_SAMPLES, seed);
        (GapData::Exact, ranked(fit, goodness))
    };
    let best = families.first().and_then(|family| family.fit.as_ref());
    let beyond_timeout = best.map(|fit| 1.0 - fit.law.cdf(timeout_ns as f64 / 1e9));
    PauseLaws { n: seen, mean_s, none_share, data, families, beyond_timeout }
}

/// The best law that `made` can write, and its goodness.
fn sent<T>(families: &[FamilyFit], made: impl Fn(&Law) -> Option<T>) -> Option<(T, &FamilyFit)> {
    families.iter().find_map(|family| Some((made(&family.fit.as_ref()?.law)?, family)))
}

/// The length of a scenario's sessions.
pub(super) fn length(laws: &Laws) -> Option<(Lengths, &FamilyFit)> {
    sent(&laws.families, |law| {
        let mean = within(law.mean(), 0.01, 1e5)?;
        Some(match law {
            Law::Exponential { .. } => Lengths::Exponential { mean },
            Law::Weibull { shape, .. } => Lengths::Weibull { mean, shape: within(*shape, 0.2, 50.0)? },
            Law::Gamma { shape, .. } => Lengths::Gamma { mean, shape: within(*shape, 0.01, 1000.0)? },
            Law::Lognormal { .. } => Lengths::Lognormal { mean, cv: within(law.cv(), 0.001, 10.0)? },
        })
    })
}

/// The think time of a scenario's sessions.
pub(super) fn think(laws: &PauseLaws) -> Option<(Think, &FamilyFit)> {
    sent(&laws.families, |law| {
        let mean = Nanos((within(law.mean(), 1e-6, 86_400.0)?.0 * 1e9).round() as u64);
        Some(match law {
            Law::Exponential { .. } => Think::Exponential { mean },
            Law::Weibull { shape, .. } => Think::Weibull { mean, shape: within(*shape, 0.2, 50.0)? },
            Law::Gamma { shape, .. } => Think::Gamma { mean, shape: within(*shape, 0.01, 1000.0)? },
            Law::Lognormal { .. } => {
                Think::Lognormal { mean, sd: None, cv: Some(within(law.cv(), 0.001, 10.0)?) }
            }
        })
    })
}

/// Four digits of a value within bounds, as they are written.
fn within(value: f64, least: f64, most: f64) -> Option<Number> {
    let rounded: f64 = format!("{value:.3e}").parse().ok()?;
    (least..=most).contains(&rounded).then_some(Number(rounded))
}
