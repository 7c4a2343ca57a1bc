//! Whether a fitted process is good enough, or the recorded times must be replayed (METHOD §7).
//!
//! The very process that would be written (the best law by AIC under the shape of the rate) is drawn by `pace`, the
//! generator's own schedule, and held against the log: its dispersion of counts, mean of several draws, must lie within
//! 20 % of the log's at every scale that both have, and the rate of each whole minute of one draw within 2 %. The
//! second is stricter than METHOD: a random process of few requests misses its own minutes by chance, and recorded
//! times do not.
//! Gaps that are independent of each other make no bursts. So where the best law misses the dispersion, a process of two
//! rates, MMPP(2), is fitted to the counts and held against the log in the same way; it is taken where BIC prefers it to
//! one rate. Its minutes are not held against the log's: the bursts are by chance in both (ADR 0024).

use crate::fit::Law;
use crate::fit::mmpp::{self, Mmpp};
use crate::model::bins::{Bins, dispersion, sums};
use crate::model::{Model, Stretch};
use pace::{Schedule, Share};
use schema::arrival::{ArrivalPlan, Arrivals, Number, ShapeEnd, ShapePlan, StretchPlan};
use serde::Serialize;
use std::fmt;
use units::{Nanos, PerSecond, Seed};

/// Largest deviation of a dispersion (METHOD §7).
pub const DISPERSION_OFF_MAX: f64 = 0.2;
/// Largest deviation of the rate of a minute.
pub const MINUTE_OFF_MAX: f64 = 0.02;
/// Draws that dispersions are averaged over.
const DRAWS: u64 = 3;
/// Longest windows in which bursts must have the log's dispersion: a log of an hour has only 36 of 100 s.
const SCALE_OF_BURSTS_NS: u64 = 10_000_000_000;
/// The same for bursts, of which a log of an hour has few.
const DRAWS_IN_BURSTS: u64 = 9;
/// Arrivals drawn at most; of longer logs, the begin is judged.
const ARRIVALS_MAX: u64 = 5_000_000;

/// What sends the log's arrivals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Advice {
    /// The fitted process does.
    Fitted,
    /// Only the recorded times do.
    Recorded,
}

/// A scale at which log and fitted process were compared.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Compared {
    /// Length of a window.
    pub scale_ns: u64,
    /// Index of dispersion of the log.
    pub log: f64,
    /// Of the fitted process.
    pub fitted: f64,
}

impl Compared {
    /// Deviation relative to the log.
    #[must_use]
    pub fn off(&self) -> f64 {
        if self.log > 0.0 {
            (self.fitted / self.log - 1.0).abs()
        } else {
            f64::from(u8::from(self.fitted > 0.0))
        }
    }
}

/// The answer and its evidence.
#[derive(Clone, Debug, Serialize)]
pub struct Verdict {
    /// What to send.
    pub advice: Advice,
    /// The fitted law; `None` where no law could be fitted, or none that can be sent.
    #[serde(skip)]
    pub arrivals: Option<Arrivals>,
    /// Scale by scale.
    pub scales: Vec<Compared>,
    /// Largest deviation of the rate of a minute, and the minute, where there is a whole one.
    pub minute_off: Option<(f64, u64)>,
    /// How much of the log was compared.
    pub judged_s: u64,
    /// The answer in a sentence.
    pub text: String,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Judges the fitted process of a model.
#[must_use]
pub fn judge(model: &Model, seed: Seed) -> Verdict {
    let law = model.gaps.best().map(|fit| fit.law);
    let drawn = law.ok_or_else(|| "no law could be fitted to the gaps".to_owned()).and_then(|law| {
        let plan = plan_of(&law);
        let shape = shape_plan(&model.stretches);
        let judged_s = judged_s(&model.stretches);
        let draws: Result<Vec<Drawn>, String> = (0..DRAWS)
            .map(|draw| Drawn::new(&plan, &shape, judged_s, model, seed.derive("verdict", draw)))
            .collect();
        Ok((law, judged_s, draws?))
    });
    match drawn {
        Ok((law, judged_s, draws)) => {
            let found = compared(model, &law, judged_s, &draws);
            let misses = found.scales.iter().any(|scale| scale.off() > DISPERSION_OFF_MAX);
            let bursts = || in_bursts(model, judged_s, seed.derive("bursts", 0));
            if misses { bursts().unwrap_or(found) } else { found }
        }
        Err(why) => Verdict {
            advice: Advice::Recorded,
            arrivals: None,
            scales: Vec::new(),
            minute_off: None,
            judged_s: 0,
            text: format!("The recorded times must be replayed: {why}."),
        },
    }
}

/// The verdict on MMPP(2); `None` where it cannot be fitted, or misses the dispersion too.
fn in_bursts(model: &Model, judged_s: u64, seed: Seed) -> Option<Verdict> {
    let bins = if model.resolution_ns <= model.tenths.width_ns() { &model.tenths } else { &model.seconds };
    let counts = head(bins, judged_s);
    let bin_s = bins.width_ns() as f64 / 1e9;
    let law = mmpp::fitted(counts, &expected(&model.stretches, counts.len(), bin_s), bin_s)?;
    let whole_ms = |seconds: f64| Nanos(((seconds * 1e3).round().max(1.0) * 1e6) as u64);
    let (high, low) = (rounded(law.high), rounded(law.low));
    let (high_for, low_for) = (whole_ms(law.busy_s), whole_ms(law.quiet_s));
    let plan = ArrivalPlan::Mmpp { high, low, high_for_ns: high_for.0, low_for_ns: low_for.0 };
    let shape = shape_plan(&model.stretches);
    let draws: Vec<Drawn> = (0..DRAWS_IN_BURSTS)
        .map(|draw| Drawn::new(&plan, &shape, judged_s, model, seed.derive("draw", draw)).ok())
        .collect::<Option<_>>()?;
    let scales = scales(model, judged_s, &draws);
    let worst = |least_ns: u64, most_ns: u64| {
        let within = scales.iter().filter(|scale| (least_ns..=most_ns).contains(&scale.scale_ns));
        within.map(Compared::off).fold(0.0, f64::max)
    };
    let (worst, beyond) = (worst(0, SCALE_OF_BURSTS_NS), worst(SCALE_OF_BURSTS_NS + 1, u64::MAX));
    if scales.is_empty() || worst > DISPERSION_OFF_MAX {
        return None;
    }
    let is_good = beyond <= DISPERSION_OFF_MAX;
    let arrivals = Arrivals::Mmpp { high: Number(high), low: Some(Number(low)), high_for, low_for };
    let text = said_of_bursts(&law, worst, (!is_good).then_some(beyond));
    let minute_off = minute_off(head(&model.seconds, judged_s), &draws);
    let advice = if is_good { Advice::Fitted } else { Advice::Recorded };
    Some(Verdict { advice, arrivals: Some(arrivals), scales, minute_off, judged_s, text })
}

/// `beyond` is how far the windows of more than ten seconds are off, where that is too far.
fn said_of_bursts(law: &Mmpp, worst: f64, beyond: Option<f64>) -> String {
    let answer = match beyond {
        None => "A fitted process is good enough".to_owned(),
        Some(off) => format!(
            "The recorded times are replayed, as counts in windows of more than 10 s are {:.0} % off; otherwise a fitted \
             process is good enough",
            off * 100.0
        ),
    };
    format!(
        "{answer}: bursts of {:.1} times the mean rate for {} on average, between times of {:.2} times \
         the mean for {} (MMPP, better than one rate by {:.0} of BIC), have the dispersion of the log within {:.0} % in \
         windows of up to 10 s. When its bursts come is chance; replay the recorded times where that matters.",
        law.high,
        Nanos((law.busy_s * 10.0).round() as u64 * 100_000_000),
        law.low,
        Nanos((law.quiet_s * 10.0).round() as u64 * 100_000_000),
        law.bic_gain,
        worst * 100.0
    )
}

/// What the shape of the rate expects in each bin.
fn expected(stretches: &[Stretch], bins: usize, bin_s: f64) -> Vec<f64> {
    let mut expected = Vec::with_capacity(bins);
    let mut end_s = 0.0;
    for stretch in stretches {
        end_s += stretch.length_s as f64;
        while expected.len() < bins && (expected.len() as f64 + 0.5) * bin_s < end_s {
            expected.push((stretch.per_s() * bin_s).max(1e-9));
        }
    }
    expected
}

/// The arrival law of an experiment file; its rate comes from the shape.
#[must_use]
pub fn arrivals_of(law: &Law) -> Arrivals {
    match *law {
        Law::Exponential { .. } => Arrivals::Poisson {},
        Law::Weibull { shape, .. } => Arrivals::Weibull { shape: Number(rounded(shape)) },
        Law::Gamma { shape, .. } => Arrivals::Gamma { shape: Number(rounded(shape)) },
        Law::Lognormal { .. } => Arrivals::Lognormal { cv: Number(rounded(law.cv())) },
    }
}

/// The same law in a plan.
fn plan_of(law: &Law) -> ArrivalPlan {
    match *law {
        Law::Exponential { .. } => ArrivalPlan::Poisson,
        Law::Weibull { shape, .. } => ArrivalPlan::Weibull { shape: rounded(shape) },
        Law::Gamma { shape, .. } => ArrivalPlan::Gamma { shape: rounded(shape) },
        Law::Lognormal { .. } => ArrivalPlan::Lognormal { cv: rounded(law.cv()) },
    }
}

/// Four digits, as they are written into the file.
fn rounded(value: f64) -> f64 {
    format!("{value:.3e}").parse().unwrap_or(value)
}

/// The plan that the runner makes of the written shape.
#[must_use]
pub fn shape_plan(stretches: &[Stretch]) -> ShapePlan {
    let flat = |stretch: &Stretch| StretchPlan::Linear {
        from_per_s: stretch.per_s(),
        to_per_s: stretch.per_s(),
        length_ns: Nanos::from_secs(stretch.length_s).0,
    };
    ShapePlan {
        kind: "piecewise".to_owned(),
        begin_ns: 0,
        stretches: stretches.iter().map(flat).collect(),
        after: ShapeEnd::Hold,
    }
}

/// The part of the log that is compared.
fn judged_s(stretches: &[Stretch]) -> u64 {
    let mut room = ARRIVALS_MAX as f64;
    let mut judged_s = 0;
    for stretch in stretches {
        if (stretch.count as f64) > room {
            return judged_s + (room / stretch.per_s()) as u64;
        }
        room -= stretch.count as f64;
        judged_s += stretch.length_s;
    }
    judged_s
}

/// Counts of a drawn schedule.
struct Drawn {
    seconds: Vec<u32>,
    tenths: Vec<u32>,
}

impl Drawn {
    fn new(
        plan: &ArrivalPlan,
        shape: &ShapePlan,
        judged_s: u64,
        model: &Model,
        seed: Seed,
    ) -> Result<Self, String> {
        let rate = PerSecond(model.rate_per_s());
        let mut schedule = Schedule::new(plan, rate, Some(shape), None, seed, Share::WHOLE)
            .map_err(|error| format!("the fitted law cannot be sent ({error})"))?;
        let mut drawn = Self { seconds: vec![0; judged_s as usize], tenths: vec![0; 10 * judged_s as usize] };
        let end = Nanos::from_secs(judged_s);
        while schedule.peek() < end {
            let tenth = (schedule.advance().0 / 100_000_000) as usize;
            drawn.seconds[tenth / 10] += 1;
            drawn.tenths[tenth] += 1;
        }
        Ok(drawn)
    }
}

fn compared(model: &Model, law: &Law, judged_s: u64, draws: &[Drawn]) -> Verdict {
    let scales = scales(model, judged_s, draws);
    let minute_off = minute_off(head(&model.seconds, judged_s), draws);
    let (advice, text) = said(law, &scales, minute_off);
    Verdict { advice, arrivals: Some(arrivals_of(law)), scales, minute_off, judged_s, text }
}

/// The dispersion of the log and of the draws at every scale that both have.
fn scales(model: &Model, judged_s: u64, draws: &[Drawn]) -> Vec<Compared> {
    let index = |counts: &[u32], each| dispersion(sums(counts, each)).1;
    let mut scales = Vec::new();
    for dispersion in model.dispersion.iter().filter(|dispersion| dispersion.index.is_some()) {
        let is_fine = dispersion.scale_ns < 1_000_000_000;
        let each = if is_fine { 1 } else { (dispersion.scale_ns / 1_000_000_000) as usize };
        let log = index(head(if is_fine { &model.tenths } else { &model.seconds }, judged_s), each);
        let fitted: Option<Vec<f64>> = draws
            .iter()
            .map(|drawn| index(if is_fine { &drawn.tenths } else { &drawn.seconds }, each))
            .collect();
        if let (Some(log), Some(fitted)) = (log, fitted) {
            let fitted = fitted.iter().sum::<f64>() / fitted.len() as f64;
            scales.push(Compared { scale_ns: dispersion.scale_ns, log, fitted });
        }
    }
    scales
}

/// The counts of the first seconds of the log.
fn head(bins: &Bins, seconds: u64) -> &[u32] {
    let counts = bins.used().1;
    &counts[..counts.len().min((seconds * 1_000_000_000 / bins.width_ns()) as usize)]
}

/// The minute whose rate is farthest from the log's in the first draw.
fn minute_off(log: &[u32], draws: &[Drawn]) -> Option<(f64, u64)> {
    let drawn = sums(&draws.first()?.seconds, 60);
    let off = |(wanted, got): (u64, u64)| (got as f64 - wanted as f64).abs() / (wanted.max(1)) as f64;
    sums(log, 60).zip(drawn).map(off).zip(0..).max_by(|a, b| a.0.total_cmp(&b.0))
}

fn said(law: &Law, scales: &[Compared], minute_off: Option<(f64, u64)>) -> (Advice, String) {
    let name = match law {
        Law::Exponential { .. } => "Poisson arrivals".to_owned(),
        law => format!("{} gaps", law.family().name()),
    };
    let worst = scales.iter().max_by(|a, b| a.off().total_cmp(&b.off()));
    if let Some(worst) = worst.filter(|worst| worst.off() > DISPERSION_OFF_MAX) {
        let text = format!(
            "The recorded times must be replayed: counts in {} windows have dispersion {:.3} in the log and {:.3} under \
             the best fit ({name}), {:.0} % off; 20 % are allowed.",
            Nanos(worst.scale_ns),
            worst.log,
            worst.fitted,
            worst.off() * 100.0
        );
        return (Advice::Recorded, text);
    }
    if scales.is_empty() {
        let text =
            "The recorded times must be replayed: the log is too short to compare a fitted process with it.";
        return (Advice::Recorded, text.to_owned());
    }
    let within = worst.map_or(0.0, Compared::off) * 100.0;
    match minute_off {
        Some((off, minute)) if off > MINUTE_OFF_MAX => {
            let text = format!(
                "The recorded times are replayed: the best fit ({name}) has the dispersion of the log within {within:.0} % \
                 at every scale, but chance moves its minutes, minute {} by {:.1} %; 2 % are allowed.",
                minute + 1,
                off * 100.0
            );
            (Advice::Recorded, text)
        }
        _ => {
            let text = format!(
                "A fitted process is good enough: {name} under the shape of the rate have the dispersion of the log \
                 within {within:.0} % at every scale, and the rate of each minute within 2 %."
            );
            (Advice::Fitted, text)
        }
    }
}
